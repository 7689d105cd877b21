// SPDX-License-Identifier: MIT
// rpc.hpp - rpc, table_rpc and raw_rpc: awaitables that make one RPC. The request, the engine's operation and the reply live in the
// coroutine frame.
#pragma once
#include <comad/coro/scope.hpp>
#include <comad/iba/checked_codec.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/operation.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/mad/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace comad::coro {

class MADSchedule;

/// Timeout, retries and time limit of one RPC. Defaults come from the schedule's options.
struct rpc_options {
    mad::duration timeout{0}; ///< per attempt, accurate to 1 ms or 5 %; 0: the schedule's
    int retries = -1; ///< attempts after the first, 0..255; -1: the schedule's; a number also gives Gets a timeout
    /// For Gets without a timeout: the time limit without a reply from the target. It applies if it is shorter than
    /// the schedule's time limit. It is never less than three times the longest recent round-trip time. 0: the
    /// schedule's.
    mad::duration patience{0};
};

/// The target, method and attribute of an RPC, without its payload. It exists only while the RPC is created.
struct rpc_request {
    const mad::rpc_kind& kind; ///< must have static lifetime
    const mad::any_path& path; ///< the RPC copies it
    u32 attributeModifier = 0;
    u64 component_mask = 0; ///< only for requests to the SA
    rpc_options options{};
};

/// A reply with its header, the path of the request and the source of the reply.
template <class T> struct reply {
    T payload;
    iba::MADHeader header;      ///< of the reply; on directed routes, the D bit is the highest bit of its status
    mad::any_path path;         ///< the path of the request
    mad::source_address source; ///< the source of the reply, from the packet
};

namespace detail {

class rpc_base;
/// Functions that process the payload of one type.
struct payload_ops {
    bool (*fits)(const rpc_base&) noexcept;             ///< false: a value is too large for its field
    std::string (*invalid_value)(const rpc_base&);      ///< describes the value that is too large
    void (*encode)(const rpc_base&, u8* data) noexcept; ///< `data` must point into a complete MAD
};

/// The common part of all RPCs. It is not a template, so that it is compiled once.
class rpc_base : private mad::operation, private pending {
public:
    rpc_base(const rpc_base&) = delete;
    rpc_base& operator=(const rpc_base&) = delete;

    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        awaiting_ = awaiting;
        return submit(awaiting.promise().scope);
    }

protected:
    /// Decodes the payload of a reply. Returns an empty string, or the reason why the payload is invalid.
    using take_reply = std::string (*)(rpc_base&, std::span<const u8> mad) noexcept;
    rpc_base(MADSchedule&, const rpc_request&, const payload_ops*, take_reply, bool takes_table) noexcept;
    ~rpc_base() override;

    bool failed() const noexcept { return error_.has_value(); }
    mad::mad_error take_error() noexcept { return std::move(*error_); }
    const mad::any_path& target() const noexcept { return path_; }
    const mad::source_address& source() const noexcept { return source_; }
    const mad::rpc_kind& kind() const noexcept { return kind_; }

private:
    bool submit(scope_state*) noexcept;
    void cancel() noexcept override;
    void withdraw() noexcept;
    static void encode_request(mad::operation&, u8* mad);
    static void finished(mad::operation&, const mad::completion&);
    void fail(mad::errc, const mad::completion&);
    bool is_gmp() const noexcept;
    bool follow_redirect(std::span<const u8> reply);
    void learn_redirect(const mad::IBPath&);
    bool send_to(const mad::IBPath&) noexcept;
    bool fits_port_tables() noexcept;
    task<void> find_route(mad::IBPath);
    bool wants_other_sa() const noexcept;
    bool has_left_sa() const noexcept;
    task<void> query_sa_again();
    void learn(std::span<const u8> reply);
    std::string invalid_value_of(std::span<const u8> reply);
    void address() noexcept;
    void follow_round_trips() noexcept;

    MADSchedule& schedule_;
    const mad::rpc_kind& kind_;
    mad::any_path path_;
    u32 attributeModifier_;
    u64 component_mask_;
    const payload_ops* payload_ops_; // null: the payload is zeros
    take_reply take_reply_;
    std::coroutine_handle<> awaiting_;
    mad::source_address source_;
    u8 redirects_ = 0;
    iba::lid SA_LID_{}; // of the SA, until it is searched for again; 0: the target is not sa_path()
    struct detour;
    std::unique_ptr<detour> detour_; // while the path to another target is being resolved
    std::optional<mad::mad_error> error_;
};

/// The payload_ops functions for the member payload_ of an Rpc.
template <class Rpc> struct payload_access {
    static const auto& request(const rpc_base& self) noexcept { return static_cast<const Rpc&>(self).payload_; }
    static bool fits(const rpc_base& self) noexcept { return iba::fits(request(self)); }
    static std::string invalid_value(const rpc_base& self) { return iba::range_error(request(self)).text; }
    static void encode(const rpc_base& self, u8* data) noexcept { iba::encode(request(self), data); }
};
/// The payload_ops of an Rpc.
template <class Rpc>
inline constexpr payload_ops payload_ops_of{&payload_access<Rpc>::fits, &payload_access<Rpc>::invalid_value,
                                            &payload_access<Rpc>::encode};

} // namespace detail

