// SPDX-License-Identifier: MIT
// sweeping.hpp - sweeps at their times, of a subnet that is discovered again when it has changed. Knows no text form of a
// sweep.
#pragma once
#include "session/report.hpp"
#include "text/exposition.hpp"
#include <comad/coro/detail/periods.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/walk/changes.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibtool {

/// What is swept, and when.
struct sweep_plan {
    std::optional<std::chrono::nanoseconds> every; ///< none: one after the other
    bool on_request = false;                       ///< instead: the first one at once, then each that is requested
    comad::u64 count = 0;                          ///< 0: until a signal comes
    /// Outlives its device. One sweep alone ends with what it has.
    bool is_lasting() const noexcept { return count != 1; }
    /// How often it is looked whether the subnet has changed; 0: never.
    std::chrono::nanoseconds refresh{};
    comad::discovery::change_source refresh_by = comad::discovery::change_source::switches; ///< not automatic
    std::function<bool(const comad::discovery::node&)> wants;
    comad::counters::port_detail_set details;
    comad::counters::counter_set clears; ///< written, once they were read
};

/// Who is told of what.
struct sweep_listener {
    std::function<void(const sweep_view&, const sweep_totals&)> on_sweep;
    /// Why the subnet was discovered again.
    std::function<void(const std::string& reason)> on_change;
    /// A line about what is missing or wrong for the same cause; of each place only once until it is over.
    std::function<void(const std::string& line)> on_problem;
    /// The device is open, but the first discovery of a lasting plan fails, for this reason; it is repeated until on_found(). Once for
    /// each reason. May be empty.
    std::function<void(const std::string& why)> on_silence = {};
    std::function<void()> on_found = {}; ///< after on_silence: the discovery succeeded. May be empty.
};

class sweeping {
public:
    using shared_names = std::shared_ptr<const comad::discovery::node_names>;
    /// All must outlive it. The names may be replaced by others between two handlers of the io_context.
    sweeping(session& in, const sweep_plan&, const shared_names&, const sweep_listener&);
    ~sweeping();
    sweeping(const sweeping&) = delete;
    sweeping& operator=(const sweeping&) = delete;

    /// Until the plan is done or a signal comes: the exit code, `partial` if something was missing at any time. Nothing: the
    /// device was lost before; when it is open again, the next call goes on.
    /// A lasting plan waits for a local port that does not answer at the beginning, and for the first port to sweep. Else, and in
    /// simulated time, throws std::runtime_error where the local port does not answer, usage_error if no port is left.
    comad::coro::task<std::optional<int>> run();

    /// The device was lost and is open again. Gives how many sweeps were missed, which is counted.
    comad::u64 resume();

    /// Ends run() soon, as a signal does; but a sweep that is under way is not told, and nothing is missing of it. In the thread of
    /// run().
    void end() noexcept {
        is_ended_ = true;
        in_.stop();
    }

    /// Of a plan with on_request, for somebody who knows of so many sweeps: the next one begins, unless it is under way or over
    /// already. In the thread of run().
    void request(comad::u64 known_sweeps);

private:
    /// The subnet as it was discovered, and who sweeps it.
    struct known_subnet {
        known_subnet(comad::coro::MADSchedule&, comad::discovery::subnet, const comad::counters::sweep_options&);
        std::shared_ptr<const comad::discovery::subnet> subnet; // also of who holds a sweep of it
        comad::counters::sweeper sweeper;
    };

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
    void take(comad::counters::sweep now);
    void report_missing(const std::vector<comad::discovery::failure>&, const std::string& disconnect = {});

    session& in_;
    const sweep_plan& plan_;
    const shared_names& names_;
    const sweep_listener& listener_;
    std::unique_ptr<known_subnet> known_, previous_; // previous_: what before_ is of, until the next sweep
    std::shared_ptr<const comad::counters::sweep> before_;
    std::optional<comad::discovery::sa_tables> tables_; // of the session as it is open now
    std::optional<comad::mad::time_point> begin_;       // of the first sweep
    comad::mad::time_point looked_{};
    std::optional<comad::coro::periods> periods_; // of a plan with `every`
    bool was_interrupted_ = false;                // the last sweep, because the device was lost
    bool is_requested_ = false;
    bool is_ended_ = false;                 // by end()
    comad::coro::scope* waiting_ = nullptr; // for a request
    sweep_totals totals_;
    std::string reason_;              // why the subnet may have changed; empty: no reason to think so
    std::set<comad::iba::guid> gone_; // nodes of which something was missing in the last sweep
    std::set<std::string> told_;
    bool is_complete_ = true;
};

} // namespace ibtool
