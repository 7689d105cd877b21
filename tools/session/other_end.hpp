// SPDX-License-Identifier: MIT
// other_end.hpp - where to ask for the port at the other end of a cable. Knows no command.
#pragma once
#include "session/session.hpp"
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

/// Without a number, the port that the path leads to.
struct far_end {
    comad::mad::any_path path;
    std::optional<comad::u8> port;
};

/// The other end of the cable of port `port` of `node`, to which the path leads; `LID`: its own, of a switch that of port 0.
/// By a directed route it is one hop on; from a CA that is not ours, which passes nothing on, one back. Else the SA knows.
/// The path has the M_Key of who is there, as far as keys are known; one that is a directed route has none of the node in front.
/// Throws std::runtime_error where there is none to ask.
query_task<far_end> other_end(session&, comad::mad::any_path, const comad::iba::smp::NodeInfo& node,
                              comad::iba::lid LID, comad::u8 port);

/// A route that leads to the other end of that cable, with the M_Key of who is there: a port's own where the SA or OpenSM's
/// neighbors say which it is, else that of all others.
query_task<comad::mad::any_path> with_key_beyond(session&, comad::mad::IBDRPath, const comad::iba::smp::NodeInfo& node,
                                                 comad::u8 port);

} // namespace ibtool
