// SPDX-License-Identifier: MIT
// ibping_all.cpp - pings every host of the subnet, and prints the slowest ones first.
#include "commands/hosts/ibping_all.hpp"

#include "comad.hpp"
#include "session/host_service.hpp"
#include "session/queries.hpp"
#include "session/report.hpp"
#include "text/error_text.hpp"
#include "text/failure_text.hpp"
#include "text/json.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/formats/exports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/sa.hpp>
#include <comad/server/diags.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using comad::iba::sa::NodeRecord;

/// Pings in flight. More would make each other slower at the local port.
constexpr unsigned most_pinged_at_once = 16;

/// A port of a host, and the replies to its pings.
struct pinged_host {
    iba::guid nodeGUID;
    std::string description; ///< any bytes
    iba::lid LID;
    u64 sent = 0, received = 0, refused = 0; ///< a host without a ping server refuses, which is a reply, too
    mad::duration least{0}, most{0}, total{0};
    std::string failure{}; ///< why the last ping has no reply

    void take_reply(mad::duration rtt) {
        least = received == 0 ? rtt : std::min(least, rtt);
        most = std::max(most, rtt);
        total += rtt;
        ++received;
    }
    mad::duration mean() const {
        return received ? total / static_cast<mad::duration::rep>(received) : mad::duration::zero();
    }
    u64 lost() const { return sent - received; }
};

// ---- hosts -----------------------------------------------------------------------------------------------------------

void add_host(std::vector<pinged_host>& hosts, const session& in, const discovery::node& n, iba::lid LID) {
    if (n.info.nodeType != iba::NodeType::CA || discovery::is_aggregation_node(n)) return;
    if (value(LID) == 0 || LID == in.local_port().LID) return;
    hosts.push_back({.nodeGUID = n.info.nodeGUID, .description = n.description, .LID = LID});
}

query_task<std::vector<pinged_host>> hosts_of_sa(session& in) {
    const auto query =
        iba::query<NodeRecord>{}.where<&NodeRecord::nodeInfo, &iba::smp::NodeInfo::nodeType>(iba::NodeType::CA);
    BOOST_OUTCOME_CO_TRY(const auto records, co_await in.schedule().SubnAdmGetTable<NodeRecord>(query));
    std::vector<pinged_host> hosts;
    for (const NodeRecord& r : records) {
        discovery::node n;
        n.info = r.nodeInfo;
        n.description = iba::smp::text(r.nodeDescription);
        add_host(hosts, in, n, r.LID);
    }
    co_return hosts;
}

/// Returns the hosts that a discovery finds. Adds its failures to `missing`.
coro::task<std::vector<pinged_host>> hosts_of_discovery(session& in, std::vector<discovery::failure>& missing) {
    const auto found = co_await discover_subnet(in);
    if (!found) refuse_silent_port(found.error(), in.options());
    const discovery::subnet& s = found.value();
    missing = all_missing(s);
    std::vector<pinged_host> hosts;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (s.nodes[n].info.nodeType != iba::NodeType::CA) continue;
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
            const discovery::port_ref r{n, static_cast<u8>(p)};
            const bool is_local = n == 0 && p == s.start_port;
            if (!s.at(r).info || is_local) continue;
            if (value(s.at(r).info->LID) == 0) missing.push_back(missing_at(s, r, "not pinged: the port has no LID"));
            else add_host(hosts, in, s.nodes[n], s.at(r).info->LID);
        }
    }
    co_return hosts;
}

// ---- pings -----------------------------------------------------------------------------------------------------------

/// The hosts, and which of them is next.
struct ping_queue {
    session& in;
    const ping_all_options& how;
    std::vector<pinged_host> hosts;
    std::size_t next = 0;
};

/// Sends one ping. Returns false if it has no reply: further pings would have none either.
coro::task<bool> ping_once(ping_queue& q, pinged_host& host) {
    mad::IBPath to;
    to.DLID = host.LID;
    const host_query what{server::ping_class, server::ping_attribute, q.how.OUI};
    ++host.sent;
    const mad::time_point start = q.in.now();
    const auto reply = co_await query_host(q.in, to, what);
    const bool is_refused = !reply && reply.error().code == mad::errc::status;
    if (reply || is_refused) {
        host.take_reply(q.in.now() - start);
        host.refused += is_refused;
        co_return true;
    }
    if (reply.error().code == mad::errc::cancelled) --host.sent; // a signal arrived
    else host.failure = format_error(reply.error(), q.in.options());
    co_return false;
}

/// Pings one host after the other, until no host is left.
query_task<bool> ping_hosts(ping_queue& q) {
    while (q.next < q.hosts.size()) {
        pinged_host& host = q.hosts[q.next++];
        bool goes_on = !q.in.stopped();
        for (u64 i = 0; goes_on && i < q.how.count; ++i) goes_on = co_await ping_once(q, host);
    }
    co_return true;
}

// ---- output ----------------------------------------------------------------------------------------------------------

