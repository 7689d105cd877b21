// SPDX-License-Identifier: MIT
// sweep_table_test.cpp - columns of a sweep, and rows whose counters are saturated, cleared or not reported, checked by hand.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/sweep_table.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace sweep_table_test {

using namespace comad;
using namespace ibtool;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

/// A subnet with one port, whose PMA supports only PortCounters, and sweeps of this subnet.
struct one_port {
    one_port() {
        s.nodes.resize(1);
        s.nodes[0].description = "host";
        s.nodes[0].ports.resize(2);
    }
    static counters::sweep seen(mad::duration at, const iba::pm::PortCounters& values) {
        counters::sweep one;
        one.begin = one.end = mad::time_point(at);
        one.ports.push_back({{0, 1}, true, {mad::time_point(at), {}}, {}});
        one.ports[0].counters.counters.take(values, {});
        return one;
    }
    counters::sweep_view view(const counters::sweep& now, const counters::sweep* before = nullptr) const {
        return {s, names, now, before, 1, 0, -1};
    }
    /// Returns the words of the row: node, port, data and packets sent and received, wait time, errors. The port has no link, so the
    /// columns in percent, which follow from the second sweep on, are not known.
    words row(const counters::sweep& now, const counters::sweep* before = nullptr) const {
        std::istringstream table(sweep_table(view(now, before), {}));
        std::string line, word;
        for (int i = 0; i < 3; ++i) std::getline(table, line); // the row follows two heading lines
        std::istringstream cells(line);
        words all;
        while (cells >> word) all.push_back(word);
        if (!before) return all;
        CHECK(words(all.end() - 3, all.end()) == words{"-", "-", "-"});
        all.resize(all.size() - 3);
        return all;
    }

    discovery::subnet s;
    discovery::node_names names;
};

} // namespace

TEST_CASE("a table column contains the value of its heading") {
    discovery::subnet s = test::made_subnet();
    const discovery::node_names names;
    iba::pm::PortCounters read;
    read.symbolErrorCounter = 100;
    read.linkErrorRecoveryCounter = 20;
    read.linkDownedCounter = 3;
    read.portXmitData = 1000;
    read.portRcvData = 2000;
    read.portXmitPkts = 3000;
    read.portRcvPkts = 4000;
    read.portXmitWait = 5000;
    counters::sweep now;
    now.begin = mad::time_point{1s};
    now.end = mad::time_point{1s + 2345us};
    now.mads = 99;
    now.ports.push_back({test::made_switch_port, true, {}, {}});
    now.ports[0].counters.counters.take(read, {.xmit_wait = true});
    now.failures.push_back({discovery::failure_kind::error_reply, s.location_of({2, 1}), "what is wrong"});
    const auto table = [&](std::size_t columns) { return sweep_table({s, names, now, nullptr, 5, 6.5}, {}, columns); };
    CHECK(table(0) ==
          "# sweep 5 at 6.500 s: 1 ports, 1 missing, 99 MADs, 2.3 ms; totals\n"
          "#node                            port    xmit B     rcv B   xmit pk    rcv pk      wait   errors\n"
          "made switch                         3      4000      8000      3000      4000      5000      123\n");
    // A narrow terminal first drops the packets.
    CHECK(table(60) == "# sweep 5 at 6.500 s: 1 ports, 1 missing, 99 MADs, 2.3 ms; totals\n"
                       "#node            port    xmit B     rcv B      wait   errors\n"
                       "made switch         3      4000      8000      5000      123\n");
    // A narrower terminal also drops the wait time, received data, errors, a part of the name, and finally sent data.
    CHECK_THAT(table(50), Catch::EndsWith("made switch         3      4000      8000      123\n"));
    CHECK_THAT(table(49), Catch::EndsWith("made switch" + std::string(18, ' ') + "3      4000      123\n"));
    CHECK_THAT(table(39), Catch::EndsWith("made switch" + std::string(17, ' ') + "3      4000\n"));
    CHECK_THAT(table(24), Catch::EndsWith("made sw..    3      4000\n"));
    CHECK_THAT(table(20), Catch::EndsWith("made switch        3\n"));
    CHECK_THAT(table(5), Catch::EndsWith("made..    3\n"));
    // Wide characters take two columns each, and no character is split.
    s.nodes[0].description = "\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9";
    CHECK_THAT(table(50), Catch::Contains("\n\u7bc0\u70b9-\u7bc0\u70b9-\u7bc0\u70b9..    3      4000"));
}

