// SPDX-License-Identifier: MIT
// sweep_files_test.cpp - --save and --since of sweep and ibqueryerrors, on simulated subnets in virtual time. The expected differences are
// calculated from the JSON of separate runs.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <utility>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

/// A fabric whose counters depend only on the seed. 32 ports.
std::string fabric(int seed) { return "sim:fattree2,radix=4,sm=1,counters=" + std::to_string(seed) + ",time=virtual"; }
/// Another fabric: none of its nodes is in the other one.
const char* const other_topology =
    "switchguid=0x20(20)\nSwitch 2 \"S-0000000000000020\" # \"switch\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000000010\"[1](11) # \"host\" lid 1 4xEDR\n\n"
    "caguid=0x10\nCa 1 \"H-0000000000000010\" # \"host\"\n"
    "[1](11) \"S-0000000000000020\"[1] # lid 1 lmc 0 \"switch\" lid 2 4xEDR\n";

std::vector<json> objects_of(const process_result& r) {
    std::vector<json> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
}
process_result sweep(int seed, const words& more) { return run(words{"sweep", "--fabric", fabric(seed)} + more); }

using place = std::pair<std::string, int>;
place place_of(const json& port) { return {port.at("nodeGUID"), port.at("port")}; }

/// Returns the counters of all ports, by node GUID and port.
std::map<place, json> counters_of(const process_result& r) {
    std::map<place, json> all;
    for (const json& o : objects_of(r))
        if (o.contains("counters")) all[place_of(o)] = o.at("counters");
    return all;
}

/// A sweep file with one sweep of fabric(1).
struct saved {
    saved() { check_success(sweep(1, {"--save", file})); }
    const directory files;
    const std::string file = files / "day.sweeps";
};

} // namespace

TEST_CASE("sweep --since prints the differences to the saved counters, with rates over the time in between") {
    const saved s;
    const process_result r = sweep(2, {"--json", "--since", s.file});
    check_success(r);
    const auto before = counters_of(sweep(1, {"--json"})), now = counters_of(r);
    REQUIRE(before.size() == 32);
    const json head = objects_of(r).at(0).at("since");
    CHECK(head.at("file") == s.file);
    CHECK(head.at("sweep") == 1);
    CHECK(head.at("new_ports") == 0);
    CHECK(head.at("gone_ports") == 0);
    const double seconds = head.at("seconds");
    CHECK((seconds > 0 && seconds < 3600));
    std::size_t grown = 0, reset = 0, unknown = 0;
    for (const json& port : objects_of(r)) {
        if (!port.contains("counters")) continue;
        CHECK(port.at("interval_seconds").get<double>() == Approx(seconds).margin(0.01));
        const json &then = before.at(place_of(port)), &after = now.at(place_of(port));
        for (const char* name :
             {"portXmitData", "portRcvPkts", "symbolErrorCounter", "portRcvErrors", "linkDownedCounter"}) {
            CAPTURE(port.dump(), name);
            const auto a = then.at(name).get<std::uint64_t>(), b = after.at(name).get<std::uint64_t>();
            const bool is_there = port.at("changes").contains(name);
            if (a == b) {
                CHECK_FALSE(is_there);
                continue;
            }
            REQUIRE(is_there);
            const json& change = port.at("changes").at(name);
            if (b < a) {
                ++reset;
                CHECK(change.at("state") == "reset");
                CHECK(change.at("value") == b);
            } else if (change.at("state") == "unknown") {
                ++unknown;
            } else {
                ++grown;
                CHECK(change.at("state") == "counted");
                CHECK(change.at("value") == b - a);
                const double unit = std::string(name) == "portXmitData" ? 4 : 1;
                CHECK(change.at("per_second").get<double>() ==
                      Approx(unit * static_cast<double>(b - a) / port.at("interval_seconds").get<double>()));
            }
        }
    }
    CHECK((grown > 0 && reset > 0 && unknown > 0)); // the counters of the two seeds are unrelated
    const process_result table = sweep(2, {"--since", s.file});
    CHECK_THAT(table.out, Contains("# since sweep 1 of '" + s.file + "', ") &&
                              Contains(" s before: 0 ports new, 0 gone, ") && Contains(" xmit B/s ") &&
                              !Contains("totals"));
}

