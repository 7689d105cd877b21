// SPDX-License-Identifier: MIT
// sweep_queries_test.cpp - the queries and clearings of sweeps: sums before ports, details only where useful, and the
// view of extended speeds. The numbers of MADs were counted by hand.
#include "library/sweep_rig.hpp"
#include <comad/server/responder.hpp>

#include <sstream>
#include <variant>

using namespace comad;
using namespace comad::test;
using counters::counter;
using counters::reading;
using discovery::failure_kind;
using discovery::port_ref;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;
using iba::pm::PortExtendedSpeedsCounters;
using iba::pm::PortExtendedSpeedsCountersRSFEC;
using iba::pm::PortRcvErrorDetails;
namespace pma_ability = transports::sim::pma_ability;

namespace {

struct counted_world : swept_world {
    using swept_world::swept_world;

    std::size_t switches() const { return known.count(iba::NodeType::Switch); }
    std::size_t host_ports() const { return all_ports() - radix * switches(); }
    u32 nth_switch(unsigned which) const {
        for (u32 n = 0;; ++n)
            if (known.nodes[n].is_switch() && which-- == 0) return n;
    }
    u32 first_host() const { return known.nodes[0].is_switch() ? 1 : 0; }
    /// Returns the index in the graph of the simulator, which has another order.
    u32 graph_node(u32 n) const {
        const auto& all = net.graph().nodes;
        return static_cast<u32>(std::ranges::find(all, known.nodes[n].info.nodeGUID, &transports::sim::node::nodeGUID) -
                                all.begin());
    }
    mad::IBPath to(port_ref where) const {
        mad::IBPath path;
        path.DLID = known.end_port(where).info->LID;
        return path;
    }
    /// Sets errors of three kinds, and packets, as if the port had counted them.
    void preset(port_ref where) {
        PortCounters c;
        c.portSelect = where.port;
        c.counterSelect = 0x4009; // IBA 16.1.3.5: symbol errors, PortRcvErrors, PortXmitPkts
        c.symbolErrorCounter = 5;
        c.portRcvErrors = 3;
        c.portXmitPkts = 1'000'000;
        REQUIRE(coro::sync_wait(schedule, set(c, to(where))));
    }
    coro::task<bool> set(PortCounters c, mad::IBPath path) {
        const auto reply = co_await schedule.PerformanceSet<PortCounters>(c, path);
        co_return reply.has_value();
    }
    u64 count(port_ref where, counter c) {
        const counters::sweep all = sweep();
        for (const reading& l : all.ports)
            if (l.where == where && l.valid) return l.counters.counters[c];
        FAIL("not read");
        return 0;
    }

    static constexpr std::size_t radix = 8;
};

counters::sweep_options sums_first() {
    counters::sweep_options how;
    how.is_too_much = [](const reading& sum) { return sum.counters.counters[counter::symbolErrorCounter] > 4; };
    return how;
}

std::size_t count_valid(const counters::sweep& s) {
    return static_cast<std::size_t>(
        std::count_if(s.ports.begin(), s.ports.end(), [](const reading& l) { return l.valid; }));
}

template <class T> std::size_t count_with(const counters::sweep& s) {
    std::size_t count = 0;
    for (const reading& l : s.ports)
        for (const counters::port_detail& d : l.details) count += std::holds_alternative<T>(d);
    return count;
}

} // namespace

TEST_CASE("a sweep reads the sum of a switch first and its ports only if the sum is too high") {
    counted_world w("fattree2,radix=8");
    const u32 bad = w.nth_switch(2);
    w.preset({bad, 3});
    counters::sweeper s(w.schedule, w.known, sums_first());
    const counters::sweep first = w.sweep(s);
    CHECK(first.complete());
    CHECK(first.mads == w.known.nodes.size() + w.switches() + w.host_ports() + 8);
    CHECK(first.sums.size() == w.switches());
    CHECK(std::ranges::is_sorted(first.sums, {}, [](const reading& l) { return l.where.node; }));
    CHECK(count_valid(first) == w.host_ports() + 8);
    for (const reading& sum : first.sums) {
        CHECK(sum.valid);
        CHECK(sum.where.port == 255);
        CHECK(sum.counters.counters[counter::symbolErrorCounter] == (sum.where.node == bad ? 5 : 0));
    }
    CHECK(w.sweep(s).mads == w.switches() + w.host_ports() + 8);
}

