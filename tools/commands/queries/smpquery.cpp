// SPDX-License-Identifier: MIT
// smpquery.cpp - smpquery: prints one attribute of a node or port in the format of infiniband-diags, or as JSON.
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/node_name_map.hpp"
#include "session/port_info_extended.hpp"
#include "session/queries.hpp"
#include "session/report.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of smpquery.
struct smpquery_settings {
    std::string operation;
    std::vector<std::string> words; // target, with -c also its route, then a port
    target_options kind;
    bool combined = false, extended = false, show_keys = false, json = false;
    std::string name_map;
    comad::discovery::node_names names;
};

/// The node and port to query, and the output style.
struct smp_query {
    session& in;
    mad::any_path path;
    unsigned port;
    const smpquery_settings& how;
};

/// Formats an attribute as JSON, or below its heading in the style that the options select. `diags` formats it as infiniband-diags does.
template <class T, class Diags>
std::string format_attribute(const smp_query& q, std::string_view above, const T& value, Diags&& diags) {
    const keys which = q.how.show_keys ? keys::shown : keys::hidden;
    if (q.how.json) return json_line(structure_json(value, which));
    return fmt::format("{}{}", above, format_structure(style_of(q.in.options()), value, which, diags));
}
template <class T> std::string format_attribute(const smp_query& q, std::string_view above, const T& value) {
    return format_attribute(q, above, value, [](const T& v) { return format_diags(v); });
}

/// Returns the heading of an attribute that a node has once.
std::string attribute_heading(const smp_query& q, std::string_view what) {
    return fmt::format("# {}: {}\n", what, format_place(q.path));
}
/// Returns the heading of an attribute of a port.
std::string port_attribute_heading(const smp_query& q, std::string_view what) {
    return fmt::format("# {}: {} port {}\n", what, format_place(q.path), q.port);
}

query_task<std::string> node_info(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
    co_return format_attribute(q, attribute_heading(q, "Node info"), info);
}

query_task<std::string> node_description(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
    BOOST_OUTCOME_CO_TRY(const auto description, co_await q.in.SubnGet<smp::NodeDescription>(q.path));
    const std::string name = name_of(q.how.names, info, description);
    co_return format_attribute(q, "", description, [&](const auto&) { return format_node_description(name); });
}

query_task<std::string> port_info(smp_query q) {
    constexpr u32 extended_speeds = 1u << 31;
    const u32 modifier = q.port | (q.how.extended ? extended_speeds : 0);
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::PortInfo>(q.path, modifier));
    co_return format_attribute(q, port_attribute_heading(q, "Port info"), info,
                               [&](const smp::PortInfo& p) { return format_diags(p, q.how.show_keys); });
}

query_task<std::string> port_info_extended(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await query_port_info_extended(q.in, q.path, q.port));
    if (!info) throw std::runtime_error(fmt::format("{} does not support PortInfoExtended", format_place(q.path)));
    co_return format_attribute(q, port_attribute_heading(q, "Port info Extended"), *info);
}

query_task<std::string> mlnx_ext_port_info(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::MlnxExtPortInfo>(q.path, q.port));
    co_return format_attribute(q, port_attribute_heading(q, "MLNX ext Port info"), info);
}

query_task<std::string> switch_info(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::SwitchInfo>(q.path));
    co_return format_attribute(q, attribute_heading(q, "Switch info"), info);
}

void require_port(const smp_query& q, const smp::NodeInfo& node) {
    if (q.port > node.numPorts)
        throw std::runtime_error(
            fmt::format("{} has no port {}; its highest port is {}", format_place(q.path), q.port, node.numPorts));
}

/// Joins the blocks of an attribute into one array of `count` elements.
template <class T, auto Block> auto joined(const std::vector<T>& blocks, std::size_t count) {
    std::vector<typename std::remove_cvref_t<decltype(T{}.*Block)>::value_type> values;
    for (const T& block : blocks) values.insert(values.end(), (block.*Block).begin(), (block.*Block).end());
    values.resize(count);
    return values;
}

