// SPDX-License-Identifier: MIT
// discovery.cpp - directed-route discovery in some twenty lines: who is there, and by which way. `main` only opens a
// fabric: the first argument is a simulator specification.
#include <comad/discovery.hpp>
#include <comad/iba/print.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <set>

using namespace comad;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using done = mad::result<void>;

struct explorer {
    coro::MADSchedule& sched;
    std::set<iba::guid> seen{};

    coro::task<done> visit(mad::IBDRPath path) {
        BOOST_OUTCOME_CO_TRY(const NodeInfo node, co_await sched.SubnGet<NodeInfo>(path));
        if (!seen.insert(node.nodeGUID).second) co_return boost::outcome_v2::success();
        fmt::print("{} {}\n", node.nodeGUID, to_string(path));
        const bool leads_on = node.nodeType == iba::NodeType::Switch || path.hopCount == 0;
        if (leads_on) co_await sched.mqueue(ports(path, node));
        co_return boost::outcome_v2::success();
    }
    coro::generator<coro::task<done>> ports(mad::IBDRPath path, NodeInfo node) {
        const bool is_switch = node.nodeType == iba::NodeType::Switch;
        for (unsigned p = is_switch ? 1 : node.localPortNum; p <= (is_switch ? node.numPorts : node.localPortNum); ++p)
            co_yield port(path, static_cast<u8>(p));
    }
    coro::task<done> port(mad::IBDRPath path, u8 number) {
        BOOST_OUTCOME_CO_TRY(const PortInfo info, co_await sched.SubnGet<PortInfo>(path, number));
        if (info.portPhysicalState != iba::PortPhysicalState::LinkUp) co_return boost::outcome_v2::success();
        co_return co_await visit(path.extended(number));
    }
};

int main(int argc, char** argv) {
    auto simulation = transports::sim::make_sim(argc > 1 ? argv[1] : "fattree2,radix=8");
    coro::MADSchedule sched(*simulation.transport);
    explorer explore{sched};
    const done result = coro::sync_wait(sched, explore.visit({}));
    fmt::print("{} nodes, {} MADs\n", explore.seen.size(), sched.counters().sent);
    return result ? 0 : 1;
}
