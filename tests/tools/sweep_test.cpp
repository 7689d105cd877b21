// SPDX-License-Identifier: MIT
// sweep_test.cpp - sweep on simulated subnets in virtual time. The expected counters come from another command of
// ibtool.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

// 4 leaves and 2 spines with 4 ports each, and 8 hosts.
const std::string tree = "sim:fattree2,radix=4,sm=1,counters=9,time=virtual";

/// Runs sweep on a fabric.
process_result sweep(const words& arguments, const std::string& fabric = tree) {
    return run(words{"sweep", "--fabric", fabric} + arguments);
}
/// Returns the JSON objects that a command printed, one per line.
std::vector<json> objects_of(const process_result& r) {
    std::vector<json> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
}
/// Returns the objects about ports with counters.
std::vector<json> ports_of(const process_result& r) {
    std::vector<json> all = objects_of(r);
    std::erase_if(all, [](const json& o) { return !o.contains("counters"); });
    return all;
}
} // namespace

TEST_CASE("sweep prints for each port what a single query of its PMA returns") {
    const process_result r = sweep({"--json"});
    check_success(r);
    const std::vector<json> all = objects_of(r);
    const json& head = all.at(0);
    CHECK(head.at("schema") == "comad.sweep/1");
    CHECK(head.at("ports") == 6 * 4 + 8);
    CHECK(head.at("MADs") == 6 + 8 + 6 * 4 + 8); // a capability query for each PMA, and a MAD for each port
    CHECK(head.at("complete") == true);
    CHECK_FALSE(head.contains("time")); // absent in virtual time
    const std::vector<json> ports = ports_of(r);
    REQUIRE(ports.size() == 32);
    std::size_t with_errors = 0;
    for (const json& port : ports) {
        const std::string LID = std::to_string(port.at("LID").get<int>());
        const process_result one = run({"query", "--fabric", tree, "--json", "PerformanceGet", "PortCountersExt", LID,
                                        "-f", "portSelect=" + std::to_string(port.at("port").get<int>())});
        check_success(one);
        const json reported = json::parse(one.out); // 64-bit values are strings of 0x and digits
        // MADs do not change these counters.
        for (const char* name : {"symbolErrorCounter", "portRcvErrors", "linkDownedCounter", "portXmitWait"}) {
            CAPTURE(name);
            CHECK(port.at("counters").at(name) == std::stoull(reported.at(name).get<std::string>(), nullptr, 16));
        }
        if (port.at("counters").at("symbolErrorCounter") != 0) ++with_errors;
    }
    CHECK(with_errors > 0);
}

TEST_CASE("sweep prints one table row and one CSV line per port with all counters") {
    const process_result table = sweep({});
    check_success(table);
    const words rows = lines_in_order(table.out);
    REQUIRE(rows.size() == 2 + 32);
    CHECK_THAT(rows[0], StartsWith("# sweep 1 at 0.000 s: 32 ports, 46 MADs, ") && EndsWith("; totals"));
    CHECK_THAT(rows[1], StartsWith("#node ") && Contains("xmit B ") && EndsWith("errors"));

    const process_result csv = sweep({"--csv"});
    check_success(csv);
    const words lines = lines_in_order(csv.out);
    REQUIRE(lines.size() == 1 + 32);
    CHECK_THAT(lines[0], StartsWith("sweep,seconds,nodeGUID,description,port,portXmitData,portRcvData,") &&
                             Contains(",portXmitWait,QP1Dropped,portXmitData_bytes,portRcvData_bytes,portState,"));
    for (const std::string& line : lines) CHECK(std::count(line.begin(), line.end(), ',') == 4 + 22 + 2 + 9);
}

