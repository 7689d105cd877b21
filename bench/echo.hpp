// SPDX-License-Identifier: MIT
// echo.hpp - the fabric of the benchmarks: a socket pair with a thread that answers MADs at its far end, and a transport at the near end.
// Does not depend on the engine.
#pragma once
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>

#include <functional>
#include <thread>

namespace comad::bench {

/// Turns a request into a reply with the fewest changes: sets the response bit and, for a directed route, the D bit (IBA 14.2.1.2).
inline void turn_into_reply(u8* mad) noexcept {
    mad[iba::offset_of<&iba::MADHeader::method>] |= iba::response_bit;
    constexpr u8 directed = value(iba::MgmtClass::SubnDirected), D = 0x80;
    if (mad[iba::offset_of<&iba::MADHeader::mgmtClass>] == directed) mad[iba::offset_of<&iba::MADHeader::status>] |= D;
}

/// The size of a packet in bytes: a header like umad's, and the MAD.
inline constexpr std::size_t packet_size = mad::headroom + mad::mad_size;

/// Pins the calling thread to one of the processors that the process may use. Counts from 0; takes the last one if there are fewer.
void bind_to_processor(unsigned index);
/// Returns the number of processors that the process may use.
unsigned usable_processors();

/// A SOCK_SEQPACKET pair and a thread on the second processor that answers. The constructors throw std::system_error.
class echo {
public:
    /// The thread turns every request into its reply with turn_into_reply() and changes nothing else.
    echo();
    /// Starts a thread that runs `answer`, which reads requests and writes replies, and returns at the end of the descriptor's stream.
    explicit echo(std::function<void(int descriptor)> answer);
    ~echo();
    int descriptor() const noexcept { return near_.get(); }
    /// Sets whether reads and writes on the descriptor block.
    void set_blocking(bool blocking);

private:
    mad::unique_fd near_;
    std::thread answering_;
};

/// The near end as a transport that works like umad: one write and one read per MAD, with header and MAD in one buffer.
class echo_transport final : public mad::transport {
public:
    /// Uses a nonblocking descriptor. The caller keeps its ownership.
    explicit echo_transport(int descriptor) : descriptor_(descriptor) {}
    int native_handle() const noexcept override { return descriptor_; }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override { return {}; }
    bool wants_writable() const noexcept override { return full_; }

private:
    int descriptor_;
    bool full_ = false;
};

} // namespace comad::bench
