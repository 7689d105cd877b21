// SPDX-License-Identifier: MIT
// port_write.hpp - one Set of PortInfo and its verification: shared by ibportstate, set_port_state and init_all_ports.
#pragma once
#include "comad.hpp"
#include "commands/writing/port_change.hpp"
#include "session/session.hpp"
#include "text/missing.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The Set to send, and its destination.
struct port_write {
    comad::mad::any_path path; ///< including keys
    /// The path after the change, if that changes the LID or key; nullopt: `path`.
    std::optional<comad::mad::any_path> path_after{};
    comad::u32 modifier = 0; ///< of PortInfo
    comad::iba::lid PMA{};   ///< LID of the node's PMA; 0: LinkDownedCounter is not read
    comad::u8 port = 0;      ///< the actual port number
    comad::iba::smp::PortInfo before;
};

/// The result of the Set.
struct written_port {
    std::optional<comad::iba::smp::PortInfo> reply; ///< reply to the Set; nullopt: the Set failed
    std::optional<comad::iba::smp::PortInfo> after; ///< as it was read back
    std::optional<comad::mad::mad_error> refusal;   ///< the node rejected the Set, or it was not sent: nothing changed
    /// Without a location: what was not done, or is unknown; empty: everything was done.
    std::vector<discovery::failure> problems;
    std::string note; ///< evidence of a change that is already over; empty: none
};

/// Returns LinkDownedCounter of a port from the PMA at that LID. Nullopt: the LID is 0, the PMA does not reply soon, or the counter is
/// saturated.
comad::coro::task<std::optional<comad::u8>> link_downs(session&, comad::iba::lid PMA, comad::u8 port);

/// Writes the fields that the change names, and reads them back once, even after a signal or if the Set got no reply.
comad::coro::task<written_port> write_port(session&, port_write, const port_change&);

} // namespace ibtool
