// SPDX-License-Identifier: MIT
// rmpp.cpp - implements RMPP transfers: converts between single MADs and whole messages.
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/rmpp.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

namespace comad::transports {

bool rmpp_transport::peer::is(const mad::source_address& source) const noexcept {
    const auto* to = std::get_if<mad::IBPath>(&path);
    return to && to->DLID == source.SLID && to->has_grh == source.has_grh && (!to->has_grh || to->DGID == source.SGID);
}

rmpp_transport::transfer_id rmpp_transport::transfer_id::of(const u8* mad) noexcept {
    using iba::MADHeader;
    return {value(iba::get<&MADHeader::mgmtClass>(mad)), value(iba::get<&MADHeader::method>(mad)),
            iba::get<&MADHeader::transactionID>(mad)};
}

// ---- sending -------------------------------------------------------------------------------------------------------

mad::send_result rmpp_transport::send(const mad::send_request& request) noexcept {
    flush();
    const std::span<const u8> message(request.mad, request.size);
    const iba::MgmtClass mgmt_class{request.mgmt_class};
    if (request.size <= mad::mad_size && !mad::is_rmpp(message)) {
        const mad::send_result result = inner_.send(request);
        if (result.state == mad::send_state::sent && mad::has_rmpp(mgmt_class)) expect_reply(request);
        return result;
    }
    if (!mad::has_rmpp(mgmt_class)) return {mad::send_state::failed, EMSGSIZE};

    const transfer_id id = transfer_id::of(request.mad);
    const peer to{*request.path, request.agent};
    mad::rmpp_sender_options options{};
    if (mad::is_response(message)) {
        const auto is_same = [&](const outgoing& o) { return o.id == id && o.to.path == to.path; };
        if (std::any_of(outgoing_.begin(), outgoing_.end(), is_same)) return {};
        if (!has_room_for(request.size)) return {mad::send_state::failed, ENOBUFS};
    } else {
        if (!has_room_for(request.size)) return {mad::send_state::would_block};
        options.double_sided = mad::is_table_method(iba::Method{id.method});
    }
    options.timing = options_.sending;
    outgoing_.push_back(
        {mad::rmpp_sender({message.begin(), message.end()}, mad::payload_offset(mgmt_class), now_, options), id, to,
         request.size});
    expect_reply(request);
    flush();
    return {};
}

/// Remembers a request whose reply may arrive by RMPP. Forgets requests whose time has ended.
void rmpp_transport::expect_reply(const mad::send_request& request) {
    transfer_id reply = transfer_id::of(request.mad);
    const auto method = mad::response_method(iba::Method{reply.method});
    if (!method) return;
    std::erase_if(expected_, [this](const expected& e) { return e.until <= now_; });
    reply.method = value(*method);
    const mad::duration time_limit = std::max(request.operation_timeout, options_.receiving.timing.total);
    const mad::duration left = mad::time_point::max() - now_;
    expected_.push_back({reply, *request.path, now_ + std::min(time_limit, left)});
}

/// Returns the request that a MAD replies to; end(): none. The transport owns the high 32 bits of a request's
/// transaction ID. The source LID is compared as in match_reply().
auto rmpp_transport::find_expected(const mad::received& r) -> std::list<expected>::iterator {
    const transfer_id id = transfer_id::of(r.mad.data());
    return std::find_if(expected_.begin(), expected_.end(), [&](const expected& e) {
        const auto* to = std::get_if<mad::IBPath>(&e.path);
        const bool is_it = e.reply.mgmt_class == id.mgmt_class && e.reply.method == id.method &&
                           static_cast<u32>(e.reply.transactionID) == static_cast<u32>(id.transactionID);
        if (!is_it || e.until <= now_ || !to) return false;
        const bool is_known =
            r.source.SLID != iba::lid{} && r.source.SLID != iba::permissive_lid && to->DLID != iba::permissive_lid;
        return !is_known || to->DLID == r.source.SLID;
    });
}

bool rmpp_transport::has_room_for(std::size_t size) const noexcept {
    const std::size_t held = std::accumulate(outgoing_.begin(), outgoing_.end(), std::size_t{0},
                                             [](std::size_t sum, const outgoing& o) { return sum + o.size; });
    return outgoing_.size() < options_.max_transfers && size <= options_.max_sending &&
           held <= options_.max_sending - size;
}

/// Prepares the next MAD of a transfer: acknowledgements first, then the transfers in turn. Returns false if there is
/// none.
bool rmpp_transport::prepare() {
    const auto has_packet = [](const auto& x) { return x.transfer.has_packet(); };
    if (const auto i = std::find_if(incoming_.begin(), incoming_.end(), has_packet); i != incoming_.end()) {
        i->transfer.next_packet(unsent_.emplace(packet{i->from}).mad());
        return true;
    }
    const auto o = std::find_if(outgoing_.begin(), outgoing_.end(), has_packet);
    if (o == outgoing_.end()) return false;
    o->transfer.next_packet(unsent_.emplace(packet{o->to}).mad(), now_);
    outgoing_.splice(outgoing_.end(), outgoing_, o);
    return true;
}

// Prepares and sends MADs until no transfer has any. If the inner transport is blocked, the MAD waits for the next call. A MAD that the
// inner transport rejects is lost, as on a link.
void rmpp_transport::flush() noexcept {
    while (unsent_ || prepare()) {
        u8* const mad = unsent_->mad().data();
        const mad::send_request request{.path = &unsent_->to.path,
                                        .mad = mad,
                                        .size = mad::mad_size,
                                        .mgmt_class = mad[1],
                                        .class_version = mad[2],
                                        .expects_reply = false,
                                        .attempt_timeout = {},
                                        .operation_timeout = {},
                                        .agent = unsent_->to.agent};
        if (inner_.send(request).state == mad::send_state::would_block) return;
        unsent_.reset();
    }
}

// ---- receiving -----------------------------------------------------------------------------------------------------

int rmpp_transport::serve(const mad::registration& what) noexcept {
    mad::registration single = what;
    single.rmpp = false; // a lower layer must not reassemble the segments
    if (const int error = inner_.serve(single); error != 0) return error;
    served_.push_back(what);
    return 0;
}

mad::received rmpp_transport::receive(std::span<u8> buffer) noexcept {
    for (;;) {
        settle();
        flush();
        if (!arrived_.empty()) return deliver(buffer);
        mad::received r = inner_.receive(buffer);
        const bool is_mad = r.state == mad::receive_state::message && r.status == 0 && r.mad.size() == mad::mad_size;
        if (!is_mad || !mad::is_rmpp(r.mad)) {
            if (is_mad && mad::is_response(r.mad))
                if (const auto answered = find_expected(r); answered != expected_.end()) expected_.erase(answered);
            return r;
        }
        if (take(r)) {
            r.is_part = true;
            flush();
            return r;
        }
    }
}

// Returns true if the MAD belongs to a reply that is not complete.
bool rmpp_transport::take(const mad::received& r) {
    if (!feed_known(r) && !begin(r)) return false;
    const transfer_id id = transfer_id::of(r.mad.data());
    return mad::is_response(r.mad) && arrived_.empty() &&
           std::any_of(incoming_.begin(), incoming_.end(),
                       [&](const incoming& i) { return !i.ended && i.id == id && i.from.is(r.source); });
}

bool rmpp_transport::begin(const mad::received& r) {
    if (!mad::rmpp_receiver::begins(r.mad)) return false;
    const bool is_reply = mad::is_response(r.mad);
    const auto answered = is_reply ? find_expected(r) : expected_.end();
    if (is_reply ? answered == expected_.end() : !is_served(r.mad)) return false;
    if (incoming_.size() >= options_.max_transfers && !make_room(is_reply)) return false; // the peer may repeat it
    if (is_reply) expected_.erase(answered);
    const std::size_t header_size = mad::payload_offset(iba::MgmtClass{r.mad[1]});
    incoming& added = incoming_.emplace_back(incoming{mad::rmpp_receiver(r.mad, header_size, now_, options_.receiving),
                                                      transfer_id::of(r.mad.data()),
                                                      r.source,
                                                      {mad::path_back(r.source), r.source.agent},
                                                      {}});
    std::copy(r.mad.begin(), r.mad.end(), added.first.begin());
    receiving_ += added.transfer.held();
    limit(added);
    settle(added);
    return true;
}

bool rmpp_transport::is_served(std::span<const u8> mad) const noexcept {
    return std::any_of(served_.begin(), served_.end(),
                       [&](const mad::registration& what) { return mad::describes(what, mad); });
}

/// Makes space for a transfer. It drops a transfer that has ended. For a reply, it can also drop the oldest incoming
/// request, because any node can send requests.
bool rmpp_transport::make_room(bool for_reply) {
    const auto over = std::find_if(incoming_.begin(), incoming_.end(), [](const incoming& i) { return !!i.ended; });
    const auto request =
        std::find_if(incoming_.begin(), incoming_.end(), [](const incoming& i) { return !mad::is_response(i.first); });
    const auto least = over != incoming_.end() ? over : for_reply ? request : incoming_.end();
    if (least == incoming_.end()) return false;
    erase(least);
    return true;
}

std::list<rmpp_transport::incoming>::iterator rmpp_transport::erase(std::list<incoming>::iterator i) {
    receiving_ -= i->transfer.held();
    return incoming_.erase(i);
}

void rmpp_transport::grow(incoming& i, std::span<const u8> mad) {
    const std::size_t before = i.transfer.held();
    i.transfer.feed(mad, now_);
    receiving_ += i.transfer.held() - before;
    if (i.transfer.held() > before) limit(i);
}

/// Aborts the transfer whose growth exceeded the total limit, unless it is complete.
void rmpp_transport::limit(incoming& grown) noexcept {
    if (receiving_ > options_.max_receiving) grown.transfer.abort(iba::RMPPStatus::ResourcesExhausted);
}

bool rmpp_transport::feed_known(const mad::received& r) {
    const transfer_id id = transfer_id::of(r.mad.data());
    bool is_known = false;
    for (incoming& i : incoming_) {
        if (i.id != id || !i.from.is(r.source)) continue;
        grow(i, r.mad);
        settle(i);
        is_known = true;
    }
    for (outgoing& o : outgoing_)
        if (o.to.is(r.source)) o.transfer.feed(r.mad, now_); // the transfer checks its transaction ID itself
    return is_known;
}

void rmpp_transport::settle(incoming& i) {
    if (i.ended || i.transfer.state() == mad::rmpp_state::more) return;
    i.ended = now_;
    receiving_ -= i.transfer.held();
    if (i.transfer.state() == mad::rmpp_state::complete) {
        arrived_.push_back({i.transfer.take_message(), i.source});
        return;
    }
    i.transfer.drop_message();
    if (mad::is_response(i.first)) arrived_.push_back({{i.first.begin(), i.first.end()}, i.source});
}

mad::received rmpp_transport::deliver(std::span<u8> buffer) noexcept {
    const whole_message& first = arrived_.front();
    const bool fits = mad::headroom + first.bytes.size() <= buffer.size();
    const std::size_t size = fits ? first.bytes.size() : std::min(mad::mad_size, buffer.size() - mad::headroom);
    std::memcpy(buffer.data() + mad::headroom, first.bytes.data(), size);
    mad::received r{mad::receive_state::message};
    r.mad = buffer.subspan(mad::headroom, size);
    r.full_size = first.bytes.size();
    r.source = first.source;
    if (fits) arrived_.pop_front();
    return r;
}

// ---- time ----------------------------------------------------------------------------------------------------------

void rmpp_transport::set_now(mad::time_point now) noexcept {
    now_ = now;
    inner_.set_now(now);
    settle();
    flush();
}

void rmpp_transport::settle() {
    for (incoming& i : incoming_) {
        if (i.transfer.next_deadline() <= now_) i.transfer.on_time(now_);
        settle(i);
    }
    for (outgoing& o : outgoing_) {
        if (o.transfer.next_deadline() <= now_) o.transfer.on_time(now_);
        if (!o.ended && o.transfer.state() != mad::rmpp_state::more) o.ended = now_;
    }
    for (auto i = incoming_.begin(); i != incoming_.end();)
        i = i->ended && *i->ended + options_.linger <= now_ ? erase(i) : std::next(i);
    // A finished request stays for a while, because its peer may ask for its last MAD again: the reply depends on it.
    std::erase_if(outgoing_, [&](const outgoing& o) {
        const bool is_answer = (o.id.method & iba::response_bit) != 0;
        return o.ended && !o.transfer.has_packet() && (is_answer || *o.ended + options_.linger <= now_);
    });
}

std::optional<mad::time_point> rmpp_transport::next_event() const noexcept {
    if (!arrived_.empty()) return now_;
    mad::time_point next = inner_.next_event().value_or(mad::time_point::max());
    for (const incoming& i : incoming_) next = std::min(next, i.transfer.next_deadline());
    for (const outgoing& o : outgoing_) next = std::min(next, o.transfer.next_deadline());
    if (next == mad::time_point::max()) return std::nullopt;
    return next;
}

mad::transport_limits rmpp_transport::limits() const noexcept {
    mad::transport_limits limits = inner_.limits();
    limits.kernel_rmpp = true;
    return limits;
}

} // namespace comad::transports
