// SPDX-License-Identifier: MIT
// fake_kernel.hpp - a socket that acts as the kernel side of a MAD device, and the packets of the device. Offsets are those
// of rdma/ib_user_mad.h; the behavior was observed on Linux 6.1 and 6.12.
#pragma once
#include "support/catch.hpp"
#include <comad/transports/umad.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <endian.h>
#include <rdma/ib_user_mad.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace comad::test {

using namespace std::chrono_literals;

/// Management classes of the IBA.
inline constexpr u8 class_lid_routed = 0x01, class_directed = 0x81, class_SubnAdm = 0x03, class_Performance = 0x04;

/// Acts as the kernel side of a MAD device: registers agents, and its socket carries one packet per read() and write().
class fake_kernel {
public:
    fake_kernel() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        device_ = mad::unique_fd(ends[0]);
        kernel_ = mad::unique_fd(ends[1]);
    }

    /// Returns the descriptor for the transport. May be called once.
    mad::unique_fd device() { return std::move(device_); }
    transports::umad_options options(unsigned max_held = 640) {
        transports::umad_options o;
        o.max_held = max_held;
        o.ioctl = [this](int, unsigned long request, void* argument) { return ioctl(request, argument); };
        o.read = [this](int fd, void* buffer, std::size_t size) { return read(fd, buffer, size); };
        o.write = [this](int fd, const void* packet, std::size_t size) { return write(fd, packet, size); };
        return o;
    }

    std::vector<u8> written() {
        std::vector<u8> packet(2048);
        const ssize_t n = ::read(kernel_.get(), packet.data(), packet.size());
        REQUIRE(n >= 0);
        packet.resize(static_cast<std::size_t>(n));
        return packet;
    }
    /// Returns the packet that was written; empty if none was.
    std::vector<u8> written_now() { return nothing_written() ? std::vector<u8>{} : written(); }
    bool nothing_written() {
        u8 byte;
        return ::recv(kernel_.get(), &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
    }
    void deliver(std::span<const u8> packet) {
        REQUIRE(::write(kernel_.get(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size()));
    }
    /// Removes the device: from now on its descriptor is always readable and every call fails.
    void remove(int how = EIO) {
        kernel_.reset();
        failing_reads = failing_writes = {how};
        fails_for_ever = true;
    }
    /// Returns the kernel side of the socket, for a thread that acts as the kernel without Catch's macros, which are not
    /// thread-safe.
    int descriptor() const { return kernel_.get(); }

    std::vector<unsigned long> requests;
    std::vector<std::array<u8, 28>> registrations;  ///< struct ib_user_mad_reg_req
    std::vector<std::array<u8, 40>> registrations2; ///< struct ib_user_mad_reg_req2
    u32 next_id = 5;
    int error = 0;                                 ///< errno of the next ioctls; 0: success
    std::deque<int> failing_reads, failing_writes; ///< errno of each of the next calls; 0: success
    bool fails_for_ever = false;                   ///< whether the last of these errors applies to all later calls
    bool reports_length = true; ///< whether read() copies the header of a message that is larger than the buffer
    u64 reads = 0, writes = 0;  ///< number of calls

private:
    int next_of(std::deque<int>& errors) const {
        if (errors.empty()) return 0;
        const int next = errors.front();
        if (errors.size() > 1 || !fails_for_ever) errors.pop_front();
        return next;
    }
    ssize_t read(int fd, void* buffer, std::size_t size) {
        ++reads;
        errno = next_of(failing_reads);
        if (errno) return -1;
        // The kernel keeps a message that is larger than the buffer and copies its start.
        const ssize_t whole = ::recv(fd, buffer, reports_length ? size : 0, MSG_PEEK | MSG_TRUNC);
        if (whole <= static_cast<ssize_t>(size)) return ::read(fd, buffer, size);
        errno = ENOSPC;
        return -1;
    }
    ssize_t write(int fd, const void* packet, std::size_t size) {
        ++writes;
        errno = next_of(failing_writes);
        return errno ? -1 : ::write(fd, packet, size);
    }
    int ioctl(unsigned long request, void* argument) {
        requests.push_back(request);
        if (error) {
            errno = error;
            return -1;
        }
        if (request != IB_USER_MAD_REGISTER_AGENT && request != IB_USER_MAD_REGISTER_AGENT2) return 0;
        std::memcpy(argument, &next_id, sizeof next_id);
        ++next_id;
        if (request == IB_USER_MAD_REGISTER_AGENT) std::memcpy(registrations.emplace_back().data(), argument, 28);
        else std::memcpy(registrations2.emplace_back().data(), argument, 40);
        return 0;
    }
    mad::unique_fd device_;
    mad::unique_fd kernel_;
};

/// A request with default values that a test may change before it sends the request.
struct request {
    mad::any_path path = mad::IBDRPath{};
    u8 mgmt_class = class_directed;
    u8 class_version = 1;
    bool expects_reply = true;
    mad::duration attempt_timeout = 1s;
    mad::duration operation_timeout = 3s;
    std::array<u8, mad::headroom + mad::mad_size> bytes = filled();

    static std::array<u8, mad::headroom + mad::mad_size> filled() {
        std::array<u8, mad::headroom + mad::mad_size> b;
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<u8>(i * 7 + 1);
        return b;
    }
    mad::send_request operator()() {
        return {.path = &path,
                .mad = bytes.data() + mad::headroom,
                .size = mad::mad_size,
                .mgmt_class = mgmt_class,
                .class_version = class_version,
                .expects_reply = expects_reply,
                .attempt_timeout = attempt_timeout,
                .operation_timeout = operation_timeout};
    }
};

/// Returns the value in host byte order at an offset of a packet.
template <class T> T host_at(std::span<const u8> packet, std::size_t offset) {
    T value;
    REQUIRE(packet.size() >= offset + sizeof value);
    std::memcpy(&value, packet.data() + offset, sizeof value);
    return value;
}
/// Returns `size` bytes at an offset of a packet.
inline std::vector<u8> bytes_at(std::span<const u8> packet, std::size_t offset, std::size_t size) {
    REQUIRE(packet.size() >= offset + size);
    return {packet.begin() + static_cast<std::ptrdiff_t>(offset),
            packet.begin() + static_cast<std::ptrdiff_t>(offset + size)};
}
/// Returns the timeout of a packet in milliseconds.
inline u32 timeout_ms(std::span<const u8> packet) { return host_at<u32>(packet, 8); }

/// Returns a packet as the kernel delivers it: a header of 64 bytes and `size` bytes of a MAD with this method.
inline std::vector<u8> delivery(u32 status, u8 method, std::size_t size) {
    std::vector<u8> packet(64 + size, 0xab);
    ib_user_mad_hdr h{};
    h.id = 5;
    h.status = status;
    h.length = status ? 0 : static_cast<u32>(packet.size());
    h.qpn = htobe32(0x123456);
    h.lid = htobe16(0x1234);
    h.sl = 9;
    h.pkey_index = 3;
    std::memcpy(packet.data(), &h, sizeof h);
    if (size > 3) packet[64 + 3] = method;
    return packet;
}
inline constexpr u8 Get = 0x01, GetResp = 0x81, TrapRepress = 0x07;
/// Returns a reply as the kernel delivers it.
inline std::vector<u8> a_reply() { return delivery(0, GetResp, 256); }
/// Returns a request that the kernel returns after its timeout.
inline std::vector<u8> an_expired_send() { return delivery(ETIMEDOUT, Get, 24); }

} // namespace comad::test
