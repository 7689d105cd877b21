// SPDX-License-Identifier: MIT
// kernel_of_this_run.hpp - decides whether a rig puts the kernel model between its program and the wire. A test or the
// environment variable COMAD_TEST_KERNEL makes the choice.
#pragma once
#include <comad/transports/kernel_model.hpp>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace comad::test {

/// Returns the kernel options that COMAD_TEST_KERNEL selects: 2024 without caps or 2025 with caps. Empty if the
/// variable is not set.
inline std::optional<transports::kernel_options> kernel_of_this_run() {
    const char* const text = std::getenv("COMAD_TEST_KERNEL");
    if (!text) return std::nullopt;
    const std::string_view release = text;
    if (release != "2024" && release != "2025") throw std::invalid_argument("COMAD_TEST_KERNEL must be 2024 or 2025");
    transports::kernel_options options;
    options.is_capped = release == "2025";
    return options;
}

/// Returns the transport of a program: `wire`, or a kernel model over `wire`, which the function creates in `kernel`.
inline mad::transport& put_before(mad::transport& wire, const std::optional<transports::kernel_options>& options,
                                  std::optional<transports::kernel_model>& kernel) {
    if (!options) return wire;
    return kernel.emplace(wire, *options);
}

} // namespace comad::test
