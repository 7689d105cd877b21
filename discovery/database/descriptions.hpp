// SPDX-License-Identifier: MIT
// descriptions.hpp - what the NodeDescription of a node says about the node. Does not depend on a subnet.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comad::discovery {

/// The parts of a managed switch's description: `MF0;NAME:TYPE/U1`, in a chassis `MF0;NAME:TYPE/L16/U2` or
/// `MF0;NAME:TYPE/S01:BOARD/U1` (firmware of Mellanox switches; rdma-core, libibnetdisc/chassis.c). All parts are views into it.
struct managed_switch {
    std::string_view system, type;
    std::string_view slot; ///< `L16`, `S01`; empty: the description has no slot
    u8 chip = 0;           ///< the number after `U`; 0: there is none
};
/// Nothing if `description` has another form. Bytes after a NUL are ignored.
std::optional<managed_switch> parse_managed_switch(std::string_view description);

/// `NAME-L16-U2`: a name of a chip in a chassis that has no characters which Slurm or a shell interprets.
std::string chip_name(const managed_switch&);

/// True for a name that an adapter has before its host sets one: empty, a product name (`MT4129 ConnectX7   Mellanox Technologies`),
/// `localhost` or `(none)` in the place of the host name, or only the name of a device (`mlx5_0`, `HCA-1`).
bool is_factory_name(std::string_view name);

/// With the capital letters of ASCII as small letters.
std::string lower_case(std::string_view text);

} // namespace comad::discovery
