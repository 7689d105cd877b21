// SPDX-License-Identifier: MIT
// fabric_core.cpp - the events of a simulated subnet: a request arrives, is served, and its reply is delivered.
#include "fabric_core.hpp"

#include "agents.hpp"
#include "rates.hpp"
#include "router.hpp"
#include "scripts.hpp"
#include "sma.hpp"
#include "split_mix.hpp"
#include "traps.hpp"
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/rmpp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/server/detail/reply.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace comad::transports::sim {
namespace {

using header = iba::MADHeader;

constexpr unsigned most_garbage = 400; // bytes: larger than a MAD and than a receive buffer

/// Counts the last hop of a directed route, from the SMI to the SMA or SM (IBA 14.2.2.2, C14-9; Linux, smi.c).
void arrive_at_end(std::span<u8, mad::mad_size> smp) noexcept {
    using directed_header = iba::MADHeaderDirected;
    const unsigned hops = iba::get<&directed_header::hopCount>(smp.data());
    iba::put<&directed_header::hopPointer>(smp.data(), static_cast<u8>(hops + 1));
}

/// Returns the number of MADs of a message of the SA.
unsigned packets_of(std::size_t size) noexcept {
    constexpr std::size_t header_size = 56;
    if (size <= mad::mad_size) return 1;
    return static_cast<unsigned>((size - header_size + mad::mad_size - header_size - 1) /
                                 (mad::mad_size - header_size));
}

} // namespace

fabric_core::fabric_core(topology t, const timing& times, const faults& wrong)
    : topology_(std::move(t)), timing_(times), faults_(wrong), random_state_(wrong.seed),
      agents_(std::make_unique<agents>(topology_, wrong.counter_seed)),
      router_(std::make_unique<router>(topology_, agents_->subnet().tables_written())),
      scripts_(std::make_unique<scripts>()), nodes_(topology_.nodes.size()) {
    for (node_state& n : nodes_) n.service_time = times.service_time;
}

fabric_core::~fabric_core() = default;

// ---- Changes ----

void fabric_core::apply(const topology_event& c) { apply_event(c, now_); }

void fabric_core::apply_event(const topology_event& c, mad::time_point when) {
    switch (c.what) {
    case topology_event::kind::cut: cut(c.node, c.port); break;
    case topology_event::kind::restore: restore(c.node, c.port); break;
    case topology_event::kind::kill: router_->set_mute(c.node, true); break;
    case topology_event::kind::revive: router_->set_mute(c.node, false); break;
    case topology_event::kind::sweep:
        agents_->subnet().sweep([this](u32 node) { return router_->is_mute(node); });
        if (agents_->subnet().take_changed()) router_->topology_changed();
        break;
    }
    agents_->count_link_changes(when);
    send_reports();
}

void fabric_core::cut(u32 node, unsigned port) {
    const auto& end = topology_.nodes[node].ports[port];
    if (!end.linked()) return;
    const cut_cable cable{node, port, end.peer_node, end.peer_port};
    cut_cables_.push_back(cable);
    agents_->subnet().link_goes_down(node, port);
    topology_.unlink(node, port);
    cable_changed(cable);
}

void fabric_core::restore(u32 node, unsigned port) noexcept {
    const auto found = std::find_if(cut_cables_.begin(), cut_cables_.end(), [&](const cut_cable& c) {
        return (c.a == node && c.port_a == port) || (c.b == node && c.port_b == port);
    });
    if (found == cut_cables_.end()) return;
    const cut_cable cable = *found;
    cut_cables_.erase(found);
    topology_.link(cable.a, cable.port_a, cable.b, cable.port_b);
    cable_changed(cable);
}

void fabric_core::cable_changed(const cut_cable& cable) noexcept {
    agents_->subnet().cable_changed(cable.a, cable.port_a, cable.b);
    router_->topology_changed();
}

void fabric_core::plan(const timed_change& c) {
    const auto later = [](mad::time_point t, const timed_change& x) { return t >= x.when; };
    changes_.insert(std::upper_bound(changes_.begin(), changes_.end(), c.when, later), c);
}

void fabric_core::apply_at(mad::time_point when, const topology_event& c) {
    plan({when, c, mad::duration{0}});
    rearm_all();
}

void fabric_core::apply_every(mad::duration period, mad::time_point first, const topology_event& c) {
    plan({first, c, period});
    rearm_all();
}

/// Makes all endpoints read next_event() again, because it may be earlier now.
void fabric_core::rearm_all() const {
    for (const attachment& e : endpoints_)
        if (e.rearm) e.rearm();
}

std::optional<mad::time_point> fabric_core::next_change() const noexcept {
    if (changes_.empty()) return std::nullopt;
    return changes_.back().when;
}

void fabric_core::apply_next_change() noexcept {
    timed_change c = changes_.back();
    changes_.pop_back();
    apply_event(c.what, c.when);
    c.when += c.period;
    if (c.period.count() != 0) plan(c);
}

void fabric_core::set_bit_error_rate(u32 node, unsigned port, double rate) {
    agents_->ports().set_bit_error_rate(node, port, rate);
}
void fabric_core::spread_routes() { agents_->subnet().use_spread_routes(*router_); }

void fabric_core::carry(const load& l) noexcept { agents_->ports().carry(l, now_); }

void fabric_core::set_pma(u32 node, u8 capabilities) noexcept { agents_->set_pma(node, capabilities); }

void fabric_core::set_tick(u32 node, u8 tick) noexcept { agents_->set_tick(node, tick); }

void fabric_core::carry_from(u32 node, unsigned port, double utilization, double congestion) {
    const sim::node& from = topology_.nodes[node];
    const double bits = data_bits_per_second(from.ports[port].active);
    const double lanes = is_tick_of_link(from) ? 1 : lanes_of(from.ports[port].active);
    const double bytes_of_tick = (agents_->tick(node) + 1) * lanes;
    const double ticks = bits > 0 ? congestion * bits / 8 / bytes_of_tick : 0; // a link that is down has no lanes
    agents_->ports().carry_from(node, port, {utilization * bits / 8, ticks, now_});
}

void fabric_core::set_congestion_control(u32 node, bool has_it) noexcept {
    agents_->congestion().set_present(node, has_it);
}
void fabric_core::log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventSwitch& e) {
    agents_->congestion().at(node, 0).log(port, e, now_);
}
void fabric_core::log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventCA& e) {
    agents_->congestion().at(node, port).log(e, now_);
}

