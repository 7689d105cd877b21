// SPDX-License-Identifier: MIT
// responder.cpp - passes a request to its handler and makes the reply.
#include <comad/iba/detail/smp/node.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/server/responder.hpp>

#include <algorithm>
#include <iterator>

namespace comad::server {
namespace {

using iba::MADHeader;
using iba::Method;

constexpr bool has(u32 methods, Method m) noexcept { return value(m) < 32 && (methods >> value(m) & 1) != 0; }

std::vector<u8> as_message(const std::optional<mad_bytes>& mad) {
    if (!mad) return {};
    return {mad->begin(), mad->end()};
}

/// Returns the notice of a request. SMPs carry only its first 64 bytes.
iba::Notice notice_in(const request& r) noexcept {
    std::array<u8, iba::wire_size<iba::Notice>> bytes{};
    const std::size_t size = iba::is_smp(r.header.mgmtClass) ? iba::wire_size<iba::smp::NoticeTrap> : bytes.size();
    std::copy_n(r.data.begin(), size, bytes.begin());
    return iba::decode<iba::Notice>(bytes);
}

responder::handler notice_handling(responder::notice_handler handle) {
    return [handle = std::move(handle)](const request& r) {
        if (r.header.attributeID != iba::attribute_id<iba::Notice>)
            return response::error(status::unsupported_attribute);
        return handle(r, notice_in(r)) ? response::echo() : response::nothing();
    };
}

} // namespace

std::vector<u8> response::to(const request& r) const {
    const u32 modifier = modifier_.value_or(r.header.attributeModifier);
    switch (what_) {
    case kind::nothing: break;
    case kind::error: return as_message(make_error(r.mad, status_, class_status_));
    case kind::data: return as_message(make_reply(r.mad, bytes_, modifier));
    case kind::any_length:
        if (bytes_.size() > r.data.size()) return make_long_reply(r.mad, bytes_);
        return as_message(make_reply(r.mad, bytes_, modifier));
    case kind::echo: return as_message(make_error(r.mad, 0));
    case kind::table: return make_table_reply(r.mad, bytes_, record_size_);
    }
    return {};
}

void responder::add(const mad::registration& what, handler h, unknown_attributes unknown) {
    entries_.push_back({what, std::move(h), unknown});
}
void responder::on_trap(iba::MgmtClass mgmt_class, u8 class_version, notice_handler h) {
    add({mgmt_class, class_version, mad::methods(Method::Trap)}, notice_handling(std::move(h)));
}
void responder::on_report(iba::MgmtClass mgmt_class, u8 class_version, notice_handler h) {
    add({mgmt_class, class_version, mad::methods(Method::Report)}, notice_handling(std::move(h)));
}

std::vector<mad::registration> responder::registrations() const {
    std::vector<mad::registration> all;
    std::transform(entries_.begin(), entries_.end(), std::back_inserter(all), [](const entry& e) { return e.what; });
    return all;
}

responder::choice responder::choose(std::span<const u8> message) const noexcept {
    if (message.size() < iba::wire_size<MADHeader>) return {nullptr, 0};
    const auto header = iba::decode<MADHeader>(message.first<iba::wire_size<MADHeader>>());
    const bool reports_oui =
        iba::is_vendor_oui(header.mgmtClass) && message.size() >= iba::wire_size<iba::vend::OUIFormat>;
    const u32 OUI = reports_oui ? iba::get<&iba::vend::OUIFormat::OUI>(message.data()) : 0;
    bool is_served = false, is_known_version = false;
    for (const entry& e : entries_) {
        if (e.what.mgmt_class != header.mgmtClass || e.what.OUI != OUI) continue;
        is_served = true;
        if (e.what.class_version != header.classVersion) continue;
        is_known_version = true;
        if (has(e.what.methods, header.method)) return {&e, 0};
    }
    return {nullptr, is_served && !is_known_version ? status::bad_version : status::unsupported_method};
}

std::vector<u8> responder::answer(std::span<const u8> message, const mad::source_address& source,
                                  const choice& by) const {
    const auto unknown = by.found ? by.found->unknown : unknown_attributes::passed;
    const parsed r = parse_request(message, source, unknown);
    if (!r) {
        const u16 status = status_of(r.error());
        return status ? as_message(make_error(message, status)) : std::vector<u8>{};
    }
    if (!by.found) return as_message(make_error(message, by.status));
    return by.found->handle(r.value()).to(r.value());
}

std::vector<u8> responder::answer(std::span<const u8> message, const mad::source_address& source,
                                  mad::time_point now) const {
    using kind = mad::trace_event::kind;
    if (trace_) trace_->on_event({.what = kind::request, .when = now, .request = message, .source = &source});
    std::vector<u8> reply = answer(message, source, choose(message));
    if (trace_ && !reply.empty()) {
        const mad::any_path path = reply_path(message, source);
        trace_->on_event({.what = kind::response, .when = now, .request = message, .mad = reply, .path = &path});
    }
    return reply;
}

} // namespace comad::server
