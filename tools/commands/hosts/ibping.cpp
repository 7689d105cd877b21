// SPDX-License-Identifier: MIT
// ibping.cpp - ibping: measures whether and how fast a host replies. Also contains the server that replies.
#include "comad.hpp"
#include "command.hpp"
#include "commands/hosts/ibping_all.hpp"
#include "session/host_service.hpp"
#include "session/reconnecting_session.hpp"
#include "session/report.hpp"
#include "text/error_text.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/server/diags.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The command line of ibping.
struct ibping_settings : host_service_options {
    std::optional<u64> count;
    bool flood = false, all = false;
    u64 top = 0;
};

/// Formats a duration in milliseconds: `1.234`.
std::string as_ms(mad::duration time) {
    const auto us = duration_cast<microseconds>(time).count();
    return fmt::format("{}.{:03}", us / 1000, us % 1000);
}

/// The results of the pings so far.
class ping_statistics {
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
    /// Returns the number of pings that are known to be lost. A ping that is still in flight at the end does not count: it may get a reply.
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
        nlohmann::ordered_json host, rtt;
        if (received_) {
            host = json_string(host_);
            rtt = {{"min", json_number(mad::in_seconds(least_))},
                   {"avg", json_number(mad::in_seconds(mean()))},
                   {"max", json_number(mad::in_seconds(most_))}};
        }
        return json_line({{"LID", LID},
                          {"host", std::move(host)},
                          {"transmitted", transmitted_},
                          {"received", received_},
                          {"lost", transmitted_ - received_},
                          {"seconds", json_number(mad::in_seconds(took))},
                          {"round_trip_seconds", std::move(rtt)}});
    }

private:
    mad::duration mean() const { return received_ ? total_ / static_cast<mad::duration::rep>(received_) : total_; }

    std::string host_; // host that replied first
    u64 transmitted_ = 0, received_ = 0, failed_ = 0;
    mad::duration least_{0}, most_{0}, total_{0};
};

std::string as_json(u64 number, const std::string& host, mad::duration rtt) {
    return json_line(
        {{"seq", number}, {"host", json_string(host)}, {"round_trip_seconds", json_number(mad::in_seconds(rtt))}});
}
std::string as_text(const std::string& host, unsigned LID, mad::duration rtt) {
    return fmt::format("Pong from {} (Lid {}): time {} ms\n", iba::escaped(host), LID, as_ms(rtt));
}

/// Sends pings, and prints the results as they arrive.
class ping_run {
public:
    ping_run(session& in, command_target target, const ibping_settings& s)
        : in_(in), target_(std::move(target)), how_(s), count_(s.count.value_or(std::numeric_limits<u64>::max())),
          query_{server::ping_class, server::ping_attribute, s.OUI()}, start_(in.now()) {}

    /// Sends pings until the limit is reached or a signal arrives. Returns nullopt if the device was disconnected; call it again to
    /// continue.
    /// Errors: no path to the target.
    coro::task<std::optional<mad::result<exit_code>>> run() {
        bool goes_on = true;
        for (bool is_found = false; goes_on && !is_found;) {
            auto to = co_await resolve_host(in_, target_);
            if (!to) co_await in_.is_disconnected();
            if (is_disconnected()) co_return std::nullopt;
            if (!to && !has_started_) co_return std::move(to.error());
            has_started_ = true;
            is_found = to.has_value();
            if (is_found) {
                to_ = to.value();
                continue;
            }
            if (to.error().code != mad::errc::cancelled) print_failure(to.error());
            goes_on = co_await in_.schedule().pause(std::chrono::seconds(1));
        }
        while (goes_on && all_.transmitted() < count_) {
            if (!how_.flood && all_.transmitted() > 0) goes_on = co_await in_.schedule().pause(std::chrono::seconds(1));
            if (goes_on) goes_on = co_await ping();
        }
        if (is_disconnected()) co_return std::nullopt;
        co_return end();
    }

