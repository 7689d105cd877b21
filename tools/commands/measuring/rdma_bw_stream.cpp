// SPDX-License-Identifier: MIT
// rdma_bw_stream.cpp - performs RDMA writes on an RC queue pair, with a limited number of writes in flight.
#include "commands/measuring/rdma_bw_stream.hpp"

#include "comad.hpp"
#include <comad/verbs/detail/bring_up.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <utility>

namespace ibtool {
namespace {

namespace verbs = comad::verbs;

// Returns the value. Throws std::runtime_error if the verb failed.
template <class T> T had(verbs::result<T> r) {
    if (!r) throw std::runtime_error(r.error().text);
    if constexpr (!std::is_void_v<T>) return std::move(r.value());
}

/// Returns one byte of the data that an end writes. The other end calculates the same byte to verify it.
u8 byte_of(u64 PSN, std::size_t at) noexcept { return static_cast<u8>(PSN + at * 7 + (at >> 8)); }

verbs::completions completions_of(const verbs::context& device, unsigned depth) {
    auto channel = had(verbs::completion_channel::create(device));
    auto queue = had(verbs::completion_queue::create(device, depth, channel));
    return {std::move(queue), std::move(channel)};
}

verbs::queue_pair pair_of(const verbs::pd& domain, const verbs::completions& done, unsigned depth, unsigned pieces) {
    verbs::queue_pair_options options;
    options.type = IBV_QPT_RC;
    options.max_sends = depth;
    options.max_receives = 1;
    options.max_send_pieces = pieces;
    return had(verbs::queue_pair::create(domain, done.queue(), done.queue(), options));
}

} // namespace

rdma_bw_stream::rdma_bw_stream(const comad::transports::end_port& port, std::size_t size, unsigned depth,
                               unsigned pieces, int gid_index, comad::u16 pkey_index)
    : size_(size), depth_(depth), pieces_(pieces), gid_index_(gid_index), pkey_index_(pkey_index),
      port_(static_cast<u8>(port.port)), device_(had(verbs::context::open(port.device))),
      domain_(had(verbs::pd::create(device_))), bytes_(2 * size),
      region_(had(verbs::memory_region::create(domain_, bytes_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))),
      done_(completions_of(device_, depth)), pair_(pair_of(domain_, done_, depth, pieces)), poller_(device_, done_) {
    const auto attributes = had(device_.port_attributes(port_));
    ours_.LID = iba::lid{attributes.lid};
    if (gid_index_ >= 0) ours_.GID = had(device_.gid(port_, static_cast<unsigned>(gid_index_)));
    ours_.QPN = pair_.number();
    ours_.PSN = std::random_device{}() & 0xffffff;
    ours_.MTU = attributes.active_mtu;
    ours_.address = region_.address();
    ours_.rkey = region_.rkey();
    ours_.size = size_;
    for (std::size_t i = 0; i < size_; ++i) bytes_[size_ + i] = byte_of(ours_.PSN, i);
}

void rdma_bw_stream::connect(const rdma_bw_end& theirs) {
    theirs_ = theirs;
    mad::IBPath path;
    path.DLID = theirs.LID;
    path.SLID = ours_.LID;
    path.dqpn = theirs.QPN;
    path.pkey_index = pkey_index_;
    path.MTU = iba::MTU{static_cast<u8>(std::min(ours_.MTU, theirs.MTU))};
    path.rate = iba::Rate{0}; // use the rate of the port
    if (gid_index_ >= 0) {
        path.has_grh = true;
        path.SGID_index = static_cast<u8>(gid_index_);
        path.SGID = ours_.GID;
        path.DGID = theirs.GID;
        path.hop_limit = 64;
    }
    verbs::connection how;
    how.port = port_;
    how.sq_psn = ours_.PSN;
    how.rq_psn = theirs.PSN;
    how.remote_access = IBV_ACCESS_REMOTE_WRITE;
    how.ack_timeout = 14; // 67 ms
    had(verbs::establish(pair_, path, how));
}

void rdma_bw_stream::post(u64 number) {
    std::vector<ibv_sge> pieces(pieces_);
    for (std::size_t i = 0; i < pieces_; ++i) {
        const std::size_t begin = size_ * i / pieces_, end = size_ * (i + 1) / pieces_;
        pieces[i] = region_.piece(size_ + begin, end - begin);
    }
    ibv_send_wr work = verbs::send_request(number, IBV_WR_RDMA_WRITE, pieces);
    work.wr.rdma = {theirs_.address, theirs_.rkey};
    had(pair_.post_send(work));
}

std::chrono::nanoseconds rdma_bw_stream::write(u64 count) {
    constexpr std::chrono::seconds longest_write{30}; // enough for one write of 1 GiB by a software device
    std::array<ibv_wc, 32> room;
    const auto begin = std::chrono::steady_clock::now();
    u64 posted = 0, over = 0;
    while (over < count) {
        for (; posted < count && posted - over < depth_; ++posted) post(posted);
        const auto found = had(poller_.wait(room, std::chrono::steady_clock::now() + longest_write));
        if (found.empty())
            throw std::runtime_error(
                "no write completed within 30 s; check the link, and that rdma_bw still runs on the remote end");
        for (const ibv_wc& wc : found)
            if (wc.status != IBV_WC_SUCCESS) throw std::runtime_error(verbs::error_of(wc).text);
        over += found.size();
    }
    return std::chrono::steady_clock::now() - begin;
}

bool rdma_bw_stream::has_arrived(const rdma_bw_end& from) const noexcept {
    for (std::size_t i = 0; i < size_; ++i)
        if (bytes_[i] != byte_of(from.PSN, i)) return false;
    return true;
}

} // namespace ibtool
