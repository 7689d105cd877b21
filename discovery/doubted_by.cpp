// SPDX-License-Identifier: MIT
// doubted_by.cpp - what a notice of the subnet says about what is known of it.
#include <comad/discovery/rediscover.hpp>

namespace comad::discovery {
namespace {

using iba::TrapNumber;

/// The end port of a LID, those by LMC included; of a switch port 0.
std::optional<port_ref> end_port_at(const subnet& s, iba::lid LID) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& one = s.nodes[n];
        for (unsigned p = one.is_switch() ? 0 : 1; p < (one.is_switch() ? 1 : one.ports.size()); ++p) {
            const auto& info = one.ports[p].info;
            if (info && value(info->LID) != 0 && value(LID) >> info->LMC == value(info->LID) >> info->LMC)
                return port_ref{n, static_cast<u8>(p)};
        }
    }
    return std::nullopt;
}

std::optional<port_ref> end_port_of(const subnet& s, iba::guid portGUID) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p)
            if (s.nodes[n].ports[p].portGUID == portGUID) return port_ref{n, static_cast<u8>(p)};
    return std::nullopt;
}

/// The node itself, or what is known by its cables.
std::vector<port_ref> whole_of(const std::optional<port_ref>& r) {
    return r ? std::vector<port_ref>{{r->node, 0}} : std::vector<port_ref>{};
}

} // namespace

std::optional<std::vector<port_ref>> doubted_by(const subnet& known, const iba::Notice& notice) {
    if (!notice.isGeneric) return std::vector<port_ref>{};
    const auto about = [&]<class Details>(Details d) {
        iba::decode(d, notice.dataDetails.data());
        return d;
    };
    switch (notice.trapNumber) {
    case TrapNumber::LinkStateChange: return whole_of(end_port_at(known, about(iba::NoticeTrap128{}).lidAddr));
    case TrapNumber::LocalChange: return whole_of(end_port_at(known, about(iba::NoticeTrap144{}).lidAddr));
    case TrapNumber::SystemImageGUIDChange: return whole_of(end_port_at(known, about(iba::NoticeTrap145{}).lidAddr));
    case TrapNumber::GIDInService:
    case TrapNumber::GIDOutOfService: {
        const auto where = end_port_of(known, iba::guid{about(iba::NoticeTrap64{}).gidAddr.interface_id()});
        if (!where) return std::nullopt;
        if (known.nodes[where->node].is_switch()) return whole_of(where);
        const port_ref other_end = known.at(*where).peer;
        if (!other_end) return whole_of(where);
        return std::vector<port_ref>{other_end};
    }
    default: return std::vector<port_ref>{};
    }
}

} // namespace comad::discovery
