// SPDX-License-Identifier: MIT
// congestion.hpp - the congestion control agents of a simulated subnet (IBA A10): their settings and logs. They do not depend on routing.
// They do not simulate congestion: the program adds events.
#pragma once
#include <comad/iba/cc.hpp>
#include <comad/server/responder.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

namespace comad::transports::sim {

/// The congestion control agent of an end port: one per switch, and one per port of other nodes.
class congestion_agent {
public:
    explicit congestion_agent(const node&, u64 CCKey = 0);

    /// Returns the reply to a request.
    server::response answer(const server::request&, mad::time_point now);

    /// Logs an event: a packet that a switch marked at `port`, or a connection of a CA that exceeded its threshold.
    /// The log keeps the newest events with the time as their timestamp. An agent ignores events of the other kind.
    void log(unsigned port, iba::cc::CongestionLogEventSwitch, mad::time_point now);
    void log(iba::cc::CongestionLogEventCA, mad::time_point now);

private:
    struct switch_part {
        iba::cc::SwitchCongestionSetting setting;
        std::vector<iba::cc::SwitchPortCongestionSettingElement> ports; // starts with port 0
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
    std::optional<mad::time_point> lease_end_; // set while the lease period runs
    std::variant<switch_part, ca_part> of_kind_;
};

/// The congestion control agents of all end ports. An agent is created when it is queried or logs an event.
class congestion_agents {
public:
    /// `t` must outlive it.
    explicit congestion_agents(const topology& t) : topology_(t), is_absent_(t.nodes.size()) {}

    /// Sets the CC_Key of all agents that were not queried so far.
    void set_key(u64 CCKey) noexcept { CCKey_ = CCKey; }
    /// Sets whether a node has these agents. A node without them replies as to an unsupported class.
    void set_present(u32 node, bool is_present) { is_absent_[node] = !is_present; }
    /// Returns the reply of an agent.
    server::response answer(u32 node, unsigned port, const server::request&, mad::time_point now);
    /// Returns the agent of a switch, or of a port of another node.
    congestion_agent& at(u32 node, unsigned port);

private:
    const topology& topology_;
    std::vector<bool> is_absent_; // flag by node
    u64 CCKey_ = 0;
    std::unordered_map<u64, congestion_agent> agents_;
};

} // namespace comad::transports::sim
