// SPDX-License-Identifier: MIT
// sweep_text_test.cpp - rows, columns and members of a sweep have their own values. The counters are all different.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/subnet_missing.hpp"
#include "text/sweep_text.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace sweep_text_test {

using namespace comad;
using namespace ibtool;
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
    sweep_view view(const counters::sweep* before = nullptr) const { return {s, names, now, before, 5, 6.5, 7.25}; }
    std::vector<json> lines(const counters::sweep* before = nullptr) const {
        std::vector<json> all;
        for (const std::string& line : split(sweep_json(view(before), {}), '\n')) all.push_back(json::parse(line));
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
    CHECK(sweep_state_json(e.view())["gaps"] == 1);
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
        const auto told = test::made<iba::pm::PortCountersExt>(ports[i].pattern);
        CHECK(line["nodeGUID"] == e.guid_of(ports[i].where.node));
        CHECK(line["description"] == ports[i].name);
        CHECK(line["port"] == ports[i].where.port);
        CHECK(line["LID"] == value(ports[i].LID));
        CHECK(line["counters"] == members_of(told));
        CHECK(line["counters"].size() == counters::counter_count);
        CHECK(line["counters"]["portRcvSwitchRelayErrors"] == told.portRcvSwitchRelayErrors);
        CHECK(line["bytes"].size() == 2);
        CHECK(line["bytes"]["portXmitData"].get<double>() == 4.0 * static_cast<double>(told.portXmitData));
        CHECK(line["bytes"]["portRcvData"].get<double>() == 4.0 * static_cast<double>(told.portRcvData));
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

TEST_CASE("a CSV column contains the value of its heading") {
    const swept e;
    const auto names = split(split(sweep_csv_header(), '\n').at(0), ',');
    const auto rows = split(sweep_csv(e.view(), {}), '\n');
    REQUIRE(rows.size() == 2);
    const auto cells = split(rows[1], ',');
    REQUIRE(cells.size() == names.size());
    json row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    const auto told = test::made<iba::pm::PortCountersExt>(2);
    const std::pair<const char*, u64> data[] = {{"portXmitData_bytes", told.portXmitData},
                                                {"portRcvData_bytes", told.portRcvData}};
    for (const auto& [name, words] : data) { // the number of bytes may exceed 64 bits
        CHECK(std::stod(row[name].get<std::string>()) == 4.0 * static_cast<double>(words));
        row.erase(name);
    }
    json wanted{{"sweep", "5"},
                {"seconds", "6.5"},
                {"nodeGUID", e.guid_of(1)},
                {"description", "\"made host\""},
                {"port", "2"}};
    const json members = members_of(told);
    for (const auto& [name, number] : members.items()) wanted[name] = std::to_string(number.get<u64>());
    CHECK(row == wanted);
}

TEST_CASE("a name that a spreadsheet would read as a formula is text in CSV") {
    swept e;
    e.now.ports.resize(1);
    const auto name_in_csv = [&](const std::string& name) {
        e.s.nodes[0].description = name;
        return split(sweep_csv(e.view(), {}), ',').at(3);
    };
    CHECK(name_in_csv("=HYPERLINK(1)") == "\"'=HYPERLINK(1)\"");
    CHECK(name_in_csv("+1") == "\"'+1\"");
    CHECK(name_in_csv("-1") == "\"'-1\"");
    CHECK(name_in_csv("@a") == "\"'@a\"");
    CHECK(name_in_csv("a=b") == "\"a=b\"");
    CHECK(name_in_csv("") == "\"\"");
}

TEST_CASE("a table column contains the value of its heading") {
    swept e;
    e.now.ports.resize(1);
    e.now.ports[0].counters.counters = {};
    e.now.ports[0].counters.counters.take(short_counters(), with_wait);
    CHECK(sweep_table(e.view(), {}) == "# sweep 5 at 6.500 s: 1 ports, 1 missing, 99 MADs, 2.3 ms; totals\n"
                                       "#node                            port    xmit B     rcv B   xmit pk   "
                                       " rcv pk      wait   errors\n"
                                       "made switch                         3      4000      8000      3000   "
                                       "   4000      5000      123\n");
    // A narrow terminal drops the packets first.
    CHECK(sweep_table(e.view(), {.columns = 60}) ==
          "# sweep 5 at 6.500 s: 1 ports, 1 missing, 99 MADs, 2.3 ms; totals\n"
          "#node            port    xmit B     rcv B      wait   errors\n"
          "made switch         3      4000      8000      5000      123\n");
    // A narrower terminal also drops the wait time, received data, errors, a part of the name, and finally the sent
    // data.
    CHECK_THAT(sweep_table(e.view(), {.columns = 50}),
               Catch::EndsWith("made switch         3      4000      8000      123\n"));
    CHECK_THAT(sweep_table(e.view(), {.columns = 49}),
               Catch::EndsWith("made switch" + std::string(18, ' ') + "3      4000      123\n"));
    CHECK_THAT(sweep_table(e.view(), {.columns = 39}),
               Catch::EndsWith("made switch" + std::string(17, ' ') + "3      4000\n"));
    CHECK_THAT(sweep_table(e.view(), {.columns = 24}), Catch::EndsWith("made sw..    3      4000\n"));
    CHECK_THAT(sweep_table(e.view(), {.columns = 20}), Catch::EndsWith("made switch        3\n"));
    CHECK_THAT(sweep_table(e.view(), {.columns = 5}), Catch::EndsWith("made..    3\n"));
    // Wide characters take two columns each, and no character is split.
    e.s.nodes[0].description = "\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9";
    CHECK_THAT(sweep_table(e.view(), {.columns = 50}), Catch::Contains("\n\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9.. "
                                                                       "   3      4000"));
}

TEST_CASE("rows can be filtered by a part of the name and sorted by the sum of errors") {
    swept e;
    const auto names_of = [&](const table_choice& choice) {
        std::vector<std::string> all;
        for (const std::size_t i : rows_of(e.view(), choice))
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
    CHECK(names_of({.order = row_order::by_errors}) == names{"made host", "made switch"});
    e.now.ports[1].counters.counters = {};
    CHECK(names_of({.order = row_order::by_errors}) == names{"made switch", "made host"});
}

TEST_CASE("a failure is printed with its location, in the short or the complete form") {
    swept e;
    e.s.failures = {{discovery::failure_kind::timeout, {e.s.nodes[0].info.nodeGUID, 4}, "RPC silent", "silent"}};
    const auto id = [&](u32 node) { return fmt::format("{:016x}", value(e.s.nodes[node].info.nodeGUID)); };
    CHECK(format_missing(all_missing(e.s, e.now.failures), true) ==
          std::vector{"S-" + id(0) + " \"made switch\"[4]: RPC silent",
                      "R-" + id(2) + " \"made router\"[1]: what is wrong"});
    CHECK(
        format_missing(all_missing(e.s, e.now.failures), false) ==
        std::vector{"S-" + id(0) + " \"made switch\"[4]: silent", "R-" + id(2) + " \"made router\"[1]: what is wrong"});
    e.now.failures[0].where.port = 0;
    CHECK(format_missing({missing_of(e.s, e.now.failures[0])}, true).at(0) ==
          "R-" + id(2) + " \"made router\": what is wrong");
}

TEST_CASE("failures with one cause are one line for any number of locations") {
    std::vector<discovery::failure> all;
    const auto add = [&](u64 GUID, u8 port, std::string name, std::string short_name, std::string text,
                         std::string cause = {}) {
        all.push_back({discovery::failure_kind::timeout,
                       {iba::guid{GUID}, port, {}, std::move(name), std::move(short_name)},
                       std::move(text),
                       std::move(cause)});
    };
    for (int p = 3; p < 515; ++p)
        add(1, static_cast<u8>(p % 256 ? p % 256 : 1), "S-1 \"leaf-0001\"[" + std::to_string(p) + "]",
            "leaf-0001 port " + std::to_string(p), "RPC timed out to " + std::to_string(p),
            "PortExtendedSpeedsCounters timed out");
    add(2, 0, "S-2 \"leaf-0002\"", "leaf-0002", "no LID");
    add(3, 0, "S-3 \"leaf-0003\"", "leaf-0003", "no LID");
    add(4, 1, "S-4 \"leaf-0004\"[1]", "leaf-0004 port 1", "RPC refused", "PortCounters refused");
    add(5, 1, "S-5 \"leaf-0005\"[1]", "leaf-0005 port 1", "no LID");
    add(0, 0, {}, {}, "stopped before all nodes were queried");
    CHECK(format_missing(all, false) ==
          std::vector<std::string>{"512 ports: PortExtendedSpeedsCounters timed out; first: leaf-0001 port 3",
                                   "2 nodes and 1 port: no LID; first: leaf-0002",
                                   "S-4 \"leaf-0004\"[1]: PortCounters refused",
                                   "stopped before all nodes were queried"});
    const auto each = format_missing(all, true);
    REQUIRE(each.size() == all.size());
    CHECK(each[0] == "S-1 \"leaf-0001\"[3]: RPC timed out to 3");
    CHECK(each[511] == "S-1 \"leaf-0001\"[514]: RPC timed out to 514");
    CHECK(format_missing(all, false, "lost mlx5_0/1: gone") ==
          std::vector<std::string>{"lost mlx5_0/1: gone; 517 replies are missing"});
    CHECK(format_missing({}, false, "lost mlx5_0/1: gone").empty());
}

TEST_CASE("each kind of failure has a name") {
    using enum discovery::failure_kind;
    const std::pair<discovery::failure_kind, const char*> kinds[] = {
        {timeout, "timeout"},         {unresponsive, "unresponsive"}, {error_reply, "error_reply"},
        {send_failed, "send_failed"}, {no_address, "no_address"},     {cancelled, "cancelled"}};
    for (const auto& [kind, name] : kinds) CHECK(name_of(kind) == name);
}

} // namespace sweep_text_test
