// SPDX-License-Identifier: MIT
// modelled_kernel.cpp - simulates agents, timers, backlog and receive queue of the kernel's MAD stack (Linux, drivers/infiniband/core:
// user_mad.c, mad.c).
#include "modelled_kernel.hpp"

#include "kernel_rules.hpp"
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/message.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace comad::transports {
namespace {

using iba::MADHeader;
using iba::MgmtClass;
using kernel_rules::end_of, kernel_rules::least_size, kernel_rules::most_agents;

constexpr std::size_t room = 1024; // space for a MAD and the header that a transport adds

constexpr std::size_t uncapped = std::numeric_limits<std::size_t>::max();

/// Returns the limit of an agent's requests in flight in kernels that have one: a fraction of the receive queue.
constexpr std::size_t cap_of(MgmtClass c) noexcept {
    constexpr std::size_t receive_queue = 512;
    if (iba::is_smp(c) || c == MgmtClass::CommMgt) return receive_queue / 4;
    return c == MgmtClass::SubnAdm ? receive_queue / 32 : uncapped;
}

/// Returns whether a MAD counts against the limit of its agent, and waits for space in it.
bool is_capped(std::span<const u8> mad) noexcept { return cap_of(MgmtClass{mad[1]}) != uncapped && !mad::is_rmpp(mad); }

u64 tid_of(const u8* mad) noexcept { return iba::get<&MADHeader::transactionID>(mad); }

} // namespace

modelled_kernel::modelled_kernel(mad::transport& inner, const kernel_options& options)
    : inner_(inner), options_(options), has_rmpp_(inner.limits().kernel_rmpp),
      held_(options.max_held, options.timeout) {
    if (inner.native_handle() >= 0) throw std::invalid_argument("the kernel model needs a transport in virtual time");
    agents_.reserve(most_agents);
}

mad::transport_limits modelled_kernel::limits() const noexcept {
    const mad::transport_limits inner = inner_.limits();
    mad::transport_limits limits = umad_limits;
    limits.max_window = std::min(limits.max_window, inner.max_window);
    limits.sa_window = std::min(limits.sa_window, inner.sa_window);
    limits.smi = inner.smi;
    limits.smi_by_lid = inner.smi_by_lid;
    limits.kernel_rmpp = inner.kernel_rmpp;
    return limits;
}

// ---- sending -------------------------------------------------------------------------------------------------------

modelled_kernel::waiting_send::waiting_send(const mad::send_request& r)
    : path(*r.path), bytes(r.mad - mad::headroom, r.mad + r.size), request(r) {
    request.path = &path;
    request.mad = bytes.data() + mad::headroom;
}

mad::send_result modelled_kernel::send(const mad::send_request& given) noexcept {
    if (gone_) return {mad::send_state::failed, EIO};
    if (given.expects_reply && held_.is_full()) return {mad::send_state::would_block};
    const std::span<const u8> message(given.mad, given.size);
    if (given.size < least_size || (given.size > mad::mad_size && !mad::is_rmpp(message)))
        return {mad::send_state::failed, EINVAL};
    if (mad::is_response(message)) return inner_.send(given);
    agent* const sender = agent_for(given);
    if (!sender) return {mad::send_state::failed, ENOMEM};

    // Sends a copy with the agent's number in its transaction ID, as the kernel does.
    mad::send_request request = given;
    request.size = std::max(given.size, mad::mad_size);
    outgoing_.assign(mad::headroom + request.size, 0);
    request.mad = outgoing_.data() + mad::headroom;
    std::copy(message.begin(), message.end(), request.mad);
    const u64 number = static_cast<u64>(sender - agents_.data()) + 1;
    iba::put<&MADHeader::transactionID>(request.mad, number << 32 | mad::low_tid(request.mad));
    if (is_outstanding(tid_of(request.mad))) {
        ++counters_.duplicates;
        return {mad::send_state::failed, EINVAL};
    }
    if (!request.expects_reply) return inner_.send(request);

    const u32 timeout_ms = held_.timeout_ms(request);
    if (must_wait(*sender, {request.mad, request.size})) {
        const auto entered = enter(request, timeout_ms);
        entered->where = place::held_back;
        entered->waiting = std::make_unique<waiting_send>(request);
        sender->backlog.splice(sender->backlog.end(), ended_, entered);
        counters_.most_held_back = std::max(counters_.most_held_back, sender->backlog.size());
    } else {
        const mad::send_result result = inner_.send(request);
        if (result.state != mad::send_state::sent) return result;
        leave(enter(request, timeout_ms), ended_);
    }
    ++counters_.requests;
    held_.add(MgmtClass{request.mgmt_class});
    return {};
}

/// Returns the agent for a request's class, and registers it first if necessary; null: the descriptor has no more
/// agents.
modelled_kernel::agent* modelled_kernel::agent_for(const mad::send_request& r) noexcept {
    const auto known = std::find_if(agents_.begin(), agents_.end(), [&](const agent& a) {
        return a.mgmt_class == r.mgmt_class && a.class_version == r.class_version;
    });
    if (known != agents_.end()) return &*known;
    if (agents_.size() == most_agents) return nullptr;
    return &agents_.emplace_back(agent{r.mgmt_class, r.class_version});
}

modelled_kernel::agent& modelled_kernel::agent_of(const entry& r) noexcept { return agents_[(r.tid >> 32) - 1]; }

bool modelled_kernel::must_wait(const agent& a, std::span<const u8> mad) const noexcept {
    if (!options_.is_capped || !is_capped(mad)) return false;
    return !a.backlog.empty() || a.on_wire >= cap_of(MgmtClass{a.mgmt_class});
}

bool modelled_kernel::is_outstanding(u64 tid) const noexcept {
    const auto known = by_tid_.find(tid);
    if (known == by_tid_.end()) return false;
    return known->second->where == place::held_back || known->second->where == place::on_wire;
}

/// Returns an entry in the list ended_, which the caller moves to its new list. It reuses the entry with the same
/// transaction ID, or the oldest one.
modelled_kernel::requests::iterator modelled_kernel::enter(const mad::send_request& r, u32 timeout_ms) {
    const u64 tid = tid_of(r.mad);
    const auto [known, is_new] = by_tid_.try_emplace(tid);
    if (is_new && ended_.size() >= kernel_model::remembered) {
        known->second = ended_.begin();
        by_tid_.erase(ended_.front().tid);
    } else if (is_new) {
        known->second = ended_.emplace(ended_.end());
    }
    entry& entered = *known->second;
    entered.tid = tid;
    entered.mgmt_class = r.mad[1];
    entered.is_capped = is_capped({r.mad, r.size});
    entered.timeout_ms = timeout_ms;
    std::copy_n(r.mad, header_size, entered.header.begin());
    return known->second;
}

/// Moves a request to the list of requests in flight and starts its timeout.
void modelled_kernel::leave(requests::iterator r, requests& from) {
    on_wire_.splice(on_wire_.end(), from, r);
    r->where = place::on_wire;
    r->waiting.reset();
    r->timer = timers_.emplace(end_of(now_, r->timeout_ms, options_.tick), r);
    agent_of(*r).on_wire += r->is_capped;
    const std::size_t of_class = ++on_wire_of_[r->mgmt_class];
    counters_.most_on_wire = std::max(counters_.most_on_wire, on_wire_.size());
    counters_.most_on_wire_of[r->mgmt_class] = std::max(counters_.most_on_wire_of[r->mgmt_class], of_class);
}

void modelled_kernel::end(requests::iterator r, place how) {
    ++(how == place::answered ? counters_.answered : counters_.given_back);
    timers_.erase(r->timer);
    ended_.splice(ended_.end(), on_wire_, r);
    r->where = how;
    agent_of(*r).on_wire -= r->is_capped;
    --on_wire_of_[r->mgmt_class];
}

/// Sends the oldest requests that were held back. If the inner transport is blocked, the next call tries again.
void modelled_kernel::refill(agent& a) {
    while (!a.backlog.empty() && a.on_wire < cap_of(MgmtClass{a.mgmt_class})) {
        const auto next = a.backlog.begin();
        const mad::send_state state = inner_.send(next->waiting->request).state;
        if (state == mad::send_state::would_block) return;
        if (state == mad::send_state::sent) {
            leave(next, a.backlog);
            continue;
        }
        ++counters_.failed_held_back;
        by_tid_.erase(next->tid);
        a.backlog.erase(next);
    }
}

// ---- time -----------------------------------------------------------------------------------------------------------

void modelled_kernel::set_now(mad::time_point now) noexcept {
    const auto next_change = [this] {
        const mad::time_point expires = timers_.empty() ? mad::time_point::max() : timers_.begin()->first;
        return std::min(inner_.next_event().value_or(mad::time_point::max()), expires);
    };
    mad::time_point next = next_change();
    if (next <= now_) { // changes due to MADs that were sent at that moment
        do_until(now_);
        next = next_change();
    }
    for (; next > now_ && next < now; next = next_change()) do_until(next);
    do_until(now);
}

/// Precondition: nothing is due before `now`.
void modelled_kernel::do_until(mad::time_point now) {
    now_ = now;
    inner_.set_now(now);
    take_arrivals();
    expire();
    for (agent& a : agents_) refill(a);
}

/// Returns the element for the next message to read.
modelled_kernel::unread_message& modelled_kernel::receive_queue_space() {
    if (spare_.empty()) spare_.emplace_back().bytes.resize(room);
    return spare_.front();
}

void modelled_kernel::take_arrivals() {
    while (!gone_) {
        unread_message& next = receive_queue_space();
        mad::received r = inner_.receive(next.bytes);
        if (has_rmpp_ && r.state == mad::receive_state::message && r.full_size > r.mad.size()) {
            next.bytes.resize(mad::headroom + r.full_size);
            r = inner_.receive(next.bytes);
        }
        if (r.state == mad::receive_state::would_block) return;
        if (r.state == mad::receive_state::failed) {
            gone_ = r.error;
        } else if (is_for_program(r)) {
            next.content = r;
            unread_.splice(unread_.end(), spare_, spare_.begin());
        }
    }
}

bool modelled_kernel::is_for_program(const mad::received& r) {
    if (r.is_part) return false;
    if (r.mad.size() < header_size || iba::get<&MADHeader::baseVersion>(r.mad.data()) != 1) {
        ++counters_.malformed;
        return false;
    }
    const bool is_ours = r.status != 0 || mad::is_response(r.mad);
    if (is_ours && !answers(r)) return false;
    const bool has_room = unread_.size() <= options_.max_unread;
    if (!has_room) ++counters_.overrun;
    return has_room;
}

/// Returns whether a message ends a request. A status is a report of the inner transport, which had the request then.
bool modelled_kernel::answers(const mad::received& r) {
    const auto known = by_tid_.find(tid_of(r.mad.data()));
    const bool is_same = known != by_tid_.end() && known->second->mgmt_class == r.mad[1];
    switch (is_same ? known->second->where : place::held_back) {
    case place::on_wire: end(known->second, r.status ? place::given_back : place::answered); return true;
    case place::answered: ++counters_.doubled; return false;
    case place::given_back: ++counters_.late; return false;
    case place::held_back: ++counters_.unknown; return false;
    }
    return false;
}

void modelled_kernel::expire() {
    while (!timers_.empty() && timers_.begin()->first <= now_) {
        const auto expired = timers_.begin()->second;
        unread_message& report = receive_queue_space();
        std::copy(expired->header.begin(), expired->header.end(), report.bytes.begin() + mad::headroom);
        report.content = {mad::receive_state::message};
        report.content.status = ETIMEDOUT;
        report.content.mad = {report.bytes.data() + mad::headroom, header_size};
        report.content.full_size = header_size;
        unread_.splice(unread_.end(), spare_, spare_.begin());
        end(expired, place::given_back);
    }
}

// ---- receiving -----------------------------------------------------------------------------------------------------

mad::received modelled_kernel::receive(std::span<u8> buffer) noexcept {
    if (unread_.empty()) do_until(now_);
    if (gone_) {
        removal_was_reported_ = true;
        return {.state = mad::receive_state::failed, .error = *gone_};
    }
    if (unread_.empty()) return {};

    const unread_message& next = unread_.front();
    const std::span<const u8> mad = next.content.mad;
    const bool fits = mad::headroom + mad.size() <= buffer.size();
    const std::size_t size = fits ? mad.size() : std::min(mad::mad_size, buffer.size() - mad::headroom);
    std::copy_n(mad.begin(), size, buffer.begin() + mad::headroom);
    mad::received r = next.content;
    r.mad = buffer.subspan(mad::headroom, size);
    if (!fits) return r;
    held_.take_back(r, MgmtClass{r.mad[1]});
    if (next.bytes.size() > room) unread_.pop_front();
    else spare_.splice(spare_.begin(), unread_, unread_.begin());
    return r;
}

std::optional<mad::time_point> modelled_kernel::next_event() const noexcept {
    if (gone_ && removal_was_reported_) return std::nullopt;
    if (gone_ || !unread_.empty()) return now_;
    auto next = inner_.next_event();
    if (!timers_.empty() && (!next || timers_.begin()->first < *next)) next = timers_.begin()->first;
    return next;
}

} // namespace comad::transports
