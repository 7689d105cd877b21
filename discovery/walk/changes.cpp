// SPDX-License-Identifier: MIT
// changes.cpp - detects changes of a subnet by queries to its switches or to the SA, and by comparing the replies with the known subnet.
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/sa/records.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace comad::discovery {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::PortState;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using iba::smp::SwitchPortStateTable;

std::string describe(const subnet& s, const change& c) {
    if (!c.where) return c.text;
    const std::string name = name_of(s.nodes[c.where.node]);
    return c.where.port ? fmt::format("{}[{}]: {}", name, c.where.port, c.text) : fmt::format("{}: {}", name, c.text);
}

namespace {

std::string text_of(PortState state) { return iba::name_or_number(state); }

bool has_state_table(const node& n) {
    const auto& end = n.ports[0].info;
    return end && end->capabilityMask & value(iba::CapabilityMask::IsCapabilityMask2Supported) &&
           end->capabilityMask2 & value(iba::CapabilityMask2::IsSwitchPortStateTableSupported);
}

/// Queries all switches and collects the changes.
class change_scanner {
public:
    change_scanner(MADSchedule& schedule, const subnet& s, const mad::port_keys* keys, bool without_manager)
        : schedule_(schedule), subnet_(s), keys_(keys), without_manager_(without_manager) {}

    task<std::vector<change>> scan() {
        co_await schedule_.mqueue(queries());
        co_return std::move(changes_);
    }

private:
    generator<task<void>> queries() {
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            const node& one = subnet_.nodes[n];
            if (one.is_switch()) co_yield scan_switch(n);
            else if (n == 0) co_yield scan_local_port();
        }
    }

    mad::IBDRPath path_to(u32 n) const {
        const node& one = subnet_.nodes[n];
        mad::IBDRPath path = one.route;
        if (keys_) path.MKey = keys_->of(mad::key_kind::MKey, one.info.portGUID);
        return path;
    }

    task<void> scan_local_port() { co_await scan_port({0, subnet_.start_port}); }

    task<void> scan_switch(u32 n) {
        const node& one = subnet_.nodes[n];
        if (has_state_table(one)) {
            const bool is_supported = co_await scan_port_states(n);
            if (is_supported) co_return;
        }
        if (without_manager_ && one.switch_info && !one.switch_info->portStateChange) {
            const bool is_same = co_await scan_state_change(n);
            if (is_same) co_return;
        }
        for (unsigned p = 0; p < one.ports.size(); ++p) {
            const bool goes_on = co_await scan_port({n, static_cast<u8>(p)});
            if (!goes_on) co_return;
        }
    }

    /// Returns false if the switch does not support it.
    task<bool> scan_port_states(u32 n) {
        const node& one = subnet_.nodes[n];
        for (unsigned first = 0; first < one.ports.size(); first += states_) {
            auto table = co_await schedule_.SubnGet<SwitchPortStateTable>(path_to(n), first / states_);
            if (!table && table.error().code == mad::errc::status) co_return false;
            if (!table) {
                failed({n, 0}, table.error());
                co_return true;
            }
            for (unsigned p = std::max(first, 1u); p < one.ports.size() && p < first + states_; ++p)
                compare({n, static_cast<u8>(p)}, table.value().portState[p - first]);
        }
        co_return true;
    }

    /// Returns true if no port has changed, or if the node does not reply and is not queried further.
    task<bool> scan_state_change(u32 n) {
        auto reply = co_await schedule_.SubnGet<SwitchInfo>(path_to(n));
        if (reply) co_return !reply.value().portStateChange;
        if (reply.error().code == mad::errc::status) co_return false;
        failed({n, 0}, reply.error());
        co_return true;
    }

    /// Returns false if the node does not reply and is not queried further.
    task<bool> scan_port(port_ref where) {
        auto reply = co_await schedule_.SubnGet<PortInfo>(path_to(where.node), where.port);
        if (!reply) {
            failed(where, reply.error());
            co_return reply.error().code == mad::errc::status;
        }
        PortInfo now = reply.value();
        const auto& was = subnet_.at(where).info;
        compare(where, now.portState);
        if (!was || was->portState != now.portState) co_return true; // the state was reported already
        if (seems_to_hide(where, now) && !seems_to_hide(where, *was)) {
            // The discovery has the extended speeds because it queried them with this bit.
            reply = co_await schedule_.SubnGet<PortInfo>(path_to(where.node), where.port | understands_extended_speeds);
            if (!reply && reply.error().code != mad::errc::status) {
                failed(where, reply.error());
                co_return false;
            }
            if (reply) now = reply.value();
        }
        if (active_width(*was) != active_width(now)) add(where, "width changed");
        const bool extended = has_extended_speeds(subnet_, where);
        if (active_speed(*was, extended) != active_speed(now, extended)) add(where, "speed changed");
        const bool has_lid = where.port == 0 || !subnet_.nodes[where.node].is_switch();
        if (has_lid && was->LID != now.LID) add(where, fmt::format("LID is {}, was {}", now.LID, was->LID));
        co_return true;
    }

    bool seems_to_hide(port_ref where, const PortInfo& port) const {
        const auto& end = subnet_.end_port(where).info;
        return end && hides_extended_speeds(*end, port);
    }

    // Compares the state of a port. If the discovery has no PortInfo of the port, a reply now is not a change.
    void compare(port_ref where, PortState now) {
        const auto& was = subnet_.at(where).info;
        if (was && was->portState != now)
            add(where, fmt::format("state is {}, was {}", text_of(now), text_of(was->portState)));
    }

    void failed(port_ref where, const mad::mad_error& e) {
        if (e.code == mad::errc::cancelled) return;
        // If the port did not reply in the discovery, a missing reply now is not a change.
        if (subnet_.nodes[where.node].ports[where.port].info) changes_.push_back({where, to_string(e), cause_text(e)});
    }

    void add(port_ref where, std::string text) { changes_.push_back({where, std::move(text)}); }

    static constexpr unsigned states_ = std::tuple_size_v<decltype(SwitchPortStateTable::portState)>;

    MADSchedule& schedule_;
    const subnet& subnet_;
    const mad::port_keys* keys_;
    const bool without_manager_;
    std::vector<change> changes_;
};

} // namespace

