// SPDX-License-Identifier: MIT
// worker.hpp - sends the queries of a discovery through one local port. Does not interpret the replies.
#pragma once
#include "node_query.hpp"
#include "subnet_builder.hpp"
#include <comad/coro/schedule.hpp>

#include <cstddef>
#include <vector>

namespace comad::discovery {

/// Sends the queries that a subnet_builder returns, and passes the replies to it. Runs in the thread of its schedule, and shares only
/// the builder with other workers.
class discovery_worker {
public:
    discovery_worker(coro::MADSchedule& schedule, subnet_builder& builder, u32 number);

    /// Queries the NodeInfo of the local node.
    coro::task<mad::result<iba::smp::NodeInfo>> query_start();
    /// Starts the discovery with the result of query_start().
    void begin(const iba::smp::NodeInfo&);
    /// Sends queries until the queue is empty. Returns false if it was cancelled, or if the time limit was reached.
    coro::task<bool> run();
    /// Appends queries to the queue. Precondition: subnet_builder::order_from() was called with this worker's start.
    void add(const std::vector<node_query>&);

    u32 number() const noexcept { return number_; }
    coro::MADSchedule& schedule() const noexcept { return schedule_; }
    iba::guid start() const noexcept { return startGUID_; }
    u8 start_port() const noexcept { return start_port_; }
    /// Returns whether the local port failed or rejected an SMP. Other workers take over its queries.
    bool has_failed() const noexcept { return has_failed_ || schedule_.transport_failed(); }

private:
    coro::task<bool> send_all();
    coro::generator<coro::task<void>> requests();
    coro::task<void> follow(std::optional<node_request>);
    // Takes a reference: the request is in the frame of follow(), and hundreds of requests are in flight.
    coro::task<node_reply> send(node_request&);
    template <class T> coro::task<node_reply> get(node_request&);
    query_origin origin(bool is_idle) const noexcept { return {number_, most_readers_, is_idle, start_}; }

    coro::MADSchedule& schedule_;
    subnet_builder& builder_;
    u32 number_;
    unsigned most_readers_; // the most SMPs in flight to one node
    iba::guid startGUID_{};
    u8 start_port_ = 0;
    port_ref start_; // the start, by node index
    query_queue queue_;
    std::size_t running_ = 0; // calls of follow() that have not ended
    bool has_failed_ = false;
};

/// Returns whether the schedule measures round-trip times. False: it was given a timeout.
inline bool is_measured(const coro::MADSchedule& schedule) { return schedule.options().timeout.count() == 0; }

/// Runs a started worker in rounds until no query is pending. Returns as discovery_worker::run().
coro::task<bool> run_rounds(discovery_worker&, subnet_builder&);

} // namespace comad::discovery