void fabric_core::set_manager(u32 node, unsigned port, iba::SMState state, u8 priority) {
    agents_->subnet().set_manager(node, static_cast<u8>(port), state, priority);
}
void fabric_core::set_keys(u64 key) { agents_->set_keys(key); }
void fabric_core::set_adaptive_routing(u32 node, bool is_on) { agents_->subnet().set_adaptive_routing(node, is_on); }

void fabric_core::set_service_time(u32 node, mad::duration time) noexcept { nodes_[node].service_time = time; }
void fabric_core::set_loss(double share) noexcept { faults_.request_loss = faults_.reply_loss = share; }
void fabric_core::set_loss(u32 node, double share) noexcept { nodes_[node].loss = share; }

void fabric_core::answer(u32 node, iba::MgmtClass mgmt_class, u16 attributeID, scripted_answer answer) {
    scripts_->answer({node, mgmt_class, attributeID}, std::move(answer));
}
void fabric_core::change_replies(u32 node, iba::MgmtClass mgmt_class, u16 attributeID, reply_change change) {
    scripts_->change_replies({node, mgmt_class, attributeID}, std::move(change));
}

unsigned fabric_core::most_held() const noexcept {
    unsigned most = 0;
    for (const node_state& n : nodes_) most = std::max(most, n.counters.most_held);
    return most;
}

// ---- Packets and events ----

u32 fabric_core::new_packet() noexcept {
    if (free_ == none) {
        packets_.emplace_back();
        return static_cast<u32>(packets_.size() - 1);
    }
    return std::exchange(free_, packets_[free_].next);
}

u32 fabric_core::copy_of(u32 original) noexcept {
    const u32 copy = new_packet();
    packets_[copy] = packets_[original];
    return copy;
}

void fabric_core::free(u32 index) noexcept {
    packets_[index].whole = {};
    packets_[index].next = std::exchange(free_, index);
}

/// Counts a packet as undelivered and removes it.
void fabric_core::drop(u32 index) noexcept {
    ++counters_.undelivered;
    free(index);
}

void fabric_core::schedule(mad::time_point when, stage what, u32 index) noexcept {
    events_.push_back({when, sequence_++, index, what});
    std::push_heap(events_.begin(), events_.end());
}

// Changes matter only with subscriptions; without them no endpoint can notice a change.
std::optional<mad::time_point> fabric_core::next_event() const noexcept {
    const auto change = agents_->has_subscribers() ? next_change() : std::nullopt;
    if (events_.empty()) return change;
    const mad::time_point of_packets = events_.front().when;
    return change ? std::min(*change, of_packets) : of_packets;
}

