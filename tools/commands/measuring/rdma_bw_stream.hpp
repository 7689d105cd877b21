// SPDX-License-Identifier: MIT
// rdma_bw_stream.hpp - one end of rdma_bw: an RC queue pair that writes into the memory of the remote end. Does not depend on TCP.
#pragma once
#include "commands/measuring/rdma_bw_link.hpp"
#include <comad/transports/sysfs.hpp>
#include <comad/verbs/detail/poller.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <chrono>
#include <vector>

namespace ibtool {

/// An RC queue pair with its memory.
class rdma_bw_stream {
public:
    /// Opens the device and creates the queue pair. `size`: bytes of each write. `depth`: largest number of writes in flight. `pieces`:
    /// number of memory pieces that form a write. `gid_index`: index of the local GID for the global route header; -1: no header.
    /// `pkey_index`: index of the P_Key of the queue pair; look_up: the default of the port.
    /// Errors: std::runtime_error with one line.
    rdma_bw_stream(const comad::transports::end_port&, std::size_t size, unsigned depth, unsigned pieces, int gid_index,
                   comad::u16 pkey_index = comad::mad::path_headers::look_up);

    /// Returns what the remote end must know about this end.
    const rdma_bw_end& ours() const noexcept { return ours_; }
    /// Moves the queue pair to the state in which it can send and receive.
    void connect(const rdma_bw_end& theirs);
    /// Performs `count` writes, and returns their total duration. Throws std::runtime_error if a write failed.
    std::chrono::nanoseconds write(comad::u64 count);
    /// Returns whether the data of the last write of the remote end `from` arrived correctly.
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
    std::vector<comad::u8> bytes_; // first half: receives the writes; second half: the data to write
    comad::verbs::memory_region region_;
    comad::verbs::completions done_;
    comad::verbs::queue_pair pair_;
    comad::verbs::poller poller_;
    rdma_bw_end ours_, theirs_;
};

} // namespace ibtool