TEST_CASE("sweeps run at the requested interval and report the changes since the previous sweep") {
    const process_result r = sweep({"--every", "2s", "--count", "3", "--json"});
    check_success(r);
    std::vector<double> starts;
    for (const json& o : objects_of(r))
        if (o.contains("schema")) starts.push_back(o.at("seconds"));
    REQUIRE(starts.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(starts[static_cast<std::size_t>(i)] == Approx(2.0 * i).margin(1e-9));
    std::size_t changed = 0;
    for (const json& port : ports_of(r)) {
        if (port.at("sweep") == 1) {
            CHECK_FALSE(port.contains("changes"));
            continue;
        }
        CHECK(port.at("interval_seconds").get<double>() == Approx(2).margin(0.001));
        CHECK_FALSE(port.at("changes").contains("symbolErrorCounter"));
        // The PMA of a host has replied to the MADs of the previous sweep. This sweep contains these replies.
        if (!port.at("changes").contains("portXmitPkts")) continue;
        ++changed;
        const json& sent = port.at("changes").at("portXmitPkts");
        CHECK(sent.at("state") == "counted");
        CHECK(sent.at("per_second").get<double>() == Approx(sent.at("value").get<double>() / 2).epsilon(0.001));
    }
    CHECK(changed > 0);
}

TEST_CASE("a sweep that is late starts when the previous one ends, and periods without a sweep are skipped") {
    const process_result r =
        sweep({"--every", "7ms", "--count", "4", "--json"}, "sim:fattree2,radix=4,sm=1,latency=1ms,time=virtual");
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("a sweep took longer than its period: "));
    double ends = 0;
    int sweeps = 0;
    for (const json& o : objects_of(r)) {
        if (!o.contains("schema")) continue;
        const double start = o.at("seconds");
        if (sweeps++) CHECK(start == Approx(ends).margin(1e-6));
        ends = start + o.at("duration_seconds").get<double>();
        CHECK(ends > start + 0.007);
    }
    CHECK(sweeps == 4);
}

TEST_CASE("sweep reads only the requested counters and prints them in the requested order") {
    for (const json& port : ports_of(sweep({"--json", "--type", "switch"})))
        CHECK_THAT(port.at("description").get<std::string>(), StartsWith("leaf") || StartsWith("spine"));
    CHECK(ports_of(sweep({"--json", "--name", "leaf-0001"})).size() == 4);
    CHECK(ports_of(sweep({"--json", "--name", "leaf*", "--name", "spine-0001"})).size() == 4 * 4 + 4);
    const std::vector<json> all = ports_of(sweep({"--json"}));
    const std::string GUID = all[0].at("nodeGUID");
    for (const json& port : ports_of(sweep({"--json", "--guid", GUID}))) CHECK(port.at("nodeGUID") == GUID);

    const std::vector<json> top = ports_of(sweep({"--json", "--top", "3", "--by", "portXmitWait"}));
    REQUIRE(top.size() == 3);
    std::vector<unsigned long long> waits;
    for (const json& port : all) waits.push_back(port.at("counters").at("portXmitWait"));
    std::sort(waits.rbegin(), waits.rend());
    for (std::size_t i = 0; i < 3; ++i) CHECK(top[i].at("counters").at("portXmitWait") == waits[i]);
}

TEST_CASE("sweep refuses invalid arguments with a one-line message before it sends a MAD") {
    check_failure(sweep({"--by", "xmit"}), 2, "unknown counter 'xmit'; the nearest are portXmitData, ");
    check_failure(sweep({"--guid", "seven"}), 2, "--guid: invalid GUID 'seven'");
    check_failure(sweep({"--every", "0s"}), 2, "invalid duration '0s'");
    check_failure(sweep({"--name", "nobody"}), 1, "select no node of the subnet: --name 'nobody' matches no node");
    check_failure(sweep({"--by", "congestion", "--count", "1"}), 2,
                  "--by congestion compares two sweeps; --count must be at least 2");
}

