// SPDX-License-Identifier: MIT
// congestion_options.hpp - the common code of ibccquery and ibccconfig: the CC_Key, names of operations, and LID-routed paths to ports.
// Does not depend on a particular attribute.
#pragma once
#include "input/arguments.hpp"
#include "session/target.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ibtool {

/// Declares -c, the short form of --cckey.
void add_cc_key_option(arguments& takes, std::optional<comad::u64>& key);
/// Returns the options with this CC_Key, if it is given, for all ports without a key of their own.
global_options with_cc_key(const global_options&, const std::optional<comad::u64>& key);

/// The name of an operation and its short form: `CongestionInfo`, `CI`.
struct operation_name {
    std::string_view name, alias;
};
/// Returns the index of the operation with this name, ignoring case. Throws usage_error with a list of the names.
std::size_t find_operation(std::span<const operation_name>, const std::string& name);

/// Adds a hint to a timeout: the CC_Key may be wrong, because nodes drop requests with a wrong key.
void hint_at_cc_key(comad::mad::mad_error&);

/// Returns the path for GMPs to the port of a target, with its keys.
query_task<comad::mad::IBPath> resolve_port(session&, command_target);

} // namespace ibtool
