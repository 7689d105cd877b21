// SPDX-License-Identifier: MIT
// blocking.hpp - the RPCs for programs without coroutines: each blocks until it has its result.
#pragma once
#include <comad/coro/detail/rpcs.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>

namespace comad::coro {

/// Every RPC of rpcs.hpp, made on a schedule of its own and waited for: `auto info = umad.SubnGet<NodeInfo>(path);` gives
/// mad::result<NodeInfo>. The same code as the awaited ones. One thread; not from inside a task of its schedule.
class blocking_transactor : public rpcs<blocking_transactor> {
public:
    /// `t` must outlive it. Throws what MADSchedule throws.
    explicit blocking_transactor(mad::transport& t, schedule_options options = {}) : schedule_(t, options) {}

    /// For tasks, tracing, counters; tasks run while an RPC or sync_wait() blocks.
    MADSchedule& schedule() noexcept { return schedule_; }
    const mad::IBPath& sa_path() const noexcept { return schedule_.sa_path(); }

    /// For rpcs.hpp.
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