TEST_CASE("sweep reports utilization and congestion of known traffic in every format, and sorts by them") {
    // 4X EDR: 12.5e9 bytes per second. Two devices have different ticks.
    const std::string flows = "sim:fattree2,radix=4,sm=1,time=virtual,flow=leaf-0001/3:0.8:0.25,tick=h-0005 HCA-1:255,"
                              "flow=h-0005 HCA-1/1:0.3:0.5";
    const auto first_by = [&](const char* order) {
        const process_result r = sweep({"--json", "--top", "1", "--by", order}, flows);
        check_success(r);
        return ports_of(r).at(1); // of the second sweep
    };
    const json busy = first_by("utilization"), waiting = first_by("congestion");
    const auto within = [](double share) { return Approx(share).epsilon(0.01); };
    CHECK(busy.at("bits_per_second") == 100'000'000'000);
    const bool is_sender = busy.at("description") == "leaf-0001" && busy.at("port") == 3;
    CHECK(busy.at("utilization").at(is_sender ? "xmit" : "rcv").get<double>() == within(0.8));
    CHECK(waiting.at("description") == "h-0005 HCA-1");
    CHECK(waiting.at("congestion").get<double>() == within(0.5));
    CHECK(waiting.at("utilization").at("xmit").get<double>() == within(0.3));

    const process_result table = sweep({"--top", "1", "--by", "congestion"}, flows);
    check_success(table);
    const words rows = lines_in_order(table.out);
    REQUIRE(rows.size() == 3);
    CHECK_THAT(rows[0], StartsWith("# sweep 2 at 1.000 s: "));
    CHECK_THAT(rows[1], EndsWith("   errors  xmit%   rcv%  wait%"));
    CHECK_THAT(rows[2], StartsWith("h-0005 HCA-1 ") && EndsWith("   30.0    0.0   50.0"));

    const process_result csv = sweep({"--csv", "--top", "1", "--by", "congestion"}, flows);
    check_success(csv);
    const words lines = lines_in_order(csv.out);
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[0], EndsWith(",tick_seconds,utilization_xmit,utilization_rcv,congestion"));
    CHECK(std::stod(lines[2].substr(lines[2].rfind(',') + 1)) == within(0.5));
    CHECK_THAT(lines[1], EndsWith(",,,")); // the first sweep has no shares
}

TEST_CASE("sweep, health and perfquery read the counters of a switch's enhanced port 0") {
    const directory files;
    const std::string managed =
        files.write("managed.topo", "Switch 4 \"S-1\" # \"managed\" enhanced port 0 lid 3 lmc 0\n"
                                    "[1] \"H-a\"[1] # \"a\" lid 1 4xEDR\n"
                                    "[2] \"H-b\"[1] # \"b\" lid 2 4xEDR\n\n"
                                    "Ca 1 \"H-a\" # \"a\"\n[1] \"S-1\"[1] # lid 1 lmc 0 \"managed\" lid 3 4xEDR\n\n"
                                    "Ca 1 \"H-b\" # \"b\"\n[1] \"S-1\"[2] # lid 2 lmc 0 \"managed\" lid 3 4xEDR\n");
    const std::string fabric = "sim:" + managed + ",time=virtual";
    const process_result swept = run({"sweep", "--json", "--fabric", fabric});
    check_success(swept);
    CHECK_THAT(swept.out, Contains("\"port\":0"));
    check_success(run({"health", "--fabric", fabric}));
    const process_result counters = run({"perfquery", "3", "0", "--fabric", fabric});
    check_success(counters);
    CHECK_THAT(counters.out, Contains("PortSelect:......................0\n"));
}

