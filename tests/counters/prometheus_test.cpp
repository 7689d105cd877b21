// SPDX-License-Identifier: MIT
// prometheus_test.cpp - each series and label has the right value, in a subnet whose values and counters are all
// different.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/counters/formats.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace prometheus_test {

using namespace comad;
using counters::exposed_sweep, discovery::known_fabric, discovery::missing_parts;
using namespace std::chrono_literals;
using test::made_host_port, test::made_switch_port;

namespace {

/// A parsed page: lines `NAME{LABELS} VALUE` and the metric types.
struct page {
    explicit page(const std::string& text) {
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            const std::size_t cut = line.rfind(' ');
            if (line.starts_with("# TYPE ")) type[line.substr(7, cut - 7)] = line.substr(cut + 1);
            else if (!line.starts_with('#')) value[line.substr(0, cut)] = line.substr(cut + 1);
        }
    }
    std::map<std::string, std::string> value, type;
};

/// A sweep of the constructed subnet, and its page.
struct exposed {
    exposed() {
        now.begin = mad::time_point{1s};
        now.end = mad::time_point{3500ms};
        now.mads = 99; // MADs of this sweep; the totals differ
        now.ports = {test::made_reading(made_switch_port, 1), test::made_reading(made_host_port, 2)};
        now.failures = {{discovery::failure_kind::no_address, s.location_of({2, 1}), "no LID"}};
    }
    page text(double unix_time = 1234.5) const {
        const discovery::node_names names;
        return page(counters::prometheus_text(
            {{{s, names, now, nullptr, 5, 6.5, unix_time}, {.sweeps = 7, .skipped = 8, .mads = 9}}},
            counters::process_cost{.cpu_seconds = 10.25, .resident_bytes = 11}));
    }
    std::string guid_of(u32 node) const { return fmt::format("{}", s.nodes[node].info.nodeGUID); }
    std::string labels_of(discovery::port_ref r) const {
        return fmt::format("{{node_guid=\"{}\",port=\"{}\"", guid_of(r.node), r.port);
    }

    discovery::subnet s = test::made_subnet();
    counters::sweep now;
};

} // namespace

TEST_CASE("the series of the sweep and the program have the right values") {
    const exposed e;
    const page p = e.text();
    const std::map<std::string, std::string> wanted{
        {"infiniband_sweeps_total", "7"},
        {"infiniband_sweeps_skipped_total", "8"},
        {"infiniband_sweep_mads_total", "9"},
        {"infiniband_sweep_duration_seconds", "2.5"},
        {"infiniband_sweep_timestamp_seconds", "1234.500"},
        {"infiniband_sweep_ports", "2"},
        {"infiniband_sweep_complete", "0"},
        {"process_cpu_seconds_total", "10.25"},
        {"process_resident_memory_bytes", "11"},
    };
    for (const auto& [name, value] : wanted) {
        CAPTURE(name);
        REQUIRE(p.value.contains(name));
        CHECK(p.value.at(name) == value);
    }
    for (const auto& [name, type] : p.type) CHECK((type == "counter") == name.ends_with("_total"));
    CHECK_FALSE(e.text(-1).value.contains("infiniband_sweep_timestamp_seconds"));
    CHECK(p.value.at(fmt::format(
              "infiniband_port_missing{{node_guid=\"{}\",port=\"1\",node=\"made router\",peer_node_guid=\"{}\","
              "peer_port=\"1\",peer_node=\"made switch\",cause=\"no_address\"}}",
              e.guid_of(2), e.guid_of(0))) == "1");
}

