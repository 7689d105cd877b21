// SPDX-License-Identifier: MIT
// formats_test.cpp - rows, columns and members of a sweep have their own values, with counters that all differ, and names from the
// network are escaped.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/counters/detail/sweep_state_json.hpp>
#include <comad/counters/formats.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace formats_test {

using namespace comad;
using namespace std::chrono_literals;
using nlohmann::json;
using test::made_host_port, test::made_switch_port;

namespace {

/// Splits a text at a character.
std::vector<std::string> split(const std::string& text, char end) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, end);) parts.push_back(part);
    return parts;
}

/// Returns counters that fit into a table and are all different, as is their sum.
iba::pm::PortCounters short_counters() {
    iba::pm::PortCounters c;
    c.symbolErrorCounter = 100;
    c.linkErrorRecoveryCounter = 20;
    c.linkDownedCounter = 3;
    c.portXmitData = 1000;
    c.portRcvData = 2000;
    c.portXmitPkts = 3000;
    c.portRcvPkts = 4000;
    c.portXmitWait = 5000;
    return c;
}
constexpr counters::capabilities with_wait{.xmit_wait = true};

/// A sweep of the constructed subnet, and its view.
struct swept {
    swept() {
        now.begin = mad::time_point{1s};
        now.end = mad::time_point{1s + 2345us};
        now.mads = 99;
        now.ports = {test::made_reading(made_switch_port, 1), test::made_reading(made_host_port, 2)};
        now.failures = {{discovery::failure_kind::error_reply, s.location_of({2, 1}), "what is wrong"}};
    }
    counters::sweep_view view(const counters::sweep* before = nullptr) const {
        return {s, names, now, before, 5, 6.5, 7.25};
    }
    std::vector<json> lines(const counters::sweep* before = nullptr) const {
        std::vector<json> all;
        for (const std::string& line : split(sweep_json(view(before)), '\n')) all.push_back(json::parse(line));
        return all;
    }
    std::string guid_of(u32 node) const { return fmt::format("{}", s.nodes[node].info.nodeGUID); }

    discovery::subnet s = test::made_subnet();
    discovery::node_names names;
    counters::sweep now;
};

/// Returns the counters of the table by name.
json members_of(const iba::pm::PortCountersExt& c) {
    const auto bytes = iba::encode(c);
    json all;
    for (const iba::row_info& row : iba::info_of<iba::pm::PortCountersExt>.rows)
        if (counters::counter_named(row.name)) all[std::string(row.name)] = iba::bits_at(bytes.data(), row.off, 64);
    return all;
}

} // namespace

TEST_CASE("the summary of a sweep prints each number of the sweep") {
    const swept e;
    CHECK(e.lines().at(0) == json::parse(
                                 R"({"schema": "comad.sweep/1", "sweep": 5, "seconds": 6.5, "time": 7.25,
                                             "ports": 2, "gaps": 1, "MADs": 99, "duration_seconds": 0.002345,
                                             "complete": false})"));
    CHECK(counters::detail::sweep_state_json(e.view())["gaps"] == 1);
    CHECK(e.lines().at(3) == json({{"sweep", 5},
                                   {"seconds", 6.5},
                                   {"time", 7.25},
                                   {"nodeGUID", e.guid_of(2)},
                                   {"description", "made router"},
                                   {"port", 1},
                                   {"missing", "error_reply"},
                                   {"why", "what is wrong"}}));
}

TEST_CASE("the line of a port has each counter of the port under its name") {
    const swept e;
    const auto lines = e.lines();
    struct {
        discovery::port_ref where;
        unsigned pattern;
        const char* name;
        iba::lid LID;
    } const ports[] = {{made_switch_port, 1, "made switch", e.s.nodes[0].ports[0].info->LID},
                       {made_host_port, 2, "made host", e.s.at(made_host_port).info->LID}};
    for (std::size_t i = 0; i < 2; ++i) {
        const json& line = lines.at(1 + i);
        const auto reported = test::made<iba::pm::PortCountersExt>(ports[i].pattern);
        CHECK(line["nodeGUID"] == e.guid_of(ports[i].where.node));
        CHECK(line["description"] == ports[i].name);
        CHECK(line["port"] == ports[i].where.port);
        CHECK(line["LID"] == value(ports[i].LID));
        CHECK(line["counters"] == members_of(reported));
        CHECK(line["counters"].size() == counters::counter_count);
        CHECK(line["counters"]["portRcvSwitchRelayErrors"] == reported.portRcvSwitchRelayErrors);
        CHECK(line["bytes"].size() == 2);
        CHECK(line["bytes"]["portXmitData"].get<double>() == 4.0 * static_cast<double>(reported.portXmitData));
        CHECK(line["bytes"]["portRcvData"].get<double>() == 4.0 * static_cast<double>(reported.portRcvData));
    }
}

