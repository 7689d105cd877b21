// SPDX-License-Identifier: MIT
// ibccquery.cpp - ibccquery: prints one attribute of congestion control in the format of infiniband-diags, or as JSON.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/congestion_options.hpp"
#include "session/queries.hpp"
#include "text/diags_text.hpp"
#include "text/ibccquery_text.hpp"
#include "text/json.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibccquery.
struct ibccquery_settings {
    std::string operation, target, port;
    std::optional<comad::u64> CC_Key;
    target_options kind;
    bool json = false;
};

/// The port to query, and the output style.
struct congestion_query {
    session& in;
    mad::IBPath to;
    std::optional<unsigned> port;
    bool json;

    std::string heading(std::string_view name) const { return fmt::format("# {}: {}\n", name, format_place(to)); }
};

/// Formats a structure below its heading, in the style that the options select. Shows keys, because users query CongestionKeyInfo for its
/// key.
template <class T> std::string format_attribute(const congestion_query& q, std::string_view name, const T& value) {
    if (q.json) return json_line(structure_json(value, keys::shown));
    return q.heading(name) + format_structure(style_of(q.in.options()), value, keys::shown,
                                              [](const T& v) { return format_congestion(v); });
}

/// Queries and formats an attribute that a node has once.
template <class T> query_task<std::string> query_attribute(congestion_query q, std::string_view name) {
    BOOST_OUTCOME_CO_TRY(const auto value, co_await q.in.schedule().CongestionControlGet<T>(q.to));
    co_return format_attribute(q, name, value);
}

/// Queries and formats the congestion log. One attribute serves for the logs of both types of node, and has a field that identifies the
/// type.
query_task<std::string> query_log(congestion_query q, std::string_view name) {
    BOOST_OUTCOME_CO_TRY(const auto log, co_await q.in.schedule().CongestionControlGet<cc::CongestionLogSwitch>(q.to));
    constexpr unsigned of_switch = 1, of_ca = 2;
    if (log.logType == of_switch) co_return format_attribute(q, name, log);
    if (log.logType != of_ca)
        throw std::runtime_error(
            fmt::format("the reply has the unknown log type {}; expected {} (switch) or {} (channel adapter)",
                        log.logType, of_switch, of_ca));
    const auto bytes = iba::encode(log);
    co_return format_attribute(q, name, iba::decode<cc::CongestionLogCA>(bytes));
}

// ---- attributes with blocks --------------------------------------------------------------------------------------------

constexpr unsigned ports_per_block = std::tuple_size_v<decltype(cc::SwitchPortCongestionSetting::element)>;
constexpr unsigned entries_per_block = std::tuple_size_v<decltype(cc::CongestionControlTable::entry)>;

template <class T> query_task<T> query_block(congestion_query q, unsigned block) {
    co_return co_await q.in.schedule().CongestionControlGet<T>(q.to, block);
}

/// Queries the blocks from `first` to `last` in parallel.
template <class T> query_task<std::vector<T>> query_blocks(congestion_query q, unsigned first, unsigned last) {
    std::vector<coro::task<mad::result<T>>> blocks;
    for (unsigned block = first; block <= last; ++block) blocks.push_back(query_block<T>(q, block));
    co_return co_await all(std::move(blocks));
}

/// Returns whether the output shows structures with IBA names instead of the format of infiniband-diags.
bool wants_structures(const congestion_query& q) {
    return !q.json && style_of(q.in.options()) != structure_style::diags;
}
template <class T>
std::string format_blocks(const congestion_query& q, std::string_view name, const std::vector<T>& blocks) {
    std::string text = q.heading(name);
    for (const T& block : blocks) {
        const auto bytes = iba::encode(block);
        text += format_structure(style_of(q.in.options()), iba::info_of<T>, {bytes.begin(), bytes.end()});
    }
    return text;
}

query_task<std::string> query_port_settings(congestion_query q, std::string_view name) {
    using cc::SwitchPortCongestionSetting;
    BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<iba::smp::NodeInfo>(q.to));
    if (node.nodeType != iba::NodeType::Switch)
        throw std::runtime_error(
            fmt::format("{} is not a switch; only switches have SwitchPortCongestionSetting", format_place(q.to)));
    const unsigned first = q.port.value_or(0), last = q.port.value_or(node.numPorts), base = first / ports_per_block;
    if (last > node.numPorts)
        throw std::runtime_error(
            fmt::format("{} has no port {}; its highest port is {}", format_place(q.to), last, node.numPorts));
    BOOST_OUTCOME_CO_TRY(const auto blocks,
                         co_await query_blocks<SwitchPortCongestionSetting>(q, base, last / ports_per_block));
    if (wants_structures(q)) co_return format_blocks(q, name, blocks);
    nlohmann::ordered_json ports = nlohmann::ordered_json::array();
    std::string text = q.heading(name);
    for (unsigned port = first; port <= last; ++port) {
        const auto& e = blocks[port / ports_per_block - base].element[port % ports_per_block];
        if (q.json) {
            nlohmann::ordered_json line{{"port", port}};
            line.update(structure_json(e));
            ports.push_back(std::move(line));
        } else {
            text += q.port ? format_congestion(e) : format_port_setting(port, e);
        }
    }
    co_return q.json ? json_line({{"schema", "comad.congestion/1"}, {"ports", ports}}) : text;
}

