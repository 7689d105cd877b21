// SPDX-License-Identifier: MIT
// rdma_bw_stream.hpp - one end of rdma_bw: an RC queue pair that writes into the other end's memory. Knows no TCP.
#pragma once
#include "commands/measuring/rdma_bw_link.hpp"
#include <comad/transports/sysfs.hpp>
#include <comad/verbs/detail/poller.hpp>
#include <comad/verbs/queue_pair.hpp>

#include <chrono>
#include <vector>

namespace ibtool {

class rdma_bw_stream {
public:
    /// `size`: bytes of each write; `depth`: writes in flight; `pieces`: of which each is gathered; `gid_index`: of ours, with
    /// which packets have a global route header; -1: none; `pkey_index`: of the queue pair, look_up: the port's default one.
    /// Throws std::runtime_error with one line.
    rdma_bw_stream(const comad::transports::end_port&, std::size_t size, unsigned depth, unsigned pieces, int gid_index,
                   comad::u16 pkey_index = comad::mad::path_headers::look_up);

    /// What the other end has to know.
    const rdma_bw_end& ours() const noexcept { return ours_; }
    /// Into the state in which it writes and is written to.
    void connect(const rdma_bw_end& theirs);
    /// So many writes, and how long they took. Throws std::runtime_error when one failed.
    std::chrono::nanoseconds write(comad::u64 count);
    /// Whether what the other end wrote is here, as it has it: of an end with that PSN.
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
    std::vector<comad::u8> bytes_; // what is written to, then what is written
    comad::verbs::memory_region region_;
    comad::verbs::completions done_;
    comad::verbs::queue_pair pair_;
    comad::verbs::poller poller_;
    rdma_bw_end ours_, theirs_;
};

} // namespace ibtool
