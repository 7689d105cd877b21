// SPDX-License-Identifier: MIT
// counter_queries.hpp - queries to a performance management for any group of counters, and its answers as text and JSON.
// Knows no command.
#pragma once
#include "session/session.hpp"
#include "text/counter_groups.hpp"
#include <comad/counters/port_counters.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// portSelect of all ports of a node.
inline constexpr comad::u8 all_ports = 255;

/// A performance management, by its LID, and what it says that it can do.
struct performance_agent {
    comad::mad::IBPath to;
    comad::iba::ClassPortInfo info;

    comad::counters::capabilities can() const noexcept { return comad::counters::capabilities::of(info); }
};

/// A Get with that portSelect: the payload of the reply.
query_task<std::vector<comad::u8>> get_counters(comad::coro::MADSchedule&, comad::mad::IBPath to, const counter_group&,
                                                comad::u8 port, comad::coro::rpc_options = {});
/// What is to be cleared.
struct clearing_request {
    performance_agent agent;
    const counter_group* group;
    comad::u8 port;                   ///< portSelect of the Set
    std::vector<comad::u8> ports;     ///< those that are read before and after it; several where `port` is all_ports
    comad::u64 select;                ///< which counters: see all_counters()
    comad::coro::rpc_options reads{}; ///< of the Gets
};
/// Counters that were to be cleared, and are not lower.
struct kept {
    std::string names; ///< with their values; empty: all were cleared
    /// None of them counts errors: after a Set without an answer so much time may have passed that they have counted as much again.
    bool is_traffic = true;
};
/// Reads a port again after the Set. `before` is the payload of a Get before the Set. Made after a signal, too.
query_task<kept> kept_counters(session&, const clearing_request&, comad::u8 port, const std::vector<comad::u8>& before);

/// A port whose counters were not cleared, or of which that is not known; texts as discovery::failure has them.
struct clearing_problem {
    comad::u8 port;
    std::string text, cause;
};
/// Clears counters by one Set, and reads them before and after it, also if a signal came or the Set was not answered: a counter
/// has to be lower, or to count so fast that it cannot be. Gives the ports where that is not so.
/// A port of several that cannot be read before the Set is one of these ports, too.
/// Errors: that of the Get of a single port before the Set, and of a Set after which nothing can have changed. Throws what clearing() throws.
query_task<std::vector<clearing_problem>> clear_counters(session&, clearing_request);

/// Which ports a node's performance management can be asked for one by one: of a switch 0 only if it is enhanced.
/// Throws std::runtime_error if there are none.
query_task<std::vector<comad::u8>> ports_with_counters(session&, comad::mad::IBPath to);

/// The sum of what ports told of the group, as told for all ports.
std::vector<comad::u8> sum_of(const counter_group&, const std::vector<std::vector<comad::u8>>& of_ports);

/// What infiniband-diags write above a group: `# Port counters: Lid 7 port 1 (CapMask: 0x5300)`.
std::string heading(const performance_agent&, const counter_group&, comad::u8 port);
/// By the names of the group's table, without those that the performance management does not have.
nlohmann::ordered_json counters_json(const performance_agent&, const counter_group&,
                                     const std::vector<comad::u8>& bytes);

} // namespace ibtool
