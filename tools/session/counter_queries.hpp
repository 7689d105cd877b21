// SPDX-License-Identifier: MIT
// counter_queries.hpp - queries a PMA for any counter group, and formats its replies as text and JSON. Does not depend on a command.
#pragma once
#include "session/session.hpp"
#include "text/counter_groups.hpp"
#include <comad/counters/port_counters.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ibtool {

using comad::counters::all_ports;

/// A PMA: the path to it, and what it supports.
struct performance_agent {
    comad::mad::IBPath to;
    comad::iba::ClassPortInfo info;

    comad::counters::capabilities can() const noexcept { return comad::counters::capabilities::of(info); }
};

/// Sends a Get with this portSelect. Returns the payload of the reply.
query_task<std::vector<comad::u8>> get_counters(comad::coro::MADSchedule&, comad::mad::IBPath to, const counter_group&,
                                                comad::u8 port, comad::coro::rpc_options = {});
/// Returns the group that describes the counters of a port if `wanted` is queried. While RS-FEC is active on the port,
/// PortExtendedSpeedsCounters has the structure PortExtendedSpeedsCountersRSFEC; SMPs to the port then find out the FEC mode. They are sent
/// only if the PMA supports the RS-FEC counters. Precondition: `port` is not all_ports, because ports with different groups have no sum.
query_task<const counter_group*> active_group(session&, const performance_agent&, const counter_group& wanted,
                                              comad::u8 port);

/// The counters to clear, and how.
struct clearing_request {
    performance_agent agent;
    const counter_group* group;
    comad::u8 port;                   ///< portSelect of the Set
    std::vector<comad::u8> ports;     ///< the ports to read before and after the Set; several if `port` is all_ports
    comad::u64 select;                ///< the selected counters: see all_counters()
    comad::coro::rpc_options reads{}; ///< options of the Gets
};
/// Counters that were to be cleared, but are not lower.
struct kept {
    std::string names; ///< names and values of the counters; empty: all were cleared
    /// None of them counts errors. After a Set without a reply, traffic counters may have counted as much again.
    bool is_traffic = true;
};
/// Reads a port again after the Set, even after a signal. `before`: the payload of a Get before the Set.
query_task<kept> kept_counters(session&, const clearing_request&, comad::u8 port, const std::vector<comad::u8>& before);

/// A port whose counters were not cleared, or may not have been; texts as in discovery::failure.
struct clearing_problem {
    comad::u8 port;
    std::string text, cause;
};
/// Clears counters with one Set, and reads them before and after it, even after a signal or if the Set had no reply. Each counter must be
/// lower afterwards, as counters::find_kept() decides. Returns the ports for which this failed, and ports that could not be read before
/// the Set if there are several.
/// Errors: that of the Get of a single port before the Set, or of a Set that cannot have changed anything. Throws as clearing() does.
query_task<std::vector<clearing_problem>> clear_counters(session&, clearing_request);

/// Returns the ports of a node that have their own counters; port 0 of a switch only if it is enhanced.
/// Throws std::runtime_error if no port has counters.
query_task<std::vector<comad::u8>> ports_with_counters(session&, comad::mad::IBPath to);

/// Returns the sum of the payloads of several ports, as a payload for all ports.
std::vector<comad::u8> sum_of(const counter_group&, const std::vector<std::vector<comad::u8>>& of_ports);

/// Returns the line that infiniband-diags print above a group: `# Port counters: Lid 7 port 1 (CapMask: 0x5300)`.
std::string heading(const performance_agent&, const counter_group&, comad::u8 port);
/// Returns the counters that the PMA supports, by IBA name.
nlohmann::ordered_json counters_json(const performance_agent&, const counter_group&,
                                     const std::vector<comad::u8>& bytes);

} // namespace ibtool
