// SPDX-License-Identifier: MIT
// worker.cpp - sends the queries of a discovery, as many at a time as the schedule's window has space for.
#include "worker.hpp"

#include <comad/coro/detail/with_timeout.hpp>

#include <optional>
#include <utility>

namespace comad::discovery {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeInfo;

discovery_worker::discovery_worker(MADSchedule& schedule, subnet_builder& builder, u32 number)
    : schedule_(schedule), builder_(builder), number_(number),
      most_readers_(schedule.options().per_destination ? schedule.options().per_destination : 4u) {}

// ---- start ---------------------------------------------------------------------------------------------------------

task<mad::result<NodeInfo>> discovery_worker::query_start() {
    builder_.start_clock(schedule_.now());
    const mad::IBDRPath local = builder_.path_to_start();
    co_return co_await schedule_.SubnGet<NodeInfo>(local);
}

void discovery_worker::begin(const NodeInfo& info) {
    startGUID_ = info.nodeGUID;
    start_port_ = info.nodeType == iba::NodeType::Switch ? u8{0} : info.localPortNum;
    start_ = {builder_.begin(info, origin(true), queue_), start_port_};
}

void discovery_worker::add(const std::vector<node_query>& more) {
    start_ = {0, start_port_};
    queue_.insert(queue_.end(), more.begin(), more.end());
}

// ---- queries -------------------------------------------------------------------------------------------------------

task<bool> discovery_worker::run() {
    const mad::duration left = builder_.time_left(schedule_.now());
    task<bool> sending = send_all();
    if (left == mad::duration::max()) co_return co_await std::move(sending);
    const std::optional<bool> is_whole = co_await coro::with_timeout(schedule_, left, std::move(sending));
    if (!is_whole) builder_.note_time_over();
    co_return is_whole.value_or(false);
}

task<bool> discovery_worker::send_all() {
    const coro::mqueue_report sent = co_await schedule_.mqueue(requests());
    co_return !sent.stopped;
}

generator<task<void>> discovery_worker::requests() {
    while (!queue_.empty() || running_ > 0) {
        if (queue_.empty()) { // replies in flight may add to it
            co_yield task<void>{};
            continue;
        }
        std::optional<node_request> request = builder_.next(queue_.front());
        queue_.pop_front();
        if (request) co_yield follow(request);
    }
}

task<void> discovery_worker::follow(std::optional<node_request> request) {
    ++running_;
    while (request) {
        const node_reply reply = co_await send(*request);
        const bool is_idle = queue_.empty() && running_ == 1;
        request = builder_.accept(*request, reply, origin(is_idle), queue_);
    }
    --running_;
}

task<node_reply> discovery_worker::send(node_request& request) {
    switch (request.query.kind) {
    case query_kind::neighbor: return get<NodeInfo>(request);
    case query_kind::ext_port_info: return get<iba::smp::MlnxExtPortInfo>(request);
    case query_kind::switch_info: return get<iba::smp::SwitchInfo>(request);
    case query_kind::description: return get<iba::smp::NodeDescription>(request);
    default: return get<iba::smp::PortInfo>(request);
    }
}

template <class T> task<node_reply> discovery_worker::get(node_request& request) {
    const coro::rpc_options limit{.patience = request.patience};
    mad::result<T> reply = co_await schedule_.SubnGet<T>(request.path, request.modifier, limit);
    if (!reply && builder_.is_directed_next(request, reply.error())) {
        request.fell_back = true;
        reply = co_await schedule_.SubnGet<T>(request.directed, request.modifier);
    }
    if (reply) co_return std::move(reply).value();
    const mad::errc code = reply.error().code;
    if (code == mad::errc::send_failed || code == mad::errc::transport_failed) has_failed_ = true;
    co_return std::move(reply).error();
}

} // namespace comad::discovery