TEST_CASE("sweep reports an unresponsive node on stderr and as missing, and prints all other ports") {
    const process_result r = sweep({"--json", "--every", "1s", "--count", "3"},
                                   "sim:fattree2,radix=4,sm=1,time=virtual,kill=h-0003 HCA-1@1500ms");
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("h-0003 HCA-1") && StartsWith("ibtool: "));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    std::vector<json> holes = objects_of(r);
    std::erase_if(holes, [](const json& o) { return !o.contains("missing"); });
    REQUIRE(holes.size() == 1);
    CHECK(holes[0].at("sweep") == 3);
    CHECK(holes[0].at("missing") == "timeout");
    CHECK(holes[0].at("description") == "h-0003 HCA-1");
    CHECK(ports_of(r).size() == 32 + 32 + 31);
}

namespace {

/// Returns the objects about rediscoveries.
std::vector<json> discoveries_of(const process_result& r) {
    std::vector<json> all = objects_of(r);
    std::erase_if(all, [](const json& o) { return !o.contains("discovered_again"); });
    return all;
}
const words five_sweeps{"--json", "--every", "1s", "--count", "5"};

} // namespace

TEST_CASE("a link that went down between two sweeps is detected by its counter and causes a rediscovery") {
    const std::string flapping = "sim:fattree2,radix=4,sm=1,time=virtual,flap=spine-0002/2@1500ms:10ms:1000s";
    const process_result r = sweep(five_sweeps + words{"--refresh", "1s"}, flapping);
    check_success(r);
    const std::vector<json> found = discoveries_of(r);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0].at("discovered_again").get<std::string>(), EndsWith("the link went down"));
    // The rediscovery does not prevent the comparison with earlier counters.
    const std::vector<json> ports = ports_of(r);
    CHECK(ports.size() == 5 * 32);
    std::size_t downs = 0;
    for (const json& port : ports) {
        if (port.at("sweep") == 1) continue;
        CHECK(port.at("interval_seconds").get<double>() == Approx(1).margin(0.01));
        if (!port.at("changes").contains("linkDownedCounter")) continue;
        CHECK(port.at("sweep") == 3);
        CHECK(port.at("changes").at("linkDownedCounter").at("value") == 1);
        ++downs;
    }
    CHECK(downs == 2); // both ends of the link
    CHECK(discoveries_of(sweep(five_sweeps + words{"--refresh", "never"}, flapping)).empty());
    CHECK(discoveries_of(sweep(five_sweeps + words{"--refresh", "1s"})).empty());
}

TEST_CASE("a link that comes up is detected by polling the port states of switches or of the SA") {
    const std::string by = GENERATE("smp", "sa");
    CAPTURE(by);
    const process_result r =
        sweep(five_sweeps + words{"--refresh", "1s", "--refresh-by", by},
              "sim:fattree2,radix=4,sm=1,time=virtual,cut=h-0008 HCA-1/1@0ms,restore=h-0008 HCA-1/1@2500ms");
    CHECK(discoveries_of(r).size() == 1);
    std::map<int, std::size_t> swept;
    for (const json& port : ports_of(r)) ++swept[port.at("sweep").get<int>()];
    // No subnet manager assigns a LID to the host, so ibtool cannot query its PMA.
    CHECK(swept == std::map<int, std::size_t>{{1, 31}, {2, 31}, {3, 31}, {4, 31}, {5, 31}});
}

TEST_CASE("sweep --watch fits its terminal and refuses to run without a terminal") {
    const auto shown = [](int rows, int columns) {
        const std::string command = "stty rows " + std::to_string(rows) + " cols " + std::to_string(columns) + "; " +
                                    ibtool_program() + " sweep --watch --count 2 --fabric " + tree;
        return run_process({"IBTOOL_FABRIC=", "TERM=xterm", "script", "-qec", command, "/dev/null"}).out;
    };
    for (const auto& [rows, columns] : {std::pair{10, 80}, std::pair{30, 200}, std::pair{24, 60}}) {
        CAPTURE(rows, columns);
        std::string text = shown(rows, columns);
        text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
        const std::size_t second = text.rfind("\033[H");
        REQUIRE(second != std::string::npos);
        REQUIRE(second > 0);
        const words lines = lines_in_order(text.substr(second + 3));
        CHECK(lines.size() == static_cast<std::size_t>(rows));
        CHECK_THAT(lines.at(0), StartsWith("# sweep 2 at 1.000 s: "));
        for (const std::string& line : lines) {
            const std::string bare = line.substr(0, line.find('\033'));
            CHECK(bare.size() <= static_cast<std::size_t>(columns));
        }
        CHECK((lines.at(1).find("xmit%") != std::string::npos) == (columns > 60));
    }
    check_failure(sweep({"--watch"}), 2, "--watch requires a terminal as output");
}

