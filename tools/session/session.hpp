// SPDX-License-Identifier: MIT
// session.hpp - a schedule on a fabric for the duration of one command. It runs tasks, ends them early on Ctrl-C, shows progress, traces
// and counts MADs, and queries the SA instead of nodes with --sa. Does not depend on a command.
#pragma once
#include "input/options.hpp"
#include "input/pcap.hpp"
#include "session/disconnect_detector.hpp"
#include "session/fabric.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/threads.hpp>
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
#include <span>
#include <stop_token>
#include <string>

namespace ibtool {

/// A task that queries: its result is a value, or the error of the RPC that failed.
template <class T> using query_task = comad::coro::task<comad::mad::result<T>>;

/// When the fabric must be available.
enum class opens : comad::u8 {
    at_once,   ///< when the session is created
    when_ready ///< later, if a device or server is not ready yet: the session starts closed, and open() opens it
};

/// A fabric, a schedule and paths, for the duration of one command.
class session {
public:
    /// Opens the fabric, and throws what this throws. Until the destructor, signals do not kill the program while a descriptor is in use: a
    /// server would otherwise keep a client that no longer exists.
    /// `target`: as for the fabric. `shared`: an io_context that the caller runs, for several sessions in one thread. Tasks are then
    /// started and not run. It must outlive the session.
    /// `when`: with opens::when_ready, a device or server that cannot be opened yet does not throw. Then is_open() is false, and
    /// start_problem() contains the reason. Errors that waiting cannot resolve, such as a wrong option, are thrown in any case.
    explicit session(const global_options& options, const comad::mad::address* target = nullptr,
                     boost::asio::io_context* shared = nullptr, opens when = opens::at_once);
    /// Uses the fabric that `open` returns, now and each time that open() is called.
    session(const global_options& options, std::function<fabric()> open, boost::asio::io_context* shared = nullptr,
            opens when = opens::at_once);
    ~session();

    const global_options& options() const noexcept { return options_; }
    bool is_open() const noexcept { return open_ != nullptr; }
    /// Returns the reason why the fabric could not be opened at the start; empty: it was opened.
    const std::string& start_problem() const noexcept { return start_problem_; }
    // These are valid while the session is open. After it was opened again, they are different objects.
    comad::coro::MADSchedule& schedule() noexcept { return open_->schedule; }
    /// Returns the client that finds paths from the local port.
    comad::sa::client& paths() noexcept { return open_->paths; }
    /// Returns the local port, as it was read last.
    const comad::sa::local_port& local_port() const noexcept { return open_->paths.local(); }

    /// Reads the local port again if this needs no MAD (sysfs). Long-running commands call it before they need the SA. If the port cannot
    /// be read, the old values stay.
    comad::coro::task<void> refresh_port();
    /// Sets a function that is called with one line when the local port or its subnet manager has changed, whoever read the port. Null:
    /// with -v the line goes to stderr.
    void on_port_change(std::function<void(const std::string& line)> call) { on_port_change_ = std::move(call); }
    /// Sets a function that is called when the device reports a change of the port (verbs): call refresh_port() then. It must not send.
    void on_port_event(std::function<void()> call) { on_port_event_ = std::move(call); }

    /// Queries an attribute of a node; with --sa queries the SA's record of it. Throws usage_error if the SA has no such record.
    template <comad::iba::attribute T>
    comad::coro::task<comad::mad::result<T>> SubnGet(comad::mad::any_path path, comad::u32 modifier = 0);

