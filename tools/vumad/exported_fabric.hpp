// SPDX-License-Identifier: MIT
// exported_fabric.hpp - a simulated fabric whose end ports become MAD devices. Does not depend on a file system.
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

/// A port that becomes a device, with the transports that carry its MADs.
struct exported_port {
    comad::transports::vumad::described_port described;
    std::string place; ///< location for messages: `h-0001 HCA-1 port 1`
    std::unique_ptr<comad::mad::transport> outer,
        inner; ///< the transport, and the transport below it if there is one
    std::unique_ptr<comad::transports::vumad::kernel_port> kernel;
    std::unique_ptr<comad::transports::vumad::local_port> local;
    int descriptor() const noexcept { return outer->native_handle(); }
};

/// A simulated fabric, and the ports that it exports.
class exported_fabric {
public:
    /// Opens the fabric. `text`: a fabric sim:... or ibsim..., as for --fabric. `places`: NODE or NODE/PORT of each port. If `places` is
    /// empty, `text` selects the port.
    /// Errors: usage_error if `text` does not name a simulated fabric; otherwise std::runtime_error or std::system_error with one line.
    exported_fabric(std::string_view text, const std::vector<std::string>& places);

    std::deque<exported_port>& ports() noexcept { return ports_; }

    /// Sets the time of all ports, and passes on the replies of their local SMAs.
    void set_now(comad::mad::time_point);
    /// Returns the time of the next timer of any port; nullopt: none.
    std::optional<comad::mad::time_point> next_event() const noexcept;

private:
    void open_sim(const std::string& specification, const std::vector<std::string>& places);
    void open_ibsim(std::string_view server, const std::vector<std::string>& places);
    void add(exported_port, const std::string& node, unsigned port, comad::transports::vumad::port_place);

    comad::transports::sim::simulation simulation_;
    std::vector<std::string> nodes_; // nodes with devices
    std::deque<exported_port> ports_;
};

} // namespace ibtool
