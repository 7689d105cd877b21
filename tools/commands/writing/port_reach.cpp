// SPDX-License-Identifier: MIT
// port_reach.cpp - determines which links carry the MADs to a port, and whether its LID and that of the subnet manager stay reachable.
#include "commands/writing/port_reach.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "session/queries.hpp"
#include "text/diags_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace ibtool {
namespace {

/// Returns whether the LID is one of the LIDs of the end port, which its LMC defines.
bool has_lid(const smp::PortInfo& end, iba::lid LID) {
    const unsigned first = value(end.LID), lid_value = value(LID);
    return first != 0 && lid_value >= first && lid_value < first + (1u << end.LMC);
}

/// Returns whether the port belongs to this host, so that its SMA replies without a link (rdma-core #847, #868). The path is then a route
/// without hops, or a LID of the local port.
bool answers_without_link(const session& in, const port_view& v) {
    if (const mad::IBDRPath* const route = mad::directed(v.path))
        return route->hopCount == 0 && route->drSLID == iba::permissive_lid && route->drDLID == iba::permissive_lid;
    return has_lid(v.end, in.local_port().LID);
}

/// Returns whether the route crosses the target through this port before its end. A route can pass the target and return to it.
query_task<bool> is_crossed_before(session& in, const port_view& v) {
    const mad::IBDRPath* const whole = mad::directed(v.path);
    const bool is_of_hops = whole && whole->drSLID == iba::permissive_lid && whole->drDLID == iba::permissive_lid;
    if (!v.is_switch() || !is_of_hops) co_return false;
    mad::IBDRPath route = *whole;
    for (route.hopCount = 0; route.hopCount < whole->hopCount; ++route.hopCount) {
        const mad::any_path prefix = in.options().keys.put_into(route, {});
        BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(prefix));
        if (node.nodeGUID != v.node.nodeGUID) continue;
        const bool is_entry = route.hopCount != 0 && node.localPortNum == v.number;
        if (is_entry || whole->drPath[route.hopCount + 1u] == v.number) co_return true;
    }
    co_return false;
}

/// Returns whether the MADs of ibtool enter the target through this port, or its replies leave through it.
query_task<bool> carries_our_mads(session& in, const port_view& v) {
    if (answers_without_link(in, v)) co_return false;
    if (v.true_number() == v.node.localPortNum) co_return true;
    if (mad::directed(v.path)) co_return co_await is_crossed_before(in, v);
    if (!v.is_switch() || value(in.local_port().LID) == 0) co_return false;
    const unsigned LID = value(in.local_port().LID), per_block = 64;
    BOOST_OUTCOME_CO_TRY(const auto table, co_await in.SubnGet<smp::LinearForwardingTable>(v.path, LID / per_block));
    co_return table.portBlock[LID % per_block] == v.number;
}

bool disables(const port_change& c) { return c.state == "disable" || c.state == "off"; }

/// Returns whether the link can train after the change: both ends must enable a common width and a common speed. Returns true if the
/// neighbor cannot be read.
query_task<bool> may_train_again(session& in, const port_view& before, const port_view& after) {
    std::optional<port_view> there;
    try {
        auto seen = co_await view_other_end(in, before);
        if (seen) there = std::move(seen).value();
    } catch (const std::runtime_error&) { // no path to the neighbor is known
    }
    if (!there) co_return true;
    const port_view& end = *there;
    co_return (after.enabled_widths() & end.enabled_widths()) != 0 &&
        (after.enabled_speeds() & end.enabled_speeds()) != 0;
}

/// Returns the port after the change. A mask of 0 means "no change"; here it becomes the present mask, so that masks can be compared.
port_view view_after(const port_view& before, const port_change& c) {
    port_view after = before;
    smp::PortInfo wanted = with_fields(before.info, c.fields);
    if (wanted.linkWidthEnabled == 0) wanted.linkWidthEnabled = before.info.linkWidthEnabled;
    if (wanted.linkSpeedEnabled == 0) wanted.linkSpeedEnabled = before.info.linkSpeedEnabled;
    if (wanted.linkSpeedExtEnabled == 0) wanted.linkSpeedExtEnabled = before.info.linkSpeedExtEnabled;
    after.info = wanted;
    if (after.is_end_port()) after.end = wanted;
    return after;
}

/// Returns why ibtool could not reach the port again; empty: it could.
query_task<std::string_view> unreachable_port(session& in, const port_view& before, const port_view& after,
                                              const port_change& c) {
    if (const auto* by_lid = std::get_if<mad::IBPath>(&before.path);
        by_lid && before.is_end_port() && !answers_without_link(in, before) && !has_lid(after.end, by_lid->DLID))
        co_return "ibtool reaches the port by its LID, and no route leads to the new LID yet";
    if (!c.cuts_link) co_return "";
    BOOST_OUTCOME_CO_TRY(const bool is_ours, co_await carries_our_mads(in, before));
    if (!is_ours) co_return "";
    if (disables(c)) co_return "ibtool reaches the port through its own link, which would stay down";
    BOOST_OUTCOME_CO_TRY(const bool trains, co_await may_train_again(in, before, after));
    co_return trains ? ""
                     : "ibtool reaches the port through its own link, whose ends would have no common width or speed";
}

/// Returns why the subnet could not reach its subnet manager; empty: it could.
query_task<std::string_view> unreachable_manager(session& in, const port_view& before, const port_view& after,
                                                 const port_change& c) {
    const iba::lid manager = in.local_port().sa_path.DLID;
    if (value(manager) == 0) co_return "";
    if (before.is_end_port()) {
        if (!has_lid(before.end, manager)) co_return "";
        if (disables(c)) co_return "the subnet manager runs on this port";
        if (!has_lid(after.end, manager))
            co_return "the subnet manager runs on this port, and its LID would become unreachable";
        const bool hides = after.end.MKey != before.end.MKey && after.end.MKey != 0 && after.end.MKeyProtectBits >= 2;
        co_return hides ? "the subnet manager runs on this port, and it does not have the new M_Key" : "";
    }
    if (!disables(c) || before.info.portState == iba::PortState::Down) co_return "";
    auto there = co_await view_other_end(in, before);
    const bool leads_to_manager = there && !there.value().is_switch() && has_lid(there.value().end, manager);
    co_return leads_to_manager ? "the subnet manager runs on the neighbor of this port" : "";
}

} // namespace

query_task<void> require_reachable_after(session& in, const port_view& before, const port_change& c) {
    if (!c.cuts_link && !c.is_of_end_port) co_return mad::success();
    const port_view after = view_after(before, c);
    BOOST_OUTCOME_CO_TRY(std::string_view why, co_await unreachable_port(in, before, after, c));
    if (why.empty()) {
        BOOST_OUTCOME_CO_TRY(why, co_await unreachable_manager(in, before, after, c));
    }
    if (!why.empty())
        throw std::runtime_error(fmt::format("{} port {} not changed: {}; add --force to change it anyway",
                                             format_place(before.path), before.number, why));
    co_return mad::success();
}

} // namespace ibtool