TEST_CASE("only a saturated total is followed by a plus") {
    const one_port p;
    iba::pm::PortCounters values;
    values.portXmitData = 0xffffffff; // 4-byte words: 17179869180 bytes
    values.portRcvData = 0xfffffffe;
    values.portXmitPkts = 1000;
    values.portRcvPkts = 0xffffffff;
    values.symbolErrorCounter = 7;
    CHECK(p.row(p.seen(0s, values)) == words{"host", "1", "17.2G+", "17.2G", "1000", "4.3G+", "-", "7"});
    values.localLinkIntegrityErrors = 15; // the largest value of 4 bits
    CHECK(p.row(p.seen(0s, values)).back() == "22+");
    CHECK_THAT(sweep_json(p.view(p.seen(0s, values))),
               Catch::Contains(R"("pegged":["portXmitData","portRcvPkts","localLinkIntegrityErrors"])"));
}

TEST_CASE("a rate that may be too low is followed by a plus") {
    const one_port p;
    iba::pm::PortCounters then, now;
    then.portXmitData = 500;
    now.portXmitData = 1000; // 500 words in 2 s: 1000 bytes per second
    then.portRcvData = 0xfffffff0;
    now.portRcvData = 0xffffffff; // 15 words in 2 s: 30 bytes per second, or more
    then.portXmitPkts = 100;
    now.portXmitPkts = 10; // it was cleared in between
    then.symbolErrorCounter = 65535;
    now.symbolErrorCounter = 65535;
    const counters::sweep first = p.seen(1s, then), second = p.seen(3s, now);
    CHECK(p.row(second, &first) == words{"host", "1", "1000", "30+", "5+", "0", "-", "0+"});
    now.symbolErrorCounter = 3;
    const counters::sweep third = p.seen(3s, now);
    CHECK(p.row(third, &first).back() == "3+");
    CHECK(p.row(third, &third) == words{"host", "1", "0", "0+", "0", "0", "-", "0"});
}

TEST_CASE("a table of rates shows utilization and congestion in percent unless the terminal is too narrow") {
    one_port p;
    p.s.nodes[0].info.nodeType = iba::NodeType::CA;
    iba::smp::PortInfo& link = p.s.nodes[0].ports[1].info.emplace();
    link.portState = iba::PortState::Active;
    link.linkWidthActive = iba::LinkWidth::w1x;
    link.linkSpeedActive = iba::LinkSpeed::SDR; // 250,000,000 bytes per second
    iba::pm::PortCounters then, now;
    now.portXmitData = 15'625'000; // 62,500,000 bytes in a second
    now.portRcvData = 62'500'000;
    now.portXmitWait = 1'000'000; // ticks of 4 ns
    const auto seen = [](mad::duration at, const iba::pm::PortCounters& values) {
        counters::sweep one = one_port::seen(at, {});
        one.ports[0].counters.counters.take(values, {.xmit_wait = true});
        one.ports[0].tick = 0;
        return one;
    };
    const counters::sweep first = seen(1s, then), second = seen(2s, now);
    const auto table = [&](std::size_t columns, counters::row_selection selection = {}) {
        const std::string text = sweep_table(p.view(second, &first), selection, columns);
        return text.substr(text.find('\n') + 1);
    };
    CHECK(table(0) == "#node                            port  xmit B/s   rcv B/s xmit pk/s  rcv pk/s    wait/s   errors"
                      "  xmit%   rcv%  wait%\n"
                      "host                                1     62.5M      250M         0         0      1.0M        0"
                      "   25.0    100    0.4\n");
    CHECK_THAT(table(80), Catch::EndsWith(" 1     62.5M      250M        0   25.0    100    0.4\n"));
    CHECK_THAT(table(60), Catch::EndsWith(" 1     62.5M      250M        0\n"));
    // The columns remain if the rows are sorted by them.
    CHECK_THAT(table(61, {.order = counters::row_order::by_utilization}),
               Catch::EndsWith(" 1     62.5M        0   25.0    100    0.4\n"));
}

