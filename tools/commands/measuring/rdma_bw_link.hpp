// SPDX-License-Identifier: MIT
// rdma_bw_link.hpp - the TCP connection between the two ends of rdma_bw, with lines of JSON. Received values are only checked numbers. Does
// not depend on verbs.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace ibtool {

/// How to write to one end, and what the client requests for the run.
struct rdma_bw_end {
    comad::iba::lid LID{};
    comad::iba::gid GID;    ///< zero: without a global route header
    comad::u32 QPN = 0;     ///< 24 bits
    comad::u32 PSN = 0;     ///< 24 bits: PSN of the first packet
    unsigned MTU = 1;       ///< in the encoding of the IBA, 1..5
    comad::u64 address = 0; ///< of the memory that is written to
    comad::u32 rkey = 0;
    comad::u64 size = 0;   ///< bytes of each write
    comad::u64 writes = 0; ///< number of writes by each end that writes
    bool both_ways = false;
};
inline constexpr comad::u64 rdma_bw_most_size = comad::u64{1} << 30, rdma_bw_most_writes = 100'000'000;

/// The connection. Throws std::runtime_error with one line if there is no peer, if it sends something unexpected, or if it sends nothing
/// for ten seconds when it should.
class rdma_bw_link {
public:
    /// Waits for a client without a time limit, on all IPv4 addresses, or on all IPv6 addresses.
    static rdma_bw_link accept(unsigned short port, bool v6);
    static rdma_bw_link connect(const std::string& host, unsigned short port, bool v6);

    void send(const rdma_bw_end&);
    rdma_bw_end hear_end();
    /// Sends a word that both ends know, for synchronization.
    void send(const std::string& word);
    /// Waits for a word. `is_long`: without a time limit while the other end is alive.
    void hear(const std::string& word, bool is_long = false);

private:
    rdma_bw_link() = default;
    std::string line(bool is_long);
    boost::asio::ip::tcp::iostream stream_;
};

} // namespace ibtool
