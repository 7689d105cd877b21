// SPDX-License-Identifier: MIT
// bench_baseline_test.cpp - the statistics of bench, its comparison with a baseline, its threads, and its cost.
#include "commands/measuring/statistics.hpp"
#include "ibsim/ibsim_server.hpp"
#include "program/ibtool_rig.hpp"
#include <comad/transports/sim/transport.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <numeric>
#include <sstream>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

const std::string quiet_pair = "sim:single,sm=1,latency=3us,time=virtual";

words in_rounds(const std::string& fabric, const words& more) {
    return words{"bench", "--fabric", fabric, "0,1", "--windows", "1", "-c", "50", "--rounds", "6"} + more;
}
/// Writes the JSON of a run as a baseline, and returns the name of the file.
std::string baseline_of(const directory& d, const words& command) {
    const auto r = run(command + words{"--json"});
    check_success(r);
    const std::string file = d / "before.json";
    std::ofstream(file) << r.out;
    return file;
}

} // namespace

// ---- statistics ---------------------------------------------------------------------------------------------------------

TEST_CASE("a median is the middle value, or the mean of the two middle values") {
    const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 100};
    CHECK(::ibtool::median_of(odd) == 5);
    CHECK(::ibtool::median_of(even) == 3.5);
}

TEST_CASE("the confidence interval of a median has the order statistics of the binomial distribution") {
    // The pairs that tables of the sign test list for 95 %: with 6 values the probability is 1 - 2 / 2^6 = 96.9 %, with
    // 10 values and the second from each end 1 - 2 * (1 + 10) / 2^10 = 97.9 %, and with 20 values and the sixth 95.9 %.
    const std::map<std::size_t, std::size_t> pairs{{6, 1},  {8, 1},  {9, 2},  {10, 2}, {11, 2},
                                                   {12, 3}, {15, 4}, {17, 5}, {20, 6}, {25, 8}};
    for (const auto& [count, pair] : pairs) {
        CAPTURE(count);
        std::vector<double> values(count);
        std::iota(values.begin(), values.end(), 1.0);
        const auto interval = ::ibtool::median_interval(values);
        REQUIRE(interval);
        CHECK(interval->low == static_cast<double>(pair));
        CHECK(interval->high == static_cast<double>(count + 1 - pair));
    }
    CHECK_FALSE(::ibtool::median_interval(std::vector<double>(5, 1.0)));
    std::vector<double> many(10'000);
    std::iota(many.begin(), many.end(), 1.0);
    CHECK(::ibtool::median_interval(many)->low == Approx(4902).margin(1)); // 5000 - 1.96 * 50
}

TEST_CASE("the Mann-Whitney U test has the exact p-values of an enumeration") {
    const auto p = [](std::vector<double> a, std::vector<double> b) { return ::ibtool::mann_whitney(a, b); };
    CHECK(p({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}) ==
          Approx(2.0 / 252)); // one of the 252 selections is as extreme, per side
    CHECK(p({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}) == Approx(2.0 / 252));
    CHECK(p({1, 2, 3}, {4, 5, 6}) == Approx(0.1));            // 2 / 20
    CHECK(p({1, 2, 3, 6}, {4, 5, 7, 8}) == Approx(8.0 / 70)); // U = 2: 1 + 1 + 2 selections with U <= 2, per side
    CHECK(p({1, 2, 2, 3}, {2, 3, 4, 5}) == Approx(0.2));      // equal values, counted over all 70 selections
    CHECK(p({7, 7, 7, 7}, {7, 7, 7, 7}) == 1);
    CHECK(p({1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}) == Approx(2.0 / 924));
    CHECK(::ibtool::least_p_value(5, 5) == Approx(2.0 / 252));
    CHECK(::ibtool::least_p_value(3, 3) == Approx(0.1));
}

TEST_CASE("the Mann-Whitney U test of large samples uses the normal approximation") {
    // Values 1..30 and 11..40. Of the 900 pairs, a is larger in 190 and equal in 20, so U = 190 + 20 / 2 = 200.
    // The variance is 900 / 12 * (61 - 20 * 6 / (60 * 59)) = 4572.5. z = (450 - 200 - 0.5) / 67.62 = 3.690, and
    // p = 0.000224.
    std::vector<double> a(30), b(30);
    std::iota(a.begin(), a.end(), 1.0);
    std::iota(b.begin(), b.end(), 11.0);
    CHECK(::ibtool::mann_whitney(a, b) == Approx(0.000224).epsilon(0.01));
    CHECK(::ibtool::mann_whitney(a, a) == Approx(1).epsilon(0.01));
}

// ---- baselines ----------------------------------------------------------------------------------------------------------

TEST_CASE("bench exits with 1 if its results are worse than the baseline") {
    const directory d;
    const std::string file = baseline_of(d, in_rounds(quiet_pair, {}));
    const std::string slower = "sim:single,sm=1,latency=4us,time=virtual"; // 12 us instead of 10 us
    const auto r = run(in_rounds(slower, {"--baseline", file, "--json"}));
    CHECK(r.status == 1);
    CHECK(r.err.empty());
    const json compared = json::parse(r.out).at("baseline");
    CHECK(compared.at("file") == file);
    CHECK(compared.at("result") == "worse");
    REQUIRE(compared.at("metrics").size() == 3);
    const json& rate = compared.at("metrics").at(0);
    CHECK(rate.at("metric") == "MADs/s");
    CHECK(rate.at("load") == "1");
    CHECK(rate.at("baseline").get<double>() == Approx(1 / 10e-6));
    CHECK(rate.at("now").get<double>() == Approx(1 / 12e-6));
    CHECK(rate.at("change").get<double>() == Approx(10.0 / 12 - 1));
    CHECK(rate.at("p_value").get<double>() == Approx(2.0 / 924)); // 6 rounds each
    CHECK(rate.at("result") == "worse");
    CHECK(rate.at("now_confidence_95").at(0).get<double>() == Approx(1 / 12e-6));
    CHECK(compared.at("metrics").at(1).at("result") == "worse");

    const auto text = run(in_rounds(slower, {"--baseline", file}));
    CHECK(text.status == 1);
    CHECK_THAT(text.out, Contains("# compared with " + file + ": worse\n") && Contains(" -16.7%"));
    // A large tolerance accepts the change.
    CHECK(run(in_rounds(slower, {"--baseline", file, "--tolerance", "21"})).status == 0);
    CHECK(run(in_rounds(slower, {"--baseline", file, "--tolerance", "16"})).status == 1);
}

TEST_CASE("bench exits with 0 if its results equal the baseline or are better") {
    const directory d;
    const std::string file = baseline_of(d, in_rounds(quiet_pair, {}));
    const auto same = run(in_rounds(quiet_pair, {"--baseline", file, "--json"}));
    check_success(same);
    CHECK(json::parse(same.out).at("baseline").at("result") == "same");
    const auto better = run(in_rounds("sim:single,sm=1,latency=1us,time=virtual", {"--baseline", file, "--json"}));
    check_success(better);
    CHECK(json::parse(better.out).at("baseline").at("result") == "better");
}

TEST_CASE("bench compares open loads by their rates") {
    const directory d;
    const words load{"bench", "--fabric", quiet_pair, "0,1", "--rate", "1000,50000", "-c", "50", "--rounds", "6"};
    const std::string file = baseline_of(d, load);
    const auto r = run(load + words{"--baseline", file, "--json"});
    check_success(r);
    const json compared = json::parse(r.out).at("baseline");
    CHECK(compared.at("metrics").size() == 6);
    CHECK(compared.at("metrics").at(3).at("load") == "50000");
}

TEST_CASE("bench refuses a baseline that it cannot compare with") {
    const directory d;
    const std::string file = baseline_of(d, in_rounds(quiet_pair, {}));
    const auto refused = [&](const words& command, const std::string& why) { check_failure(run(command), 2, why); };
    const words with{"--baseline", file};
    refused(in_rounds(quiet_pair, with + words{"--attribute", "PortInfo", "-a", "1"}),
            "it measured SubnGet SMPNodeInfo with attribute modifier 0 to IBDRPath(drPath=0:1:) in virtual time, but "
            "this run measures SubnGet SMPPortInfo with attribute modifier 1 to IBDRPath(drPath=0:1:) in virtual time");
    refused(
        {"bench", "--fabric", quiet_pair, "0,", "--windows", "1", "-c", "50", "--rounds", "6", "--baseline", file},
        "but this run measures SubnGet SMPNodeInfo with attribute modifier 0 to IBDRPath(drPath=0:) in virtual time");
    const words of_port{"--rpc", "PerformanceGet", "--attribute", "PortCounters", "-f"};
    const words group_1 = of_port + words{"portSelect=1"},
                group_2 = of_port + words{"portSelect=1", "-f", "counterSelect=1"};
    const std::string counters = d / "counters.json";
    std::ofstream(counters) << run(in_rounds("sim:single,sm=1,time=virtual", group_1 + words{"--json"})).out;
    check_success(run(in_rounds("sim:single,sm=1,time=virtual", group_1 + words{"--baseline", counters})));
    refused(in_rounds("sim:single,sm=1,time=virtual", group_2 + words{"--baseline", counters}),
            "and data 0x00010001 to ");
    const words open{"bench", "--fabric", quiet_pair, "0,1", "--rate", "1000", "-c", "50", "--rounds", "6"};
    const std::string constant = d / "constant.json";
    std::ofstream(constant) << run(open + words{"--json"}).out;
    refused(open + words{"--arrivals", "poisson", "--baseline", constant}, "with poisson arrivals");
    const words base{"bench", "--fabric", quiet_pair, "0,1", "-c", "50"};
    refused(base + words{"--windows", "2", "--rounds", "6"} + with, "it measured other windows");
    refused(base + words{"--windows", "1", "--rounds", "2"} + with,
            "6 rounds and 2 rounds are too few for a significant difference; 4 rounds in both runs are enough");
    const std::string other = d / "other.json";
    for (const char* text : {"", "{}", "[1]", R"({"schema":"comad.bench/1"})", R"({"schema":"comad.nodes/1"})",
                             R"({"schema":"comad.bench/1","rpc":7})"}) {
        CAPTURE(text);
        std::ofstream(other) << text;
        check_failure(run(in_rounds(quiet_pair, {"--baseline", other})), 1, "is not the output of bench --json");
    }
    check_failure(run(in_rounds(quiet_pair, {"--baseline", d / "missing"})), 1, "missing");
    check_failure(run(in_rounds(quiet_pair, {"--tolerance", "5"})), 2, "--baseline");
    check_failure(run(in_rounds(quiet_pair, with + words{"--tolerance", "-1"})), 2, "it must be 0..1000 percent");
}

TEST_CASE("bench compares with a baseline whenever the rounds are enough for a significant difference") {
    const directory d;
    const auto with_rounds = [](const std::string& rounds) {
        return words{"bench", "--fabric", quiet_pair, "0,1", "--windows", "1", "-c", "50", "--rounds", rounds};
    };
    const words with_5{"--baseline", baseline_of(d, with_rounds("5"))};
    check_success(run(with_rounds("3") + with_5)); // the smallest p-value is 2 / 56
    check_failure(run(with_rounds("2") + with_5), 2, "5 rounds and 2 rounds are too few"); // 2 / 21
    const words with_4{"--baseline", baseline_of(d, with_rounds("4"))};
    check_failure(run(with_rounds("3") + with_4), 2,
                  "4 rounds and 3 rounds are too few for a significant difference; 4 rounds in both runs are enough");
    check_success(run(with_rounds("4") + with_4));
}

// ---- threads and cost ---------------------------------------------------------------------------------------------------

TEST_CASE("bench --threads measures an ibsim server with several schedules") {
    std::ostringstream topology;
    write_topology(topology, comad::transports::sim::make_topology("fattree2,radix=4"));
    ibsim_server server(topology.str());
    const auto r = run({"bench", "--fabric", "ibsim:" + server.sockname(), "--all", "--threads", "2", "--windows",
                        "1,2,8", "-c", "200", "--rounds", "2", "--json"});
    check_success(r);
    const json all = json::parse(r.out);
    CHECK(all.at("threads") == 2);
    for (const json& row : all.at("rows")) {
        CHECK(row.at("replies") == 2 * 200); // the threads share the MADs of a round
        REQUIRE(row.at("targets").size() == 14);
        for (const json& target : row.at("targets")) CHECK(target.at("replies") > 0);
    }
}

TEST_CASE("bench refuses threads on a simulated fabric and with traces of one thread") {
    check_failure(run({"bench", "--fabric", quiet_pair, "--threads", "2"}), 2,
                  "--threads needs a umad, verbs or ibsim fabric");
    check_failure(run({"bench", "--fabric", "ibsim:none", "--threads", "2", "-d"}), 2,
                  "--threads excludes --pcap and -d");
}

TEST_CASE("bench counts as many system calls as strace, and its processor time is less than the elapsed time") {
    if (!std::filesystem::exists("/usr/bin/strace")) return;
    const directory d;
    std::ostringstream topology;
    write_topology(topology, comad::transports::sim::make_topology("single"));
    ibsim_server server(topology.str());
    const std::string counts = d / "counts";
    const words measured{"bench", "--fabric",  "ibsim:" + server.sockname(),
                         "0,1",   "--windows", "4",
                         "-c",    "5000",      "--rounds",
                         "1",     "--warm-up", "1us",
                         "--json"};
    const auto r = run_process(words{"IBTOOL_FABRIC=", "/usr/bin/strace", "-f", "-c", "-U", "calls,name", "-e",
                                     "trace=sendto,recvfrom,ppoll", "-o", counts, ibtool_program()} +
                               measured);
    if (r.status != 0 && r.err.find("ptrace") != r.err.npos) return; // the machine does not allow it
    REQUIRE(r.status == 0);
    const json row = json::parse(r.out).at("rows").at(0);
    std::istringstream lines(read_file(counts));
    double seen = 0;
    std::string word, name;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns(line);
        if (columns >> word >> name && (name == "sendto" || name == "recvfrom" || name == "ppoll"))
            seen += std::stod(word);
    }
    CHECK(row.at("system_calls").get<double>() >= 2 * 5000); // at least one send and one receive for each MAD
    // The few MADs before and after the measurement are the difference.
    CHECK(row.at("system_calls").get<double>() == Approx(seen).epsilon(0.02));
    CHECK(row.at("cpu_seconds").get<double>() > 0);
    CHECK(row.at("cpu_seconds").get<double>() <= 1.05 * row.at("measured_seconds").get<double>());
    CHECK_THAT(run({"bench", "--fabric", "ibsim:" + server.sockname(), "0,1", "--windows", "1", "-c", "10"}).out,
               Contains("     CPU   calls\n"));
}
