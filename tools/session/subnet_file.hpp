// SPDX-License-Identifier: MIT
// subnet_file.hpp - reads and writes subnets in cache and topology files: chooses the file, and reports its age.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"
#include <comad/discovery/formats/subnet_file.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ibtool {

/// Adds --load-cache, which a command stores in global_options::load_cache.
void add_load_cache_option(arguments& takes, std::string& file, const std::string& names = "--load-cache");

/// Reads a subnet from a cache of this library, a cache of infiniband-diags, or a topology file; the content decides. Prints one line on
/// stderr about skipped parts of a topology file. Throws std::runtime_error with one line.
comad::discovery::cached_subnet read_subnet_file(const std::string& file, const global_options&);
/// Reads a subnet for callers that must not print: skipped parts are not reported.
comad::discovery::cached_subnet read_subnet_file(const std::string& file);

/// Returns the subnet that the text of a topology file describes; `name` is the file in messages. Prints one line on stderr about
/// skipped parts.
/// Throws std::runtime_error with one line.
comad::discovery::subnet read_described(std::string_view text, const std::string& name, const global_options&,
                                        comad::discovery::described_order order);

/// Returns the subnet from the file that the options name, if this needs no device; prints its age on stderr. Nullopt: the subnet must be
/// discovered, or only known_subnet() can decide. Throws as read_subnet_file() does.
std::optional<comad::discovery::subnet> subnet_without_device(const global_options&);

/// Returns the subnet from a file for a command that has a device open at `place` (session::place()): `umad:mlx5_0/1`. `from`: the port
/// GUID of this end port; 0: unknown. If the cache was made at another port, order and routes are recalculated from this one.
/// Throws as read_subnet_file() does, and also if the cache does not contain the port.
std::optional<comad::discovery::subnet> known_subnet(const global_options&, std::string_view place,
                                                     comad::iba::guid from);

/// Writes a subnet that was just discovered, if the options name a file for it and the discovery was not cancelled.
/// Throws std::runtime_error with one line.
void keep_subnet(const comad::discovery::subnet&, const global_options&, std::string_view place);

/// Expands a file name with the device and port of the place: `$C` or `${CA}`, `$P` or `${PORT}`, and `$A` for both. `$$` is a dollar sign.
/// Throws usage_error for any other word after `$`.
std::string name_for_place(std::string_view name, std::string_view place);

/// Returns `3 min`; `dated in the future` for a negative age.
std::string format_age(std::chrono::seconds age);

} // namespace ibtool
