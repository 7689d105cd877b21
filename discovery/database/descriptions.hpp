// SPDX-License-Identifier: MIT
// descriptions.hpp - parses the NodeDescription of a node. Does not depend on a subnet.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comad::discovery {

/// The parts of a managed switch's description: `MF0;NAME:TYPE/U1`, in a chassis `MF0;NAME:TYPE/L16/U2` or
/// `MF0;NAME:TYPE/S01:BOARD/U1` (firmware of Mellanox switches; rdma-core, libibnetdisc/chassis.c). All members are views of the
/// description.
struct managed_switch {
    std::string_view system, type;
    std::string_view slot; ///< `L16`, `S01`; empty: the description has no slot
    u8 chip = 0;           ///< the number after `U`; 0: the description has none
};
/// Returns nullopt if `description` has another form. Bytes after a NUL are ignored.
std::optional<managed_switch> parse_managed_switch(std::string_view description);

/// Returns `NAME-L16-U2`: a name for a chip in a chassis without characters that are special in Slurm or a shell.
std::string chip_name(const managed_switch&);

/// Returns whether an adapter has a name from the factory, which no host has set: empty, a product name
/// (`MT4129 ConnectX7   Mellanox Technologies`), `localhost` or `(none)` as the host name, or only a device name (`mlx5_0`, `HCA-1`).
bool is_factory_name(std::string_view name);

/// Returns the text with the ASCII capital letters replaced by small letters.
std::string lower_case(std::string_view text);

} // namespace comad::discovery
