// SPDX-License-Identifier: MIT
// echo.hpp - the fabric of the benchmarks: a socket pair at whose far end a thread answers MADs, and the transport on the
// near end.
// Knows no engine.
#pragma once
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>

#include <functional>
#include <thread>

namespace comad::bench {

/// Makes a reply of a request by as little as it takes: the response bit, and of a directed route the D bit (IBA 14.2.1.2).
inline void turn_round(u8* mad) noexcept {
    mad[iba::offset_of<&iba::MADHeader::method>] |= iba::response_bit;
    constexpr u8 directed = value(iba::MgmtClass::SubnDirected), D = 0x80;
    if (mad[iba::offset_of<&iba::MADHeader::mgmtClass>] == directed) mad[iba::offset_of<&iba::MADHeader::status>] |= D;
}

/// Bytes of a packet: a header like umad's, and the MAD.
inline constexpr std::size_t packet_size = mad::headroom + mad::mad_size;

/// Binds the calling thread to one of the processors that the process may use, counted from 0; the last if there are fewer.
void bind_to_processor(unsigned index);
/// How many there are.
unsigned usable_processors();

/// A SOCK_SEQPACKET pair and a thread on the second processor. Throws std::system_error.
class echo {
public:
    /// It turns every request into its reply: turn_round(), all else stays.
    echo();
    /// It reads requests, and writes replies, as `answer` does, which returns when the descriptor is at its end.
    explicit echo(std::function<void(int descriptor)> answer);
    ~echo();
    int descriptor() const noexcept { return near_.get(); }
    /// Whether reads and writes on the descriptor wait.
    void set_blocking(bool blocking);

private:
    mad::unique_fd near_;
    std::thread answering_;
};

/// The near end as a transport, in the manner of umad: one write and one read per MAD, header and MAD in one piece.
class echo_transport final : public mad::transport {
public:
    /// A descriptor that does not block; it stays the caller's.
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
