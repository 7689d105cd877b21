// SPDX-License-Identifier: MIT
// trace.cpp - makes trace records: the nodes along a path (IBA 15.2.5.19).
#include "addressed_ports.hpp"
#include "paths.hpp"

namespace comad::transports::sim {
namespace {

using iba::SAStatus;
using iba::sa::PathRecord;
using iba::sa::TraceRecord;

/// Returns an ID that distinguishes nodes and ports without revealing their GUIDs.
u64 scrambled(iba::guid GUID) noexcept { return value(GUID) ^ 0x55aa'55aa'55aa'55aa; }

TraceRecord hop(const attributes& of, u32 number, u8 entry, u8 exit) noexcept {
    const node& n = of.graph().nodes[number];
    const auto port_id = [&](u8 port) { return port == 0 ? 0 : scrambled(iba::guid{value(n.nodeGUID) + port}); };
    TraceRecord r;
    r.GIDPrefix = of.gid_prefix(number, n.is_switch() ? u8{0} : entry != 0 ? entry : exit);
    r.nodeType = n.type;
    r.nodeID = scrambled(n.nodeGUID);
    r.chassisID = scrambled(n.systemImageGUID);
    r.entryPort = entry;
    r.exitPort = exit;
    r.entryPortID = port_id(entry);
    r.exitPortID = port_id(exit);
    return r;
}

} // namespace

SAStatus trace_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found) {
    using P = PathRecord;
    collector query(iba::info_of<P>, mask, request);
    const bool has_source = query.selects<&P::SLID>() || query.selects<&P::SGID>();
    const bool has_target = query.selects<&P::DLID>() || query.selects<&P::DGID>();
    if (!has_source || !has_target) return SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS;
    path_records(of, query);
    if (query.count() == 0) return SAStatus::ERR_NO_RECORDS;
    const std::vector<u8> paths = query.take();
    const auto path = iba::decode<P>(std::span(paths).first<iba::wire_size<P>>());

    auto& ways = of.tables().ways();
    router::node_port at = ways.owner(path.SLID);
    u8 entry = 0;
    const auto add = [&](u8 exit) {
        const auto bytes = iba::encode(hop(of, at.node, entry, exit));
        found.insert(found.end(), bytes.begin(), bytes.end());
    };
    for (auto way = ways.by_lid(at, path.DLID); way && way->hops != 0; way = ways.by_lid(at, path.DLID)) {
        add(way->first_port);
        const port& out = of.graph().nodes[at.node].ports[way->first_port];
        at = {out.peer_node, out.peer_port};
        entry = out.peer_port;
    }
    add(0);
    return SAStatus::None;
}

} // namespace comad::transports::sim
