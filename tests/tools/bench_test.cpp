// SPDX-License-Identifier: MIT
// bench_test.cpp - bench in virtual time, where every result can be computed in advance, and on a real ibsim.
#include "commands/measuring/statistics.hpp"
#include "commands/measuring/throughput.hpp"
#include "ibsim/ibsim_server.hpp"
#include "program/ibtool_rig.hpp"
#include "support/allocations.hpp"
#include <comad/coro/driver.hpp>
#include <comad/mad/latency_histogram.hpp>
#include <comad/transports/sim/transport.hpp>

#include <nlohmann/json.hpp>

#include <csignal>
#include <sstream>

using namespace ibtool_rig;
using namespace std::chrono_literals;
namespace mad = comad::mad;
using nlohmann::json;

namespace {

// Two hosts and a cable with a latency of 3 us. The SMA takes 4 us for each SMP and handles SMPs one after the other.
// The other host has LID 2.
const std::string pair_of_hosts = "sim:single,sm=1,latency=3us,time=virtual";

/// Runs bench on a fabric.
process_result bench(const std::string& fabric, const words& arguments) {
    return run(words{"bench", "--fabric", fabric} + arguments);
}
/// Returns the rows of bench's JSON output. Fails the test if bench failed.
json rows_of(const process_result& r) {
    check_success(r);
    return json::parse(r.out).at("rows");
}
/// Checks that all round-trip times of a row have this value.
void check_all_took(const json& row, double us) {
    CAPTURE(row.dump());
    for (const char* percentile : {"p50", "p90", "p99", "p99.9", "max"})
        CHECK(row.at("round_trip_seconds").at(percentile).get<double>() == Approx(us / 1e6));
}
/// Checks the rate of a row and that the rate was equal in all rounds.
void check_rate(const json& row, double mads_per_s) {
    CAPTURE(row.dump());
    CHECK(row.at("MADs_per_second").get<double>() == Approx(mads_per_s));
    CHECK(row.at("confidence_95").get<double>() == Approx(0).margin(1e-6 * mads_per_s)); // all rounds are equal
}

} // namespace

TEST_CASE("bench measures window divided by round-trip time until the node's service time limits the rate") {
    const auto rows = rows_of(bench(pair_of_hosts, {"0,1", "--windows", "1,2,4,8,512", "--count", "1024", "--rounds",
                                                    "3", "--warm-up", "20ms", "--json"}));
    REQUIRE(rows.size() == 5);
    // 3 us to the node, 4 us in the node, 3 us back.
    check_rate(rows[0], 1 / 10e-6);
    check_all_took(rows[0], 10);
    check_rate(rows[1], 2 / 10e-6);
    check_all_took(rows[1], 10);
    // From here on every MAD waits in the node: 4 us for each MAD before it.
    for (const unsigned i : {2u, 3u, 4u}) {
        check_rate(rows[i], 1 / 4e-6);
        check_all_took(rows[i], 4.0 * rows[i].at("window").get<unsigned>());
    }
    for (const json& row : rows) {
        CHECK(row.at("replies") == 3 * 1024);
        CHECK(row.at("rates").size() == 3);
        CHECK((row.at("retries") == 0 && row.at("timeouts") == 0 && row.at("errors") == 0));
    }
}

TEST_CASE("bench measures for a duration if no MAD count is given") {
    const auto rows =
        rows_of(bench(pair_of_hosts, {"0,1", "--windows", "1", "--duration", "50ms", "--rounds", "2", "--json"}));
    CHECK(rows[0].at("replies") == 2 * 5000); // 10 us each
    check_rate(rows[0], 1 / 10e-6);
}

