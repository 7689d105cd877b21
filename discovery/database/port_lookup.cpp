// SPDX-License-Identifier: MIT
// port_lookup.cpp - finds ports of a subnet by their port GUIDs, and by directed routes.
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/port_lookup.hpp>

namespace comad::discovery {

port_guid_index::port_guid_index(const subnet& s) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& one = s.nodes[n];
        for (unsigned p = 0; p < one.ports.size(); ++p) {
            const iba::guid portGUID = one.ports[p].portGUID;
            if (is_end_port(one, p) && portGUID != iba::guid{})
                ports_.try_emplace(portGUID, port_ref{n, static_cast<u8>(p)});
        }
    }
}

port_ref follow(const subnet& s, const mad::IBDRPath& route) {
    if (s.nodes.empty()) return {};
    port_ref here{0, s.start_port};
    if (route.drSLID != iba::permissive_lid) here = lid_index(s).at(route.DLID);
    bool is_first = true;
    for (const u8 port : route.hops()) {
        if (!here) return here;
        const node& n = s.nodes[here.node];
        const bool is_local = is_first && route.drSLID == iba::permissive_lid && port == s.start_port;
        if (port >= n.ports.size() || port == 0 || (!n.is_switch() && !is_local)) return {};
        here = n.ports[port].peer;
        is_first = false;
    }
    return route.drDLID == iba::permissive_lid ? here : lid_index(s).at(route.drDLID);
}

} // namespace comad::discovery
