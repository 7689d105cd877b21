// SPDX-License-Identifier: MIT
// responder.hpp - who answers what: handlers by class, version, method and OUI, and the right error where there is none.
// Bytes in, bytes out: knows no transport.
#pragma once
#include <comad/iba/notice.hpp>
#include <comad/mad/trace.hpp>
#include <comad/server/reply.hpp>
#include <comad/server/request.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace comad::server {

/// What a handler says to a request.
class response {
public:
    /// No answer.
    static response nothing() { return response(kind::nothing); }
    /// The common status, and that of the class (SAStatus).
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
    /// An attribute as bytes, as many as the class has room for at most.
    static response data(std::vector<u8> bytes) { return {kind::data, std::move(bytes)}; }
    /// Bytes of an attribute without a size: by RMPP if the class has no room for them in a MAD.
    static response any_length(std::vector<u8> bytes) { return {kind::any_length, std::move(bytes)}; }
    /// What the request had, as Traps and Reports are answered.
    static response echo() { return response(kind::echo); }
    /// Records of an SA, one after the other, in an answer of any length by RMPP.
    static response table(std::vector<u8> records, std::size_t record_size) {
        response r(kind::table, std::move(records));
        r.record_size_ = record_size;
        return r;
    }
    /// With another attributeModifier than the request's.
    response with_modifier(u32 attributeModifier) && {
        modifier_ = attributeModifier;
        return std::move(*this);
    }

    /// The message that says so; empty: none.
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

/// Handlers and what they are for. A request that is at fault is answered with the status of its fault, one of a class
/// that nobody serves, or with a method that nobody handles, with unsupported_method, one of another version than those
/// that are served with bad_version.
class responder {
public:
    using handler = std::function<response(const request&)>;
    /// True: the sender is told that the notice has arrived.
    using notice_handler = std::function<bool(const request&, const iba::Notice&)>;

    /// Of several that would take a request, the first gets it. What the handler needs must outlive the responder. By
    /// default a handler of a vendor class gets every attribute, and returns `error(status::unsupported_attribute)` for those
    /// that it does not serve.
    void add(const mad::registration& what, handler, unknown_attributes = unknown_attributes::refused_unless_vendor);
    /// Notices as Traps of nodes (TrapRepress ends their repetition), of SMPs with the 64 bytes that these have, ...
    void on_trap(iba::MgmtClass, u8 class_version, notice_handler);
    /// ... and as Reports of the SA to its subscribers.
    void on_report(iba::MgmtClass, u8 class_version, notice_handler);

    /// What is to be registered with a transport.
    std::vector<mad::registration> registrations() const;

    /// The answer to a message that anybody may have sent; empty: none.
    std::vector<u8> answer(std::span<const u8> message, const mad::source_address& source,
                           mad::time_point now = {}) const;

    /// Who hears of requests and answers; null: nobody. It must outlive the responder, or be taken away.
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
