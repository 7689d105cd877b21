// SPDX-License-Identifier: MIT
// session.cpp - runs a task, and handles signals, progress and counts meanwhile.
#include "session/session.hpp"

#include "session/memory_reserve.hpp"
#include "session/stop_signals.hpp"
#include "session/target.hpp"
#include "text/error_text.hpp"
#include "text/local_port_change.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

namespace ibtool {

using namespace std::chrono_literals;

// The additional work of the io_context while a task runs.
class session::event_loop {
public:
    event_loop(boost::asio::io_context& io, boost::asio::cancellation_signal& stop, bool& stopped)
        : signals_(io), timer_(io), stop_(stop), stopped_(stopped) {
        const signal_block until_all_is_set;
        signals_.add(SIGINT);
        signals_.add(SIGTERM);
        exit_on_second_signal();
    }
    /// Handles a signal that arrived since end().
    void begin(std::function<std::string()> progress) {
        signals_.async_wait([this](boost::system::error_code error, int) {
            if (error) return;
            stopped_ = true;
            note_stop_signal();
            stop_.emit(boost::asio::cancellation_type::terminal);
        });
        progress_ = std::move(progress);
        if (progress_ && ::isatty(STDERR_FILENO)) show_at(std::max(first_shown_, std::chrono::steady_clock::now()));
    }
    void end() {
        signals_.cancel();
        timer_.cancel();
        progress_ = {}; // its handler may be queued already
        if (std::exchange(shown_, false)) offer_error("\r\033[K");
    }

private:
    void show_at(std::chrono::steady_clock::time_point when) {
        timer_.expires_at(when);
        timer_.async_wait([this](boost::system::error_code error) {
            if (error || !progress_) return;
            shown_ = true;
            offer_error("\r\033[K" + progress_());
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

/// Adds the counters that counts() prints.
void add(comad::mad::engine_counters& sum, const comad::mad::engine_counters& c) {
    sum.sent += c.sent;
    sum.retried += c.retried;
    sum.timed_out += c.timed_out;
    sum.stale += c.stale;
    sum.mismatched += c.mismatched;
    sum.malformed += c.malformed;
}

/// Opens the fabric of the options, and later exactly this one again: never another device.
std::function<fabric()> opener(const global_options& options, const comad::mad::address* target) {
    return [o = options, to = target ? std::optional(*target) : std::nullopt]() mutable {
        fabric opened(o, to ? &*to : nullptr);
        o.fabric = opened.place();
        o.ca.clear();
        o.ca_port.clear();
        return opened;
    };
}

/// Returns whether the fabric can appear later, through a driver or a server. A file either exists or does not.
bool may_come_later(const global_options& options) { return is_local(options) || options.fabric.starts_with("ibsim"); }

/// Parses --sa-path.
std::optional<comad::mad::IBPath> sa_target_of(const global_options& options) {
    if (options.sa_path.empty()) return std::nullopt;
    const comad::mad::address target = read_address(options.sa_path, {});
    const auto* path = std::get_if<comad::mad::IBPath>(&target.path);
    if (!path) throw usage_error("--sa-path must not be a directed route; give the LID, GUID or GID of the SA");
    if (target.end_port) throw usage_error("--sa-path must not name a local port; use -P for that");
    if (target.SLID_bits || target.DLID_bits) throw usage_error("--sa-path must not have SLID_bits or DLID_bits");
    return *path;
}

} // namespace

session::session(const global_options& options, const comad::mad::address* target, boost::asio::io_context* shared,
                 opens when)
    : session(options, opener(options, target), shared, when) {}

session::session(const global_options& options, std::function<fabric()> open, boost::asio::io_context* shared,
                 opens when)
    : options_(options), sa_target_(sa_target_of(options)),
      own_io_(shared ? nullptr : std::make_unique<boost::asio::io_context>(1)), io_(shared ? *shared : *own_io_),
      loop_(std::make_unique<event_loop>(io_, stop_, stopped_)), open_fabric_(std::move(open)) {
    reserve_memory();
    const comad::mad::trace_lines to_stderr = [](const std::string& line) { print_error("D: {}\n", line); };
    if (options.debug > 1 && options.trace_keys) tracer_with_keys_.emplace(to_stderr);
    else if (options.debug > 1) dumper_tracer_.emplace(to_stderr);
    else if (options.debug) simple_tracer_.emplace(to_stderr);
    try {
        this->open();
    } catch (const usage_error&) {
        throw;
    } catch (const std::runtime_error& e) {
        if (when == opens::at_once || !may_come_later(options)) throw;
        start_problem_ = e.what();
        device_ = place_ = selected_fabric(options);
        return;
    }
    is_virtual_ = open_->on.transport().native_handle() < 0;
    if (is_virtual()) loop_.reset(); // nothing would handle the events
}
session::~session() = default;

session::opening::opening(session& in)
    : on(in.open_fabric_()), schedule(watched(in), in.options_.schedule()), paths(schedule, on.local_port()),
      by_sa(schedule, on.local_port().LID) {
    paths.set_keys(&in.options_.keys);
    paths.set_port_reader(in.sa_target_ ? with_fixed_sa(on.port_reader(), on.local_port()) : on.port_reader());
    paths.on_port_change([&in](const auto& was, const auto& now) { in.note_port_change(was, now); });
    on.on_port_event([&in] {
        if (in.on_port_event_) in.on_port_event_();
    });
    schedule.set_trace(in.trace());
}

// Returns the transport of the fabric, wrapped by the capture of MADs and by the detector of failures.
comad::mad::transport& session::opening::watched(session& in) {
    comad::mad::transport* top = &on.transport();
    if (!in.options_.pcap.empty()) {
        if (!in.capture_file_) {
            in.capture_file_.emplace(in.options_.pcap);
            in.capture_file_->gives_up_if(soon_after_stop_signal());
            if (in.is_lasting_) in.capture_file_->never_wait();
        }
        top = &capture.emplace(*top, [&in](const auto& mad) { in.note_mad(mad); });
    }
    return watch.emplace(*top, [&in](int error) { in.note_disconnect(error); });
}

void session::open() {
    open_ = std::make_unique<opening>(*this);
    disconnect_error_ = 0;
    device_ = open_->schedule.transport().name();
    place_ = open_->on.place();
    if (options_.debug) print_error("D: Using end port {} {}\n", device_or_fabric(), local_port().GID);
    if (had_lid_ && local_port().LID == comad::iba::lid{}) {
        close();
        throw std::runtime_error("the port has no LID yet: the subnet manager has not configured it");
    }
    had_lid_ |= local_port().LID != comad::iba::lid{};
}

void session::close() noexcept {
    if (!open_) return;
    add(of_others_, open_->schedule.counters());
    open_.reset();
}

comad::coro::task<bool> session::is_disconnected() {
    co_await schedule().pause(comad::mad::duration{0}); // gives control to the driver
    co_return disconnect_error_ != 0;
}

std::string session::device_or_fabric() const {
    return comad::iba::escaped(device_.empty() ? selected_fabric(options_) : device_);
}

std::string session::disconnect_text() const {
    return disconnect_error_ ? fmt::format("{} disconnected: {}", device_or_fabric(), std::strerror(disconnect_error_))
                             : std::string();
}

void session::note_disconnect(int error) noexcept {
    if (std::exchange(disconnect_error_, error) != 0 || !ends_on_disconnect_) return;
    // Deferred, because the failing code is still running.
    boost::asio::post(io_, [this] { stop_.emit(boost::asio::cancellation_type::terminal); });
}

comad::coro::task<void> session::refresh_port() {
    if (!open_->on.port_reader()) co_return;
    [[maybe_unused]] const auto read = co_await paths().refresh_port();
}

void session::note_port_change(const comad::sa::local_port& was, const comad::sa::local_port& now) {
    open_->by_sa.set_local_lid(now.LID);
    const std::string line = fmt::format("{}: {}", device_or_fabric(), text_of_change(was, now));
    if (on_port_change_) on_port_change_(line);
    else if (options_.verbosity > 0) print_message("{}", line);
}

comad::coro::task<void> session::find_sa() {
    const comad::mad::IBPath& wanted = *sa_target_;
    comad::mad::IBPath only_lid;
    only_lid.DLID = wanted.DLID;
    comad::mad::IBPath to_sa = wanted;
    // With a GRH the path is complete, as between ports of RoCE.
    if (wanted.DGID != comad::iba::gid{} && !wanted.has_grh) {
        const command_target target({wanted, std::nullopt});
        const auto path = co_await resolve(*this, target);
        if (!path) throw std::runtime_error("--sa-path: " + format_error(path.error(), options_));
        to_sa = *std::get_if<comad::mad::IBPath>(&path.value());
    } else if (wanted == only_lid) { // service level and response time of the path to the master's SA
        to_sa = schedule().sa_path();
        to_sa.DLID = wanted.DLID;
    }
    schedule().set_sa_path(to_sa);
}

void session::wait(std::chrono::nanoseconds length, std::function<void(bool)> then) {
    waiting_.emplace(io_, stopped_ ? std::chrono::nanoseconds(0) : length);
    loop_->begin({});
    stop_.slot().assign([this](boost::asio::cancellation_type) { waiting_->cancel(); });
    waiting_->async_wait([this, then = std::move(then)](boost::system::error_code) {
        stop_.slot().clear();
        loop_->end();
        then(!stopped_);
    });
}

void session::run_until_done(const std::function<void(std::function<void()> done)>& begin) {
    bool is_done = false;
    begin([&] {
        is_done = true;
        io_.stop();
    });
    if (is_done) return;
    io_.restart();
    io_.run();
}

void session::note_new_keys() {
    if (open_) open_->paths.renew_sm_key();
}

void session::stop() noexcept {
    stopped_ = true;
    stop_.emit(boost::asio::cancellation_type::terminal);
}

void session::post(std::function<void()> f) {
    boost::asio::post(io_, [this, f = std::move(f)] {
        if (!driver_) return; // the task has ended
        f();
        driver_->wake();
    });
}

void session::note_mad(const comad::transports::captured_mad& mad) {
    capture_file_->write(mad, options_.pcap_keys);
    if (capture_file_->dropped() > 0 && !std::exchange(reported_dropped_packets_, true))
        print_message("cannot write all packets to the capture '{}'; some are dropped",
                      comad::iba::escaped(options_.pcap));
}

void session::never_wait_for_readers() {
    is_lasting_ = true;
    if (capture_file_) capture_file_->never_wait();
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
    in.loop_->begin(std::move(progress));
}
session::running::~running() {
    in.loop_->end();
    in.driver_ = nullptr;
}

session::started::started(session& in, std::function<std::string()> progress)
    : from(in.now()), driver(in.io_, in.schedule()), until_done(in, driver, std::move(progress)) {}

void session::run_beside(const std::function<void(std::stop_token)>& work, std::function<std::string()> progress) {
    std::stop_source stop;
    std::exception_ptr thrown;
    if (stopped_) stop.request_stop();
    loop_->begin(std::move(progress));
    stop_.slot().assign([&stop](boost::asio::cancellation_type) { stop.request_stop(); });
    io_.restart();
    {
        const std::jthread worker([&] {
            try {
                work(stop.get_token());
            } catch (...) {
                thrown = std::current_exception();
            }
            boost::asio::post(io_, [this] { io_.stop(); }); // other work continues with the next task
        });
        io_.run();
    }
    stop_.slot().clear();
    loop_->end();
    if (thrown) std::rethrow_exception(thrown);
}

void session::end_started() {
    const comad::mad::time_point from = started_->from;
    started_.reset();
    count(schedule(), now() - from);
}

comad::mad::time_point session::now() const noexcept {
    return is_virtual() ? open_->schedule.now() : std::chrono::steady_clock::now();
}

comad::mad::trace_sink* session::trace() noexcept {
    if (simple_tracer_) return &*simple_tracer_;
    if (tracer_with_keys_) return &*tracer_with_keys_;
    return dumper_tracer_ ? &*dumper_tracer_ : nullptr;
}

void session::count(const comad::coro::MADSchedule& schedule, std::chrono::nanoseconds took) {
    took_ += took;
    if (&schedule != &open_->schedule) add(of_others_, schedule.counters());
}

void session::note_others(const comad::mad::engine_counters& others) noexcept { add(of_others_, others); }

comad::u64 session::sent() const noexcept { return of_others_.sent + (open_ ? open_->schedule.counters().sent : 0); }

std::string session::counts() const {
    // Under the name of an infiniband-diags command, -v has that command's meaning, and exporters take any text on stderr for a failure.
    if (options_.verbosity == 0 || is_called_by_link()) return {};
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
    if (open_ && open_->on.simulation()) {
        text += fmt::format("at most {} SMPs at one simulated node at the same time\n",
                            open_->on.simulation()->fabric->most_held());
    }
    return text;
}

} // namespace ibtool
