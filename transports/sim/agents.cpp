// SPDX-License-Identifier: MIT
// agents.cpp - selects the management agent that replies at a simulated port.
#include "agents.hpp"

#include "addressed_ports.hpp"
#include "mellanox.hpp"
#include "pma.hpp"
#include "rates.hpp"
#include <comad/iba/detail/mellanox.hpp>
#include <comad/server/detail/reply.hpp>

namespace comad::transports::sim {

using iba::Method;
using iba::MgmtClass;

namespace {

/// Returns the PortSamplesControl.Tick that NVIDIA documents for Quantum, or that of Switch-IB 2 for all other nodes.
u8 usual_tick(const node& n) noexcept { return is_tick_of_link(n) ? 7 : 31; }

} // namespace

agents::agents(topology& t, u64 counter_seed)
    : topology_(t), subnet_(t), ports_(t, counter_seed), samples_(ports_, t), congestion_(t),
      pma_capabilities_(t.nodes.size(), pma_ability::all), administrator_(subnet_) {
    for (const node& n : t.nodes) ticks_.push_back(usual_tick(n));
    const auto performance = [this](const server::request& r) {
        const pma here{here_.node, pma_capabilities_[here_.node], ticks_[here_.node]};
        if (samples::has(r.header.attributeID)) return samples_.answer(here, here_.port, now_, r);
        return answer_pma(ports_, topology_, here, now_, r);
    };
    const auto ping = [this](const server::request& r) { return answer_host(r, server::answer_ping); };
    const auto sysstat = [this](const server::request& r) { return answer_host(r, server::answer_sysstat); };
    const auto mellanox = [this](const server::request& r) {
        return answer_mellanox(topology_.nodes[here_.node], r, VSKey_);
    };
    const auto congestion = [this](const server::request& r) {
        return congestion_.answer(here_.node, here_.port, r, now_);
    };
    const u32 gets = mad::methods(Method::Get);
    for (server::responder* r : {&everywhere_, &at_manager_}) {
        r->add({MgmtClass::Performance, 1, mad::methods(Method::Get, Method::Set)}, performance);
        r->add({MgmtClass::CongestionControl, 2, mad::methods(Method::Get, Method::Set)}, congestion);
        r->add({iba::vend::mellanox_class, 1, gets}, mellanox);
        r->add({server::ping_class, 1, gets, server::openfabrics_oui}, ping);
        r->add({server::sysstat_class, 1, gets, server::openfabrics_oui}, sysstat);
    }
    at_manager_.add({MgmtClass::SubnAdm, 2,
                     mad::methods(Method::Get, Method::GetTable, Method::Set, Method::Delete, Method::GetMulti,
                                  Method::GetTraceTable),
                     0, true},
                    [this](const server::request& r) { return administrator_.answer(r, now_); });
}

/// Replies as a host. Every CA belongs to a host.
server::response agents::answer_host(const server::request& r, host_answer* handler) const {
    const node& here = topology_.nodes[here_.node];
    if (here.type != iba::NodeType::CA) return server::response::error(server::status::unsupported_method);
    return handler(r, {here.description, "cpu 0: model simulated MHZ 0\n"});
}

void agents::set_keys(u64 key) noexcept {
    VSKey_ = key;
    subnet_.set_keys(key);
    congestion_.set_key(key);
}

bool agents::is_manager(router::node_port at) noexcept {
    const router::node_port manager = subnet_.tables().manager();
    return at.node == manager.node && (topology_.nodes[at.node].is_switch() || at.port == manager.port);
}

bool agents::take_trap(router::node_port at, std::span<u8, mad::mad_size> smp) {
    if (!is_manager(at)) return false;
    iba::smp::NoticeTrap trap;
    iba::decode(trap, smp.data() + iba::offset_of<&iba::smp::Format::data>);
    if (!server::turn_into_reply(smp)) return false;
    iba::Notice notice = iba::smp::notice_of(trap);
    const auto issuer = addressed_ports(subnet_, &notice.issuerLID, nullptr);
    if (!issuer.empty()) notice.issuerGID = issuer.front().GID;
    administrator_.notify(notice);
    return true;
}

std::vector<u8> agents::answer(router::node_port at, iba::lid source, std::span<const u8> mad, mad::time_point now) {
    here_ = at;
    now_ = now;
    using iba::MADHeader;
    const bool has_manager = is_manager(at);
    const bool is_sa = has_manager && iba::get<&MADHeader::mgmtClass>(mad.data()) == MgmtClass::SubnAdm;
    if (is_sa && iba::get<&MADHeader::method>(mad.data()) == Method::ReportResp)
        administrator_.subscribers().acknowledge(iba::get<&MADHeader::transactionID>(mad.data()));
    mad::source_address from;
    from.SLID = source;
    return (has_manager ? at_manager_ : everywhere_).answer(mad, from, now);
}

void agents::count_link_changes(mad::time_point when) {
    for (const auto& change : subnet_.take_link_changes())
        ports_.link_changed(change.node, change.port, change.is_up, when);
}

std::vector<report> agents::take_reports() {
    for (const auto& change : subnet_.take_service_changes()) {
        const iba::gid GID = gid_of(subnet_, {change.node, change.port});
        administrator_.notify(change.is_in_service ? iba::TrapNumber::GIDInService : iba::TrapNumber::GIDOutOfService,
                              GID);
    }
    return administrator_.take_reports();
}

bool agents::is_acknowledged(std::span<const u8> report) {
    return administrator_.subscribers().is_acknowledged(iba::get<&iba::MADHeader::transactionID>(report.data()));
}

} // namespace comad::transports::sim
