// SPDX-License-Identifier: MIT
// pcap.hpp - writes and reads captures of InfiniBand packets with libpcap. Does not depend on MADs.
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

/// Writes packets as ERF records (LINKTYPE_ERF, 197) of type InfiniBand, with nanoseconds. Wireshark accepts no other kind of InfiniBand
/// packet: version 4.0 reports LINKTYPE_INFINIBAND (247) as unknown.
///
/// What the file does not accept at once waits in a queue of 64 MiB. If the queue is full, write() waits for the reader; after
/// never_wait() it drops packets and counts them.
class pcap_writer {
public:
    /// Creates or overwrites the file. A regular file becomes readable only by its owner. A FIFO is opened when it has a reader.
    /// Errors: throws std::runtime_error with one line.
    explicit pcap_writer(const std::string& file);
    ~pcap_writer();

    /// Stops waiting for the reader as soon as this function returns true; it is called several times a second.
    void gives_up_if(std::function<bool()> gives_up) { gives_up_ = std::move(gives_up); }
    /// Makes write() drop packets instead of waiting. For programs that run until a signal arrives.
    void never_wait();

    /// Adds a MAD in its packet. Keys in it are 0 unless `with_keys`. finish() reports errors such as a full disk.
    void write(const comad::transports::captured_mad&, bool with_keys = false) noexcept;
    /// Returns the number of dropped packets.
    comad::u64 dropped() const noexcept;
    /// Waits until everything is written.
    /// Errors: throws std::runtime_error with one line if packets are missing from the file.
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
    std::size_t number = 0; ///< its record number in the file, from 1, as in Wireshark
    std::span<const comad::u8> bytes;
    comad::mad::packet_start starts_with =
        comad::mad::packet_start::LRH; ///< with LRH: including checksums, else without
    std::string where{};               ///< for RoCE: the source and destination addresses
};

/// Calls `use` for every InfiniBand packet of a pcap or pcapng file, and closes `opened`. Accepts the link types InfiniBand and ERF, and,
/// for RoCE, Ethernet, IP and Linux cooked captures. Skips records without an InfiniBand packet.
/// Errors: throws std::runtime_error with one line that contains `name` if the file is not a capture, has another link type, or contains
/// no InfiniBand packets. Also throws for a truncated file, after `use` was called for the packets before the end.
void read_pcap(std::FILE* opened, const std::string& name, const std::function<void(const captured_packet&)>& use);

} // namespace ibtool