TEST_CASE("a broken rule is a series of the port, and the fabric label precedes all other labels") {
    const exposed e;
    using counters::health_finding;
    const discovery::node_names names;
    exposed_sweep one{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}, "a\"b"};
    one.findings.emplace();
    one.findings->push_back(
        {counters::severity::error, made_switch_port, health_finding::rule::growth, 1, 0, "portRcvErrors"});
    one.findings->push_back({counters::severity::warning, made_host_port, health_finding::rule::width, 1, 4});
    const page p(counters::prometheus_text({one}));
    const auto labels = [&](discovery::port_ref r) { return "{fabric=\"a\\\"b\"," + e.labels_of(r).substr(1); };
    CHECK(p.value.at("infiniband_port_unhealthy" + labels(made_switch_port) +
                     ",rule=\"growth\",severity=\"error\",counter=\"portRcvErrors\"}") == "1");
    CHECK(p.value.at("infiniband_port_unhealthy" + labels(made_host_port) + ",rule=\"width\",severity=\"warning\"}") ==
          "1");
    CHECK(p.value.at("infiniband_sweeps_total{fabric=\"a\\\"b\"}") == "0");
    for (const auto& [name, value] : p.value)
        CHECK((name.starts_with("process_") || name.find("{fabric=") != name.npos));
}

TEST_CASE("port labels come from the port, and peer labels come from the peer") {
    const exposed e;
    const auto names = e.text().value;
    const auto is_there = [&](discovery::port_ref r, const std::string& about, iba::lid LID, const std::string& peer) {
        const std::string name =
            fmt::format("infiniband_port_info{},{},lid=\"{}\",{}}}", e.labels_of(r), about, value(LID), peer);
        CAPTURE(name);
        CHECK(names.contains(name));
    };
    is_there(made_switch_port, "node=\"made switch\",type=\"switch\"", e.s.nodes[0].ports[0].info->LID,
             fmt::format("peer_node_guid=\"{}\",peer_port=\"2\",peer_node=\"made host\"", e.guid_of(1)));
    is_there(made_host_port, "node=\"made host\",type=\"ca\"", e.s.at(made_host_port).info->LID,
             fmt::format("peer_node_guid=\"{}\",peer_port=\"3\",peer_node=\"made switch\"", e.guid_of(0)));
}

TEST_CASE("the page contains the state, width, speed and data rate of each port") {
    exposed e;
    discovery::port& host = e.s.nodes[1].ports[2];
    const auto value = [&](const std::string& name) {
        const auto values = e.text().value;
        const auto found = values.find("infiniband_port_" + name + e.labels_of(made_host_port) + "}");
        return found == values.end() ? std::string() : found->second;
    };
    CHECK(value("state_id") == "4");
    CHECK(value("physical_state_id") == "5");
    // 8x DDR: 5 Gb/s per lane, of which 4 Gb/s remain after 8b/10b.
    CHECK(value("width") == "8");
    CHECK(value("speed") == "5");
    CHECK(value("rate_bytes_per_second") == "4000000000");
    // 4x rates in InfiniBand's roadmap: EDR 100 Gb/s, HDR 200, NDR 400. FDR has 14.0625 Gb/s per lane with 64b/66b.
    const auto rate_of_4x = [&](unsigned extended) {
        e.s.nodes[1].ports[2].info->capabilityMask |= 0x4000u;
        host.info->linkWidthActive = iba::LinkWidth::w4x;
        host.info->linkSpeedExtActive2 = {};
        host.info->linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(extended);
        return std::stod(value("rate_bytes_per_second"));
    };
    CHECK(rate_of_4x(1) == Approx(14.0625e9 * 4 * 64 / 66 / 8));
    CHECK(rate_of_4x(2) == Approx(100e9 / 8));
    CHECK(rate_of_4x(4) == Approx(200e9 / 8));
    CHECK(rate_of_4x(8) == Approx(400e9 / 8));
    host.info->portState = iba::PortState::Down;
    host.info->portPhysicalState = iba::PortPhysicalState::Polling;
    CHECK(value("state_id") == "1");
    CHECK(value("physical_state_id") == "2");
    for (const char* name : {"width", "speed", "rate_bytes_per_second"}) CHECK(value(name) == "");
}

