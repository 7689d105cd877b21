// SPDX-License-Identifier: MIT
// subnet_command.cpp - discover, report, tell what is missing.
#include "session/subnet_command.hpp"

#include "text/output.hpp"
#include <comad/discovery/discover.hpp>
#include <comad/transports/sim/topology.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace ibtool {

namespace discovery = comad::discovery;
namespace sim = comad::transports::sim;

namespace {

struct outcome {
    discovery::subnet subnet;
    std::string text, counts, capture_problem, loss;
};

// The fabric is closed again when this returns: who reads the output slowly, or stops reading, holds no server's slot.
outcome discover_in_session(const global_options& options, const report& text) {
    session run_in(options);
    discovery::discovery_progress progress;
    discovery::discover_options what;
    what.keys = &options.keys;
    what.mlnx_ext_port_info = options.mlnx_ext_port_info;
    what.progress = &progress;
    auto found = run_in.run(discovery::discover(run_in.schedule(), what), [&] {
        return fmt::format("discovering: {} nodes, {} links, {} problems", progress.nodes.load(), progress.links.load(),
                           progress.problems.load());
    });
    if (!found) throw std::runtime_error("the local port does not answer: " + to_string(found.error()));
    outcome result{std::move(found).value(), {}, run_in.counts(), run_in.finish_capture(), run_in.loss_text()};
    result.text = text(result.subnet, run_in);
    return result;
}

} // namespace

int discover_and_report(const global_options& options, const report& text, const std::string& file) {
    const outcome result = discover_in_session(options, text);
    const discovery::subnet& subnet = result.subnet;
    write_output(result.text, file);
    fmt::print(stderr, "{}", result.counts);
    std::vector<std::string> missing;
    for (const auto& problem : subnet.problems) missing.push_back(describe(subnet, problem));
    tell_missing(std::move(missing), result.loss);
    if (!result.capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", result.capture_problem);
    if (subnet.complete()) return result.capture_problem.empty() ? complete : partial;
    fmt::print(stderr, "ibtool: the result is partial: {} problem{}\n", subnet.problems.size(),
               subnet.problems.size() == 1 ? "" : "s");
    return partial;
}

namespace {

std::ifstream open(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
    return in;
}

discovery::node node_of(const sim::node& described) {
    discovery::node n;
    n.info.nodeType = described.type;
    n.info.numPorts = static_cast<comad::u8>(described.num_ports());
    n.info.nodeGUID = described.nodeGUID;
    n.info.systemImageGUID = described.systemImageGUID;
    n.info.portGUID = described.ports[described.first_port()].GUID;
    n.info.deviceID = described.deviceID;
    n.info.vendorID = described.vendorID;
    n.description = described.description;
    if (described.is_switch()) n.switch_info.emplace().enhancedPort0 = described.enhanced_port0;
    for (const sim::port& p : described.ports) {
        discovery::port& port = n.ports.emplace_back();
        port.portGUID = p.GUID;
        port.info.emplace().LID = p.LID;
        port.info->LMC = p.LMC;
        if (p.linked()) port.peer = {p.peer_node, p.peer_port};
    }
    return n;
}

} // namespace

discovery::subnet read_subnet(const std::string& file) {
    std::ifstream in = open(file);
    discovery::subnet s;
    for (const sim::node& described : sim::read_topology(in, file).nodes) s.nodes.push_back(node_of(described));
    return s;
}

discovery::node_names read_node_names(const std::string& file) {
    if (file.empty()) return {};
    std::ifstream in = open(file);
    return discovery::node_names::read(in, file);
}

} // namespace ibtool