TEST_CASE("changes and details are printed under the names of their counters") {
    swept e;
    counters::sweep before;
    counters::reading& was = before.ports.emplace_back();
    was.valid = true;
    was.counters.at = mad::time_point{1s};
    was.counters.counters.take(short_counters(), with_wait);
    e.now.ports = {was};
    counters::reading& now = e.now.ports[0];
    now.where = made_host_port;
    now.counters.at = mad::time_point{3s};
    iba::pm::PortCounters more = short_counters();
    more.linkDownedCounter = 255;
    more.portRcvData += 10;
    more.portXmitPkts += 6;
    now.counters.counters.take(more, with_wait);
    now.details = {test::made<iba::pm::PortRcvErrorDetails>(1), test::made<iba::pm::PortXmitDiscardDetails>(2)};
    const json line = e.lines(&before).at(1);
    CHECK(line["pegged"] == json({"linkDownedCounter"}));
    CHECK(line["interval_seconds"] == 2.0);
    CHECK(line["changes"] == json::parse(
                                 R"({"linkDownedCounter": {"state": "saturated", "value": 252, "per_second": 126.0},
                          "portRcvData": {"state": "counted", "value": 10, "bytes": 40, "per_second": 20.0},
                          "portXmitPkts": {"state": "counted", "value": 6, "per_second": 3.0}})"));
    CHECK(line["details"].size() == 2);
    CHECK(line["details"]["PortRcvErrorDetails"]["portVLMappingErrors"] ==
          test::made<iba::pm::PortRcvErrorDetails>(1).portVLMappingErrors);
    CHECK(line["details"]["PortXmitDiscardDetails"]["portInactiveDiscards"] ==
          test::made<iba::pm::PortXmitDiscardDetails>(2).portInactiveDiscards);
}

