// SPDX-License-Identifier: MIT
// subnet_queries.cpp - a session around discovery and queries.
#include "session/subnet_queries.hpp"

#include "session/subnet_file.hpp"
#include "text/json.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ibtool {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
using comad::u32;
using comad::u8;
using discovery::port_ref;
using discovery::subnet;

namespace {

/// With what the discovery lacks, first.
report about(const subnet& known, report all) {
    std::vector<discovery::failure> missing = all_missing(known);
    missing.insert(missing.end(), all.missing.begin(), all.missing.end());
    all.missing = std::move(missing);
    return all;
}

reporting discover_then(session& in, const subnet_query& query) {
    const subnet known = co_await require_subnet(in);
    co_return about(known, co_await query(in, known));
}

} // namespace

int discover_and_ask(const global_options& options, const subnet_query& query) {
    return run_query(options, nullptr, [&](session& in) { return discover_then(in, query); });
}

int discover_and_judge(const global_options& options, const std::function<report(const subnet&)>& judge) {
    if (const auto known = subnet_without_device(options))
        return finish(about(*known, judge(*known)), session_end(options));
    return discover_and_ask(
        options, [&](session&, const subnet& known) -> comad::coro::task<report> { co_return judge(known); });
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
            if (p != all_ports && is_in_use(s.nodes[n].ports[p])) in_use.push_back(static_cast<u8>(p));
        if (s.nodes[n].is_switch()) add({n, 0}, std::move(in_use));
        else
            for (const u8 p : in_use) add({n, p}, {p});
    }
    return all;
}

std::string node_line(std::string_view doing, const discovery::node& n) {
    return fmt::format("# {} {}: nodeguid 0x{:016x}", doing, discovery::words_of(n.info.nodeType).record,
                       value(n.info.nodeGUID));
}

nlohmann::ordered_json place_json(const subnet& s, const end_port& e, u8 port) {
    const discovery::node& n = s.nodes[e.where.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", json_string(n.description)},
            {"LID", value(e.path.DLID)},
            {"port", port}};
}

} // namespace ibtool
