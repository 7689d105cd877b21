// SPDX-License-Identifier: MIT
// fabric.cpp - fuzzes a whole discovery, its reports, find_changes(), a sweep and the tables of the SA. The input
// changes fields in the replies of a simulated subnet before they arrive. It consists of groups of six bytes: two bytes
// select the next reply to change, one the place (header or attribute), one the field, and two the new value.
#include "fuzz.hpp"
#include "wire/altering_transport.hpp"
#include <comad/coro/driver.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/sim/transport.hpp>

#include <algorithm>
#include <map>

using namespace comad;

namespace {

constexpr std::size_t most_nodes = 40, most_ports = 3000;

using fields = std::vector<iba::field_info>;

const fields& fields_to_change(const iba::record_info& info) {
    static std::map<const iba::record_info*, fields> known;
    auto [found, is_new] = known.try_emplace(&info);
    if (is_new) {
        found->second = iba::fields_of(info);
        std::erase_if(found->second, [](const iba::field_info& f) { return f.row.nested != nullptr; });
    }
    return found->second;
}

/// Changes replies until the input ends.
class script {
public:
    script(const u8* data, std::size_t size) : rest_(data, size) { next(); }

    void operator()(std::span<u8> reply) {
        if (wait_ > 0) {
            --wait_;
            return;
        }
        while (wait_ == 0) {
            change(reply);
            next();
        }
        --wait_;
    }

private:
    static constexpr std::size_t step = 6;

    void next() {
        wait_ = ~u64{0};
        if (rest_.size() < step) return;
        lie_ = rest_.first(step);
        rest_ = rest_.subspan(step);
        wait_ = lie_[0] & 0x80 ? lie_[0] & 0x7fu : (lie_[0] << 8u | lie_[1]) % 1024u;
        if (lie_[0] == 0 && lie_[1] == 0) wait_ = 0; // another field of the same reply
    }

    void change(std::span<u8> reply) const {
        const iba::mad_tables tables = iba::tables_of(reply);
        const bool in_attribute = lie_[2] & 1 && tables.attribute;
        const iba::record_info* info = in_attribute ? tables.attribute : tables.format;
        if (!info) return;
        const std::span<u8> bytes = in_attribute ? reply.subspan(tables.data_begin) : reply;
        const fields& all = fields_to_change(*info);
        if (all.empty()) return;
        iba::row_info row = all[lie_[3] % all.size()].row;
        if (row.off + row.bits() > bytes.size() * 8) return;
        if (row.count > 1) { // one element of an array
            row.off = static_cast<u16>(row.off + lie_[5] % row.count * row.width);
            row.count = 1;
        }
        comad::test::put_number(row, bytes, value_of(row.width));
    }

    /// Returns the smallest or the largest value of a field, or one in between.
    u64 value_of(unsigned width) const {
        const u64 most = width >= 64 ? ~u64{0} : (u64{1} << width) - 1;
        switch (lie_[4] % 6) {
        case 0: return lie_[5] % 2 ? most : 0;
        case 1: return lie_[5];
        case 2: return most - lie_[5];
        case 3: return most / 2 + lie_[5];
        case 4: return u64{1} << lie_[5] % 64;
        default: return lie_[5] * 0x9e3779b97f4a7c15u;
        }
    }

    std::span<const u8> rest_, lie_;
    u64 wait_ = 0; // unchanged replies before the next change
};

/// Returns a small subnet with different features: two switches with two cables between them, and three hosts, one with
/// two ports.
const transports::sim::topology& honest_subnet() {
    static const transports::sim::topology subnet = [] {
        constexpr transports::sim::link_codes edr{2, 16};
        transports::sim::topology t;
        const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x100}, "host", edr);
        const u32 wide = t.add_node(iba::NodeType::CA, 2, iba::guid{0x200}, "wide", edr);
        const u32 one = t.add_node(iba::NodeType::Switch, 5, iba::guid{0x1000}, "one", edr);
        const u32 two = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x2000}, "two", edr);
        const u32 last = t.add_node(iba::NodeType::CA, 1, iba::guid{0x300}, "last", edr);
        t.link(host, 1, one, 1);
        t.link(wide, 1, one, 2);
        t.link(wide, 2, two, 2);
        t.link(one, 3, two, 3);
        t.link(one, 4, two, 4);
        t.link(last, 1, two, 1);
        transports::sim::bring_up(t);
        return t;
    }();
    return subnet;
}