TEST_CASE("sweep reads further counter groups only on request and only from ports that support them") {
    const process_result r =
        sweep({"--json", "--details", "PortRcvErrorDetails", "--details", "PortXmitDiscardDetails"});
    check_success(r);
    for (const json& port : ports_of(r)) {
        REQUIRE(port.at("details").size() == 2);
        CHECK(port.at("details").at("PortRcvErrorDetails").at("portSelect") == port.at("port"));
    }
    CHECK_FALSE(ports_of(sweep({"--json"})).at(0).contains("details"));
    const std::string errors = "sim:fattree2,radix=4,sm=1,errors=1:1000,time=virtual";
    const words two_sweeps{"--details", "PortRcvErrorDetails", "--every", "1s", "--count", "2"};
    // A quarter of the symbol errors are receive errors: 250 a second. The first 12 of every 16 are physical errors, and 3 are malformed
    // packets.
    const process_result table = sweep(two_sweeps + words{"--top", "1"}, errors);
    check_success(table);
    CHECK_THAT(table.out, Contains("\n    PortRcvErrorDetails: portLocalPhysicalErrors 190") &&
                              Contains(", portMalformedPacketErrors 45"));
    const process_result csv = sweep(two_sweeps + words{"--csv"}, errors);
    check_success(csv);
    CHECK_THAT(lines_in_order(csv.out)[0], EndsWith(",PortRcvErrorDetails.portLoopingErrors"));
    CHECK_THAT(lines_in_order(csv.out).back(), !EndsWith(","));
    check_failure(sweep({"--details", "PortColours"}), 2, "unknown group 'PortColours'; the nearest are ");
}

TEST_CASE("sweep clears the named counters on request after it has read them") {
    const auto sums = [](const words& resets) {
        // The sums of each counter in the first and in the second sweep.
        std::map<std::string, std::array<unsigned long long, 2>> all;
        const process_result r = sweep(words{"--json", "--every", "1s", "--count", "2"} + resets);
        check_success(r);
        for (const json& port : ports_of(r))
            for (const char* name : {"symbolErrorCounter", "portRcvErrors", "portXmitWait"})
                all[name][port.at("sweep").get<std::size_t>() - 1] +=
                    port.at("counters").at(name).get<unsigned long long>();
        return all;
    };
    const auto kept = sums({});
    for (const auto& [name, sum] : kept) {
        CAPTURE(name);
        CHECK(sum[0] > 0);
        CHECK(sum[1] == sum[0]);
    }
    const auto without_errors = sums({"--reset", "errors"});
    CHECK(without_errors.at("symbolErrorCounter")[0] == kept.at("symbolErrorCounter")[0]);
    CHECK(without_errors.at("symbolErrorCounter")[1] == 0);
    CHECK(without_errors.at("portRcvErrors")[1] == 0);
    CHECK(without_errors.at("portXmitWait")[1] == kept.at("portXmitWait")[0]);
    const auto without_one = sums({"--reset", "portRcvErrors"});
    CHECK(without_one.at("symbolErrorCounter")[1] == kept.at("symbolErrorCounter")[0]);
    CHECK(without_one.at("portRcvErrors")[1] == 0);
    check_failure(sweep({"--reset", "everything"}), 2, "--reset: unknown counter 'everything'; the nearest are ");
}

