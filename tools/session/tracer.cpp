// SPDX-License-Identifier: MIT
// tracer.cpp - follows routes through a subnet by the linear forwarding tables.
#include "session/tracer.hpp"

#include "comad.hpp"
#include "session/queries.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ibtool {

namespace {

std::string bad_entry(const route_port& at, unsigned LID, const std::string& what) {
    return fmt::format("\"{}\" has no valid forwarding entry for lid {}: {}", at.called(), LID, what);
}

void require_active(const route_port& at) {
    if (!at.is_switch() && at.port.portState != iba::PortState::Active)
        throw std::runtime_error(fmt::format("port {} of \"{}\" is not Active", at.port_number, at.called()));
}

} // namespace

query_task<route_port> tracer::query_place(mad::any_path path) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in_.SubnGet<smp::NodeInfo>(path));
    BOOST_OUTCOME_CO_TRY(const auto description, co_await in_.SubnGet<smp::NodeDescription>(path));
    BOOST_OUTCOME_CO_TRY(const auto port, co_await in_.SubnGet<smp::PortInfo>(path));
    co_return route_port{node, port, node.localPortNum, raw_name_of(names_, node, description)};
}

query_task<route> tracer::find(mad::IBDRPath path, route_port to, unsigned LID, bool by_lid) {
    const auto is_there = [&](const route_port& p) {
        return p.node.portGUID == to.node.portGUID || (by_lid && p.has_lid(LID));
    };
    so_far_.reset();
    BOOST_OUTCOME_CO_TRY(auto from, co_await query_place(path));
    route& way = so_far_.emplace(route{std::move(from), {}, path});
    while (!is_there(way.to())) {
        if (way.hops.size() == mad::IBDRPath::max_hops)
            throw std::runtime_error(fmt::format(
                "the destination is not reached after {} hops, the maximum of a directed route", way.hops.size()));
        BOOST_OUTCOME_CO_TRY(auto next, co_await next_hop(way, LID));
        require_active(next.at);
        way.hops.push_back(std::move(next));
    }
    require_active(way.to());
    co_return way;
}

query_task<hop> tracer::next_hop(route& way, unsigned LID) {
    const route_port& here = way.to();
    if (here.is_switch()) co_return co_await through_switch(way, LID);
    if (!way.hops.empty())
        throw std::runtime_error(fmt::format("the path ends at \"{}\", lid {}, which does not forward packets",
                                             here.called(), here.first_lid()));
    co_return co_await out_of_end_port(here, way.end);
}

query_task<hop> tracer::out_of_end_port(route_port here, mad::IBDRPath& path) {
    if (path.hopCount == 0) {
        path = path.extended(static_cast<comad::u8>(here.port_number));
        BOOST_OUTCOME_CO_TRY(auto next, co_await query_place(path));
        BOOST_OUTCOME_CO_TRY(next.port_number, co_await entry_port(here, here.port_number, next));
        co_return hop{here.port_number, std::move(next)};
    }
    const unsigned entry = path.drPath[path.hopCount];
    path.drPath[path.hopCount--] = 0;
    BOOST_OUTCOME_CO_TRY(auto next, co_await query_place(path));
    next.port_number = entry;
    co_return hop{here.port_number, std::move(next)};
}

query_task<hop> tracer::through_switch(route& way, unsigned LID) {
    const route_port& here = way.to();
    constexpr unsigned block = 64;
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.SubnGet<smp::SwitchInfo>(way.end));
    if (LID > info.linearFDBTop)
        throw std::runtime_error(bad_entry(here, LID, fmt::format("linearFDBTop is {}", info.linearFDBTop)));
    BOOST_OUTCOME_CO_TRY(const auto table, co_await in_.SubnGet<smp::LinearForwardingTable>(way.end, LID / block));
    const comad::u8 out = table.portBlock[LID % block];
    if (out == 0 || out > here.node.numPorts)
        throw std::runtime_error(bad_entry(here, LID, fmt::format("its output port is {}", out)));
    way.end = way.end.extended(out);
    co_return co_await through_cable(here, way.end, out);
}

query_task<hop> tracer::through_cable(route_port here, mad::IBDRPath path, unsigned out) {
    BOOST_OUTCOME_CO_TRY(auto next, co_await query_place(path));
    BOOST_OUTCOME_CO_TRY(next.port_number, co_await entry_port(here, out, next));
    co_return hop{out, std::move(next)};
}

query_task<unsigned> tracer::entry_port(const route_port& here, unsigned out, const route_port& next) {
    if (!in_.options().by_sa) co_return next.node.localPortNum;
    using iba::sa::LinkRecord;
    auto query = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(here.port.LID);
    query.where<&LinkRecord::fromPort>(static_cast<comad::u8>(out));
    BOOST_OUTCOME_CO_TRY(const auto link, co_await in_.schedule().SubnAdmGet(query));
    co_return link.toPort;
}

} // namespace ibtool
