// SPDX-License-Identifier: MIT
// session.hpp - a schedule on a fabric for the length of one command: runs tasks to their end, lets Ctrl-C end them early,
// shows progress, traces, counts; lets the SA answer if that was asked for. Knows no command.
#pragma once
#include "input/options.hpp"
#include "input/pcap.hpp"
#include "session/disconnect_detector.hpp"
#include "session/fabric.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/iba/detail/table.hpp>
#include <comad/mad/trace.hpp>
#include <comad/sa/client.hpp>
#include <comad/sa/transactor.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ibtool {

/// What a query gives: a value, or the RPC that failed.
template <class T> using query_task = comad::coro::task<comad::mad::result<T>>;

/// When the fabric has to be there.
enum class opens : comad::u8 {
    at_once,   ///< when the session is made
    when_ready ///< later, if a device or server is not there yet: the session begins closed, and open() opens it
};

class session {
public:
    /// Opens the fabric; throws what that throws. From here to the destructor a signal kills no program on a descriptor:
    /// a server would be left with a client that is gone.
    /// `target`: as the fabric's. `shared`: an io_context that somebody else runs, for several sessions in one thread, where tasks
    /// are started and not run; it must outlive the session.
    /// `when`: with opens::when_ready a device or server that cannot be opened yet throws nothing; is_open() is false then, and
    /// start_problem() has the reason. What no waiting can change, as a wrong option, throws all the same.
    explicit session(const global_options& options, const comad::mad::address* target = nullptr,
                     boost::asio::io_context* shared = nullptr, opens when = opens::at_once);
    /// On the fabric that `open` gives, now and each time that open() is called.
    session(const global_options& options, std::function<fabric()> open, boost::asio::io_context* shared = nullptr,
            opens when = opens::at_once);
    ~session();

    const global_options& options() const noexcept { return options_; }
    bool is_open() const noexcept { return open_ != nullptr; }
    /// Why it could not be opened at the beginning; empty: it could.
    const std::string& start_problem() const noexcept { return start_problem_; }
    // These are there while the session is open, and other ones after it was opened again.
    comad::coro::MADSchedule& schedule() noexcept { return open_->schedule; }
    /// Paths from our port.
    comad::sa::client& paths() noexcept { return open_->paths; }
    /// As it was read last.
    const comad::sa::local_port& local_port() const noexcept { return open_->paths.local(); }

    /// Reads the local port again, where that takes no MAD (sysfs): for what runs long, before it needs the SA. A port that
    /// cannot be read stays as it was.
    comad::coro::task<void> refresh_port();
    /// Called with one line when the local port or its subnet manager has changed, whoever read it. Null: with -v the line
    /// goes to stderr.
    void on_port_change(std::function<void(const std::string& line)> call) { on_port_change_ = std::move(call); }
    /// Called when the device reports that the port changed, as over verbs: time to refresh_port(). It must not send.
    void on_port_event(std::function<void()> call) { on_port_event_ = std::move(call); }

    /// What a node says; with --sa what the SA knows of it. Throws usage_error if that is nothing.
    template <comad::iba::attribute T>
    comad::coro::task<comad::mad::result<T>> SubnGet(comad::mad::any_path path, comad::u32 modifier = 0);

    /// Runs the task. SIGINT and SIGTERM cancel it: it then ends soon, with what it has. When it takes longer than a
    /// second and stderr is a terminal, `progress` is shown there, if there is any.
    template <class T> T run(comad::coro::task<T> t, std::function<std::string()> progress = {}) {
        return run_on(schedule(), with_sa(std::move(t)), std::move(progress));
    }
    /// The same on another schedule over the same transport, schedule().transport(): for a command that needs several, one
    /// after the other. It is made for this run alone.
    template <class T>
    T run_on(comad::coro::MADSchedule&, comad::coro::task<T>, std::function<std::string()> progress = {});
    /// Begins to run the task, as run() does; `done` gets its value, from the io_context, whose run() throws what the task throws.
    /// One at a time. Where time is simulated all that has happened when this returns.
    template <class T> void start(comad::coro::task<T>, std::function<void(T)> done);
    /// Runs the io_context until `done` is called, which `begin` is given: for what is started.
    void run_until_done(const std::function<void(std::function<void()> done)>& begin);
    /// What else runs while a task does, or wait().
    boost::asio::any_io_executor executor() noexcept { return io_.get_executor(); }
    /// Runs `f` in the thread of the running task, soon, and then the task goes on if it can. From any thread, while the
    /// session lives; not where time is simulated.
    void post(std::function<void()> f);
    /// A signal has cancelled what ran, or stop().
    bool stopped() const noexcept { return stopped_; }
    /// As a signal does. In the thread of the running task.
    void stop() noexcept;