TEST_CASE("sweep --since compares with the last sweep of a file with several sweeps, and --save adds to it") {
    const saved s;
    const auto one = std::filesystem::file_size(s.file);
    check_success(sweep(1, {"--save", s.file, "--count", "3", "--every", "1ms"})); // over before the next run begins
    CHECK(std::filesystem::file_size(s.file) < 4 * one);
    const process_result r = sweep(1, {"--json", "--since", s.file, "--save", s.file});
    check_success(r);
    CHECK(objects_of(r).at(0).at("since").at("sweep") == 4);
    CHECK(objects_of(sweep(1, {"--json", "--since", s.file})).at(0).at("since").at("sweep") == 5);
}

TEST_CASE("with --since, only the first sweep is compared with the file") {
    const saved s;
    const process_result r = sweep(1, {"--json", "--since", s.file, "--count", "2", "--every", "5s"});
    check_success(r);
    std::size_t heads = 0;
    for (const json& o : objects_of(r)) {
        if (o.contains("schema")) CHECK(o.contains("since") == (heads++ == 0));
        if (o.contains("interval_seconds") && o.at("sweep") == 2)
            CHECK(o.at("interval_seconds").get<double>() == Approx(5).margin(0.01));
    }
    CHECK(heads == 2);
}

TEST_CASE(
    "a port that the file does not contain is new and has no rate, and a port that this run excludes is not gone") {
    const directory files;
    const std::string file = files / "switches.sweeps";
    check_success(sweep(1, {"--save", file, "--type", "switch"}));
    const process_result r = sweep(1, {"--json", "--since", file, "--type", "ca"});
    check_success(r);
    const json head = objects_of(r).at(0).at("since");
    CHECK(head.at("new_ports") == 8);
    CHECK(head.at("gone_ports") == 0);
    for (const json& o : objects_of(r)) CHECK_FALSE(o.contains("changes"));
    const words rows = lines_in_order(sweep(1, {"--since", file, "--type", "ca"}).out);
    REQUIRE(rows.size() == 3 + 8);
    for (std::size_t i = 3; i < rows.size(); ++i) {
        std::istringstream row(rows[i].substr(32));
        std::string port, cell;
        row >> port;
        for (int column = 0; column < 6; ++column) CHECK((row >> cell && cell == "?"));
        while (row >> cell) CHECK(cell == "-"); // shares of the data rate and of the time
    }
}

TEST_CASE("with --since, a port is gone if it no longer exists and the options select its node") {
    const saved s;
    const std::string cut = fabric(1) + ",cut=h-0003 HCA-1/1@0s";
    const auto since = [&](const words& command) {
        const process_result r = run(command + words{"--fabric", cut, "--json", "--since", s.file});
        INFO("stderr: " << r.err);
        const std::vector<json> all = objects_of(r);
        REQUIRE_FALSE(all.empty());
        return all.front().contains("since") ? all.front().at("since") : all.back().at("since");
    };
    const std::pair<words, int> cases[] = {
        {{"sweep"}, 1},
        {{"sweep", "--type", "ca"}, 1},
        {{"sweep", "--port-state", "active"}, 1}, // the file does not contain the state
        {{"sweep", "--type", "switch"}, 0},
        {{"sweep", "--name", "h-0001"}, 0},
        {{"sweep", "--exclude", "h-0003"}, 0},
        {{"ibqueryerrors", "--skip-sl"}, 1},
        {{"ibqueryerrors", "--skip-sl", "--ca"}, 1},
        {{"ibqueryerrors", "--skip-sl", "--exclude", "leaf*"}, 1},
        {{"ibqueryerrors", "--skip-sl", "--switch"}, 0},
        {{"ibqueryerrors", "--skip-sl", "--name", "spine*"}, 0},
        {{"ibqueryerrors", "--skip-sl", "-G", "0x0002c90300000100"}, 0},
    };
    for (const auto& [command, gone] : cases) {
        CAPTURE(command);
        const json found = since(command);
        CHECK(found.at("gone_ports") == gone);
        CHECK(found.at("new_ports") == 0);
    }
}

