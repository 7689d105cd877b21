// SPDX-License-Identifier: MIT
// worker.hpp - the part of a discovery that sends: the queries of one local port. Does not know what the replies mean.
#pragma once
#include "node_query.hpp"
#include "subnet_builder.hpp"
#include <comad/coro/schedule.hpp>

#include <cstddef>
#include <vector>

namespace comad::discovery {

/// Sends the queries that a subnet_builder returns, and gives it the replies. Runs in the thread of its schedule, and shares only the
/// builder with other workers.
class discovery_worker {
public:
    discovery_worker(coro::MADSchedule& schedule, subnet_builder& builder, u32 number);

    coro::task<mad::result<iba::smp::NodeInfo>> query_start();
    /// Starts with what query_start() returned.
    void begin(const iba::smp::NodeInfo&);
    /// Sends until the queue is empty. False: it was cancelled before, or the time was over.
    coro::task<bool> run();
    /// More queries. Precondition: subnet_builder::order_from() was called with this worker's start.
    void add(const std::vector<node_query>&);

    u32 number() const noexcept { return number_; }
    coro::MADSchedule& schedule() const noexcept { return schedule_; }
    iba::guid start() const noexcept { return startGUID_; }
    u8 start_port() const noexcept { return start_port_; }
    /// Its local port failed, or rejected an SMP. Other workers take over its queries.
    bool has_failed() const noexcept { return has_failed_ || schedule_.transport_failed(); }

private:
    coro::task<bool> send_all();
    coro::generator<coro::task<void>> requests();
    coro::task<void> follow(std::optional<node_request>);
    // By reference: the request is in the frame of follow(), and hundreds of them are in flight.
    coro::task<node_reply> send(node_request&);
    template <class T> coro::task<node_reply> get(node_request&);
    query_origin origin(bool is_idle) const noexcept { return {number_, most_readers_, is_idle, start_}; }

    coro::MADSchedule& schedule_;
    subnet_builder& builder_;
    u32 number_;
    unsigned most_readers_; // as many as a node may have SMPs in flight
    iba::guid startGUID_{};
    u8 start_port_ = 0;
    port_ref start_; // the same, by index
    query_queue queue_;
    std::size_t running_ = 0; // calls of follow()
    bool has_failed_ = false;
};

/// True: the schedule measures how long replies take. False: it was given a timeout.
inline bool is_measured(const coro::MADSchedule& schedule) { return schedule.options().timeout.count() == 0; }

/// Runs a worker that has begun, in rounds, until nothing is pending. Returns as discovery_worker::run().
coro::task<bool> run_rounds(discovery_worker&, subnet_builder&);

} // namespace comad::discovery
