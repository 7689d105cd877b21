// SPDX-License-Identifier: MIT
// trace.hpp - events of MADs for tracing, and two tracers that print them as lines. It does not depend on the engine.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <functional>
#include <span>
#include <string>
#include <utility>

namespace comad::mad {

/// One event of one MAD.
struct trace_event {
    /// What happened to the MAD.
    enum class kind : u8 {
        send,       ///< the first attempt of a request was sent
        retry,      ///< a further attempt was sent
        reply,      ///< a request was replied to: `mad` is the reply
        timed_out,  ///< the last attempt of a request expired
        unexpected, ///< a MAD arrived that is not a reply to a pending request: late, duplicate or foreign
        request,    ///< a server received a request
        response,   ///< a server replied: `mad` is the response
    };
    kind what;
    time_point when;                        ///< time of the driver, which does not advance while it handles messages
    std::span<const u8> request{};          ///< the request as sent; empty if unexpected
    std::span<const u8> mad{};              ///< the received MAD, or the response; empty for send, retry and timed_out
    const any_path* path = nullptr;         ///< path of the request; null if unexpected
    const source_address* source = nullptr; ///< source of a received MAD; null for a MAD that was sent
};

/// Receives every event, in order. The event and its data are valid only during the call. Without a sink, a schedule
/// only checks one pointer per MAD.
class trace_sink {
public:
    virtual void on_event(const trace_event&) noexcept = 0;

protected:
    ~trace_sink() = default;
};

/// Receives the output lines, without line breaks, in the format of the tracers of python-rdma.
using trace_lines = std::function<void(const std::string& line)>;

/// Prints one line for each completion, retry and unexpected MAD:
/// `RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17) completed to 'DR Path (0, 1)' len 256.`
class simple_tracer final : public trace_sink {
public:
    explicit simple_tracer(trace_lines out) : out_(std::move(out)) {}
    void on_event(const trace_event&) noexcept override;

private:
    trace_lines out_;
};

/// Prints the lines of simple_tracer, and every request and reply decoded (dump_mad() in iba/print.hpp), without keys
/// (iba/keys.hpp).
class dumper_tracer final : public trace_sink {
public:
    explicit dumper_tracer(trace_lines out) : out_(std::move(out)) {}
    void on_event(const trace_event&) noexcept override;

private:
    trace_lines out_;
};

/// Prints the lines of dumper_tracer, with keys.
class dumper_tracer_with_keys final : public trace_sink {
public:
    explicit dumper_tracer_with_keys(trace_lines out) : out_(std::move(out)) {}
    void on_event(const trace_event&) noexcept override;

private:
    trace_lines out_;
};

/// Returns `MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21)` for any MAD that has a header; unknown parts
/// are `??`.
std::string describe_mad(std::span<const u8> mad);

} // namespace comad::mad
