// SPDX-License-Identifier: MIT
// pcap.hpp - writes and reads files of captured InfiniBand packets, by libpcap. Does not depend on MADs.
#pragma once
#include <comad/mad/detail/packet.hpp>
#include <comad/transports/capture.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace ibtool {

class queued_writer;

/// Writes packets in ERF records (LINKTYPE_ERF, 197) of type InfiniBand, in nanoseconds. Wireshark opens no other kind of
/// InfiniBand packet: of LINKTYPE_INFINIBAND (247) version 4.0 says that it is unknown.
///
/// What the file does not take at once waits in a queue of 64 MiB. Then write() waits until the reader has taken some, or after
/// never_wait() drops packets, and counts them.
class pcap_writer {
public:
    /// Makes or overwrites the file; a regular one is for its owner alone from now on. A FIFO is opened when somebody reads it.
    /// Errors: std::runtime_error with one line.
    explicit pcap_writer(const std::string& file);
    ~pcap_writer();

    /// Whoever waits for the reader gives up as soon as this returns true; it is called several times a second.
    void gives_up_if(std::function<bool()> gives_up) { gives_up_ = std::move(gives_up); }
    /// For programs that run until a signal arrives.
    void never_wait();

    /// Adds a MAD in its packet, with 0 for each key in it unless `with_keys`. Errors, such as a full disk, are those of finish().
    void write(const comad::transports::captured_mad&, bool with_keys = false) noexcept;
    /// How many packets were dropped.
    comad::u64 dropped() const noexcept;
    /// Waits until all is written.
    /// Errors: std::runtime_error with one line if not all packets are in the file.
    void finish();

private:
    void flush() noexcept;

    std::unique_ptr<queued_writer> out_;
    std::string name_;
    std::string buffer_;
    comad::u64 records_in_buffer_ = 0;
    std::function<bool()> gives_up_;
    comad::u32 PSN_ = 0;
    bool is_finished_ = false;
};

/// An InfiniBand packet of a capture.
struct captured_packet {
    std::size_t number = 0; ///< its record in the file, from 1, as Wireshark counts them
    std::span<const comad::u8> bytes;
    comad::mad::packet_start starts_with =
        comad::mad::packet_start::LRH; ///< from an LRH on with its checksums, else without
    std::string where{};               ///< in RoCE: from which address to which
};

/// Calls `use` for every InfiniBand packet of a pcap or pcapng file. Takes the link types InfiniBand, ERF, and of RoCE Ethernet, IP and
/// Linux's cooked captures; records without an InfiniBand packet are skipped. Throws std::runtime_error with one line, with `name` as it
/// is: another link type, records but no InfiniBand packet, a file that is not a capture or ends in the middle (after the packets before).
/// Closes `opened`.
void read_pcap(std::FILE* opened, const std::string& name, const std::function<void(const captured_packet&)>& use);

} // namespace ibtool