TEST_CASE("a known link that is down and a known node that is missing keep their names on the page") {
    exposed e;
    const discovery::subnet before = e.s;
    known_fabric known;
    known.take(before, mad::time_point{0s});
    // The host was removed, and the port that led to it is down.
    discovery::port& left = e.s.nodes[0].ports[3];
    left.peer = {};
    left.info->portState = iba::PortState::Down;
    left.info->portPhysicalState = iba::PortPhysicalState::Polling;
    const std::string host = e.guid_of(1);
    e.s.by_guid.erase(e.s.nodes[1].info.nodeGUID);
    e.s.nodes[1].info.nodeGUID = iba::guid{0x77}; // another node
    e.s.by_guid.emplace(iba::guid{0x77}, 1);
    e.s.nodes[1].ports[2].peer = {};
    known.take(e.s, mad::time_point{1s});
    e.s.failures.push_back({discovery::failure_kind::timeout, {e.s.nodes[0].info.nodeGUID, 3}, "no answer"});
    e.s.failures.push_back(e.s.failures[0]); // a second failure in the same series
    const discovery::node_names names;
    const std::string text = counters::prometheus_text(
        {{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}, {}, {}, known.missing()}}, {}, {{"", false}});
    const page p(text);
    const std::string far = fmt::format("peer_node_guid=\"{}\",peer_port=\"2\",peer_node=\"made host\"", host);
    const std::string near = e.labels_of(made_switch_port).substr(1) + ",node=\"made switch\",";
    const bool is_host_first = fmt::format("{}", before.nodes[1].info.nodeGUID) < e.guid_of(0);
    const std::string ends =
        is_host_first
            ? fmt::format("node_guid=\"{}\",port=\"2\",node=\"made host\",peer_node_guid=\"{}\",peer_port=\"3\","
                          "peer_node=\"made switch\"",
                          host, e.guid_of(0))
            : near + far;
    CHECK(p.value.contains("infiniband_link_down{" + ends + ",cause=\"down\"}"));
    CHECK(p.value.contains("infiniband_link_info{" + ends + "}"));
    CHECK(p.value.contains(
        fmt::format("infiniband_port_missing{{node_guid=\"{}\",port=\"0\",node=\"made host\",peer_node_guid=\"{}\","
                    "peer_port=\"3\",peer_node=\"made switch\",cause=\"not_found\"}}",
                    host, e.guid_of(0))));
    CHECK(p.value.contains("infiniband_discovery_problem{" + near + far + ",kind=\"timeout\"}"));
    CHECK_THAT(text, Catch::Contains("infiniband_port_info{" + near + "type=\"switch\",lid=") &&
                         Catch::Contains(far + "} 1\n"));
    const std::map<std::string, std::string> wanted{
        {"infiniband_nodes_known", "4"}, {"infiniband_nodes_missing", "1"},      {"infiniband_links_known", "2"},
        {"infiniband_links_down", "1"},  {"infiniband_discovery_problems", "2"}, {"infiniband_discovery_complete", "0"},
        {"infiniband_device_up", "0"},   {"infiniband_sweep_complete", "0"}};
    for (const auto& [name, number] : wanted) {
        CAPTURE(name);
        CHECK(p.value.at(name) == number);
    }
    CHECK_FALSE(p.value.contains("infiniband_sweep_judged_ports"));
}

TEST_CASE("a port has one series for its cable even if another cable is expected in the port") {
    const exposed e;
    discovery::subnet planned = e.s; // the file expects another node in place of the host
    planned.by_guid.erase(planned.nodes[1].info.nodeGUID);
    planned.nodes[1].info.nodeGUID = iba::guid{0x77};
    planned.by_guid.emplace(iba::guid{0x77}, 1);
    known_fabric known;
    known.expect(planned);
    known.take(e.s, mad::time_point{0s});
    REQUIRE(std::ranges::count(known.missing()->links, missing_parts::cause::moved, &missing_parts::link::why) == 1);
    const discovery::node_names names;
    const std::string text = counters::prometheus_text(
        {{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}, {}, {}, known.missing()}}, {}, {{"", true}});
    const std::string end = fmt::format("node_guid=\"{}\",port=\"3\"", e.guid_of(0)),
                      other_end = fmt::format("peer_node_guid=\"{}\",peer_port=\"3\"", e.guid_of(0));
    const page p(text);
    CHECK(std::ranges::count_if(p.value, [&](const auto& series) {
              const std::string& name = series.first;
              return name.starts_with("infiniband_link_info{") &&
                     (name.find('{' + end) != name.npos || name.find(other_end) != name.npos);
          }) == 1);
    CHECK_THAT(text, Catch::Contains("cause=\"moved\""));
}

