// SPDX-License-Identifier: MIT
// single_mads.cpp - converts whole messages to RMPP segments, and RMPP segments to whole messages.
#include <comad/iba/detail/rmpp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/detail/vumad/single_mads.hpp>

#include <algorithm>
#include <cerrno>

namespace comad::transports::vumad {
namespace {

constexpr std::size_t usual_room = mad::headroom + 1024;
constexpr mad::duration kept = std::chrono::minutes(1); // lifetime of a request: longer than any transfer takes

std::size_t data_offset(const u8* mad) noexcept { return mad::payload_offset(iba::MgmtClass{mad[1]}); }

} // namespace

single_mads::single_mads(mad::transport& inner) : inner_(inner), whole_(usual_room) {}

mad::send_result single_mads::send(const mad::send_request& given) noexcept {
    const std::span<const u8> mad(given.mad, given.size);
    if (given.size != mad::mad_size) return {mad::send_state::failed, EMSGSIZE};
    if (!mad::is_rmpp(mad)) return inner_.send(given);
    const bool is_data = iba::get<&iba::rmpp::Header::RMPPType>(given.mad) == iba::RMPPType::DATA;
    if (is_data) return mad::is_response(mad) ? inner_.send(given) : take_request(given);
    // The MAD belongs to a transfer here, or to a transfer that another program started.
    const u64 tid = iba::get<&iba::MADHeader::transactionID>(given.mad);
    bool is_ours = false;
    for (request& r : requests_) {
        if (r.tid != tid) continue;
        r.transfer.feed(mad, now_);
        is_ours = true;
    }
    for (answer& a : answers_) {
        if (a.tid != tid) continue;
        a.transfer.feed(mad, now_);
        is_ours = true;
    }
    settle();
    return is_ours ? mad::send_result{} : inner_.send(given);
}

/// Adds a segment of a request, which is sent when it is whole.
mad::send_result single_mads::take_request(const mad::send_request& given) {
    const std::span<const u8> mad(given.mad, given.size);
    const u64 tid = iba::get<&iba::MADHeader::transactionID>(given.mad);
    auto known = std::ranges::find(requests_, tid, &request::tid);
    if (known == requests_.end()) {
        if (!mad::rmpp_receiver::begins(mad)) return {};
        known =
            requests_.insert(known, {mad::rmpp_receiver(mad, data_offset(given.mad), now_), *given.path, tid, now_});
    } else {
        known->transfer.feed(mad, now_);
    }
    settle();
    return {};
}

/// Turns the output of all transfers into segments, and removes transfers that have ended.
void single_mads::settle() {
    for (request& r : requests_) {
        mad::source_address source;
        source.SLID = mad::headers_of(r.path).DLID;
        source.sqpn = mad::headers_of(r.path).dqpn;
        std::array<u8, mad::mad_size> mad;
        while (r.transfer.next_packet(mad)) segments_.push_back({mad, source});
        if (r.has_left || r.transfer.state() != mad::rmpp_state::complete) continue;
        r.has_left = true;
        const std::vector<u8> message = r.transfer.take_message();
        std::vector<u8> bytes(mad::headroom + message.size());
        std::copy(message.begin(), message.end(), bytes.begin() + mad::headroom);
        u8* const m = bytes.data() + mad::headroom;
        inner_.send({&r.path, m, message.size(), m[1], m[2], true, {}, {}}); // a rejected message is lost, as on a link
    }
    for (answer& a : answers_) {
        std::array<u8, mad::mad_size> mad;
        while (a.transfer.next_packet(mad, now_)) segments_.push_back({mad, a.source});
    }
    std::erase_if(answers_, [](const answer& a) { return a.transfer.state() != mad::rmpp_state::more; });
}

void single_mads::begin_answer(const mad::received& r) {
    const u64 tid = iba::get<&iba::MADHeader::transactionID>(r.mad.data());
    std::erase_if(requests_, [&](const request& x) { return x.tid == tid; });
    const bool is_known =
        std::ranges::any_of(answers_, [&](const answer& a) { return a.tid == tid && a.source.SLID == r.source.SLID; });
    if (is_known) return; // the request was retried, or its reply duplicated
    mad::rmpp_sender transfer({r.mad.begin(), r.mad.end()}, data_offset(r.mad.data()), now_);
    answers_.push_back({std::move(transfer), r.source, tid});
    settle();
}

mad::received single_mads::receive(std::span<u8> buffer) noexcept {
    for (;;) {
        if (!segments_.empty()) {
            const segment& next = segments_.front();
            std::copy(next.bytes.begin(), next.bytes.end(), buffer.begin() + mad::headroom);
            mad::received r{.state = mad::receive_state::message,
                            .mad = buffer.subspan(mad::headroom, mad::mad_size),
                            .full_size = mad::mad_size,
                            .source = next.source};
            segments_.pop_front();
            return r;
        }
        mad::received r = inner_.receive(buffer);
        const bool is_message = r.state == mad::receive_state::message && r.status == 0 && mad::is_rmpp(r.mad) &&
                                r.full_size != mad::mad_size;
        if (!is_message) return r;
        if (r.full_size > r.mad.size()) {
            whole_.resize(std::max(whole_.size(), mad::headroom + r.full_size));
            r = inner_.receive(whole_);
            if (r.state != mad::receive_state::message) return r;
        }
        begin_answer(r);
    }
}

mad::transport_limits single_mads::limits() const noexcept {
    mad::transport_limits limits = inner_.limits();
    limits.kernel_rmpp = false;
    return limits;
}

std::optional<mad::time_point> single_mads::next_event() const noexcept {
    if (!segments_.empty()) return now_;
    mad::time_point next = inner_.next_event().value_or(mad::time_point::max());
    for (const answer& a : answers_) next = std::min(next, a.transfer.next_deadline());
    for (const request& r : requests_) next = std::min(next, r.transfer.next_deadline());
    if (next == mad::time_point::max()) return std::nullopt;
    return next;
}

void single_mads::set_now(mad::time_point now) noexcept {
    now_ = now;
    inner_.set_now(now);
    for (answer& a : answers_)
        if (a.transfer.next_deadline() <= now_) a.transfer.on_time(now_);
    for (request& r : requests_)
        if (r.transfer.next_deadline() <= now_) r.transfer.on_time(now_);
    std::erase_if(requests_, [&](const request& r) {
        const auto state = r.transfer.state();
        return state == mad::rmpp_state::failed || r.start + kept <= now_;
    });
    settle();
}

} // namespace comad::transports::vumad
