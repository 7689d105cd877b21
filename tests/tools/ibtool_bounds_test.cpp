// SPDX-License-Identifier: MIT
// ibtool_bounds_test.cpp - ibtool with too many ports or nodes, too little time or memory, and invalid files. Also the
// second signal, which ends ibtool at any point.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ibtool_bounds_test {

using namespace ibtool_rig;

namespace {

const words tree{"--fabric", "sim:fattree2,radix=4,time=virtual,sm=1"}; // 8 hosts and 6 switches

/// Counts how often a text contains `what`.
std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
}

/// Returns a topology with a switch, a router and an adapter that have this number of ports. Hosts are at the first
/// ports and the last port of the switch.
std::string wide_topology(unsigned ports) {
    const std::string n = std::to_string(ports);
    return "switchguid=0x1000\nSwitch " + n + " \"S-1\" # \"wide switch\" base port 0 lid 1 lmc 0\n" +
           "[1] \"H-a\"[1] # \"a\" lid 2 4xEDR\n[200] \"H-w\"[7] # \"wide host\" lid 3 4xEDR\n[" + n + "] \"H-b\"[1]" +
           " # \"b\" lid 5 4xEDR\n\n" +
           "caguid=0xa0000\nCa 1 \"H-a\" # \"a\"\n[1](a0001) \"S-1\"[1] # lid 2 lmc 0 \"s\" lid 1" + " 4xEDR\n\n" +
           "caguid=0xb0000\nCa 1 \"H-b\" # \"b\"\n[1](b0001) \"S-1\"[" + n + "] # lid 5 lmc 0 \"s\" lid 1 4xEDR\n\n" +
           "caguid=0xc0000\nCa " + n +
           " \"H-w\" # \"wide host\"\n[7](c0007) \"S-1\"[200] # lid 3 lmc 0 \"s\" lid 1 4xEDR\n";
}

/// Returns the commands that query a node with this number of ports and its last port.
std::vector<words> commands_about(const std::string& ports) {
    return {{"ibnetdiscover"},
            {"ibnetdiscover", "-f"},
            {"ibnetdiscover", "-p"},
            {"ibnetdiscover", "-l"},
            {"ibnetdiscover", "--json"},
            {"ibhosts"},
            {"ibswitches"},
            {"ibnodes", "--json"},
            {"iblinkinfo"},
            {"iblinkinfo", "-l"},
            {"iblinkinfo", "--json"},
            {"ibqueryerrors"},
            {"ibqueryerrors", "--json"},
            {"ibdatacounters", "--ports"},
            {"ibdatacounters", "--json"},
            {"ibclearcounters", "--json"},
            {"ibclearerrors", "-v"},
            {"ibchecknet"},
            {"ibcheckerrors", "--json"},
            {"ibcheckstate", "-v"},
            {"sweep", "--every", "1s", "--count", "2", "--refresh", "1s"},
            {"sweep", "--json", "--reset", "all"},
            {"sweep", "--csv"},
            {"health", "--for", "1s", "--json"},
            {"smpquery", "nodeinfo", "1"},
            {"smpquery", "portinfo", "1", ports},
            {"smpquery", "sl2vl", "1", ports},
            {"smpquery", "vlarb", "1", ports},
            {"smpquery", "pkeys", "1", ports},
            {"ibroute", "1"},
            {"ibroute", "-M", "1"},
            {"ibtracert", "2", "5"},
            {"perfquery", "-a", "1"},
            {"perfquery", "-a", "-l", "--json", "1"},
            {"perfquery", "3"},
            {"ibdatacounts", "1"},
            {"ibcheckerrs", "1"},
            {"ibchecknode", "1"},
            {"ibswportwatch", "-n", "1", "1", ports == "255" ? "254" : ports},
            {"ibaddr", "0,1," + (ports == "255" ? "1" : ports)}, // no route can contain port 255
            {"saquery", "NR"},
            {"saquery", "PIR"},
            {"saquery", "LR"},
            {"saquery", "SL2VL", "1/1/" + ports},
            {"saquery", "MFTR"},
            {"saquery", "LFTR"},
            {"bench", "-c", "100"}};
}

/// Returns true for a command whose exit code reports whether the subnet is as expected.
bool discovers(const words& command) {
    static const words all{"ibnetdiscover", "ibhosts",        "ibswitches",      "ibnodes",       "iblinkinfo",
                           "ibqueryerrors", "ibdatacounters", "ibclearcounters", "ibclearerrors", "ibchecknet",
                           "ibcheckerrors", "ibcheckstate",   "sweep",           "health"};
    return std::find(all.begin(), all.end(), command.front()) != all.end();
}

/// Waits until the program has its own signal handlers.
void await_handlers(const process& running) {
    const std::string file = "/proc/" + std::to_string(running.pid()) + "/status";
    await([&] {
        const std::string status = read_file(file);
        const auto has = [&](const std::string& set, int number) {
            const std::size_t at = status.find(set + ":\t");
            return at != status.npos &&
                   (std::stoull(status.substr(at + set.size() + 2, 16), nullptr, 16) >> (number - 1) & 1);
        };
        // Until exec() the child has our signal handlers, which do not include SIGPIPE.
        return has("SigIgn", SIGPIPE) && has("SigCgt", SIGTERM);
    });
}

} // namespace

