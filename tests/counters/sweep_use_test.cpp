// SPDX-License-Identifier: MIT
// sweep_use_test.cpp - sweeps measure the use of simulated links with known traffic, on devices with different ticks.
#include "library/sweep_rig.hpp"
#include <comad/iba/detail/pm/samples.hpp>
#include <comad/server/responder.hpp>

#include <algorithm>
#include <string>

namespace sweep_use_test {

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using counters::link_use;
using counters::reading;
using discovery::port_ref;

namespace {

struct used_world : swept_world {
    using swept_world::swept_world;

    u32 node(const std::string& name) const { return *net.graph().find(name); }
    port_ref ref(const std::string& name, u8 number) const {
        return {known.by_guid.at(net.graph().nodes[node(name)].nodeGUID), number};
    }
    static coro::task<void> pause(coro::MADSchedule& schedule, mad::duration time) { co_await schedule.pause(time); }
    /// Returns two sweeps with a second between them.
    std::pair<counters::sweep, counters::sweep> two_sweeps(bool reads_ticks = true) {
        counters::sweep_options how;
        how.reads_ticks = reads_ticks;
        counters::sweeper s(schedule, known, how);
        counters::sweep first = sweep(s);
        coro::sync_wait(schedule, pause(schedule, 1s));
        return {std::move(first), sweep(s)};
    }
    link_use use_at(const std::pair<counters::sweep, counters::sweep>& both, port_ref where) const {
        const auto at = [&](const counters::sweep& s) -> const reading& {
            return *std::ranges::find(s.ports, where, &reading::where);
        };
        return use_of(known, at(both.first), at(both.second));
    }
};

} // namespace

TEST_CASE("sweeps measure known traffic of simulated links and waiting in two tick sizes within one percent") {
    for (const char* speed : {"QDR", "FDR", "EDR", "NDR"}) {
        CAPTURE(speed);
        used_world w(std::string("fattree2,radix=8,speed=") + speed);
        // Ticks of 8 bytes of the link (Quantum-2), and of 256 bytes of a lane.
        w.net.set_tick(w.node("h-0002 HCA-1"), 255);
        w.net.carry_from(w.node("leaf-0002"), 5, 0.75, 0.125);
        w.net.carry_from(w.node("h-0002 HCA-1"), 1, 0.2, 0.5);
        const auto both = w.two_sweeps();
        const auto within = [](double share) { return Approx(share).epsilon(0.01); };
        const link_use from = w.use_at(both, w.ref("leaf-0002", 5));
        CHECK(from.xmit->value == within(0.75));
        CHECK(from.congestion->value == within(0.125));
        const port_ref peer = w.known.at(w.ref("leaf-0002", 5)).peer;
        CHECK(w.use_at(both, peer).rcv->value == within(0.75));
        CHECK(w.use_at(both, peer).congestion->value == 0);
        const link_use of_host = w.use_at(both, w.ref("h-0002 HCA-1", 1));
        CHECK(of_host.xmit->value == within(0.2));
        CHECK(of_host.congestion->value == within(0.5));
    }
}

TEST_CASE("after a sweep that clears the data counters, the next sweep measures the true utilization") {
    used_world w("fattree2,radix=8");
    w.net.carry_from(w.node("leaf-0002"), 5, 0.75, 0.125);
    for (const bool clears_all : {false, true}) {
        CAPTURE(clears_all);
        counters::sweep_options how;
        how.reads_ticks = true;
        how.clears = clears_all ? counters::counter_set::all() : counters::counters_that(counters::is_data);
        counters::sweeper s(w.schedule, w.known, how);
        counters::sweep before = after_clears(w.sweep(s));
        for (int i = 0; i < 3; ++i) {
            coro::sync_wait(w.schedule, used_world::pause(w.schedule, 1s));
            counters::sweep now = w.sweep(s);
            const link_use use = w.use_at({before, now}, w.ref("leaf-0002", 5));
            REQUIRE(use.xmit);
            REQUIRE(use.congestion);
            CHECK(use.xmit->value == Approx(0.75).epsilon(0.01));
            CHECK_FALSE(use.xmit->is_lower_bound);
            CHECK(use.congestion->value == Approx(0.125).epsilon(0.01));
            before = after_clears(std::move(now));
        }
    }
}

TEST_CASE("a sweep reads the tick of each PMA once, and only on request") {
    used_world w("fattree2,radix=8");
    const auto without = w.two_sweeps(false);
    CHECK(without.first.mads == w.PMAs() + w.all_ports());
    CHECK_FALSE(without.first.ports[0].tick);
    const auto with = w.two_sweeps();
    CHECK(with.first.mads == 2 * w.PMAs() + w.all_ports());
    CHECK(with.second.mads == w.all_ports());
    for (const reading& r : with.second.ports) CHECK(r.tick == (w.known.nodes[r.where.node].is_switch() ? 7 : 31));
}

TEST_CASE("a PMA that rejects or ignores PortSamplesControl has no tick, and its counters are complete") {
    used_world w("fattree2,radix=8");
    const u16 samples = iba::attribute_id<iba::pm::PortSamplesCtl>;
    const u32 rejecting = w.node("leaf-0002"), ignoring = w.node("leaf-0003");
    unsigned rejected = 0, ignored = 0;
    w.net.answer(rejecting, iba::MgmtClass::Performance, samples, [&](const server::request&) {
        ++rejected;
        return std::optional(server::response::error(server::status::unsupported_attribute));
    });
    w.net.answer(ignoring, iba::MgmtClass::Performance, samples, [&](const server::request&) {
        ++ignored;
        return std::optional(server::response::nothing());
    });
    counters::sweep_options how;
    how.reads_ticks = true;
    counters::sweeper s(w.schedule, w.known, how);
    for (int sweeps = 0; sweeps < 5; ++sweeps) {
        const counters::sweep one = w.sweep(s);
        CHECK(one.complete());
        for (const reading& r : one.ports) {
            CHECK(r.valid);
            const bool has_tick =
                r.where.node != w.ref("leaf-0002", 1).node && r.where.node != w.ref("leaf-0003", 1).node;
            CHECK(r.tick.has_value() == has_tick);
        }
    }
    CHECK(rejected == 1);
    CHECK(ignored >= 1); // attempts of one query
    const unsigned after_five = ignored;
    CHECK(w.sweep(s).complete());
    CHECK(ignored == after_five);
    // Sweepers of the same fabric can share what they know.
    how.known_ticks = std::make_shared<std::map<iba::guid, std::optional<u8>>>();
    CHECK(w.sweep(how).mads > w.PMAs() + w.all_ports());
    CHECK(how.known_ticks->size() == w.net.graph().nodes.size());
    const counters::sweep again = w.sweep(how);
    CHECK(again.mads == w.PMAs() + w.all_ports());
    CHECK(std::ranges::count_if(again.ports, [](const reading& r) { return r.tick.has_value(); }) ==
          static_cast<std::ptrdiff_t>(w.all_ports() - 2 * 8));
    // A PMA without portXmitWait is not queried.
    used_world basic("fattree2,radix=8");
    for (u32 n = 0; n < basic.net.graph().nodes.size(); ++n) basic.net.set_pma(n, transports::sim::pma_ability::none);
    CHECK(basic.two_sweeps().first.mads == basic.PMAs() + basic.all_ports());
}

} // namespace sweep_use_test
