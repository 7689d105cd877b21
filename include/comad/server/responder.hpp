// SPDX-License-Identifier: MIT
// responder.hpp - handlers of requests by class, version, method and OUI, and the error replies that the IBA defines. It converts
// bytes to bytes, and does not depend on a transport.
#pragma once
#include <comad/iba/notice.hpp>
#include <comad/mad/trace.hpp>
#include <comad/server/detail/reply.hpp>
#include <comad/server/detail/request.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace comad::server {

/// The reply of a handler to a request.
///
///     return server::response::of(counters);                                        // an attribute
///     return server::response::error(server::status::unsupported_attribute);        // a status
class response {
public:
    /// No reply.
    static response nothing() { return response(kind::nothing); }
    /// An error: the common status, and the status of the class (SAStatus).
    static response error(u16 status, u8 class_status = 0) {
        response r(kind::error);
        r.status_ = status;
        r.class_status_ = class_status;
        return r;
    }
    static response error(iba::SAStatus class_status) { return error(0, static_cast<u8>(class_status)); }
    /// An attribute.
    template <iba::wire T> static response of(const T& payload) {
        const auto bytes = iba::encode(payload);
        return data({bytes.begin(), bytes.end()});
    }
    /// An attribute as bytes, which must fit into one MAD of the class.
    static response data(std::vector<u8> bytes) { return {kind::data, std::move(bytes)}; }
    /// Bytes of any length: by RMPP if they do not fit into one MAD of the class.
    static response any_length(std::vector<u8> bytes) { return {kind::any_length, std::move(bytes)}; }
    /// The data of the request, as replies to Traps and Reports have it.
    static response echo() { return response(kind::echo); }
    /// Records of the SA, one after the other, in a reply of any length by RMPP.
    static response table(std::vector<u8> records, std::size_t record_size) {
        response r(kind::table, std::move(records));
        r.record_size_ = record_size;
        return r;
    }
    /// Replaces the attributeModifier. The default is the attributeModifier of the request.
    response with_modifier(u32 attributeModifier) && {
        modifier_ = attributeModifier;
        return std::move(*this);
    }

    /// The message to send; empty: none.
    std::vector<u8> to(const request& r) const;

private:
    enum class kind : u8 { nothing, error, data, any_length, echo, table };
    explicit response(kind k) : what_(k) {}
    response(kind k, std::vector<u8> bytes) : what_(k), bytes_(std::move(bytes)) {}

    kind what_;
    u8 class_status_ = 0;
    u16 status_ = 0;
    std::optional<u32> modifier_;
    std::size_t record_size_ = 0;
    std::vector<u8> bytes_;
};

/// The handlers of a server. It rejects invalid requests with the status of their fault, requests of a class or method without
/// a handler with unsupported_method, and requests of a class version without a handler with bad_version.
///
///     server::responder answers;
///     answers.add({MgmtClass::VendOUI, 1, mad::methods(Method::Get), OUI},
///                 [](const server::request& r) { return server::response::of(temperature(r.header.attributeModifier)); });
///     answers.on_report(MgmtClass::SubnAdm, 2, [](const server::request&, const iba::Notice& n) { return note(n); });
///
/// Errors:   An exception of a handler terminates the program if an agent calls it, because agents do not throw.
/// Lifetime: Objects that the handlers use must outlive it.
/// Threads:  answer() is const: several threads can call it if the handlers allow that.
class responder {
public:
    using handler = std::function<response(const request&)>;
    /// Returns true to confirm the notice, which ends its repetition.
    using notice_handler = std::function<bool(const request&, const iba::Notice&)>;

    /// Adds a handler for these requests. If several handlers match a request, the first one gets it. By default, a handler of a
    /// vendor class gets all attributes, and returns `error(status::unsupported_attribute)` for attributes that it does not serve.
    void add(const mad::registration& what, handler, unknown_attributes = unknown_attributes::refused_unless_vendor);
    /// Adds a handler for Notices that nodes send as Traps. Confirmed Traps get a TrapRepress.
    void on_trap(iba::MgmtClass, u8 class_version, notice_handler);
    /// Adds a handler for Notices that the SA sends as Reports to its subscribers.
    void on_report(iba::MgmtClass, u8 class_version, notice_handler);

    /// The requests to register with a transport.
    std::vector<mad::registration> registrations() const;

    /// Returns the reply to a message; empty: none. The message need not be valid.
    std::vector<u8> answer(std::span<const u8> message, const mad::source_address& source,
                           mad::time_point now = {}) const;

    /// Sets the sink that gets a trace event for each request and each reply; null: none. It must outlive the responder, or be replaced.
    void set_trace(mad::trace_sink* sink) noexcept { trace_ = sink; }

private:
    struct entry {
        mad::registration what;
        handler handle;
        unknown_attributes unknown;
    };
    struct choice {
        const entry* found;
        u16 status; ///< if there is none
    };
    choice choose(std::span<const u8> message) const noexcept;
    std::vector<u8> answer(std::span<const u8> message, const mad::source_address& source, const choice&) const;

    std::vector<entry> entries_;
    mad::trace_sink* trace_ = nullptr;
};

} // namespace comad::server
