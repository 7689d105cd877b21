// SPDX-License-Identifier: MIT
// sweep.hpp - reads the counters of all ports of a discovered subnet in parallel, and clears them on request, as one awaitable task.
// Does not depend on thresholds or on a text format.
//
//     const discovery::subnet& subnet = ...;
//     counters::sweeper sweeper(schedule, subnet);
//     const counters::sweep before = co_await sweeper.run();
//     co_await schedule.pause(1s);
//     const counters::sweep after = co_await sweeper.run();
//     for (std::size_t i = 0; i < sweeper.ports(); ++i) {
//         const auto sent = change_of(counters::counter::portXmitData, before.ports[i].counters, after.ports[i].counters);
//         ...
//     }
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/detail/port_details.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comad::counters {

/// What a sweep read from one port.
struct reading {
    discovery::port_ref where;
    /// The counters were read. If false, the members below are empty: a failure states the reason, or the sum of the node's ports was
    /// enough.
    bool valid = false;
    sample counters;
    std::vector<port_detail> details; ///< those that the sweep was asked for and the port has
    /// PortSamplesControl.Tick of the PMA, the encoded unit of portXmitWait; tick_seconds() converts it. nullopt: the sweep did not read
    /// it (sweep_options::reads_ticks), or it is not known.
    std::optional<u8> tick = {};
    /// The error correction of the link; nullopt: the sweep did not read PortExtendedSpeedsCounters, or the port does not report it.
    std::optional<iba::FECMode> FEC = {};
};

/// The length of a tick of portXmitWait in seconds; nullopt if the tick is not known or the port has no link. Tick n is the time in which
/// a lane carries n + 1 bytes (IBA 16.1.3.2), or the link, on devices whose manufacturer documents this.
/// Precondition: the reading is from this subnet.
std::optional<double> tick_seconds(const discovery::subnet&, const reading&) noexcept;

/// The largest share that measurement errors explain: a reading can be dated some milliseconds late, and a tick is a rounded number of bytes.
inline constexpr double largest_share = 1.1;

/// A share: 0.25 is 25 %. Measurement errors can make it larger than 1, up to largest_share.
struct link_share {
    double value = 0;
    bool is_lower_bound = false; ///< a counter is saturated, or was cleared between the sweeps
    friend bool operator==(const link_share&, const link_share&) = default;
};

/// Returns the share, or nullopt if no link can have it, as it is larger than largest_share: the counter jumped, for example in a restart
/// that the counters do not show, or the link was faster before.
constexpr std::optional<link_share> if_possible(const link_share& share) noexcept {
    return share.value <= largest_share ? std::optional(share) : std::nullopt;
}

/// The use of a link between two sweeps. A share that is not possible is nullopt, too.
struct link_use {
    /// Bytes sent and received per second, as shares of the data rate of the link; nullopt: there is no link.
    std::optional<link_share> xmit, rcv;
    /// Share of the time in which the port had data to send but sent none (portXmitWait times the length of a tick); nullopt: the tick
    /// is not known, or there is no link.
    std::optional<link_share> congestion;
    friend bool operator==(const link_use&, const link_use&) = default;
};

/// Returns the use of the link of a port between two readings of it. Uses the width and the speed that the link has in the subnet.
/// Precondition: `before` is the earlier reading, and `after` is from this subnet.
link_use use_of(const discovery::subnet&, const reading& before, const reading& after) noexcept;

/// The counters of a port after a sweep cleared some of them.
struct port_after_clear {
    std::size_t port; ///< index in sweep::ports
    /// The values that were read, with 0 for each counter whose clear was verified. `at` is the time of the clear if a data counter was
    /// cleared, else the time of the reading: a sample has only one time, and rates of data need the exact one.
    sample counters;
};

/// The result of one sweep.
struct sweep {
    mad::time_point begin, end; ///< of the schedule's clock
    u64 mads = 0;               ///< MADs that the schedule sent meanwhile, with retries
    std::vector<reading> ports; ///< in the order of the subnet; equal in all sweeps of a sweeper
    std::vector<reading> sums;  ///< sums of all ports of a node, with port all_ports; see sweep_options::is_too_much
    std::vector<discovery::port_ref>
        cleared; ///< ports whose `clears` are cleared; port all_ports: all ports of the node
    std::vector<port_after_clear> after_clear; ///< ports with a counter whose clear was verified; see after_clears()
    /// By node in the order of the subnet, and by port. Port 0 stands for all ports of a node that are missing.
    std::vector<discovery::failure> failures;
    bool is_stopped = false; ///< the sweep was canceled

    /// Returns whether nothing is missing.
    bool complete() const noexcept { return failures.empty(); }
};

/// When one request with portSelect 255 reads the sum of a node's ports, or clears them. The PMA must support AllPortSelect.
enum class all_ports_rule : u8 {
    if_all_wanted, ///< if the node has several ports and all of them are wanted
    of_switches,   ///< for every switch, even if only some of its ports are wanted, and for no other node
};

struct sweep_options {
    /// Selects ports. Port 0 of a switch has no counters, unless it is an enhanced port 0. Null: all ports that the discovery read.
    std::function<bool(const discovery::subnet&, discovery::port_ref)> wants;
    /// Null: every port is read. Otherwise a node whose ports can be summed (all_ports_rule) is first queried for the sum, and its
    /// ports are read only if this returns true for the sum.
    std::function<bool(const reading& sum)> is_too_much;
    all_ports_rule at_once = all_ports_rule::if_all_wanted;
    /// The counters that are needed: a smaller set may need fewer MADs.
    counter_set counters = counter_set::all();
    /// Attributes that are read in addition. An attribute that a node does not support is not a failure.
    port_detail_set details;
    /// Null: `details`. Otherwise selects attributes depending on the counters of a port, or of a sum.
    std::function<port_detail_set(const reading&)> choose_details;
    /// The counters that PerformanceSet clears after they were read; a port that could not be read is not cleared. sweep::ports contains
    /// the values that were read, after_clears() those after the clear. Each port is read again after the Set, even if the sweep is
    /// canceled: counters that had counted and are not lower are a failure (not_cleared).
    /// Empty, the default: the sweep writes nothing.
    counter_set clears;
    port_detail_set clears_details;
    /// The sweep only clears: it reads only `clears` and compares them in both attributes that have them. Its failures name the counters
    /// that were not cleared.
    bool only_clears = false;
    /// Completes the path to an end port, which has a LID, for example with a service level or an M_Key (for the query about forward
    /// error correction). Null: the path is complete.
    std::function<mad::IBPath(mad::IBPath, discovery::port_ref end_port)> complete_path;
    unsigned per_agent = 4; ///< requests in flight to one node; at most the schedule's gmps_per_destination
    /// The time limit of a query, after at least three attempts, if the schedule has no timeout; 0: the schedule's time limit.
    mad::duration patience = std::chrono::milliseconds(10);
    /// Reads PortSamplesControl.Tick of each PMA that counts portXmitWait: one more query for each node in the first sweep. A PMA that
    /// does not reply to it is not queried again, and a missing tick is not a failure.
    bool reads_ticks = false;
    /// The ticks of nodes that were queried before, by nodeGUID; nullopt: the PMA did not report it. These nodes are not queried again.
    /// The sweeper adds those that it queries, so that sweepers of later discoveries of the fabric can share the map. May be null.
    std::shared_ptr<std::map<iba::guid, std::optional<u8>>> known_ticks;
    /// Called for each port after it was read, in the thread that drives the schedule.
    std::function<void(const reading&)> on_port;
};

/// Reads the counters of all ports repeatedly. It remembers what each node's PMA supports, which it queries once, and which nodes were
/// unresponsive: the next sweep queries them last, and only once. Sends only Gets, unless it clears counters.
/// Lifetime: the schedule and the subnet must outlive the sweeper, and the subnet must not change.
/// Threads:  the schedule's; one sweep at a time.
class sweeper {
public:
    sweeper(coro::MADSchedule& schedule, const discovery::subnet& subnet, sweep_options options = {});
    ~sweeper();
    sweeper(sweeper&&) noexcept;
    sweeper& operator=(sweeper&&) noexcept;

    /// Sweeps once.
    /// Errors:   none; what could not be read or cleared is in sweep::failures.
    /// Cancel:   returns soon, with the ports that were read.
    /// Lifetime: the sweeper must outlive the task.
    coro::task<sweep> run();

    /// The number of ports in each sweep.
    std::size_t ports() const noexcept;
    /// What the PMA of the node supports, as the first of its ports that replied has it; null if no port has replied so far.
    /// Lifetime: until the sweeper is destroyed.
    const iba::ClassPortInfo* class_port_info(u32 node) const noexcept;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

/// Returns `then`, a sweep of an earlier discovery, with the ports in the order of `now`, so that the two can be compared. Ports are
/// identified by nodeGUID and number. Ports that were not in `then` are not valid; sums, failures and ports that are gone are left out.
/// `subnet_now`, `subnet_then`: the subnets of the sweeps.
sweep align_to(const sweep& now, const discovery::subnet& subnet_now, const sweep& then,
               const discovery::subnet& subnet_then);

/// Returns the sweep with the counters that the ports have after it cleared some of them. Compare later sweeps with the result, and not with
/// the sweep, whose values were read before the clear. Without verified clears, both are equal.
sweep after_clears(sweep);

/// Returns use_of() each port, in the order of the ports.
/// Precondition: both sweeps are of the same sweeper, or `before` is the result of align_to().
std::vector<link_use> uses_of(const discovery::subnet&, const sweep& before, const sweep& after);

} // namespace comad::counters