TEST_CASE("sweep --since sorts a single sweep by the utilization since the saved one") {
    const saved s;
    const words rows = lines_in_order(sweep(2, {"--since", s.file, "--by", "utilization", "--top", "2"}).out);
    REQUIRE(rows.size() == 3 + 2);
    check_failure(sweep(2, {"--by", "utilization", "--count", "1"}), 2, "--count must be at least 2, or use --since");
}

TEST_CASE("ibqueryerrors --since reports increases, and thresholds apply to them") {
    const saved s;
    const auto before = counters_of(sweep(1, {"--json"})), now = counters_of(sweep(2, {"--json"}));
    const process_result r = run({"ibqueryerrors", "--fabric", fabric(2), "--json", "--since", s.file, "--skip-sl"});
    CHECK(r.status == 1);
    std::map<place, json> reported;
    for (const json& o : objects_of(r))
        if (o.contains("errors")) reported[place_of(o)] = o.at("errors");
    std::size_t grown = 0;
    for (const auto& [where, after] : now) {
        for (const char* name : {"symbolErrorCounter", "portRcvErrors", "portXmitDiscards"}) {
            const auto a = before.at(where).at(name).get<std::uint64_t>(), b = after.at(name).get<std::uint64_t>();
            CAPTURE(where.first, where.second, name, a, b);
            const bool is_there = reported.contains(where) && reported.at(where).contains(name);
            if (a == b || b == 0) CHECK_FALSE(is_there);
            if (b < a && b > 0) CHECK(reported.at(where).at(name) == b);
            if (b > a && is_there) CHECK(reported.at(where).at(name) == b - a);
            grown += b > a && is_there;
        }
    }
    CHECK(grown > 0);
    const json summary = objects_of(r).back();
    CHECK(summary.at("ports") == 32);
    CHECK(summary.at("since").at("sweep") == 1);
    const process_result none = run({"ibqueryerrors", "--fabric", fabric(1), "--since", s.file, "--skip-sl"});
    check_success(none);
    CHECK_THAT(none.out, Contains("32 ports checked, 0 ports have errors beyond threshold") &&
                             Contains("\n## Since: sweep 1 of '" + s.file));
}

TEST_CASE("ibqueryerrors --save writes all counters of all ports, which sweep can read") {
    const directory files;
    const std::string file = files / "errors.sweeps";
    run({"ibqueryerrors", "--fabric", fabric(1), "--save", file, "--skip-sl"});
    const process_result r = sweep(1, {"--json", "--since", file});
    check_success(r);
    CHECK(objects_of(r).at(0).at("since").at("new_ports") == 0);
    for (const json& o : objects_of(r))
        if (o.contains("changes"))
            for (const auto& [name, change] : o.at("changes").items()) CHECK(change.at("state") != "unknown");
}

