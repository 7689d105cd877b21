// SPDX-License-Identifier: MIT
// ibping.cpp - ibping: whether a host answers, and how soon; and the server that does.
#include "commands.hpp"
#include "host_service.hpp"
#include "output.hpp"
#include <comad/iba/text.hpp>
#include <comad/server/diags.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace coro = comad::coro;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace server = comad::server;
using comad::u64;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

struct settings : host_service_options {
    std::optional<u64> count;
    bool flood = false;
};

/// `1.234`
std::string as_ms(mad::duration time) {
    const auto us = duration_cast<microseconds>(time).count();
    return fmt::format("{}.{:03}", us / 1000, us % 1000);
}

/// What became of the pings so far.
class tally {
public:
    void sent() { ++transmitted_; }
    void answered(const std::string& host, mad::duration rtt) {
        if (received_ == 0) {
            host_ = host;
            least_ = rtt;
        }
        ++received_;
        least_ = std::min(least_, rtt);
        most_ = std::max(most_, rtt);
        total_ += rtt;
    }
    void failed() { ++failed_; }

    u64 transmitted() const { return transmitted_; }
    u64 received() const { return received_; }
    /// Pings that are known to be lost: one that was under way at the end may be answered yet.
    u64 failures() const { return failed_; }

    std::string text(unsigned LID, mad::duration took) const {
        const u64 lost = transmitted_ - received_;
        return fmt::format("\n--- {} (Lid {}) ibping statistics ---\n"
                           "{} packets transmitted, {} received, {}% packet loss, time {} ms\n"
                           "rtt min/avg/max = {}/{}/{} ms\n",
                           iba::escaped(host_), LID, transmitted_, received_,
                           transmitted_ ? lost * 100 / transmitted_ : 0, duration_cast<milliseconds>(took).count(),
                           as_ms(least_), as_ms(mean()), as_ms(most_));
    }
    std::string json(unsigned LID, mad::duration took) const {
        const std::string rtt =
            received_ ? fmt::format(R"({{"min":{},"avg":{},"max":{}}})", as_ms(least_), as_ms(mean()), as_ms(most_))
                      : "null";
        return fmt::format(R"({{"LID":{},"host":{},"transmitted":{},"received":{},"lost":{},"time_ms":{},"rtt_ms":{}}})"
                           "\n",
                           LID, received_ ? iba::json_quoted(host_) : "null", transmitted_, received_,
                           transmitted_ - received_, as_ms(took), rtt);
    }

private:
    mad::duration mean() const { return received_ ? total_ / static_cast<mad::duration::rep>(received_) : total_; }

    std::string host_; // who answered first
    u64 transmitted_ = 0, received_ = 0, failed_ = 0;
    mad::duration least_{0}, most_{0}, total_{0};
};

std::string as_json(u64 number, const std::string& host, mad::duration rtt) {
    return fmt::format("{{\"seq\":{},\"host\":{},\"time_ms\":{}}}\n", number, iba::json_quoted(host), as_ms(rtt));
}
std::string as_text(const std::string& host, unsigned LID, mad::duration rtt) {
    return fmt::format("Pong from {} (Lid {}): time {} ms\n", iba::escaped(host), LID, as_ms(rtt));
}

/// Writes what happens as it happens. An error: there is no path to the target.
coro::task<mad::result<exit_code>> ping(session& in, mad::address target, const settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto to, co_await resolve_host(in, target));
    const host_question question{server::ping_class, server::ping_attribute, s.OUI()};
    const unsigned LID = value(to.DLID);
    const u64 count = s.count.value_or(std::numeric_limits<u64>::max());
    const mad::time_point began = in.now();
    tally all;
    while (all.transmitted() < count) {
        if (!s.flood && all.transmitted() > 0) {
            const bool passed = co_await in.schedule().pause(std::chrono::seconds(1));
            if (!passed) break;
        }
        all.sent();
        const mad::time_point sent = in.now();
        const auto host = co_await ask_host(in, to, question);
        const mad::duration rtt = in.now() - sent;
        if (host) {
            all.answered(host.value(), rtt);
            if (s.json) write_output(as_json(all.transmitted(), host.value(), rtt));
            else if (!s.flood) write_output(as_text(host.value(), LID, rtt));
            continue;
        }
        if (host.error().code == mad::errc::cancelled) break;
        all.failed();
        fmt::print(stderr, "{}", mad::dump(host.error(), in.options().debug, "ibtool: "));
        if (host.error().code == mad::errc::transport_failed) break;
    }
    const mad::duration took = in.now() - began;
    write_output(s.json ? all.json(LID, took) : all.text(LID, took));
    const bool unheard = all.transmitted() > 0 && all.received() == 0;
    if (unheard && all.failures() == 0) fmt::print(stderr, "ibtool: ended before there was an answer\n");
    co_return all.failures() > 0 || unheard ? partial : complete;
}

int run_client(const settings& s, const global_options& options) {
    const mad::address target = read_host(s);
    session in(options, &target);
    if (in.is_virtual() && !s.count)
        throw usage_error("with time=virtual nothing ends ibping, not even Ctrl-C: give a count, -c N");
    const auto ended = in.run(ping(in, target, s));
    fmt::print(stderr, "{}", in.counts());
    if (!ended) fmt::print(stderr, "{}", mad::dump(ended.error(), options.debug, "ibtool: "));
    return in.end_with(ended ? ended.value() : failed);
}

int run_command(const settings& s, const global_options& options) {
    const comad::u32 OUI = s.OUI();
    if (!s.serves) return run_client(s, options);
    return serve(options, s, [&](server::responder& to) { server::add_ping(to, server::this_host(), OUI); });
}

} // namespace

void add_ibping(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("ibping", "see whether a host answers, and how soon");
    add_host_service_options(command, *s);
    command.add_option("-c,--count", s->count, "so many pings [until Ctrl-C]");
    command.add_flag("-f,--flood", s->flood, "the next ping as soon as the last is answered; a line for none of them");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
