// SPDX-License-Identifier: MIT
// pcap.hpp - writes and reads files of captured InfiniBand packets, by libpcap. Does not depend on MADs.
#pragma once
#include <comad/mad/packet.hpp>
#include <comad/transports/capture.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace ibtool {

/// Writes packets in ERF records (LINKTYPE_ERF, 197) of type InfiniBand, in nanoseconds. Wireshark opens no other kind of
/// InfiniBand packet: of LINKTYPE_INFINIBAND (247) version 4.0 says that it is unknown.
class pcap_writer {
public:
    /// Makes or overwrites the file; a regular one is for its owner alone from now on. Throws std::runtime_error with one line.
    explicit pcap_writer(const std::string& file);
    ~pcap_writer();

    /// Adds a MAD in its packet, with 0 for each key in it unless `with_keys`. A failure, as of a full disk, is told by finish().
    void write(const comad::transports::captured_mad&, bool with_keys = false) noexcept;
    /// Throws std::runtime_error with one line if not all is in the file.
    void finish();

private:
    struct file;
    std::unique_ptr<file> file_;
    std::string name_;
    comad::u32 PSN_ = 0;
    int error_ = 0; // errno of the first write that failed
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