query_task<std::string> P_Keys(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
    require_port(q, node);
    unsigned capacity = node.partitionCap;
    if (node.nodeType == iba::NodeType::Switch && q.port != 0) {
        BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::SwitchInfo>(q.path));
        capacity = info.partitionEnforcementCap;
    }
    std::vector<coro::task<mad::result<smp::PKeyTable>>> queries;
    for (unsigned block = 0; block < (capacity + 31) / 32; ++block)
        queries.push_back(q.in.SubnGet<smp::PKeyTable>(q.path, block | q.port << 16));
    BOOST_OUTCOME_CO_TRY(const auto blocks, co_await all(std::move(queries)));
    const auto keys = joined<smp::PKeyTable, &smp::PKeyTable::PKeyBlock>(blocks, capacity);
    if (q.how.json) co_return json_line({{"port", q.port}, {"capacity", capacity}, {"PKeys", keys}});
    co_return fmt::format("{}{} pkeys capacity for this port\n", format_table(keys, capacity), capacity);
}

query_task<std::string> sl_to_vl(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
    require_port(q, node);
    const bool is_switch = node.nodeType == iba::NodeType::Switch;
    const unsigned out = is_switch ? q.port : 0;
    std::vector<coro::task<mad::result<smp::SLToVLMappingTable>>> queries;
    for (unsigned in = 0; in <= (is_switch ? node.numPorts : 0u); ++in)
        queries.push_back(q.in.SubnGet<smp::SLToVLMappingTable>(q.path, in << 8 | out));
    BOOST_OUTCOME_CO_TRY(const auto tables, co_await all(std::move(queries)));
    if (q.how.json) {
        auto rows = nlohmann::ordered_json::array();
        for (std::size_t in = 0; in < tables.size(); ++in)
            rows.push_back({{"in", in}, {"out", out}, {"SLtoVL", tables[in].SLtoVL}});
        co_return json_line(rows);
    }
    std::string text = fmt::format("# SL2VL table: {}\n#                 SL: |", format_place(q.path));
    for (unsigned sl = 0; sl < 16; ++sl) text += fmt::format("{:2}|", sl);
    text += '\n';
    for (std::size_t in = 0; in < tables.size(); ++in)
        text += fmt::format("ports: in {:2}, out {:2}: {}", in, out, format_diags(tables[in]));
    co_return text;
}

/// Queries one half of the VL arbitration table: block `part` and, beyond 32 entries, block `part` + 1.
coro::task<mad::result<std::vector<u16>>> arbitration_half(const smp_query& q, unsigned part, unsigned capacity) {
    std::vector<coro::task<mad::result<smp::VLArbitrationTable>>> queries;
    for (unsigned block = 0; block < (capacity + 31) / 32; ++block)
        queries.push_back(q.in.SubnGet<smp::VLArbitrationTable>(q.path, (part + block) << 16 | q.port));
    BOOST_OUTCOME_CO_TRY(const auto blocks, co_await all(std::move(queries)));
    co_return joined<smp::VLArbitrationTable, &smp::VLArbitrationTable::VLWeightBlock>(blocks, capacity);
}

std::string format_half(std::string_view name, const std::vector<u16>& entries) {
    if (entries.empty()) return {};
    const std::span<const u16> rest(entries);
    std::string text = fmt::format("# {} priority VL Arbitration Table:", name);
    for (std::size_t at = 0; at < rest.size(); at += 32)
        text += format_vl_arbitration(rest.subspan(at, std::min<std::size_t>(32, rest.size() - at)));
    return text;
}

std::string arbitration_json(const smp_query& q, const std::vector<u16>& low, const std::vector<u16>& high) {
    const auto half = [](const std::vector<u16>& entries) {
        auto pairs = nlohmann::ordered_json::array();
        for (const u16 e : entries) pairs.push_back({{"VL", e >> 8 & 0xf}, {"weight", e & 0xff}});
        return pairs;
    };
    return json_line({{"port", q.port}, {"low", half(low)}, {"high", half(high)}});
}

