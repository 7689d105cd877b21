// SPDX-License-Identifier: MIT
// blocking.hpp - blocking_transactor: the RPCs for programs without coroutines. Each call blocks until it has its result.
#pragma once
#include <comad/coro/detail/rpcs.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>

namespace comad::coro {

/// Makes every RPC of rpcs.hpp on its own schedule and blocks until the RPC has ended. It uses the same code as the
/// awaitable RPCs.
///
///     mad::result<NodeInfo> info = umad.SubnGet<NodeInfo>(path);
///
/// Threads: one. Do not call it from a task of its schedule.
class blocking_transactor : public rpcs<blocking_transactor> {
public:
    /// Creates the schedule. `t` must outlive the object. Throws what MADSchedule throws.
    explicit blocking_transactor(mad::transport& t, schedule_options options = {}) : schedule_(t, options) {}

    /// Returns the schedule, for tasks, tracing and counters. Tasks run only while an RPC or sync_wait() blocks.
    MADSchedule& schedule() noexcept { return schedule_; }
    const mad::IBPath& sa_path() const noexcept { return schedule_.sa_path(); }

    /// The interface that rpcs.hpp requires.
    template <iba::wire T, bool Header> auto call(const rpc_request& request) {
        return sync_wait(schedule_, schedule_.call<T, Header>(request));
    }
    template <iba::wire T, bool Header> auto call(const rpc_request& request, const T& payload) {
        return sync_wait(schedule_, schedule_.call<T, Header>(request, payload));
    }
    template <iba::wire Request, iba::wire Record, bool Header>
    auto call_table(const rpc_request& request, const Request& payload) {
        return sync_wait(schedule_, schedule_.call_table<Request, Record, Header>(request, payload));
    }

private:
    MADSchedule schedule_;
};

} // namespace comad::coro
