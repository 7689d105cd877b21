// SPDX-License-Identifier: MIT
// congestion_options.hpp - what ibccquery and ibccconfig share: the key, operations by their names, ports by LID. Knows no attribute.
#pragma once
#include "input/arguments.hpp"
#include "session/target.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ibtool {

/// -c, which is --cckey in one letter.
void add_cc_key_option(arguments& takes, std::optional<comad::u64>& key);
/// The options with that key, where it is given, for all ports that have none of their own.
global_options with_cc_key(const global_options&, const std::optional<comad::u64>& key);

/// An operation of a table: `CongestionInfo`, `CI`.
struct operation_name {
    std::string_view name, alias;
};
/// The index of the one that is called so, in whatever letters. Throws usage_error, which lists them.
std::size_t find_operation(std::span<const operation_name>, const std::string& name);

/// Says of a request without an answer that it may be for want of the key: nodes drop what has another one.
void hint_at_cc_key(comad::mad::mad_error&);

/// The port that a target means, as GMPs go there, with its keys.
query_task<comad::mad::IBPath> resolve_port(session&, command_target);

} // namespace ibtool