/// Sorts hosts without a reply first, then by the mean round-trip time, the slowest first.
void put_slowest_first(std::vector<pinged_host>& hosts) {
    std::erase_if(hosts, [](const pinged_host& h) { return h.sent == 0; });
    std::ranges::stable_sort(hosts, std::ranges::greater{},
                             [](const pinged_host& h) { return std::pair(h.received == 0, h.mean()); });
}

std::string all_in_ms(mad::duration time) { return fmt::format("{:.3f}", mad::in_seconds(time) * 1e3); }

std::string ping_row(const pinged_host& h) {
    const bool has_reply = h.received != 0;
    const auto in_ms = [&](mad::duration time) { return has_reply ? all_in_ms(time) : std::string("-"); };
    return fmt::format("{:<31} {:>6} {:>5} {:>5} {:>9} {:>9} {:>9}\n", iba::escaped(h.description), value(h.LID),
                       h.sent, h.lost(), in_ms(h.least), in_ms(h.mean()), in_ms(h.most));
}

std::string ping_table(const std::vector<pinged_host>& hosts, std::size_t rows) {
    std::size_t replied = 0, refused = 0;
    mad::duration least = mad::duration::max(), most{0}, total{0};
    for (const pinged_host& h : hosts) {
        if (h.received == 0) continue;
        ++replied;
        refused += h.refused != 0;
        least = std::min(least, h.least);
        most = std::max(most, h.most);
        total += h.mean();
    }
    std::string text = fmt::format("# {} hosts: {} replied, {} did not", hosts.size(), replied, hosts.size() - replied);
    if (replied)
        text += fmt::format("; rtt min/avg/max = {}/{}/{} ms", all_in_ms(least),
                            all_in_ms(total / static_cast<mad::duration::rep>(replied)), all_in_ms(most));
    if (refused) text += fmt::format("; {} without a ping server", refused);
    text += fmt::format("\n{:<31} {:>6} {:>5} {:>5} {:>9} {:>9} {:>9}\n", "#host", "LID", "sent", "lost", "min ms",
                        "avg ms", "max ms");
    for (std::size_t i = 0; i < rows; ++i) text += ping_row(hosts[i]);
    return text;
}

std::string ping_json(const pinged_host& h) {
    nlohmann::ordered_json rtt;
    if (h.received)
        rtt = {{"min", json_number(mad::in_seconds(h.least))},
               {"avg", json_number(mad::in_seconds(h.mean()))},
               {"max", json_number(mad::in_seconds(h.most))}};
    return json_line({{"LID", value(h.LID)},
                      {"host", json_string(h.description)},
                      {"nodeGUID", fmt::format("{}", h.nodeGUID)},
                      {"transmitted", h.sent},
                      {"received", h.received},
                      {"refused", h.refused},
                      {"lost", h.lost()},
                      {"seconds", json_number(mad::in_seconds(h.total))},
                      {"round_trip_seconds", std::move(rtt)}});
}

report ping_report(std::vector<pinged_host> hosts, const ping_all_options& how) {
    put_slowest_first(hosts);
    report r;
    const std::size_t rows = how.top == 0 ? hosts.size() : std::min<std::size_t>(hosts.size(), how.top);
    if (!how.json) r.text = ping_table(hosts, rows);
    for (std::size_t i = 0; how.json && i < rows; ++i) r.text += ping_json(hosts[i]);
    for (const pinged_host& h : hosts) {
        if (h.received != 0) continue;
        discovery::failure f{discovery::failure_kind::timeout, {}, h.failure, "no reply to the ping"};
        f.where.nodeGUID = h.nodeGUID;
        f.where.name = fmt::format("LID {} \"{}\"", value(h.LID), iba::escaped(h.description));
        r.missing.push_back(std::move(f));
    }
    return r;
}

query_task<report> ping_all(session& in, const ping_all_options& how) {
    std::vector<discovery::failure> missing;
    ping_queue q{in, how, {}};
    const bool has_sa = value(in.schedule().sa_path().DLID) != 0;
    if (has_sa) {
        auto known = co_await hosts_of_sa(in);
        if (!known) co_return std::move(known.error());
        q.hosts = std::move(known).value();
    } else {
        q.hosts = co_await hosts_of_discovery(in, missing);
    }
    std::vector<query_task<bool>> workers;
    for (unsigned i = 0; i < most_pinged_at_once; ++i) workers.push_back(ping_hosts(q));
    auto ended = co_await all(std::move(workers));
    if (!ended) co_return std::move(ended.error());
    const auto not_pinged = how.count ? std::ranges::count(q.hosts, u64{0}, &pinged_host::sent) : 0;
    report r = ping_report(std::move(q.hosts), how);
    if (not_pinged)
        r.missing.push_back(failure_at(
            {}, fmt::format("interrupted: {} host{} not pinged", not_pinged, not_pinged == 1 ? " was" : "s were")));
    r.missing.insert(r.missing.end(), missing.begin(), missing.end());
    co_return r;
}

} // namespace

int run_ping_all(const ping_all_options& how, const global_options& options) {
    const std::function<query_task<report>(session&)> query = [&](session& in) { return ping_all(in, how); };
    return run_query(options, nullptr, query);
}

} // namespace ibtool
