// SPDX-License-Identifier: MIT
// sweep.hpp - the counters of all ports of a known subnet, read in parallel, as one awaitable task. Knows no threshold and no
// text form.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/subnet.hpp>
#include <comad/iba/pm.hpp>
#include <comad/perf/port_counters.hpp>

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace comad::perf {

/// What a port can be asked for beside its counters; devices have some of it (IBA 16.1.4, A10).
using detail_types =
    std::tuple<iba::pm::PortRcvErrorDetails, iba::pm::PortXmitDiscardDetails, iba::pm::PortOpRcvCounters,
               iba::pm::PortFlowCtlCounters, iba::pm::PortVLOpPackets, iba::pm::PortVLOpData,
               iba::pm::PortVLXmitFlowCtlUpdateErrors, iba::pm::PortVLXmitWaitCounters, iba::pm::SwPortVLCongestion,
               iba::pm::PortXmitDataSL, iba::pm::PortRcvDataSL, iba::pm::PortRcvConCtrl, iba::pm::PortSLRcvFECN,
               iba::pm::PortSLRcvBECN, iba::pm::PortXmitConCtrl, iba::pm::PortVLXmitTimeCong>;

namespace detail {
template <class T, class Tuple> inline constexpr unsigned index_in = 0;
template <class T, class First, class... Rest>
inline constexpr unsigned index_in<T, std::tuple<First, Rest...>> =
    std::is_same_v<T, First> ? 0 : 1 + index_in<T, std::tuple<Rest...>>;
template <class Tuple> struct variant_of;
template <class... T> struct variant_of<std::tuple<T...>> {
    using type = std::variant<T...>;
};
} // namespace detail

/// One of them, as told.
using port_detail = detail::variant_of<detail_types>::type;

/// Some of the detail_types.
class detail_set {
public:
    template <class T> detail_set& add() noexcept {
        constexpr unsigned index = detail::index_in<T, detail_types>;
        static_assert(index < std::tuple_size_v<detail_types>);
        return add(index);
    }
    /// By its place among the detail_types.
    detail_set& add(unsigned index) noexcept {
        bits_ |= 1u << index;
        return *this;
    }
    bool has(unsigned index) const noexcept { return bits_ >> index & 1; }
    bool empty() const noexcept { return bits_ == 0; }
    void remove(unsigned index) noexcept { bits_ &= ~(1u << index); }

private:
    u32 bits_ = 0;
};

/// What was read of one port.
struct look {
    discovery::port_ref where;
    bool is_told = false; ///< its counters were read; else all else is empty, and a gap says why
    sample counters;
    std::vector<port_detail> details; ///< those that it has
};

/// Why something is missing.
struct gap {
    enum class kind : u8 {
        no_answer,   ///< after all attempts
        was_silent,  ///< the same, of a node that was silent in the sweep before: it was asked once
        error_reply, ///< a reply with an error status
        send_failed, ///< the request could not be sent
        no_address,  ///< the node has no LID: no subnet manager gave it one
        cancelled,   ///< the sweep was ended before it was asked
    };
    kind what;
    discovery::port_ref where; ///< port 0: all ports of that PMA that are missing
    std::string text;          ///< what is wrong, without the place
};

struct sweep {
    mad::time_point begin, end;
    u64 MADs = 0;            ///< sent, repeated ones included
    std::vector<look> ports; ///< in the order of the subnet; the same in every sweep of a sweeper
    std::vector<gap> gaps;
    bool is_stopped = false; ///< it was cancelled

    bool complete() const noexcept { return gaps.empty(); }
};

struct sweep_options {
    /// Which ports; null: of switches all but port 0, of other nodes those that the subnet manager knows.
    std::function<bool(const discovery::subnet&, discovery::port_ref)> wants;
    detail_set details;
    unsigned per_agent = 4; ///< MADs that one PMA has to answer at a time
    /// How long a PMA may be silent before it is given up, after three attempts at least, where the schedule has no
    /// timeout; 0: the schedule's patience.
    mad::duration patience = std::chrono::milliseconds(10);
    /// Called for each port as soon as it is read, in the thread that drives the schedule.
    std::function<void(const look&)> on_port;
};

/// Reads the counters of all ports again and again. It remembers what each PMA can do, which is asked for once, and which
/// nodes were silent: these are asked last, once, in the next sweep.
/// PortCountersExtended where the PMA has it; PortCounters for what that does not tell. Only Gets.
/// Lifetime: schedule and subnet must outlive it, and the subnet must stay as it is. One thread, one sweep at a time.
class sweeper {
public:
    sweeper(coro::MADSchedule& schedule, const discovery::subnet& subnet, sweep_options options = {});

    /// Never fails: what could not be read is among the gaps.
    /// Cancel: ends soon with what was read.
    coro::task<sweep> run();

    std::size_t ports() const noexcept { return targets_.size(); }

private:
    /// Who answers for some ports.
    struct agent {
        mad::IBPath path;
        u32 first = 0, end = 0; // of targets_
        u32 next = 0;           // to be read
        u16 readers = 0;
        u8 timeouts_in_a_row = 0;
        bool is_silent = false;  // since the last answer
        bool was_silent = false; // when the sweep began
        bool has_ended = false;  // nothing more is asked in this sweep
        std::optional<abilities> can;
        detail_set details; // that it is asked for
    };

    void add_target(discovery::port_ref where);
    void begin();
    coro::generator<coro::task<void>> readers();
    coro::task<void> read(agent& a);
    coro::task<void> read_port(agent& a, look& l);
    template <class T> coro::task<std::optional<T>> get(agent& a, look& l);
    template <std::size_t Index> coro::task<void> read_detail(agent& a, look& l);
    coro::rpc_options hurry() const noexcept { return {.patience = options_.patience}; }
    void failed(agent& a, const look& l, const mad::mad_error& e);
    void note_unread();
    discovery::port_ref place_of(const agent& a) const noexcept;

    coro::MADSchedule& schedule_;
    const discovery::subnet& subnet_;
    sweep_options options_;
    std::vector<discovery::port_ref> targets_;
    std::vector<agent> agents_;
    std::vector<u32> order_; // of agents_
    sweep result_;
};

} // namespace comad::perf