TEST_CASE("every command handles nodes with 254 and 255 ports") {
    const directory files;
    sampled sample;
    for (const unsigned ports : {254u, 255u}) {
        const std::string file = files.write("wide-" + std::to_string(ports) + ".topo", wide_topology(ports));
        const words fabric{"--fabric", "sim:" + file + ",sm=1,time=virtual"};
        for (const words& command : commands_about(std::to_string(ports))) {
            if (sample.skips()) continue;
            CAPTURE(command, ports);
            const process_result r = process(ibtool(command + fabric)).wait(std::chrono::seconds(20));
            INFO(r.err.substr(0, 2000));
            if (!command.front().starts_with("ibcheck"))
                CHECK_FALSE(r.out.empty()); // the ibcheck commands print nothing for a good link
            if (ports == 254) {
                // The ibcheck commands report the ports that are down.
                CHECK((r.status == 0 || command.front().starts_with("ibcheck") || command.front() == "health"));
                CHECK(r.status < 2);
            } else if (discovers(command)) {
                CHECK(r.status == 3);
                CHECK_THAT(r.err, Contains("reports 255 ports, but the maximum is 254"));
            } else {
                CHECK(r.status < 2);
            }
        }
        // For port 255 a PMA would return the sum of all ports.
        CHECK_THAT(run(words{"sweep", "--csv"} + fabric).out,
                   Contains(",\"wide switch\",200,") && !Contains(",\"wide switch\",255,"));
        CHECK_THAT(run(words{"ibdatacounters", "--ports"} + fabric).out,
                   Contains(" port 200 ") && !Contains(" port 255 "));
        const std::string text = run(words{"ibnetdiscover"} + fabric).out;
        CHECK_THAT(text, Contains("\n[" + std::to_string(ports) + "]\t\"H-00000000000b0000\"[1](b0001)"));
        CHECK(run({"ibnetdiscover", "--fabric", "sim:" + file + ",time=virtual"}).status == (ports == 255 ? 3 : 0));
    }
}

TEST_CASE("a discovery that reaches --max-nodes stops, reports the limit and exits with 3") {
    const std::string line = "ibtool: not all nodes were discovered: the limit is 5 nodes; see --max-nodes and "
                             "--max-time\n";
    sampled sample;
    for (const words& command : {words{"ibnetdiscover"},
                                 {"ibhosts"},
                                 {"ibswitches"},
                                 {"ibnodes"},
                                 {"iblinkinfo"},
                                 {"ibqueryerrors"},
                                 {"ibdatacounters"},
                                 {"ibchecknet"},
                                 {"ibcheckerrors"},
                                 {"ibclearcounters"},
                                 {"sweep"},
                                 {"health", "--for", "1s"}}) {
        if (sample.skips()) continue;
        CAPTURE(command);
        const process_result r = run(command + tree + words{"--max-nodes", "5"});
        CHECK(r.status == 3);
        CHECK_THAT(r.err, Contains(line));
        CHECK_FALSE(r.out.empty());
    }
    const process_result json = run(words{"ibnetdiscover", "--json", "--max-nodes", "5"} + tree);
    const auto found = nlohmann::json::parse(json.out);
    CHECK(found["nodes"].size() == 5);
    CHECK(found["complete"] == false);
    REQUIRE(found["problems"].size() == 1);
    CHECK(found["problems"][0]["kind"] == "limit");
    check_success(run(words{"ibhosts", "--max-nodes", "14"} + tree));
    check_failure(run(words{"ibhosts", "--max-nodes", "0"} + tree), 2, "--max-nodes: must be a number from 1 to");
}

TEST_CASE("a discovery that reaches --max-time stops, reports the limit and exits with 3") {
    const words slow{"--fabric", "sim:line,switches=20,sm=1,time=virtual,latency=1ms"};
    const process_result r = run(words{"ibswitches", "-v", "--max-time", "30ms"} + slow);
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("ibtool: stopped at the time limit of 0.03 s; see --max-nodes and "
                               "--max-time\n") &&
                          Contains(" 0.03"));
    const std::size_t switches = count_of(r.out, "Switch\t: 0x");
    CHECK(switches > 0);
    CHECK(switches < 20);
    check_success(run(words{"ibswitches", "--max-time", "100000s"} + slow));
    check_failure(run(words{"ibswitches", "--max-time", "0"} + slow), 2, "--max-time: invalid duration '0'");
}

TEST_CASE("the limits of nodes and time also apply to later discoveries of a sweep") {
    // A host is connected after 1.5 seconds.
    const words grows{"--fabric",
                      "sim:fattree2,radix=4,sm=1,time=virtual,cut=leaf-0002/1@0s,restore=leaf-0002/1@1500ms"};
    const words sweep{"sweep", "--every", "1s", "--count", "4", "--refresh", "1s", "--type", "switch"};
    const process_result all = run(sweep + grows);
    CHECK(all.status == 0);
    CHECK_THAT(all.err, Contains("rediscovered the subnet"));
    const process_result r = run(sweep + grows + words{"--max-nodes", "13"});
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("rediscovered the subnet"));
    CHECK(count_of(r.err, "ibtool: not all nodes were discovered: the limit is 13 nodes") == 1);
}

