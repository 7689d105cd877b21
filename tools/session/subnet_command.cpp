// SPDX-License-Identifier: MIT
// subnet_command.cpp - discover, report, tell what is missing.
#include "session/subnet_command.hpp"

#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/discover.hpp>
#include <comad/iba/text_file.hpp>
#include <comad/transports/sim/topology.hpp>

#include <fmt/format.h>

namespace ibtool {

namespace discovery = comad::discovery;
namespace sim = comad::transports::sim;

namespace {

struct outcome {
    discovery::subnet subnet;
    report said;
    session_end end;
};

// The fabric is closed again when this returns: who reads the output slowly, or stops reading, holds no server's slot.
outcome discover_in_session(const global_options& options, const subnet_text& text) {
    session in(options);
    discovery::discovery_progress progress;
    auto found = in.run(discover_subnet(in, &progress), [&] {
        return fmt::format("discovering: {} nodes, {} links, {} problems", progress.nodes.load(), progress.links.load(),
                           progress.problems.load());
    });
    if (!found) refuse_silent_port(found.error(), options);
    outcome result{std::move(found).value(), {}, session_end(in)};
    result.said.text = text(result.subnet, in);
    result.said.missing = all_missing(result.subnet);
    return result;
}

} // namespace

int discover_and_report(const global_options& options, const subnet_text& text, const std::string& file) {
    const outcome o = discover_in_session(options, text);
    const int code = finish(o.said, o.end, file);
    if (!o.subnet.complete())
        print_error("ibtool: the result is partial: {} problem{}\n", o.subnet.problems.size(),
                    o.subnet.problems.size() == 1 ? "" : "s");
    return code;
}

namespace {

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
    std::istringstream in = comad::iba::open_text_file(file);
    discovery::subnet s;
    for (const sim::node& described : sim::read_topology(in, file).nodes) s.nodes.push_back(node_of(described));
    return s;
}

} // namespace ibtool