query_task<std::string> vl_arbitration(smp_query q) {
    if (q.port == 0) { // port 0 of a switch, or the port that receives the request
        BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
        if (node.nodeType == iba::NodeType::Switch) {
            BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::SwitchInfo>(q.path));
            if (!info.enhancedPort0) {
                if (q.how.json) co_return arbitration_json(q, {}, {});
                co_return fmt::format("# No VLArbitration tables (BSP0): {} port 0\n", format_place(q.path));
            }
        }
    }
    BOOST_OUTCOME_CO_TRY(const auto port, co_await q.in.SubnGet<smp::PortInfo>(q.path, q.port));
    BOOST_OUTCOME_CO_TRY(const auto low, co_await arbitration_half(q, 1, port.VLArbitrationLowCap));
    BOOST_OUTCOME_CO_TRY(const auto high, co_await arbitration_half(q, 3, port.VLArbitrationHighCap));
    if (q.how.json) co_return arbitration_json(q, low, high);
    co_return fmt::format("# VLArbitration tables: {} port {} LowCap {} HighCap {}\n{}{}", format_place(q.path), q.port,
                          port.VLArbitrationLowCap, port.VLArbitrationHighCap, format_half("Low", low),
                          format_half("High", high));
}

query_task<std::string> guids(smp_query q) {
    BOOST_OUTCOME_CO_TRY(const auto port, co_await q.in.SubnGet<smp::PortInfo>(q.path));
    const unsigned capacity = port.GUIDCap;
    std::vector<coro::task<mad::result<smp::GUIDInfo>>> queries;
    for (unsigned block = 0; block < (capacity + 7) / 8; ++block)
        queries.push_back(q.in.SubnGet<smp::GUIDInfo>(q.path, block));
    BOOST_OUTCOME_CO_TRY(const auto blocks, co_await all(std::move(queries)));
    const auto guids = joined<smp::GUIDInfo, &smp::GUIDInfo::GUIDBlock>(blocks, capacity);
    if (q.how.json) {
        auto texts = nlohmann::ordered_json::array();
        for (const iba::guid g : guids) texts.push_back(fmt::format("{}", g));
        co_return json_line({{"capacity", capacity}, {"GUIDs", std::move(texts)}});
    }
    co_return fmt::format("{}{} guids capacity for this port\n", format_table(guids, capacity), capacity);
}

query_task<std::string> forwarding_table(smp_query q) {
    constexpr unsigned block_size = 64, highest_lid = 0xbfff;
    BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<smp::NodeInfo>(q.path));
    if (node.nodeType != iba::NodeType::Switch)
        throw std::runtime_error(
            fmt::format("{} is not a switch: only switches have a forwarding table", format_place(q.path)));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await q.in.SubnGet<smp::SwitchInfo>(q.path));
    const unsigned count = std::min<unsigned>(info.linearFDBTop, highest_lid) + 1;
    std::vector<coro::task<mad::result<smp::LinearForwardingTable>>> queries;
    for (unsigned block = 0; block < (count + block_size - 1) / block_size; ++block)
        queries.push_back(q.in.SubnGet<smp::LinearForwardingTable>(q.path, block));
    BOOST_OUTCOME_CO_TRY(const auto blocks, co_await all(std::move(queries)));
    const auto ports = joined<smp::LinearForwardingTable, &smp::LinearForwardingTable::portBlock>(blocks, count);
    if (q.how.json)
        co_return json_line(
            {{"linearFDBCap", info.linearFDBCap}, {"linearFDBTop", info.linearFDBTop}, {"ports", ports}});
    co_return fmt::format("{}{} LFT capacity for this port, top is {}\n", format_table(ports, count), info.linearFDBCap,
                          info.linearFDBTop);
}

/// An operation, and the function that queries and formats it.
struct operation {
    std::string_view name, alias;
    bool has_port;
    query_task<std::string> (*run)(smp_query);
};
constexpr operation operations[] = {
    {"NodeInfo", "NI", false, node_info},
    {"NodeDesc", "ND", false, node_description},
    {"PortInfo", "PI", true, port_info},
    {"PortInfoExtended", "PIE", true, port_info_extended},
    {"SwitchInfo", "SI", false, switch_info},
    {"PKeyTable", "PKeys", true, P_Keys},
    {"SL2VLTable", "SL2VL", true, sl_to_vl},
    {"VLArbitration", "VLArb", true, vl_arbitration},
    {"GUIDInfo", "GI", false, guids},
    {"MlnxExtPortInfo", "MEPI", true, mlnx_ext_port_info},
    {"LinearForwardingTable", "LFT", false, forwarding_table},
};

