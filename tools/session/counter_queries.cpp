// SPDX-License-Identifier: MIT
// counter_queries.cpp - requests and replies as bytes, which are what all groups have in common.
#include "session/counter_queries.hpp"

#include "text/diags_text.hpp"
#include "text/json.hpp"
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ibtool {

namespace coro = comad::coro;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace smp = comad::iba::smp;
using comad::u64;
using comad::u8;

namespace {

asked<std::vector<u8>> exchange(coro::MADSchedule& schedule, mad::IBPath to, const counter_group& g, iba::Method method,
                                std::vector<u8> payload, coro::rpc_options options) {
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

asked<std::vector<u8>> get_counters(coro::MADSchedule& schedule, mad::IBPath to, const counter_group& g, u8 port,
                                    coro::rpc_options options) {
    std::vector<u8> which(g.info.bytes);
    set_number(g, which, "portSelect", port);
    return exchange(schedule, to, g, iba::Method::Get, std::move(which), options);
}

asked<void> clear_counters(coro::MADSchedule& schedule, mad::IBPath to, const counter_group& g, u8 port, u64 select) {
    BOOST_OUTCOME_CO_TRYV(co_await exchange(schedule, to, g, iba::Method::Set, clearing(g, port, select), {}));
    co_return comad::mad::success();
}

asked<std::vector<u8>> ports_with_counters(session& in, mad::IBPath to) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(to));
    unsigned first = 1;
    if (node.nodeType == iba::NodeType::Switch) {
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::SwitchInfo>(to));
        if (info.enhancedPort0) first = 0;
    }
    std::vector<u8> ports;
    for (unsigned port = first; port <= std::min<unsigned>(node.numPorts, 254); ++port)
        ports.push_back(static_cast<u8>(port));
    if (ports.empty()) throw std::runtime_error(fmt::format("{} has no ports", place_text(to)));
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
    if (&g == &port_counters) masks = fmt::format(" (CapMask: 0x{:02X})", a.info.capabilityMask);
    if (&g == &port_counters_extended)
        masks = fmt::format(" (CapMask: 0x{:02X} CapMask2: 0x{:07X})", a.info.capabilityMask, a.info.capabilityMask2);
    return fmt::format("# {}: {} port {}{}\n", g.heading, place_text(a.to), port, masks);
}

nlohmann::ordered_json counters_json(const performance_agent& a, const counter_group& g, const std::vector<u8>& bytes) {
    auto list = json_value(iba::json(g.info, bytes));
    list.erase("portSelect");
    for (auto& number : list) // wider ones than 32 bits are text there
        if (number.is_string()) number = std::stoull(number.get<std::string>(), nullptr, 16);
    for (const std::string_view name : missing_counters(g, a.info)) list.erase(std::string(name));
    return list;
}

} // namespace ibtool
