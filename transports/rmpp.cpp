// SPDX-License-Identifier: MIT
// rmpp.cpp - transfers between single MADs and messages.
#include <comad/iba/enums.hpp>
#include <comad/mad/message.hpp>
#include <comad/transports/rmpp.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace comad::transports {
namespace {

/// The classes whose MADs have an RMPP header (IBA 13.6.1; Linux, ib_is_mad_class_rmpp()).
bool has_rmpp(u8 mgmt_class) noexcept {
    const iba::MgmtClass c{mgmt_class};
    return c == iba::MgmtClass::SubnAdm || c == iba::MgmtClass::DevAdm || c == iba::MgmtClass::BIS ||
           iba::is_vendor_OUI(c);
}

/// Where the data begin: of the SA and of vendors behind a class header.
std::size_t header_size_of(u8 mgmt_class) noexcept {
    const iba::MgmtClass c{mgmt_class};
    return c == iba::MgmtClass::DevAdm || c == iba::MgmtClass::BIS ? 36 : mad::payload_offset(c);
}

/// True of MADs of one transaction of one class.
bool is_same_transaction(const u8* a, const u8* b) noexcept {
    return a[1] == b[1] && std::memcmp(a + 8, b + 8, 8) == 0;
}

mad::any_path back_to(const mad::source_address& source) noexcept {
    mad::IBPath path;
    path.DLID = source.SLID;
    path.SL = source.SL;
    path.pkey_index = source.pkey_index;
    path.dqpn = source.sqpn;
    return path;
}

} // namespace

// ---- sending -------------------------------------------------------------------------------------------------------

mad::send_result rmpp_transport::send(const mad::send_request& request) noexcept {
    flush();
    if (request.size <= mad::mad_size) return inner_.send(request);
    if (!has_rmpp(request.mgmt_class)) return {mad::send_state::failed, EMSGSIZE};
    if (transfers() >= options_.max_transfers) return {mad::send_state::would_block};
    outgoing_.push_back({mad::rmpp_sender({request.mad, request.mad + request.size}, header_size_of(request.mgmt_class),
                                          now_, options_.sending),
                         *request.path});
    settle(outgoing_.back());
    flush();
    return {};
}

rmpp_transport::packet& rmpp_transport::add_packet(const mad::any_path& to) {
    unsent_.emplace_back();
    unsent_.back().path = to;
    return unsent_.back();
}

// What the inner transport does not take now waits for the next call; what it refuses is lost, as on a wire.
void rmpp_transport::flush() noexcept {
    for (; !unsent_.empty(); unsent_.pop_front()) {
        packet& next = unsent_.front();
        const mad::send_request request{&next.path, next.mad(), mad::mad_size, next.mad()[1], next.mad()[2], false,
                                        {},         {}};
        if (inner_.send(request).state == mad::send_state::would_block) return;
    }
}

// ---- receiving -----------------------------------------------------------------------------------------------------

mad::received rmpp_transport::receive(std::span<u8> buffer) noexcept {
    for (;;) {
        flush();
        if (!arrived_.empty()) return deliver(buffer);
        mad::received r = inner_.receive(buffer);
        const bool is_segment = r.state == mad::receive_state::message && r.status == 0 &&
                                r.mad.size() == mad::mad_size && has_rmpp(r.mad[1]) && mad::is_rmpp(r.mad);
        if (!is_segment) return r;
        if (take(r)) {
            r.is_part = true;
            flush();
            return r;
        }
    }
}

// True if it is a part of a message that goes on.
bool rmpp_transport::take(const mad::received& r) {
    if (!feed_known(r)) {
        if (!mad::rmpp_receiver::begins(r.mad) || transfers() >= options_.max_transfers) return false;
        incoming& begun = incoming_.emplace_back(
            incoming{mad::rmpp_receiver(r.mad, header_size_of(r.mad[1]), now_, options_.receiving), r.source, {}});
        std::copy(r.mad.begin(), r.mad.end(), begun.first.begin());
        settle(begun);
    }
    return arrived_.empty() && std::any_of(incoming_.begin(), incoming_.end(), [&](const incoming& i) {
               return !i.ended && i.source.SLID == r.source.SLID && is_same_transaction(i.first.data(), r.mad.data());
           });
}

bool rmpp_transport::feed_known(const mad::received& r) {
    bool is_known = false;
    for (incoming& i : incoming_) {
        if (i.source.SLID != r.source.SLID || !is_same_transaction(i.first.data(), r.mad.data())) continue;
        i.transfer.feed(r.mad, now_);
        settle(i);
        is_known = true;
    }
    for (outgoing& o : outgoing_) {
        if (mad::headers_of(o.path).DLID != r.source.SLID) continue;
        o.transfer.feed(r.mad, now_); // knows its own transaction
        settle(o);
    }
    std::erase_if(outgoing_, [](const outgoing& o) {
        return o.transfer.state() != mad::rmpp_state::more && !o.transfer.has_packet();
    });
    return is_known;
}

void rmpp_transport::settle(incoming& i) {
    while (i.transfer.has_packet()) {
        packet& answer = add_packet(back_to(i.source));
        i.transfer.next_packet(std::span<u8, mad::mad_size>(answer.mad(), mad::mad_size));
    }
    if (i.ended || i.transfer.state() == mad::rmpp_state::more) return;
    i.ended = now_;
    if (i.transfer.state() == mad::rmpp_state::complete) arrived_.push_back({i.transfer.take_message(), i.source});
    else arrived_.push_back({{i.first.begin(), i.first.end()}, i.source});
}

void rmpp_transport::settle(outgoing& o) {
    while (o.transfer.has_packet()) {
        packet& segment = add_packet(o.path);
        o.transfer.next_packet(std::span<u8, mad::mad_size>(segment.mad(), mad::mad_size), now_);
    }
}

mad::received rmpp_transport::deliver(std::span<u8> buffer) noexcept {
    const message& first = arrived_.front();
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
        settle(o);
    }
    std::erase_if(incoming_, [&](const incoming& i) { return i.ended && *i.ended + options_.linger <= now_; });
    std::erase_if(outgoing_, [](const outgoing& o) { return o.transfer.state() != mad::rmpp_state::more; });
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