TEST_CASE("ports without a usable switch sum are queried individually") {
    counted_world w("fattree2,radix=8");
    w.net.set_pma(w.graph_node(w.nth_switch(0)), static_cast<u8>(~pma_ability::all_ports));
    counters::sweep_options how = sums_first();
    const u32 partly = w.nth_switch(1);
    how.wants = [&](const subnet&, port_ref where) { return where != port_ref{partly, 1}; };
    const counters::sweep all = w.sweep(how);
    CHECK(all.complete());
    CHECK(all.sums.size() == w.switches() - 2);
    CHECK(count_valid(all) == w.host_ports() + 8 + 7);
    CHECK(all.mads == w.known.nodes.size() + (w.switches() - 2) + w.host_ports() + 8 + 7);
}

TEST_CASE("a sweep does not query attributes without a requested counter") {
    counted_world w("fattree2,radix=8");
    w.preset({w.nth_switch(0), 3});
    counters::sweep_options data, errors;
    data.counters = counters::counter_set().add(counter::portXmitData).add(counter::portMulticastRcvPkts);
    errors.counters = counters::counter_set().add(counter::portRcvErrors);
    struct {
        u8 can;
        std::size_t for_all, for_data, for_errors; // MADs per port
    } const cases[] = {
        {pma_ability::none, 1, 1, 1},
        {pma_ability::all & ~pma_ability::extended_errors, 2, 1, 1},
        {pma_ability::all & ~pma_ability::qp1_dropped, 1, 1, 1},
        {pma_ability::all, 1, 1, 1},
    };
    for (const auto& c : cases) {
        for (u32 n = 0; n < w.net.graph().nodes.size(); ++n) w.net.set_pma(n, c.can);
        const std::size_t capabilities = w.known.nodes.size();
        CHECK(w.sweep().mads == capabilities + c.for_all * w.all_ports());
        CHECK(w.sweep(data).mads == capabilities + c.for_data * w.all_ports());
        const counters::sweep swept = w.sweep(errors);
        CHECK(swept.mads == capabilities + c.for_errors * w.all_ports());
        u64 sum = 0;
        for (const reading& l : swept.ports) sum += l.counters.counters[counter::portRcvErrors];
        CHECK(sum == 3);
    }
}

TEST_CASE("a node with several ports is queried once for its capabilities, by any port that replies") {
    std::istringstream text("caguid=0xa000\nHca 2 \"A\"\n[1] \"S\"[1]\n[2] \"S\"[2]\n"
                            "caguid=0xb000\nHca 1 \"B\"\n[1] \"S\"[3]\n"
                            "switchguid=0x5000\nSwitch 3 \"S\"\n[1] \"A\"[1]\n[2] \"A\"[2]\n[3] \"B\"[1]\n");
    topology t = transports::sim::read_topology(text, "cabled twice");
    bring_up(t);
    counted_world w(t);
    const counters::sweep all = w.sweep();
    CHECK(all.complete());
    CHECK(count_valid(all) == 6);
    CHECK(all.mads == 3 + 6);
    // All of its ports have cables, so the total of the node is the sum of these two ports.
    const counters::sweep sums = w.sweep(sums_first());
    CHECK(sums.sums.size() == 2);
    CHECK(sums.mads == 3 + 2 + 1);
    // The subnet manager does not know one of its ports. The other port is enough.
    for (auto& n : w.known.nodes)
        if (n.info.nodeGUID == iba::guid{0xa000}) n.ports[1].info->LID = {};
    const counters::sweep one = w.sweep();
    REQUIRE(one.failures.size() == 1);
    CHECK(one.failures[0].kind == failure_kind::no_address);
    CHECK(one.failures[0].where.port == 1);
    CHECK(count_valid(one) == 5);
}

TEST_CASE("a dead switch is a failure, and its ports are not queried individually") {
    counted_world w("fattree2,radix=8");
    const u32 dead = w.nth_switch(3);
    counters::sweeper s(w.schedule, w.known, sums_first());
    REQUIRE(w.sweep(s).complete());
    const u64 timed_out = w.schedule.counters().timed_out;
    w.net.apply({transports::sim::topology_event::kind::kill, w.graph_node(dead)});
    const counters::sweep all = w.sweep(s);
    REQUIRE(all.failures.size() == 1);
    CHECK(w.known.find(all.failures[0].where) == port_ref{dead, 0});
    CHECK(w.schedule.counters().timed_out - timed_out == 2);
    const auto sum = std::ranges::find(all.sums, dead, [](const reading& l) { return l.where.node; });
    REQUIRE(sum != all.sums.end());
    CHECK_FALSE(sum->valid);
}

