// SPDX-License-Identifier: MIT
// rpc.hpp - the awaitable of one RPC: the engine's operation, the request and the decoded reply, in the coroutine frame.
#pragma once
#include <comad/coro/scope.hpp>
#include <comad/iba/checked.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/wire.hpp>
#include <comad/mad/engine.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/message.hpp>

#include <chrono>
#include <coroutine>
#include <optional>
#include <string>

namespace comad::coro {

class MADSchedule;

/// How patiently one RPC is made. What is left out comes from the schedule's options.
struct rpc_options {
    mad::duration timeout{0}; ///< per attempt; kept within 1 ms or 5 %; 0: the schedule's
    int retries = -1;         ///< attempts after the first, 0..255; -1: the schedule's
};

/// A reply with all that came with it.
template <class T> struct reply {
    T payload;
    iba::MADHeader header;      ///< of the reply; on directed routes the D bit is the highest of its status
    mad::any_path path;         ///< where the request went
    mad::source_address source; ///< where the reply came from, as the packet says
};

namespace detail {

/// What all RPCs share; not a template, so that it is compiled once.
class rpc_base : private mad::op, private pending {
public:
    rpc_base(const rpc_base&) = delete;
    rpc_base& operator=(const rpc_base&) = delete;

    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        awaiting_ = awaiting;
        return submit(awaiting.promise().scope);
    }

protected:
    /// What is done with a payload of one type.
    struct request_payload {
        bool (*fits)(const rpc_base&) noexcept; ///< false: some value is wider than its field
        std::string (*misfit)(const rpc_base&); ///< which, in words
        void (*encode)(const rpc_base&, u8* data) noexcept;
    };
    using take_reply = void (*)(rpc_base&, const u8* mad) noexcept;
    rpc_base(MADSchedule&, const mad::rpc_kind&, const mad::any_path&, u32 attributeModifier, rpc_options,
             const request_payload*, take_reply) noexcept;
    ~rpc_base() override {
        if (where != place::nowhere) withdraw();
    }

    bool failed() const noexcept { return error_.has_value(); }
    mad::mad_error take_error() noexcept { return std::move(*error_); }
    const mad::any_path& target() const noexcept { return path_; }
    const mad::source_address& source() const noexcept { return source_; }

private:
    bool submit(scope_state*) noexcept;
    void cancel() noexcept override;
    void withdraw() noexcept;
    static void encode_request(mad::op&, u8* mad);
    static void finished(mad::op&, const mad::completion&);
    void fail(mad::errc, const mad::completion&);

    MADSchedule& schedule_;
    const mad::rpc_kind& kind_;
    mad::any_path path_;
    u32 attributeModifier_;
    const request_payload* carried_; // null: zeros
    take_reply take_reply_;
    std::coroutine_handle<> awaiting_;
    mad::source_address source_;
    std::optional<mad::mad_error> error_;
};

} // namespace detail

/// One RPC that gives a T, or the T with its header, path and source (`with_header`). Awaited once, where it was made.
template <iba::wire T, bool WithHeader = false> class [[nodiscard]] rpc final : public detail::rpc_base {
public:
    using value_type = std::conditional_t<WithHeader, reply<T>, T>;

    /// A request with zeros for a payload.
    rpc(MADSchedule& s, const mad::rpc_kind& kind, const mad::any_path& to, u32 modifier, rpc_options options) noexcept
        : rpc_base(s, kind, to, modifier, options, nullptr, &take) {}
    /// A request that carries `request`.
    rpc(MADSchedule& s, const mad::rpc_kind& kind, const T& request, const mad::any_path& to, u32 modifier,
        rpc_options options) noexcept
        : rpc_base(s, kind, to, modifier, options, &carried, &take), payload_(request) {}

    mad::result<value_type> await_resume() noexcept {
        if (failed()) return take_error();
        if constexpr (WithHeader) return reply<T>{payload_, header_, target(), source()};
        else return payload_;
    }

private:
    static const T& request(const rpc_base& self) noexcept { return static_cast<const rpc&>(self).payload_; }
    static bool fits(const rpc_base& self) noexcept { return iba::fits(request(self)); }
    static std::string misfit(const rpc_base& self) { return iba::range_error(request(self)).text; }
    static void encode(const rpc_base& self, u8* data) noexcept { iba::encode(request(self), data); }
    static constexpr detail::rpc_base::request_payload carried{&fits, &misfit, &encode};
    static void take(rpc_base& self, const u8* mad) noexcept {
        auto& me = static_cast<rpc&>(self);
        iba::decode(me.payload_, mad + mad::payload_offset(iba::MgmtClass{mad[1]}));
        if constexpr (WithHeader) iba::decode(me.header_, mad);
    }
    struct nothing {};
    T payload_{}; // the request first, then the reply
    [[no_unique_address]] std::conditional_t<WithHeader, iba::MADHeader, nothing> header_{};
};

} // namespace comad::coro
