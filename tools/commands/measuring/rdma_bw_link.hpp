// SPDX-License-Identifier: MIT
// rdma_bw_link.hpp - what the two ends of rdma_bw tell each other beside the RDMA: lines of JSON over TCP. Nothing that arrives is
// more than a number that was checked. Knows no verbs.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace ibtool {

/// How one end is to be written to, and what the client wants of the run.
struct rdma_bw_end {
    comad::iba::lid LID{};
    comad::iba::gid GID;    ///< zero: without a global route header
    comad::u32 QPN = 0;     ///< 24 bits
    comad::u32 PSN = 0;     ///< 24 bits: of its first packet
    unsigned MTU = 1;       ///< as the IBA codes it, 1..5
    comad::u64 address = 0; ///< of the memory to write to
    comad::u32 rkey = 0;
    comad::u64 size = 0;   ///< bytes of each write
    comad::u64 writes = 0; ///< of each end that writes
    bool both_ways = false;
};
inline constexpr comad::u64 rdma_bw_most_size = comad::u64{1} << 30, rdma_bw_most_writes = 100'000'000;

/// The connection. Throws std::runtime_error with one line: nobody is there, who is there says something else, or nothing for ten
/// seconds where it should.
class rdma_bw_link {
public:
    /// Waits for a client, at all addresses or those of IPv6; without end.
    static rdma_bw_link accept(unsigned short port, bool v6);
    static rdma_bw_link connect(const std::string& host, unsigned short port, bool v6);

    void send(const rdma_bw_end&);
    rdma_bw_end hear_end();
    /// A word that both know, so that neither goes on before the other.
    void send(const std::string& word);
    /// `is_long`: what is waited for may take as long as it likes, while the other end lives.
    void hear(const std::string& word, bool is_long = false);

private:
    rdma_bw_link() = default;
    std::string line(bool is_long);
    boost::asio::ip::tcp::iostream stream_;
};

} // namespace ibtool