    /// Runs the task. SIGINT and SIGTERM cancel it; it then ends soon with a partial result. If it takes longer than a second and stderr is
    /// a terminal, the text of `progress` is shown there.
    template <class T> T run(comad::coro::task<T> t, std::function<std::string()> progress = {}) {
        return run_on(schedule(), with_sa(std::move(t)), std::move(progress));
    }
    /// Runs the task on another schedule over the same transport, schedule().transport(). For commands that need several schedules, one
    /// after the other; this schedule exists only for this run.
    template <class T>
    T run_on(comad::coro::MADSchedule&, comad::coro::task<T>, std::function<std::string()> progress = {});
    /// Runs the task `make(i, *schedules[i])` for each schedule in its own thread (coro/threads.hpp), and returns the values. This thread
    /// handles signals and progress as run() does. In virtual time, there must be only one schedule, and this thread runs the task. The
    /// schedules exist only for this run. schedules[0] may have the transport of schedule().
    template <class Make>
    auto run_in_threads(std::span<comad::coro::MADSchedule* const> schedules, Make make,
                        std::function<std::string()> progress = {});
    /// Starts the task as run() does. `done` gets its value, called from the io_context, whose run() throws the exceptions of the task. One
    /// task at a time. In virtual time all this has happened when start() returns.
    template <class T> void start(comad::coro::task<T>, std::function<void(T)> done);
    /// Runs the io_context until `done` is called; `begin` gets `done`. For tasks that are started with start().
    void run_until_done(const std::function<void(std::function<void()> done)>& begin);
    /// Returns the executor for other work while a task or wait() runs.
    boost::asio::any_io_executor executor() noexcept { return io_.get_executor(); }
    /// Runs `f` soon in the thread of the running task; the task continues afterwards. Not in virtual time.
    /// Threads: any thread, while the session exists.
    void post(std::function<void()> f);
    /// Returns whether a signal or stop() has cancelled the tasks.
    bool stopped() const noexcept { return stopped_; }
    /// Cancels tasks as a signal does.
    /// Threads: the thread of the running task.
    void stop() noexcept;

    /// Returns the errno of the transport if it has failed since it was opened; 0: it has not.
    int disconnect_error() const noexcept { return disconnect_error_; }
    /// Returns whether the transport has failed, after an RPC failed. A send can fail shortly before the transport reports its failure.
    comad::coro::task<bool> is_disconnected();
    /// Returns `mlx5_0/1 (umad0) disconnected: Input/output error`; empty: it is not disconnected.
    std::string disconnect_text() const;
    /// Sets whether a disconnected device cancels the running task, as a signal does. Otherwise the task continues, and all its queries
    /// fail.
    void end_on_disconnect(bool ends) noexcept { ends_on_disconnect_ = ends; }
    /// Returns the name of the device or server in messages: `mlx5_0/1 (umad0)`; empty in a simulated fabric.
    const std::string& device() const noexcept { return device_; }
    /// Returns device(), or the text of --fabric for a simulated fabric, which has no device. Safe for a terminal.
    std::string device_or_fabric() const;
    /// Closes the fabric if it is open. Precondition: no task is running.
    void close() noexcept;
    /// Opens the same end port again. Throws as the constructor does. Also throws std::runtime_error if the port had a LID and has none
    /// now: without a subnet manager, only the local node could be queried. Precondition: closed.
    void open();
    /// Waits while no task is running, whether open or closed, and then calls `then`; with false if a signal arrives, or has arrived
    /// before.
    void wait(std::chrono::nanoseconds length, std::function<void(bool)> then);
    /// Returns the text for --fabric that opens the same port again: `umad:mlx5_0/1`.
    const std::string& place() const noexcept { return place_; }
    /// Takes over the keys of the options after they were read again.
    void note_new_keys();

    /// Returns whether time is virtual. It then advances when everything waits, and signals end the program.
    bool is_virtual() const noexcept { return is_virtual_; }
    /// Returns whether time is virtual and the simulation has no further planned change of its subnet.
    bool has_no_planned_changes() const noexcept {
        const auto* const simulated = open_->on.simulation();
        return is_virtual_ && simulated && !simulated->fabric->next_change();
    }
    /// Returns the current time, up to date also within a task.
    comad::mad::time_point now() const noexcept;
    /// Returns the sink that gets every MAD; null if -d was not given.
    comad::mad::trace_sink* trace() noexcept;

    /// Drops and counts packets from now on for which the capture of --pcap has no space. For commands that run until a signal arrives.
    /// Without this call, the session waits for the reader of the capture.
    void never_wait_for_readers();

    /// Ends the capture of --pcap. Returns one line if the file is incomplete, else an empty text.
    std::string finish_capture();

