// SPDX-License-Identifier: MIT
// lid_index.cpp - assigns the LIDs of a subnet to its end ports.
#include <comad/discovery/database/detail/lid_index.hpp>

#include <fmt/format.h>

namespace comad::discovery {
namespace {

template <class F> void for_each_end_port(const subnet& s, F&& f) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const unsigned ports = s.nodes[n].is_switch() ? 1 : static_cast<unsigned>(s.nodes[n].ports.size());
        for (unsigned p = 0; p < ports; ++p)
            if (const auto& info = s.nodes[n].ports[p].info) f(port_ref{n, static_cast<u8>(p)}, *info);
    }
}

std::string format_place(const subnet& s, port_ref r) {
    return r.port ? fmt::format("{}[{}]", name_of(s.nodes[r.node]), r.port) : name_of(s.nodes[r.node]);
}

} // namespace

lid_index::lid_index(const subnet& s) {
    for_each_end_port(s, [&](port_ref where, const iba::smp::PortInfo& info) { add(where, info.LID, info.LMC); });
}

void lid_index::add(port_ref end_port, iba::lid base, unsigned LMC) {
    const unsigned first = value(base), last = first + (1u << LMC) - 1;
    const bool has_lid = first != 0 && last <= last_unicast_lid;
    ends_.push_back({end_port, has_lid ? first : 0, has_lid ? 1u << LMC : 0});
    if (!has_lid) return;
    if (last >= ports_.size()) ports_.resize(last + 1);
    port_ref latest;
    for (unsigned LID = first; LID <= last; ++LID) {
        port_ref& known = ports_[LID];
        if (!known) known = end_port;
        else if (known != end_port && known != latest)
            duplicates_.push_back({iba::lid{static_cast<u16>(LID)}, latest = known, end_port});
    }
}

std::string describe(const subnet& s, const lid_index::shared& d) {
    return fmt::format("LID {} is assigned to both {} and {}", value(d.LID), format_place(s, d.first),
                       format_place(s, d.second));
}

} // namespace comad::discovery