TEST_CASE("bench prints a gnuplot-readable table with one line per window") {
    const auto r = bench(pair_of_hosts, {"0,1", "--windows", "1,4", "-c", "100", "--rounds", "2", "--warm-up", "1ms"});
    check_success(r);
    const words lines = lines_of(r.out);
    words data;
    for (const std::string& line : lines)
        if (line[0] != '#') data.push_back(line);
    REQUIRE(data.size() == 2);
    const auto fields = [](const std::string& line) {
        std::istringstream in(line);
        words all;
        for (std::string word; in >> word;) all.push_back(word);
        return all;
    };
    CHECK(fields(data[0]) ==
          words{"1", "100000", "0", "10.000", "10.000", "10.000", "10.000", "10.000", "200", "0", "0", "0"});
    CHECK(fields(data[1]) ==
          words{"4", "250000", "0", "16.000", "16.000", "16.000", "16.000", "16.000", "200", "0", "0", "0"});
    CHECK_THAT(r.out, StartsWith("# SubnGet SMPNodeInfo to IBDRPath(drPath=0:1:) on " + pair_of_hosts + "\n"));
    CHECK_THAT(r.out,
               Contains("# 2 interleaved rounds of 100 MADs per window, each after 1ms of warm-up; timeout 1s, 2 "
                        "retries\n"));
    CHECK_THAT(r.out, Contains("# times are in virtual time\n"));
    CHECK_THAT(r.out, Contains("\n# window "));
    CHECK_THAT(bench(pair_of_hosts, {"-c", "10", "--rounds", "1", "--windows", "1"}).out,
               Contains("\n       1      250000         - "));
}

TEST_CASE("bench measures any Get attribute and any form of target") {
    struct {
        words what;
        double us; // round-trip time in microseconds with one MAD in flight
    } const questions[] = {
        {{}, 4}, // the local node, reached without a cable
        {{"2"}, 10},
        {{"0x2"}, 10},
        {{"-L", "2"}, 10},
        {{"-D", "0,1"}, 10},
        {{"-G", "0x0002c90300000201"}, 10},
        {{"2", "--attribute", "PortInfo", "-a", "1"}, 10},
        {{"2", "--rpc", "PerformanceGet", "--attribute", "PortCounters", "-f", "portSelect=1"}, 10},
        {{"0,1", "--rpc", "PerformanceGet", "--attribute", "ClassPortInfo"}, 10}, // bench first queries the LID
        {{"--rpc", "SubnAdmGet", "--attribute", "NodeRecord", "-f", "LID=2"}, 4}, // the SA runs at the local node
        {{"--sa", "--rpc", "SubnAdmGet", "--attribute", "PortInfoRecord", "-f", "endportLID=1", "-f", "portNum=1"}, 4},
    };
    for (const auto& question : questions) {
        CAPTURE(question.what);
        const auto rows = rows_of(
            bench(pair_of_hosts, question.what + words{"--windows", "1", "-c", "50", "--rounds", "2", "--json"}));
        check_all_took(rows.at(0), question.us);
    }
}

TEST_CASE("bench queries several targets in turn, one MAD in flight per target by default") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,latency=3us,time=virtual";
    const words shorter{"-c", "600", "--rounds", "2", "--json"};
    // Both nodes are two cables away. 6 us to the node, 4 us in the node, 6 us back.
    const auto lowered = bench(tree, words{"0,1,2", "0,1,3", "--windows", "1,2,4,8,16"} + shorter);
    const auto rows = rows_of(lowered);
    REQUIRE(rows.size() == 2);
    check_rate(rows[0], 1 / 16e-6);
    CHECK(rows[1].at("window") == 2);
    check_rate(rows[1], 2 / 16e-6);
    check_all_took(rows[1], 16);
    const json all = json::parse(lowered.out);
    CHECK(all.at("targets") == 2);
    CHECK(all.at("per_destination") == 1);
    CHECK(all.at("lowered") == "at most 1 in flight to each of 2 targets, so at most 2 in total");

    const auto free =
        rows_of(bench(tree, words{"0,1,2", "0,1,3", "--windows", "16", "--per-destination", "0"} + shorter));
    check_rate(free[0], 2 / 4e-6); // both nodes are busy all the time
    const auto alone = rows_of(bench(tree, words{"0,1,2", "--windows", "16", "--per-destination", "1"} + shorter));
    CHECK(alone[0].at("window") == 1);
    // The local node replies four times for each reply of the other node, because neither node waits for the other.
    const auto unequal =
        rows_of(bench(tree, words{"0,", "0,1,2", "--windows", "2", "--per-destination", "1"} + shorter));
    check_rate(unequal[0], 1 / 4e-6 + 1 / 16e-6);
    check_rate(alone[0], 1 / 16e-6);
}