TEST_CASE("each counter has a series with the name of the counter") {
    const exposed e;
    const auto values = e.text().value;
    using iba::pm::PortCountersExt;
    const auto reported = test::made<PortCountersExt>(2);
    const std::map<std::string, u64> wanted{
        {"port_unicast_xmit_packets_total", reported.portUnicastXmitPkts},
        {"port_unicast_rcv_packets_total", reported.portUnicastRcvPkts},
        {"port_multicast_xmit_packets_total", reported.portMulticastXmitPkts},
        {"port_multicast_rcv_packets_total", reported.portMulticastRcvPkts},
        {"port_xmit_packets_total", reported.portXmitPkts},
        {"port_rcv_packets_total", reported.portRcvPkts},
        {"port_symbol_errors_total", reported.symbolErrorCounter},
        {"port_link_error_recoveries_total", reported.linkErrorRecoveryCounter},
        {"port_link_downed_total", reported.linkDownedCounter},
        {"port_rcv_errors_total", reported.portRcvErrors},
        {"port_rcv_remote_physical_errors_total", reported.portRcvRemotePhysicalErrors},
        {"port_rcv_switch_relay_errors_total", reported.portRcvSwitchRelayErrors},
        {"port_xmit_discards_total", reported.portXmitDiscards},
        {"port_xmit_constraint_errors_total", reported.portXmitConstraintErrors},
        {"port_rcv_constraint_errors_total", reported.portRcvConstraintErrors},
        {"port_local_link_integrity_errors_total", reported.localLinkIntegrityErrors},
        {"port_excessive_buffer_overrun_errors_total", reported.excessiveBufferOverrunErrors},
        {"port_vl15_dropped_total", reported.VL15Dropped},
        {"port_xmit_wait_ticks_total", reported.portXmitWait},
        {"port_qp1_dropped_total", reported.QP1Dropped},
    };
    for (const auto& [name, value] : wanted)
        CHECK(values.at(fmt::format("infiniband_{}{}}}", name, e.labels_of(made_host_port))) == std::to_string(value));
    // The counters count words of four bytes. The number of bytes may need more than 64 bits.
    const std::pair<std::string, u64> data[] = {{"xmit", reported.portXmitData}, {"rcv", reported.portRcvData}};
    for (const auto& [way, words] : data) {
        const std::string bytes =
            values.at(fmt::format("infiniband_port_{}_data_bytes_total{}}}", way, e.labels_of(made_host_port)));
        CHECK(std::stod(bytes) == 4.0 * static_cast<double>(words));
    }
}

TEST_CASE("the page contains the use of each link, the tick and the error correction as far as they are known") {
    exposed e;
    e.now.ports[1].tick = u8{249}; // 250 bytes on a lane of DDR: 500 ns
    e.now.ports[1].FEC = iba::FECMode::RS;
    const discovery::node_names names;
    exposed_sweep one{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}};
    const auto value = [&](const std::string& name, discovery::port_ref where) {
        const auto values = page(counters::prometheus_text({one})).value;
        const auto found = values.find("infiniband_port_" + name + e.labels_of(where) + "}");
        return found == values.end() ? std::string() : found->second;
    };
    CHECK(std::stod(value("xmit_wait_tick_seconds", made_host_port)) == Approx(500e-9));
    CHECK(value("xmit_wait_tick_seconds", made_switch_port) == "");
    CHECK(value("fec_mode_id", made_host_port) == "2");
    CHECK(value("fec_mode_id", made_switch_port) == "");
    for (const char* name : {"xmit_utilization_ratio", "rcv_utilization_ratio", "congestion_ratio"})
        CHECK(value(name, made_host_port) == "");
    one.uses = std::make_shared<const std::vector<counters::link_use>>(
        std::vector<counters::link_use>{{}, {{{0.5}}, {{0.25, true}}, {{0.125}}}});
    CHECK(value("xmit_utilization_ratio", made_host_port) == "0.5");
    CHECK(value("rcv_utilization_ratio", made_host_port) == "0.25");
    CHECK(value("congestion_ratio", made_host_port) == "0.125");
    CHECK(value("congestion_ratio", made_switch_port) == "");
}

