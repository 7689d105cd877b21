// SPDX-License-Identifier: MIT
// fabric.cpp - the public class fabric: each function calls fabric_core.
#include "fabric_core.hpp"

#include <utility>

namespace comad::transports::sim {

fabric::fabric(topology t, const timing& times, const faults& wrong)
    : core_(std::make_unique<fabric_core>(std::move(t), times, wrong)) {}
fabric::~fabric() = default;

const topology& fabric::graph() const noexcept { return core_->graph(); }
mad::time_point fabric::now() const noexcept { return core_->now(); }

void fabric::apply(const topology_event& e) { core_->apply(e); }
void fabric::apply_at(mad::time_point when, const topology_event& e) { core_->apply_at(when, e); }
void fabric::apply_every(mad::duration period, mad::time_point first, const topology_event& e) {
    core_->apply_every(period, first, e);
}
void fabric::set_service_time(u32 node, mad::duration time) noexcept { core_->set_service_time(node, time); }
void fabric::set_loss(double share) noexcept { core_->set_loss(share); }
void fabric::set_loss(u32 node, double share) noexcept { core_->set_loss(node, share); }
void fabric::answer(u32 node, iba::MgmtClass mgmt_class, u16 attributeID, scripted_answer answer) {
    core_->answer(node, mgmt_class, attributeID, std::move(answer));
}
void fabric::change_replies(u32 node, iba::MgmtClass mgmt_class, u16 attributeID, reply_change change) {
    core_->change_replies(node, mgmt_class, attributeID, std::move(change));
}

void fabric::carry(const load& l) noexcept { core_->carry(l); }
void fabric::set_bit_error_rate(u32 node, unsigned port, double rate) { core_->set_bit_error_rate(node, port, rate); }
void fabric::set_pma(u32 node, u8 capabilities) noexcept { core_->set_pma(node, capabilities); }
void fabric::set_tick(u32 node, u8 tick) noexcept { core_->set_tick(node, tick); }
void fabric::carry_from(u32 node, unsigned port, double utilization, double congestion) {
    core_->carry_from(node, port, utilization, congestion);
}
void fabric::set_congestion_control(u32 node, bool has_it) noexcept { core_->set_congestion_control(node, has_it); }
void fabric::log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventSwitch& e) {
    core_->log_congestion(node, port, e);
}
void fabric::log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventCA& e) {
    core_->log_congestion(node, port, e);
}
void fabric::set_manager(u32 node, unsigned port, iba::SMState state, u8 priority) {
    core_->set_manager(node, port, state, priority);
}
void fabric::set_keys(u64 key) { core_->set_keys(key); }
void fabric::set_adaptive_routing(u32 node, bool is_on) { core_->set_adaptive_routing(node, is_on); }
void fabric::spread_routes() { core_->spread_routes(); }

const node_counters& fabric::counters(u32 node) const noexcept { return core_->counters(node); }
const fabric_counters& fabric::counters() const noexcept { return core_->counters(); }
unsigned fabric::most_held() const noexcept { return core_->most_held(); }

void fabric::advance(mad::time_point now) noexcept { core_->advance(now); }
std::optional<mad::time_point> fabric::next_event() const noexcept { return core_->next_event(); }
std::optional<mad::time_point> fabric::next_change() const noexcept { return core_->next_change(); }
bool fabric::has_message(u32 endpoint) const noexcept { return core_->has_message(endpoint); }

} // namespace comad::transports::sim
