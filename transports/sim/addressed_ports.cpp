// SPDX-License-Identifier: MIT
// addressed_ports.cpp - finds end ports by LID and by GID.
#include "addressed_ports.hpp"

namespace comad::transports::sim {
namespace {

iba::gid make_gid(u64 prefix, iba::guid GUID) noexcept {
    iba::gid gid;
    iba::store_be<u64>(gid.bytes.data(), prefix);
    iba::store_be<u64>(gid.bytes.data() + 8, value(GUID));
    return gid;
}

} // namespace

iba::gid gid_of(const attributes& of, router::node_port at) noexcept {
    return make_gid(of.gid_prefix(at.node, at.port), of.graph().nodes[at.node].ports[at.port].GUID);
}

std::vector<addressed_port> addressed_ports(const attributes& of, const iba::lid* LID, const iba::gid* GID) {
    std::vector<addressed_port> all;
    const topology& t = of.graph();
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        const node& x = t.nodes[n];
        const unsigned last = x.is_switch() ? 0 : x.num_ports();
        for (unsigned p = x.first_port(); p <= last; ++p) {
            const port& end = x.ports[p];
            if (!end.has_lid()) continue;
            const unsigned offset = LID ? unsigned{value(*LID)} - value(end.LID) : 0;
            if (offset >= 1u << end.LMC) continue;
            const router::node_port at{n, static_cast<u8>(p)};
            const iba::gid own = gid_of(of, at);
            if (GID && *GID != own && !of.has_alias(at.node, at.port, *GID)) continue;
            all.push_back({at, LID ? *LID : end.LID, GID ? *GID : own});
        }
    }
    return all;
}

std::optional<addressed_port> find_addressed_port(const attributes& of, const iba::gid& GID) {
    const auto found = addressed_ports(of, nullptr, &GID);
    if (found.empty()) return std::nullopt;
    return found.front();
}

} // namespace comad::transports::sim