TEST_CASE("each counter of a detail has a series, with a label for the elements of arrays") {
    exposed e;
    counters::reading& port = e.now.ports[1]; // 8x
    const auto errors = test::made<iba::pm::PortRcvErrorDetails>(1);
    const auto discards = test::made<iba::pm::PortXmitDiscardDetails>(2);
    const auto waits = test::made<iba::pm::PortVLXmitWaitCounters>(3);
    const auto data = test::made<iba::pm::PortXmitDataSL>(4);
    const auto corrected = test::made<iba::pm::PortExtendedSpeedsCountersRSFEC>(5);
    port.details = {errors, discards, waits, data, corrected};
    const discovery::node_names names;
    exposed_sweep one{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}};
    page p(counters::prometheus_text({one}));
    const auto check = [&](const std::string& name, const std::string& label, u64 wanted) {
        const std::string series = "infiniband_port_" + name + e.labels_of(made_host_port) + label + "}";
        CAPTURE(series);
        REQUIRE(p.value.contains(series));
        CHECK(p.value.at(series) == std::to_string(wanted));
        CHECK(p.type.at("infiniband_port_" + name) == "counter");
    };
    check("local_physical_errors_total", "", errors.portLocalPhysicalErrors);
    check("malformed_packet_errors_total", "", errors.portMalformedPacketErrors);
    check("buffer_overrun_errors_total", "", errors.portBufferOverrunErrors);
    check("dlid_mapping_errors_total", "", errors.portDLIDMappingErrors);
    check("vl_mapping_errors_total", "", errors.portVLMappingErrors);
    check("looping_errors_total", "", errors.portLoopingErrors);
    check("inactive_discards_total", "", discards.portInactiveDiscards);
    check("neighbor_mtu_discards_total", "", discards.portNeighborMTUDiscards);
    check("sw_lifetime_limit_discards_total", "", discards.portSwLifetimeLimitDiscards);
    check("sw_hoq_limit_discards_total", "", discards.portSwHOQLimitDiscards);
    check("vl_xmit_wait_ticks_total", ",vl=\"15\"", waits.portVLXmitWait[15]);
    check("sl_xmit_data_bytes_total", ",sl=\"3\"", u64{4} * data.portXmitDataSL[3]); // words of 4 bytes
    check("sync_header_errors_total", "", corrected.syncHeaderErrorCounter);
    check("lane_fec_correctable_symbols_total", ",lane=\"7\"", corrected.FECCorrectableSymbolCounterLane[7]);
    check("fec_uncorrectable_blocks_total", "", corrected.portFECUncorrectableBlockCounter);
    check("fec_corrected_symbols_total", "", corrected.portFECCorrectedSymbolCounter);
    const auto has = [&](const std::string& part) {
        return std::ranges::any_of(p.value, [&](const auto& s) { return s.first.find(part) != s.first.npos; });
    };
    CHECK_FALSE(has("lane=\"8\"")); // the link has eight lanes
    CHECK_FALSE(has("infiniband_port_lane_detected_errors_total"));
    // Attributes that are not selected have no series.
    one.details = counters::port_detail_set().add<iba::pm::PortRcvErrorDetails>();
    p = page(counters::prometheus_text({one}));
    CHECK(has("infiniband_port_looping_errors_total"));
    CHECK_FALSE(has("infiniband_port_fec_"));
    CHECK_FALSE(has("infiniband_port_inactive_discards_total"));
}