TEST_CASE("the line of a port has the state, the data rate and the use of its link") {
    swept e;
    counters::sweep before;
    counters::reading& was = before.ports.emplace_back();
    was.where = made_host_port; // 8x DDR: 32 Gb/s of data, 4 Gb/s on each lane
    was.valid = true;
    was.tick = u8{249}; // 250 bytes of a lane: 500 ns
    was.counters.at = mad::time_point{1s};
    was.counters.counters.take(short_counters(), with_wait);
    e.now.ports = {was};
    counters::reading& now = e.now.ports[0];
    now.FEC = iba::FECMode::RS;
    now.counters.at = mad::time_point{3s};
    iba::pm::PortCounters more = short_counters();
    more.portXmitData += 1'000'000'000; // 4e9 bytes in 2 s, of 8e9
    more.portRcvData += 500'000'000;
    more.portXmitWait += 500'000; // 0.25 s of 2 s
    now.counters.counters.take(more, with_wait);
    const json line = e.lines(&before).at(1);
    CHECK(line["portState"] == "Active");
    CHECK(line["portPhysicalState"] == "LinkUp");
    CHECK(line["linkWidthActive"] == "8x");
    CHECK(line["linkSpeedActive"] == "DDR");
    CHECK(line["bits_per_second"] == 32'000'000'000);
    CHECK(line["tick_seconds"].get<double>() == Approx(500e-9));
    CHECK(line["FECModeActive"] == "RS");
    CHECK(line["utilization"]["xmit"].get<double>() == Approx(0.5));
    CHECK(line["utilization"]["rcv"].get<double>() == Approx(0.25));
    CHECK(line["congestion"].get<double>() == Approx(0.125));
    const json first = e.lines().at(1);
    CHECK_FALSE((first.contains("utilization") || first.contains("congestion")));
    e.s.nodes[1].ports[2].info->portState = iba::PortState::Down;
    const json down = e.lines(&before).at(1);
    CHECK(down["portState"] == "Down");
    for (const char* name : {"linkWidthActive", "bits_per_second", "tick_seconds", "utilization", "congestion"})
        CHECK_FALSE(down.contains(name));
}

namespace {

/// Returns the cells of the last line of a CSV text by their headings.
json cells_of(const std::string& header, const std::string& csv) {
    const auto names = split(split(header, '\n').at(0), ',');
    auto cells = split(split(csv, '\n').back(), ',');
    if (csv.ends_with(",\n")) cells.emplace_back(); // an empty last cell
    REQUIRE(cells.size() == names.size());
    json row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    return row;
}

} // namespace

TEST_CASE("CSV has the link, its use and the requested details in columns of their own") {
    swept e;
    counters::port_detail_set details;
    details.add<iba::pm::PortExtendedSpeedsCounters>().add<iba::pm::PortRcvErrorDetails>();
    const std::string header = counters::sweep_csv_header(details);
    counters::reading& port = e.now.ports[1];
    port.tick = u8{249};
    port.FEC = iba::FECMode::RS;
    const auto errors = test::made<iba::pm::PortRcvErrorDetails>(1);
    const auto corrected = test::made<iba::pm::PortExtendedSpeedsCountersRSFEC>(2);
    port.details = {errors, corrected};
    const json row = cells_of(header, sweep_csv(e.view(), {}, details));
    CHECK(row["portState"] == "Active");
    CHECK(row["portPhysicalState"] == "LinkUp");
    CHECK(row["linkWidthActive"] == "8x");
    CHECK(row["linkSpeedActive"] == "DDR");
    CHECK(row["bits_per_second"] == "32000000000");
    CHECK(std::stod(row["tick_seconds"].get<std::string>()) == Approx(500e-9));
    for (const char* name : {"utilization_xmit", "utilization_rcv", "congestion"}) CHECK(row[name] == "");
    CHECK(row["FECModeActive"] == "RS");
    CHECK(row["PortRcvErrorDetails.portLoopingErrors"] == std::to_string(errors.portLoopingErrors));
    CHECK(row["PortRcvErrorDetails.portLocalPhysicalErrors"] == std::to_string(errors.portLocalPhysicalErrors));
    CHECK(row["PortExtendedSpeedsCountersRSFEC.FECCorrectableSymbolCounterLane[3]"] ==
          std::to_string(corrected.FECCorrectableSymbolCounterLane[3]));
    CHECK(row["PortExtendedSpeedsCountersRSFEC.portFECUncorrectableBlockCounter"] ==
          std::to_string(corrected.portFECUncorrectableBlockCounter));
    CHECK(row["PortExtendedSpeedsCounters.errorDetectionCounterLane[0]"] == ""); // the port has the other structure
    // A port without the details has empty cells, and so has a link that is down.
    port.details.clear();
    e.s.nodes[1].ports[2].info->portState = iba::PortState::Down;
    const json down = cells_of(header, sweep_csv(e.view(), {}, details));
    CHECK(down["portState"] == "Down");
    CHECK(down["linkWidthActive"] == "");
    CHECK(down["bits_per_second"] == "");
    CHECK(down["PortRcvErrorDetails.portLoopingErrors"] == "");
    e.s.nodes[1].ports[2].info.reset();
    CHECK(cells_of(header, sweep_csv(e.view(), {}, details))["portState"] == "");
}

TEST_CASE("a CSV column contains the value of its heading") {
    const swept e;
    CHECK(split(sweep_csv(e.view()), '\n').size() == 2);
    json row = cells_of(counters::sweep_csv_header(), sweep_csv(e.view()));
    for (const char* name : {"portState", "portPhysicalState", "linkWidthActive", "linkSpeedActive", "bits_per_second",
                             "tick_seconds", "utilization_xmit", "utilization_rcv", "congestion"})
        CHECK(row.erase(name) == 1);
    const auto reported = test::made<iba::pm::PortCountersExt>(2);
    const std::pair<const char*, u64> data[] = {{"portXmitData_bytes", reported.portXmitData},
                                                {"portRcvData_bytes", reported.portRcvData}};
    for (const auto& [name, words] : data) { // the number of bytes may exceed 64 bits
        CHECK(std::stod(row[name].get<std::string>()) == 4.0 * static_cast<double>(words));
        row.erase(name);
    }
    json wanted{{"sweep", "5"},
                {"seconds", "6.5"},
                {"nodeGUID", e.guid_of(1)},
                {"description", "\"made host\""},
                {"port", "2"}};
    const json members = members_of(reported);
    for (const auto& [name, number] : members.items()) wanted[name] = std::to_string(number.get<u64>());
    CHECK(row == wanted);
}

TEST_CASE("counters as JSON are numbers under the names of the IBA") {
    counters::counter_values values;
    CHECK(counters::counters_json(values) == "{}");
    values.take(short_counters(), {});
    CHECK(counters::counters_json(values) ==
          R"({"portXmitData":1000,"portRcvData":2000,"portXmitPkts":3000,"portRcvPkts":4000,)"
          R"("symbolErrorCounter":100,"linkErrorRecoveryCounter":20,"linkDownedCounter":3,"portRcvErrors":0,)"
          R"("portRcvRemotePhysicalErrors":0,"portRcvSwitchRelayErrors":0,"portXmitDiscards":0,)"
          R"("portXmitConstraintErrors":0,"portRcvConstraintErrors":0,"localLinkIntegrityErrors":0,)"
          R"("excessiveBufferOverrunErrors":0,"VL15Dropped":0})");
}

TEST_CASE("counters as JSON have all digits of a 64-bit value") {
    iba::pm::PortCountersExt wide;
    wide.portXmitData = 0xfedc'ba98'7654'3210;
    wide.portRcvData = 0xffff'ffff'ffff'ffff;
    wide.portXmitPkts = 0x20'0000'0000'0001; // 2^53 + 1, which a double does not hold
    counters::counter_values values;
    values.take(wide, {.extended = true});
    CHECK(counters::counters_json(values) ==
          R"({"portXmitData":18364758544493064720,"portRcvData":18446744073709551615,)"
          R"("portXmitPkts":9007199254740993,"portRcvPkts":0})");
}

TEST_CASE("sweep_json writes names from the network as ASCII JSON on one line") {
    swept e;
    const auto written = [&](const std::string& description) {
        e.s.nodes[0].description = description;
        const std::string line = split(sweep_json(e.view()), '\n').at(1);
        const std::string begin = "\"description\":", end = ",\"port\":";
        const std::size_t from = line.find(begin) + begin.size();
        return line.substr(from, line.find(end) - from);
    };
    CHECK(written("a\",\"port\":7,\"x\":\"") == R"("a\",\"port\":7,\"x\":\"")");
    CHECK(written("C:\\n") == R"("C:\\n")");
    CHECK(written("a\nb\tc") == R"("a\nb\tc")");
    CHECK(written("\x1b[2J\x7f") == R"("\u001b[2J\u007f")");
    CHECK(written("a\xff") == R"("a\u00ff")");
    CHECK(written("\u202egnp") == R"("\u202egnp")");
    CHECK(written("Z\u00fcrich") == R"("Z\u00fcrich")");
}

TEST_CASE("sweep_json escapes the text of a failure") {
    swept e;
    e.now.failures[0].text = "refused by \"x\"\n";
    CHECK_THAT(sweep_json(e.view()), Catch::EndsWith(R"("missing":"error_reply","why":"refused by \"x\"\n"})"
                                                     "\n"));
}