/// Returns the names of all operations with their abbreviations.
std::vector<std::string> operation_names() {
    std::vector<std::string> known;
    for (const operation& o : operations) known.push_back(fmt::format("{} ({})", o.name, o.alias));
    return known;
}

/// Returns the operation with this name or abbreviation, or the only one whose name starts with this text.
const operation& operation_named(const std::string& name) {
    const std::string lower = to_lower(name);
    std::vector<const operation*> with_prefix;
    for (const operation& o : operations) {
        if (lower == to_lower(o.name) || lower == to_lower(o.alias)) return o;
        if (to_lower(o.name).starts_with(lower)) with_prefix.push_back(&o);
    }
    if (with_prefix.size() == 1) return *with_prefix.front();
    std::vector<std::string_view> names;
    for (const operation* o : with_prefix) names.push_back(o->name);
    if (!names.empty() && !name.empty())
        throw usage_error(
            fmt::format("operation {} is ambiguous; it can mean {}", iba::as_given(name), fmt::join(names, ", ")));
    const std::vector<std::string> known = operation_names();
    throw usage_error(fmt::format("unknown operation {}; the nearest are {} (see --help for all)", iba::as_given(name),
                                  iba::most_similar(name, {known.begin(), known.end()})));
}

/// Returns the target at the end of a route that starts at a LID.
command_target combined_target(const std::string& lid, const std::string& route) {
    const command_target front = read_target(lid, {.lid = true});
    command_target target = read_target(route, {.direct = true});
    auto& path = *std::get_if<mad::IBDRPath>(&target.path);
    path.DLID = mad::headers_of(front.path).DLID;
    return target;
}

query_task<std::string> query_operation(session& in, const operation& what, command_target target, unsigned port,
                                        const smpquery_settings& s) {
    if (auto* route = std::get_if<mad::IBDRPath>(&target.path); route && s.combined)
        route->SLID = route->drSLID = in.local_port().LID;
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    const smp_query q{in, path, port, s};
    co_return co_await what.run(q);
}

int run_smpquery(smpquery_settings s, const global_options& options) {
    const operation& what = operation_named(s.operation);
    const std::size_t address_words = s.combined ? 2 : 1;
    if (s.words.size() < address_words) throw usage_error("no target given");
    command_target target = s.combined ? combined_target(s.words[0], s.words[1]) : read_target(s.words[0], s.kind);
    if (s.words.size() > address_words + 1)
        throw usage_error(fmt::format("unexpected argument {}: {} takes at most a target and a port",
                                      iba::as_given(s.words.back()), what.name));
    // Many scripts pass a port to operations that do not use it: `switchinfo 1 0`.
    const bool has_port = s.words.size() > address_words;
    const unsigned of_target = what.has_port && !has_port ? take_port(target).value_or(0) : 0;
    const unsigned named = has_port ? read_number(s.words.back(), "the port", 255) : of_target;
    const unsigned port = what.has_port ? named : 0;
    s.names = read_node_names(s.name_map);
    return run_query(options, &target, [&](session& in) { return query_operation(in, what, target, port, s); });
}

} // namespace

command smpquery_command() {
    return {.name = "smpquery", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<smpquery_settings>();
                std::vector<std::string> names;
                for (const operation& o : operations) names.emplace_back(o.name);
                takes.option("operation", s->operation).such_as(names).required();
                takes.option("target", s->words);
                add_target_options(takes, s->kind);
                takes.flag("-c,--combined", s->combined);
                takes.flag("-x,--extended", s->extended);
                takes.flag("-K,--show_keys", s->show_keys);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    return run_smpquery(*s, options.with_trace_keys(s->show_keys));
                };
            }};
}

} // namespace ibtool
