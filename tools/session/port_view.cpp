// SPDX-License-Identifier: MIT
// port_view.cpp - queries ports, and compares both ends of a link by what is enabled, as ibportstate does.
#include "session/port_view.hpp"

#include "comad.hpp"
#include "session/neighbor_port.hpp"
#include "text/diags_text.hpp"
#include "text/link_text.hpp"
#include <comad/discovery/database/detail/vendors.hpp>

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace ibtool {

discovery::link_speeds port_view::enabled_speeds() const {
    constexpr u32 all_legacy = 15, known_legacy = 7, no_extended = 30, all_extended = 31;
    u32 legacy = info.linkSpeedEnabled, extended = info.linkSpeedExtEnabled;
    if (legacy == all_legacy) legacy = info.linkSpeedSupported;
    if (extended == all_extended) extended = info.linkSpeedExtSupported;
    if (extended == no_extended) extended = 0;
    legacy &= known_legacy;
    if (!has_extended_speeds()) return legacy;
    return legacy | extended << discovery::extended_speed_bit |
           u32{info.linkSpeedExtEnabled2} << discovery::extended_speed2_bit;
}

u8 port_view::enabled_widths() const {
    constexpr u8 all = 255;
    return info.linkWidthEnabled == all ? info.linkWidthSupported : info.linkWidthEnabled;
}

query_task<port_view> view_port(session& in, mad::any_path path, std::optional<u8> number) {
    port_view v;
    v.path = path;
    BOOST_OUTCOME_CO_TRY(v.node, co_await in.SubnGet<smp::NodeInfo>(path));
    v.number = number.value_or(v.node.localPortNum);
    if (v.number > v.node.numPorts)
        throw std::runtime_error(
            fmt::format("{} has no port {}: its last port is {}", format_place(path), v.number, v.node.numPorts));
    BOOST_OUTCOME_CO_TRY(v.info, co_await in.SubnGet<smp::PortInfo>(path, v.number));
    v.end = v.info;
    if (!v.is_end_port()) {
        BOOST_OUTCOME_CO_TRY(v.end, co_await in.SubnGet<smp::PortInfo>(path));
    }
    const bool may_query = in.options().mlnx_ext_port_info && !in.options().by_sa;
    if (may_query && discovery::has_mlnx_ext_port_info(v.node)) {
        auto more = co_await in.SubnGet<smp::MlnxExtPortInfo>(path, v.number);
        if (!more && !mad::is_unsupported(more.error())) co_return std::move(more.error());
        if (more) v.mellanox = more.value(); // otherwise it has no FDR10, whatever its device ID suggests
    }
    co_return v;
}

query_task<port_view> view_other_end(session& in, const port_view& here) {
    const auto* by_lid = std::get_if<mad::IBPath>(&here.path);
    if (by_lid && !in.options().by_sa) {
        mad::IBDRPath route;
        static_cast<mad::path_headers&>(route) = *by_lid;
        route.dqpn = route.sqpn = route.qkey = 0;
        route.SLID = route.drSLID = in.local_port().LID;
        BOOST_OUTCOME_CO_TRY(const auto beyond, co_await with_key_beyond(in, route.extended(here.true_number()),
                                                                         here.node, here.true_number()));
        auto seen = co_await view_port(in, beyond, std::nullopt);
        const bool has_sa = value(in.local_port().sa_path.DLID) != 0;
        const bool is_carried =
            seen || (seen.error().code != mad::errc::timed_out && seen.error().code != mad::errc::send_failed);
        if (is_carried || !has_sa) co_return seen;
    }
    BOOST_OUTCOME_CO_TRY(const auto there,
                         co_await other_end(in, here.path, here.node, here.end.LID, here.true_number()));
    co_return co_await view_port(in, there.path, there.port);
}

std::vector<std::string> link_complaints(const port_view& here, const port_view& there) {
    std::vector<std::string> lines;
    const unsigned widths = here.enabled_widths() & there.enabled_widths();
    unsigned best = 0;
    for (unsigned bit = 1; bit <= value(iba::LinkWidth::w2x); bit *= 2)
        if ((widths & bit) && discovery::lanes_of(iba::LinkWidth(bit)) > discovery::lanes_of(iba::LinkWidth(best)))
            best = bit;
    if (best != 0 && discovery::lanes_of(iba::LinkWidth(best)) > discovery::lanes_of(here.info.linkWidthActive))
        lines.push_back(fmt::format("the link runs at {}, but both ends have {} enabled",
                                    format_width(value(here.info.linkWidthActive)), format_width(best)));
    const auto fastest = std::bit_floor(here.enabled_speeds() & there.enabled_speeds());
    if (fastest > here.active_speed())
        lines.push_back(fmt::format("the link runs at {}, but both ends have {} enabled",
                                    format_any_speed(here.active_speed()), format_any_speed(fastest)));
    if (here.info.linkWidthActive != there.info.linkWidthActive)
        lines.push_back(fmt::format("the link runs at {}, but the other end reports {}",
                                    format_width(value(here.info.linkWidthActive)),
                                    format_width(value(there.info.linkWidthActive))));
    if (here.active_speed() != there.active_speed())
        lines.push_back(fmt::format("the link runs at {}, but the other end reports {}",
                                    format_any_speed(here.active_speed()), format_any_speed(there.active_speed())));
    constexpr u8 FDR10 = 1;
    const bool may_be_fdr10 = here.mellanox && there.mellanox && (here.mellanox->LinkSpeedEnabled & FDR10) &&
                              (there.mellanox->LinkSpeedEnabled & FDR10);
    const bool is_extended = here.has_extended_speeds() && there.has_extended_speeds();
    if (may_be_fdr10 && !is_extended && !(here.mellanox->LinkSpeedActive & FDR10))
        lines.push_back(fmt::format("the link runs at {}, but both ends have FDR10 enabled",
                                    format_any_speed(here.active_speed())));
    return lines;
}

} // namespace ibtool
