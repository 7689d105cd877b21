// SPDX-License-Identifier: MIT
// port_samples_text_test.cpp - shares of the data rate and of the time in samples. All numbers were calculated by hand.
#include "support/catch.hpp"
#include "text/port_samples_text.hpp"

#include <nlohmann/json.hpp>

namespace port_samples_text_test {

using namespace ibtool;
using Catch::Contains;
using Catch::EndsWith;

namespace {

/// Samples of 1 ms, with ticks of 1 us, on a link that carries 1e6 bytes, 250,000 words, in this time.
samples_heading millisecond() {
    samples_heading h;
    h.tick_seconds = 1e-6;
    h.ticks = 1000;
    h.data_rate = 8e9;
    for (const char* name : {"PortXmitData", "PortXmitWait", "PortXmitPkts"}) h.quantities.push_back({name, 0});
    return h;
}

} // namespace

TEST_CASE("data are a share of the data rate, and waiting is a share of the time") {
    const samples_heading h = millisecond();
    CHECK(percent_of(h, 0, 125'000) == Approx(50));
    CHECK(percent_of(h, 1, 250) == Approx(25));
    CHECK_FALSE(percent_of(h, 2, 1));
    samples_heading unknown = h;
    unknown.data_rate = 0;
    CHECK_FALSE(percent_of(unknown, 0, 125'000));
}

TEST_CASE("the rate and the percentage of a counter that stopped at its largest value are marked as lower limits") {
    const samples_heading h = millisecond();
    const sample_counts s{{}, {{125'000, true}, {250, false}, {7, true}}};
    CHECK(sample_text(h, s) == "  0.000000  PortXmitData            125000+    500.00 MB/s+    50.0+\n"
                               "  0.000000  PortXmitWait               250      250.00 k/s     25.0\n"
                               "  0.000000  PortXmitPkts                 7+       7.00 k/s+       -\n");
    sample_window w(h, {});
    w.add(s);
    CHECK(w.text() == "  0.000000  PortXmitData            1    500.00 MB/s+  500.00 MB/s+     50.0+  0.000000\n"
                      "  0.000000  PortXmitWait            1     250.00 k/s    250.00 k/s      25.0   0.000000\n"
                      "  0.000000  PortXmitPkts            1       7.00 k/s+     7.00 k/s+        -   0.000000\n");
    const auto counters = nlohmann::json::parse(sample_json(h, s)).at("counters");
    CHECK(counters.at("portXmitData").at("saturated") == true);
}

TEST_CASE("a sample has no percentage that is impossible") {
    const samples_heading h = millisecond();
    CHECK(percent_of(h, 0, 260'000) == Approx(104)); // a measurement error
    CHECK_FALSE(percent_of(h, 0, 300'000));
    CHECK_FALSE(percent_of(h, 1, 1200));
    const sample_counts s{{}, {{300'000, false}, {1200, true}, {7, false}}};
    CHECK_THAT(sample_text(h, s), Contains(" 1.20 GB/s        -\n") && EndsWith("        -\n"));
    const auto counters = nlohmann::json::parse(sample_json(h, s)).at("counters");
    CHECK_FALSE(counters.at("portXmitData").contains("utilization"));
    CHECK(counters.at("portXmitData").at("value") == 300'000);
    CHECK_FALSE(counters.at("portXmitWait").contains("congestion"));
    sample_window w(h, {});
    w.add(s);
    w.add({{}, {{100'000, false}, {100, false}, {7, false}}});
    const auto all = nlohmann::json::parse(w.json()).at("counters");
    CHECK(all.at("portXmitData").at("mean_utilization").get<double>() == Approx(0.8));
    CHECK_FALSE(all.at("portXmitData").contains("peak_utilization"));
}

} // namespace port_samples_text_test
