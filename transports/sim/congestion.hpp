// SPDX-License-Identifier: MIT
// congestion.hpp - the congestion control agents of a simulated subnet (IBA A10): what they were told, and what they have logged.
// Knows no way of a MAD, and no congestion: events are given to it.
#pragma once
#include <comad/iba/cc.hpp>
#include <comad/server/responder.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

namespace comad::transports::sim {

/// The agent of an end port: a switch's, or that of a CA's or router's port.
class congestion_agent {
public:
    explicit congestion_agent(const node&, u64 CCKey = 0);

    server::response answer(const server::request&, mad::time_point now);

    /// A packet that a switch marked on its way out of `port`; a connection of a CA that passed its threshold. The newest are
    /// kept, with the time as their timestamp; of the other kind of agent nothing happens.
    void log(unsigned port, iba::cc::CongestionLogEventSwitch, mad::time_point now);
    void log(iba::cc::CongestionLogEventCA, mad::time_point now);

private:
    struct switch_part {
        iba::cc::SwitchCongestionSetting setting;
        std::vector<iba::cc::SwitchPortCongestionSettingElement> ports; // from port 0 on
        iba::cc::CongestionLogSwitch log;
    };
    struct ca_part {
        iba::cc::CACongestionSetting setting;
        std::vector<iba::cc::CongestionControlTableEntry> table;
        u16 limit = 0;
        iba::cc::CongestionLogCA log;
    };

    bool take_key(const server::request&, mad::time_point now);
    server::response answer_key(const server::request&, bool has_key);
    server::response answer_for(switch_part&, const server::request&, mad::time_point now) const;
    server::response answer_for(ca_part&, const server::request&, mad::time_point now) const;
    template <class Log> server::response read_log(Log&, mad::time_point now) const;

    iba::cc::CongestionKeyInfo key_;
    std::optional<mad::time_point> lease_end_; // while the lease period runs
    std::variant<switch_part, ca_part> of_kind_;
};

/// Those of all end ports. They cost nothing where nobody has asked them and nothing is logged.
class congestion_agents {
public:
    /// `t` must outlive it.
    explicit congestion_agents(const topology& t) : topology_(t), is_absent_(t.nodes.size()) {}

    /// The CC_Key of those that were not asked yet.
    void set_key(u64 CCKey) noexcept { CCKey_ = CCKey; }
    /// Nodes without them answer as to any class that they do not have.
    void set_present(u32 node, bool is_present) { is_absent_[node] = !is_present; }
    server::response answer(u32 node, unsigned port, const server::request&, mad::time_point now);
    /// That of a switch, or of a port.
    congestion_agent& at(u32 node, unsigned port);

private:
    const topology& topology_;
    std::vector<bool> is_absent_; // by node
    u64 CCKey_ = 0;
    std::unordered_map<u64, congestion_agent> agents_;
};

} // namespace comad::transports::sim
