// SPDX-License-Identifier: MIT
// rdma_bw_stream.hpp - one end of rdma_bw: an RC queue pair that writes into the memory of the other end. Does not depend on TCP.
#pragma once
#include "commands/measuring/rdma_bw_link.hpp"
#include <comad/transports/sysfs.hpp>
#include <comad/verbs/detail/poller.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <chrono>
#include <vector>

namespace ibtool {

/// The queue pair with its memory.
class rdma_bw_stream {
public:
    /// `size`: bytes of each write; `depth`: writes in flight; `pieces`: number of pieces from which each write is gathered; `gid_index`:
    /// the local GID, with which packets have a global route header, -1: none; `pkey_index`: of the queue pair, look_up: the default of the
    /// port.
    /// Throws std::runtime_error with one line.
    rdma_bw_stream(const comad::transports::end_port&, std::size_t size, unsigned depth, unsigned pieces, int gid_index,
                   comad::u16 pkey_index = comad::mad::path_headers::look_up);

    /// The data that the other end needs.
    const rdma_bw_end& ours() const noexcept { return ours_; }
    /// Changes the queue pair to the state in which it can send and receive.
    void connect(const rdma_bw_end& theirs);
    /// Performs `count` writes and returns their duration. Throws std::runtime_error if one failed.
    std::chrono::nanoseconds write(comad::u64 count);
    /// Returns whether the data that the other end wrote has arrived correctly; `from` has the PSN of that end.
    bool has_arrived(const rdma_bw_end& from) const noexcept;

private:
    void post(comad::u64 number);
    std::size_t size_;
    unsigned depth_, pieces_;
    int gid_index_;
    comad::u16 pkey_index_;
    comad::u8 port_;
    comad::verbs::context device_;
    comad::verbs::pd domain_;
    std::vector<comad::u8> bytes_; // first the memory that is written to, then the data to write
    comad::verbs::memory_region region_;
    comad::verbs::completions done_;
    comad::verbs::queue_pair pair_;
    comad::verbs::poller poller_;
    rdma_bw_end ours_, theirs_;
};

} // namespace ibtool