TEST_CASE("bench finds targets by directed route and by LID") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual"; // 8 CAs, 6 switches
    const auto targets_of = [&](const words& which) {
        const auto r = bench(tree, which + words{"--windows", "4", "-c", "100", "--rounds", "1", "--json"});
        check_success(r);
        const json all = json::parse(r.out);
        CHECK(all.at("rows").at(0).at("replies") == 100);
        return all.at("targets").get<unsigned>();
    };
    CHECK(targets_of({"--all"}) == 14);
    CHECK(targets_of({"--switches"}) == 6);
    CHECK(targets_of({"--CAs", "-L"}) == 8);
    CHECK(targets_of({"--CAs", "--switches"}) == 14);
    CHECK(targets_of({"--all", "--rpc", "PerformanceGet", "--attribute", "PortCounters", "-f", "portSelect=1"}) == 14);
}

TEST_CASE("bench skips an unresponsive target and reports a partial result") {
    const words shorter{"-t", "10", "--windows", "1", "-c", "100", "--rounds", "1", "--json"};
    const auto r = bench(pair_of_hosts, words{"2", "4000"} + shorter);
    CHECK(r.status == 3);
    CHECK_THAT(r.err, StartsWith("ibtool: LID 4000 did not reply to NodeInfo ("));
    const json all = json::parse(r.out);
    CHECK(all.at("complete") == false);
    CHECK(all.at("targets") == 1);
    REQUIRE(all.at("problems").size() == 1);
    CHECK_THAT(all.at("problems").at(0).get<std::string>(), Contains("timed out"));
    check_all_took(all.at("rows").at(0), 10);

    const auto none = bench(pair_of_hosts, words{"4000"} + shorter);
    CHECK(none.status == 1);
    CHECK(none.out.empty());
    CHECK_THAT(none.err, EndsWith("\nibtool: nothing was measured: no reply was received\n"));
    // A target that replies with an error is left out as well.
    const auto refused = bench(pair_of_hosts, words{"2", "--attribute", "SwitchInfo"} + shorter);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Contains(" refused ") && Contains("(status 0x"));
}

TEST_CASE("bench counts a lost MAD and records no round-trip time for the MAD") {
    const auto once = rows_of(bench(pair_of_hosts + ",loss=0.1", {"0,1", "--windows", "1", "-c", "1000", "--rounds",
                                                                  "2", "-t", "1", "--retries", "0", "--json"}));
    const json& row = once[0];
    CHECK(row.at("replies").get<unsigned>() + row.at("timeouts").get<unsigned>() == 2000);
    CHECK(row.at("timeouts").get<unsigned>() > 250); // expected: 380, which is 19 % of 2000
    CHECK(row.at("timeouts").get<unsigned>() < 510);
    CHECK(row.at("retries") == 0);
    check_all_took(row, 10);

    const auto again = rows_of(bench(pair_of_hosts + ",loss=0.1", {"0,1", "--windows", "1", "-c", "1000", "--rounds",
                                                                   "2", "-t", "1", "--retries", "20", "--json"}));
    CHECK(again[0].at("timeouts") == 0);
    CHECK(again[0].at("replies") == 2000);
    CHECK(again[0].at("retries").get<unsigned>() > 300); // expected: 469, which is 2000 * 0.19 / 0.81
    CHECK(again[0].at("retries").get<unsigned>() < 640);
    CHECK(again[0].at("round_trip_seconds").at("p50").get<double>() == Approx(10e-6));
    CHECK(again[0].at("round_trip_seconds").at("max").get<double>() > 0.001); // includes the wait for the timeout
}

TEST_CASE("bench does not count losses during the warm-up") {
    const auto rows =
        rows_of(bench(pair_of_hosts + ",loss=0.1", {"0,1", "--windows", "1", "-c", "100", "--rounds", "1", "--warm-up",
                                                    "1s", "-t", "1", "--retries", "20", "--json"}));
    // 23 retries are expected (100 * 0.19 / 0.81). The 4,000 MADs of the warm-up cause about 900 further retries.
    CHECK(rows[0].at("retries").get<unsigned>() < 100);
    CHECK(rows[0].at("replies") == 100);
}

