// SPDX-License-Identifier: MIT
// agents.cpp - who answers what at which port.
#include "agents.hpp"

#include "mellanox.hpp"
#include "pma.hpp"

namespace comad::transports::sim {

using iba::Method;
using iba::MgmtClass;

agents::agents(const topology& t, u64 counter_seed)
    : topology_(t), subnet_(t), ports_(t, counter_seed), administrator_(subnet_) {
    const auto pma = [this](const server::request& r) { return answer_pma(ports_, topology_, here_.node, r); };
    const auto mellanox = [this](const server::request& r) { return answer_mellanox(topology_.nodes[here_.node], r); };
    for (server::responder* r : {&everywhere_, &at_manager_}) {
        r->add({MgmtClass::Performance, 1, mad::methods(Method::Get, Method::Set)}, pma);
        r->add({MgmtClass{0x0a}, 1, mad::methods(Method::Get)}, mellanox, server::unknown_attributes::passed);
    }
    at_manager_.add(
        {MgmtClass::SubnAdm, 2, mad::methods(Method::Get, Method::GetTable, Method::Set, Method::Delete), 0, true},
        [this](const server::request& r) { return administrator_.answer(r, now_); });
}

std::vector<u8> agents::answer(router::place at, iba::lid source, std::span<const u8> mad, mad::time_point now) {
    here_ = at;
    now_ = now;
    const router::place manager = subnet_.tables().manager();
    const bool is_manager =
        at.node == manager.node && (topology_.nodes[at.node].is_switch() || at.port == manager.port);
    mad::source_address from;
    from.SLID = source;
    from.sqpn = 1;
    return (is_manager ? at_manager_ : everywhere_).answer(mad, from, now);
}

} // namespace comad::transports::sim
