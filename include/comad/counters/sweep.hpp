// SPDX-License-Identifier: MIT
// sweep.hpp - the counters of all ports of a known subnet, read in parallel, and cleared if that is asked for, as one
// awaitable task. Knows no threshold and no text form.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/detail/details.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace comad::counters {

inline constexpr u8 all_ports = 255; ///< portSelect of their sum

/// What was read of one port.
struct reading {
    discovery::port_ref where;
    bool is_told =
        false; ///< its counters were read; else all else is empty: a failure says why, or its node's sum sufficed
    sample counters;
    std::vector<port_detail> details; ///< those that it has
};

struct sweep {
    mad::time_point begin, end;
    u64 mads = 0;               ///< sent, repeated ones included
    std::vector<reading> ports; ///< in the order of the subnet; the same in every sweep of a sweeper
    std::vector<reading> sums;  ///< of all ports of a node, at port all_ports: of those nodes that were asked for it
    std::vector<discovery::failure>
        failures; ///< by node in the order of the subnet, and port; port 0: all ports of that node that are missing
    bool is_stopped = false; ///< it was cancelled

    bool complete() const noexcept { return failures.empty(); }
};

struct sweep_options {
    /// Which ports, of those that have counters: all that the discovery read, but no base port 0 of a switch. Null: all.
    std::function<bool(const discovery::subnet&, discovery::port_ref)> wants;
    /// Null: every port is read. Else a node with several ports, all of them wanted, whose PMA knows their sum is asked for
    /// that, and for its ports only if it is too much.
    std::function<bool(const reading& sum)> is_too_much;
    /// What has to be told: for less there may be fewer MADs.
    counter_set counters = counter_set::all();
    port_detail_set details;
    /// Null: `details`. Else what is to be asked for in view of the counters, also of a sum.
    std::function<port_detail_set(const reading&)> choose_details;
    /// What is written, by PerformanceSet, once it was read; what could not be read is not cleared. A PMA that can do so clears
    /// all ports at once if all of them were wanted. Each port is read again afterwards, also if the sweep was cancelled
    /// meanwhile: counters that were read before and are not lower are a failure (not_cleared). As they are: nothing is ever written.
    counter_set clears;
    port_detail_set clears_details;
    /// Completes the path to an end port, which has its LID: a service level, an M_Key for the question about error
    /// correction. Null: it is as complete as it has to be.
    std::function<mad::IBPath(mad::IBPath, discovery::port_ref end_port)> complete_path;
    unsigned per_agent = 4; ///< MADs that one node has to answer at a time; at most the schedule's gmps_per_destination
    /// How long a PMA may be silent before it is given up, after three attempts at least, where the schedule has no
    /// timeout; 0: the schedule's patience.
    mad::duration patience = std::chrono::milliseconds(10);
    /// Called for each port as soon as it is read, in the thread that drives the schedule.
    std::function<void(const reading&)> on_port;
};

/// Reads the counters of all ports again and again. It remembers what each node's PMA can do, which is asked for once, and
/// which nodes were silent: these are asked last, once, in the next sweep.
/// PortCountersExtended where the PMA has it; PortCounters for what that does not tell. Only Gets, unless something is to be
/// cleared.
/// Lifetime: schedule and subnet must outlive it, and the subnet must stay as it is. One thread, one sweep at a time.
class sweeper {
public:
    sweeper(coro::MADSchedule& schedule, const discovery::subnet& subnet, sweep_options options = {});

    /// Never fails: what could not be read is among the failures.
    /// Cancel: ends soon with what was read.
    coro::task<sweep> run();

    std::size_t ports() const noexcept { return targets_.size(); }

private:
    struct target {
        discovery::port_ref where;
        /// Whether RS forward error correction was active when its link had gone down so often.
        struct correction {
            u64 linkDownedCounter;
            bool is_rs;
        };
        std::optional<correction> FEC;
    };
    /// A node that answers for some ports: a switch by one PMA, any other node by one at each.
    struct agent {
        u32 first = 0, end = 0; // of targets_
        u32 next = 0;           // to be read
        u16 readers = 0;
        u16 reading = 0; // of the readers, those that are not done
        u8 timeouts_in_a_row = 0;
        bool is_silent = false;  // since the last answer
        bool was_silent = false; // when the sweep began
        bool is_open = false;    // its ports are to be read
        bool is_summed = false;  // its sum sufficed
        bool has_ended = false;  // nothing more is asked in this sweep
        std::optional<capabilities> can;
        port_detail_set lacks; // of the details
    };

    void add_target(discovery::port_ref where);
    const discovery::node& node_of(const agent& a) const noexcept {
        return subnet_.nodes[targets_[a.first].where.node];
    }
    discovery::port_ref place_of(const agent& a) const noexcept;
    std::optional<mad::IBPath> path_to(discovery::port_ref) const;
    bool has_all_ports(const agent& a) const noexcept;

    void begin();
    coro::generator<coro::task<void>> readers();
    coro::task<void> read(agent& a);
    coro::task<void> ask_capabilities(agent& a);
    coro::task<void> read_sum(agent& a);
    coro::task<void> read_port(agent& a, const mad::IBPath& path, reading& l);
    template <std::size_t Index> coro::task<bool> read_detail(agent& a, const mad::IBPath& path, reading& l);
    template <class T, class Asked> coro::task<bool> read_as(agent& a, const mad::IBPath& path, reading& l);
    coro::task<std::optional<bool>> has_rs_fec(agent& a, const mad::IBPath& path, const reading& l);

    bool has_to_clear() const noexcept { return !options_.clears.empty() || !options_.clears_details.empty(); }
    bool clears_at_once(const agent& a) const noexcept;
    coro::task<void> clear_node(agent& a);
    coro::task<void> clear(agent& a, discovery::port_ref where, u8 select);
    template <std::size_t Index>
    coro::task<void> clear_detail(agent& a, discovery::port_ref where, const mad::IBPath& path, u8 select);
    template <class T> coro::task<mad::result<T>> read_detail_again(discovery::port_ref where);

    coro::rpc_options hurry() const noexcept { return {.patience = options_.patience}; }
    void failed(agent& a, discovery::port_ref where, const mad::mad_error& e);
    coro::task<bool> check_cleared(agent& a, const reading& l, discovery::port_ref place,
                                   const mad::mad_error* set_error);
    void not_cleared(const agent& a, discovery::port_ref where, u8 select, const mad::mad_error& e);
    void note_unread();

    coro::MADSchedule& schedule_;
    const discovery::subnet& subnet_;
    sweep_options options_;
    std::vector<target> targets_;
    std::vector<agent> agents_;
    std::vector<u32> order_; // of agents_
    sweep result_;
};

} // namespace comad::counters
