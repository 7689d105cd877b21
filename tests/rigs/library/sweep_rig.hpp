// SPDX-License-Identifier: MIT
// sweep_rig.hpp - a helper for the sweep tests: a simulated subnet with the result of its discovery.
#pragma once
#include "library/discovery_rig.hpp"
#include <comad/counters/sweep.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace comad::test {

/// A subnet that a subnet manager has configured, with the result of its discovery.
struct swept_world : world {
    explicit swept_world(std::string_view specification, coro::schedule_options options = {}, const timing& times = {},
                         const faults& wrong = {})
        : swept_world(managed(specification), options, times, wrong) {}
    explicit swept_world(topology t, coro::schedule_options options = {}, const timing& times = {},
                         const faults& wrong = {})
        : world(std::move(t), options, times, wrong), known(discover()) {}

    counters::sweep sweep(counters::sweeper& s) { return coro::sync_wait(schedule, s.run()); }
    counters::sweep sweep(counters::sweep_options options = {}) {
        counters::sweeper s(schedule, known, std::move(options));
        return sweep(s);
    }
    /// Returns the number of PMAs in the simulated subnet: one per switch, and one per connected port of an adapter.
    std::size_t PMAs() const {
        std::size_t count = 0;
        for (const auto& n : net.graph().nodes) count += n.is_switch() ? 1 : cables(n);
        return count;
    }
    std::size_t all_ports() const {
        std::size_t count = 0;
        for (const auto& n : net.graph().nodes) count += n.is_switch() ? n.num_ports() : cables(n);
        return count;
    }
    static std::size_t cables(const transports::sim::node& n) {
        return static_cast<std::size_t>(
            std::count_if(n.ports.begin(), n.ports.end(), [](const auto& p) { return p.linked(); }));
    }
    std::vector<u32> hosts() const {
        std::vector<u32> all;
        for (u32 n = 0; n < net.graph().nodes.size(); ++n)
            if (!net.graph().nodes[n].is_switch() && n != port.node()) all.push_back(n);
        return all;
    }
    std::string name(u32 n) const { return net.graph().nodes[n].description; }

    subnet known;
};

} // namespace comad::test
