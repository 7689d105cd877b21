// SPDX-License-Identifier: MIT
// endpoints.cpp - the endpoints of programs in a simulated subnet: received messages, and the requests that they serve.
#include "agents.hpp"
#include "fabric_core.hpp"
#include "router.hpp"
#include "split_mix.hpp"
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace comad::transports::sim {

u32 fabric_core::attach(u32 node, unsigned port) {
    const auto& n = topology_.nodes[node];
    if (port < n.first_port() || port > (n.is_switch() ? 0 : n.num_ports())) {
        throw std::runtime_error(fmt::format("'{}' has no port {} to attach to; {}", n.description, port,
                                             n.is_switch() ? "the port must be 0 for a switch"
                                                           : fmt::format("the port must be 1..{}", n.num_ports())));
    }
    endpoints_.push_back({node, static_cast<u8>(port), true});
    return static_cast<u32>(endpoints_.size() - 1);
}

void fabric_core::detach(u32 number) noexcept {
    attachment& e = endpoints_[number];
    e.attached = false;
    e.served.clear();
    e.rearm = {};
    while (e.first != none) free(std::exchange(e.first, packets_[e.first].next));
}

void fabric_core::notify_others(u32 number) const {
    for (const attachment& e : endpoints_)
        if (&e != &endpoints_[number] && e.rearm) e.rearm();
}

int fabric_core::serve(u32 number, const mad::registration& what) {
    attachment& own = endpoints_[number];
    for (const attachment& e : endpoints_) {
        if (&e == &own || !e.attached || e.node != own.node || e.port != own.port) continue;
        for (const mad::registration& r : e.served) {
            const bool is_same = r.mgmt_class == what.mgmt_class && r.class_version == what.class_version &&
                                 r.OUI == what.OUI && (r.methods & what.methods) != 0;
            if (is_same) return EINVAL;
        }
    }
    own.served.push_back(what);
    return 0;
}

void fabric_core::unserve(u32 number, const mad::registration& what) noexcept {
    auto& served = endpoints_[number].served;
    const auto found = std::find_if(served.begin(), served.end(), [&](const mad::registration& r) {
        return r.mgmt_class == what.mgmt_class && r.class_version == what.class_version && r.OUI == what.OUI &&
               r.methods == what.methods;
    });
    if (found != served.end()) served.erase(found);
}

void fabric_core::set_is_sm(u32 number, bool is_sm) {
    agents_->subnet().set_is_sm(endpoints_[number].node, endpoints_[number].port, is_sm);
}

mad::port_tables fabric_core::port_tables_of(u32 number) noexcept {
    return agents_->subnet().port_tables_of(endpoints_[number].node, endpoints_[number].port);
}
u64 fabric_core::port_writes() const noexcept { return agents_->subnet().tables_written().port_writes(); }

iba::lid fabric_core::lid_of(const attachment& e) const noexcept { return topology_.nodes[e.node].ports[e.port].LID; }

/// Returns the source of a delivered message, as the port reports its headers.
mad::source_address fabric_core::source_of(const packet& p, const attachment& at) const noexcept {
    const attributes& subnet = agents_->subnet();
    const router::node_port here{at.node, at.port};
    const mad::IBPath& h = p.headers;
    mad::source_address source;
    source.SLID = h.SLID;
    source.SL = h.SL;
    if (h.DLID != iba::permissive_lid)
        source.path_bits = static_cast<u8>(value(h.DLID) & ((1u << topology_.nodes[at.node].ports[at.port].LMC) - 1));
    if (is_smp(p)) return source;
    source.sqpn = h.sqpn;
    source.pkey_index = subnet.matching_pkey(here, h.pkey).value_or(0);
    source.has_grh = h.has_grh;
    if (!h.has_grh) return source;
    source.SGID_index = subnet.gid_index(here, h.DGID).value_or(0);
    source.hop_limit = h.hop_limit;
    source.traffic_class = h.traffic_class;
    source.flow_label = h.flow_label;
    source.SGID = h.SGID;
    return source;
}

mad::received fabric_core::take(u32 number, std::span<u8> buffer) noexcept {
    attachment& e = endpoints_[number];
    if (e.first == none) return {};
    const u32 index = e.first;
    const packet& p = packets_[index];
    mad::received r;
    r.state = mad::receive_state::message;
    r.full_size = p.size;
    r.mad = buffer.first(std::min<std::size_t>(p.size, buffer.size()));
    r.source = source_of(p, e);
    if (p.is_request) r.source.agent = p.origin;
    if (p.garbage_seed != 0) {
        r.source = {};
        u64 state = p.garbage_seed;
        for (u8& byte : buffer.first(r.mad.size())) byte = static_cast<u8>(split_mix(state));
    } else {
        std::memcpy(buffer.data(), p.whole.empty() ? p.mad.data() : p.whole.data(), r.mad.size());
        if (!p.whole.empty() && r.mad.size() < p.size) return r; // stays until a caller has space for the whole message
    }
    e.first = p.next;
    free(index);
    ++counters_.delivered;
    return r;
}

/// Returns whether a directed route has no LID-routed part.
bool fabric_core::is_without_lids(const packet& p) noexcept {
    using iba::smp::FormatDirected;
    return p.headers.DLID == iba::permissive_lid &&
           iba::get<&FormatDirected::drSLID>(p.mad.data()) == iba::permissive_lid &&
           iba::get<&FormatDirected::drDLID>(p.mad.data()) == iba::permissive_lid;
}

/// Sends a reply of a serving endpoint. Returns false unless the request's route leads from the requester to this
/// node, and back.
bool fabric_core::send_directed_answer(packet& p, u32 to) noexcept {
    using directed_header = iba::MADHeaderDirected;
    const attachment& from = endpoints_[p.endpoint];
    const attachment& home = endpoints_[to];
    u8* const m = p.mad.data();
    const bool begins_back = iba::get<&directed_header::D>(m) &&
                             iba::get<&directed_header::hopPointer>(m) == iba::get<&directed_header::hopCount>(m) + 1;
    if (!begins_back || !is_without_lids(p)) return false;
    auto there = p.mad;
    iba::put<&directed_header::D>(there.data(), false);
    iba::put<&directed_header::hopPointer>(there.data(), 0);
    const router::node_port start{home.node, home.port};
    const auto way = router_->by_route(start, p.headers.DLID, there.data());
    if (!way || way->end.node != from.node || !router_->back_by_route(start, p.headers.DLID, *way, m)) return false;
    p.endpoint = to;
    p.node = from.node;
    p.port = from.port;
    p.hops = way->end.hops;
    p.headers.SLID = iba::permissive_lid;
    return true;
}

bool fabric_core::is_for_sma(const packet& p) noexcept {
    using iba::MADHeader;
    const auto method = iba::get<&MADHeader::method>(p.mad.data());
    return is_smp(p) && (method == iba::Method::Get || method == iba::Method::Set) &&
           iba::get<&MADHeader::attributeID>(p.mad.data()) != iba::attribute_id<iba::smp::SMInfo>;
}

/// Returns the endpoint that serves this request; none: the agents of the node do.
u32 fabric_core::server_of(const packet& p) const noexcept {
    if ((p.is_directed && !is_without_lids(p)) || mad::is_response(p.mad)) return none;
    for (u32 i = 0; i < endpoints_.size(); ++i) {
        const attachment& e = endpoints_[i];
        if (!e.attached || e.node != p.node || (!topology_.nodes[e.node].is_switch() && e.port != p.port)) continue;
        if (e.is_next_to_sma && is_for_sma(p)) continue;
        const auto wants = [&](const mad::registration& r) { return mad::describes(r, p.mad); };
        if (std::any_of(e.served.begin(), e.served.end(), wants)) return i;
    }
    return none;
}

} // namespace comad::transports::sim
