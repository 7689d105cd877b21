// SPDX-License-Identifier: MIT
// kernel_of_this_run.hpp - whether a rig puts the model of a kernel between its program and the wire: as a test says, or as
// the run of all tests says by the environment variable COMAD_TEST_KERNEL. Knows no rig.
#pragma once
#include <comad/transports/kernel_model.hpp>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace comad::test {

/// COMAD_TEST_KERNEL: 2024 or 2025, without or with the caps of that year. Not set: nothing, the bare wire.
inline std::optional<transports::kernel_options> kernel_of_this_run() {
    const char* const text = std::getenv("COMAD_TEST_KERNEL");
    if (!text) return std::nullopt;
    const std::string_view release = text;
    if (release != "2024" && release != "2025") throw std::invalid_argument("COMAD_TEST_KERNEL must be 2024 or 2025");
    transports::kernel_options options;
    options.is_capped = release == "2025";
    return options;
}

/// The transport of a program: `wire`, or a kernel over it, which then is in `kernel`.
inline mad::transport& put_before(mad::transport& wire, const std::optional<transports::kernel_options>& options,
                                  std::optional<transports::kernel_model>& kernel) {
    if (!options) return wire;
    return kernel.emplace(wire, *options);
}

} // namespace comad::test
