// SPDX-License-Identifier: MIT
// health_test.cpp - health on simulated subnets: good links, links that go down, links with errors, unresponsive nodes.
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <set>
#include <sstream>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

// 4 leaves and 2 spines with 4 ports each, and 8 hosts: 32 ports.
const std::string health_tree = "sim:fattree2,radix=4,sm=1,time=virtual";

/// Runs health on the tree. `wrong`: faults of the simulator.
process_result health(const words& arguments, const std::string& wrong = "") {
    return run(words{"health", "--fabric", health_tree + wrong} + arguments);
}
/// Returns the JSON objects that health printed, one per line.
std::vector<json> health_objects(const process_result& r) {
    std::vector<json> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
}

} // namespace

TEST_CASE("health reports no problem for links that only carry traffic") {
    const process_result r = health({}, ",traffic=1000");
    check_success(r);
    CHECK(r.out == "# 32 ports over 10.000 s: 0 critical, 0 errors, 0 warnings\n");
}

TEST_CASE("health reports utilization and congestion above the limits of a rules file, in percent") {
    const directory files;
    const std::string rules =
        files.write("rules.toml", "utilization = { warning = 0.75 }\ncongestion = { warning = 0.1, error = 0.2 }\n");
    const process_result r = health({"--details", "--rules", rules}, ",flow=leaf-0001/3:0.8:0.25");
    CHECK(r.status == 1);
    // 4X EDR carries 3.125e9 words per second, and a tick is 0.64 ns.
    CHECK_THAT(r.out, StartsWith("# 32 ports over 10.000 s: 0 critical, 1 errors, 2 warnings on 1 cable\n"));
    CHECK_THAT(r.out, Contains("warning  \"leaf-0001\"[3]: portXmitData increased by 24999") &&
                          Contains(" in 10 s, 80 % of the data rate, limit 75 %\n"));
    CHECK_THAT(r.out, Contains("error    \"leaf-0001\"[3]: portXmitWait increased by 39062") &&
                          Contains(" in 10 s, 25 % of the time, limit 20 %\n"));
    CHECK_THAT(r.out, Contains("warning  \"spine-0001\"[1]: portRcvData increased by 24999"));
    const std::vector<json> all = health_objects(health({"--json", "--rules", rules}, ",flow=leaf-0001/3:0.8:0.25"));
    REQUIRE(all.size() == 4);
    CHECK(all[1].at("rule") == "congestion"); // the worst comes first
    CHECK(all[1].at("limit") == 0.2);
    CHECK(all[2].at("rule") == "utilization");
    CHECK(all[2].at("measured").get<double>() == Approx(0.8).epsilon(0.001));
}

TEST_CASE("health reports a link that went down as critical at both ends") {
    // The cable connects two switches. No other counter changes.
    const std::string flap = ",flap=leaf-0001/3@3s:1s:1000s";
    const process_result text = health({}, flap);
    CHECK(text.status == 1);
    CHECK(text.err.empty());
    CHECK(text.out == "# 32 ports over 10.000 s: 2 critical, 0 errors, 0 warnings on 1 cable\n"
                      "critical \"leaf-0001\"[3] <=> \"spine-0001\"[1]: linkDownedCounter increased by 1 in 10 s, "
                      "360 per h, limit 10 (at both ends)\n");
    CHECK(health({"--details"}, flap).out ==
          text.out + "  critical \"leaf-0001\"[3]: linkDownedCounter increased by 1 in 10 s, 360 per h, limit 10\n"
                     "  critical \"spine-0001\"[1]: linkDownedCounter increased by 1 in 10 s, 360 per h, limit 10\n");

    const process_result r = health({"--json", "--for", "60s"}, flap);
    CHECK(r.status == 1);
    const std::vector<json> all = health_objects(r);
    REQUIRE(all.size() == 3);
    CHECK(all[0] == json{{"schema", "comad.health/1"},
                         {"ports", 32},
                         {"seconds", 60},
                         {"critical", 2},
                         {"error", 0},
                         {"warning", 0},
                         {"complete", true},
                         {"cables", 1}});
    CHECK(all[1].at("severity") == "critical");
    CHECK(all[1].at("description") == "leaf-0001");
    CHECK(all[1].at("port") == 3);
    CHECK(all[1].at("rule") == "growth");
    CHECK(all[1].at("counter") == "linkDownedCounter");
    CHECK(all[1].at("counted") == 1);
    CHECK(all[1].at("at_least") == false);
    CHECK(all[1].at("per_seconds") == 3600);
    CHECK(all[1].at("measured").get<double>() == Approx(60).epsilon(1e-4));
    CHECK(all[1].at("limit") == 10);
    CHECK(all[1].at("cable") == 1);
    CHECK(all[1].at("peer").at("description") == "spine-0001");
    CHECK(all[1].at("peer").at("port") == 1);
    CHECK(all[2].at("peer").at("nodeGUID") == all[1].at("nodeGUID"));
    CHECK(all[2].at("peer").at("port") == 3);
}

