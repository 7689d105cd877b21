// SPDX-License-Identifier: MIT
// target.hpp - converts the user's name for a node or port to a path. Does not depend on a command.
#pragma once
#include "input/arguments.hpp"
#include "session/session.hpp"
#include <comad/mad/path_text.hpp>

#include <optional>
#include <string>
#include <utility>

namespace ibtool {

/// The kind of a target according to options of infiniband-diags. Without them, the form of the text decides.
struct target_options {
    bool direct = false; ///< -D: a directed route, also with the single hop `0`
    bool lid = false;    ///< -L
    bool guid = false;   ///< -G
};

/// Add -D, -L or -G.
void add_direct_option(arguments& takes, target_options&);
void add_lid_option(arguments& takes, target_options&);
void add_guid_option(arguments& takes, target_options&);
/// Adds all three options.
void add_target_options(arguments& takes, target_options&);

/// A node or port as the user wrote it: an address, or the name of a node, which resolve() looks up.
struct command_target : comad::mad::address {
    command_target() = default;
    explicit command_target(comad::mad::address a) : address(std::move(a)) {}

    std::string name;             ///< the node description or its first words; empty: the address is used
    std::optional<unsigned> port; ///< the port after the name: `leaf-0001/3`
    bool uses_port = false;       ///< the command uses `port` as its own argument
    bool is_named() const noexcept { return !name.empty(); }
};

/// Reads every form of mad::from_string(). Throws usage_error if the text has none of them, or not the form that the option selects.
comad::mad::address read_address(const std::string& text, const target_options&);

/// Reads addresses and names of nodes: `leaf-0001`, `leaf-0001/3`. Names in quotes may contain a slash or look like an address. The forms
/// of read_address() take precedence; with an option, names are not accepted.
command_target read_target(const std::string& text, const target_options&);

/// Returns the local node.
inline command_target this_node() { return command_target({comad::mad::IBDRPath{}, std::nullopt}); }

/// Returns the local port by its LID, which GMPs need. Throws std::runtime_error if it has no LID.
command_target this_port(session&);

/// Returns the port in a command's target, if there is one. After this, resolve() accepts the port.
std::optional<unsigned> take_port(command_target&);

/// Returns the path to a target, with the keys of the options. The SA is queried for GIDs and GUIDs. A link-local GID names the port
/// whatever prefix the subnet has. For a name the SA is queried for its nodes; without an SA the subnet is discovered.
/// Throws std::runtime_error if no node has the name, if several have it, or if the name has a port that the command does not use.
comad::coro::task<comad::mad::result<comad::mad::any_path>> resolve(session&, command_target);

/// Returns the LID-routed path to the same port, for GMPs. For a directed route, the node at its end is queried for the LID.
comad::coro::task<comad::mad::result<comad::mad::IBPath>> lid_routed(session&, comad::mad::any_path);

/// Throws std::runtime_error if the local port has no LID. Replies to LID-routed requests need it.
void require_lid(session&);

/// Throws std::runtime_error if the local port has no LID, or does not know a subnet manager whose SA could be queried.
void require_sa(session&);

} // namespace ibtool