/// One RPC that returns a T, or with `with_header`, the T with its header, path and source. Await it once, in the
/// scope that created it.
template <iba::wire T, bool WithHeader = false> class [[nodiscard]] rpc final : public detail::rpc_base {
public:
    using value_type = std::conditional_t<WithHeader, reply<T>, T>;

    /// Creates a request with a payload of zeros.
    rpc(MADSchedule& s, const rpc_request& request) noexcept : rpc_base(s, request, nullptr, &take, false) {}
    /// Creates a request with a payload.
    rpc(MADSchedule& s, const rpc_request& request, const T& payload) noexcept
        : rpc_base(s, request, &detail::payload_ops_of<rpc>, &take, false), payload_(payload) {}

    mad::result<value_type> await_resume() noexcept {
        if (failed()) return take_error();
        if constexpr (WithHeader) return reply<T>{payload_, header_, target(), source()};
        else return payload_;
    }

private:
    friend struct detail::payload_access<rpc>;
    static std::string take(rpc_base& self, std::span<const u8> mad) noexcept {
        auto& me = static_cast<rpc&>(self);
        const std::size_t begin = mad::payload_offset(iba::MgmtClass{mad[1]}, me.kind().attributeID);
        if (mad.size() < begin + iba::wire_size<T>) return "the attribute is truncated";
        iba::decode(me.payload_, mad.data() + begin);
        if constexpr (WithHeader) iba::decode(me.header_, mad.data());
        return {};
    }
    struct nothing {};
    T payload_{}; // the request first, then the reply
    [[no_unique_address]] std::conditional_t<WithHeader, iba::MADHeader, nothing> header_{};
};

/// One RPC that sends a Request and returns a table of Records as a std::vector; with `with_header`, the table with
/// its header, path and source. The reply can have any number of MADs (IBA 13.6). Await it once, in the scope
/// that created it.
/// Errors: those of rpcs.hpp; malformed_reply even if the records are smaller than a Record.
template <iba::wire Request, iba::wire Record, bool WithHeader = false>
class [[nodiscard]] table_rpc final : public detail::rpc_base {
public:
    using table = std::vector<Record>;
    using value_type = std::conditional_t<WithHeader, reply<table>, table>;

    table_rpc(MADSchedule& s, const rpc_request& request, const Request& payload) noexcept
        : rpc_base(s, request, &detail::payload_ops_of<table_rpc>, &take, true), payload_(payload) {}

    mad::result<value_type> await_resume() noexcept {
        if (failed()) return take_error();
        if constexpr (WithHeader) return reply<table>{std::move(records_), header_, target(), source()};
        else return std::move(records_);
    }

private:
    friend struct detail::payload_access<table_rpc>;
    static std::string take(rpc_base& self, std::span<const u8> mad) noexcept {
        auto& me = static_cast<table_rpc&>(self);
        auto table = mad::record_table::of_reply(mad, iba::wire_size<Record>);
        if (!table) return std::move(table.error().text);
        me.records_.resize(table.value().size());
        for (std::size_t i = 0; i < me.records_.size(); ++i) iba::decode(me.records_[i], table.value()[i].data());
        if constexpr (WithHeader) iba::decode(me.header_, mad.data());
        return {};
    }
    struct nothing {};
    Request payload_;
    table records_;
    [[no_unique_address]] std::conditional_t<WithHeader, iba::MADHeader, nothing> header_{};
};

/// The lengths of replies that a raw_rpc accepts.
enum class reply_size : u8 {
    of_method,  ///< 256 bytes; any length for table methods
    any_length, ///< any length for all methods, for vendor attributes without a defined size
};

/// One RPC whose payload is known only at run time. `mad` is a complete request, except for its transaction ID. The
/// result is a complete reply. It is for tools that get class, method and fields from the user.
class [[nodiscard]] raw_rpc final : public detail::rpc_base {
public:
    using value_type = reply<std::vector<u8>>;

    /// Creates the RPC. The kind and modifier of `request` must match those in `mad`.
    raw_rpc(MADSchedule& s, const rpc_request& request, std::span<const u8, mad::mad_size> mad,
            reply_size size = reply_size::of_method) noexcept
        : rpc_base(s, request, &raw_payload_ops, &take,
                   size == reply_size::any_length || mad::is_table_method(request.kind.method)) {
        std::copy(mad.begin(), mad.end(), request_.begin());
    }
    mad::result<value_type> await_resume() noexcept {
        if (failed()) return take_error();
        return value_type{std::move(reply_), header_, target(), source()};
    }

private:
    static bool fits(const rpc_base&) noexcept { return true; }
    static std::string invalid_value(const rpc_base&) { return {}; }
    static void encode(const rpc_base& self, u8* data) noexcept {
        const auto& me = static_cast<const raw_rpc&>(self);
        constexpr std::size_t header = iba::wire_size<iba::MADHeader>; // the caller sets the rest
        u8* mad = data - mad::payload_offset(iba::MgmtClass{me.request_[1]}, me.kind().attributeID);
        std::memcpy(mad + header, me.request_.data() + header, mad::mad_size - header);
    }
    static constexpr detail::payload_ops raw_payload_ops{&fits, &invalid_value, &encode};
    static std::string take(rpc_base& self, std::span<const u8> mad) noexcept {
        auto& me = static_cast<raw_rpc&>(self);
        me.reply_.assign(mad.begin(), mad.end());
        iba::decode(me.header_, mad.data());
        return {};
    }
    std::array<u8, mad::mad_size> request_{};
    std::vector<u8> reply_;
    iba::MADHeader header_;
};

} // namespace comad::coro
