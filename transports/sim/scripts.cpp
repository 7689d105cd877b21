// SPDX-License-Identifier: MIT
// scripts.cpp - stores and calls the scripted replies of a simulated subnet.
#include "scripts.hpp"

#include <comad/iba/detail/mad_header.hpp>
#include <comad/server/responder.hpp>

#include <utility>

namespace comad::transports::sim {
namespace {

constexpr iba::MgmtClass undirected(iba::MgmtClass c) noexcept {
    return c == iba::MgmtClass::SubnDirected ? iba::MgmtClass::SubnLID : c;
}

template <class Function> void put(std::map<scripts::key, Function>& all, scripts::key k, Function f) {
    k.mgmt_class = undirected(k.mgmt_class);
    if (f) all.insert_or_assign(k, std::move(f));
    else all.erase(k);
}

} // namespace

scripts::key scripts::key_of(u32 node, std::span<const u8> mad) noexcept {
    return {node, undirected(iba::get<&iba::MADHeader::mgmtClass>(mad.data())),
            iba::get<&iba::MADHeader::attributeID>(mad.data())};
}

void scripts::answer(key k, scripted_answer answer) { put(answers_, k, std::move(answer)); }
void scripts::change_replies(key k, reply_change change) { put(changes_, k, std::move(change)); }

std::optional<std::vector<u8>> scripts::reply_to(key k, std::span<const u8> request,
                                                 const mad::source_address& source) const {
    const auto found = answers_.find(k);
    if (found == answers_.end()) return std::nullopt;
    const server::parsed parsed = server::parse_request(request, source, server::unknown_attributes::passed);
    if (!parsed) return std::nullopt;
    const scripted_answer answer = found->second; // a copy, because the function can replace itself
    const std::optional<server::response> scripted = answer(parsed.value());
    if (!scripted) return std::nullopt;
    return scripted->to(parsed.value());
}

void scripts::change(key k, std::span<u8> reply) const {
    const auto found = changes_.find(k);
    if (found == changes_.end()) return;
    const reply_change change = found->second;
    change(reply);
}

} // namespace comad::transports::sim