TEST_CASE("sweep --reset shows the true utilization and congestion in each later sweep") {
    const std::string ring = "sim:ring,switches=3,hosts=2,sm=1,time=virtual,flow=sw-0002/1:0.37:0.21";
    for (const char* resets : {"data", "all", "errors", "portXmitData"}) {
        CAPTURE(resets);
        const process_result r = sweep(
            {"--json", "--every", "1s", "--count", "5", "--name", "sw-0002", "--top", "1", "--reset", resets}, ring);
        check_success(r);
        const std::vector<json> busiest = ports_of(r);
        REQUIRE(busiest.size() == 5);
        const auto within = [](double share) { return Approx(share).epsilon(0.01); };
        for (std::size_t i = 1; i < busiest.size(); ++i) {
            CAPTURE(busiest[i].dump());
            CHECK(busiest[i].at("port") == 1);
            CHECK(busiest[i].at("utilization").at("xmit").get<double>() == within(0.37));
            CHECK(busiest[i].at("congestion").get<double>() == within(0.21));
            CHECK(busiest[i].at("changes").at("portXmitData").at("state") == "counted");
        }
    }
}

TEST_CASE("the next sweep after sweep --reset has no change of a counter that did not count since the clear") {
    const process_result r = sweep({"--json", "--every", "1s", "--count", "2", "--reset", "errors"});
    check_success(r);
    for (const json& port : ports_of(r)) {
        if (!port.contains("changes")) continue;
        CAPTURE(port.dump());
        for (const char* name : {"symbolErrorCounter", "portRcvErrors", "linkDownedCounter"})
            CHECK_FALSE(port.at("changes").contains(name));
    }
}

TEST_CASE("a single sweep --reset refuses a file of --prometheus that it cannot create before it sends a MAD") {
    const directory files;
    const std::string file = files / "none/page.prom", capture = files / "sent.pcap";
    const process_result r = sweep({"--reset", "all", "--prometheus", file, "--pcap", capture});
    check_failure(r, 1, "cannot write '" + file + "': No such file or directory");
    CHECK_FALSE(std::filesystem::exists(capture));
}

TEST_CASE("sweep --reset, ibclearcounters and ibclearerrors clear equal counters for every kind of PMA") {
    const std::string capabilities =
        GENERATE(as<std::string>{}, "full", "basic", "wide", "wait+qp1", "wide+unicast+wait", "wide+errors",
                 "wide+errors+wait", "wide+unicast+errors+qp1", "all+wide+unicast+errors", "all+wide+errors+wait+qp1");
    CAPTURE(capabilities);
    const directory files;
    using set_mad = std::array<unsigned, 5>; // LID, portSelect, attribute, counterSelect, counterSelect2
    const auto sets_of = [&](const words& command) {
        const std::string capture = files / "sets.pcap";
        check_success(run(command + words{"--fabric", tree + ",pma=" + capabilities, "--pcap", capture}));
        std::set<set_mad> sets;
        for (const json& packet : objects_of(run({"decode", "--json", capture}))) {
            if (!packet.contains("PMFormat") || packet["PMFormat"]["method"] != 2) continue;
            const json& mad = packet["PMFormat"];
            const json& data = mad["data"];
            const auto number = [](const json& j) { return j.get<unsigned>(); };
            sets.insert(set_mad{number(packet["HdrLRH"]["DLID"]), number(data["portSelect"]),
                                number(mad["attributeID"]), number(data["counterSelect"]),
                                number(data["counterSelect2"])});
        }
        return sets;
    };
    const auto all = sets_of({"ibclearcounters"}), errors = sets_of({"ibclearerrors"});
    CHECK(all.size() >= 14);
    CHECK(sets_of({"sweep", "--reset", "all"}) == all);
    CHECK(errors.size() >= 14);
    CHECK(sets_of({"sweep", "--reset", "errors"}) == errors);
}
