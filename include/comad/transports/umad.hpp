// SPDX-License-Identifier: MIT
// umad.hpp - the kernel's MAD device /dev/infiniband/umadN (rdma/ib_user_mad.h).
// Knows of a MAD its class, OUI and whether it is a response, nothing else; RMPP is the kernel's, or that of who sits on it.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>
#include <comad/transports/held_requests.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/transports/umad_errors.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace comad::transports {

struct umad_options {
    umad_options();

    std::string name; ///< of the transport, for messages; empty: as umad_transport::name() says
    /// Requests that the kernel may hold for us at a time, superseded attempts included (see held_requests). At least 1.
    unsigned max_held = held_requests::usual_bound;
    /// How long it is told to hold each.
    kernel_timeout timeout = kernel_timeout::by_room;
    /// RMPP is the program's affair: messages are single MADs, segments among them, as rmpp_transport wants them. Otherwise
    /// it is the kernel's.
    bool user_rmpp = false;
    /// Requests to the SA in flight that the device carries at a time; 0: as its end port says, else umad_limits.
    unsigned sa_window = 0;
    /// The tables of the port, for several transports that share them. Null: those of the end port, or of the device's end
    /// port in /sys/class; of a descriptor, empty ones, which are unknown.
    std::shared_ptr<mad::port_tables> tables;
    /// ioctl(2), or what a test puts in its place: returns 0, or -1 and sets errno.
    std::function<int(int fd, unsigned long request, void* argument)> ioctl;
    /// read(2) and write(2), likewise.
    std::function<ssize_t(int fd, void* buffer, std::size_t size)> read;
    std::function<ssize_t(int fd, const void* packet, std::size_t size)> write;
};

/// One open MAD device, thus one end port. Registers one agent per management class when that class is first sent;
/// these receive replies to our own requests and nothing else. serve() registers agents that receive requests, and their
/// replies leave through them, without a timeout: the kernel would wait for an answer.
///
/// Timeouts: the engine times attempts; which timeout the kernel is told, and how many requests it may hold, is the rule of
///           held_requests. At max_held send() answers would_block until a receive() has taken a request back. (One
///           whose send the adapter itself fails is reported to nobody and stays counted.)
/// Errors:   construction throws std::runtime_error with one line that says what to do (umad_errors.hpp), as advice() does of
///           a call that failed.
///           An error that may pass (EIO, ENOMEM, ENOBUFS, ENOSPC, EBUSY; of a read also less than a header, of a write
///           also EAGAIN) is met by would_block, and the call is repeated up to nine times, after 1 ms and then twice as
///           long each time: 511 ms in all. One that succeeds forgets those that failed. After the ninth receive() fails
///           with the errno (less than a header: EIO), as it does at once with any other, ENODEV above all: the device
///           has gone, and from then on everything fails with that errno. After the ninth send() fails with the errno of
///           the write, as it does at once with any other (EINVAL: the driver refuses this local SMP) or with that of
///           the registration (EINVAL: the kernel has no such class); further sends are tried once each, until one
///           succeeds. An ENOSPC that brings no length may be that of a message larger than the buffer: each repetition
///           has a buffer four times as large as the one before, from 64 KiB up to 64 MiB.
/// Blocking: the kernel says of this device always that it can be written to; max_held and the window are the only
///           backpressure. A write for which memory is short while the kernel holds requests waits for one of them to come
///           back instead. Sends to a LID never block.
/// Waiting:  native_handle() is an epoll(7) instance with the device in it, but for the time between repeated reads: a
///           device that has gone would be readable all the time. next_event() says when a call is to be repeated.
/// Tables:   a GMP leaves with the indices that tables() finds for its path; a path that does not fit fails with
///           EADDRNOTAVAIL. An SMP has P_Key index 0, unless its path has another one.
/// RMPP:     (but with user_rmpp) of a message larger than the buffer, receive() gives the first segment and the full size, and the kernel
///           keeps it: only a receive() with headroom + full_size bytes takes it away.
class umad_transport final : public mad::transport {
public:
    /// Opens the MAD device of an end port, as select_end_port() finds it.
    explicit umad_transport(const end_port& port, umad_options options = {});
    explicit umad_transport(const std::filesystem::path& device, umad_options options = {});
    /// Takes over an open non-blocking descriptor, fresh: no agent is registered, no ioctl was made.
    explicit umad_transport(mad::unique_fd device, umad_options options = {});

    int native_handle() const noexcept override { return readable_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    void set_now(mad::time_point now) noexcept override { now_ = now; }
    /// `mlx5_0/1 (umad0)`, or the path of the device, or nothing, as it was opened.
    std::string name() const override { return options_.name; }
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override { return options_.tables.get(); }

    /// Requests that the kernel holds: written, and neither answered nor reported.
    unsigned held() const noexcept { return held_.count(); }
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    /// Reads that brought less than a header; what they brought is lost.
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