TEST_CASE("a sweep file contains the counters after the command itself has cleared them") {
    const directory files;
    int number = 0;
    const auto saves = [&](const words& command) {
        const std::string file = files / std::to_string(++number) + ".sweeps";
        const process_result r = run(command + words{"--fabric", fabric(1), "--save", file});
        REQUIRE((r.status == 0 || r.status == 1)); // ibqueryerrors reports errors with status 1
        return file;
    };
    // The counters of each run start with the same values. What a port has since the clear is the whole increase.
    const auto now = counters_of(sweep(1, {"--json"}));
    const auto check = [&](const std::string& file, bool has_cleared_errors, bool has_cleared_data) {
        const process_result r = sweep(1, {"--json", "--since", file});
        check_success(r);
        std::size_t errors = 0, data = 0;
        for (const json& port : objects_of(r)) {
            if (!port.contains("counters")) continue;
            CAPTURE(port.dump());
            const auto increase = [&](const char* name) {
                const bool is_there = port.contains("changes") && port.at("changes").contains(name);
                if (!is_there) return std::uint64_t{0};
                CHECK(port.at("changes").at(name).at("state") == "counted");
                return port.at("changes").at(name).at("value").get<std::uint64_t>();
            };
            const auto value = [&](const char* name) { return now.at(place_of(port)).at(name).get<std::uint64_t>(); };
            CHECK(increase("symbolErrorCounter") == (has_cleared_errors ? value("symbolErrorCounter") : 0));
            errors += increase("symbolErrorCounter");
            if (!has_cleared_data) continue; // the MADs of the run change these counters
            const auto sent = increase("portXmitData");
            CHECK(static_cast<double>(sent) == Approx(static_cast<double>(value("portXmitData"))).margin(10'000));
            data += sent;
        }
        CHECK((errors > 0) == has_cleared_errors);
        CHECK((data > 0) == has_cleared_data);
    };
    check(saves({"sweep", "--reset", "errors"}), true, false);
    check(saves({"sweep", "--reset", "all"}), true, true);
    check(saves({"ibqueryerrors", "--skip-sl", "-k"}), true, false);
    check(saves({"ibqueryerrors", "--skip-sl", "-K"}), false, true);
    check(saves({"ibqueryerrors", "--skip-sl"}), false, false);
}

TEST_CASE("a file of another fabric, a damaged file and another kind of file are refused, and stay unchanged") {
    const saved s;
    const std::string other = "sim:" + s.files.write("other.topo", other_topology) + ",sm=1,time=virtual";
    const std::string whole = read_file(s.file);
    const auto refused = [&](const words& command, const std::string& file, const std::string& why) {
        const std::string content = read_file(file);
        const process_result r = run(command);
        CAPTURE(r.err, file);
        check_failure(r, 1, why);
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
        CHECK(read_file(file) == content);
    };
    for (const char* option : {"--since", "--save"})
        for (const char* command : {"sweep", "ibqueryerrors"}) {
            refused({command, "--fabric", other, option, s.file}, s.file,
                    "it is of another fabric: fewer than half of its 14 nodes are in this subnet of 2 nodes");
            const std::string topology = s.files / "other.topo";
            refused({command, "--fabric", fabric(1), option, topology}, topology, "it is not a sweep file");
        }
    std::string damaged = whole;
    damaged[damaged.size() - 10] ^= 1;
    const std::string file = s.files.write("damaged", damaged);
    refused({"sweep", "--fabric", fabric(1), "--save", file}, file, "the checksum of the record at byte ");
    refused({"sweep", "--fabric", fabric(1), "--since", file}, file, "the checksum of the record at byte ");
    check_failure(sweep(1, {"--since", s.files / "none"}), 1, "No such file or directory");
}

TEST_CASE("a truncated file is reported in one line, its complete sweeps are used, and the next sweep continues it") {
    const saved s;
    const auto one = std::filesystem::file_size(s.file);
    check_success(sweep(1, {"--save", s.file}));
    std::filesystem::resize_file(s.file, std::filesystem::file_size(s.file) - 1);
    const process_result since = sweep(1, {"--json", "--since", s.file});
    CHECK(since.status == 0);
    CHECK_THAT(since.err, Contains("is damaged: it ends within a sweep, at byte ") &&
                              Contains("its last complete sweep, number 1, is used"));
    CHECK(std::count(since.err.begin(), since.err.end(), '\n') == 1);
    const process_result save = sweep(1, {"--save", s.file});
    CHECK(save.status == 0);
    CHECK_THAT(save.err, Contains("the next sweep replaces the incomplete one"));
    const process_result again = sweep(1, {"--json", "--since", s.file});
    CHECK(again.err.empty());
    CHECK(objects_of(again).at(0).at("since").at("sweep") == 2);
    std::filesystem::resize_file(s.file, one);
    CHECK(objects_of(sweep(1, {"--json", "--since", s.file})).at(0).at("since").at("sweep") == 1);
}

TEST_CASE("a file that cannot grow keeps its sweeps") {
    const saved s;
    const std::string whole = read_file(s.file);
    // The limit of the shell is in units of 512 bytes; ibtool ignores SIGXFSZ or gets EFBIG.
    const std::string limit = std::to_string((whole.size() + 511) / 512);
    const process_result r =
        run_process(words{"sh", "-c", "trap '' XFSZ; ulimit -f " + limit + "; exec env \"$@\"", "sh"} +
                    ibtool({"sweep", "--fabric", fabric(2), "--top", "1", "--save", s.file}));
    CHECK(r.status == 1);
    CHECK_THAT(r.err, Contains("File too large; the earlier sweeps are unchanged"));
    CHECK(read_file(s.file) == whole);

    // The sweep and its missing ports are reported, too.
    const std::string to_a_pipe = // the limit would also apply to stdout
        "(trap '' XFSZ; ulimit -f " + limit + "; env \"$@\"; echo \"status $?\" >&2) | cat";
    const process_result missing =
        run_process(words{"sh", "-c", to_a_pipe, "sh"} +
                    ibtool({"sweep", "--fabric", fabric(2) + ",dead=h-0003 HCA-1", "--save", s.file}));
    CHECK_THAT(missing.out, Contains("h-0004"));
    CHECK_THAT(missing.err, Contains("h-0003 HCA-1") && Contains("File too large") && EndsWith("status 1\n"));
}

TEST_CASE("a command refuses a file of --save that it cannot create before it reads or clears counters") {
    const directory files;
    std::filesystem::create_symlink(files / "nothing", files / "dangling");
    const std::pair<std::string, std::string> cases[] = {
        {files / "none/day.sweeps", "No such file or directory"},
        {files / "dangling", "it is not a regular file"},
    };
    const words commands[] = {{"sweep", "--reset", "all"},
                              {"sweep", "--reset", "all", "--every", "1s", "--count", "2"},
                              {"ibqueryerrors", "--skip-sl", "-k", "-K"}};
    for (const auto& [file, why] : cases)
        for (const words& command : commands) {
            CAPTURE(file, command);
            const std::string pcap = files / "sent.pcap";
            const process_result r = run(command + words{"--fabric", fabric(1), "--pcap", pcap, "--save", file});
            CHECK(r.status == 1);
            CHECK(r.out.empty());
            CHECK_THAT(r.err, Contains("cannot write '" + file + "': " + why));
            CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
            const process_result sent = run({"decode", "--json", pcap});
            check_success(sent);
            CHECK_THAT(sent.out, Contains("SMPFormat") && !Contains("PMFormat"));
        }
    const std::string file = files / "new.sweeps";
    check_success(sweep(1, {"--reset", "all", "--save", file}));
    CHECK(std::filesystem::exists(file));
    for (const auto& entry : std::filesystem::directory_iterator(files / ""))
        CHECK_FALSE(entry.path().filename().string().starts_with(".ibtool-")); // no temporary file is left
}

TEST_CASE("a sweep file from virtual time is refused as dated in the future, with both causes") {
    const directory files;
    const std::string file = files / "future.sweeps";
    check_success(sweep(1, {"--save", file, "--every", "2000s", "--count", "2"}));
    check_failure(sweep(1, {"--since", file}), 1,
                  "its last sweep is dated in the future: it was made in virtual time, or the clock of this machine is "
                  "wrong");
}

TEST_CASE("a sweep file that is moved or deleted during a run is replaced by a new one") {
    const std::string fabric = "sim:fattree2,radix=4,sm=1,traffic=1000";
    for (const std::string change : {"mv $f $f.1", "rm $f"}) {
        CAPTURE(change);
        const directory files;
        const std::string file = files / "day.sweeps";
        // The file appears with the first sweep.
        const std::string script = "f=" + file + "; (for i in $(seq 6000); do test -s $f && break; sleep 0.01; done; " +
                                   change + ") & exec env \"$@\"";
        const process_result r =
            run_process(words{"sh", "-c", script, "sh"} + ibtool({"sweep", "--fabric", fabric, "--every", "300ms", "-c",
                                                                  "4", "--top", "1", "--save", file}));
        CHECK(r.status == 0);
        CHECK_THAT(r.err, Contains("was moved or deleted; this sweep goes to a new file"));
        const auto after = objects_of(run({"sweep", "--fabric", fabric, "--json", "--since", file}));
        REQUIRE_FALSE(after.empty());
        CHECK(after.at(0).at("since").at("sweep").get<int>() < 4);
    }
}

TEST_CASE("a sweep file of another fabric that takes the name of the file during a run stays unchanged") {
    const saved s; // of the other fabric
    const std::string whole = read_file(s.file), file = s.files / "other.sweeps";
    const std::string topology = s.files.write("other.topo", other_topology);
    const std::string script = "f=" + file + "; (for i in $(seq 6000); do test -s $f && break; sleep 0.01; done; cp " +
                               s.file + " $f.new; mv $f.new $f) & exec env \"$@\"";
    const process_result r = run_process(words{"sh", "-c", script, "sh"} +
                                         ibtool({"sweep", "--fabric", "sim:" + topology + ",counters=1", "--every",
                                                 "300ms", "-c", "5", "--top", "1", "--save", file}));
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("it is of another fabric"));
    CHECK(read_file(file) == whole);
}

TEST_CASE("sweep --since reads the ticks, so that it can report congestion") {
    const directory files;
    const std::string file = files / "flow.sweeps";
    const std::string flow = "sim:fattree2,radix=4,sm=1,flow=leaf-0001/3:0.5:0.25";
    check_success(run({"sweep", "--fabric", flow, "--save", file}));
    const auto all = objects_of(run({"sweep", "--fabric", flow + ",delay=50ms", "--json", "--since", file}));
    CHECK(std::ranges::any_of(all, [](const json& o) { return o.contains("congestion"); }));
}

TEST_CASE("an empty file and a new file get the first sweep, and contradicting options are usage errors") {
    const saved s;
    const std::string empty = s.files.write("empty", "");
    check_success(sweep(1, {"--save", empty}));
    CHECK(objects_of(sweep(1, {"--json", "--since", empty})).at(0).at("since").at("sweep") == 1);
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(empty).parent_path()))
        CHECK_FALSE(entry.path().filename().string().starts_with(".ibtool-")); // no temporary file is left
    check_failure(sweep(1, {"--csv", "--since", s.file}), 2, "--since");
    check_failure(run({"ibqueryerrors", "--details", "--since", s.file}), 2, "--since");
    check_failure(sweep(1, {"--save", "-"}), 2, "--save: expected a file name");
    check_failure(sweep(1, {"--metrics", "errors"}), 2, "--metrics requires --listen or --prometheus");
    check_failure(run({"sweep", "--fabric", fabric(1), "--fabric", fabric(2), "--prometheus", s.files / "m.prom",
                       "--save", s.file}),
                  2, "--since and --save support only one fabric");
}