TEST_CASE("health prints one line per cable, the worst first, and --top limits the cables") {
    // Both ends of a cable count errors at the same rate. leaf-0001[3] runs at a quarter of its width as well.
    const std::string wrong = ",errors=0.3:20,seed=3,link=leaf-0001/3:1xEDR";
    const process_result all = health({"--for", "60s"}, wrong), top = health({"--for", "60s", "--top", "2"}, wrong);
    words lines = lines_in_order(all.out);
    REQUIRE(lines.size() > 3);
    const std::string head = lines.front();
    lines.erase(lines.begin());
    CHECK_THAT(head, EndsWith(fmt::format(" on {} cables", lines.size())));
    std::set<std::string> ends;
    for (const std::string& line : lines) {
        CHECK_THAT(line, Contains(" <=> "));
        ends.insert(line.substr(9, line.find("]: ") - 9));
    }
    CHECK(ends.size() == lines.size());
    CHECK(top.status == 1);
    CHECK(lines_in_order(top.out) == words{head + " (worst 2 shown)", lines[0], lines[1]});

    // The cables of the JSON are those of the lines. Each cable has findings at both of its ends, and nothing else.
    const std::vector<json> objects = health_objects(health({"--for", "60s", "--json"}, wrong));
    CHECK(objects[0].at("cables") == lines.size());
    std::size_t cable = 1, narrow = 0;
    for (std::size_t i = 1; i < objects.size(); ++i) {
        const json& o = objects[i];
        CHECK((o.at("cable") == cable || o.at("cable") == cable + 1));
        cable = o.at("cable");
        const auto place = [](const json& p) {
            return fmt::format("\"{}\"[{}]", p.at("description").get<std::string>(), p.at("port").get<int>());
        };
        CHECK_THAT(lines.at(cable - 1), Contains(place(o)) && Contains(place(o.at("peer"))));
        narrow += o.at("rule") == "width";
    }
    CHECK(cable == lines.size());
    CHECK(narrow == 2);
    CHECK(health_objects(health({"--for", "60s", "--top", "1", "--json"}, wrong)).back().at("cable") == 1);
    check_failure(health({"--top", "0"}), 2, "--top");
}

TEST_CASE("health compares symbol errors with the number of bits that the link signals") {
    const process_result r = health({"--json"}, ",errors=1:1000");
    CHECK(r.status == 1);
    std::size_t ports = 0;
    for (const json& o : health_objects(r)) {
        if (o.value("rule", "") != "bit_errors" || o.at("counter") != "symbolErrorCounter") continue;
        ++ports;
        CHECK(o.at("severity") == "error");
        CHECK(o.at("counted").get<double>() == Approx(10000).margin(1.5));
        // The links are 4X EDR.
        const double bits = 4 * 25.78125e9 * o.at("interval_seconds").get<double>();
        CHECK(o.at("measured").get<double>() == Approx(o.at("counted").get<double>() / bits));
    }
    CHECK(ports == 32);
}

TEST_CASE("health applies the rules of a file and refuses an invalid file with a one-line message") {
    directory files;
    const std::string flap = ",flap=leaf-0001/3@3s:1s:1000s";
    const std::string lenient = files.write("lenient.toml", "[counters.linkDownedCounter]\nwarning = 0\n");
    const process_result r = health({"--rules", lenient}, flap);
    CHECK(r.status == 0);
    CHECK_THAT(
        r.out,
        StartsWith(
            "# 32 ports over 10.000 s: 0 critical, 0 errors, 2 warnings on 1 cable\nwarning  \"leaf-0001\"[3] "));

    const std::string wrong = files.write("wrong.toml", "width = 'ok'\n\nspeed = 'fast'\n");
    check_failure(health({"--rules", wrong}), 1, wrong + ":3: 'speed' must be \"ok\", \"warning\", ");
    check_failure(health({"--rules", files / "none.toml"}), 1, "none.toml': No such file");
    check_failure(health({"--for", "soon"}), 2, "invalid duration 'soon'");
}