TEST_CASE("sweep_csv quotes names from the network and keeps them on one line") {
    swept e;
    e.now.ports.resize(1);
    const auto written = [&](const std::string& description) {
        e.s.nodes[0].description = description;
        const std::string text = sweep_csv(e.view());
        REQUIRE(text.find('\n') == text.size() - 1);
        const std::string begin = e.guid_of(0) + ",", end = ",3,"; // the port
        const std::size_t from = text.find(begin) + begin.size();
        return text.substr(from, text.find(end, from) - from);
    };
    CHECK(written("a,b") == "\"a,b\"");
    CHECK(written("a\",7") == "\"a\"\",7\"");
    CHECK(written("a\r\nb") == "\"a\\x0d\\x0ab\"");
    CHECK(written("\x1b[2J") == "\"\\x1b[2J\"");
    CHECK(written("a\xff") == "\"a\\xff\"");
    CHECK(written("\"=1\"") == "\"\"\"=1\"\"\"");
    CHECK(written("Z\u00fcrich") == "\"Z\u00fcrich\"");
}

TEST_CASE("sweep_json and sweep_csv write only the selected rows, in their order") {
    swept e;
    const auto ports_in = [&](const counters::row_selection& selection) {
        std::vector<std::string> all;
        for (const std::string& line : split(sweep_csv(e.view(), selection), '\n'))
            all.push_back(split(line, ',').at(3));
        std::vector<std::string> of_json;
        for (const std::string& line : split(sweep_json(e.view(), selection), '\n'))
            if (const json object = json::parse(line); object.contains("counters"))
                of_json.push_back('"' + object["description"].get<std::string>() + '"');
        CHECK(of_json == all);
        return all;
    };
    using names = std::vector<std::string>;
    e.now.ports[0].counters.counters = {};
    e.now.ports[0].counters.counters.take(short_counters(), with_wait);
    CHECK(ports_in({.order = counters::row_order::by_counter, .by = counters::counter::portXmitData}) ==
          names{"\"made host\"", "\"made switch\""});
    CHECK(ports_in({.top = 1, .order = counters::row_order::by_errors}) == names{"\"made host\""});
    CHECK(ports_in({.part_of_name = "switch"}) == names{"\"made switch\""});
}