void fabric_core::advance(mad::time_point now) noexcept {
    const auto is_due = [now](std::optional<mad::time_point> t) { return t && *t <= now; };
    for (;;) {
        const auto change = next_change();
        const auto of_packets = events_.empty() ? std::nullopt : std::optional(events_.front().when);
        if (is_due(change) && (!of_packets || *change <= *of_packets)) { // before events of MADs at that time
            now_ = std::max(now_, *change);
            apply_next_change();
        } else if (is_due(of_packets)) {
            std::pop_heap(events_.begin(), events_.end());
            const event e = events_.back();
            events_.pop_back();
            now_ = std::max(now_, e.when);
            advance_packet(e);
            send_traps();
            send_reports();
        } else break;
    }
    now_ = std::max(now_, now);
}

void fabric_core::advance_packet(const event& e) noexcept {
    switch (e.what) {
    case stage::arrival: on_arrival(e.packet); break;
    case stage::service: on_service(e.packet); break;
    case stage::delivery: on_delivery(e.packet); break;
    case stage::report: on_report(e.packet); break;
    case stage::passage: on_passage(e.packet); break;
    case stage::passed: on_passed(e.packet); break;
    }
}

// ---- The stages of a MAD ----

bool fabric_core::is_smp(const packet& p) noexcept {
    const auto mgmt_class = iba::get<&header::mgmtClass>(p.mad.data());
    return mgmt_class == iba::MgmtClass::SubnLID || mgmt_class == iba::MgmtClass::SubnDirected;
}

/// Returns the service level; nullopt: an SMP, which uses VL 15.
std::optional<u8> fabric_core::service_level(const packet& p) noexcept {
    return is_smp(p) ? std::nullopt : std::optional(p.headers.SL);
}

void fabric_core::hold(packet& p, std::span<const u8> message) noexcept {
    p.size = static_cast<unsigned>(message.size());
    const bool is_one_mad = message.size() == mad::mad_size;
    if (is_one_mad) p.whole.clear();
    else p.whole.assign(message.begin(), message.end());
    if (!is_one_mad) p.mad = {};
    std::memcpy(p.mad.data(), message.data(), std::min(message.size(), p.mad.size()));
}

void fabric_core::send(u32 from, const mad::any_path& path, std::span<const u8> message, u32 answers) noexcept {
    ++counters_.sent;
    const attachment& e = endpoints_[from];
    const u32 index = new_packet();
    packet& p = packets_[index];
    hold(p, message);
    p.endpoint = from;
    p.garbage_seed = 0;
    p.is_request = false;
    p.hops_before = 0;
    p.headers = headers_of(e, path);
    p.is_directed = iba::get<&header::mgmtClass>(p.mad.data()) == iba::MgmtClass::SubnDirected;
    const bool has_route = answers == mad::any_agent ? send_request(p) : send_answer(p, answers);
    if (!has_route) return drop(index);
    if (p.hops != 0) agents_->ports().count_sent(e.node, e.port, packets_of(p.size));
    if (answers == mad::any_agent) travel(index, stage::arrival, faults_.request_loss);
    else travel(index, stage::delivery, faults_.reply_loss);
}

/// Routes a request. Returns false if no route exists.
bool fabric_core::send_request(packet& p) noexcept {
    const attachment& e = endpoints_[p.endpoint];
    const router::node_port here{e.node, e.port};
    if (iba::get<&header::baseVersion>(p.mad.data()) != 1) return false;
    if (!is_smp(p) && p.headers.pkey == 0) return false; // a port sends only P_Keys of its table
    std::optional<router::directed_stop> to;
    if (p.is_directed) {
        to = router_->by_route(here, p.headers.DLID, p.mad.data());
    } else if (is_smp(p) || p.headers.DLID != iba::permissive_lid) {
        if (const auto stop = router_->by_lid(here, p.headers.DLID, service_level(p))) to = {*stop, 0, 0};
    }
    if (!to) return false;
    p.node = to->end.node;
    p.port = to->end.port;
    p.hops = to->end.hops;
    p.route_begin = to->begin_node;
    p.route_end = to->end_node;
    p.hops_before = to->hops_before;
    return true;
}

