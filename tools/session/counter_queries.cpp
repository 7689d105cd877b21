// SPDX-License-Identifier: MIT
// counter_queries.cpp - queries and clears counters: sends requests and decodes replies as bytes, for all counter groups.
#include "session/counter_queries.hpp"

#include "comad.hpp"
#include "session/port_info_extended.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include <comad/counters/detail/kept_counters.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ibtool {

namespace {

query_task<std::vector<u8>> exchange(coro::MADSchedule& schedule, mad::IBPath to, const counter_group& g,
                                     iba::Method method, std::vector<u8> payload, coro::rpc_options options) {
    const mad::rpc_kind kind{iba::MgmtClass::Performance, 1, method, g.attributeID, true, 0};
    const mad::any_path path = to;
    std::array<u8, mad::mad_size> bytes{};
    std::ranges::copy(payload, mad::write_request(bytes.data(), kind, path, 0, 0));
    const coro::rpc_request request{kind, path, 0, 0, options};
    auto reply = co_await schedule.call_raw(request, bytes);
    if (!reply) co_return std::move(reply.error());
    const auto data = reply.value().payload.begin() + mad::payload_offset(kind.mgmt_class);
    co_return std::vector<u8>(data, data + g.info.bytes);
}

} // namespace

query_task<std::vector<u8>> get_counters(coro::MADSchedule& schedule, mad::IBPath to, const counter_group& g, u8 port,
                                         coro::rpc_options options) {
    std::vector<u8> which(g.info.bytes);
    set_number(g, which, "portSelect", port);
    return exchange(schedule, to, g, iba::Method::Get, std::move(which), options);
}

query_task<const counter_group*> active_group(session& in, const performance_agent& a, const counter_group& wanted,
                                              u8 port) {
    if (&wanted != &group_of<pm::PortExtendedSpeedsCounters> || !a.can().RS_FEC) co_return &wanted;
    BOOST_OUTCOME_CO_TRY(const auto info, co_await query_port_info_extended(in, a.to, port));
    constexpr comad::u32 has_modes = 1;
    if (!info || !(info->capabilityMask & has_modes)) co_return &wanted;
    const bool is_rs = info->FECModeActive == iba::FECMode::RS || info->FECModeActive == iba::FECMode::RS2;
    co_return is_rs ? &group_of<pm::PortExtendedSpeedsCountersRSFEC> : &wanted;
}

namespace {

bool is_of_traffic(std::string_view name) {
    return name.find("Data") != name.npos || name.find("Pkts") != name.npos || name.find("Packets") != name.npos ||
           name.find("Wait") != name.npos;
}

} // namespace

namespace {

std::vector<u64> selected_values(const clearing_request& r, const std::vector<u8>& bytes) {
    std::vector<u64> values;
    for (const group_counter& c : selected_counters(*r.group, r.agent.info, bytes, r.select)) values.push_back(c.value);
    return values;
}

query_task<std::vector<u64>> read_selected(session& in, const clearing_request& r, u8 port) {
    const std::function<query_task<std::vector<u8>>()> reads = [&] {
        return get_counters(in.schedule(), r.agent.to, *r.group, port, r.reads);
    };
    auto reading = read_back<std::vector<u8>>(in, reads);
    BOOST_OUTCOME_CO_TRY(const auto bytes, co_await std::move(reading));
    co_return selected_values(r, bytes);
}

} // namespace

query_task<kept> kept_counters(session& in, const clearing_request& r, u8 port, const std::vector<u8>& before) {
    const counters::counters_reader reads = [&] { return read_selected(in, r, port); };
    auto finding = counters::find_kept(selected_values(r, before), reads);
    BOOST_OUTCOME_CO_TRY(const auto left, co_await std::move(finding));
    const auto selected = selected_counters(*r.group, r.agent.info, before, r.select);
    kept found;
    for (const counters::kept_counter& k : left) {
        const std::string& name = selected[k.index].name;
        found.names += (found.names.empty() ? "" : ", ") + kept_text(name, k);
        found.is_traffic &= is_of_traffic(name);
    }
    co_return found;
}

