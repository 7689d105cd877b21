// SPDX-License-Identifier: MIT
// echo.cpp - the thread that answers MADs, and the reads and writes of the transport at the near end.
#include "echo.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <sched.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace comad::bench {
namespace {

static_assert(sizeof(ib_user_mad_hdr) == mad::headroom);

void require(bool done, const char* what) {
    if (!done) throw std::system_error(errno, std::generic_category(), what);
}

// Returns the processors that the process could use at its start. Pinning a thread narrows the set that its children inherit.
const cpu_set_t& processors() {
    static const cpu_set_t initial = [] {
        cpu_set_t set;
        require(::sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
        return set;
    }();
    return initial;
}

void answer_until_closed(int descriptor) {
    std::array<u8, packet_size> packet;
    while (::read(descriptor, packet.data(), packet.size()) == static_cast<ssize_t>(packet.size())) {
        turn_into_reply(packet.data() + mad::headroom);
        if (::write(descriptor, packet.data(), packet.size()) < 0) break;
    }
}

} // namespace

unsigned usable_processors() { return static_cast<unsigned>(CPU_COUNT(&processors())); }

void bind_to_processor(unsigned index) {
    index = std::min(index, usable_processors() - 1);
    int processor = 0;
    for (unsigned seen = 0;; ++processor) {
        if (CPU_ISSET(processor, &processors()) && seen++ == index) break;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    errno = ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
    require(errno == 0, "pthread_setaffinity_np");
}

echo::echo() : echo(answer_until_closed) {}

echo::echo(std::function<void(int descriptor)> answer) {
    int pair[2];
    require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
    near_ = mad::unique_fd(pair[0]);
    mad::unique_fd far(pair[1]);
    const int room = 4 << 20; // bytes, more than a window needs; the limit without privileges suffices for 256 MADs
    for (int end : pair) {
        if (::setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) != 0)
            require(::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0, "setsockopt");
    }
    processors();
    answering_ = std::thread([end = std::move(far), answer = std::move(answer)] {
        bind_to_processor(1);
        answer(end.get());
    });
}

echo::~echo() {
    ::shutdown(near_.get(), SHUT_RDWR);
    answering_.join();
}

void echo::set_blocking(bool blocking) {
    const int flags = ::fcntl(near_.get(), F_GETFL);
    const int wanted = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
    require(flags >= 0 && ::fcntl(near_.get(), F_SETFL, wanted) == 0, "fcntl");
}

mad::send_result echo_transport::send(const mad::send_request& request) noexcept {
    ib_user_mad_hdr header{};
    header.timeout_ms =
        static_cast<u32>(std::chrono::duration_cast<std::chrono::milliseconds>(request.operation_timeout).count());
    header.lid = iba::value(mad::headers_of(*request.path).DLID);
    u8* packet = request.mad - sizeof header;
    std::memcpy(packet, &header, sizeof header);
    full_ = false;
    if (::write(descriptor_, packet, sizeof header + request.size) >= 0) return {};
    if (errno == EAGAIN) {
        full_ = true;
        return {mad::send_state::would_block, 0};
    }
    return {mad::send_state::failed, errno};
}

mad::received echo_transport::receive(std::span<u8> buffer) noexcept {
    mad::received message;
    const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
    if (size < 0) {
        if (errno == EAGAIN) return message;
        message.error = errno;
    }
    if (size < static_cast<ssize_t>(mad::headroom)) {
        message.state = mad::receive_state::failed;
        return message;
    }
    ib_user_mad_hdr header;
    std::memcpy(&header, buffer.data(), sizeof header);
    message.state = mad::receive_state::message;
    message.status = header.status;
    message.mad = buffer.subspan(sizeof header, static_cast<std::size_t>(size) - sizeof header);
    message.full_size = message.mad.size();
    message.source.SLID = iba::lid{header.lid};
    message.source.SL = header.sl;
    message.source.pkey_index = header.pkey_index;
    message.source.sqpn = header.qpn;
    return message;
}

} // namespace comad::bench