query_task<std::string> query_table(congestion_query q, std::string_view name) {
    using cc::CongestionControlTable;
    BOOST_OUTCOME_CO_TRY(const auto first, co_await q.in.schedule().CongestionControlGet<CongestionControlTable>(q.to));
    std::vector<CongestionControlTable> blocks{first};
    if (const unsigned last = first.CCTILimit / entries_per_block; last > 0) {
        BOOST_OUTCOME_CO_TRY(const auto rest, co_await query_blocks<CongestionControlTable>(q, 1, last));
        blocks.insert(blocks.end(), rest.begin(), rest.end());
    }
    if (wants_structures(q)) co_return format_blocks(q, name, blocks);
    const unsigned count = first.CCTILimit == 0 ? 0 : first.CCTILimit + 1u; // 0: the table was never written
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    std::string text = q.heading(name) + format_table_limit(first);
    for (unsigned i = 0; i < count; ++i) {
        const auto& e = blocks[i / entries_per_block].entry[i % entries_per_block];
        if (q.json) entries.push_back(structure_json(e));
        else text += format_table_entry(i, e);
    }
    if (!q.json) co_return text;
    co_return json_line({{"schema", "comad.congestion/1"}, {"CCTILimit", first.CCTILimit}, {"entries", entries}});
}

// ---- the command -------------------------------------------------------------------------------------------------------

using congestion_question = query_task<std::string> (*)(congestion_query, std::string_view name);
constexpr operation_name ibccquery_operations[] = {
    {"ClassPortInfo", "CP"},       {"CongestionInfo", "CI"},          {"CongestionKeyInfo", "CK"},
    {"CongestionLog", "CL"},       {"SwitchCongestionSetting", "SS"}, {"SwitchPortCongestionSetting", "SP"},
    {"CACongestionSetting", "CS"}, {"CongestionControlTable", "CT"},  {"Timestamp", "TI"}};
constexpr congestion_question ibccquery_functions[] = {query_attribute<iba::ClassPortInfo>,
                                                       query_attribute<cc::CongestionInfo>,
                                                       query_attribute<cc::CongestionKeyInfo>,
                                                       query_log,
                                                       query_attribute<cc::SwitchCongestionSetting>,
                                                       query_port_settings,
                                                       query_attribute<cc::CACongestionSetting>,
                                                       query_table,
                                                       query_attribute<cc::TimeStamp>};
static_assert(std::size(ibccquery_operations) == std::size(ibccquery_functions));

query_task<std::string> query_congestion(session& in, std::size_t which, command_target target,
                                         std::optional<unsigned> port, bool json) {
    BOOST_OUTCOME_CO_TRY(const auto to, co_await resolve_port(in, target));
    const congestion_query q{in, to, port, json};
    auto reply = co_await ibccquery_functions[which](q, ibccquery_operations[which].name);
    if (!reply) hint_at_cc_key(reply.error());
    co_return reply;
}

int run_ibccquery(const ibccquery_settings& s, const global_options& options) {
    const std::size_t which = find_operation(ibccquery_operations, s.operation);
    const bool has_port = ibccquery_functions[which] == query_port_settings;
    if (!s.port.empty() && !has_port)
        throw usage_error(fmt::format("unexpected argument {}: {} takes no port", iba::as_given(s.port),
                                      ibccquery_operations[which].name));
    std::optional<unsigned> port;
    if (!s.port.empty()) port = read_number(s.port, "the port", 254);
    const command_target target = read_target(s.target, s.kind);
    const global_options keyed = with_cc_key(options, s.CC_Key);
    return run_query(keyed, &target, [&](session& in) { return query_congestion(in, which, target, port, s.json); });
}

} // namespace

command ibccquery_command() {
    return {.name = "ibccquery", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibccquery_settings>();
                takes.option("operation", s->operation).required();
                takes.option("target", s->target).required();
                takes.option("port", s->port);
                add_cc_key_option(takes, s->CC_Key);
                add_target_options(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibccquery(*s, options); };
            }};
}

} // namespace ibtool
