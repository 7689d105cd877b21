// SPDX-License-Identifier: MIT
// first_word.hpp - the part of a node's name that usually names its host.
#pragma once
#include <string_view>

namespace comad::discovery {

/// Returns a name up to its first space: the host name in the description of an adapter, such as `n1` in `n1 mlx5_0`.
/// Lifetime: a view of the argument.
constexpr std::string_view first_word(std::string_view name) noexcept { return name.substr(0, name.find(' ')); }

} // namespace comad::discovery