TEST_CASE("bench refuses writing methods and invalid arguments") {
    check_failure(bench(pair_of_hosts, {"--rpc", "SubnAdmDelete", "--attribute", "ServiceRecord"}), 2,
                  "of the RPCs that write, it sends only SubnSet and PerformanceSet");
    check_failure(bench(pair_of_hosts, {"2", "--rpc", "PerformanceGet"}), 2,
                  "PerformanceGet does not support SMPNodeInfo");
    check_failure(bench(pair_of_hosts, {"2", "--windows", "0"}), 2, "a window must be 1..65536 or adaptive");
    check_failure(bench(pair_of_hosts, {"2", "--windows", "4,many"}), 2, "a window must be ");
    check_failure(bench(pair_of_hosts, {"2", "--windows", "65537"}), 2, "a window must be ");
    check_failure(bench(pair_of_hosts, {"2", "--all"}), 2, "targets exclude --all");
    check_failure(bench(pair_of_hosts, {"--all", "--rpc", "SubnAdmGet", "--attribute", "NodeRecord"}), 2,
                  "it queries only the SA");
    check_failure(bench(pair_of_hosts, {"2", "--sa"}), 2, "--sa is not supported by SubnGet");
    check_failure(bench(pair_of_hosts, {"2", "--duration", "1s", "-c", "3"}), 2, "excludes");
    check_failure(bench(pair_of_hosts, {"2", "--rounds", "0"}), 2, "--rounds");
    check_failure(bench(pair_of_hosts, {"2", "--warm-up", "soon"}), 2, "invalid duration 'soon'");
    check_failure(bench(pair_of_hosts, {"1..2"}), 2, "1..2");
    check_failure(bench("sim:single,time=virtual", {"--rpc", "SubnAdmGet", "--attribute", "NodeRecord"}), 1,
                  "no subnet manager has configured it");
}

TEST_CASE("bench prints all its parameters in the JSON output") {
    const auto r = bench(pair_of_hosts, {"0,1", "--attribute", "PortInfo", "-a", "1", "--windows", "2", "--duration",
                                         "1ms", "--rounds", "1", "--warm-up", "100us", "--retries", "7", "--json"});
    check_success(r);
    json all = json::parse(r.out);
    const json rows = all.at("rows");
    all.erase("rows");
    const std::string wanted = R"json({"schema":"comad.bench/1","complete":true,"time":"virtual","rpc":"SubnGet",
        "attribute":"SMPPortInfo","attributeModifier":1,"payloads":["0x"],"targets":1,"target":"IBDRPath(drPath=0:1:)",
        "per_destination":0,"rounds":1,"duration_seconds":0.001,"count":null,"warm_up_seconds":0.0001,
        "timeout_seconds":1.0,"max_retries":7,"lowered":null,"arrivals":null,"threads":1,"baseline":null,"problems":[],
        "fabric":")json" + pair_of_hosts +
                               "\"}";
    CHECK(all == json::parse(wanted));
    CHECK(rows.size() == 1);
    CHECK(rows[0].at("window") == 2);
    CHECK(rows[0].at("replies") == 200);          // 200,000 replies per second
    CHECK(rows[0].at("confidence_95").is_null()); // one round has no spread
}

TEST_CASE("the JSON output of bench contains the data of each request of a mix as bytes") {
    const auto r = bench(pair_of_hosts, {"2", "--mix", "PerformanceGet PortCounters portSelect=1 counterSelect=0xf0",
                                         "--mix", "SubnGet NodeInfo", "--windows", "1", "-c", "10", "--json"});
    check_success(r);
    CHECK(json::parse(r.out).at("payloads") == json::array({"0x000100f0", "0x"}));
}

TEST_CASE("bench prints an adaptive window as one more row") {
    const auto r = bench(pair_of_hosts, {"0,1", "--windows", "1,adaptive", "-c", "200", "--rounds", "2", "--json"});
    CHECK(r.status == 0);
    const auto rows = json::parse(r.out).at("rows");
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].at("window") == "adaptive");
    CHECK(rows[1].at("MADs_per_second") > rows[0].at("MADs_per_second"));
}

TEST_CASE("bench with an adaptive window keeps the limit of each of several targets") {
    const auto rows = rows_of(bench("sim:fattree2,radix=4,sm=1,latency=3us,time=virtual",
                                    {"0,1,2", "0,1,3", "--windows", "adaptive", "-c", "600", "--json"}));
    REQUIRE(rows.size() == 1);
    check_rate(rows[0], 2 / 16e-6); // one MAD in flight to each of two nodes, 16 us each
}

TEST_CASE("bench keeps more than four GMPs in flight to one target") {
    const auto rows = rows_of(bench(pair_of_hosts, {"2", "--rpc", "PerformanceGet", "--attribute", "PortCounters", "-f",
                                                    "portSelect=1", "--windows", "16", "-c", "400", "--json"}));
    check_rate(rows[0], 1 / 4e-6);
    check_all_took(rows[0], 4.0 * 16); // each GMP waits in the node for the 15 before it
}