    /// errno of the transport that has failed since it was opened; 0: it has not failed.
    int disconnect_error() const noexcept { return disconnect_error_; }
    /// Whether it has failed, after an RPC failed: a send can fail a moment before the transport reports its failure.
    comad::coro::task<bool> is_disconnected();
    /// `mlx5_0/1 (umad0) disconnected: Input/output error`; empty: it is not disconnected.
    std::string disconnect_text() const;
    /// Whether that cancels what runs, as a signal does; else it goes on, and all that it asks fails.
    void end_on_disconnect(bool ends) noexcept { ends_on_disconnect_ = ends; }
    /// What carries the MADs, as messages call it: `mlx5_0/1 (umad0)`.
    const std::string& device() const noexcept { return device_; }
    /// Closes the fabric, if it is open. Nothing may run.
    void close() noexcept;
    /// Opens it again, the same end port. Throws what the constructor throws; and std::runtime_error where the port had a
    /// LID and now has none: without a subnet manager nobody else could be asked. Precondition: closed.
    void open();
    /// Lets time pass while nothing runs, closed or open, and calls `then`; with false: a signal came, now or before.
    void wait(std::chrono::nanoseconds length, std::function<void(bool)> then);
    /// The fabric by which the same place is opened again: `umad:mlx5_0/1`.
    const std::string& place() const noexcept { return place_; }
    /// The options have other keys now, read anew.
    void note_new_keys();

    /// Time is the simulation's: it passes when everything waits, and signals end the program.
    bool is_virtual() const noexcept { return is_virtual_; }
    /// Time is simulated, and the simulation has no change of its subnet planned any more.
    bool has_no_planned_changes() const noexcept {
        const auto* const simulated = open_->on.simulation();
        return is_virtual_ && simulated && !simulated->fabric->next_change();
    }
    /// What time it is, up to date also within a task.
    comad::mad::time_point now() const noexcept;
    /// Who hears of every MAD; null if -d was not given.
    comad::mad::trace_sink* trace() noexcept;

    /// For what runs until a signal arrives: from now on, packets that the capture of --pcap does not take in time are dropped and
    /// counted. Else the session waits for the reader of the capture.
    void never_wait_for_readers();

    /// Ends the capture that --pcap asked for. Returns one line if not all of it is in the file, else nothing.
    std::string finish_capture();

    /// If asked for by -v: lines of MADs, retries, timeouts, time and rate.
    std::string counts() const;

private:
    class event_loop;
    template <class T> comad::coro::task<T> with_sa(comad::coro::task<T> t) {
        if (sa_target_) co_await find_sa();
        // Without it, requests to the SA tell what is wrong.
        [[maybe_unused]] const auto taken = co_await paths().take_sm_key();
        co_return co_await std::move(t);
    }
    /// Makes of --sa-path the path to the SA: of a GID or GUID the SA that the local port knows tells it. Throws
    /// std::runtime_error.
    comad::coro::task<void> find_sa();
    /// A task runs as long as this lives, however it ends.
    struct running {
        running(session&, comad::coro::asio_driver&, std::function<std::string()> progress);
        ~running();
        session& in;
    };
    /// A task that was started.
    struct started {
        started(session&, std::function<std::string()> progress);
        comad::mad::time_point from;
        comad::coro::asio_driver driver;
        running until_done;
    };
    void end_started();
    void count(const comad::coro::MADSchedule&, std::chrono::nanoseconds took);

