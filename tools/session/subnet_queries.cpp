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

query_task<report> discover_then(session& in, const subnet_query& query) {
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

std::string node_line(std::string_view doing, const discovery::node& n) {
    return fmt::format("# {} {}: nodeguid 0x{:016x}", doing, discovery::words_of(n.info.nodeType).record,
                       value(n.info.nodeGUID));
}

nlohmann::ordered_json place_json(const subnet& s, const discovery::end_port_ref& e, u8 port) {
    const discovery::node& n = s.nodes[e.where.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", json_string(n.description)},
            {"LID", value(e.path.DLID)},
            {"port", port}};
}

} // namespace ibtool