    /// Adds MADs of other schedules to the counts.
    void note_others(const comad::mad::engine_counters&) noexcept;
    /// Returns the number of MADs sent, without retries.
    comad::u64 sent() const noexcept;
    /// Returns lines with MADs, retries, timeouts, time and rate with -v, else an empty text.
    std::string counts() const;

private:
    class event_loop;
    template <class T> comad::coro::task<T> with_sa(comad::coro::task<T> t) {
        if (sa_target_) co_await find_sa();
        // If this fails, later requests to the SA report the cause.
        [[maybe_unused]] const auto taken = co_await paths().take_sm_key();
        co_return co_await std::move(t);
    }
    /// Converts --sa-path to the path to the SA. If it is a GID or GUID, the SA that the local port knows is queried for the path. Throws
    /// std::runtime_error.
    comad::coro::task<void> find_sa();
    /// A task runs while this object exists, however the task ends.
    struct running {
        running(session&, comad::coro::asio_driver&, std::function<std::string()> progress);
        ~running();
        session& in;
    };
    /// A task that was started with start().
    struct started {
        started(session&, std::function<std::string()> progress);
        comad::mad::time_point from;
        comad::coro::asio_driver driver;
        running until_done;
    };
    void end_started();
    /// Runs `work` in another thread. A signal requests a stop. Throws what `work` throws.
    void run_beside(const std::function<void(std::stop_token)>& work, std::function<std::string()> progress);
    void count(const comad::coro::MADSchedule&, std::chrono::nanoseconds took);

    /// Everything that one opening of the fabric creates.
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
    std::optional<comad::mad::IBPath> sa_target_;     // target of --sa-path
    std::unique_ptr<boost::asio::io_context> own_io_; // null: the caller's is used
    boost::asio::io_context& io_;
    boost::asio::cancellation_signal stop_;
    bool stopped_ = false;
    comad::coro::asio_driver* driver_ = nullptr; // driver of the running task
    // Constructed before the fabric, so that signals do not interrupt the opening and the closing of the fabric.
    std::unique_ptr<event_loop> loop_;
    std::optional<pcap_writer> capture_file_;
    std::optional<comad::mad::simple_tracer> simple_tracer_;
    std::optional<comad::mad::dumper_tracer> dumper_tracer_;
    std::optional<comad::mad::dumper_tracer_with_keys> tracer_with_keys_;
    std::function<fabric()> open_fabric_;
    std::unique_ptr<opening> open_;  // null: closed
    std::optional<started> started_; // destroyed before the objects that it runs on
    std::optional<boost::asio::steady_timer> waiting_;
    std::function<void(const std::string&)> on_port_change_;
    std::function<void()> on_port_event_;
    std::string device_, place_, start_problem_;
    bool is_virtual_ = false;
    bool had_lid_ = false;
    bool ends_on_disconnect_ = false;
    bool is_lasting_ = false; // the running task ends only by a signal
    bool reported_dropped_packets_ = false;
    int disconnect_error_ = 0;
    comad::mad::engine_counters of_others_; // counters of schedules other than the open one
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
                               io_.stop(); // other work continues with the next task
                           }));
    io_.restart();
    io_.run(); // throws the exceptions of the task
    count(on, now() - from);
    return std::move(*value);
}

template <class Make>
auto session::run_in_threads(std::span<comad::coro::MADSchedule* const> schedules, Make make,
                             std::function<std::string()> progress) {
    const comad::mad::time_point from = now();
    std::optional<decltype(comad::coro::run_in_threads(schedules, make))> values;
    if (is_virtual()) {
        schedules.front()->set_now(from);
        values.emplace(comad::coro::run_in_threads(schedules, make));
        schedule().set_now(schedules.front()->now());
    } else {
        run_beside([&](std::stop_token stop) { values.emplace(comad::coro::run_in_threads(schedules, make, stop)); },
                   std::move(progress));
    }
    const std::chrono::nanoseconds took = now() - from;
    for (const auto* const each : schedules) count(*each, each == schedules.front() ? took : took.zero());
    return std::move(*values);
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
