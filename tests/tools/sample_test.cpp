// SPDX-License-Identifier: MIT
// sample_test.cpp - sample: known traffic of simulated links, peaks in windows, and mechanisms that other programs use.
#include "kernel/virtual_device.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_sample_test {

using namespace ibtool_rig;

namespace {

// leaf-0001 port 3 sends at 80 % of 4x EDR (12.5e9 bytes per second) and waits 10 % of the time.
const std::string flowing =
    "sim:fattree2,radix=4,sm=1,time=virtual,flow=leaf-0001/3:0.8:0.1,flow=h-0002 HCA-1/1:0.5:0.2";

std::vector<nlohmann::json> lines_of(const process_result& r) {
    check_success(r);
    std::vector<nlohmann::json> lines;
    std::istringstream text(r.out);
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
}

process_result sample(const words& arguments, const std::string& fabric = flowing) {
    return run(words{"--fabric", fabric, "sample"} + arguments);
}

} // namespace

TEST_CASE("sample prints rates and shares of known traffic within 1 %") {
    const auto lines = lines_of(sample({"leaf-0001/3", "--interval", "2ms", "--json"}));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].at("port") == 3);
    CHECK(lines[0].at("mechanism") == 0);
    CHECK(lines[0].at("tick_seconds").get<double>() == Approx(0.64e-9)); // 8 bytes of the link
    CHECK(lines[0].at("interval_seconds").get<double>() == Approx(2e-3));
    CHECK(lines[0].at("bits_per_second").get<double>() == Approx(100e9));
    const auto& counters = lines[1].at("counters");
    CHECK(counters.at("portXmitData").at("value").get<double>() == Approx(0.8 * 12.5e9 * 2e-3 / 4).epsilon(0.01));
    CHECK(counters.at("portXmitData").at("per_second").get<double>() == Approx(0.8 * 12.5e9).epsilon(0.01));
    CHECK(counters.at("portXmitData").at("utilization").get<double>() == Approx(0.8).epsilon(0.01));
    CHECK(counters.at("portXmitPkts").at("per_second").get<double>() == Approx(0.8 * 12.5e9 / 4096).epsilon(0.01));
    CHECK_FALSE(counters.at("portXmitPkts").contains("utilization"));
    CHECK(counters.at("portXmitWait").at("congestion").get<double>() == Approx(0.1).epsilon(0.01));
    CHECK(counters.at("portRcvData").at("value") == 0);
}

TEST_CASE("sample converts ticks of any length") {
    // 32 and 256 bytes of a lane with 25 Gb/s.
    for (const auto& [tick, seconds] : {std::pair("31", 10.24e-9), {"255", 81.92e-9}}) {
        CAPTURE(tick);
        const auto lines = lines_of(sample({"h-0002 HCA-1", "--json"}, flowing + ",tick=h-0002 HCA-1:" + tick));
        CHECK(lines.at(0).at("tick_seconds").get<double>() == Approx(seconds));
        const auto& counters = lines.at(1).at("counters");
        CHECK(counters.at("portXmitData").at("utilization").get<double>() == Approx(0.5).epsilon(0.01));
        CHECK(counters.at("portXmitWait").at("congestion").get<double>() == Approx(0.2).epsilon(0.01));
    }
}

TEST_CASE("sample prints the peak of a window in which the traffic ends") {
    // The cable is pulled in the middle of the window. Without a link, the ticks of the port are longer.
    const auto lines = lines_of(
        sample({"leaf-0001/3", "--counters", "portxmitdata", "--interval", "100us", "--window", "10ms", "--json"},
               flowing + ",cut=leaf-0001/3@5ms"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].at("window_seconds") == 0.01);
    CHECK(lines[1].at("samples").get<int>() > 40); // each takes 100 us and some round trips of a few us
    CHECK(lines[1].at("samples").get<int>() < 52);
    const auto& data = lines[1].at("counters").at("portXmitData");
    CHECK(data.at("peak_utilization").get<double>() == Approx(0.8).epsilon(0.01));
    CHECK(data.at("mean_utilization").get<double>() < 0.79);
    CHECK(data.at("peak_seconds").get<double>() < 0.005);
}

