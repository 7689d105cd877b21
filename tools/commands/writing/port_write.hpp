// SPDX-License-Identifier: MIT
// port_write.hpp - sends one Set of PortInfo and verifies it; used by ibportstate, set_port_state and init_all_ports.
#pragma once
#include "comad.hpp"
#include "commands/writing/port_change.hpp"
#include "session/session.hpp"
#include "text/failure_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// A Set of PortInfo, and its destination.
struct port_write {
    comad::mad::any_path path; ///< path with keys
    /// The path after a change of the LID or M_Key; nullopt: `path` stays valid.
    std::optional<comad::mad::any_path> path_after{};
    comad::u32 modifier = 0; ///< attribute modifier of PortInfo
    comad::iba::lid PMA{};   ///< LID of the PMA of the node; 0: do not read LinkDownedCounter
    comad::u8 port = 0;      ///< actual port number
    comad::iba::smp::PortInfo before;
};

/// The result of a Set of PortInfo.
struct written_port {
    std::optional<comad::iba::smp::PortInfo> reply; ///< reply to the Set; nullopt: the Set failed
    std::optional<comad::iba::smp::PortInfo> after; ///< read back after the Set
    std::optional<comad::mad::mad_error> refusal;   ///< Set rejected or not sent: nothing changed
    /// Failures without a location: fields that were not set, or are unknown. Empty: the whole change was made.
    std::vector<discovery::failure> problems;
    std::string note; ///< evidence of a change that is over already; empty: none
};

/// Returns LinkDownedCounter of a port from the PMA at this LID. Returns nullopt if the LID is 0, the PMA does not reply soon, or the
/// counter is saturated.
comad::coro::task<std::optional<comad::u8>> link_downs(session&, comad::iba::lid PMA, comad::u8 port);

/// Writes the fields of the change, and reads them back once, even after a signal, or if the Set got no reply.
comad::coro::task<written_port> write_port(session&, port_write, const port_change&);

} // namespace ibtool