TEST_CASE("health reports ports that it could not read and marks the result as incomplete") {
    const process_result r = health({"--json"}, ",kill=H-0002c90300000300@3s");
    CHECK(r.status == 3);
    CHECK_THAT(r.err, StartsWith("ibtool: H-0002c90300000300 \"h-0003 HCA-1\"[1]: ") && Contains("timed out"));
    const std::vector<json> all = health_objects(r);
    REQUIRE(all.size() == 2);
    CHECK(all[0].at("complete") == false);
    CHECK(all[0].at("ports") == 32);
    CHECK(all[1].at("description") == "h-0003 HCA-1");
    CHECK_THAT(all[1].at("why").get<std::string>(), Contains("timed out"));
}

TEST_CASE("health reports nodes that the discovery could not read, and checks links without counters") {
    const process_result r = health({"--json"}, ",dead=h-0003 HCA-1");
    CHECK(r.status == 3);
    const std::vector<json> dead = health_objects(r);
    REQUIRE(dead.size() == 2);
    CHECK(dead[0].at("complete") == false);
    CHECK(dead[1].at("description") == "leaf-0002");
    CHECK_THAT(dead[1].at("why").get<std::string>(), Contains("h-0003"));

    // The PMA does not reply, but the width in the PortInfo is known.
    const process_result slow = health({"--json"}, ",kill=H-0002c90300000300@3s,link=leaf-0002/1:1xEDR");
    const std::vector<json> all = health_objects(slow);
    CHECK(std::ranges::count_if(all, [](const json& o) { return o.contains("rule") && o["rule"] == "width"; }) == 2);
}

TEST_CASE("health that a signal ends before the second sweep exits with 3, because it found nothing") {
    const words formats[] = {{}, {"--json"}, {"--csv"}};
    for (const words& format : formats) {
        CAPTURE(format);
        process running(
            ibtool_rig::ibtool(words{"health", "--fabric", "sim:fattree2,radix=4,sm=1", "--for", "1000s"} + format),
            error_stream::terminal);
        running.await_error(
            "waiting for the second sweep"); // printed after a second; the first sweep takes milliseconds
        running.signal(SIGINT);
        const process_result r = running.wait();
        CHECK(r.status == 3);
        CHECK(r.out.empty());
        CHECK_THAT(r.err, Contains("ibtool: ended before the second sweep: there is nothing to compare"));
    }
}

TEST_CASE("health reports a failure of both its sweeps only once") {
    // The host stops replying between the discovery and the first sweep, which queries its capabilities.
    const process_result r = health({"--json"}, ",kill=H-0002c90300000300@150us");
    CHECK(r.status == 3);
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    const std::vector<json> all = health_objects(r);
    REQUIRE(all.size() == 2);
    CHECK(all[1].at("description") == "h-0003 HCA-1");
    CHECK_THAT(all[1].at("why").get<std::string>(), Contains("ClassPortInfo") && Contains("timed out"));

    // Without a subnet manager, the 6 switches and 8 hosts have no LIDs.
    const process_result none = run({"health", "--fabric", "sim:fattree2,radix=4,time=virtual", "--json"});
    CHECK(none.status == 3);
    CHECK(none.err == "ibtool: 6 nodes and 8 ports: the port has no LID; first: h-0001 HCA-1 port 1\n");
    CHECK(health_objects(none).size() == 1 + 14);
}

TEST_CASE("health reports a bad link even if the capture cannot be written, and reports missing ports first") {
    const std::string flap = ",flap=leaf-0001/3@3s:1s:1000s";
    const process_result without = health({"--pcap", "/dev/full"}, flap);
    CHECK(without.status == 1);
    CHECK_THAT(without.err, Contains("No space left on device"));
    const process_result well = health({"--pcap", "/dev/full"}, ",traffic=1000");
    CHECK(well.status == 3);
    const process_result both = health({}, flap + ",kill=H-0002c90300000300@3s");
    CHECK_THAT(both.out, Contains("2 critical"));
    CHECK(both.status == 3);
}
