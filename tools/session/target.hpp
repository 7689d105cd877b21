// SPDX-License-Identifier: MIT
// target.hpp - from what a user writes for a node or port to the path of MADs. Knows no command.
#pragma once
#include "input/arguments.hpp"
#include "session/session.hpp"
#include <comad/mad/path_text.hpp>

#include <optional>
#include <string>
#include <utility>

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

/// What a user wrote for a node or port: an address, or the name of a node, which resolve() looks up.
struct command_target : comad::mad::address {
    command_target() = default;
    explicit command_target(comad::mad::address a) : address(std::move(a)) {}

    std::string name;             ///< the node description or its first words; empty: the address counts
    std::optional<unsigned> port; ///< that follows the name: `leaf-0001/3`
    bool uses_port = false;       ///< the command has taken `port` for its own argument
    bool is_named() const noexcept { return !name.empty(); }
};

/// Every form of mad::from_string(). Throws usage_error if the text has none of these forms, or not the form that the option selects.
comad::mad::address read_address(const std::string& text, const target_options&);

/// The same, and names of nodes: `leaf-0001`, `leaf-0001/3`, and in quotes what would otherwise be something else or contains a slash.
/// The forms of read_address() have precedence; with an option there are no names.
command_target read_target(const std::string& text, const target_options&);

/// Ourselves.
inline command_target this_node() { return command_target({comad::mad::IBDRPath{}, std::nullopt}); }

/// Our own port, by its LID: what is no SMP needs that. Throws std::runtime_error if it has none.
command_target this_port(session&);

/// The port that a command gets by its target, if there is one; then resolve() does not refuse it.
std::optional<unsigned> take_port(command_target&);

/// The path there, with the keys of the options; of a GID or GUID the SA is asked for it. A link-local GID means the
/// port, whatever prefix the subnet has. For a name the SA is asked for its nodes; without an SA the subnet is discovered. Throws
/// std::runtime_error if no node has the name, if several have it, or if the name has a port that means nothing to the command.
comad::coro::task<comad::mad::result<comad::mad::any_path>> resolve(session&, command_target);

/// The same place by its LID, as what is no SMP needs it: of a directed route the node at its end is asked.
comad::coro::task<comad::mad::result<comad::mad::IBPath>> lid_routed(session&, comad::mad::any_path);

/// Throws std::runtime_error if the local port has no LID, to which responses to LID-routed requests go.
void require_lid(session&);

/// Throws std::runtime_error if the local port has no LID, or no subnet manager whose SA could be queried.
void require_sa(session&);

} // namespace ibtool