TEST_CASE("a table lists the counters of details that are not 0, and then those that have increased") {
    const one_port p;
    counters::sweep first = p.seen(1s, {}), second = p.seen(2s, {});
    iba::pm::PortRcvErrorDetails errors;
    errors.portLocalPhysicalErrors = 5;
    errors.portLoopingErrors = 2;
    iba::pm::PortVLXmitWaitCounters waits;
    waits.portVLXmitWait[3] = 9;
    first.ports[0].details = {errors, waits, iba::pm::PortXmitDiscardDetails{}};
    CHECK_THAT(sweep_table(p.view(first), {}),
               Catch::EndsWith("\n    PortRcvErrorDetails: portLocalPhysicalErrors 5, portLoopingErrors 2\n"
                               "    PortVLXmitWaitCounters: portVLXmitWait[3] 9\n"));
    errors.portLoopingErrors = 6;
    waits.portVLXmitWait[3] = 1; // it was cleared in between
    second.ports[0].details = {errors, waits};
    CHECK_THAT(sweep_table(p.view(second, &first), {}),
               Catch::EndsWith("\n    PortRcvErrorDetails: portLoopingErrors 4\n"
                               "    PortVLXmitWaitCounters: portVLXmitWait[3] 1\n"));
    first.ports[0].details.clear(); // no change is known
    CHECK_THAT(sweep_table(p.view(second, &first), {}), !Catch::Contains("portLoopingErrors"));
}

TEST_CASE("a table sorted by a counter without a column prints the counter in a last column") {
    const one_port p;
    iba::pm::PortCounters then, now;
    then.symbolErrorCounter = 3;
    then.portRcvErrors = 40;
    now.symbolErrorCounter = 7; // 4 errors in 2 s
    now.portRcvErrors = 50;
    const counters::sweep first = p.seen(1s, then), second = p.seen(3s, now);
    counters::row_selection selection;
    std::size_t columns = 0;
    selection.order = counters::row_order::by_counter;
    const auto lines = [&](const counters::sweep& of, const counters::sweep* before) {
        std::istringstream table(sweep_table(p.view(of, before), selection, columns));
        words all;
        for (std::string line; std::getline(table, line);) all.push_back(line);
        REQUIRE(all.size() == 3);
        return all;
    };
    const std::string without = lines(second, &first)[1]; // portXmitData has its own column
    CHECK_THAT(without, Catch::EndsWith("   errors  xmit%   rcv%  wait%"));
    selection.by = counters::counter::symbolErrorCounter;
    CHECK(lines(first, nullptr)[1].ends_with("   errors symbolErrorCounter"));
    CHECK(lines(first, nullptr)[2].ends_with("       43                  3"));
    CHECK(lines(second, &first)[1] == without + " symbolErrorCounter/s");
    CHECK(lines(second, &first)[2].ends_with("       14      -      -      -                    2"));
    // On a narrow terminal this column remains and other columns are dropped.
    columns = 80;
    for (const std::string& line : lines(second, &first)) CHECK(line.size() <= 80);
    CHECK(lines(second, &first)[1].ends_with(" symbolErrorCounter/s"));
}

} // namespace sweep_table_test
