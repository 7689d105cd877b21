// SPDX-License-Identifier: MIT
// trace.hpp - what happens to MADs, told to whoever wants to know, and two ways to put it into lines. Knows no engine.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <functional>
#include <span>
#include <string>
#include <utility>

namespace comad::mad {

/// One thing that happened to one MAD.
struct trace_event {
    enum class kind : u8 {
        send,       ///< the first attempt of a request left
        retry,      ///< a further attempt left
        reply,      ///< a request was answered: `mad` is the reply
        timed_out,  ///< the last attempt of a request expired
        unexpected, ///< a MAD came that answers nothing of ours: late, doubled, foreign
        request,    ///< a server got a request
        response,   ///< a server answered: `mad` is the answer
    };
    kind what;
    time_point when;                        ///< the driver's time, which stands still while messages are handled
    std::span<const u8> request{};          ///< as sent; empty if unexpected
    std::span<const u8> mad{};              ///< what came, or the response; empty of send, retry and timed_out
    const any_path* path = nullptr;         ///< of the request; null if unexpected
    const source_address* source = nullptr; ///< of what came; null of what was sent
};

/// Hears of every event, in order. Everything in an event is valid during the call only. A schedule without a sink asks
/// one pointer per MAD.
class trace_sink {
public:
    virtual void on_event(const trace_event&) noexcept = 0;

protected:
    ~trace_sink() = default;
};

/// Lines without line breaks, as python-rdma's tracers write them.
using trace_lines = std::function<void(const std::string& line)>;

/// One line for each completion, retry and unexpected MAD:
/// `RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17) completed to 'DR Path (0, 1)' len 256.`
class simple_tracer final : public trace_sink {
public:
    explicit simple_tracer(trace_lines out) : out_(std::move(out)) {}
    void on_event(const trace_event&) noexcept override;

private:
    trace_lines out_;
};

/// The same, and the decoded words of every request and reply (dump_mad() in iba/print.hpp), without keys (iba/keys.hpp).
class dumper_tracer final : public trace_sink {
public:
    explicit dumper_tracer(trace_lines out) : out_(std::move(out)) {}
    void on_event(const trace_event&) noexcept override;

private:
    trace_lines out_;
};

/// `MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21)` of any MAD that has a header; `??` for what is unknown.
std::string describe_mad(std::span<const u8> mad);

} // namespace comad::mad