TEST_CASE("every attribute that a sweep can read has series on the page") {
    exposed e;
    const discovery::node_names names;
    const auto series = [&] {
        return page(counters::prometheus_text({{{e.s, names, e.now, nullptr, 5, 6.5, -1}, {}}})).type.size();
    };
    const std::size_t without = series();
    const auto check = [&]<class T>(const T*) {
        CAPTURE(counters::attribute_name<T>);
        e.now.ports[1].details = {test::made<T>(1)};
        CHECK(series() > without);
    };
    [&]<class... T>(const std::tuple<T...>*) {
        (check(static_cast<const T*>(nullptr)), ...);
    }(static_cast<const counters::detail_types*>(nullptr));
}

TEST_CASE("a saturated counter is reported by its name") {
    exposed e;
    iba::pm::PortCounters values;
    values.portRcvErrors = 0xffff;
    values.portRcvConstraintErrors = 0xff;
    values.linkDownedCounter = 0xfe;
    e.now.ports[1].counters.counters = {};
    e.now.ports[1].counters.counters.take(values, {});
    std::vector<std::string> pegged;
    for (const auto& [name, value] : e.text().value)
        if (name.starts_with("infiniband_port_counter_pegged")) pegged.push_back(name);
    const std::string begin = "infiniband_port_counter_pegged" + e.labels_of(made_host_port);
    CHECK(pegged ==
          std::vector{begin + ",counter=\"portRcvConstraintErrors\"}", begin + ",counter=\"portRcvErrors\"}"});
}

TEST_CASE("names from the network cannot end a label or a line of the Prometheus text") {
    exposed e;
    const auto label_of = [&](const std::string& description) {
        e.s.nodes[0].description = description;
        const discovery::node_names names;
        std::istringstream text(counters::prometheus_text({{{e.s, names, e.now, nullptr, 5, 6.5}}}));
        const std::string begin = "infiniband_port_info" + e.labels_of(made_switch_port) + ",node=", end = ",type=";
        std::string found;
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(begin)) found += line.substr(begin.size(), line.find(end) - begin.size());
        return found;
    };
    CHECK(label_of("a\"} 1") == R"("a\"} 1")");
    CHECK(label_of("C:\\n") == R"("C:\\n")");
    CHECK(label_of("a\nb") == R"("a\\x0ab")");
    CHECK(label_of("\x1b[2J") == R"("\\x1b[2J")");
    CHECK(label_of("a\xff") == R"("a\\xff")");
    CHECK(label_of("\u202egnp") == R"("\\xe2\\x80\\xaegnp")");
    CHECK(label_of("Z\u00fcrich, 1") == "\"Z\u00fcrich, 1\"");
}

TEST_CASE("a sweep without rules, process and devices has no series of these") {
    const exposed e;
    const discovery::node_names names;
    const page p(counters::prometheus_text({{{e.s, names, e.now}}}));
    for (const auto& [name, type] : p.type) {
        CAPTURE(name);
        CHECK_FALSE(name.starts_with("process_"));
        CHECK(name != "infiniband_device_up");
        CHECK(name != "infiniband_nodes_known");
        CHECK(name != "infiniband_sweep_timestamp_seconds");
    }
    CHECK(p.value.at("infiniband_sweep_ports") == "2");
}

TEST_CASE("the pieces of a page have at most about 64 KiB and are the whole page") {
    exposed e;
    while (e.now.ports.size() < 2000) e.now.ports.push_back(e.now.ports[0]);
    const discovery::node_names names;
    const std::vector<exposed_sweep> sweeps{{{e.s, names, e.now}}};
    auto pieces = counters::prometheus_pieces(sweeps);
    std::string text;
    std::size_t count = 0;
    while (const std::string* piece = pieces.next()) {
        ++count;
        CHECK(piece->size() < (64 << 10) + 4096);
        text += *piece;
    }
    CHECK(count > 10);
    CHECK(text == counters::prometheus_text(sweeps));
}

} // namespace prometheus_test