/// Routes a reply of a serving endpoint to the requester. Returns false if no route exists.
bool fabric_core::send_answer(packet& p, u32 to) noexcept {
    if (to >= endpoints_.size()) return false;
    if (p.is_directed) return send_directed_answer(p, to);
    const attachment& from = endpoints_[p.endpoint];
    const attachment& home = endpoints_[to];
    const auto way = router_->by_lid({from.node, from.port}, p.headers.DLID, service_level(p));
    if (!way || way->node != home.node || (!is_smp(p) && p.headers.pkey == 0)) return false;
    p.endpoint = to;
    p.node = from.node;
    p.port = from.port;
    p.hops = way->hops;
    return true;
}

/// Sends a packet unless it is lost, and twice if it is duplicated.
void fabric_core::travel(u32 index, stage what, double loss) noexcept {
    if (chance(loss) || chance(nodes_[packets_[index].node].loss)) {
        ++counters_.lost;
        free(index);
        return;
    }
    if (chance(faults_.duplicate)) {
        ++counters_.duplicated;
        depart(copy_of(index), what);
    }
    depart(index, what);
}

void fabric_core::depart(u32 index, stage what) noexcept {
    mad::time_point when = now_ + timing_.delay;
    if (chance(faults_.reorder)) {
        ++counters_.reordered;
        when += up_to(faults_.reorder_delay);
    }
    packet& p = packets_[index];
    if (p.is_directed && p.hops != 0 && timing_.transit.count() != 0) {
        set_out(p, what);
        go_on(index, when);
    } else {
        schedule(when + crossing(p.hops), what, index);
    }
}

mad::duration fabric_core::crossing(unsigned cables) noexcept {
    mad::duration takes = timing_.hop_delay * cables;
    for (unsigned i = 0; i < cables; ++i) takes += up_to(timing_.jitter);
    return takes;
}

void fabric_core::on_arrival(u32 index) noexcept {
    const packet& p = packets_[index];
    if (router_->is_mute(p.node)) return drop(index);
    if (p.hops != 0) agents_->ports().count_received(p.node, p.port);
    if (!is_taken(p, p.node, p.port)) {
        ++counters_.refused;
        return free(index);
    }
    node_state& n = nodes_[p.node];
    if (!is_smp(p)) {
        n.gmp_busy_until = std::max(n.gmp_busy_until, now_) + n.service_time;
        schedule(n.gmp_busy_until, stage::service, index);
        return;
    }
    occupy(index, p.node, p.port, n.service_time, stage::service);
}

/// Queues an SMP at a node that processes it for `how_long`. If the buffer is full, the SMP is lost.
void fabric_core::occupy(u32 index, u32 node, u8 port, mad::duration how_long, stage then) noexcept {
    node_state& n = nodes_[node];
    ++n.counters.received;
    if (timing_.buffer != 0 && n.counters.held >= timing_.buffer) {
        ++n.counters.overflowed;
        ++counters_.overflowed;
        agents_->ports().count_dropped(node, port);
        free(index);
        return;
    }
    ++n.counters.held;
    n.counters.most_held = std::max(n.counters.most_held, n.counters.held);
    n.busy_until = std::max(n.busy_until, now_) + how_long;
    schedule(n.busy_until, then, index);
}

/// Replaces the packet by the node's reply. Returns false if the node does not reply. A script can send MADs, which moves the packets.
bool fabric_core::make_reply(u32 index) noexcept {
    packet& p = packets_[index];
    if (router_->is_mute(p.node)) return false;
    if (chance(faults_.busy)) {
        ++counters_.busy;
        p.whole = {};
        p.size = mad::mad_size;
        return server::turn_into_reply(p.mad, mad_status::busy);
    }
    return scripts_->empty() ? agents_reply(p) : scripted_reply(index);
}

bool fabric_core::scripted_reply(u32 index) noexcept {
    const auto message = [&] { // a copy, because a script can send MADs
        const packet& p = packets_[index];
        return p.whole.empty() ? std::vector<u8>(p.mad.begin(), p.mad.end()) : p.whole;
    };
    const packet& request_packet = packets_[index];
    const std::vector<u8> request = message();
    const scripts::key key = scripts::key_of(request_packet.node, request);
    const u8 own_port = topology_.nodes[request_packet.node].is_switch() ? u8{0} : request_packet.port;
    const auto reply =
        scripts_->reply_to(key, request, source_of(request_packet, {request_packet.node, own_port, true}));
    if (reply && reply->empty()) return false;
    if (reply) hold(packets_[index], *reply);
    else if (!agents_reply(packets_[index])) return false;
    std::vector<u8> changed = message();
    scripts_->change(key, changed);
    hold(packets_[index], changed);
    return true;
}

