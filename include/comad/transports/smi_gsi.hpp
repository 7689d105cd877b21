// SPDX-License-Identifier: MIT
// smi_gsi.hpp - one logical port behind two MAD devices: SMPs through one, all other MADs through the other, as on
// planarized hosts. Knows of a MAD its class, nothing else.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/transports/umad.hpp>

#include <array>
#include <filesystem>
#include <memory>

namespace comad::transports {

/// Two transports as one. Its descriptor is an epoll(7) instance that waits for both of theirs.
/// Blocking: a send that would block is offered again after a receive; neither transport may be one that waits for its
///           descriptor to become writable (mad::transport::wants_writable()), because epoll does not pass that on.
/// Errors:   construction throws std::system_error. When one side has gone, receive() fails: half a port is none.
class smi_gsi_transport final : public mad::transport {
public:
    smi_gsi_transport(std::unique_ptr<mad::transport> smi, std::unique_ptr<mad::transport> gsi);

    int native_handle() const noexcept override { return both_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    /// Those of both.
    std::string name() const override;
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override { return sides_[1]->tables(); } ///< of the GSI: SMPs need none
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

/// Opens an end port: its MAD device or, where its SMI and its GSI are ports of two devices (smi_gsi_pair), both.
/// A port whose other side is nowhere is opened as it is. With more than one descriptor it is opened so many times, as one
/// striped_transport: each may have as much in flight as the kernel allows one. Each device is opened with these options.
/// Errors: as umad_transport's.
std::unique_ptr<mad::transport> open_end_port(const end_port& port,
                                              const std::filesystem::path& sys_class = "/sys/class",
                                              unsigned descriptors = 1, const umad_options& options = {});

} // namespace comad::transports
