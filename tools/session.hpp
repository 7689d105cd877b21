// SPDX-License-Identifier: MIT
// session.hpp - a schedule on a fabric for the length of one command: runs tasks to their end, lets Ctrl-C end them early,
// shows progress, traces, counts; lets the SA answer if that was asked for. Knows no command.
#pragma once
#include "fabric.hpp"
#include "options.hpp"
#include "pcap.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/iba/table.hpp>
#include <comad/mad/trace.hpp>
#include <comad/sa/client.hpp>
#include <comad/sa/transactor.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ibtool {

class session {
public:
    /// Opens the fabric; throws what that throws. From here to the destructor a signal kills no program on a descriptor:
    /// a server would be left with a client that is gone.
    /// `target`: as the fabric's.
    explicit session(const global_options& options, const comad::mad::address* target = nullptr);
    ~session();

    const global_options& options() const noexcept { return options_; }
    comad::coro::MADSchedule& schedule() noexcept { return schedule_; }
    /// Paths from our port.
    comad::sa::client& paths() noexcept { return paths_; }
    const comad::sa::local_port& local_port() const noexcept { return fabric_.local_port(); }

    /// What a node says; with --sa what the SA knows of it. Throws usage_error if that is nothing.
    template <comad::iba::attribute T>
    comad::coro::task<comad::mad::result<T>> SubnGet(comad::mad::any_path path, comad::u32 modifier = 0);

    /// Runs the task. SIGINT and SIGTERM cancel it: it then ends soon, with what it has. When it takes longer than a
    /// second and stderr is a terminal, `progress` is shown there, if there is any.
    template <class T> T run(comad::coro::task<T> t, std::function<std::string()> progress = {}) {
        return run_on(schedule_, with_SM_Key(std::move(t)), std::move(progress));
    }
    /// The same on another schedule over the same transport, schedule().transport(): for a command that needs several, one
    /// after the other. It is made for this run alone.
    template <class T>
    T run_on(comad::coro::MADSchedule&, comad::coro::task<T>, std::function<std::string()> progress = {});
    /// Runs `f` in the thread of the running task, soon, and then the task goes on if it can. From any thread, while the
    /// session lives; not where time is simulated.
    void post(std::function<void()> f);
    /// A signal has cancelled what ran.
    bool stopped() const noexcept { return stopped_; }

    /// Time is the simulation's: it passes when everything waits, and signals end the program.
    bool is_virtual() const noexcept { return fabric_.transport().native_handle() < 0; }
    /// What time it is, up to date also within a task.
    comad::mad::time_point now() const noexcept;
    /// Who hears of every MAD; null if -d was not given.
    comad::mad::trace_sink* trace() noexcept;

    /// Ends the capture that --pcap asked for. Returns one line if not all of it is in the file, else nothing.
    std::string finish_capture();

    /// If asked for by -v: lines of MADs, retries, timeouts, time and rate.
    std::string counts() const;

private:
    class event_loop;
    template <class T> comad::coro::task<T> with_SM_Key(comad::coro::task<T> t) {
        co_await paths_.take_SM_Key(); // without it, requests to the SA tell what is wrong
        co_return co_await std::move(t);
    }
    void begin(std::function<std::string()> progress);
    void end();
    void count(const comad::coro::MADSchedule&, std::chrono::nanoseconds took);
    comad::mad::transport& transport(const global_options& options);

    const global_options& options_;
    boost::asio::io_context io_{1};
    boost::asio::cancellation_signal stop_;
    bool stopped_ = false;
    comad::coro::asio_driver* driver_ = nullptr; // of the running task
    std::unique_ptr<event_loop> loop_; // before the fabric: its opening and closing are not to be interrupted either
    fabric fabric_;
    std::optional<pcap_writer> capture_file_;
    std::optional<comad::transports::capture_transport> capture_;
    comad::coro::MADSchedule schedule_;
    std::optional<comad::mad::simple_tracer> simple_tracer_;
    std::optional<comad::mad::dumper_tracer> dumper_tracer_;
    comad::sa::client paths_;
    comad::sa::SATransactor<comad::coro::MADSchedule> by_SA_;
    comad::mad::engine_counters of_others_; // schedules than ours
    std::chrono::nanoseconds took_{};
};

template <comad::iba::attribute T>
comad::coro::task<comad::mad::result<T>> session::SubnGet(comad::mad::any_path path, comad::u32 modifier) {
    if (!options_.by_SA) {
        auto keyed = co_await paths_.with_keys(path);
        if (!keyed) co_return std::move(keyed.error());
        co_return co_await schedule_.SubnGet<T>(keyed.value(), modifier);
    }
    if constexpr (comad::sa::known_to_SA<T>) co_return co_await by_SA_.SubnGet<T>(path, modifier);
    else throw usage_error(std::string("the SA does not know ") + std::string(comad::iba::info_of<T>.name));
}

template <class T>
T session::run_on(comad::coro::MADSchedule& schedule, comad::coro::task<T> t, std::function<std::string()> progress) {
    const comad::mad::time_point from = now();
    if (is_virtual()) {
        schedule.set_now(from);
        T value = comad::coro::sync_wait(schedule, std::move(t));
        schedule_.set_now(schedule.now());
        count(schedule, now() - from);
        return value;
    }
    std::optional<T> value;
    comad::coro::asio_driver driver(io_, schedule);
    driver_ = &driver;
    begin(std::move(progress));
    comad::coro::async_run(driver, std::move(t), boost::asio::bind_cancellation_slot(stop_.slot(), [&](T v) {
                               value.emplace(std::move(v));
                               end();
                           }));
    io_.run();
    driver_ = nullptr;
    count(schedule, now() - from);
    return std::move(*value);
}

} // namespace ibtool