namespace {

clearing_problem problem_of(u8 port, std::string_view what, const mad::mad_error& e) {
    return {port, fmt::format("{}: {}", what, to_string(e)), fmt::format("{}: {}", what, plain_text(e))};
}

} // namespace

query_task<std::vector<clearing_problem>> clear_counters(session& in, clearing_request r) {
    const std::vector<u8> payload = clearing(*r.group, r.port, r.select);
    std::vector<std::optional<std::vector<u8>>> before; // nullopt: the port could not be read
    std::vector<clearing_problem> problems;
    for (const u8 port : r.ports) {
        auto bytes = co_await get_counters(in.schedule(), r.agent.to, *r.group, port, r.reads);
        before.emplace_back();
        if (bytes) before.back() = std::move(bytes).value();
        else if (r.ports.size() == 1) co_return std::move(bytes.error());
        else problems.push_back(problem_of(port, not_known, bytes.error()));
    }
    auto reply = co_await exchange(in.schedule(), r.agent.to, *r.group, iba::Method::Set, payload, {});
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    for (std::size_t i = 0; i < r.ports.size(); ++i) {
        if (!before[i]) continue;
        const u8 port = r.ports[i];
        const auto counted = selected_counters(*r.group, r.agent.info, *before[i], r.select);
        // If no counter had counted, the values after a Set with a reply prove nothing.
        if (!failure && std::ranges::all_of(counted, [](const group_counter& c) { return c.value == 0; })) continue;
        const auto left = co_await kept_counters(in, r, port, *before[i]);
        if (!left) {
            problems.push_back(problem_of(port, not_known, decisive(failure, left.error())));
        } else if (!left.value().names.empty()) {
            const auto& [names, is_traffic] = left.value();
            const std::string what =
                fmt::format("{}: {} {}", failure && is_traffic ? not_known : "not cleared", r.group->name, names);
            if (failure) problems.push_back(problem_of(port, what, *failure));
            else problems.push_back({port, what, {}});
        }
    }
    co_return problems;
}

query_task<std::vector<u8>> ports_with_counters(session& in, mad::IBPath to) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(to));
    unsigned first = 1;
    if (node.nodeType == iba::NodeType::Switch) {
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::SwitchInfo>(to));
        if (info.enhancedPort0) first = 0;
    }
    std::vector<u8> ports;
    for (unsigned port = first; port <= std::min<unsigned>(node.numPorts, 254); ++port)
        ports.push_back(static_cast<u8>(port));
    if (ports.empty()) throw std::runtime_error(fmt::format("{} has no ports", format_place(to)));
    co_return ports;
}

std::vector<u8> sum_of(const counter_group& g, const std::vector<std::vector<u8>>& of_ports) {
    std::vector<u8> sum(g.info.bytes);
    set_number(g, sum, "portSelect", all_ports);
    for (const std::vector<u8>& bytes : of_ports) add_counters(g, sum, bytes);
    return sum;
}

std::string heading(const performance_agent& a, const counter_group& g, u8 port) {
    std::string masks;
    if (&g == &group_of<pm::PortCounters>) masks = fmt::format(" (CapMask: 0x{:02X})", a.info.capabilityMask);
    if (&g == &group_of<pm::PortCountersExt>)
        masks = fmt::format(" (CapMask: 0x{:02X} CapMask2: 0x{:07X})", a.info.capabilityMask, a.info.capabilityMask2);
    return fmt::format("# {}: {} port {}{}\n", g.heading(), format_place(a.to), port, masks);
}

nlohmann::ordered_json counters_json(const performance_agent& a, const counter_group& g, const std::vector<u8>& bytes) {
    auto list = json_object(g.info, bytes);
    list.erase("portSelect");
    for (auto& number : list) // numbers with more than 32 bits are text in the JSON of structures
        if (number.is_string()) number = std::stoull(number.get<std::string>(), nullptr, 16);
    for (const std::string_view name : missing_counters(g, a.info)) list.erase(std::string(name));
    return list;
}

} // namespace ibtool
