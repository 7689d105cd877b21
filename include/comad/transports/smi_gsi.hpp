// SPDX-License-Identifier: MIT
// smi_gsi.hpp - opens the MAD devices of a local port. On planarized hosts there are two: one for SMPs, one for all other MADs.
// Of a MAD, it only reads the class.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/transports/umad.hpp>

#include <array>
#include <filesystem>
#include <memory>

namespace comad::transports {

/// Two transports as one: `smi` carries SMPs, `gsi` all other MADs. open_end_port() makes one if a port needs it.
///
/// Waiting:  The descriptor is an epoll(7) instance that waits for both descriptors.
/// Blocking: A send that would block is offered again after a receive. Neither transport may be one that waits until its
///           descriptor is writable (mad::transport::wants_writable()), because epoll does not report that.
/// Errors:   The constructor throws std::system_error. If one transport is gone, receive() fails.
/// Lifetime: It owns both transports.
/// Threads:  Not thread-safe.
class smi_gsi_transport final : public mad::transport {
public:
    smi_gsi_transport(std::unique_ptr<mad::transport> smi, std::unique_ptr<mad::transport> gsi);

    int native_handle() const noexcept override { return both_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    /// The names of both.
    std::string name() const override;
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override { return sides_[1]->tables(); } ///< of the GSI, because SMPs need none
    std::optional<unsigned> held(iba::MgmtClass mgmt_class) const noexcept override {
        return carrier_of(mgmt_class).held(mgmt_class);
    }
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override { return sides_[0]->simulated_time(); }
    void set_now(mad::time_point now) noexcept override;

private:
    mad::transport& carrier_of(iba::MgmtClass) const noexcept;

    std::array<std::unique_ptr<mad::transport>, 2> sides_; // SMI, GSI
    mad::transport* failed_ = sides_[0].get();             // the side that failed last
    mad::unique_fd both_;
    std::size_t next_ = 0; // of sides_: where to look for a message first
};

/// Opens a local port: its MAD device or, if its SMI and its GSI are ports of two devices (smi_gsi_pair), both. If the other device
/// does not exist, only the given port is opened. With `descriptors` > 1 the port is opened that many times, as one
/// striped_transport: each descriptor can have as many MADs in flight as the kernel allows. Each device is opened with `options`.
///
///     auto transport = transports::open_end_port(transports::select_end_port());
///
/// Errors: those of the constructor of umad_transport.
std::unique_ptr<mad::transport> open_end_port(const end_port& port,
                                              const std::filesystem::path& sys_class = "/sys/class",
                                              unsigned descriptors = 1, const umad_options& options = {});

} // namespace comad::transports