TEST_CASE("sweep --metrics limits the series about ports") {
    const directory files;
    const std::string page = files / "m.prom";
    const auto series = [&](int seed, const words& more) {
        check_success(sweep(seed, words{"--prometheus", page} + more));
        std::map<std::string, std::size_t> count;
        std::istringstream lines(read_file(page));
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("infiniband_")) ++count[line.substr(0, line.find_first_of("{ "))];
        return count;
    };
    const std::string symbols = "infiniband_port_symbol_errors_total", info = "infiniband_port_info",
                      state = "infiniband_port_state_id", sent = "infiniband_port_xmit_packets_total";
    std::size_t with_symbols = 0;
    for (const auto& [where, counters] : counters_of(sweep(1, {"--json"})))
        with_symbols += counters.at("symbolErrorCounter") != 0;
    REQUIRE((with_symbols > 0 && with_symbols < 32));
    auto all = series(1, {});
    CHECK(all[symbols] == 32);
    CHECK((all[info] == 32 && all[state] == 32 && all[sent] == 32));
    CHECK(series(1, {"--metrics", "all"}) == all);
    auto errors = series(1, {"--metrics", "errors"});
    CHECK(errors[symbols] == with_symbols);
    CHECK(errors[info] >= with_symbols);
    CHECK((errors[state] == 0 && errors[sent] == 0 && errors["infiniband_sweeps_total"] == 1));
    auto first = series(1, {"--metrics", "changed"});
    CHECK((first[symbols] == 0 && first[info] == 0 && first[state] == 0 && first[sent] == 0));
    // The replies to the first sweep leave the ports before the second one.
    auto second = series(1, {"--metrics", "changed", "--count", "2"});
    CHECK((second[sent] > 0 && second[sent] == second[info]));
    CHECK((second[symbols] == 0 && second[state] == 0));
}