void check(const discovery::subnet& s) {
    fuzz::require(!s.nodes.empty() && s.nodes.size() <= most_nodes);
    // The first NodeInfo contradicts itself, so the subnet may be inconsistent there.
    const bool is_local_contradictory = std::ranges::any_of(s.failures, [](const discovery::failure& p) {
        return p.kind == discovery::failure_kind::contradiction && p.where.route.hopCount == 0 && p.where.port == 0;
    });
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const discovery::node& here = s.nodes[n];
        fuzz::require(s.find(here.info.nodeGUID) == &here);
        fuzz::require(is_local_contradictory || here.ports.size() == here.info.numPorts + 1u);
        fuzz::require((is_local_contradictory && n == 0) || here.info.nodeGUID != iba::guid{});
        for (unsigned p = 0; p < here.ports.size(); ++p) {
            const discovery::port_ref peer = here.ports[p].peer;
            if (!peer) continue;
            fuzz::require(peer.node < s.nodes.size() && peer.port < s.nodes[peer.node].ports.size());
            fuzz::require(s.at(peer).peer == discovery::port_ref{n, static_cast<u8>(p)});
        }
    }
    for (const discovery::failure& p : s.failures) fuzz::require(fuzz::is_one_line(describe(s, p)));
    format_topology(s, {}, {.full = true, .mads_used = 1});
    ports_report(s, {});
    json_text(s);
}

template <class R> coro::task<mad::result<std::vector<R>>> table(coro::MADSchedule& schedule) {
    co_return co_await schedule.SubnAdmGetTable<R>();
}

/// The result is a complete table or an error.
template <class R> void query_table(coro::MADSchedule& schedule) {
    const auto records = coro::sync_wait(schedule, table<R>(schedule));
    if (records)
        for (const R& r : records.value()) iba::json(r);
    else fuzz::require(!to_string(records.error()).empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    transports::sim::fabric net(honest_subnet());
    transports::sim::sim_transport port(net, transports::sim::time_mode::virtual_);
    test::altering_transport between(port, script(data, size));
    coro::MADSchedule schedule(between);

    discovery::discover_options limits;
    limits.max_nodes = most_nodes;
    limits.max_ports = most_ports;
    limits.max_time = std::chrono::hours(1);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule, limits));
    if (!found) {
        fuzz::require(!to_string(found.error()).empty());
        return 0;
    }
    const discovery::subnet& s = found.value();
    check(s);

    counters::sweeper sweeper(schedule, s, {});
    const counters::sweep first = coro::sync_wait(schedule, sweeper.run());
    const counters::sweep second = coro::sync_wait(schedule, sweeper.run());
    fuzz::require(first.ports.size() == second.ports.size());
    counters::align_to(second, s, first, s);
    for (const discovery::change& c : coro::sync_wait(schedule, discovery::find_changes(schedule, s)))
        fuzz::require(fuzz::is_one_line(describe(s, c)));

    mad::IBPath to_sa;
    to_sa.DLID = net.graph().sm_lid;
    schedule.set_sa_path(to_sa);
    query_table<iba::sa::NodeRecord>(schedule);
    query_table<iba::sa::PortInfoRecord>(schedule);
    query_table<iba::sa::LinkRecord>(schedule);
    query_table<iba::sa::PathRecord>(schedule);
    discovery::sa_tables tables(schedule);
    for (int look = 0; look < 2; ++look)
        if (const auto reported = coro::sync_wait(schedule, tables.find_changes()))
            for (const discovery::change& c : reported.value()) fuzz::require(fuzz::is_one_line(describe(s, c)));
    return 0;
}
