// SPDX-License-Identifier: MIT
// agents.hpp - the management agents of all nodes of a simulated subnet but the SMAs: a PMA each, one for congestion control at
// each end port, the SA where the subnet manager is, and what hosts answer to ibping and ibsysstat. Knows no way of a MAD.
#pragma once
#include "attributes.hpp"
#include "congestion.hpp"
#include "counters.hpp"
#include "sa.hpp"
#include <comad/server/diags.hpp>

#include <vector>

namespace comad::transports::sim {

class agents {
public:
    /// `t` must outlive it. `counter_seed`: see counters.
    agents(topology& t, u64 counter_seed);

    attributes& subnet() noexcept { return subnet_; }
    counters& ports() noexcept { return ports_; }
    congestion_agents& congestion() noexcept { return congestion_; }
    /// What a PMA can do: pma_ability.
    void set_pma(u32 node, u8 capabilities) noexcept { pma_capabilities_[node] = capabilities; }
    /// fabric::set_keys().
    void set_keys(u64 key) noexcept;
    /// Counts the links that have gone down and come up at a time.
    void count_link_changes(mad::time_point);

    /// The answer of the port of a node, of any length; empty: none.
    std::vector<u8> answer(router::place at, iba::lid source, std::span<const u8> mad, mad::time_point now);

    /// A Trap that came to the port: if the subnet manager is there, the Trap becomes its TrapRepress, and the
    /// notice goes to subscribers. False: no subnet manager is there.
    bool take_trap(router::place at, std::span<u8, mad::mad_size> smp);

    /// What the SA has to tell since it was asked last; and whether somebody has heard it.
    std::vector<report> take_reports();
    /// Whether a change of the subnet makes a report.
    bool has_subscribers() const noexcept { return !administrator_.subscribers().empty(); }
    bool is_acknowledged(std::span<const u8> report);

private:
    bool is_manager(router::place at) noexcept;
    using host_answer = server::response(const server::request&, const server::host_info&);
    server::response answer_host(const server::request&, host_answer*) const;

    const topology& topology_;
    attributes subnet_;
    counters ports_;
    congestion_agents congestion_;
    std::vector<u8> pma_capabilities_; // by node
    u64 VSKey_ = 0;
    administrator administrator_;
    server::responder everywhere_, at_manager_;
    // During answer():
    router::place here_{topology::nobody, 0};
    mad::time_point now_{};
};

} // namespace comad::transports::sim