task<std::vector<change>> find_changes(MADSchedule& schedule, const subnet& s, const mad::port_keys* keys,
                                       bool without_manager) {
    change_scanner scanner(schedule, s, keys, without_manager);
    co_return co_await scanner.scan();
}

// ---- by the SA -----------------------------------------------------------------------------------------------------

namespace {

using iba::sa::LinkRecord;
using iba::sa::PortInfoRecord;

/// Calls `found` with each key whose values differ, or which only one of the maps has.
template <class Map, class F> void for_each_difference(const Map& was, const Map& is, F&& found) {
    using value_type = const typename Map::mapped_type*;
    for (const auto& [key, value] : was) {
        const auto now = is.find(key);
        if (now == is.end()) found(key, &value, value_type{});
        else if (now->second != value) found(key, &value, &now->second);
    }
    for (const auto& [key, value] : is)
        if (!was.contains(key)) found(key, value_type{}, &value);
}

} // namespace

task<mad::result<std::vector<change>>> sa_tables::find_changes() {
    auto links = co_await schedule_.SubnAdmGetTable<LinkRecord>();
    if (!links) co_return std::move(links.error());
    auto ports = co_await schedule_.SubnAdmGetTable<PortInfoRecord>();
    if (!ports) co_return std::move(ports.error());

    std::map<lid_and_port, lid_and_port> new_links;
    for (const LinkRecord& r : links.value()) new_links[{r.fromLID, r.fromPort}] = {r.toLID, r.toPort};
    std::set<iba::lid> extended; // for a switch, port 0 decides for all ports
    for (const PortInfoRecord& r : ports.value())
        if (has_extended_speeds(r.portInfo)) extended.insert(r.endportLID);
    std::map<lid_and_port, port_state> new_ports;
    for (const PortInfoRecord& r : ports.value()) {
        const PortInfo& i = r.portInfo;
        new_ports[{r.endportLID, r.portNum}] = {i.portState, active_width(i),
                                                active_speed(i, extended.contains(r.endportLID))};
    }

    std::vector<change> changes;
    if (std::exchange(has_polled_, true)) {
        const auto add = [&](lid_and_port where, std::string text) {
            changes.push_back({{}, fmt::format("LID {} port {}: {}", where.first, where.second, text)});
        };
        for_each_difference(links_, new_links, [&](lid_and_port where, const lid_and_port*, const lid_and_port* is) {
            add(where, is ? fmt::format("linked to LID {} port {}", is->first, is->second) : "link removed");
        });
        for_each_difference(ports_, new_ports, [&](lid_and_port where, const port_state* was, const port_state* is) {
            if (!was || !is) add(where, is ? "added" : "removed");
            else if (was->state != is->state)
                add(where, fmt::format("state is {}, was {}", text_of(is->state), text_of(was->state)));
            else add(where, "width or speed changed");
        });
    }
    links_ = std::move(new_links);
    ports_ = std::move(new_ports);
    co_return changes;
}

} // namespace comad::discovery
