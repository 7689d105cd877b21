// SPDX-License-Identifier: MIT
// responses.cpp - adds up the replies of measurements.
#include "commands/measuring/responses.hpp"

#include "comad.hpp"
#include <comad/mad/detail/system_calls.hpp>

#include <algorithm>
#include <sys/resource.h>

namespace ibtool {
namespace {

double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

/// Returns whether a reply arrived, which can be an error or incorrect.
bool has_reply(const mad::result<reply_content>& end) {
    if (end) return true;
    const mad::errc code = end.error().code;
    return code == mad::errc::status || code == mad::errc::class_status || code == mad::errc::malformed_reply;
}

} // namespace

void responses::add(mad::duration took, const mad::result<reply_content>& end) {
    ++(has_reply(end) ? answered : unanswered);
    if (!end) {
        ++(end.error().code == mad::errc::timed_out ? timeouts : errors);
        waited += took;
        return;
    }
    ++replies;
    times.add(took);
    total += took;
    content.bytes += end.value().bytes;
    content.records += end.value().records;
}

void responses::add(const responses& other) {
    times.add(other.times);
    total += other.total;
    waited += other.waited;
    unfinished += other.unfinished;
    replies += other.replies;
    timeouts += other.timeouts;
    errors += other.errors;
    content.bytes += other.content.bytes;
    content.records += other.content.records;
    answered += other.answered;
    unanswered += other.unanswered;
}

double responses::mean() const noexcept { return mad::in_seconds(total) / static_cast<double>(replies); }

void responses::add_unfinished(mad::duration took, const mad::result<reply_content>& end) noexcept {
    ++(has_reply(end) ? answered : unanswered);
    ++unfinished;
    waited += took;
}

double responses::mean_of_all() const noexcept {
    const u64 count = ended() + unfinished;
    return count ? mad::in_seconds(total + waited) / static_cast<double>(count) : 0;
}

program_cost cost_of_thread() noexcept {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), mad::detail::system_calls};
}

measurement::measurement(std::size_t target_count, std::size_t rpc_count)
    : targets(target_count > 1 ? target_count : 0), rpcs(rpc_count > 1 ? rpc_count : 0) {}

void measurement::add(std::size_t target, std::size_t rpc, mad::duration took, const mad::result<reply_content>& end,
                      std::optional<mad::duration> sent) {
    all.add(took, end);
    if (!targets.empty()) targets[target].add(took, end);
    if (!rpcs.empty()) rpcs[rpc].add(took, end);
    if (sent && end) since_sent.add(*sent);
}

void measurement::add_unfinished(std::size_t target, std::size_t rpc, mad::duration took,
                                 const mad::result<reply_content>& end) noexcept {
    all.add_unfinished(took, end);
    if (!targets.empty()) targets[target].add_unfinished(took, end);
    if (!rpcs.empty()) rpcs[rpc].add_unfinished(took, end);
}

void tally::add_round(std::span<const measurement> round, std::span<const std::vector<std::size_t>> target_of) {
    responses together;
    mad::time_point first = mad::time_point::max(), last{};
    for (std::size_t i = 0; i < round.size(); ++i) {
        const measurement& m = round[i];
        retries += m.retries;
        unsent += m.unsent;
        since_sent.add(m.since_sent);
        cost.cpu_seconds += m.cost.cpu_seconds;
        cost.system_calls += m.cost.system_calls;
        together.add(m.all);
        for (std::size_t j = 0; j < target_of[i].size() && !targets.empty(); ++j)
            targets[target_of[i][j]].add(m.targets.empty() ? m.all : m.targets[j]);
        for (std::size_t j = 0; j < m.rpcs.size(); ++j) rpcs[j].add(m.rpcs[j]);
        if (m.last <= m.first) continue; // no time passed, or it ended during its warm-up
        first = std::min(first, m.first);
        last = std::max(last, m.last);
    }
    all.add(together);
    if (last <= first) return;
    const double took = mad::in_seconds(last - first);
    seconds += took;
    rates.push_back(static_cast<double>(together.replies) / took);
    if (together.replies == 0) return;
    p50.push_back(mad::in_seconds(together.times.percentile(50)));
    p99.push_back(mad::in_seconds(together.times.percentile(99)));
}

} // namespace ibtool
