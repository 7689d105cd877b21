// SPDX-License-Identifier: MIT
// umad.hpp - a transport over the kernel's MAD device /dev/infiniband/umadN (rdma/ib_user_mad.h).
// Of a MAD, it only reads class, OUI, and whether it is a response. RMPP is left to the kernel, or to rmpp_transport.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/detail/held_requests.hpp>
#include <comad/transports/detail/umad_errors.hpp>
#include <comad/transports/sysfs.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace comad::transports {

/// Options of a umad_transport. The defaults suit programs that use one device.
struct umad_options {
    umad_options();

    std::string name; ///< of the transport, for messages; empty: as umad_transport::name() describes
    /// The largest number of requests that the kernel holds for us, including superseded attempts (held_requests). At least 1.
    unsigned max_held = held_requests::usual_bound;
    /// How long the kernel holds each request.
    kernel_timeout timeout = kernel_timeout::automatic;
    /// True: the program does RMPP. Messages are single MADs, including segments, as rmpp_transport expects. False: the kernel does
    /// RMPP.
    bool user_rmpp = false;
    /// The largest number of requests to the SA in flight; 0: the limit of the driver, else that of umad_limits.
    unsigned sa_window = 0;
    /// The P_Key and GID tables of the port, for transports that share them. Null: the tables of the end port, or of the device's end
    /// port in /sys/class. If the transport is made from a descriptor, they are empty, and therefore unknown.
    std::shared_ptr<mad::port_tables> tables;
    /// ioctl(2), or a replacement in tests: returns 0, or -1 and sets errno.
    std::function<int(int fd, unsigned long request, void* argument)> ioctl;
    /// read(2) and write(2), or replacements in tests.
    std::function<ssize_t(int fd, void* buffer, std::size_t size)> read;
    std::function<ssize_t(int fd, const void* packet, std::size_t size)> write;
};

/// One open MAD device, and therefore one end port.
///
///     transports::umad_transport device(transports::select_end_port("mlx5_0/1"));
///     coro::MADSchedule schedule(device);
///
/// Agents:   It registers one agent for a management class when the first MAD of that class is sent. These agents receive only
///           replies to our own requests. serve() registers agents that receive requests. Replies to these requests are sent
///           through the same agent, without a timeout, because the kernel would otherwise wait for a reply to them.
/// Timeouts: The engine times attempts. held_requests decides which timeout the kernel gets, and how many requests it holds.
///           At max_held, send() returns would_block until a receive() has taken a request back. A request whose send fails in
///           the adapter is never reported, and stays counted.
/// Errors:   The constructor throws std::runtime_error with one line that includes a possible fix (umad_errors.hpp). advice()
///           returns such a fix for a call that failed.
///           Transient errors are EIO, ENOMEM, ENOBUFS, ENOSPC and EBUSY; for reads also less than a header; for writes also
///           EAGAIN. After a transient error the call returns would_block, and is retried up to nine times: after 1 ms, and then
///           after twice the previous time, 511 ms in total. A call that succeeds resets the count.
///           receive() fails after the ninth repetition, with the errno (EIO if there was less than a header), and immediately
///           with any other errno, such as ENODEV. The device is then gone, and all further calls fail with this errno.
///           send() fails after the ninth repetition, with the errno of the write, and immediately with any other errno (EINVAL:
///           the driver refuses this local SMP), or with the errno of the registration (EINVAL: the kernel does not support the
///           class). Further sends are tried once each, until one succeeds.
///           ENOSPC without a length can mean that the message is larger than the buffer. Each repetition therefore uses a buffer
///           that is four times as large, from 64 KiB to 64 MiB.
/// Blocking: The kernel always reports that this device is writable. Only max_held and the window limit the program. If memory is
///           short during a write while the kernel holds requests, the transport waits until one of them comes back. Sends
///           to a LID never block.
/// Waiting:  native_handle() is an epoll(7) instance that contains the device, except between repeated reads, because a device
///           that is gone is always readable. next_event() returns the time of the next repetition.
/// Tables:   A GMP is sent with the indices that tables() finds for its path. A path that does not fit fails with EADDRNOTAVAIL. An
///           SMP has P_Key index 0, unless its path has another index.
/// RMPP:     (without user_rmpp) If a message is larger than the buffer, receive() returns the first segment and the full size, and
///           the kernel keeps the message until a receive() with headroom + full_size bytes.
/// Lifetime: The destructor closes the device; the kernel then drops all requests that it holds.
/// Threads:  Not thread-safe.
class umad_transport final : public mad::transport {
public:
    /// Opens the MAD device of an end port, as select_end_port() returns it.
    explicit umad_transport(const end_port& port, umad_options options = {});
    explicit umad_transport(const std::filesystem::path& device, umad_options options = {});
    /// Takes over a non-blocking descriptor on which no ioctl was called and no agent is registered.
    explicit umad_transport(mad::unique_fd device, umad_options options = {});

    int native_handle() const noexcept override { return readable_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    void set_now(mad::time_point now) noexcept override { now_ = now; }
    /// `mlx5_0/1 (umad0)` for an end port, or the path of the device; empty if it was made from a descriptor.
    std::string name() const override { return options_.name; }
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override { return options_.tables.get(); }

    /// Requests that the kernel holds: written, and neither answered nor given back.
    unsigned held() const noexcept { return held_.count(); }
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    /// Reads that returned less than a header. Their data is lost.
    u64 short_reads() const noexcept { return short_reads_; }

    /// Decodes a read() of the device that returned `bytes` in `buffer` (negative: `error` is the errno).
    static mad::received interpret(std::span<const u8> buffer, ssize_t bytes, int error) noexcept;

private:
    struct agent {
        u8 mgmt_class;
        u8 class_version;
        u32 OUI;
        u32 id;
    };
    /// Calls of one kind that failed in a way that may pass, without one in between that succeeded.
    struct repetition {
        unsigned failures = 0;
        std::optional<mad::time_point> due; ///< no call before

        bool is_resting(mad::time_point now) const noexcept { return due && now < *due; }
        bool rest(mad::time_point now) noexcept;
    };
    void listen(bool to_device) noexcept;
    mad::received failed_read(int error) noexcept;
    void grow() noexcept;
    mad::received hand_over(std::span<u8> buffer) noexcept;
    agent* agent_for(const mad::send_request& request) noexcept;
    std::optional<u32> register_agent(const mad::registration& what) noexcept;
    iba::MgmtClass class_of_agent(u32 id) const noexcept;

    umad_options options_;
    mad::unique_fd device_;
    mad::unique_fd readable_; ///< waits for the device
    bool is_listening_ = false;
    repetition reading_, writing_;
    int gone_ = 0;                           ///< errno; 0: it has not
    umad_call unsent_by_ = umad_call::write; ///< what failed in the latest send() that failed
    std::string misfit_;                     ///< of the latest path that did not fit the tables
    mad::time_point now_{};
    std::array<agent, 32> agents_{}; ///< of our own requests; as many as the kernel allows a descriptor in all
    std::size_t agent_count_ = 0;
    held_requests held_;
    u64 short_reads_ = 0;
    std::vector<u8> large_; ///< read into instead, since an ENOSPC brought no length; empty: no
    std::size_t whole_ = 0; ///< bytes of the message that lies there and was not taken away; 0: none does
};

} // namespace comad::transports
