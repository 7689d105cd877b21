// SPDX-License-Identifier: MIT
// kernel_port.cpp - sends, their timeouts, and the delivery of received MADs (Linux, drivers/infiniband/core: mad.c, mad_rmpp.c).
#include "../kernel_rules.hpp"
#include <comad/iba/detail/smp/format.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/server/detail/reply.hpp>
#include <comad/transports/detail/vumad/kernel_port.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <endian.h>
#include <limits>
#include <rdma/ib_user_mad.h>
#include <utility>

namespace comad::transports::vumad {
namespace {

using iba::MADHeader;
using iba::MgmtClass;
using kernel_header = ib_user_mad_hdr;

constexpr std::size_t buffer_size = mad::headroom + 1024; // malformed messages can be longer than a MAD
constexpr std::size_t most_origins = 65536;
constexpr mad::duration linger = std::chrono::seconds(10); // a receiver repeats its last ACK for this time (Linux)
constexpr u32 longest_ack_timeout_ms = 2000;               // replaces longer values and 0 (Linux)
constexpr u16 unsupported = 0x0c;

u64 tid_of(const u8* mad) noexcept { return iba::get<&MADHeader::transactionID>(mad); }
MgmtClass class_of(std::span<const u8> mad) noexcept { return iba::get<&MADHeader::mgmtClass>(mad.data()); }
/// Returns the path of a packet of the device. The MAD itself contains a directed route. QP1 has one Q_Key,
/// regardless of the packet's Q_Key (Linux, mad.c). The source is the base LID: programs write the low bits of their
/// LID as path bits, and only a device that knows its LMC can select the valid bits.
mad::IBPath path_of(const kernel_header& h) {
    mad::IBPath path;
    path.DLID = iba::lid{be16toh(h.lid)};
    path.SLID = path.DLID == iba::permissive_lid ? iba::permissive_lid : iba::lid{};
    path.SL = h.sl;
    path.dqpn = be32toh(h.qpn);
    path.pkey_index = std::min<u16>(h.pkey_index, path.look_up - 1); // a device accepts every index
    if (h.grh_present) {
        path.has_grh = true;
        path.SGID_index = h.gid_index;
        path.hop_limit = h.hop_limit;
        path.traffic_class = h.traffic_class;
        path.flow_label = be32toh(h.flow_label);
        std::memcpy(path.DGID.bytes.data(), h.gid, sizeof h.gid);
    }
    return path;
}

bool is_from(const mad::any_path& path, const mad::source_address& source) noexcept {
    const auto& to = std::get<mad::IBPath>(path);
    return to.DLID == source.SLID && to.has_grh == source.has_grh && (!to.has_grh || to.DGID == source.SGID);
}
bool is_same(const mad::source_address& a, const mad::source_address& b) noexcept {
    return a.SLID == b.SLID && a.has_grh == b.has_grh && (!a.has_grh || a.SGID == b.SGID);
}

/// Returns whether two MADs have the same class, method and transaction ID, and thus belong to one transfer.
bool is_of_one_transfer(const u8* a, const u8* b) noexcept {
    return a[1] == b[1] && iba::get<&MADHeader::method>(a) == iba::get<&MADHeader::method>(b) && tid_of(a) == tid_of(b);
}

/// Returns whether an end port's SMI rejects an outgoing SMP (IBA 14.2.2.2, C14-9 and C14-13; Linux, smi.c,
/// smi_handle_dr_smp_send(); mad.c, handle_outgoing_dr_smp(), which checks nothing at the start of a LID-routed
/// part). `port`: 0 for a switch.
bool is_refused_by_smi(const u8* smp, unsigned port) noexcept {
    using directed_header = iba::MADHeaderDirected;
    using iba::smp::FormatDirected;
    const unsigned hops = iba::get<&directed_header::hopCount>(smp), at = iba::get<&directed_header::hopPointer>(smp);
    if (hops > mad::IBDRPath::max_hops) return true;
    const bool is_switch = port == 0, returns = iba::get<&directed_header::D>(smp);
    const bool has_slid = iba::get<&FormatDirected::drSLID>(smp) != iba::permissive_lid;
    const bool has_dlid = iba::get<&FormatDirected::drDLID>(smp) != iba::permissive_lid;
    if (returns ? has_dlid : has_slid) return false;
    const auto leaves_by = [&](std::size_t path, unsigned hop) { return is_switch || smp[path + hop] == port; };
    if (returns) {
        if (hops != 0 && at == hops + 1) return !leaves_by(iba::offset_of<&FormatDirected::returnPath>, hops);
        if (at >= 2 && at <= hops) return !is_switch;
        if (at == 1) return !is_switch && has_slid;
        return at != 0;
    }
    if (hops != 0 && at == 0) return !leaves_by(iba::offset_of<&FormatDirected::initialPath>, 1);
    if (at != 0 && at < hops) return !is_switch;
    if (at == hops) return !is_switch && has_dlid;
    return at != hops + 1;
}

} // namespace

static_assert(sizeof(kernel_header) == 64);

kernel_port::kernel_port(port_place place, mad::duration tick)
    : place_(std::move(place)), tick_(tick), buffer_(buffer_size) {}

kernel_port::~kernel_port() = default;

std::unique_ptr<kernel_port::file> kernel_port::open() {
    std::unique_ptr<file> opened(new file(*this));
    files_.push_back(opened.get());
    return opened;
}

bool kernel_port::claim_sm() {
    if (std::exchange(has_sm_, true)) return false;
    if (place_.set_is_sm) place_.set_is_sm(true);
    return true;
}

void kernel_port::give_up_sm() {
    if (std::exchange(has_sm_, false) && place_.set_is_sm) place_.set_is_sm(false);
}

// ---- Agents --------------------------------------------------------------------------------------------------------

/// Adds an agent. Returns null and sets `error` if the fabric delivers such requests to another endpoint.
kernel_port::agent* kernel_port::add_agent(file& owner, u32 id, const mad::registration& what, bool is_smi,
                                           bool has_user_rmpp, int& error) {
    if (what.methods != 0) {
        mad::registration single = what;
        single.rmpp = false;
        error = place_.carrier->serve(single);
        if (error != 0 && error != EOPNOTSUPP) return nullptr; // EOPNOTSUPP: the carrier has no registration
    }
    error = 0;
    agent& added = agents_.emplace_back();
    added.owner = &owner;
    added.id = id;
    added.number = free_number();
    added.what = what;
    added.is_smi = is_smi;
    added.has_rmpp = what.rmpp;
    added.has_user_rmpp = has_user_rmpp;
    return &added;
}

/// Returns an unused number. Some fabrics preserve only the lower 16 bits of the upper half of a transaction ID.
u16 kernel_port::free_number() noexcept {
    const auto is_taken = [this](u16 n) { return std::ranges::find(agents_, n, &agent::number) != agents_.end(); };
    do ++last_number_;
    while (last_number_ == 0 || is_taken(last_number_));
    return last_number_;
}

void kernel_port::remove(agent& a) {
    if (a.what.methods != 0 && place_.unserve) place_.unserve(a.what);
    while (!a.outstanding.empty()) end(a, a.outstanding.begin());
    std::erase_if(agents_, [&](const agent& x) { return &x == &a; });
}

bool kernel_port::is_served(const mad::registration& what) const noexcept {
    return std::ranges::any_of(agents_, [&](const agent& a) {
        return a.what.mgmt_class == what.mgmt_class && a.what.class_version == what.class_version &&
               a.what.OUI == what.OUI && (a.what.methods & what.methods) != 0;
    });
}

kernel_port::agent* kernel_port::agent_for(std::span<const u8> mad) noexcept {
    const bool is_response = mad::is_response(mad);
    const auto number = static_cast<u16>(tid_of(mad.data()) >> 32);
    const auto found = std::ranges::find_if(agents_, [&](const agent& a) {
        return is_response ? a.number == number : a.what.methods != 0 && mad::describes(a.what, mad);
    });
    return found == agents_.end() ? nullptr : &*found;
}

// ---- Sending -------------------------------------------------------------------------------------------------------

/// Sends a MAD or message that a program wrote. Returns 0 or an errno.
int kernel_port::post(agent& a, const packet_header& header, std::span<const u8> given) {
    const MgmtClass mgmt_class = class_of(given);
    const bool is_rmpp_message = a.has_kernel_rmpp() && mad::is_rmpp(given);
    if (a.has_rmpp && !mad::has_rmpp(mgmt_class)) return EINVAL;
    if (given.size() > mad::mad_size && !is_rmpp_message) return EINVAL;
    if (mgmt_class == MgmtClass::SubnDirected && is_refused_by_smi(given.data(), place_.port)) return EINVAL;

    kernel_header h;
    std::memcpy(&h, header.data(), sizeof h);
    sent s{.tid = tid_of(given.data()),
           .mgmt_class = value(mgmt_class),
           .is_response = mad::is_response(given),
           .header = header,
           .mad_header = {},
           .timeout_ms = h.timeout_ms,
           .repetitions = h.retries,
           .packet = {path_of(h), mad::any_agent}};
    if (!s.is_response) s.tid = u64{a.number} << 32 | static_cast<u32>(s.tid);
    const iba::lid DLID = mad::headers_of(s.packet.path).DLID;
    if (s.is_response) s.packet.answers = origin_of(given, DLID);
    const bool is_segment = a.has_user_rmpp && mad::is_rmpp(given); // one of many MADs with this transaction ID
    if (!is_segment && is_duplicate(a, s.tid, given, DLID)) return EINVAL;

    const std::span<u8, mad::mad_size> mad = s.packet.mad();
    std::copy_n(given.begin(), std::min(given.size(), mad.size()), mad.begin());
    iba::put<&MADHeader::transactionID>(mad.data(), s.tid);
    std::copy_n(mad.begin(), mad_header_size, s.mad_header.begin());
    ++counters_.written;

    if (is_rmpp_message) { // the other fields of its RMPP header are ignored
        std::vector<u8> message(given.begin(), given.end());
        iba::put<&MADHeader::transactionID>(message.data(), s.tid);
        const u32 requested_ms = s.timeout_ms;
        const u32 each =
            requested_ms == 0 || requested_ms > longest_ack_timeout_ms ? longest_ack_timeout_ms : requested_ms;
        mad::rmpp_sender_options options;
        options.timing = {
            .response = std::chrono::milliseconds(each), .retries = s.repetitions, .total = mad::duration::max()};
        options.double_sided = mad::is_table_method(iba::get<&MADHeader::method>(message.data()));
        s.transfer.emplace(std::move(message), mad::payload_offset(mgmt_class), now_, options);
        keep(a, std::move(s));
    } else {
        outbox_.push_back(s.packet);
        if (s.timeout_ms != 0) keep(a, std::move(s));
    }
    work();
    return 0;
}

bool kernel_port::is_duplicate(const agent& a, u64 tid, std::span<const u8> mad, iba::lid DLID) const {
    const auto [first, last] = a.by_tid.equal_range(static_cast<u32>(tid));
    return std::any_of(first, last, [&](const auto& known) {
        const sent& s = *known.second;
        if (s.tid != tid || s.mgmt_class != value(class_of(mad)) || s.is_response != mad::is_response(mad))
            return false;
        return !s.is_response || mad::headers_of(s.packet.path).DLID == DLID;
    });
}

void kernel_port::keep(agent& a, sent&& s) {
    const auto kept = a.outstanding.insert(a.outstanding.end(), std::move(s));
    kept->timer = timers_.end();
    a.by_tid.emplace(static_cast<u32>(kept->tid), kept);
    counters_.most_outstanding = std::max(counters_.most_outstanding, ++outstanding_);
    if (kept->transfer) settle(a, kept);
    else schedule(a, kept, kernel_rules::end_of(now_, kept->timeout_ms, tick_));
}

void kernel_port::schedule(agent& a, sends::iterator s, mad::time_point when) {
    if (s->timer != timers_.end()) timers_.erase(s->timer);
    s->timer = timers_.emplace(when, timer{&a, s});
}

void kernel_port::end(agent& a, sends::iterator s) {
    const auto [first, last] = a.by_tid.equal_range(static_cast<u32>(s->tid));
    a.by_tid.erase(std::find_if(first, last, [&](const auto& known) { return known.second == s; }));
    if (s->timer != timers_.end()) timers_.erase(s->timer);
    a.outstanding.erase(s);
    --outstanding_;
}

void kernel_port::report(agent& a, sends::iterator s) {
    std::vector<u8> packet(s->header.begin(), s->header.end());
    kernel_header h;
    std::memcpy(&h, packet.data(), sizeof h);
    h.status = ETIMEDOUT;
    std::memcpy(packet.data(), &h, sizeof h);
    packet.insert(packet.end(), s->mad_header.begin(), s->mad_header.end());
    ++counters_.timed_out;
    end(a, s);
    a.owner->put(std::move(packet));
}

void kernel_port::expire() {
    while (!timers_.empty() && timers_.begin()->first <= now_) {
        const timer due = timers_.begin()->second;
        sent& s = *due.which;
        if (s.transfer && s.transfer->state() == mad::rmpp_state::more) {
            ++counters_.repeated;
            s.transfer->on_time(now_);
            settle(*due.of, due.which);
        } else if (!s.transfer && s.repetitions > 0) {
            --s.repetitions;
            ++counters_.repeated;
            outbox_.push_back(s.packet);
            schedule(*due.of, due.which, kernel_rules::end_of(now_, s.timeout_ms, tick_));
        } else {
            report(*due.of, due.which);
        }
    }
    for (agent& a : agents_) {
        for (incoming& i : a.arriving) {
            if (i.transfer.next_deadline() <= now_) i.transfer.on_time(now_);
            settle(a, i);
        }
        std::erase_if(a.arriving, [&](const incoming& i) { return i.ended && *i.ended + linger <= now_; });
    }
}

/// Processes the state of a transfer after any change.
void kernel_port::settle(agent& a, sends::iterator s) {
    while (s->transfer->has_packet()) {
        outgoing& next = outbox_.emplace_back(outgoing{s->packet.path, s->packet.answers});
        s->transfer->next_packet(next.mad(), now_);
    }
    switch (s->transfer->state()) {
    case mad::rmpp_state::more: return schedule(a, s, s->transfer->next_deadline());
    case mad::rmpp_state::complete:
        // A message with a timeout is a request; from now on, it waits for its reply.
        if (s->timeout_ms == 0) break;
        if (!std::exchange(s->is_acknowledged, true)) schedule(a, s, kernel_rules::end_of(now_, s->timeout_ms, tick_));
        return;
    case mad::rmpp_state::failed:
        if (s->transfer->failed_by_peer()) break; // only a missing reply is reported
        return report(a, s);
    }
    end(a, s);
}

// ---- Receiving -----------------------------------------------------------------------------------------------------

void kernel_port::set_now(mad::time_point now) {
    now_ = std::max(now_, now);
    place_.carrier->set_now(now_);
    work();
    expire();
    work();
}

/// Sends and receives until nothing happens: a received MAD may cause a send, which may cause an immediate arrival.
void kernel_port::work() {
    for (bool is_busy = true; is_busy;) {
        const bool has_sent = flush();
        is_busy = take_arrivals() || has_sent;
    }
}

bool kernel_port::take_arrivals() {
    bool has_taken = false;
    while (gone_ == 0) {
        const mad::received r = place_.carrier->receive(buffer_);
        if (r.state == mad::receive_state::would_block) break;
        has_taken = true;
        if (r.state == mad::receive_state::message) {
            ++counters_.received;
            take(r);
            continue;
        }
        gone_ = r.error != 0 ? r.error : EIO;
        for (file* f : files_)
            if (f->on_arrival_) f->on_arrival_();
    }
    return has_taken;
}

void kernel_port::take(const mad::received& r) {
    // Some fabrics report undeliverable MADs at once; a real fabric leaves them to the timeout.
    const bool is_whole = r.status == 0 && r.mad.size() == r.full_size;
    const bool is_table = is_whole && r.mad.size() < mad::mad_size && mad::is_rmpp(r.mad); // carried whole
    const bool is_mad = (is_whole && r.mad.size() == mad::mad_size) || is_table;
    if (!is_mad || iba::get<&MADHeader::baseVersion>(r.mad.data()) != 1) {
        ++counters_.dropped;
        return;
    }
    agent* const to = agent_for(r.mad);
    if (!to) {
        ++counters_.dropped;
        return answer_unserved(r);
    }
    if (!mad::is_response(r.mad)) remember_origin(r);
    if (to->has_kernel_rmpp() && mad::is_rmpp(r.mad) && !is_table) take_segment(*to, r);
    else complete(*to, r.source, {r.mad.begin(), r.mad.end()});
}

void kernel_port::take_segment(agent& a, const mad::received& r) {
    for (auto [at, last] = a.by_tid.equal_range(mad::low_tid(r.mad.data())); at != last;) {
        const sends::iterator s = (at++)->second;
        if (!s->transfer || !is_from(s->packet.path, r.source)) continue;
        s->transfer->feed(r.mad, now_);
        settle(a, s);
    }
    const auto known = std::ranges::find_if(a.arriving, [&](const incoming& i) {
        return is_same(i.source, r.source) && is_of_one_transfer(i.begin.data(), r.mad.data());
    });
    if (known != a.arriving.end()) {
        known->transfer.feed(r.mad, now_);
        return settle(a, *known);
    }
    if (!mad::rmpp_receiver::begins(r.mad)) return;
    incoming& added = a.arriving.emplace_back(
        incoming{mad::rmpp_receiver(r.mad, mad::payload_offset(class_of(r.mad)), now_), r.source, {}});
    std::copy_n(r.mad.begin(), mad_header_size, added.begin.begin());
    settle(a, added);
}

void kernel_port::settle(agent& a, incoming& i) {
    while (i.transfer.has_packet()) {
        outgoing& next = outbox_.emplace_back(outgoing{mad::path_back(i.source), i.source.agent});
        i.transfer.next_packet(next.mad());
    }
    if (i.ended || i.transfer.state() == mad::rmpp_state::more) return;
    i.ended = now_;
    if (i.transfer.state() == mad::rmpp_state::complete) complete(a, i.source, i.transfer.take_message());
    else ++counters_.dropped;
}

/// Delivers a whole message. A reply ends its request.
void kernel_port::complete(agent& a, const mad::source_address& source, std::vector<u8> message) {
    if (!mad::is_response(message)) return deliver(a, source, message);
    const auto [first, last] = a.by_tid.equal_range(mad::low_tid(message.data()));
    const auto found = std::find_if(first, last, [&](const auto& known) {
        const sent& s = *known.second;
        return !s.is_response && s.timeout_ms != 0 && s.mgmt_class == message[1];
    });
    if (found != last) {
        iba::put<&MADHeader::transactionID>(message.data(), found->second->tid); // fabrics may change it
        end(a, found->second);
    } else if (!a.has_user_rmpp || !mad::is_rmpp(message)) {
        ++counters_.dropped;
        return;
    }
    deliver(a, source, message);
}

void kernel_port::deliver(agent& a, const mad::source_address& source, std::span<const u8> message) {
    kernel_header h{};
    h.id = a.id;
    h.length = static_cast<u32>(a.owner->header_bytes() + message.size());
    h.qpn = htobe32(source.sqpn);
    h.lid = htobe16(value(source.SLID));
    h.sl = source.SL;
    h.path_bits = source.path_bits;
    h.pkey_index = source.pkey_index;
    if (source.has_grh) {
        h.grh_present = 1;
        h.gid_index = source.SGID_index;
        h.hop_limit = 255; // hop limit of replies (Linux, ib_init_ah_attr_from_wc())
        h.traffic_class = source.traffic_class;
        h.flow_label = htobe32(source.flow_label);
        std::memcpy(h.gid, source.SGID.bytes.data(), sizeof h.gid);
    }
    std::vector<u8> packet(sizeof h + message.size());
    std::memcpy(packet.data(), &h, sizeof h);
    std::copy(message.begin(), message.end(), packet.begin() + sizeof h);
    a.owner->put(std::move(packet));
}

void kernel_port::answer_unserved(const mad::received& r) {
    const iba::Method method = iba::get<&MADHeader::method>(r.mad.data());
    if (method != iba::Method::Get && method != iba::Method::Set) return;
    outgoing& answer = outbox_.emplace_back(outgoing{mad::path_back(r.source), r.source.agent});
    std::copy(r.mad.begin(), r.mad.end(), answer.mad().begin());
    if (!server::turn_into_reply(answer.mad(), unsupported)) outbox_.pop_back();
}

// ---- Matching replies to requests ----------------------------------------------------------------------------------

namespace {

u64 key_of(const u8* mad, iba::lid LID) noexcept {
    return (tid_of(mad) * 0x9e37'79b9'7f4a'7c15) ^ (u64{mad[1]} << 16 | value(LID));
}

} // namespace

void kernel_port::remember_origin(const mad::received& r) {
    if (r.source.agent == mad::any_agent) return;
    const u64 key = key_of(r.mad.data(), r.source.SLID);
    if (origins_.insert_or_assign(key, r.source.agent).second) origins_by_age_.push_back(key);
    if (origins_by_age_.size() <= most_origins) return;
    origins_.erase(origins_by_age_.front());
    origins_by_age_.pop_front();
}

u32 kernel_port::origin_of(std::span<const u8> response, iba::lid DLID) const {
    const auto known = origins_.find(key_of(response.data(), DLID));
    return known == origins_.end() ? mad::any_agent : known->second;
}

// ---- The carrier -----------------------------------------------------------------------------------------------------

/// Sends waiting MADs. Returns true if the carrier accepted any. A rejected MAD is lost, as on a link.
bool kernel_port::flush() {
    bool has_sent = false;
    for (; !outbox_.empty(); outbox_.pop_front(), has_sent = true) {
        outgoing& next = outbox_.front();
        u8* const mad = next.mad().data();
        const mad::send_request request{.path = &next.path,
                                        .mad = mad,
                                        .size = mad::mad_size,
                                        .mgmt_class = mad[1],
                                        .class_version = mad[2],
                                        .expects_reply = false,
                                        .attempt_timeout = {},
                                        .operation_timeout = {},
                                        .agent = next.answers};
        const mad::send_state state = place_.carrier->send(request).state;
        if (state == mad::send_state::would_block) break;
        counters_.sent += state == mad::send_state::sent;
    }
    return has_sent;
}

std::optional<mad::time_point> kernel_port::next_event() const noexcept {
    mad::time_point next = timers_.empty() ? mad::time_point::max() : timers_.begin()->first;
    for (const agent& a : agents_)
        for (const incoming& i : a.arriving) next = std::min(next, i.transfer.next_deadline());
    if (const auto event = place_.carrier->next_event()) next = std::min(next, *event);
    if (next == mad::time_point::max()) return std::nullopt;
    return next;
}

} // namespace comad::transports::vumad
