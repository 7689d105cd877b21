// SPDX-License-Identifier: MIT
// bench_load_test.cpp - bench's open load, tables, writes and mixes, and its results by target, in virtual time.
#include "commands/measuring/bench_text.hpp"
#include "commands/measuring/open_load.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace ibtool_rig;
using namespace std::chrono_literals;
namespace mad = comad::mad;
using nlohmann::json;

namespace {

// Two hosts and a cable with a latency of 3 us. The SMA takes 4 us for each SMP and handles SMPs one after the other.
// The other host has LID 2.
const std::string two_hosts = "sim:single,sm=1,latency=3us,time=virtual";

process_result bench_on(const std::string& fabric, const words& arguments) {
    return run(words{"bench", "--fabric", fabric} + arguments);
}
json results_of(const process_result& r) {
    check_success(r);
    return json::parse(r.out);
}
json first_row_of(const process_result& r) { return results_of(r).at("rows").at(0); }
double time_in(const json& row, const char* percentile) {
    return row.at("round_trip_seconds").at(percentile).get<double>();
}

} // namespace

// ---- open load ----------------------------------------------------------------------------------------------------------

TEST_CASE("bench sends at a constant rate, and no request waits below the rate of the node") {
    const auto row =
        first_row_of(bench_on(two_hosts, {"0,1", "--rate", "200000", "--duration", "10ms", "--rounds", "2", "--json"}));
    CHECK(row.at("rate") == 200'000);
    CHECK(row.at("replies") == 2 * 2000);
    CHECK(row.at("unsent") == 0);
    CHECK(row.at("MADs_per_second").get<double>() == Approx(200'000).epsilon(0.01));
    // 3 us to the node, 4 us in the node, 3 us back.
    for (const char* percentile : {"p50", "p99", "max", "mean"}) CHECK(time_in(row, percentile) == Approx(10e-6));
}

TEST_CASE("times of bench --rate count from the intended time, so they include the wait for a slow node") {
    // The node handles 250,000 MADs per second. At 500,000 per second, request n is due at n * 2 us, and its reply
    // arrives at 10 us + n * 4 us. Its time is 10 us + n * 2 us. Requests 1 to 1000 are measured.
    const auto row = first_row_of(
        bench_on(two_hosts, {"0,1", "--rate", "500000", "-c", "1000", "--warm-up", "1us", "--rounds", "1", "--json"}));
    CHECK(row.at("replies") == 1000);
    CHECK(time_in(row, "max") == Approx(10e-6 + 1000 * 2e-6));
    CHECK(time_in(row, "mean") == Approx(10e-6 + 500.5 * 2e-6));
    CHECK(time_in(row, "p50") == Approx(10e-6 + 500 * 2e-6).epsilon(0.008));

    // With at most one request in flight, each takes 10 us since it was sent. The times since they were due still
    // include the wait: request n is sent at n * 10 us.
    const auto one = first_row_of(bench_on(two_hosts, {"0,1", "--rate", "500000", "--windows", "1", "-c", "1000",
                                                       "--warm-up", "1us", "--rounds", "1", "--json"}));
    CHECK(one.at("since_sent_seconds").at("max").get<double>() == Approx(10e-6));
    CHECK(time_in(one, "max") == Approx(10e-6 + 1000 * 8e-6));
}

TEST_CASE("bench --rate counts requests that it could not send before the end") {
    // One request in flight takes 10 us: 1000 of 5000 requests in 10 ms.
    const auto row = first_row_of(bench_on(two_hosts, {"0,1", "--rate", "500000", "--windows", "1", "--duration",
                                                       "10ms", "--warm-up", "1us", "--rounds", "1", "--json"}));
    CHECK(row.at("replies") == 1000);
    CHECK(row.at("unsent") == 4000);
    CHECK_THAT(bench_on(two_hosts, {"0,1", "--rate", "500000", "--windows", "1", "--warm-up", "1us"}).out,
               Contains(" unsent\n"));
}

TEST_CASE("bench --rate keeps to its limit of requests in flight if no more replies arrive") {
    // 100,000 requests are due in 10 ms. The node handles 250 per ms until it stops responding at 8 ms. After that, the
    // 64 requests in flight time out every 3 ms.
    const auto r = bench_on(two_hosts + ",kill=h-0002 HCA-1@8ms",
                            {"0,1", "--rate", "10000000", "--windows", "64", "--duration", "10ms", "--warm-up", "2ms",
                             "--rounds", "1", "-t", "3", "--retries", "0", "--json"});
    const json row = first_row_of(r);
    const auto replies = row.at("replies").get<unsigned>(), timeouts = row.at("timeouts").get<unsigned>();
    CHECK(replies >= 1400);
    CHECK(replies <= 1500);
    CHECK(timeouts == 2 * 64);
    CHECK(replies + timeouts + row.at("unsent").get<unsigned>() == 100'000);
}

TEST_CASE("bench --arrivals poisson measures the waiting times of an M/D/1 queue") {
    // Pollaczek-Khinchine for a constant service time s and a load of rho: the mean wait is rho * s / (2 * (1 - rho)).
    struct {
        const char* rate;
        double rho, wait_us, tolerance;
    } const queues[] = {{"125000", 0.5, 2.0, 0.04}, {"200000", 0.8, 8.0, 0.10}};
    for (const auto& queue : queues) {
        CAPTURE(queue.rate);
        const auto row = first_row_of(bench_on(two_hosts, {"0,1", "--rate", queue.rate, "--arrivals", "poisson", "-c",
                                                           "20000", "--rounds", "5", "--json"}));
        CHECK(row.at("replies") == 100'000);
        const double wait_us = 1e6 * time_in(row, "mean") - 10;
        CHECK(wait_us == Approx(queue.wait_us).epsilon(queue.tolerance));
        // A share of 1 - rho of all requests finds the node idle.
        const auto rounds = row.at("p50_seconds").get<std::vector<double>>();
        CHECK(rounds.size() == 5);
        if (queue.rho <= 0.5) CHECK(time_in(row, "p50") < 10.2e-6);
        else CHECK(time_in(row, "p50") > 12e-6);
    }
}

TEST_CASE("Poisson arrivals have the mean and the variance of exponential intervals") {
    ::ibtool::arrivals times({.rate = 1e6, .process = ::ibtool::arrival_process::poisson}, mad::time_point{});
    double sum = 0, squares = 0;
    mad::time_point before{};
    constexpr int count = 100'000;
    for (int i = 0; i < count; ++i) {
        const double interval = 1e6 * mad::in_seconds(times.next() - before);
        sum += interval;
        squares += interval * interval;
        before = times.next();
        times.take();
    }
    CHECK(sum / count == Approx(1).epsilon(0.02)); // standard error: 0.3 %
    CHECK(squares / count == Approx(2).epsilon(0.05));
}

TEST_CASE("arrivals skip to a time and count the skipped requests") {
    ::ibtool::arrivals times({.rate = 1e6}, mad::time_point{}); // due at 0 us, 1 us, 2 us, ...
    CHECK(times.take_until(mad::time_point(0us)) == 0);
    CHECK(times.take_until(mad::time_point(10us)) == 10);
    CHECK(times.next() == mad::time_point(10us));
    CHECK(times.take_until(mad::time_point(10500ns)) == 1);
    CHECK(times.next() == mad::time_point(11us));
    ::ibtool::arrivals random({.rate = 1e6, .process = ::ibtool::arrival_process::poisson}, mad::time_point{});
    const double skipped = static_cast<double>(random.take_until(mad::time_point(1s)));
    CHECK(skipped == Approx(1e6).epsilon(0.01)); // standard deviation: 1000
    CHECK(random.next() > mad::time_point(1s));
}

TEST_CASE("bench --rate prints one line per rate") {
    const auto r = bench_on(two_hosts, {"0,1", "--rate", "1000,20000.5", "-c", "10", "--rounds", "1"});
    check_success(r);
    CHECK_THAT(r.out, Contains("\n#   rate ") && Contains("\n    1000 ") && Contains("\n 20000.5 "));
    CHECK_THAT(r.out, Contains("# open load: constant arrivals, at most 4096 in flight"));
}

TEST_CASE("bench refuses wrong options for an open load") {
    check_failure(bench_on(two_hosts, {"2", "--rate", "0"}), 2, "invalid rate '0'; a rate must be 0.001..10000000");
    check_failure(bench_on(two_hosts, {"2", "--rate", "nan"}), 2, "invalid rate 'nan'");
    check_failure(bench_on(two_hosts, {"2", "--rate", "5x"}), 2, "invalid rate '5x'");
    check_failure(bench_on(two_hosts, {"2", "--rate", "5", "--windows", "1,2"}), 2, "--windows must be one number");
    check_failure(bench_on(two_hosts, {"2", "--rate", "5", "--windows", "adaptive"}), 2,
                  "--windows must be one number");
    check_failure(bench_on(two_hosts, {"2", "--rate", "5", "--per-destination", "1"}), 2, "excludes --per-destination");
    check_failure(bench_on(two_hosts, {"2", "--arrivals", "poisson"}), 2, "--rate");
    check_failure(bench_on(two_hosts, {"2", "--rate", "5", "--arrivals", "random"}), 2, "--arrivals");
    check_failure(bench_on(two_hosts, {"2", "--histogram", "x"}), 2, "--histogram needs one window or one rate");
}

// ---- histogram ----------------------------------------------------------------------------------------------------------

TEST_CASE("bench writes percentiles in the format of HdrHistogram") {
    // By hand from the Java class of HdrHistogram: %12.3f %2.12f %10d %14.2f. The first five steps are 10 %, the next
    // five 5 %, and so on. A value is repeated until its share of all values is less than the percentile.
    comad::mad::latency_histogram times;
    for (const auto us : {1us, 2us, 3us, 3us}) times.add(us);
    CHECK(::ibtool::percentile_text(times) == "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
                                              "       1.000 0.000000000000          1           1.00\n"
                                              "       1.000 0.100000000000          1           1.11\n"
                                              "       1.000 0.200000000000          1           1.25\n"
                                              "       2.000 0.300000000000          2           1.43\n"
                                              "       2.000 0.400000000000          2           1.67\n"
                                              "       2.000 0.500000000000          2           2.00\n"
                                              "       3.000 0.550000000000          4           2.22\n"
                                              "       3.000 1.000000000000          4\n"
                                              "#[Mean    =        2.250, StdDeviation   =        0.829]\n"
                                              "#[Max     =        3.000, Total count    =            4]\n"
                                              "#[Buckets =            5, SubBuckets     =          256]\n");
}

TEST_CASE("bench --histogram writes the times of the only window") {
    const directory d;
    const std::string file = d / "times.hgrm";
    check_success(bench_on(two_hosts, {"0,1", "--windows", "1", "-c", "100", "--rounds", "2", "--histogram", file}));
    const std::string text = read_file(file);
    CHECK_THAT(text, Contains("      10.000 1.000000000000        200\n"));
    CHECK_THAT(text, Contains("#[Mean    =       10.000, StdDeviation   =        0.000]\n"));
}

// ---- targets ------------------------------------------------------------------------------------------------------------

TEST_CASE("bench lists a slow switch among 200 switches first") {
    // fattree3 of radix 12 has 180 switches, and of radix 14 it has 245.
    const std::string slow = "sim:fattree3,radix=14,sm=1,time=virtual,slow=leaf-0042:2ms";
    const auto r = bench_on(slow, {"--switches", "--windows", "200", "-c", "4000", "--rounds", "2"});
    check_success(r);
    const words lines = lines_in_order(r.out);
    const auto heading = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with("# 10 of 245 targets, the slowest first");
    });
    REQUIRE(lines.end() - heading >= 12);
    CHECK_THAT(heading[1], StartsWith("#    MADs/s ") && EndsWith("  target"));
    CHECK_THAT(heading[2], EndsWith(" \"leaf-0042\""));
    CHECK_THAT(heading[3], !Contains("leaf-0042"));

    const json all = results_of(bench_on(slow, {"--switches", "--windows", "100,200", "--duration", "5ms", "--warm-up",
                                                "3ms", "--rounds", "1", "--json"}));
    for (const json& row : all.at("rows")) {
        REQUIRE(row.at("targets").size() == 245);
        CHECK_THAT(row.at("targets").at(0).at("name").get<std::string>(), Contains("leaf-0042"));
        CHECK(row.at("targets").at(0).at("round_trip_seconds").at("p50").get<double>() >= 2e-3);
        CHECK(row.at("targets").at(1).at("round_trip_seconds").at("p99").get<double>() < 1e-3);
        std::set<std::string> paths;
        comad::u64 replies = 0;
        for (const json& target : row.at("targets")) {
            paths.insert(target.at("target").get<std::string>());
            replies += target.at("replies").get<comad::u64>();
        }
        CHECK(paths.size() == 245);
        CHECK(replies == row.at("replies").get<comad::u64>());
    }
}

TEST_CASE("bench lists a target first whose replies arrive after the end of the measurement") {
    const auto r =
        bench_on("sim:fattree2,radix=8,sm=1,time=virtual,slow=leaf-0003:2ms",
                 {"--switches", "--windows", "8", "-c", "100", "--warm-up", "1us", "--rounds", "1", "--json"});
    const json first = results_of(r).at("rows").at(0).at("targets").at(0);
    CHECK_THAT(first.at("name").get<std::string>(), Contains("leaf-0003"));
    CHECK(first.at("replies") == 0);
    CHECK(first.at("mean_seconds").get<double>() >= 2e-3);
}

TEST_CASE("bench counts lost MADs of each target, and a lossy target is among the slowest") {
    const auto r = bench_on("sim:fattree2,radix=4,sm=1,time=virtual,kill=leaf-0002@6ms",
                            {"--switches", "--windows", "6", "-t", "1", "--retries", "0", "--warm-up", "5ms",
                             "--duration", "20ms", "--rounds", "1", "--json"});
    const json row = results_of(r).at("rows").at(0);
    const json& first = row.at("targets").at(0);
    CHECK_THAT(first.at("name").get<std::string>(), Contains("leaf-0002"));
    CHECK(first.at("timeouts").get<unsigned>() >= 5); // one MAD at a time, 1 to 2 ms each
    CHECK(row.at("timeouts").get<unsigned>() >= first.at("timeouts").get<unsigned>());
}

TEST_CASE("bench --top sets how many of the slowest targets are printed") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual"; // 6 switches
    const auto lines_after_heading = [&](const words& top) {
        const auto r = bench_on(tree, words{"--switches", "--windows", "2", "-c", "60"} + top);
        check_success(r);
        const words lines = lines_in_order(r.out);
        return lines.end() -
               std::find_if(lines.begin(), lines.end(),
                            [](const std::string& line) { return line.ends_with("  target"); }) -
               1;
    };
    CHECK(lines_after_heading({}) == 6);
    CHECK(lines_after_heading({"--top", "2"}) == 2);
    CHECK(lines_after_heading({"--top", "0"}) == 6);
    CHECK_THAT(bench_on(tree, {"0,", "-c", "10"}).out, !Contains("slowest"));
}

TEST_CASE("bench --csv prints a line for all targets and for each target of a window") {
    const auto r = bench_on("sim:fattree2,radix=4,sm=1,latency=3us,time=virtual",
                            {"0,1,2", "0,1,3", "--windows", "1,2", "-c", "400", "--rounds", "1", "--csv"});
    check_success(r);
    const words lines = lines_in_order(r.out);
    REQUIRE(lines.size() == 1 + 2 * 3);
    CHECK(lines[0] == "window,rate,target,name,MADs_per_second,mean_seconds,p50_seconds,p90_seconds,p99_seconds,"
                      "p99.9_seconds,max_seconds,replies,timeouts,errors,retries,unsent");
    CHECK_THAT(lines[1],
               StartsWith("1,,\"all\",\"all targets\",62500.000,0.000016000,0.000016000,") && EndsWith(",400,0,0,0,0"));
    CHECK_THAT(lines[2], StartsWith("1,,\"IBDRPath(drPath=0:1:") && EndsWith(",200,0,0,,"));
    CHECK_THAT(lines[4], StartsWith("2,,\"all\","));
}

// ---- tables, writes and mixes -------------------------------------------------------------------------------------------

TEST_CASE("bench measures tables of the SA and counts their records") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual"; // 8 CAs and 6 switches: 14 node records
    const json row = first_row_of(bench_on(tree, {"--rpc", "SubnAdmGetTable", "--attribute", "NodeRecord", "--windows",
                                                  "1", "-c", "50", "--rounds", "2", "--json"}));
    CHECK(row.at("replies") == 100);
    CHECK(row.at("errors") == 0);
    CHECK(row.at("reply_records") == 100 * 14);
    // A record has 108 bytes, and each starts at a multiple of 8 bytes: 14 * 112 bytes after the SA header of 56 bytes.
    CHECK(row.at("reply_bytes").get<unsigned>() >= 100 * (56 + 13 * 112 + 108));
    CHECK(row.at("reply_bytes").get<unsigned>() <= 100 * (56 + 14 * 112 + 256));
}

TEST_CASE("bench sends Sets to simulated fabrics only") {
    const words set{"2", "--rpc", "SubnSet", "--attribute", "PortInfo", "-a", "1", "--windows", "1", "-c", "20"};
    const json row = first_row_of(bench_on(two_hosts, set + words{"--json"}));
    CHECK(row.at("replies") == 5 * 20);
    CHECK(row.at("round_trip_seconds").at("p50").get<double>() == Approx(10e-6));
    const words clear{"2",
                      "--rpc",
                      "PerformanceSet",
                      "--attribute",
                      "PortCounters",
                      "-f",
                      "portSelect=1",
                      "-f",
                      "counterSelect=0xffff",
                      "--windows",
                      "1",
                      "-c",
                      "20",
                      "--json"};
    CHECK(first_row_of(bench_on(two_hosts, clear)).at("replies") == 5 * 20);
    for (const char* device : {"umad:mlx5_0/1", "verbs"})
        check_failure(bench_on(device, set), 2,
                      std::string("cannot send SubnSet to '") + device +
                          "': it writes only to simulated fabrics; use --fabric sim:... or ibsim");
}

TEST_CASE("a SubnSet of bench keeps the fields that it does not name") {
    // Without LMC, the Set would remove the LID, and the reply to the next LID-routed MAD would not arrive.
    const json row = first_row_of(bench_on(two_hosts, {"-L", "2", "--rpc", "SubnSet", "--attribute", "PortInfo", "-a",
                                                       "1", "-f", "MKeyLeasePeriod=7", "--windows", "1", "-c", "20",
                                                       "--rounds", "1", "-t", "10", "--json"}));
    CHECK(row.at("replies") == 20);
    CHECK(row.at("timeouts") == 0);
}

TEST_CASE("bench sends a mix of requests by weight") {
    const auto r =
        bench_on(two_hosts, {"2", "--mix", "3 SubnGet PortInfo 1", "--mix", "PerformanceGet PortCounters portSelect=1",
                             "--windows", "1", "-c", "400", "--rounds", "1", "--warm-up", "1us", "--json"});
    const json all = results_of(r);
    CHECK(all.at("rpc") == "mix");
    CHECK(all.at("attribute") == "3 SubnGet SMPPortInfo, 1 PerformanceGet PMPortCounters");
    const json& rpcs = all.at("rows").at(0).at("rpcs");
    REQUIRE(rpcs.size() == 2);
    CHECK(rpcs[0].at("rpc") == "SubnGet");
    CHECK(rpcs[0].at("attributeModifier") == 1);
    CHECK(rpcs[0].at("weight") == 3);
    CHECK(rpcs[0].at("replies") == 300);
    CHECK(rpcs[1].at("replies") == 100);
    CHECK(rpcs[1].at("errors") == 0);
    CHECK_THAT(bench_on(two_hosts, {"2", "--mix", "SubnGet NodeInfo", "--mix", "2 SubnGet PortInfo 1", "-c", "30"}).out,
               Contains("  SubnGet SMPPortInfo (weight 2)\n"));
}

TEST_CASE("bench spreads the requests of a mix evenly") {
    ::ibtool::load what;
    what.rpcs.resize(3);
    what.rpcs[0].weight = 5;
    ::ibtool::rpc_turns turns(what);
    std::string order;
    for (int i = 0; i < 14; ++i) order += static_cast<char>('a' + turns.take());
    CHECK(order == "aabacaaaabacaa"); // smooth weighted round-robin, as in nginx' documentation for 5, 1, 1
}

TEST_CASE("bench refuses mixes that it cannot send") {
    const auto refused = [](const words& mix, const char* why) {
        check_failure(bench_on(two_hosts, words{"2"} + mix), 2, why);
    };
    refused({"--mix", "SubnGet"}, "invalid --mix 'SubnGet'; expected an RPC and an attribute");
    refused({"--mix", ""}, "--mix: must not be empty");
    refused({"--mix", " "}, "invalid --mix ' '");
    refused({"--mix", "0 SubnGet NodeInfo"}, "a weight in --mix must be 1..1000000");
    refused({"--mix", "SubnGet NodeInfo", "--rpc", "SubnGet"}, "excludes");
    refused({"--mix", "SubnGet NodeInfo", "--mix", "SubnAdmGet NodeRecord"}, "cannot contain RPCs to the SA and other");
    refused({"--mix", "SubnGet NodeInfo colour=3"}, "colour");
    refused({"--mix", "PerformanceGet SMPNodeInfo"}, "does not support");
}
