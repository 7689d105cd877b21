// SPDX-License-Identifier: MIT
// ibswportwatch_text_test.cpp - text about counters that changed, did not change, were cleared, saturated or wrapped.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/ibswportwatch_text.hpp"

#include <infiniband/mad.h>
#include <nlohmann/json.hpp>

namespace watch_text_test {

using namespace comad;
using namespace ibtool;
using namespace std::chrono_literals;
using json = nlohmann::ordered_json;

namespace {

const mad::time_point beginning{};

/// Returns counters of a port whose PMA supports only PortCounters.
counters::sample narrow(mad::duration at, u32 data, u16 symbols) {
    iba::pm::PortCounters values;
    values.portXmitData = data;
    values.symbolErrorCounter = symbols;
    counters::sample s{beginning + at, {}};
    s.counters.take(values, {});
    return s;
}

/// Returns counters of a port whose PMA also supports PortCountersExtended for data.
counters::sample wide(mad::duration at, u64 data) {
    iba::pm::PortCountersExt values;
    values.portRcvData = data;
    counters::capabilities can;
    can.extended = true;
    counters::sample s{beginning + at, {}};
    s.counters.take(values, can);
    return s;
}

} // namespace

TEST_CASE("only changed counters are printed, with their rates") {
    // In 2 s the port counts 1000 words, which are 4000 bytes.
    CHECK(format_changes(narrow(1s, 500, 3), narrow(3s, 1500, 3)) ==
          "PortXmitData:....................1500 (+2000.0 B/s)\n");
    CHECK(format_changes(narrow(1s, 500, 3), narrow(3s, 500, 10)) == "SymbolErrorCounter:..............10 (+3.5/s)\n");
    CHECK(format_changes(narrow(1s, 500, 3), narrow(3s, 500, 3)).empty());
}

TEST_CASE("an inexact change is marked as saturated, cleared or wrapped") {
    CHECK(format_changes(narrow(0s, 0, 65530), narrow(1s, 0, 65535)) ==
          "SymbolErrorCounter:..............65535 (+5.0/s or more: it is saturated)\n");
    CHECK(format_changes(narrow(0s, 0, 40), narrow(2s, 0, 8)) ==
          "SymbolErrorCounter:..............8 (+4.0/s or more: it was cleared)\n");
    CHECK(format_changes(wide(0s, ~u64{0} - 9), wide(1s, 10)) ==
          "PortRcvData:.....................10 (+80.0 B/s, wrapped)\n");
    const auto j = changes_json(narrow(0s, 7, 40), narrow(2s, 7, 8));
    CHECK(j == json::parse(R"({"symbolErrorCounter": {"state": "reset", "value": 8, "per_second": 4.0}})"));
    CHECK(changes_json(wide(0s, ~u64{0} - 9), wide(1s, 10)) ==
          json::parse(R"({"portRcvData": {"state": "wrapped", "value": 20, "bytes": 80, "per_second": 80.0}})"));
}

TEST_CASE("with thresholds only counters with a higher rate are printed") {
    error_thresholds above;
    above.set(counters::counter::symbolErrorCounter, 10);
    CHECK(format_changes(narrow(0s, 0, 0), narrow(1s, 99, 10), &above).empty());
    CHECK(format_changes(narrow(0s, 0, 0), narrow(1s, 99, 11), &above) ==
          "SymbolErrorCounter:..............11 (+11.0/s)\n");
    CHECK(format_changes(narrow(0s, 0, 0), narrow(2s, 99, 11), &above).empty()); // 5.5 per second
    CHECK(changes_json(narrow(0s, 0, 0), narrow(1s, 99, 11), &above).size() == 1);
}

TEST_CASE("totals are the sum of all changes, including changes after a clear") {
    change_totals all;
    CHECK(all.text().empty());
    all.add(narrow(0s, 0, 5), narrow(1s, 100, 9));
    all.add(narrow(1s, 100, 9), narrow(2s, 300, 2)); // the counters were cleared in between
    CHECK(all.text() == "PortXmitData:....................+300 (600.0 B/s)\n"
                        "SymbolErrorCounter:..............+6 (3.0/s or more)\n");
    CHECK(all.json() ==
          json::parse(R"({"portXmitData": {"value": 300, "bytes": 1200, "per_second": 600.0, "exact": true},
                                        "symbolErrorCounter": {"value": 6, "per_second": 3.0, "exact": false}})"));
}

TEST_CASE("all supported counters of a port are printed one per line with perfquery's labels") {
    const std::string text = format_counters(narrow(0s, 7, 8).counters);
    CHECK(text.starts_with("PortXmitData:....................7\nPortRcvData:.....................0\n"));
    CHECK(text.find("SymbolErrorCounter:..............8\n") != text.npos);
    CHECK(text.find("Unicast") == text.npos);
    CHECK(counters_json(narrow(0s, 7, 8).counters)["symbolErrorCounter"] == 8);
}

TEST_CASE("each counter has its own label and JSON name") {
    // The labels are those of libibmad, in the order of PortCountersExtended.
    const counters::reading now = test::made_reading({}, 1);
    const counters::counter_values& reported = now.counters.counters;
    const auto c = test::made<iba::pm::PortCountersExt>(1);
    std::array<u8, 256> bytes{};
    iba::encode(c, bytes.data());
    std::string wanted;
    for (const auto& [first, last] : {std::pair(IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_MPKTS_F),
                                      std::pair(IB_PC_EXT_ERR_SYM_F, IB_PC_EXT_QP1_DROP_F)}) {
        for (int f = first; f <= last; ++f) {
            const auto field = static_cast<MAD_FIELDS>(f);
            const std::string label = mad_field_name(field) + std::string(":");
            wanted += label + std::string(33 - label.size(), '.') +
                      std::to_string(mad_get_field64(bytes.data(), 0, field)) + '\n';
        }
    }
    CHECK(format_counters(reported) == wanted);

    json by_name;
    for (const iba::row_info& row : iba::info_of<iba::pm::PortCountersExt>.rows)
        if (counters::counter_named(row.name))
            by_name[std::string(row.name)] = iba::bits_at(bytes.data(), row.off, row.width);
    CHECK(counters_json(reported) == by_name);
    CHECK(by_name.size() == counters::counter_count);

    // All counters increase from 0 to their values in 4 s.
    counters::sample before{beginning, {}}, after{beginning + 4s, reported};
    before.counters.take(
        iba::pm::PortCountersExt{},
        {.extended = true, .unicast = true, .additional = true, .xmit_wait = true, .qp1_dropped = true});
    const json changed = changes_json(before, after);
    change_totals all;
    all.add(before, after);
    for (const auto& [name, number] : by_name.items()) {
        CHECK(changed[name]["value"] == number);
        CHECK(all.json()[name]["value"] == number);
    }
}

} // namespace watch_text_test