    exit_code end() {
        const mad::duration took = in_.now() - start_;
        write_output(how_.json ? all_.json(LID(), took) : all_.text(LID(), took));
        const bool has_no_reply = all_.transmitted() > 0 && all_.received() == 0;
        if (has_no_reply && all_.failures() == 0) print_message("ended before a reply was received");
        return all_.failures() > 0 || has_no_reply ? partial : complete;
    }

private:
    /// Returns whether the device was disconnected and the command waits for it. If the number of pings is limited, the command does not
    /// wait.
    bool is_disconnected() const noexcept { return !how_.count && in_.disconnect_error() != 0; }
    unsigned LID() const noexcept { return value(to_.DLID); }
    void print_failure(const mad::mad_error& e) const { print_error(e, in_.options()); }

    /// Sends one ping. Returns false if a signal arrived or the transport failed.
    coro::task<bool> ping() {
        all_.sent();
        const mad::time_point sent = in_.now();
        const auto host = co_await query_host(in_, to_, query_);
        const mad::duration rtt = in_.now() - sent;
        if (host) {
            all_.answered(host.value(), rtt);
            if (how_.json) write_output(as_json(all_.transmitted(), host.value(), rtt));
            else if (!how_.flood) write_output(as_text(host.value(), LID(), rtt));
            co_return true;
        }
        const bool has_gone = co_await in_.is_disconnected();
        if (!has_gone && host.error().code == mad::errc::cancelled) co_return false;
        all_.failed();
        if (has_gone && is_disconnected()) co_return false; // the session reports the disconnection
        print_failure(host.error());
        co_return host.error().code != mad::errc::transport_failed;
    }

    session& in_;
    const command_target target_;
    const ibping_settings& how_;
    const u64 count_;
    const host_query query_;
    const mad::time_point start_;
    mad::IBPath to_;
    bool has_started_ = false;
    ping_statistics all_;
};

int run_client(const ibping_settings& s, const global_options& options) {
    const command_target target = read_host(s);
    session in(options, &target, nullptr, s.count ? opens::at_once : opens::when_ready);
    if (in.is_virtual() && !s.count)
        throw usage_error("ibping would not end in virtual time, not even by Ctrl-C; give a count with -c");
    ping_run all(in, target, s);
    const std::unique_ptr<lasting_output> lines = s.count ? nullptr : lasting_output_of(in);
    using outcome = mad::result<exit_code>;
    std::optional<outcome> ended;
    if (s.count) {
        ended = in.run(all.run());
    } else {
        disconnect_listener listener;
        listener.on_back = [](const disconnect& over) {
            if (!over.was_open) return std::string();
            return fmt::format("{} pings were not sent", over.length / std::chrono::seconds(1));
        };
        ended = reconnecting_session(in, listener).run<outcome>([&] { return all.run(); });
        if (!ended) ended = all.end(); // a signal arrived while the device was disconnected
    }
    const bool took_all = finish(in, lines.get());
    if (!*ended) print_error(ended->error(), options);
    const exit_code code = *ended ? ended->value() : failed;
    return finish(in, took_all || code != complete ? code : partial);
}

int run_ibping(const ibping_settings& s, const global_options& options) {
    const comad::u32 OUI = s.OUI();
    if (s.all) {
        if (s.serves || !s.target.empty()) throw usage_error("--all pings every host; remove the target and -S");
        if (s.count == comad::u64{0}) throw usage_error("--all needs at least one ping for each host; -c is 0");
        return run_ping_all({s.count.value_or(3), s.top, OUI, s.json}, options);
    }
    if (!s.serves) return run_client(s, options);
    return serve(options, s, [&](server::responder& to) { server::add_ping(to, server::this_host(), OUI); });
}

} // namespace

command ibping_command() {
    return {.name = "ibping", .group = command_group::hosts, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibping_settings>();
                add_host_service_options(takes, *s);
                takes.option("-c,--count", s->count);
                const argument& flood = takes.flag("-f,--flood", s->flood);
                const argument& all = takes.flag("--all", s->all).excludes(flood);
                takes.option("--top", s->top).range(1, 1'000'000).needs(all);
                return [s](const global_options& options) { return run_ibping(*s, options); };
            }};
}

} // namespace ibtool
