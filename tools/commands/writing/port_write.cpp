// SPDX-License-Identifier: MIT
// port_write.cpp - sends a Set of PortInfo, and reads back the port and its LinkDownedCounter.
#include "commands/writing/port_write.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "session/read_back.hpp"
#include <comad/iba/detail/pm/counters.hpp>

#include <fmt/format.h>

namespace ibtool {
namespace {

query_task<smp::PortInfo> port_info_at(session& in, mad::any_path path, u32 modifier) {
    co_return co_await in.schedule().SubnGet<smp::PortInfo>(path, modifier);
}

/// Queries LinkDownedCounter of a port at the PMA, with a short time limit.
query_task<u8> link_downs_at(session& in, iba::lid PMA, u8 port) {
    constexpr coro::rpc_options soon{.patience = std::chrono::milliseconds(10)};
    iba::pm::PortCounters which;
    which.portSelect = port;
    mad::IBPath to;
    to.DLID = PMA;
    BOOST_OUTCOME_CO_TRY(const auto counters,
                         co_await in.schedule().PerformanceGet<iba::pm::PortCounters>(which, to, 0, soon));
    co_return counters.linkDownedCounter;
}

} // namespace

coro::task<std::optional<u8>> link_downs(session& in, iba::lid PMA, u8 port) {
    constexpr u8 end = 255;
    if (PMA == iba::lid{} || in.local_port().LID == iba::lid{}) co_return std::nullopt;
    const std::function<query_task<u8>()> reads = [&in, PMA, port] { return link_downs_at(in, PMA, port); };
    auto reading = read_back<u8>(in, reads);
    const auto downs = co_await std::move(reading);
    if (!downs || downs.value() == end) co_return std::nullopt;
    co_return downs.value();
}

namespace {

/// Reads the port by its path after the change. If the Set got no reply and the port does not reply there, the Set may be lost: reads by
/// the old path.
query_task<smp::PortInfo> read_after(session& in, const port_write& w, bool is_Set_answered) {
    if (w.path_after) {
        const std::function<query_task<smp::PortInfo>()> reads = [&] {
            return port_info_at(in, *w.path_after, w.modifier);
        };
        auto reading = read_back<smp::PortInfo>(in, reads);
        auto read = co_await std::move(reading);
        if (read || is_Set_answered) co_return read;
    }
    const std::function<query_task<smp::PortInfo>()> reads = [&] { return port_info_at(in, w.path, w.modifier); };
    auto reading = read_back<smp::PortInfo>(in, reads);
    co_return co_await std::move(reading);
}

} // namespace

coro::task<written_port> write_port(session& in, port_write w, const port_change& change) {
    written_port o;
    port_evidence seen{w.before, {}, {}, {}, {}};
    if (change.cuts_link) {
        auto counting = link_downs(in, w.PMA, w.port);
        seen.downs_before = co_await std::move(counting);
    }
    const auto wanted = with_fields(w.before, change.fields);
    auto reply = co_await in.schedule().SubnSet<smp::PortInfo>(wanted, w.path, w.modifier);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) {
        o.refusal = std::move(reply.error());
        co_return o;
    }
    if (reply) seen.reply = o.reply = reply.value();
    auto reading = read_after(in, w, !failure);
    const auto read = co_await std::move(reading);
    if (!read) {
        o.problems.push_back(unknown_change({}, decisive(failure, read.error())));
        co_return o;
    }
    o.after = seen.after = read.value();
    if (seen.downs_before) {
        auto counting = link_downs(in, w.PMA, w.port);
        seen.downs_after = co_await std::move(counting);
    }
    const change_verdict found = evaluate(change, seen);
    o.note = found.note;
    for (const std::string& d : found.differences) o.problems.push_back(not_set({}, d, failure));
    if (!found.uncertainty.empty()) {
        std::string text = fmt::format("{}: {}", not_known, found.uncertainty);
        o.problems.push_back(of_write(failure_at({}, failure ? fmt::format("{}; {}", text, to_string(*failure)) : text,
                                                 failure ? fmt::format("{}; {}", text, plain_text(*failure)) : text)));
    }
    co_return o;
}

} // namespace ibtool
