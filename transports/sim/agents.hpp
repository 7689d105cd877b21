// SPDX-License-Identifier: MIT
// agents.hpp - the management agents of all nodes of a simulated subnet except SMAs: PMAs, congestion control agents, the SA, vendor
// agents, and the servers for ibping and ibsysstat. They do not route MADs.
#pragma once
#include "attributes.hpp"
#include "congestion.hpp"
#include "counters.hpp"
#include "sa.hpp"
#include "samples.hpp"
#include <comad/server/diags.hpp>

#include <vector>

namespace comad::transports::sim {

/// The management agents of all nodes.
class agents {
public:
    /// `t` must outlive it. `counter_seed`: see counters.
    agents(topology& t, u64 counter_seed);

    attributes& subnet() noexcept { return subnet_; }
    counters& ports() noexcept { return ports_; }
    congestion_agents& congestion() noexcept { return congestion_; }
    /// Sets the abilities of a PMA (pma_ability).
    void set_pma(u32 node, u8 capabilities) noexcept { pma_capabilities_[node] = capabilities; }
    /// PortSamplesControl.Tick of a PMA.
    void set_tick(u32 node, u8 tick) noexcept { ticks_[node] = tick; }
    u8 tick(u32 node) const noexcept { return ticks_[node]; }
    /// Sets the keys of all agents; see fabric::set_keys().
    void set_keys(u64 key) noexcept;
    /// Counts links that have gone down or come up, at the given time.
    void count_link_changes(mad::time_point);

    /// Returns the reply of the node's port, of any length; empty: no reply.
    std::vector<u8> answer(router::node_port at, iba::lid source, std::span<const u8> mad, mad::time_point now);

    /// Processes a Trap that arrived at the port. If the subnet manager is there, it turns the Trap into its
    /// TrapRepress and forwards the notice to subscribers. Returns false if the subnet manager is not there.
    bool take_trap(router::node_port at, std::span<u8, mad::mad_size> smp);

    /// Returns the Reports that the SA has made since the last call.
    std::vector<report> take_reports();
    /// Returns whether a change of the subnet causes a Report.
    bool has_subscribers() const noexcept { return !administrator_.subscribers().empty(); }
    /// Returns whether the subscriber has acknowledged the Report.
    bool is_acknowledged(std::span<const u8> report);

private:
    bool is_manager(router::node_port at) noexcept;
    using host_answer = server::response(const server::request&, const server::host_info&);
    server::response answer_host(const server::request&, host_answer*) const;

    const topology& topology_;
    attributes subnet_;
    counters ports_;
    samples samples_;
    congestion_agents congestion_;
    std::vector<u8> pma_capabilities_; // capabilities by node
    std::vector<u8> ticks_;            // PortSamplesControl.Tick by node
    u64 VSKey_ = 0;
    administrator administrator_;
    server::responder everywhere_, at_manager_;
    // Valid during answer():
    router::node_port here_{topology::no_node, 0};
    mad::time_point now_{};
};

} // namespace comad::transports::sim
