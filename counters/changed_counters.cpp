// SPDX-License-Identifier: MIT
// changed_counters.cpp - compares the counters of sweeps, and the links of discoveries.
#include <comad/counters/detail/changed_counters.hpp>
#include <comad/iba/detail/format.hpp>

#include <map>
#include <utility>

namespace comad::counters {
namespace {

/// Returns whether a series about the state of the port has another value.
bool has_other_link(const discovery::port& a, const discovery::port& b) {
    if (a.info.has_value() != b.info.has_value()) return true;
    if (!a.info) return false;
    const auto link_of = [](const iba::smp::PortInfo& i) {
        return std::tuple(i.portState, i.portPhysicalState, i.linkWidthActive, i.linkSpeedActive, i.linkSpeedExtActive,
                          i.linkSpeedExtActive2);
    };
    return a.fdr10 != b.fdr10 || link_of(*a.info) != link_of(*b.info);
}

} // namespace

std::shared_ptr<const std::vector<changed_port>> changed_counters::take(const sweep_view& v) {
    if (subnet_ != &v.subnet) follow(v);
    kept_ = v.kept;
    for (std::size_t i = 0; v.before && i < v.now.ports.size(); ++i) {
        const reading &now = v.now.ports[i], &before = v.before->ports[i];
        if (!now.valid || !before.valid || now.counters.counters == before.counters.counters) continue;
        for_each_counter([&](counter c) {
            if (now.counters.counters.has(c) && now.counters.counters[c] != before.counters.counters[c])
                ports_[i].counters.add(c);
        });
    }
    return std::make_shared<const std::vector<changed_port>>(ports_);
}

/// Takes the ports of another discovery. Ports are identified by nodeGUID and number.
void changed_counters::follow(const sweep_view& v) {
    std::map<std::pair<iba::guid, u8>, std::size_t> known;
    for (std::size_t i = 0; i < places_.size(); ++i)
        known.emplace(std::pair(subnet_->nodes[places_[i].node].info.nodeGUID, places_[i].port), i);
    std::vector<changed_port> ports(v.now.ports.size());
    std::vector<discovery::port_ref> places;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const discovery::port_ref where = places.emplace_back(v.now.ports[i].where);
        const auto found = known.find(std::pair(v.subnet.nodes[where.node].info.nodeGUID, where.port));
        if (found == known.end()) continue;
        ports[i] = ports_[found->second];
        ports[i].link |= has_other_link(subnet_->at(places_[found->second]), v.subnet.at(where));
    }
    ports_ = std::move(ports);
    places_ = std::move(places);
    subnet_ = &v.subnet;
}

} // namespace comad::counters
