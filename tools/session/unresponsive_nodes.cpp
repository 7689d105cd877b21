// SPDX-License-Identifier: MIT
// unresponsive_nodes.cpp - sends one NodeInfo query to each neighbor that was unresponsive.
#include "session/unresponsive_nodes.hpp"

#include "comad.hpp"
#include <comad/coro/detail/generator.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/port_keys.hpp>

#include <optional>
#include <utility>

namespace ibtool {

using discovery::port_ref;

namespace {

/// The time limit of a sweep for a node that was unresponsive in the previous sweep.
constexpr mad::duration patience = std::chrono::milliseconds(10);

/// The first reply of the neighbors that were queried.
struct answers {
    session& in;
    const discovery::subnet& known;
    std::optional<port_ref> first{};
};

coro::task<void> query_through(answers& all, port_ref where, mad::IBDRPath route) {
    const auto info = co_await all.in.schedule().SubnGet<comad::iba::smp::NodeInfo>(
        route, 0, coro::rpc_options{.patience = patience});
    const bool answers_now = info || info.error().code == mad::errc::status;
    if (answers_now && !all.first) all.first = where;
}

coro::generator<coro::task<void>> questions(answers& all) {
    const comad::iba::guid unknown{};
    for (const discovery::failure& p : all.known.failures) {
        const auto found = all.known.by_guid.find(p.where.nodeGUID);
        if (p.kind != discovery::failure_kind::timeout || found == all.known.by_guid.end()) continue;
        const port_ref where{found->second, p.where.port};
        const discovery::node& n = all.known.nodes[where.node];
        if (p.where.port == 0 || p.where.port >= n.ports.size() || n.ports[p.where.port].peer) continue;
        auto route = route_beyond(all.known, where, n.route, all.in.local_port().LID);
        if (!route) continue;
        route->MKey = all.in.options().keys.of(mad::key_kind::MKey, unknown);
        co_yield query_through(all, where, *route);
    }
}

} // namespace

coro::task<std::string> find_answer(session& in, const discovery::subnet& known) {
    answers all{in, known};
    auto queries = questions(all);
    co_await in.schedule().mqueue(std::move(queries));
    if (!all.first) co_return std::string{};
    co_return describe(known, discovery::change{*all.first, "the node on the other end of the link replies again"});
}

} // namespace ibtool
