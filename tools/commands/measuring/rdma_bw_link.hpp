// SPDX-License-Identifier: MIT
// rdma_bw_link.hpp - the TCP connection on which the two ends of rdma_bw exchange JSON lines. All received values are checked. Does not
// depend on verbs.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace ibtool {

/// What the remote end must know to write to this end, and what the client requests for the run.
struct rdma_bw_end {
    comad::iba::lid LID{};
    comad::iba::gid GID;    ///< zero: packets have no global route header
    comad::u32 QPN = 0;     ///< queue pair number, 24 bits
    comad::u32 PSN = 0;     ///< PSN of the first packet, 24 bits
    unsigned MTU = 1;       ///< as the IBA encodes it: 1..5
    comad::u64 address = 0; ///< address of the memory that receives the writes
    comad::u32 rkey = 0;
    comad::u64 size = 0;   ///< bytes of each write
    comad::u64 writes = 0; ///< number of writes by each end that writes
    bool both_ways = false;
};
inline constexpr comad::u64 rdma_bw_most_size = comad::u64{1} << 30, rdma_bw_most_writes = 100'000'000;

/// The TCP connection.
/// Errors: every function throws std::runtime_error with one line if the peer is unreachable, sends something unexpected, or does not
/// send an expected line within ten seconds.
class rdma_bw_link {
public:
    /// Waits for a client without a time limit. Listens on all IPv4 addresses or on all IPv6 addresses.
    static rdma_bw_link accept(unsigned short port, bool v6);
    /// Connects to a server; gives up after ten seconds.
    static rdma_bw_link connect(const std::string& host, unsigned short port, bool v6);

    /// Sends the description of this end.
    void send(const rdma_bw_end&);
    /// Waits for the description of the remote end.
    rdma_bw_end receive_end();
    /// Sends a synchronization word that both ends know.
    void send(const std::string& word);
    /// Waits for a word from the remote end. `is_long`: waits without a time limit while the connection exists.
    void receive(const std::string& word, bool is_long = false);

private:
    rdma_bw_link() = default;
    std::string line(bool is_long);
    boost::asio::ip::tcp::iostream stream_;
};

} // namespace ibtool
