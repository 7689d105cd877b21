// SPDX-License-Identifier: MIT
// other_end.hpp - where to ask for the port at the other end of a cable. Knows no command.
#pragma once
#include "session/session.hpp"

#include <optional>

namespace ibtool {

/// Without a number, the port that the path leads to.
struct far_end {
    comad::mad::any_path path;
    std::optional<comad::u8> port;
};

/// The other end of the cable of port `port` of the node that the path leads to; `LID`: its own, of a switch that of port 0.
/// By a directed route it is one hop on; from a CA that is not ours, which passes nothing on, one back. Else the SA knows.
/// Throws std::runtime_error where there is none to ask.
asked<far_end> other_end(session&, comad::mad::any_path, bool is_switch, comad::iba::lid LID, comad::u8 port);

} // namespace ibtool
