// SPDX-License-Identifier: MIT
// sim_samples_test.cpp - the sampling mechanisms of simulated PMAs (IBA 16.1.3.2 to 16.1.3.4, 16.1.4.10).
#include "support/catch.hpp"
#include <comad/coro/driver.hpp>
#include <comad/iba/detail/pm/sampled_counters.hpp>
#include <comad/transports/sim/detail/topology.hpp>
#include <comad/transports/sim/transport.hpp>

#include <chrono>
#include <string>

namespace sim_samples_test {

using namespace comad;
using namespace iba::pm;
using namespace std::chrono_literals;
using transports::sim::make_sim;
using transports::sim::time_mode;

/// A fabric in which leaf-0001 port 3 sends at 80 % of 4x EDR and waits 10 % of the time, and a program at a host.
struct rig {
    explicit rig(const std::string& more = {})
        : sim(make_sim("fattree2,radix=4,sm=1,flow=leaf-0001/3:0.8:0.1,flow=h-0002 HCA-1/1:0.5:0" + more,
                       time_mode::virtual_)),
          schedule(*sim.transport, coro::schedule_options{}) {}

    mad::IBPath path_to(const std::string& node) const {
        const auto& graph = sim.fabric->graph();
        const auto& n = graph.nodes[graph.find(node).value()];
        mad::IBPath path;
        path.DLID = n.ports[n.first_port()].LID;
        return path;
    }
    template <class T> mad::result<T> get(const std::string& node, u32 mechanism, T payload = {}) {
        return coro::sync_wait(schedule, schedule.PerformanceGet<T>(payload, path_to(node), mechanism));
    }
    PortSamplesCtl control_of(const std::string& node, u8 port, u32 mechanism = 0) {
        PortSamplesCtl which;
        which.portSelect = port;
        return get(node, mechanism, which).value();
    }
    mad::result<PortSamplesCtl> set(const std::string& node, const PortSamplesCtl& wanted, u32 mechanism = 0) {
        return coro::sync_wait(schedule, schedule.PerformanceSet(wanted, path_to(node), mechanism));
    }
    void wait(mad::duration length) { coro::sync_wait(schedule, pause(length)); }

