// SPDX-License-Identifier: MIT
// subnet_questions.cpp - a session around discovery and questions.
#include "session/subnet_questions.hpp"

#include "text/output.hpp"
#include <comad/discovery/discover.hpp>
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>

namespace ibtool {

namespace coro = comad::coro;
namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u32;
using comad::u8;
using discovery::port_ref;
using discovery::subnet;

namespace {

struct outcome {
    mad::result<findings> found;
    std::string counts, capture_problem, loss;
};

// The fabric is closed again when this returns, as slowly as somebody may read the output.
outcome ask_in_session(const global_options& options, const mad::address* target,
                       const std::function<asked<findings>(session&)>& question) {
    session in(options, target);
    auto found = in.run(question(in), [&] { return fmt::format("{} MADs sent", in.schedule().counters().sent); });
    return {std::move(found), in.counts(), in.finish_capture(), in.loss_text()};
}

asked<findings> discover_then(session& in, const subnet_question& question) {
    discovery::discover_options what;
    what.keys = &in.options().keys;
    what.mlnx_ext_port_info = in.options().mlnx_ext_port_info;
    auto found = co_await discovery::discover(in.schedule(), what);
    if (!found) throw std::runtime_error("the local port does not answer: " + to_string(found.error()));
    const subnet known = std::move(found).value();
    findings all = co_await question(in, known);
    std::vector<std::string> missing;
    for (const auto& problem : known.problems) missing.push_back(describe(known, problem));
    missing.insert(missing.end(), all.missing.begin(), all.missing.end());
    all.missing = std::move(missing);
    co_return all;
}

} // namespace

int ask_and_judge(const global_options& options, const mad::address* target,
                  const std::function<asked<findings>(session&)>& question) {
    const outcome o = ask_in_session(options, target, question);
    if (o.found) write_output(o.found.value().text);
    fmt::print(stderr, "{}", o.counts);
    if (!o.found) fmt::print(stderr, "{}", mad::dump(o.found.error(), options.debug, "ibtool: "));
    else tell_missing(o.found.value().missing, o.loss);
    if (!o.capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", o.capture_problem);
    if (!o.found) return failed;
    if (!o.capture_problem.empty() || !o.found.value().missing.empty()) return partial;
    return o.found.value().is_any_bad ? something_found : static_cast<int>(complete);
}

int discover_and_ask(const global_options& options, const subnet_question& question) {
    return ask_and_judge(options, nullptr, [&](session& in) { return discover_then(in, question); });
}

bool is_in_use(const discovery::port& p) {
    using enum iba::PortPhysicalState;
    if (p.peer) return true;
    if (!p.info) return false;
    const iba::PortPhysicalState physical = p.info->portPhysicalState;
    const bool is_quiet = physical == Sleep || physical == Polling || physical == Disabled;
    return p.info->portState != iba::PortState::Down || !is_quiet;
}

std::vector<end_port> end_ports_of(const subnet& s) {
    std::vector<end_port> all;
    const auto add = [&](port_ref where, std::vector<u8> ports) {
        const auto& info = s.at(where).info;
        if (!info) return; // among the problems of the discovery
        end_port e{where, {}, std::move(ports)};
        e.path.DLID = info->LID;
        all.push_back(std::move(e));
    };
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        std::vector<u8> in_use;
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p)
            if (is_in_use(s.nodes[n].ports[p])) in_use.push_back(static_cast<u8>(p));
        if (s.nodes[n].is_switch()) add({n, 0}, std::move(in_use));
        else
            for (const u8 p : in_use) add({n, p}, {p});
    }
    return all;
}

std::string_view short_type(iba::NodeType type) {
    switch (type) {
    case iba::NodeType::CA: return "Ca";
    case iba::NodeType::Router: return "Rt";
    case iba::NodeType::Switch: break;
    }
    return "Switch";
}

std::string node_line(std::string_view doing, const discovery::node& n) {
    return fmt::format("# {} {}: nodeguid 0x{:016x}", doing, short_type(n.info.nodeType), value(n.info.nodeGUID));
}

nlohmann::ordered_json place_json(const subnet& s, const end_port& e, u8 port) {
    const discovery::node& n = s.nodes[e.where.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", iba::escaped(n.description)},
            {"LID", value(e.path.DLID)},
            {"port", port}};
}

std::string missing_at(const subnet& s, port_ref where, std::string_view why) {
    const std::string name = discovery::name_of(s.nodes[where.node]);
    return where.port ? fmt::format("{}[{}]: {}", name, where.port, why) : fmt::format("{}: {}", name, why);
}

} // namespace ibtool
