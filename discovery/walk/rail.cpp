// SPDX-License-Identifier: MIT
// rail.cpp - what is still to be asked, in order: pulled by the schedule while its window has room.
#include "rail.hpp"

#include <comad/coro/detail/with_timeout.hpp>
#include <comad/discovery/database/detail/link.hpp>

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace comad::discovery {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::IBDRPath;

rail::rail(MADSchedule& schedule, subnet_builder& all, u32 number)
    : schedule_(schedule), all_(all), number_(number),
      most_readers_(schedule.options().per_destination ? schedule.options().per_destination : 4u) {}

// ---- where it begins -----------------------------------------------------------------------------------------------

task<mad::result<NodeInfo>> rail::ask_start() {
    all_.start_clock(schedule_.now());
    const IBDRPath local = all_.path_to_start();
    co_return co_await schedule_.SubnGet<NodeInfo>(local);
}

void rail::begin(const NodeInfo& info) {
    const IBDRPath local = all_.path_to_start();
    const subnet_builder::meeting here = all_.begin(info, local, me(true));
    startGUID_ = info.nodeGUID;
    start_port_ = info.nodeType == iba::NodeType::Switch ? u8{0} : info.localPortNum;
    start_ = {here.node, start_port_};
    if (here.is_other_port) to_ask_.push_back({topic::port, here.node, start_port_, local});
    read(here, local);
}

void rail::add(std::vector<smp_query> more) {
    start_ = {0, start_port_};
    to_ask_.insert(to_ask_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// ---- what is to be asked -------------------------------------------------------------------------------------------

task<bool> rail::explore() {
    const mad::duration left = all_.time_left(schedule_.now());
    task<bool> asking = ask_all();
    if (left == mad::duration::max()) co_return co_await std::move(asking);
    const std::optional<bool> is_whole = co_await coro::with_timeout(schedule_, left, std::move(asking));
    if (!is_whole) all_.note_time_over();
    co_return is_whole.value_or(false);
}

task<bool> rail::ask_all() {
    const coro::mqueue_report swept = co_await schedule_.mqueue(queries());
    co_return !swept.stopped;
}

// Whether a link still has to be probed is decided here, when there is a slot for it, and not when its port was read:
// meanwhile the other end may have told.
generator<task<void>> rail::queries() {
    while (!to_ask_.empty() || running_ > 0) {
        if (to_ask_.empty()) {
            co_yield task<void>{};
            continue;
        }
        const smp_query q = to_ask_.front();
        to_ask_.pop_front();
        if (q.what == topic::neighbour && !all_.is_open(q)) continue;
        co_yield answer(q);
    }
}

task<void> rail::answer(smp_query q) {
    ++running_;
    switch (q.what) {
    case topic::neighbour: co_await probe(q); break;
    case topic::node: co_await read_node(q); break;
    default: co_await read_fact(q); break;
    }
    --running_;
}

// ---- who is there --------------------------------------------------------------------------------------------------

task<void> rail::probe(const smp_query& q) {
    const IBDRPath route = all_.path_beyond(q);
    auto reply = co_await get<NodeInfo>(q, route);
    if (!reply) {
        failed(q, reply.error(), route,
               reply.error().code == mad::errc::timed_out ? "no reply from the neighbor" : "neighbor not read");
        co_return;
    }
    const bool is_idle = to_ask_.empty() && running_ == 1;
    const subnet_builder::meeting there = all_.meet({q.node, q.port}, reply.value(), route, me(is_idle));
    if (there.is_other_port) to_ask_.push_back({topic::port, there.node, reply.value().localPortNum, route});
    if (there.is_back) {
        to_ask_.push_back({topic::description, there.node, 0, route});
        if (reply.value().nodeType == iba::NodeType::Switch) to_ask_.push_back({topic::port, there.node, 0, route});
    }
    read(there, route);
}

void rail::failed(const smp_query& q, const mad::mad_error& e, const IBDRPath& went, std::string_view what) {
    if (e.code == mad::errc::send_failed || e.code == mad::errc::transport_failed) has_lost_ = true;
    all_.failed(q, e, went, what);
}

void rail::read(const subnet_builder::meeting& met, const IBDRPath& route) {
    for (unsigned i = 0; i < met.readers; ++i) to_ask_.push_back({topic::node, met.node, 0, route});
}

// ---- what they are -------------------------------------------------------------------------------------------------

task<void> rail::read_node(const smp_query& q) {
    for (;;) {
        const std::optional<smp_query> step = all_.next_step(q.node, q.route);
        if (!step) co_return;
        if (step->what == topic::port) co_await read_port(*step); // nearly all of them
        else co_await read_fact(*step);
    }
}

task<void> rail::read_fact(const smp_query& q) {
    switch (q.what) {
    case topic::switch_info: {
        const auto info = co_await ask<SwitchInfo>(q);
        if (info) all_.take(q.node, *info);
        break;
    }
    case topic::description: {
        const auto description = co_await ask<NodeDescription>(q);
        if (description) all_.take(q.node, *description);
        break;
    }
    default: co_await read_port(q); break;
    }
}

task<void> rail::read_port(const smp_query& q) {
    const auto info = co_await ask<PortInfo>(q);
    if (!info) co_return;
    const bool is_start = start_ == port_ref{q.node, q.port};
    const subnet_builder::port_state state = all_.take(q.node, q.port, *info, is_start);
    ask_again_for_speeds(q);
    if (q.understands_extended_speeds) co_return;
    if (state.leads_on) to_ask_.push_back({topic::neighbour, q.node, q.port, q.route});
    if (!state.may_be_fdr10) co_return;
    const auto extended = co_await ask<iba::smp::MlnxExtPortInfo>(q);
    if (extended) all_.take(q.node, q.port, *extended);
}

// As a subnet manager does it (OpenSM since 2026).
void rail::ask_again_for_speeds(const smp_query& q) {
    for (const u8 port : all_.hiding_ports(q.node, q.port, q.understands_extended_speeds))
        to_ask_.push_back({.what = topic::port,
                           .node = q.node,
                           .port = port,
                           .route = q.route,
                           .is_second = q.is_second,
                           .understands_extended_speeds = true});
}

namespace {

/// Neither an answer nor the end of all.
bool is_silence(const mad::mad_error& e) {
    return e.code == mad::errc::timed_out || e.code == mad::errc::send_failed || e.code == mad::errc::malformed_reply;
}

/// Device IDs promise these, and firmware need not keep it: then there is nothing to know, and nothing is missing.
template <class T> constexpr bool is_optional = std::is_same_v<T, iba::smp::MlnxExtPortInfo>;

} // namespace

// One fact about a known node; nothing where it is silent or refuses, which is noted.
template <class T> task<std::optional<T>> rail::ask(const smp_query& q) {
    const IBDRPath route = all_.path_to(q.node, q.port, q.route);
    auto reply = co_await get<T>(q, route);
    if (reply) co_return reply.value();
    if (is_optional<T> && is_unsupported(reply.error())) co_return std::nullopt;
    if (q.understands_extended_speeds && reply.error().code == mad::errc::status) { // it knows no such bit
        ask_again_for_speeds(q);
        co_return std::nullopt;
    }
    failed(q, reply.error(), route, fmt::format("{} not read", iba::info_of<T>.name));
    co_return std::nullopt;
}

// What has no answer by LID may have one by the directed route: LIDs may be stale, and some devices take no such SMP.
template <class T> task<mad::result<T>> rail::get(const smp_query& q, const IBDRPath& route) {
    const u32 modifier =
        q.what == topic::neighbour ? 0 : q.port | (q.understands_extended_speeds ? understands_extended_speeds : 0);
    const auto [by, path] = all_.best_path(q, route);
    auto reply = co_await schedule_.SubnGet<T>(path, modifier);
    if (reply) all_.answered_by(by);
    if (reply || !is_silence(reply.error())) co_return std::move(reply);
    const bool may_wait = reply.error().code == mad::errc::timed_out; // only what was silent is asked again at the end
    if (by == way::directed || (may_wait && !all_.is_directed_next(by))) co_return std::move(reply);
    auto again = co_await schedule_.SubnGet<T>(route, modifier);
    if (again) all_.failed_by(by);
    co_return std::move(again);
}

} // namespace comad::discovery
