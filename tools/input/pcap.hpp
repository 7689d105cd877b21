// SPDX-License-Identifier: MIT
// pcap.hpp - files of captured InfiniBand packets, by libpcap: written, and read. Knows no MAD.
#pragma once
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

/// Calls `use` for every InfiniBand packet of a pcap or pcapng file, each from its LRH on, checksums included. Takes link
/// types InfiniBand and ERF. Throws std::runtime_error with one line: another link type, a file that is none or ends in the
/// middle (after the packets before). Closes `opened`.
void read_pcap(std::FILE* opened, const std::string& name, const std::function<void(std::span<const comad::u8>)>& use);

} // namespace ibtool