TEST_CASE("sample marks counters that stopped at their largest value") {
    // Without extended counters, 32 bits hold 4.29e9 words, and 2 s have 5e9.
    const process_result r =
        sample({"leaf-0001/3", "--counters", "PortXmitData,PortXmitPkts", "--interval", "2s"}, flowing + ",pma=basic");
    check_success(r);
    CHECK_THAT(r.out, Contains("PortXmitData        4294967295+") && !Contains("PortXmitData        4294967295 "));
    // 4294967295 words in 2 s are 8.59 GB/s, 68.7 % of the data rate; in fact, it was 80 %.
    CHECK_THAT(r.out, Contains("  8.59 GB/s+    68.7+\n"));
    const process_result window = sample(
        {"leaf-0001/3", "--counters", "PortXmitData", "--interval", "2s", "--window", "3s"}, flowing + ",pma=basic");
    CHECK_THAT(window.out, Contains(" 8.59 GB/s+    8.59 GB/s+     68.7+ "));
    const process_result wide = sample({"leaf-0001/3", "--counters", "PortXmitData", "--interval", "2s"});
    CHECK_THAT(wide.out, Contains(" 5000000000 ") && Contains("10.00 GB/s     80.0\n"));
}

TEST_CASE("sample refuses what it cannot sample") {
    const auto fails = [](const words& arguments, int status, const std::string& message) {
        CAPTURE(arguments);
        check_failure(sample(arguments), status, message);
    };
    fails(
        {"leaf-0001/3", "--counters", "XmitData"}, 2,
        "invalid counter 'XmitData'; expected PortXmitData, PortRcvData, PortXmitPkts, PortRcvPkts, PortXmitWait, or a "
        "CounterSelect value (1..65535)");
    fails({"leaf-0001/3", "--interval", "0"}, 2, "invalid duration '0'");
    fails({"leaf-0001/3", "--window", "10us"}, 2, "--window must not be shorter than --interval");
    fails({"leaf-0001/3", "--count", "0"}, 2, "--count");
    fails({"leaf-0001/3", "--interval", "5s"}, 1,
          "the interval is too long; with the tick of this device, it must be at most 2.75 s");
    // The device has started a sample, but of other counters.
    fails({"leaf-0001/3", "--counters", "PortXmitData,0x4001"}, 3,
          "LID 9 port 3 cannot sample 0x4001; omit it from --counters");
    fails({"leaf-0001/3", "--counters", "1,2,3,4,5,1"}, 1,
          "LID 9 port 3 has 5 counters for samples, but 6 were given; give fewer with --counters");
    fails({"leaf-0001/9"}, 1, "'leaf-0001/9': 'leaf-0001' has 4 ports");
    fails({"leaf-0001"}, 1, "LID 9 is a switch; give the number of the port to sample");
    fails({"h-0002 HCA-1", "--mechanism", "1"}, 1, "invalid");
}

TEST_CASE("sample uses an idle mechanism, and refuses a port whose only mechanism another program uses") {
    if (!has_devices()) return;
    // The other program starts a sample of more than a minute at a host, and one with the first mechanism of a switch.
    const std::string script = R"(
start() { "$IBTOOL" query PerformanceSet PMPortSamplesCtl "$1" -f portSelect="$2" -f sampleInterval=4000000000 -f tag=0x77 >/dev/null; }
start 2 1 || exit 9; start 9 3 || exit 9
status=0; "$IBTOOL" sample 2 || status=$?; echo "host $status"
"$IBTOOL" sample 9 3 --json
status=0; "$IBTOOL" sample 9 3 --mechanism 0 || status=$?; echo "first $status"
)";
    const process_result r = in_shell("sim:fattree2,radix=4,sm=1,tick=255", script);
    INFO(r.out << r.err);
    CHECK_THAT(
        r.err,
        Contains("ibtool: cannot sample LID 2 port 1: sampling mechanism 0 is busy with the sample of another program "
                 "(tag 0x0077); retry later\n"));
    CHECK_THAT(r.out, Contains("host 1\n") && Contains("\"mechanism\":1,") && Contains("first 1\n"));
}

} // namespace ibtool_sample_test