    transports::sim::simulation sim;
    coro::MADSchedule schedule;

private:
    coro::task<bool> pause(mad::duration length) { co_return co_await schedule.pause(length); }
};

/// A Set that samples all five quantities.
PortSamplesCtl all_quantities(u8 port, u32 sampleInterval, u16 tag) {
    PortSamplesCtl wanted;
    wanted.portSelect = port;
    wanted.sampleInterval = sampleInterval;
    wanted.tag = tag;
    for (std::size_t i = 0; i < sampled_quantities.size(); ++i)
        wanted.*counter_selects[i] = sampled_quantities[i].select;
    return wanted;
}

constexpr u8 done = 0, delayed = 1, running = 2; // SampleStatus (IBA 16.1.3.2)

TEST_CASE("a simulated PMA reports idle mechanisms with five 32-bit counters") {
    rig r;
    const PortSamplesCtl leaf = r.control_of("leaf-0001", 3);
    CHECK(leaf.sampleMechanisms == 1); // two mechanisms
    CHECK(leaf.sampleStatus == done);
    CHECK(leaf.counterWidth == 4); // 16 + 4 * 4 bits
    for (std::size_t i = 0; i < sample_counters; ++i) CHECK((leaf.*counter_masks[i] != 0) == (i < 5));
    CHECK(r.control_of("h-0002 HCA-1", 1).sampleMechanisms == 0);
    PortSamplesCtl which;
    which.portSelect = 1;
    CHECK(r.get("h-0002 HCA-1", 1, which).error().status == 0x1c); // it has one mechanism
    CHECK(r.get("leaf-0001", 2, which).error().status == 0x1c);
}

TEST_CASE("a simulated sample counts what the port sent in the interval, and no more") {
    rig r;
    // The tick of the switch is 8 bytes of a link with 12.5e9 bytes per second: 0.64 ns.
    const u32 interval = 1'562'500; // 1 ms
    const auto set = r.set("leaf-0001", all_quantities(3, interval, 0x1234));
    REQUIRE(set);
    CHECK(set.value().tag == 0x1234);
    CHECK(set.value().sampleStatus == running);
    CHECK(r.get<PortSamplesRes>("leaf-0001", 0).value().sampleStatus == running);
    r.wait(500us);
    CHECK(r.get<PortSamplesRes>("leaf-0001", 0).value().sampleStatus == running);
    r.wait(10s); // much later, the values are still those of the interval
    const PortSamplesRes result = r.get<PortSamplesRes>("leaf-0001", 0).value();
    CHECK(result.tag == 0x1234);
    CHECK(result.sampleStatus == done);
    const auto about = [](double count) { return Approx(count).margin(2); };
    CHECK(result.counter[0] == about(0.8 * 12.5e9 * 1e-3 / 4)); // words of 4 bytes
    CHECK(result.counter[1] == 0);
    CHECK(result.counter[2] == about(0.8 * 12.5e9 * 1e-3 / 4096));
    CHECK(result.counter[4] == about(0.1 * interval));
    const PortSamplesResExt wide = r.get<PortSamplesResExt>("leaf-0001", 0).value();
    CHECK(wide.extendedWidth == 2); // 64 bits
    CHECK(wide.counter[0] == result.counter[0]);
    CHECK(r.control_of("leaf-0001", 3).tag == 0x1234);
    CHECK(r.control_of("leaf-0001", 3, 1).tag == 0); // the second mechanism is not affected
}

TEST_CASE("a simulated sample starts after sampleStart ticks") {
    rig r;
    PortSamplesCtl wanted = all_quantities(1, 97'656, 7); // 1 ms: a tick of the host is 32 bytes of a lane, 10.24 ns
    wanted.sampleStart = 97'656;
    CHECK(r.set("h-0002 HCA-1", wanted).value().sampleStatus == delayed);
    r.wait(1500us);
    CHECK(r.get<PortSamplesRes>("h-0002 HCA-1", 0).value().sampleStatus == running);
    r.wait(1ms);
    const PortSamplesRes result = r.get<PortSamplesRes>("h-0002 HCA-1", 0).value();
    CHECK(result.sampleStatus == done);
    CHECK(result.counter[0] == Approx(0.5 * 12.5e9 * 1e-3 / 4).epsilon(0.001)); // and a few MADs
}

TEST_CASE("a Set of a mechanism that is not idle changes nothing, and its reply contains the present values") {
    rig r;
    REQUIRE(r.set("h-0002 HCA-1", all_quantities(1, 97'656'250, 1))); // 1 s
    const PortSamplesCtl second = r.set("h-0002 HCA-1", all_quantities(1, 5, 2)).value();
    CHECK(second.tag == 1);
    CHECK(second.sampleInterval == 97'656'250);
    CHECK(second.sampleStatus == running);
    r.wait(2s);
    CHECK(r.get<PortSamplesRes>("h-0002 HCA-1", 0).value().tag == 1);
    CHECK(r.set("h-0002 HCA-1", all_quantities(1, 5, 2)).value().tag == 2);
}

TEST_CASE("32-bit results of a simulated sample stop at their largest value, and 64-bit results do not") {
    rig r;
    REQUIRE(r.set("leaf-0001", all_quantities(3, 3'906'250'000, 1))); // 2.5 s: 6.25e9 words
    r.wait(3s);
    CHECK(r.get<PortSamplesRes>("leaf-0001", 0).value().counter[0] == 0xffff'ffffu);
    CHECK(r.get<PortSamplesResExt>("leaf-0001", 0).value().counter[0] == Approx(6.25e9));
    rig basic(",pma=basic");
    CHECK(basic.get<PortSamplesResExt>("leaf-0001", 0).error().status == 0x0c);
}

TEST_CASE("a simulated PMA does not count unknown quantities") {
    rig r;
    PortSamplesCtl wanted = all_quantities(3, 1000, 1);
    wanted.counterSelect1 = 0x4001;
    const PortSamplesCtl set = r.set("leaf-0001", wanted).value();
    CHECK(set.counterSelect0 == 1);
    CHECK(set.counterSelect1 == 0);
}

} // namespace sim_samples_test
