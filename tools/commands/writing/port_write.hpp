// SPDX-License-Identifier: MIT
// port_write.hpp - one Set of PortInfo, and what is known afterwards: what ibportstate, set_port_state and init_all_ports share.
#pragma once
#include "comad.hpp"
#include "commands/writing/port_change.hpp"
#include "session/session.hpp"
#include "text/missing.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// What is to be written, and where.
struct port_write {
    comad::mad::any_path path;                        ///< with its keys
    std::optional<comad::mad::any_path> path_after{}; ///< where the change moves the port or its key; nothing: the same
    comad::u32 modifier = 0;                          ///< of PortInfo
    comad::iba::lid PMA{};                            ///< the LID of its node; 0: LinkDownedCounter is not read
    comad::u8 port = 0;                               ///< its true number
    comad::iba::smp::PortInfo before;
};

/// What became of it.
struct written_port {
    std::optional<comad::iba::smp::PortInfo> reply; ///< to the Set; nothing: the Set failed
    std::optional<comad::iba::smp::PortInfo> after; ///< as it was read back
    std::optional<comad::mad::mad_error> refusal;   ///< the node refused the Set, or it was not sent: nothing changed
    std::vector<discovery::failure> problems; ///< without a place: what was not done, or is not known; none: it is done
    std::string note;                         ///< how a change is known that is over already; empty: nothing
};

/// LinkDownedCounter of a port by the PMA at that LID. Nothing: 0 is no LID, the PMA does not answer soon, or the counter is at its end.
comad::coro::task<std::optional<comad::u8>> link_downs(session&, comad::iba::lid PMA, comad::u8 port);

/// Writes the change with the fields that it names, and reads back, once also after a signal or where the Set was not answered.
comad::coro::task<written_port> write_port(session&, port_write, const port_change&);

} // namespace ibtool