TEST_CASE("a sweep reads details only for ports whose counters require them") {
    counted_world w("fattree2,radix=8");
    const u32 bad = w.nth_switch(0);
    w.preset({bad, 3});
    counters::sweep_options how = sums_first();
    how.choose_details = [](const reading& l) {
        counters::port_detail_set chosen;
        if (l.counters.counters[counter::portRcvErrors] > 0) chosen.add<PortRcvErrorDetails>();
        return chosen;
    };
    const counters::sweep all = w.sweep(how);
    CHECK(all.complete());
    CHECK(count_with<PortRcvErrorDetails>(all) == 1);
    CHECK(all.mads == w.known.nodes.size() + w.switches() + w.host_ports() + 8 + 2); // for the sum, and for the port
    const auto sum = std::ranges::find(all.sums, bad, [](const reading& l) { return l.where.node; });
    REQUIRE(sum->details.size() == 1);
    CHECK(std::holds_alternative<PortRcvErrorDetails>(sum->details[0]));
}

TEST_CASE("extended speed counters are read according to the error correction of the link") {
    struct {
        const char* subnet;
        u8 can;
        bool is_rs, queries_mode;
    } const cases[] = {
        {"fattree2,radix=8,speed=EDR", pma_ability::all, true, true},
        {"fattree2,radix=8,speed=FDR", pma_ability::all, false, true},
        {"fattree2,radix=8,speed=EDR", static_cast<u8>(~pma_ability::RS_FEC), false, false},
    };
    for (const auto& c : cases) {
        CAPTURE(c.subnet, c.can);
        counted_world w(c.subnet);
        for (u32 n = 0; n < w.net.graph().nodes.size(); ++n) w.net.set_pma(n, c.can);
        counters::sweep_options how;
        how.details.add<PortExtendedSpeedsCounters>();
        counters::sweeper s(w.schedule, w.known, how);
        const counters::sweep first = w.sweep(s);
        CHECK(first.complete());
        CHECK(count_with<PortExtendedSpeedsCountersRSFEC>(first) == (c.is_rs ? w.all_ports() : 0));
        CHECK(count_with<PortExtendedSpeedsCounters>(first) == (c.is_rs ? 0 : w.all_ports()));
        CHECK(first.mads == w.known.nodes.size() + w.all_ports() * (c.queries_mode ? 3 : 2));
        CHECK(w.sweep(s).mads == w.all_ports() * 2); // the mode is known now
        if (!c.queries_mode) continue;
        PortCounters down; // the link went down, and may have agreed on another mode
        down.portSelect = 1;
        down.counterSelect = 0x4;
        down.linkDownedCounter = 1;
        REQUIRE(coro::sync_wait(w.schedule, w.set(down, w.to({w.nth_switch(0), 1}))));
        CHECK(w.sweep(s).mads == w.all_ports() * 2 + 1);
        CHECK(w.sweep(s).mads == w.all_ports() * 2);
    }
}

TEST_CASE("a sweep clears only the requested counters") {
    counted_world w("fattree2,radix=8");
    const port_ref bad{w.nth_switch(0), 3};
    w.preset(bad);
    const auto errors = [&] { return w.count(bad, counter::symbolErrorCounter); };
    const auto packets = [&] { return w.count(bad, counter::portXmitPkts); };
    (void)w.sweep(sums_first());
    CHECK(errors() == 5);

    counters::sweep_options how;
    how.clears.add(counter::symbolErrorCounter);
    const counters::sweep all = w.sweep(how);
    CHECK(all.complete());
    // Each switch clears all of its ports at once, in both attributes. The port with errors is read again.
    CHECK(all.mads == w.known.nodes.size() + w.all_ports() + 2 * (w.switches() + w.host_ports()) + 1);
    const auto is_bad = [&](const reading& l) { return l.where == bad; };
    const auto read = std::ranges::find_if(all.ports, is_bad);
    CHECK(read->counters.counters[counter::symbolErrorCounter] == 5); // the value before the clearing
    CHECK(errors() == 0);
    CHECK(w.count(bad, counter::portRcvErrors) == 3);
    CHECK(packets() >= 1'000'000);

    how.clears = {};
    how.clears.add(counter::portXmitPkts);
    (void)w.sweep(how);
    CHECK(packets() < 1'000'000);
    CHECK(w.count(bad, counter::portRcvErrors) == 3);
}

