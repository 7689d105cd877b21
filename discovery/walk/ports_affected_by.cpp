// SPDX-License-Identifier: MIT
// ports_affected_by.cpp - determines which known ports a notice makes possibly stale.
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/walk/changes.hpp>

namespace comad::discovery {
namespace {

using iba::TrapNumber;

std::optional<port_ref> end_port_of(const subnet& s, iba::guid portGUID) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p)
            if (s.nodes[n].ports[p].portGUID == portGUID) return port_ref{n, static_cast<u8>(p)};
    return std::nullopt;
}

/// Returns port 0, which represents the whole node.
std::vector<port_ref> whole_of(port_ref r) { return r ? std::vector<port_ref>{{r.node, 0}} : std::vector<port_ref>{}; }

} // namespace

std::optional<std::vector<port_ref>> ports_affected_by(const subnet& known, const iba::Notice& notice) {
    if (!notice.isGeneric) return std::vector<port_ref>{};
    const auto about = [&]<class Details>(Details d) {
        iba::decode(d, notice.dataDetails.data());
        return d;
    };
    switch (notice.trapNumber) {
    case TrapNumber::LinkStateChange: return whole_of(lid_index(known).at(about(iba::NoticeTrap128{}).lidAddr));
    case TrapNumber::LocalChange: return whole_of(lid_index(known).at(about(iba::NoticeTrap144{}).lidAddr));
    case TrapNumber::SystemImageGUIDChange: return whole_of(lid_index(known).at(about(iba::NoticeTrap145{}).lidAddr));
    case TrapNumber::GIDInService:
    case TrapNumber::GIDOutOfService: {
        const auto where = end_port_of(known, iba::guid{about(iba::NoticeTrap64{}).gidAddr.interface_id()});
        if (!where) return std::nullopt;
        if (known.nodes[where->node].is_switch()) return whole_of(*where);
        const port_ref other_end = known.at(*where).peer;
        if (!other_end) return whole_of(*where);
        return std::vector<port_ref>{other_end};
    }
    default: return std::vector<port_ref>{};
    }
}

} // namespace comad::discovery
