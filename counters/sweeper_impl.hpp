// SPDX-License-Identifier: MIT
// sweeper_impl.hpp - the state and the tasks of a sweeper. sweep.cpp schedules the nodes and reports failures, sweep_port.cpp reads ports,
// and sweep_clear.cpp clears counters.
#pragma once
#include "read_attributes.hpp"
#include <comad/counters/detail/kept_counters.hpp>
#include <comad/counters/sweep.hpp>

#include <optional>
#include <string>
#include <vector>

namespace comad::counters {

/// The implementation of sweeper.
class sweeper::impl {
public:
    impl(coro::MADSchedule& schedule, const discovery::subnet& subnet, sweep_options options);

    coro::task<sweep> run();
    std::size_t ports() const noexcept { return targets_.size(); }
    const iba::ClassPortInfo* class_port_info(u32 node) const noexcept;

private:
    /// A port that is read.
    struct target {
        discovery::port_ref where;
        /// The FEC mode at this value of linkDownedCounter. The mode can only change when the link goes down.
        struct correction {
            u64 linkDownedCounter;
            std::optional<iba::FECMode> mode; // nullopt: the port does not report it
        };
        std::optional<correction> FEC;
    };
    /// A PMA, or several PMAs of one node, and their ports: a switch has one PMA, any other node has one at each port.
    struct agent {
        u32 first = 0, end = 0; // range of indices in targets_
        u32 next = 0;           // the next one to read
        u32 cleared = 0;        // ports that were read and for which a Set was already sent
        u16 readers = 0;
        u16 reading = 0; // readers that still run
        u8 timeouts_in_a_row = 0;
        bool is_silent = false;  // no reply since its last timeout
        bool was_silent = false; // unresponsive at the start of the sweep
        bool is_open = false;    // its ports must be read
        bool is_summed = false;  // the sum was sufficient
        bool has_ended = false;  // not queried again in this sweep
        std::optional<iba::ClassPortInfo> info;
        std::optional<capabilities> can;
        port_detail_set lacks;  // details that the PMA does not support
        std::optional<u8> tick; // PortSamplesControl.Tick
        bool has_queried_tick = false;
    };

    void add_target(discovery::port_ref where);
    const discovery::node& node_of(const agent& a) const noexcept {
        return subnet_.nodes[targets_[a.first].where.node];
    }
    discovery::port_ref place_of(const agent& a) const noexcept;
    std::optional<mad::IBPath> path_to(discovery::port_ref) const;
    bool has_all_ports(const agent& a) const noexcept;
    bool takes_all_ports(const agent& a) const noexcept;
    std::size_t index_of(const reading& l) const noexcept {
        return static_cast<std::size_t>(&l - result_.ports.data());
    }

    void begin();
    coro::generator<coro::task<void>> readers();
    coro::task<void> read(agent& a);
    coro::task<void> query_capabilities(agent& a);
    coro::task<void> query_tick(agent& a);
    coro::task<void> read_sum(agent& a);
    coro::task<bool> read_values(agent& a, const mad::IBPath& path, reading& l);
    coro::task<void> read_port(agent& a, const mad::IBPath& path, reading& l);
    template <std::size_t Index> coro::task<bool> read_detail(agent& a, const mad::IBPath& path, reading& l);
    template <class T, class Asked> coro::task<bool> read_as(agent& a, const mad::IBPath& path, reading& l);
    coro::task<std::optional<bool>> has_rs_fec(agent& a, const mad::IBPath& path, reading& l);

    bool has_to_clear() const noexcept { return !options_.clears.empty() || !options_.clears_details.empty(); }
    bool clears_at_once(const agent& a) const noexcept;
    attributes_to_read attributes_of(const agent& a, counter_set wanted) const noexcept;
    coro::task<void> clear_node(agent& a);
    coro::task<void> clear(agent& a, discovery::port_ref where, u8 select);
    template <std::size_t Index>
    coro::task<void> clear_detail(agent& a, discovery::port_ref where, const mad::IBPath& path, u8 select);
    template <class T> coro::task<mad::result<T>> read_detail_again(discovery::port_ref where);
    /// The result of a read after a Set.
    enum class cleared : u8 { yes, no, unknown };
    coro::task<cleared> check_cleared(agent& a, const reading& l, discovery::port_ref place,
                                      const mad::mad_error* set_error, mad::time_point cleared_at);
    void note_cleared(const reading& l, const std::vector<kept_counter>& kept, mad::time_point cleared_at);
    coro::task<mad::result<std::vector<u64>>> read_again(const agent& a, const reading& l, mad::IBPath path);
    std::vector<u64> values_to_clear(const counter_values& values, const counter_values& narrow) const;
    std::string text_of(const reading& l, const std::vector<kept_counter>& kept) const;
    coro::task<void> check_all_cleared(agent& a, discovery::port_ref where, u8 select, const mad::mad_error* set_error);

    coro::rpc_options short_timeout() const noexcept { return {.patience = options_.patience}; }
    void add_failure(discovery::failure_kind kind, discovery::port_ref where, std::string text, std::string cause = {});
    void failed(agent& a, discovery::port_ref where, const mad::mad_error& e);
    void not_cleared(const agent& a, discovery::port_ref where, u8 select, const mad::mad_error& e);
    void note_unread();

    coro::MADSchedule& schedule_;
    const discovery::subnet& subnet_;
    sweep_options options_;
    std::vector<target> targets_;
    std::vector<counter_values> narrow_; // values of PortCounters by target; only if the sweep only clears
    std::vector<agent> agents_;
    std::vector<u32> order_; // indices into agents_
    sweep result_;
};

} // namespace comad::counters