TEST_CASE("after_clears replaces only the values of cleared counters, by zeros") {
    counted_world w("fattree2,radix=8");
    const port_ref bad{w.nth_switch(0), 3};
    w.preset(bad);
    const auto at_bad = [&](const counters::sweep& s) {
        return std::ranges::find(s.ports, bad, &reading::where)->counters;
    };
    counters::sweep_options how;
    how.clears.add(counter::symbolErrorCounter);
    const counters::sweep errors = w.sweep(how);
    CHECK(errors.after_clear.size() == w.all_ports());
    const counters::sample was = at_bad(errors), is = at_bad(after_clears(errors));
    CHECK(was.counters[counter::symbolErrorCounter] == 5);
    CHECK(is.counters[counter::symbolErrorCounter] == 0);
    CHECK(is.counters.has(counter::symbolErrorCounter));
    CHECK(is.counters.width(counter::symbolErrorCounter) == was.counters.width(counter::symbolErrorCounter));
    CHECK(is.counters[counter::portRcvErrors] == 3);
    CHECK(is.counters[counter::portXmitPkts] == was.counters[counter::portXmitPkts]);
    CHECK(is.at == was.at);
    CHECK(after_clears(errors).after_clear.empty());

    how.clears = counters::counters_that(counters::is_data);
    const counters::sweep data = w.sweep(how);
    const counters::sample then = at_bad(data), later = at_bad(after_clears(data));
    CHECK((later.at > then.at && later.at <= data.end)); // the time of the clear
    CHECK(later.counters[counter::portXmitData] == 0);
    CHECK(later.counters[counter::portRcvErrors] == 3);
}

TEST_CASE("after_clears keeps the values of counters that were not cleared") {
    counted_world w("fattree2,radix=8");
    const port_ref bad{w.nth_switch(0), 3};
    w.preset(bad);
    const auto ignores = [](const server::request& r) -> std::optional<server::response> {
        if (r.header.method == iba::Method::Set) return server::response::echo();
        return std::nullopt;
    };
    for (const u16 attribute : {iba::attribute_id<PortCounters>, iba::attribute_id<PortCountersExt>})
        w.net.answer(w.graph_node(bad.node), iba::MgmtClass::Performance, attribute, ignores);
    counters::sweep_options how;
    how.clears = counters::counters_that(counters::is_error);
    const counters::sweep kept = w.sweep(how);
    REQUIRE(kept.failures.size() == 1);
    CHECK(kept.failures[0].kind == failure_kind::not_cleared);
    const counters::sweep after = after_clears(kept);
    const auto found = std::ranges::find(after.ports, bad, &reading::where);
    CHECK(found->counters.counters[counter::symbolErrorCounter] == 5);
    CHECK(found->counters.counters[counter::portRcvErrors] == 3);
}

TEST_CASE("a sweep clears only the requested ports and clears their details if requested") {
    counted_world w("fattree2,radix=8");
    const u32 bad = w.nth_switch(0);
    w.preset({bad, 3});
    w.preset({bad, 4});
    counters::sweep_options how;
    how.wants = [&](const subnet&, port_ref where) { return where == port_ref{bad, 3}; };
    how.clears.add(counter::symbolErrorCounter);
    how.clears_details.add<PortRcvErrorDetails>();
    const counters::sweep one = w.sweep(how);
    CHECK(one.complete());
    CHECK(one.mads == 1 + 1 + 2 + 1 + 1); // the last one reads the cleared counter again
    CHECK(w.count({bad, 3}, counter::symbolErrorCounter) == 0);
    CHECK(w.count({bad, 4}, counter::symbolErrorCounter) == 5);
    CHECK(w.count({bad, 3}, counter::portRcvErrors) == 3);
}

TEST_CASE("a switch whose sum is acceptable is cleared if clearing is requested") {
    counted_world w("fattree2,radix=8");
    const u32 some = w.nth_switch(0);
    w.preset({some, 3});
    counters::sweep_options how;
    how.is_too_much = [](const reading& sum) { return sum.counters.counters[counter::symbolErrorCounter] > 5; };
    how.clears.add(counter::symbolErrorCounter);
    const counters::sweep all = w.sweep(how);
    CHECK(all.complete());
    CHECK(count_valid(all) == w.host_ports());
    CHECK(w.count({some, 3}, counter::symbolErrorCounter) == 0);
}

