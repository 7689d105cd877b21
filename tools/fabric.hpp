// SPDX-License-Identifier: MIT
// fabric.hpp - from `--fabric` to a transport. Knows every transport, no command.
#pragma once
#include "options.hpp"
#include <comad/mad/transport.hpp>
#include <comad/transports/sim/transport.hpp>

#include <memory>

namespace ibtool {

/// An open fabric; closing it gives back whatever it held.
class fabric {
public:
    /// Throws usage_error for a text that names no fabric, std::runtime_error or std::system_error with one line where
    /// the fabric cannot be opened.
    explicit fabric(const global_options& options);

    comad::mad::transport& transport() const noexcept { return *transport_; }
    /// The simulated subnet, if it is one of ours.
    const comad::transports::sim::simulation& simulation() const noexcept { return simulation_; }

private:
    comad::transports::sim::simulation simulation_;
    std::unique_ptr<comad::mad::transport> own_;
    comad::mad::transport* transport_ = nullptr;
};

} // namespace ibtool
