// SPDX-License-Identifier: MIT
// umad.hpp - the kernel's MAD device /dev/infiniband/umadN (rdma/ib_user_mad.h).
// Knows of a MAD its class, OUI and whether it is a response, nothing else; RMPP is the kernel's.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/held_requests.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/transports/unique_fd.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>

namespace comad::transports {

struct umad_options {
    umad_options();

    /// Requests that the kernel may hold for us at a time, superseded attempts included (see held_requests). At least 1.
    unsigned max_held = held_requests::usual_bound;
    /// ioctl(2), or what a test puts in its place: returns 0, or -1 and sets errno.
    std::function<int(int fd, unsigned long request, void* argument)> ioctl;
};

/// One open MAD device, thus one end port. Registers one agent per management class when that class is first sent;
/// these receive replies to our own requests and nothing else. serve() registers agents that receive requests, and their
/// replies leave through them, without a timeout: the kernel would wait for an answer.
///
/// Timeouts: the engine times attempts; which timeout the kernel is told, and how many requests it may hold, is the rule of
///           held_requests. At max_held send() answers would_block until a receive() has taken a request back. (One
///           whose send the adapter itself fails is reported to nobody and stays counted.)
/// Errors:   construction throws std::runtime_error or std::system_error with one line that says what to do. send()
///           fails with the errno of the registration (EINVAL: the kernel has no such class) or of the write (EINVAL:
///           the driver refuses this local SMP; EIO: the device has gone). receive() fails when the device has gone.
/// Blocking: POLLOUT is always set on this device; max_held and the window are the only backpressure. Sends to a LID
///           never block.
/// RMPP:     of a message larger than the buffer, receive() gives the first segment and the full size, and the kernel
///           keeps it: only a receive() with headroom + full_size bytes takes it away.
class umad_transport final : public mad::transport {
public:
    /// Opens the MAD device of an end port, as select_end_port() finds it.
    explicit umad_transport(const end_port& port, umad_options options = {});
    explicit umad_transport(const std::filesystem::path& device, umad_options options = {});
    /// Takes over an open non-blocking descriptor, fresh: no agent is registered, no ioctl was made.
    explicit umad_transport(unique_fd device, umad_options options = {});

    int native_handle() const noexcept override { return device_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;

    /// Requests that the kernel holds: written, and neither answered nor reported.
    unsigned held() const noexcept { return held_.count(); }
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    /// Messages that were shorter than their header; receive() gives them as empty ones.
    u64 short_reads() const noexcept { return short_reads_; }

    /// What a read() of the device means that returned `bytes` (negative: `error` is its errno) into `buffer`.
    static mad::received interpret(std::span<const u8> buffer, ssize_t bytes, int error) noexcept;

private:
    struct agent {
        u8 mgmt_class;
        u8 class_version;
        u32 OUI;
        u32 id;
    };
    agent* agent_for(const mad::send_request& request) noexcept;
    std::optional<u32> register_agent(const mad::registration& what) noexcept;
    iba::MgmtClass class_of_agent(u32 id) const noexcept;

    umad_options options_;
    unique_fd device_;
    std::array<agent, 32> agents_{}; ///< of our own requests; as many as the kernel allows a descriptor in all
    std::size_t agent_count_ = 0;
    held_requests held_;
    u64 short_reads_ = 0;
};

} // namespace comad::transports
