// SPDX-License-Identifier: MIT
// coro_rig.hpp - helpers for tests of tasks and schedules: routes, a schedule over a scripted transport, and a task
// that queries one node and checks the reply.
#pragma once
#include "kernel/kernel_of_this_run.hpp"
#include "subnet/sa_path.hpp"
#include "support/catch.hpp"
#include "support/counted_object.hpp"
#include "wire/scripted_transport.hpp"
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/smp.hpp>

#include <array>
#include <chrono>
#include <utility>

namespace comad::test {

using namespace std::chrono_literals;
namespace smp = iba::smp;
using coro::generator;
using coro::job;
using coro::MADSchedule;
using coro::rpc_options;
using coro::schedule_options;
using coro::scope;
using coro::sync_wait;
using coro::task;
using mad::errc;
using mad::IBDRPath;

/// Returns the directed route through these ports.
template <class... Port> IBDRPath route(Port... ports) {
    const std::array<u8, sizeof...(ports)> hops{static_cast<u8>(ports)...};
    return IBDRPath{hops};
}

/// Returns a different route of three hops for each number below 16 million.
inline IBDRPath route_to(u32 number) {
    return route(static_cast<u8>(number >> 16), static_cast<u8>(number >> 8), static_cast<u8>(number));
}

/// Returns true if the reply comes from the node at the end of `to`.
inline bool is_answer(const smp::NodeInfo& info, const IBDRPath& to) {
    return value(info.nodeGUID) == requested_guid(to);
}

/// Queries the node at the end of `to`. Returns true if it replied.
inline task<bool> send_query(MADSchedule& schedule, IBDRPath to) {
    auto info = co_await schedule.SubnGet<smp::NodeInfo>(to);
    co_return info&& is_answer(info.value(), to);
}

/// Queries the node at the end of `to` and ignores the result.
inline task<void> touch(MADSchedule& schedule, IBDRPath to, rpc_options options = {}) {
    [[maybe_unused]] auto info = co_await schedule.SubnGet<smp::NodeInfo>(to, 0, options);
}

/// A schedule over a scripted transport, directly or through a kernel model.
struct rig {
    explicit rig(schedule_options options = {}) : schedule(put_before(net, kernel_of_this_run(), kernel), options) {
        lead_to_sa(schedule);
    }
    rig(scripted_transport::script s, schedule_options options = {})
        : net(std::move(s)), schedule(put_before(net, kernel_of_this_run(), kernel), options) {
        lead_to_sa(schedule);
    }

    scripted_transport net;
    std::optional<transports::kernel_model> kernel;
    MADSchedule schedule;
};

/// A script that replies to nothing.
inline fate silence(const packet&) { return dropped(); }

} // namespace comad::test
