// SPDX-License-Identifier: MIT
// fault_plan.hpp - fault_plan: the nodes and cables of a specification that fail, and when. Its only random choice is that of nodes.
#pragma once
#include "spec.hpp"
#include <comad/transports/sim/fabric.hpp>

#include <string_view>
#include <vector>

namespace comad::transports::sim {

/// Returns the node that a value names. Throws std::runtime_error if the topology does not contain it.
u32 find_node(const spec&, const topology&, std::string_view key, std::string_view name);

/// The values of `slow`, `dead`, `pma`, `tick`, `flow`, `cc`, `ar`, `manager`, `cut`, `restore`, `kill`, `revive`, `flap`,
/// `ber`, `link`, `narrow`, and of `speed` with a port, which transport.hpp describes. They are taken from the
/// specification before the subnet exists, and interpreted later.
class fault_plan {
public:
    /// Takes the values from `s`, which must outlive it.
    explicit fault_plan(spec& s);

    /// Applies the faults, or schedules them relative to now(). `here`: the node where the program runs.
    /// Errors: throws std::runtime_error with one line.
    void apply(fabric&, u32 here, u64 seed) const;
    /// Applies the links that run below what both ends support. Call it before the fabric is created.
    void degrade(topology&) const;

private:
    struct timed {
        std::string_view key;
        topology_event::kind what;
        std::vector<std::string_view> values;
    };
    struct moment {
        topology_event what;
        std::string_view when;
    };

    void slow_down(fabric&, std::string_view value, u64& random) const;
    void kill(fabric&, std::string_view value, u32 here, u64& random) const;
    void set_pma(fabric&, std::string_view value, u64& random) const;
    void set_tick(fabric&, std::string_view value, u64& random) const;
    void start_flow(fabric&, std::string_view value) const;
    void set_congestion(fabric&, std::string_view value, u64& random) const;
    void set_adaptive_routing(fabric&, std::string_view value, u64& random) const;
    void set_manager(fabric&, std::string_view value) const;
    std::vector<u32> nodes_of(const topology&, std::string_view key, std::string_view text, u32 excluded,
                              u64& random) const;
    void flap(fabric&, std::string_view value) const;
    void set_bit_error_rate(fabric&, std::string_view value) const;
    struct cable_end {
        u32 node;
        unsigned port;
    };
    /// Returns the end of a cable. `number`: a connected port of the node with this name.
    cable_end cable_at(const topology&, std::string_view key, std::string_view value, std::string_view name,
                       std::string_view number) const;
    moment moment_of(const topology&, std::string_view key, topology_event::kind, std::string_view value) const;

    /// Links that run at a smaller width, a lower speed, or both.
    struct reduction {
        std::string_view key, form, example;
        bool has_width, has_speed;
        std::vector<std::string_view> values;
    };
    void reduce(topology&, const reduction&, std::string_view value) const;

    const spec& spec_;
    std::vector<std::string_view> slow_, dead_, pma_, ticks_, flows_, congestion_, adaptive_, managers_, flap_,
        bit_errors_;
    std::vector<reduction> reductions_;
    std::vector<timed> timed_;
};

} // namespace comad::transports::sim
