// SPDX-License-Identifier: MIT
// session.cpp - signals, progress and counts around a running task.
#include "session/session.hpp"

#include "session/memory_reserve.hpp"
#include "session/stop_signals.hpp"
#include "text/output.hpp"

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace ibtool {

using namespace std::chrono_literals;

// What the io_context does beside the task.
class session::event_loop {
public:
    event_loop(boost::asio::io_context& io, boost::asio::cancellation_signal& stop, bool& stopped)
        : signals_(io), timer_(io), stop_(stop), stopped_(stopped) {
        const stop_signals_held until_all_is_set;
        signals_.add(SIGINT);
        signals_.add(SIGTERM);
        end_by_second_signal();
    }
    /// A signal that came since end() is heard now.
    void begin(std::function<std::string()> progress) {
        signals_.async_wait([this](boost::system::error_code error, int) {
            if (error) return;
            stopped_ = true;
            stop_.emit(boost::asio::cancellation_type::terminal);
        });
        progress_ = std::move(progress);
        if (progress_ && ::isatty(STDERR_FILENO)) show_at(std::max(first_shown_, std::chrono::steady_clock::now()));
    }
    void end() {
        signals_.cancel();
        timer_.cancel();
        progress_ = {}; // its handler may be on its way already
        if (std::exchange(shown_, false)) print_error("\r\033[K");
    }

private:
    void show_at(std::chrono::steady_clock::time_point when) {
        timer_.expires_at(when);
        timer_.async_wait([this](boost::system::error_code error) {
            if (error || !progress_) return;
            shown_ = true;
            print_error("\r\033[K{}", progress_());
            show_at(std::chrono::steady_clock::now() + 200ms);
        });
    }

    boost::asio::signal_set signals_;
    boost::asio::steady_timer timer_;
    boost::asio::cancellation_signal& stop_;
    bool& stopped_;
    std::chrono::steady_clock::time_point first_shown_ = std::chrono::steady_clock::now() + 1s;
    std::function<std::string()> progress_;
    bool shown_ = false;
};

namespace {

/// Those that counts() tells of.
void add(comad::mad::engine_counters& sum, const comad::mad::engine_counters& c) {
    sum.sent += c.sent;
    sum.retried += c.retried;
    sum.timed_out += c.timed_out;
    sum.stale += c.stale;
    sum.mismatched += c.mismatched;
    sum.malformed += c.malformed;
}

/// Opens what the options say, and later the same again: of several devices no other, if that one went away.
std::function<fabric()> opener(const global_options& options, const comad::mad::address* target) {
    return [o = options, to = target ? std::optional(*target) : std::nullopt]() mutable {
        fabric opened(o, to ? &*to : nullptr);
        o.fabric = opened.place();
        o.ca.clear();
        o.ca_port = 0;
        return opened;
    };
}

} // namespace

session::session(const global_options& options, const comad::mad::address* target)
    : session(options, opener(options, target)) {}

session::session(const global_options& options, std::function<fabric()> open)
    : options_(options), loop_(std::make_unique<event_loop>(io_, stop_, stopped_)), open_fabric_(std::move(open)) {
    reserve_memory();
    const comad::mad::trace_lines to_stderr = [](const std::string& line) { print_error("D: {}\n", line); };
    if (options.debug > 1) dumper_tracer_.emplace(to_stderr);
    else if (options.debug) simple_tracer_.emplace(to_stderr);
    this->open();
    had_LID_ = local_port().LID != comad::iba::lid{};
    is_virtual_ = open_->on.transport().native_handle() < 0;
    if (is_virtual()) loop_.reset(); // nobody would listen
}
session::~session() = default;

session::opening::opening(session& in)
    : on(in.open_fabric_()), schedule(watched(in), in.options_.schedule()), paths(schedule, on.local_port()),
      by_SA(schedule, on.local_port().LID) {
    paths.set_keys(&in.options_.keys);
    schedule.set_trace(in.trace());
}

// The fabric's transport, behind what shows its MADs to a capture and what hears when it fails.
comad::mad::transport& session::opening::watched(session& in) {
    comad::mad::transport* top = &on.transport();
    if (!in.options_.pcap.empty()) {
        if (!in.capture_file_) in.capture_file_.emplace(in.options_.pcap);
        top = &capture.emplace(*top, [&in](const auto& mad) { in.capture_file_->write(mad); });
    }
    return watch.emplace(*top, [&in](int error) { in.lost(error); });
}

void session::open() {
    open_ = std::make_unique<opening>(*this);
    loss_ = 0;
    device_ = open_->schedule.transport().name();
    if (had_LID_ && local_port().LID == comad::iba::lid{}) {
        close();
        throw std::runtime_error("it has no LID yet: the subnet manager has not configured it");
    }
}

void session::close() noexcept {
    if (!open_) return;
    add(of_others_, open_->schedule.counters());
    open_.reset();
}

comad::coro::task<bool> session::is_lost() {
    co_await schedule().pause(comad::mad::duration{0}); // the driver comes by
    co_return loss_ != 0;
}

std::string session::loss_text() const {
    return loss_ ? fmt::format("lost {}: {}", device_, std::strerror(loss_)) : std::string();
}

void session::lost(int error) noexcept {
    if (std::exchange(loss_, error) != 0 || !ends_when_lost_) return;
    // Later: what fails now is in the middle of its work.
    boost::asio::post(io_, [this] { stop_.emit(boost::asio::cancellation_type::terminal); });
}

bool session::wait(std::chrono::nanoseconds length) {
    if (stopped_) return false;
    boost::asio::steady_timer timer(io_, length);
    begin({});
    timer.async_wait([this](boost::system::error_code) { end(); });
    stop_.slot().assign([&timer](boost::asio::cancellation_type) { timer.cancel(); });
    io_.run();
    stop_.slot().clear();
    return !stopped_;
}

void session::stop() noexcept {
    stopped_ = true;
    stop_.emit(boost::asio::cancellation_type::terminal);
}

void session::post(std::function<void()> f) {
    boost::asio::post(io_, [this, f = std::move(f)] {
        if (!driver_) return; // it is over
        f();
        driver_->wake();
    });
}

std::string session::finish_capture() {
    try {
        if (capture_file_) capture_file_->finish();
        return {};
    } catch (const std::runtime_error& e) {
        return e.what();
    }
}

session::running::running(session& s, comad::coro::asio_driver& driver, std::function<std::string()> progress) : in(s) {
    in.driver_ = &driver;
    in.begin(std::move(progress));
}
session::running::~running() {
    in.end();
    in.driver_ = nullptr;
}

comad::mad::time_point session::now() const noexcept {
    return is_virtual() ? open_->schedule.now() : std::chrono::steady_clock::now();
}

comad::mad::trace_sink* session::trace() noexcept {
    if (simple_tracer_) return &*simple_tracer_;
    return dumper_tracer_ ? &*dumper_tracer_ : nullptr;
}

void session::begin(std::function<std::string()> progress) {
    io_.restart();
    loop_->begin(std::move(progress));
}

// What else runs goes on with the next task.
void session::end() {
    loop_->end();
    io_.stop();
}

void session::count(const comad::coro::MADSchedule& schedule, std::chrono::nanoseconds took) {
    took_ += took;
    if (&schedule != &open_->schedule) add(of_others_, schedule.counters());
}

std::string session::counts() const {
    if (options_.verbosity == 0) return {};
    auto c = of_others_;
    if (open_) add(c, open_->schedule.counters());
    const double seconds = comad::mad::in_seconds(took_);
    std::string text = fmt::format("{} MADs sent, {} retries, {} timeouts, {:.3f} s{}, {:.0f} MADs/s", c.sent,
                                   c.retried, c.timed_out, seconds, is_virtual() ? " of virtual time" : "",
                                   seconds > 0 ? static_cast<double>(c.sent + c.retried) / seconds : 0.0);
    text += of_others_.sent || !open_ ? "\n" : fmt::format(", window {}\n", open_->schedule.window());
    if (c.stale + c.mismatched + c.malformed) {
        text += fmt::format("{} stale, {} mismatched, {} malformed packets were ignored\n", c.stale, c.mismatched,
                            c.malformed);
    }
    if (open_ && open_->on.simulation().fabric) {
        text +=
            fmt::format("at most {} SMPs at one simulated node at once\n", open_->on.simulation().fabric->most_held());
    }
    return text;
}

} // namespace ibtool
