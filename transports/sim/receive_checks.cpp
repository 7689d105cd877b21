// SPDX-License-Identifier: MIT
// receive_checks.cpp - checks the headers of a GMP at the receiving port, and reacts to wrong keys (IBA 9.6.1, 10.9.4, 14.2.5.6; Linux,
// drivers/infiniband/hw/qib). SMPs have no P_Key and no Q_Key to check.
#include "agents.hpp"
#include "fabric_core.hpp"
#include "router.hpp"
#include "traps.hpp"
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>

#include <algorithm>
#include <utility>

namespace comad::transports::sim {
namespace {

constexpr u32 GSI_QPN = 1;
constexpr u32 well_known_qkey = 0x8001'0000; // Q_Key of QP1 (IBA 3.5.3)
constexpr u8 no_more_routers = 255;          // the hop limit of replies (IBA 13.5.4)

} // namespace

/// Returns the headers of a packet that leaves the endpoint's port. A P_Key or GID that is not in its table becomes
/// 0.
mad::IBPath fabric_core::headers_of(const attachment& from, const mad::any_path& path) const noexcept {
    const attributes& subnet = agents_->subnet();
    const router::node_port here{from.node, from.port};
    mad::IBPath headers;
    if (const auto* by_lid = std::get_if<mad::IBPath>(&path)) headers = *by_lid;
    else static_cast<mad::path_headers&>(headers) = mad::headers_of(path);
    const port& own = topology_.nodes[from.node].ports[from.port];
    const unsigned path_bits = value(headers.SLID) & ((1u << own.LMC) - 1);
    headers.SLID = iba::lid{static_cast<u16>(value(own.LID) | path_bits)};
    if (headers.DLID == iba::permissive_lid) headers.SLID = iba::permissive_lid;
    headers.pkey = headers.pkey_index == headers.look_up ? subnet.sent_pkey(here, headers.pkey)
                                                         : subnet.pkey_at(here, headers.pkey_index);
    headers.sqpn = GSI_QPN;
    const u16 GID = headers.SGID_index == headers.look_up ? u16{0} : headers.SGID_index;
    headers.SGID = headers.has_grh ? subnet.gid_at(here, GID) : iba::gid{};
    return headers;
}

/// Reverses the headers for the reply of the node's own agents. A directed-route SMP keeps its LIDs, because
/// transit.cpp and the router use them.
void fabric_core::turn_headers(packet& p) const noexcept {
    const attributes& subnet = agents_->subnet();
    const bool is_switch = topology_.nodes[p.node].is_switch();
    const router::node_port here{p.node, is_switch ? u8{0} : p.port};
    mad::IBPath& h = p.headers;
    const iba::lid destination = h.DLID;
    if (const auto index = is_smp(p) ? std::nullopt : subnet.matching_pkey(here, h.pkey))
        h.pkey = subnet.pkey_at(here, *index);
    std::swap(h.dqpn, h.sqpn);
    std::swap(h.SGID, h.DGID);
    if (h.has_grh) h.hop_limit = no_more_routers;
    if (!p.is_directed) h.DLID = h.SLID;
    h.SLID = destination;
}

/// Returns whether a port accepts a packet. If a key is wrong, the port counts it and sends a trap.
bool fabric_core::is_taken(const packet& p, u32 node, u8 port) noexcept {
    const mad::IBPath& h = p.headers;
    if (is_smp(p)) return !h.has_grh;
    attributes& subnet = agents_->subnet();
    const router::node_port here{node, topology_.nodes[node].is_switch() ? u8{0} : port};
    if (h.dqpn != GSI_QPN || (h.has_grh && !subnet.gid_index(here, h.DGID))) return false;
    if (!subnet.matching_pkey(here, h.pkey)) {
        subnet.count_pkey_violation(here);
        report_violation(node, port, bad_pkey(h));
        return false;
    }
    if (h.qkey != well_known_qkey) {
        subnet.count_qkey_violation(here);
        report_violation(node, port, bad_qkey(h));
        return false;
    }
    return true;
}

/// Prepares the trap of a port that discarded a packet. The trap is sent after the present event.
void fabric_core::report_violation(u32 node, u8 port, const iba::Notice& about) noexcept {
    trap t{node, topology_.nodes[node].is_switch() ? u8{0} : port, {}};
    const auto whole = iba::encode(about);
    std::copy_n(whole.begin(), t.notice.size(), t.notice.begin());
    traps_.push_back(t);
}

void fabric_core::send_traps() noexcept {
    for (const trap& t : traps_) send_trap(t);
    traps_.clear();
}

/// Sends a trap to the master subnet manager by LID with M_Key 0 (o14-1), unless there is no manager or no active
/// link. It also keeps the interval of PortInfo:SubnetTimeOut after the last trap (o14-2). The trap is not repeated.
void fabric_core::send_trap(const trap& t) noexcept {
    const node& n = topology_.nodes[t.node];
    const iba::smp::PortInfo info = agents_->subnet().port_info(t.node, t.port, t.port);
    const bool is_active = n.is_switch() || info.portState == iba::PortState::Active;
    if (value(info.LID) == 0 || value(info.masterSMLID) == 0 || !is_active) return;
    sent_traps& sent = sent_traps_[{t.node, t.port}];
    if (now_ < sent.next) return;
    sent.next = now_ + mad::duration(4096LL << info.subnetTimeOut);

    static constexpr mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Trap,
                                        iba::attribute_id<iba::smp::NoticeTrap>, false};
    mad::IBPath path;
    path.DLID = info.masterSMLID;
    path.SLID = info.LID;
    path.SL = info.masterSMSL;
    const auto way = router_->by_lid({t.node, t.port}, path.DLID);
    if (!way) return;
    const u32 index = new_packet();
    packet& p = packets_[index];
    u8* const data = mad::write_request(p.mad.data(), kind, path, 0);
    std::copy(t.notice.begin(), t.notice.end(), data);
    iba::put<&iba::smp::NoticeTrap::nodeType>(data, iba::ProducerType{value(n.type)}); // both enums have equal values
    iba::put<&iba::smp::NoticeTrap::issuerLID>(data, info.LID);
    iba::put<&iba::MADHeader::transactionID>(p.mad.data(), ++sent.last_tid);
    p.size = mad::mad_size;
    p.whole.clear();
    p.endpoint = none;
    p.garbage_seed = 0;
    p.is_request = p.is_directed = false;
    p.headers = path;
    p.node = way->node;
    p.port = way->port;
    p.hops = way->hops;
    p.hops_before = 0;
    if (p.hops != 0) agents_->ports().count_sent(t.node, t.port);
    travel(index, stage::arrival, faults_.request_loss);
}

} // namespace comad::transports::sim