    /// All that one opening of the fabric makes.
    struct opening {
        explicit opening(session&);
        comad::mad::transport& watched(session&);
        fabric on;
        std::optional<comad::transports::capture_transport> capture;
        std::optional<disconnect_detector> watch;
        comad::coro::MADSchedule schedule;
        comad::sa::client paths;
        comad::sa::SATransactor<comad::coro::MADSchedule> by_sa;
    };
    void note_disconnect(int error) noexcept;
    void note_mad(const comad::transports::captured_mad&);
    void note_port_change(const comad::sa::local_port& was, const comad::sa::local_port& now);

    const global_options& options_;
    std::optional<comad::mad::IBPath> sa_target_;     // of --sa-path
    std::unique_ptr<boost::asio::io_context> own_io_; // null: it is somebody else's
    boost::asio::io_context& io_;
    boost::asio::cancellation_signal stop_;
    bool stopped_ = false;
    comad::coro::asio_driver* driver_ = nullptr; // of the running task
    std::unique_ptr<event_loop> loop_; // before the fabric: its opening and closing are not to be interrupted either
    std::optional<pcap_writer> capture_file_;
    std::optional<comad::mad::simple_tracer> simple_tracer_;
    std::optional<comad::mad::dumper_tracer> dumper_tracer_;
    std::function<fabric()> open_fabric_;
    std::unique_ptr<opening> open_;  // null: closed
    std::optional<started> started_; // before what it runs on goes
    std::optional<boost::asio::steady_timer> waiting_;
    std::function<void(const std::string&)> on_port_change_;
    std::function<void()> on_port_event_;
    std::string device_, place_, start_problem_;
    bool is_virtual_ = false;
    bool had_lid_ = false;
    bool ends_on_disconnect_ = false;
    bool is_lasting_ = false; // what runs ends by a signal
    bool told_dropped_packets_ = false;
    int disconnect_error_ = 0;
    comad::mad::engine_counters of_others_; // schedules than the one that is open
    std::chrono::nanoseconds took_{};
};

template <comad::iba::attribute T>
comad::coro::task<comad::mad::result<T>> session::SubnGet(comad::mad::any_path path, comad::u32 modifier) {
    if (!options_.by_sa) {
        auto keyed = co_await paths().with_keys(path);
        if (!keyed) co_return std::move(keyed.error());
        co_return co_await schedule().SubnGet<T>(keyed.value(), modifier);
    }
    if constexpr (comad::sa::known_to_sa<T>) co_return co_await open_->by_sa.SubnGet<T>(path, modifier);
    else
        throw usage_error(std::string("not supported with --sa: the SA has no records of ") +
                          std::string(comad::iba::info_of<T>.name));
}

template <class T>
T session::run_on(comad::coro::MADSchedule& on, comad::coro::task<T> t, std::function<std::string()> progress) {
    const comad::mad::time_point from = now();
    if (is_virtual()) {
        on.set_now(from);
        T value = comad::coro::sync_wait(on, std::move(t));
        schedule().set_now(on.now());
        count(on, now() - from);
        return value;
    }
    std::optional<T> value;
    comad::coro::asio_driver driver(io_, on);
    const running until_done(*this, driver, std::move(progress));
    comad::coro::async_run(driver, std::move(t), boost::asio::bind_cancellation_slot(stop_.slot(), [&](T v) {
                               value.emplace(std::move(v));
                               io_.stop(); // what else runs goes on with the next task
                           }));
    io_.restart();
    io_.run(); // throws what the task throws
    count(on, now() - from);
    return std::move(*value);
}

template <class T> void session::start(comad::coro::task<T> t, std::function<void(T)> done) {
    if (is_virtual()) {
        done(run(std::move(t)));
        return;
    }
    started_.emplace(*this, std::function<std::string()>());
    comad::coro::async_run(started_->driver, with_sa(std::move(t)),
                           boost::asio::bind_cancellation_slot(stop_.slot(), [this, done = std::move(done)](T v) {
                               end_started();
                               done(std::move(v));
                           }));
}

} // namespace ibtool
