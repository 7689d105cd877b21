// SPDX-License-Identifier: MIT
// reports.cpp - sends Reports of a simulated subnet's SA, and repeats them until they are acknowledged.
#include "agents.hpp"
#include "fabric_core.hpp"
#include "router.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

// The values of OpenSM's transaction_timeout and transaction_retries.
constexpr mad::duration response_time = std::chrono::milliseconds(200);
constexpr unsigned most_attempts = 4;

} // namespace

void fabric_core::send_reports() noexcept {
    for (const report& r : agents_->take_reports()) {
        const u32 index = new_packet();
        packet& p = packets_[index];
        hold(p, r.mad);
        p.endpoint = none;
        p.garbage_seed = 0;
        p.is_request = p.is_directed = false;
        p.headers = {};
        p.headers.DLID = r.DLID;
        p.attempts = most_attempts;
        on_report(index);
    }
}

/// Sends a copy of the Report, and keeps the packet for further attempts.
void fabric_core::on_report(u32 index) noexcept {
    const auto from = agents_->subnet().tables().manager();
    const auto way = router_->by_lid(from, packets_[index].headers.DLID);
    if (!way || packets_[index].attempts-- == 0 || agents_->is_acknowledged(packets_[index].mad)) {
        free(index);
        return;
    }
    const u32 copy = copy_of(index);
    packet& p = packets_[copy];
    p.headers.SLID = topology_.sm_lid;
    p.headers.pkey = agents_->subnet().sent_pkey(from, attributes::default_pkey);
    p.node = way->node;
    p.port = way->port;
    p.hops = way->hops;
    if (p.hops != 0) agents_->ports().count_sent(from.node, from.port);
    travel(copy, stage::arrival, faults_.request_loss);
    schedule(now_ + response_time, stage::report, index);
}

} // namespace comad::transports::sim