TEST_CASE("bench -v counts the MADs of all windows") {
    const auto r =
        bench(pair_of_hosts, {"0,1", "--windows", "1", "-c", "10", "--rounds", "3", "--warm-up", "1us", "-v"});
    CHECK(r.status == 0);
    // One MAD checks whether the target exists. In each round one MAD ends the warm-up, and ten are counted.
    CHECK_THAT(r.err, StartsWith("34 MADs sent, 0 retries, 0 timeouts, "));
}

TEST_CASE("bench stops at a signal and prints what it measured until then") {
    process running(ibtool_rig::ibtool({"bench", "--fabric", "sim:single,sm=1", "--windows", "1,2", "-c", "20",
                                        "--warm-up", "1ms", "--rounds", "10000", "--json"}),
                    error_stream::terminal);
    running.await_error("window "); // printed after a second; a round takes milliseconds
    running.signal(SIGINT);
    const auto r = running.wait();
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("ibtool: interrupted in round "));
    const json all = json::parse(r.out);
    CHECK(all.at("complete") == false);
    CHECK(all.at("rows").at(0).at("replies").get<unsigned>() >= 20);
}

TEST_CASE("bench counts the cost of a measurement that a signal ends") {
    const words load = GENERATE(words{"--windows", "1"}, words{"--rate", "1000"});
    CAPTURE(load);
    process running(ibtool_rig::ibtool(words{"bench", "--fabric", "sim:single,sm=1", "--duration", "1000s", "--warm-up",
                                             "1ms", "--rounds", "1", "--json"} +
                                       load),
                    error_stream::terminal);
    running.await_error("round 1 of 1"); // printed after a second
    running.signal(SIGINT);
    const auto r = running.wait();
    CHECK(r.status == 3);
    const json row = json::parse(r.out).at("rows").at(0);
    CHECK(row.at("replies").get<unsigned>() > 0);
    CHECK(row.at("cpu_seconds").get<double>() > 0);
}

// ---- targets that stop replying -----------------------------------------------------------------------------------------

namespace {

// LID 8 belongs to the second switch, which replies in the first of three measurements until 8 ms.
const std::string dying_ring = "sim:ring,switches=3,hosts=2,sm=1,time=virtual";
const words in_3_rounds{"8", "9", "--timeout", "2ms", "--retries", "0", "--rounds", "3"};

} // namespace

TEST_CASE("bench names a target that stops replying, and exits with 3") {
    const words load = GENERATE(words{"--windows", "2"}, words{"--windows", "1,2"}, words{"--rate", "1000"});
    CAPTURE(load);
    const auto r = bench(dying_ring + ",kill=sw-0002@8ms", in_3_rounds + load + words{"--json"});
    CHECK(r.status == 3);
    CHECK(r.err == "ibtool: LID 8: stopped replying; no reply in round 3 of 3\n");
    const json all = json::parse(r.out);
    CHECK(all.at("complete") == false);
    CHECK(all.at("problems") == json::array({"LID 8: stopped replying; no reply in round 3 of 3"}));
    CHECK(all.at("rows").at(0).at("replies").get<unsigned>() > 0);
}

TEST_CASE("bench names a target whose last requests end only after their measurement") {
    // The request in flight takes three attempts of 1 s, but the other target ends the measurement in 10 ms.
    const auto r = bench(dying_ring + ",kill=sw-0002@8ms", {"8", "9", "--windows", "2", "--rounds", "2"});
    CHECK(r.status == 3);
    CHECK(r.err == "ibtool: LID 8: stopped replying; no reply in round 2 of 2\n");
}

TEST_CASE("bench reports only targets that do not reply in their last measurement") {
    check_success(bench(dying_ring, in_3_rounds + words{"--windows", "2"}));
    // The switch replies again before the last round.
    const auto back =
        bench(dying_ring + ",kill=sw-0002@8ms,revive=sw-0002@24ms", in_3_rounds + words{"--windows", "2"});
    check_success(back);
    // Replies that arrive after the end of the measurement are replies.
    check_success(bench(dying_ring + ",slow=sw-0002:30ms", {"8", "9", "--windows", "2", "--rounds", "2"}));
}