TEST_CASE("a discovery that runs out of memory prints what it found and exits with 3") {
    if (other_program()) return; // a sanitizer needs more memory than the limits of this test
    const words large{"ibswitches", "--fabric", "sim:fattree3,radix=28,time=virtual"}; // 5488 hosts and 980 switches
    // The test does not know how much memory the program needs. It tries limits from too small to sufficient.
    bool is_partial = false, is_complete = false;
    for (unsigned kilobytes = 24'000; kilobytes < 400'000 && !is_complete; kilobytes += kilobytes / 8) {
        const process_result r =
            run_process(words{"sh", "-c", "ulimit -v $0; exec env \"$@\"", std::to_string(kilobytes)} + ibtool(large));
        CAPTURE(kilobytes, r.status, r.err);
        const std::size_t switches = count_of(r.out, "Switch\t: 0x");
        if (r.status == 127) continue; // no memory for the shared libraries
        CHECK((r.status == 0 || r.status == 1 || r.status == 3));
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') <= 2);
        is_complete = r.status == 0;
        if (is_complete) CHECK(switches == 980);
        if (r.status != 3) continue;
        is_partial = true;
        CHECK_THAT(r.err, Contains("memory is low"));
        CHECK(switches <= 980);
        const bool is_only_local = r.err.find("at 1 nodes") != r.err.npos;
        CHECK((switches > 0 || is_only_local));
    }
    CHECK(is_partial);
    CHECK(is_complete);
}

TEST_CASE("the first signal ends ibtool while it reads a pipe without a writer") {
    const directory files;
    const std::string pipe = files / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const int first : {SIGINT, SIGTERM}) {
        process running(ibtool({"ibhosts", "--fabric", "sim:" + pipe}));
        await_handlers(running);
        running.signal(first);
        const process_result r = running.wait(std::chrono::seconds(5));
        check_failure(r, 1, "cannot read '" + pipe + "': a signal arrived before the end of the input");
    }
}

TEST_CASE("the first signal ends a long-running command while nothing reads its output") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    while (::write(ends[1], "full", 4) > 0) continue;
    const std::string there = "/dev/fd/" + std::to_string(ends[1]);
    for (const int first : {SIGINT, SIGTERM}) {
        process running(words{"sh", "-c", "exec env \"$@\" >" + there, "sh"} +
                        ibtool({"sweep", "--every", "1ms", "--json", "--fabric", "sim:fattree2,radix=8,sm=1"}));
        running.await_error("cannot write all of the output to stdout; some of it is dropped\n");
        running.signal(first);
        const process_result r = running.wait(std::chrono::seconds(5));
        CHECK(r.status == 3);
        CHECK_THAT(r.err, Contains("ibtool: ") && EndsWith(" of the output could not be written to stdout\n"));
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("a directory, a binary file and an unreadable file are refused as settings") {
    const directory files;
    const std::string binary = files.write("binary", std::string("# a\0comment\n", 12));
    ::chmod(binary.c_str(), 0600);
    const struct {
        std::string file, why;
    } wrong[] = {{files / ".", "Is a directory"},
                 {binary, "it is a binary file"},
                 {"/proc/self/mem", "Input/output error"}, // opens, but cannot be read
                 {files / "none", "No such file or directory"}};
    sampled sample;
    for (const auto& [file, why] : wrong) {
        CAPTURE(file);
        for (const words& command : {words{"ibqueryerrors", "--threshold-file", file},
                                     {"ibcheckerrors", "-T", file},
                                     {"health", "--for", "1ms", "--rules", file},
                                     {"ibnodes", "--node-name-map", file},
                                     {"sweep", "--node-name-map", file},
                                     {"ibroute", "1", "--node-name-map", file}}) {
            if (sample.skips()) continue;
            CAPTURE(command);
            check_failure(run(command + tree), 1, why);
        }
        check_failure(run(words{"ibhosts", "-z", file} + tree), 2, why);
        const process_result key = run(words{"ibhosts", "--key-file", file} + tree);
        check_failure(key, 1, "key file ");
        if (why != "Is a directory" && why != "Input/output error") CHECK_THAT(key.err, Contains(why));
        check_failure(run({"ibhosts", "--fabric", "sim:" + file}), 1, why);
    }
}

TEST_CASE("a rules file with endlessly nested keys is refused") {
    const directory files;
    std::string key = "a";
    for (int i = 0; i < 200'000; ++i) key += ".a";
    const std::string deep = files.write("deep.toml", key + " = 1\n");
    check_failure(run(words{"health", "--for", "1ms", "--rules", deep} + tree), 1,
                  deep + ":1: keys are nested too deeply");
}

} // namespace ibtool_bounds_test
