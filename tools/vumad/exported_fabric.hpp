// SPDX-License-Identifier: MIT
// exported_fabric.hpp - a simulated fabric, and its end ports that become MAD devices. Does not depend on a file system.
#pragma once
#include "comad.hpp"
#include <comad/transports/detail/vumad/kernel_port.hpp>
#include <comad/transports/detail/vumad/local_port.hpp>
#include <comad/transports/detail/vumad/single_mads.hpp>
#include <comad/transports/detail/vumad/sysfs_files.hpp>
#include <comad/transports/ibsim.hpp>
#include <comad/transports/sim/transport.hpp>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A port that becomes a device, and the transports that carry its MADs.
struct exported_port {
    comad::transports::vumad::described_port described;
    std::string place; ///< for messages: `h-0001 HCA-1 port 1`
    std::unique_ptr<comad::mad::transport> outer,
        inner; ///< the transport, and the transport below it if there is one
    std::unique_ptr<comad::transports::vumad::kernel_port> kernel;
    std::unique_ptr<comad::transports::vumad::local_port> local;
    int descriptor() const noexcept { return outer->native_handle(); }
};

/// A simulated fabric with the ports that it exports.
class exported_fabric {
public:
    /// `text`: a fabric sim:... or ibsim..., as for --fabric; `places`: NODE or NODE/PORT of each port; empty: the text selects them.
    /// Throws usage_error if the text does not name a simulated fabric, std::runtime_error or std::system_error with one line.
    exported_fabric(std::string_view text, const std::vector<std::string>& places);

    std::deque<exported_port>& ports() noexcept { return ports_; }

    /// Sets the time of all ports.
    void set_now(comad::mad::time_point);
    std::optional<comad::mad::time_point> next_event() const noexcept;

private:
    void open_sim(const std::string& specification, const std::vector<std::string>& places);
    void open_ibsim(std::string_view server, const std::vector<std::string>& places);
    void add(exported_port, const std::string& node, unsigned port, comad::transports::vumad::port_place);

    comad::transports::sim::simulation simulation_;
    std::vector<std::string> nodes_; // nodes that have devices
    std::deque<exported_port> ports_;
};

} // namespace ibtool