/// Replaces the packet by the reply of the node's own agents.
bool fabric_core::agents_reply(packet& p) noexcept {
    if (is_smp(p)) {
        const bool is_trap = iba::get<&header::method>(p.mad.data()) == iba::Method::Trap;
        if (is_trap) return agents_->take_trap({p.node, p.port}, p.mad);
        const sma_outcome outcome = sim::answer(agents_->subnet(), p.node, p.port, p.mad, now_);
        if (outcome == sma_outcome::wrong_mkey) report_violation(p.node, p.port, bad_mkey(p.mad, p.headers.SLID));
        const bool has_reply = outcome == sma_outcome::replied;
        agents_->count_link_changes(now_);
        if (agents_->subnet().take_changed()) router_->topology_changed();
        return has_reply;
    }
    const std::span<const u8> request = p.whole.empty() ? std::span<const u8>(p.mad) : std::span<const u8>(p.whole);
    const bool is_of_transfer = mad::is_rmpp(request); // messages travel whole, without transfers
    if (is_of_transfer && iba::get<&iba::rmpp::Header::RMPPType>(request.data()) != iba::RMPPType::DATA) return false;
    const std::vector<u8> reply = agents_->answer({p.node, p.port}, p.headers.SLID, request, now_);
    if (reply.empty()) return false;
    hold(p, reply);
    return true;
}

void fabric_core::on_service(u32 index) noexcept {
    {
        packet& request = packets_[index];
        if (is_smp(request)) --nodes_[request.node].counters.held;
        if (const u32 server = server_of(request); server != none && !router_->is_mute(request.node)) {
            request.is_request = true;
            request.origin = std::exchange(request.endpoint, server);
            if (request.is_directed) arrive_at_end(request.mad);
            on_delivery(index);
            return;
        }
    }
    bool has_reply = make_reply(index);
    packet& p = packets_[index];
    if (p.endpoint == none) return free(index); // MADs of the fabric itself expect no reply here
    if (!has_reply) return drop(index);
    const attachment& home = endpoints_[p.endpoint];
    const router::node_port from{home.node, home.port};
    if (p.is_directed) {
        const router::directed_stop here{{p.node, p.port, p.hops}, p.route_begin, p.route_end};
        has_reply = router_->back_by_route(from, p.headers.DLID, here, p.mad.data());
    } else {
        has_reply = router_->back_by_lid(from, p.headers.DLID, {p.node, p.port}, p.headers.SLID, service_level(p));
    }
    if (!has_reply) return drop(index);
    turn_headers(p);
    if (p.hops != 0) agents_->ports().count_sent(p.node, p.port, packets_of(p.size));
    if (chance(faults_.garbage)) add_garbage(index);
    travel(index, stage::delivery, faults_.reply_loss);
}

void fabric_core::add_garbage(u32 reply) noexcept {
    ++counters_.garbage;
    const u32 index = copy_of(reply);
    packet& p = packets_[index];
    p.whole = {};
    if (chance(0.5)) {
        p.size = static_cast<unsigned>(random() % mad::mad_size);
    } else {
        p.size = static_cast<unsigned>(random() % (most_garbage + 1));
        p.garbage_seed = random() | 1;
    }
    schedule(now_ + timing_.delay + timing_.hop_delay * p.hops, stage::delivery, index);
}

void fabric_core::on_delivery(u32 index) noexcept {
    packet& p = packets_[index];
    attachment& e = endpoints_[p.endpoint];
    if (!e.attached) {
        free(index);
        return;
    }
    const bool is_answer = !p.is_request && p.garbage_seed == 0;
    if (p.hops != 0 && is_answer) agents_->ports().count_received(e.node, e.port, packets_of(p.size));
    if (is_answer && !is_taken(p, e.node, e.port)) {
        ++counters_.refused;
        return free(index);
    }
    p.next = none;
    if (e.first == none) {
        e.first = index;
    } else {
        packets_[e.last].next = index;
    }
    e.last = index;
}

// ---- Random decisions ----

u64 fabric_core::random() noexcept { return split_mix(random_state_); }

// Draws no number if the probability is 0. Thus enabling one fault changes the random choices of other faults as
// little as possible.
bool fabric_core::chance(double probability) noexcept {
    return probability > 0 && static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

mad::duration fabric_core::up_to(mad::duration most) noexcept {
    if (most.count() <= 0) return mad::duration{0};
    return mad::duration(static_cast<mad::duration::rep>(random() % (static_cast<u64>(most.count()) + 1)));
}

} // namespace comad::transports::sim