TEST_CASE("a clear-only sweep clears a whole switch for one requested port and compares both attributes") {
    counted_world w("fattree2,radix=8");
    const u32 some = w.nth_switch(0);
    w.preset({some, 3});
    w.preset({some, 4});
    counters::sweep_options how;
    how.wants = [&](const subnet&, port_ref where) { return where == port_ref{some, 3}; };
    how.at_once = counters::all_ports_rule::of_switches;
    how.clears.add(counter::symbolErrorCounter);
    how.only_clears = true;
    counters::sweeper s(w.schedule, w.known, how);
    CHECK(s.class_port_info(some) == nullptr);
    const counters::sweep done = w.sweep(s);
    CHECK(done.complete());
    CHECK(done.cleared == std::vector<port_ref>{{some, counters::all_ports}});
    CHECK(done.mads == 1 + 2 + 2 + 2); // ClassPortInfo; Get, Set and again Get of PortCounters and PortCountersExtended
    CHECK(w.count({some, 3}, counter::symbolErrorCounter) == 0);
    CHECK(w.count({some, 4}, counter::symbolErrorCounter) == 0);
    CHECK(w.count({some, 4}, counter::portRcvErrors) == 3);
    REQUIRE(s.class_port_info(some) != nullptr);
    CHECK(counters::capabilities::of(*s.class_port_info(some)).all_ports);
    CHECK(s.class_port_info(w.nth_switch(1)) == nullptr);

    w.preset({some, 3});
    w.preset({some, 4});
    how.at_once = counters::all_ports_rule::if_all_wanted;
    CHECK(w.sweep(how).cleared == std::vector<port_ref>{{some, 3}});
    CHECK(w.count({some, 4}, counter::symbolErrorCounter) == 5);
}

TEST_CASE("a clear-only sweep with an acceptable sum clears the switch") {
    counted_world w("fattree2,radix=8");
    const u32 some = w.nth_switch(0);
    w.preset({some, 3});
    counters::sweep_options how;
    how.is_too_much = [](const reading&) { return false; };
    how.clears.add(counter::symbolErrorCounter);
    how.only_clears = true;
    const counters::sweep all = w.sweep(how);
    CHECK(all.complete());
    CHECK(w.count({some, 3}, counter::symbolErrorCounter) == 0);
}

TEST_CASE("failures of a clear-only sweep report that counters were not cleared") {
    counted_world w("fattree2,radix=8");
    const u32 dead = w.nth_switch(3);
    w.net.apply({transports::sim::topology_event::kind::kill, w.graph_node(dead)});
    counters::sweep_options how;
    how.clears = counters::counter_set::all();
    how.only_clears = true;
    const counters::sweep done = w.sweep(how);
    REQUIRE(done.failures.size() == 1);
    CHECK(w.known.find(done.failures[0].where) == port_ref{dead, 0});
    CHECK_THAT(done.failures[0].text, Catch::StartsWith("not cleared: "));
    CHECK_THAT(done.failures[0].cause, Catch::StartsWith("not cleared: "));
    CHECK(std::ranges::none_of(done.cleared, [&](port_ref r) { return r.node == dead; }));
    CHECK(done.cleared.size() == w.switches() - 1 + w.host_ports());
}

TEST_CASE("the sum of a switch is read for one requested port if the rule is of_switches") {
    counted_world w("fattree2,radix=8");
    const u32 some = w.nth_switch(0);
    w.preset({some, 4});
    counters::sweep_options how;
    how.wants = [&](const subnet&, port_ref where) { return where == port_ref{some, 3}; };
    how.is_too_much = [](const reading&) { return false; };
    CHECK(w.sweep(how).sums.empty());
    how.at_once = counters::all_ports_rule::of_switches;
    const counters::sweep all = w.sweep(how);
    REQUIRE(all.sums.size() == 1);
    CHECK(all.sums[0].counters.counters[counter::symbolErrorCounter] == 5);
    CHECK(count_valid(all) == 0);
}

TEST_CASE("a sweep completes each path with complete_path before it uses the path") {
    counted_world w("fattree2,radix=8");
    std::size_t calls = 0;
    counters::sweep_options how;
    how.complete_path = [&](mad::IBPath path, port_ref end) {
        CHECK(path.DLID == w.known.at(end).info->LID);
        ++calls;
        return path;
    };
    CHECK(w.sweep(how).complete());
    CHECK(calls > 0);
}

TEST_CASE("a dead switch is one failure in every sweep and costs one timeout in the second sweep") {
    counted_world w("fattree2,radix=8");
    const u32 dead = w.nth_switch(3);
    counters::sweeper s(w.schedule, w.known, sums_first());
    REQUIRE(w.sweep(s).complete());
    w.net.apply({transports::sim::topology_event::kind::kill, w.graph_node(dead)});
    REQUIRE(w.sweep(s).failures.size() == 1);
    const u64 before = w.schedule.counters().timed_out;
    const counters::sweep again = w.sweep(s);
    CHECK(w.schedule.counters().timed_out - before == 1);
    REQUIRE(again.failures.size() == 1);
    CHECK(again.failures[0].kind == failure_kind::unresponsive);
    CHECK(w.known.find(again.failures[0].where) == port_ref{dead, 0});
}