TEST_CASE("a name that a spreadsheet would read as a formula is text in CSV") {
    swept e;
    e.now.ports.resize(1);
    const auto name_in_csv = [&](const std::string& name) {
        e.s.nodes[0].description = name;
        return split(sweep_csv(e.view()), ',').at(3);
    };
    CHECK(name_in_csv("=HYPERLINK(1)") == "\"'=HYPERLINK(1)\"");
    CHECK(name_in_csv("+1") == "\"'+1\"");
    CHECK(name_in_csv("-1") == "\"'-1\"");
    CHECK(name_in_csv("@a") == "\"'@a\"");
    CHECK(name_in_csv("a=b") == "\"a=b\"");
    CHECK(name_in_csv("") == "\"\"");
}

TEST_CASE("rows can be sorted by utilization and congestion, with and without an earlier sweep") {
    swept e;
    const auto reading_of = [](discovery::port_ref where, mad::duration at, u32 words, u32 waits) {
        counters::reading r{where, true, {mad::time_point(at), {}}, {}, u8{31}};
        iba::pm::PortCounters c;
        c.portRcvData = words;
        c.portXmitWait = waits;
        r.counters.counters.take(c, with_wait);
        return r;
    };
    // 4X QDR and 8X DDR both carry 32 Gb/s, and 1X SDR carries 2 Gb/s, with ticks of 32, 64 and 128 ns.
    e.now.ports = {reading_of(made_switch_port, 2s, 1000, 50), reading_of(made_host_port, 2s, 2000, 60),
                   reading_of(test::made_router_port, 2s, 500, 20)};
    counters::sweep before;
    before.ports = {reading_of(made_switch_port, 1s, 0, 49), reading_of(made_host_port, 1s, 1999, 0),
                    reading_of(test::made_router_port, 1s, 490, 20)};
    const auto order = [&](counters::row_order by, const counters::sweep* earlier) {
        return counters::detail::rows_of(e.view(earlier), {.order = by});
    };
    using indices = std::vector<std::size_t>;
    using enum counters::row_order;
    CHECK(order(by_utilization, nullptr) == indices{2, 1, 0});
    CHECK(order(by_congestion, nullptr) == indices{1, 2, 0});  // 60 * 64, 20 * 128, 50 * 32 ns
    CHECK(order(by_utilization, &before) == indices{0, 2, 1}); // 1000, 16 * 10, 1
    CHECK(order(by_congestion, &before) == indices{1, 0, 2});  // 60 * 64, 32, 0 ns
}

TEST_CASE("rows can be filtered by a part of the name and sorted by the sum of errors") {
    swept e;
    const auto names_of = [&](const counters::row_selection& selection) {
        std::vector<std::string> all;
        for (const std::size_t i : counters::detail::rows_of(e.view(), selection))
            all.push_back(e.s.nodes[e.now.ports[i].where.node].description);
        return all;
    };
    using names = std::vector<std::string>;
    CHECK(names_of({}) == names{"made switch", "made host"});
    CHECK(names_of({.part_of_name = "HOST"}) == names{"made host"});
    CHECK(names_of({.part_of_name = "made "}) == names{"made switch", "made host"});
    CHECK(names_of({.part_of_name = "router"}).empty());
    e.now.ports[0].counters.counters = {};
    e.now.ports[0].counters.counters.take(short_counters(), with_wait); // 123 errors in total
    CHECK(names_of({.order = counters::row_order::by_errors}) == names{"made host", "made switch"});
    e.now.ports[1].counters.counters = {};
    CHECK(names_of({.order = counters::row_order::by_errors}) == names{"made switch", "made host"});
}

} // namespace formats_test
