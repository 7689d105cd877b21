// SPDX-License-Identifier: MIT
// target.hpp - from what a user writes for a node or port to the path of MADs. Knows no command.
#pragma once
#include "input/arguments.hpp"
#include "session/session.hpp"
#include <comad/mad/path_text.hpp>

#include <string>

namespace ibtool {

/// How infiniband-diags' options say what kind of target a text is. Without them it is what it looks like.
struct target_options {
    bool direct = false; ///< -D: a directed route, also of the one hop `0`
    bool lid = false;    ///< -L
    bool guid = false;   ///< -G
};

void add_direct_option(arguments& takes, target_options&);
void add_lid_option(arguments& takes, target_options&);
void add_guid_option(arguments& takes, target_options&);
/// All three.
void add_target_options(arguments& takes, target_options&);

/// Every form of mad::from_string(). Throws usage_error if the text is none, or not what the option says, or names no
/// target.
comad::mad::address read_target(const std::string& text, const target_options&);

/// Ourselves.
inline comad::mad::address this_node() { return {comad::mad::IBDRPath{}, std::nullopt}; }

/// Our own port, by its LID: what is no SMP needs that. Throws std::runtime_error if it has none.
comad::mad::address this_port(session&);

/// The path there, with the keys of the options; of a GID or GUID the SA is asked for it. A link-local GID means the
/// port, whatever prefix the subnet has.
comad::coro::task<comad::mad::result<comad::mad::any_path>> resolve(session&, comad::mad::address);

/// The same place by its LID, as what is no SMP needs it: of a directed route the node at its end is asked.
comad::coro::task<comad::mad::result<comad::mad::IBPath>> lid_routed(session&, comad::mad::any_path);

/// Throws std::runtime_error if the local port has no LID, to which responses to LID-routed requests go.
void require_lid(session&);

/// Throws std::runtime_error if the local port has no LID, or no subnet manager whose SA could be queried.
void require_sa(session&);

} // namespace ibtool