TEST_CASE("bench measures a real ibsim") {
    std::ostringstream topology;
    write_topology(topology, comad::transports::sim::make_topology("fattree2,radix=4"));
    ibsim_server server(topology.str());
    const auto r =
        bench("ibsim:" + server.sockname(), {"--all", "--windows", "1,16", "-c", "200", "--rounds", "2", "--json"});
    check_success(r);
    const json all = json::parse(r.out);
    CHECK(all.at("time") == "real");
    CHECK(all.at("targets") == 14);
    for (const json& row : all.at("rows")) {
        CHECK(row.at("replies") == 400);
        CHECK(row.at("MADs_per_second") > 0);
    }
}

TEST_CASE("bench percentiles are observed times, at most 0.8 % above the exact values") {
    comad::mad::latency_histogram times;
    for (int i = 1; i <= 1000; ++i) times.add(mad::duration(1000 * i)); // 1 us to 1 ms
    CHECK(times.count() == 1000);
    for (const double percent : {0.1, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
        const auto exact = static_cast<mad::duration::rep>(percent * 10'000);
        const auto reported = times.percentile(percent).count();
        CAPTURE(percent, reported);
        CHECK(reported % 1000 == 0);
        CHECK(reported >= exact);
        CHECK(static_cast<double>(reported) <= 1.008 * static_cast<double>(exact));
    }
    CHECK(times.percentile(100) == 1ms);

    comad::mad::latency_histogram few;
    for (const int ns : {100, 200, 300}) few.add(mad::duration(ns));
    CHECK(few.percentile(33) == mad::duration(100));
    CHECK(few.percentile(50) == mad::duration(200)); // only a third of the values is 100 or less

    comad::mad::latency_histogram extremes; // a duration beyond the last bucket, and a negative duration
    extremes.add(mad::duration::max());
    extremes.add(mad::duration(-5));
    extremes.add(mad::duration(0));
    CHECK(extremes.percentile(50) == mad::duration(0));
    CHECK(extremes.percentile(100) == mad::duration::max());
}

TEST_CASE("a latency histogram contains the times of another histogram after it adds them") {
    comad::mad::latency_histogram one, other;
    for (const int us : {1, 2}) one.add(mad::duration(1000 * us));
    for (const int us : {2, 300}) other.add(mad::duration(1000 * us));
    one.add(other);
    CHECK(one.count() == 4);
    REQUIRE(one.buckets().size() == 3);
    CHECK(one.buckets()[1].count == 2);
    CHECK(one.percentile(100) == 300us);
}

TEST_CASE("bench computes confidence intervals from Student's t distribution") {
    const double three[] = {1, 2, 3};
    const auto e = ::ibtool::estimate_of(three);
    CHECK(e.mean == Approx(2));
    REQUIRE(e.half_width);
    CHECK(*e.half_width == Approx(4.30265 / std::sqrt(3.0)).epsilon(1e-5)); // 0.975 quantile, 2 degrees of freedom
    const double one[] = {7};
    CHECK(::ibtool::estimate_of(one).mean == 7);
    CHECK_FALSE(::ibtool::estimate_of(one).half_width);
}

TEST_CASE("bench allocates no memory per MAD while it measures") {
    if (!comad::coro::detail::recycles_frames()) return; // under a sanitizer each frame is a new allocation
    const auto allocated = [](comad::u64 mads) {
        const auto simulated = comad::transports::sim::make_sim("single,sm=1,time=virtual");
        comad::coro::MADSchedule schedule(*simulated.transport, {.max_outstanding = 16, .per_destination = 0});
        ::ibtool::load what{{{.kind = {comad::iba::MgmtClass::SubnLID, 1, comad::iba::Method::Get, 0x11, true}}}};
        const comad::u8 way[] = {1};
        what.targets.push_back(mad::IBDRPath(way));
        const ::ibtool::extent how_long{mad::duration(0), mad::duration(0), mads};
        const ::ibtool::clock_function clock = [&] { return schedule.now(); };
        ::ibtool::measurement all(1, 1);
        const std::size_t before = allocations::so_far().count;
        comad::coro::sync_wait(schedule, ::ibtool::measure(schedule, what, how_long, clock, all));
        CHECK(all.all.replies == mads);
        return allocations::so_far().count - before;
    };
    allocated(1000); // fills the cache of coroutine frames
    const std::size_t few = allocated(1000);
    CHECK(allocated(100'000) == few);
}
