// SPDX-License-Identifier: MIT
// subnet_file.hpp - subnets in cache and topology files: which file, how old, read and written. Knows no command.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"
#include <comad/discovery/formats/cache.hpp>
#include <comad/discovery/formats/topology_file.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ibtool {

/// Adds --load-cache, which a command puts into global_options::load_cache.
void add_load_cache_option(arguments& takes, std::string& file, const std::string& names = "--load-cache");

/// A subnet of a file, which is a cache of this library or of infiniband-diags, or a topology file: its content decides. What is
/// skipped of a topology file goes to stderr, in one line. Throws std::runtime_error with one line.
comad::discovery::cached_subnet read_subnet_file(const std::string& file, const global_options&);
/// The same for who must not print: what is skipped is lost.
comad::discovery::cached_subnet read_subnet_file(const std::string& file);

/// The subnet of a topology file; `name` stands for it in messages. What is skipped of it goes to stderr, in one line.
/// Throws std::runtime_error with one line.
comad::discovery::subnet read_described(std::string_view text, const std::string& name, const global_options&,
                                        comad::discovery::described_order order);

/// The subnet that the options name a file for, if no device has to be known for that; how old it is goes to stderr.
/// Nothing: it is to be discovered, or only known_subnet() can tell. Throws what read_subnet_file() throws.
std::optional<comad::discovery::subnet> subnet_without_device(const global_options&);

/// The same for who has a device open, at this place (session::place()): `umad:mlx5_0/1`. `from`: the port GUID of that end
/// port, 0 if it is unknown: of a cache that was made at another one, order and routes become those from there.
/// Throws std::runtime_error also where the cache does not have that port.
std::optional<comad::discovery::subnet> known_subnet(const global_options&, std::string_view place,
                                                     comad::iba::guid from);

/// Writes what was discovered just now, if the options name a file for that and the discovery was not cancelled.
/// Throws std::runtime_error with one line.
void keep_subnet(const comad::discovery::subnet&, const global_options&, std::string_view place);

/// The name of a file, with the device and the port of the place for `$C` or `${CA}`, `$P` or `${PORT}`, and both for `$A`.
/// Throws usage_error for another word behind `$`; `$$` is one.
std::string name_for_place(std::string_view name, std::string_view place);

/// `3 min`; of a time that is ahead: `dated in the future`.
std::string age_text(std::chrono::seconds age);

} // namespace ibtool
