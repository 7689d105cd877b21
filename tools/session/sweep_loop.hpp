// SPDX-License-Identifier: MIT
// sweep_loop.hpp - runs sweeps at their times, and rediscovers the subnet when it has changed. Does not depend on a text format.
#pragma once
#include "session/report.hpp"
#include "session/selection.hpp"
#include "session/sweep_files.hpp"
#include <comad/coro/detail/periods.hpp>
#include <comad/counters/formats.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/walk/changes.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibtool {

/// The contents and the times of sweeps.
struct sweep_config {
    std::optional<std::chrono::nanoseconds> every; ///< nullopt: one sweep after the other
    /// Instead of `every`: the first sweep at once, then one for each request.
    bool on_request = false;
    comad::u64 count = 0; ///< 0: until a signal arrives
    /// Returns whether the sweeps continue after the device was disconnected. A single sweep ends with a partial result.
    bool is_lasting() const noexcept { return count != 1; }
    /// The interval between checks for changes of the subnet; 0: never.
    std::chrono::nanoseconds refresh{};
    comad::discovery::change_source refresh_by = comad::discovery::change_source::switches; ///< must not be automatic
    subnet_selection selected;
    comad::counters::port_detail_set details;
    bool reads_ticks = false;            ///< as in counters::sweep_options
    comad::counters::counter_set clears; ///< cleared after they were read
    /// The sweep of an earlier run, with which the first sweep is compared; null: none.
    std::shared_ptr<const earlier_run> since;
    /// The file to which each complete sweep is added; null: none.
    std::shared_ptr<sweep_saver> save;
};

/// The functions that get the results of sweeps.
struct sweep_listener {
    std::function<void(const comad::counters::sweep_view&, const comad::counters::sweep_totals&)> on_sweep;
    /// Called with the reason why the subnet was discovered again.
    std::function<void(const std::string& reason)> on_change;
    /// Called with a line about failures or problems with one cause; for each location only once until the problem is over.
    std::function<void(const std::string& line)> on_problem;
    /// Called if the device is open, but the first discovery of a lasting plan fails for this reason; it is repeated until on_found().
    /// Called once for each reason. May be empty.
    std::function<void(const std::string& why)> on_silence = {};
    std::function<void()> on_found = {}; ///< after on_silence: the discovery succeeded; may be empty
};

/// Runs the sweeps of a plan.
class sweep_loop {
public:
    using shared_names = std::shared_ptr<const comad::discovery::node_names>;
    /// All arguments must outlive the object. The names may be replaced between two handlers of the io_context.
    sweep_loop(session& in, const sweep_config&, const shared_names&, const sweep_listener&);
    ~sweep_loop();
    sweep_loop(const sweep_loop&) = delete;
    sweep_loop& operator=(const sweep_loop&) = delete;

    /// Runs until the plan is done or a signal arrives. Returns the exit code, `partial` if there was any failure. Nullopt: the device was
    /// disconnected before; call it again to continue when the device is open.
    /// A lasting plan waits for a local port that does not reply at the start, and for the first port to sweep. Otherwise, and in virtual
    /// time, throws std::runtime_error if the local port does not reply, and usage_error if no port is selected.
    comad::coro::task<std::optional<int>> run();

    /// Call this when the device was disconnected and is open again. Returns the number of missed sweeps, and counts them.
    comad::u64 resume();

    /// Ends run() soon, as a signal does, but discards a sweep in progress without reporting failures.
    /// Threads: the thread of run().
    void end() noexcept {
        is_ended_ = true;
        in_.stop();
    }

    /// Requests a sweep in a plan with on_request. `known_sweeps`: the number of sweeps that the client has seen. Starts the next sweep,
    /// unless it is running or finished already.
    /// Threads: the thread of run().
    void request(comad::u64 known_sweeps);

private:
    /// The discovered subnet, and its sweeper.
    struct known_subnet {
        known_subnet(comad::coro::MADSchedule&, comad::discovery::subnet, const comad::counters::sweep_options&);
        std::shared_ptr<const comad::discovery::subnet> subnet; // shared with holders of its sweeps
        comad::counters::sweeper sweeper;
    };

    /// Returns whether the run waits if there is nothing to sweep. In virtual time, nothing would end the wait.
    bool waits_for_subnet() const noexcept { return plan_.is_lasting() && !in_.is_virtual(); }
    bool is_disconnected() const noexcept { return plan_.is_lasting() && in_.disconnect_error() != 0; }
    comad::coro::task<bool> find_subnet();
    comad::coro::task<std::string> find_first_subnet();
    comad::coro::task<bool> wait_for_subnet();
    comad::coro::task<comad::mad::result<void>> discover();
    comad::coro::task<bool> wait_for_next();
    comad::coro::task<bool> wait_until_due();
    comad::coro::task<bool> wait_for_request();
    comad::coro::task<bool> wait_long();
    comad::coro::task<void> refresh();
    comad::coro::task<std::string> find_change();
    std::string find_sign_of_change(const comad::counters::sweep& now);
    void check_files() const;
    void take(comad::counters::sweep now);
    void save(const comad::counters::sweep& made, double unix_begin);
    void report_missing(const std::vector<comad::discovery::failure>&, const std::string& disconnect = {});

    session& in_;
    const sweep_config& plan_;
    const shared_names& names_;
    const sweep_listener& listener_;
    std::unique_ptr<known_subnet> known_, previous_;       // previous_: the subnet of before_, until the next sweep
    std::shared_ptr<const comad::counters::sweep> before_; // the last sweep, with the counters after its clears
    /// Ticks of all nodes that were swept so far.
    const std::shared_ptr<std::map<comad::iba::guid, std::optional<comad::u8>>> ticks_ =
        std::make_shared<std::map<comad::iba::guid, std::optional<comad::u8>>>();
    std::optional<comad::discovery::sa_tables> tables_; // tables of the session that is open now
    std::optional<comad::mad::time_point> begin_;       // start of the first sweep
    double run_began_ = 0;                              // Unix time of the start of the first sweep
    comad::mad::time_point last_check_{};
    std::optional<comad::coro::periods> periods_; // times of the sweeps of a plan with `every`
    bool was_interrupted_ = false;                // the device was disconnected during the last sweep
    bool is_requested_ = false;
    bool is_ended_ = false;                 // end() was called
    comad::coro::scope* waiting_ = nullptr; // scope of the task that waits for a request
    comad::counters::sweep_totals totals_;
    std::string reason_;              // why the subnet may have changed; empty: no known reason
    std::set<comad::iba::guid> gone_; // nodes with failures in the last sweep
    std::set<std::string> reported_;
    bool is_complete_ = true;
};

} // namespace ibtool
