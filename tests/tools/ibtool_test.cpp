// SPDX-License-Identifier: MIT
// ibtool_test.cpp - options, output and exit codes of ibtool's commands, with the embedded simulator.
#include "program/report_lines.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <signal.h>

namespace ibtool_test {

using namespace ibtool_rig;

namespace {

const words commands[] = {{"ibnetdiscover"}, {"ibhosts"}, {"ibswitches"}, {"ibnodes"}};
const words tree{"--fabric", "sim:fattree2,radix=4,time=virtual"}; // 8 hosts, 6 switches and 16 links
const words dead_host{"--fabric", "sim:fattree2,radix=4,time=virtual,dead=h-0003 HCA-1"};

} // namespace

TEST_CASE("global options are accepted before and after the command without side effects") {
    const words options[] = {
        {"-t", "500"},
        {"--timeout", "200ms"},
        {"--timeout=1.5s"},
        {"-t", "900000us"},
        {"-e"},
        {"--errors"},
        {"-y", "0x10"},
        {"--m_key", "16"},
        {"--retries", "0"},
        {"--outstanding", "1"},
        {"--outstanding", "adaptive"},
        {"--max-rate", "9"},
        {"--polite"},
        {"--outstanding=4096"},
        {"--descriptors=1"},
        {"-z", "/dev/null"},
        {"-t500"},
    };
    sampled sample;
    for (const words& command : commands) {
        const std::string plain = topology_of(run(tree + command));
        CHECK_FALSE(plain.empty());
        for (const words& option : options) {
            if (sample.skips()) continue;
            CAPTURE(command, option);
            const process_result before = run(option + tree + command);
            check_success(before);
            CHECK(topology_of(before) == plain);
            const process_result after = run(command + option + tree);
            check_success(after);
            CHECK(topology_of(after) == plain);
        }
    }
}

TEST_CASE("a long option may be abbreviated to an unambiguous prefix") {
    const std::string plain = topology_of(run(tree + words{"ibnetdiscover"}));
    const process_result r =
        run({"ibnetdiscover", "--fab=sim:fattree2,radix=4,time=virtual", "--retr", "1", "--outstanding_s", "3"});
    check_success(r);
    CHECK(topology_of(r) == plain);
    check_success(run({"--fab", "sim:fattree2,radix=4,time=virtual", "ibnetdiscover", "--Hca"}));
    check_failure(run(tree + words{"ibnetdiscover", "--ma", "1"}), 2,
                  "option '--ma' is ambiguous; it can mean --max_hops, --max-rate");
    // In this command -s takes no value, unlike in other commands.
    check_success(run(tree + words{"ibnetdiscover", "-s", "--Hca"}));
    check_failure(run(tree + words{"ibnetdiscover", "--frob"}), 2, "--frob");
    // The value of an option is never read as an option, whatever its prefix is.
    check_failure(run(tree + words{"ibnetdiscover", "--node-name-map", "--ma"}), 1, "cannot read '--ma'");
    CHECK(run({"--vers"}).out == run({"--version"}).out);
}

TEST_CASE("the option --json is accepted before and after the command") {
    const process_result behind = run(tree + words{"ibhosts", "--json"});
    check_success(behind);
    CHECK_THAT(behind.out, StartsWith("{\"nodeType\""));
    for (const words& before : {words{"--json"} + tree + words{"ibhosts"}, tree + words{"--json", "ibhosts"}})
        CHECK(run(before).out == behind.out);
    check_failure(run({"--json"}), 2, "no command given");
}

TEST_CASE("the options -C and -P are accepted on simulated fabrics with a message that they have no effect") {
    const process_result r = run(tree + words{"ibhosts", "-C", "mlx5_0", "-P", "1"});
    CHECK(r.status == 0);
    CHECK(r.out == run(tree + words{"ibhosts"}).out);
    CHECK(r.err == "ibtool: -C and -P ignored: they select a port of a local device, but the fabric is "
                   "'sim:fattree2,radix=4,time=virtual'\n");
}

TEST_CASE("failures with one cause are one line, and one line each with -v") {
    // Both spines are unresponsive, so each of the four leaves has two ports without a reply from the neighbor.
    const words dead{"--fabric", "sim:fattree2,radix=4,time=virtual,dead=spine-0001,dead=spine-0002"};
    const process_result r = run(dead + words{"ibnetdiscover"});
    CHECK(r.status == 3);
    CHECK(r.err == "ibtool: 2 ports: no reply from the neighbor; first: leaf-0001 port 3\n"
                   "ibtool: partial result: 2 failures\n");
    const process_result all = run(dead + words{"ibnetdiscover", "-v"});
    CHECK_THAT(all.err, Contains("\"leaf-0001\"[3]: no reply from the neighbor: RPC MAD_METHOD_GET(1) ") &&
                            Contains("\"leaf-0001\"[4]: no reply from the neighbor: RPC MAD_METHOD_GET(1) "));
}

TEST_CASE("a saved topology with vendor-specific device IDs is discovered completely") {
    // ConnectX-3 and SwitchX at QDR, which may be FDR10. Some of these devices reply to the vendor's attribute, and
    // others do not support it.
    const directory files;
    for (const char* vendor : {"0x2c9", "0x119f"}) {
        std::string topology =
            run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=4,speed=QDR,sm=1,time=virtual"}).out;
        const auto replace = [&](const std::string& name, const std::string& value) {
            for (std::size_t at = 0; (at = topology.find(name, at)) != topology.npos; at += value.size())
                topology.replace(at, name.size(), value);
        };
        replace("devid=0x1021", "devid=0x1003");
        replace("devid=0xd2f2", "devid=0xc738");
        replace("vendid=0x2c9", std::string("vendid=") + vendor);
        const std::string file = files.write("old.topo", topology);
        const process_result r = run({"ibnetdiscover", "-d", "--fabric", "sim:" + file + ",time=virtual"});
        CHECK(r.status == 0);
        CHECK_THAT(r.err, Contains("MlnxExtPortInfo") && !Contains("ibtool: "));
        CHECK_THAT(r.out, Contains("4xQDR"));
        check_success(run({"ibcheckportwidth", "0,1", "1", "--fabric", "sim:" + file + ",time=virtual,sm=1"}));
    }
}

TEST_CASE("the options -C and -P are accepted by commands that need no fabric") {
    const directory files;
    const std::string file = files / "tree.topo";
    check_success(run(words{"ibnetdiscover", file} + tree));
    const std::string hosts = run({"ibhosts", file}).out;
    CHECK(run({"ibhosts", "-C", "mlx5_0", "-P", "1", file}).out == hosts);
    CHECK(run({"ibhosts", "--Ca", "mlx5_0", file, "--Port", "1", "-t", "200"}).out == hosts);
}

// libibtool of python-rdma: perfquery.py, inquiry.py and saquery.py.
TEST_CASE("commands accept the option names of python-rdma") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    const std::pair<words, words> pairs[] = {
        {{"ibswportwatch", "9", "1", "-n", "1", "--threshold"}, {"ibswportwatch", "9", "1", "-n", "1", "-t"}},
        {{"ibswportwatch", "9", "1", "-n", "1", "--delta"}, {"ibswportwatch", "9", "1", "-n", "1", "-b"}},
        {{"query", "SubnGet", "PortInfo", "9", "--attribute-id", "1"},
         {"query", "SubnGet", "PortInfo", "9", "-a", "1"}},
        {{"saquery", "--src-to-dst", "1:8", "-f", "0"}, {"saquery", "--src-to-dst", "1:8", "-F", "0"}},
    };
    for (const auto& [theirs, ours] : pairs) {
        CAPTURE(theirs);
        const process_result a = run(theirs + fabric), b = run(ours + fabric);
        check_success(a);
        CHECK(a.out == b.out);
    }
}

TEST_CASE("the options -v and -d report on stderr what was sent") {
    // Two hosts and a cable: NodeInfo, NodeDescription and PortInfo of each host.
    for (const char* option : {"-v", "--verbose", "--verbosity"}) {
        for (const words& command : commands) {
            const process_result r = run(command + words{option, "--fabric", "sim:single", "--outstanding", "7"});
            CHECK(r.status == 0);
            CHECK_THAT(r.err, StartsWith("6 MADs sent, 0 retries, 0 timeouts, ") && Contains(", window 7\n"));
            CHECK(r.out.find("MADs sent") == std::string::npos);
        }
    }
    const process_result dead = run(dead_host + words{"ibhosts", "-v", "--retries", "4"});
    CHECK_THAT(dead.err, Contains(" MADs sent, 4 retries, 1 timeouts, "));
}

TEST_CASE("an unresponsive host costs about a second by default, or the requested timeout") {
    const auto seconds_of = [](const process_result& r) {
        const std::size_t at = r.err.find(" timeouts, ");
        REQUIRE(at != std::string::npos);
        return std::stod(r.err.substr(at + 11));
    };
    const process_result measured = run(dead_host + words{"ibhosts", "-v"});
    const process_result fixed = run(dead_host + words{"ibhosts", "-v", "--timeout", "1s"});
    CHECK(measured.status == 3);
    CHECK(measured.out == fixed.out);
    CHECK(seconds_of(measured) >= 1);
    CHECK(seconds_of(measured) < 1.3);
    CHECK(seconds_of(fixed) >= 3);
}

TEST_CASE("the options --max-rate and --polite slow a discovery down and do not change the result") {
    const words at{"--fabric", "sim:fattree3,radix=4,time=virtual"};
    const process_result plain = run(words{"ibnetdiscover", "-v"} + at);
    const process_result polite = run(words{"ibnetdiscover", "--polite", "--outstanding", "adaptive"} + at);
    const process_result slow = run(words{"ibnetdiscover", "-v", "--max-rate", "1000"} + at);
    CHECK(plain.status == 0);
    CHECK(topology_of(slow) == topology_of(plain));
    CHECK(topology_of(polite) == topology_of(plain));
    CHECK_THAT(plain.err, Contains(", 0.00"));
    unsigned sent = 0;
    double seconds = 0;
    REQUIRE(std::sscanf(slow.err.c_str(), "%u MADs sent, %*u retries, %*u timeouts, %lf s", &sent, &seconds) == 2);
    CHECK(seconds >= (sent - 2) / 1000.0); // the first MAD is sent at time 0, and another one at once
    CHECK(seconds < (sent + 10) / 1000.0);
}

TEST_CASE("help and version go to stdout, before and after a command") {
    for (const words& arguments :
         {words{"-h"}, words{"--help"}, words{"-V"}, words{"--version"}, words{"ibhosts", "-h"}, words{"ibhosts", "-V"},
          words{"ibnetdiscover", "--help"}, words{"-h", "ibnetdiscover"}}) {
        CAPTURE(arguments);
        const process_result r = run(arguments);
        check_success(r);
        CHECK_THAT(r.out, Contains("ibtool") || Contains("ibhosts") || Contains("ibnetdiscover"));
    }
    CHECK_THAT(run({"--help"}).out, Contains("\nExit status:\n"));
}

TEST_CASE("the fabric may come from IBTOOL_FABRIC, and --fabric overrides the variable") {
    const process_result two = run_process({"IBTOOL_FABRIC=sim:single", ibtool_program(), "ibhosts"});
    check_success(two);
    CHECK(lines_of(two.out).size() == 2);
    const process_result eight = run_process(words{"IBTOOL_FABRIC=sim:single", ibtool_program(), "ibhosts"} + tree);
    check_success(eight);
    CHECK(lines_of(eight.out).size() == 8);
    check_failure(run_process({"IBTOOL_FABRIC=token-ring", ibtool_program(), "ibhosts"}), 2,
                  "invalid fabric 'token-ring'");
}

TEST_CASE("a node name map renames nodes in every command") {
    const directory files;
    const std::string map = files.write("names", "# GUID \"name\"\n0x0002c90300000100 \"the first host\"\n");
    for (const char* command : {"ibnetdiscover", "ibhosts", "ibnodes"}) {
        const process_result r = run(tree + words{command, "--node-name-map", map});
        check_success(r);
        CHECK_THAT(r.out, Contains("\"the first host\"") && !Contains("h-0001"));
    }

    // An invalid line is reported once, and all other lines are used.
    std::string bad;
    for (int i = 0; i < 7; ++i) bad += "nonsense\n";
    const std::string half = files.write("half", "nonsense\n0x0002c90300000100 \"the first host\"\n");
    const std::string many = files.write("many", bad);
    const words kinds[] = {{"ibnetdiscover"},          {"iblinkinfo"}, {"smpquery", "nodedesc", "0,"},
                           {"ibtracert", "0,", "0,1"}, {"sweep"},      {"health", "--for", "10ms"}};
    for (const words& command : kinds) {
        CAPTURE(command);
        const words managed{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
        const process_result r = run(managed + command + words{"--node-name-map", half});
        CHECK(r.status == 0);
        CHECK(r.err ==
              "ibtool: " + half + ":1: invalid line of a node name map; expected 0xGUID \"name\"; line ignored\n");
        if (command[0] != "health") CHECK_THAT(r.out, Contains("the first host"));
    }
    const process_result r = run(tree + words{"ibhosts", "--node-name-map", many});
    CHECK(r.status == 0);
    CHECK_THAT(r.err, Contains("many:5: ") && EndsWith("\nibtool: ... and 2 more lines ignored\n"));
}

TEST_CASE("an unresponsive node makes the result partial, and the failure is reported") {
    const words whole = lines_of(run(tree + words{"ibhosts"}).out);
    const process_result r = run(dead_host + words{"ibhosts"});
    CHECK(r.status == 3);
    words rest = whole;
    std::erase_if(rest, [](const std::string& line) { return line.find("\"h-0003 HCA-1\"") != std::string::npos; });
    CHECK(rest.size() == 7);
    CHECK(lines_of(r.out) == rest);
    // The third host is the first host on the second leaf.
    CHECK_THAT(r.err, StartsWith("ibtool: S-") && Contains("\"leaf-0002\"[1]: no reply from the neighbor") &&
                          EndsWith("\nibtool: partial result: 1 failure\n"));
    CHECK(lines_of(r.err).size() == 2);

    for (const words& command : commands) CHECK(run(dead_host + command).status == 3);
    const process_result topology = run(dead_host + words{"ibnetdiscover"});
    CHECK(lines_starting(topology.out, "Ca\t") == 7);
    CHECK(lines_starting(topology.out, "Switch\t") == 6);
}

TEST_CASE("an unresponsive local port is a failure and not a partial result") {
    check_failure(run({"ibhosts", "--fabric", "sim:single,time=virtual,dead=h-0001 HCA-1"}), 1,
                  "the local port does not reply");
}

TEST_CASE("the JSON of a discovery is one object with every node, link and failure") {
    using nlohmann::json;
    const process_result r = run(tree + words{"ibnetdiscover", "--json"});
    check_success(r);
    const json whole = json::parse(r.out);
    CHECK(whole.at("schema") == "comad.subnet/1");
    CHECK(whole.at("complete") == true);
    CHECK(whole.at("problems").empty());
    CHECK(whole.at("counts") == json{{"switches", 6}, {"CAs", 8}, {"routers", 0}, {"links", 16}});
    CHECK(whole.at("start").at("nodeGUID") == "0002:c903:0000:0100");

    // The peer of each port has this port as its peer.
    std::map<std::string, json> nodes;
    for (const json& node : whole.at("nodes")) nodes[node.at("nodeGUID")] = node;
    CHECK(nodes.size() == 14);
    std::size_t ends = 0;
    for (const auto& [guid, node] : nodes) {
        for (const json& port : node.at("ports")) {
            if (!port.contains("peer")) continue;
            ++ends;
            const json& peer = port.at("peer");
            bool back = false;
            for (const json& other : nodes.at(peer.at("nodeGUID")).at("ports")) {
                if (other.at("port") == peer.at("port")) {
                    back = other.at("peer") == json{{"nodeGUID", guid}, {"port", port.at("port")}};
                }
            }
            CHECK(back);
        }
    }
    CHECK(ends == 2 * 16);

    const process_result holed = run(dead_host + words{"ibnetdiscover", "--json"});
    CHECK(holed.status == 3);
    const json partial = json::parse(holed.out);
    CHECK(partial.at("complete") == false);
    CHECK(partial.at("counts").at("CAs") == 7);
    REQUIRE(partial.at("problems").size() == 1);
    CHECK(partial.at("problems")[0].at("kind") == "timeout");
    CHECK(partial.at("problems")[0].at("port") == 1);
    CHECK(nodes.at(partial.at("problems")[0].at("nodeGUID")).at("description") == "leaf-0002");
}

TEST_CASE("control characters of a node description do not reach the terminal") {
    const directory files;
    const std::string file = files.write("evil.topo", "caguid=0xa\n"
                                                      "Ca 1 \"H-a\" # \"clear\033[2J bell\a caf\u00e9\"\n"
                                                      "[1] \"S-c\"[1]\n\n"
                                                      "caguid=0xb\n"
                                                      "Ca 1 \"H-b\" # \"\b\x7f\u009b2J\u202e\xff\"\n"
                                                      "[1] \"S-c\"[2]\n\n"
                                                      "switchguid=0xc\n"
                                                      "Switch 2 \"S-c\" # \"title\033]0;root\a\"\n"
                                                      "[1] \"H-a\"[1]\n"
                                                      "[2] \"H-b\"[1]\n");
    const words fabric{"--fabric", "sim:" + file + ",time=virtual"};
    const words letters[] = {{}, {"-f"}, {"-l"}, {"-p"}, {"--json"}};
    std::vector<words> all;
    for (const words& letter : letters) all.push_back(words{"ibnetdiscover"} + letter + fabric);
    for (const char* command : {"ibhosts", "ibswitches", "ibnodes"}) {
        all.push_back(words{command} + fabric);
        all.push_back({command, file});
    }
    all.push_back({"ibnodes", "--fabric", "sim:" + file + ",time=virtual,dead=H-b", "-v"});
    for (const words& arguments : all) {
        CAPTURE(arguments);
        const process_result r = run(arguments);
        CHECK((r.status == 0 || r.status == 3));
        for (const std::string& text : {r.out, r.err}) {
            CHECK(std::none_of(text.begin(), text.end(), [](char c) {
                return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
            }));
            for (const char* obeyed : {"\u009b", "\u202e"}) CHECK(text.find(obeyed) == std::string::npos);
        }
    }
    const std::string hosts = run(words{"ibhosts"} + fabric).out;
    CHECK_THAT(hosts, Contains("\"clear\\x1b[2J bell\\x07 caf\u00e9\"") && Contains("\"\\x08\\x7f\\xc2\\x9b2J"));
    CHECK_THAT(run(words{"ibswitches"} + fabric).out, Contains("\"title\\x1b]0;root\\x07\""));
}

TEST_CASE("output that cannot be written is a failure") {
    const auto through_shell = [](const std::string& script, const words& arguments) {
        return run_process(words{"bash", "-o", "pipefail", "-c", script, "sh", "env"} + ibtool(arguments));
    };
    for (const words& command : commands) {
        check_failure(through_shell("exec \"$@\" > /dev/full", tree + command), 1, "No space left on device");
        check_failure(through_shell("exec \"$@\" >&-", tree + command), 1, "cannot write all of the output to stdout");
    }
    check_failure(run(tree + words{"ibnetdiscover", "/dev/full"}), 1, "'/dev/full': No space left on device");

    // The output is longer than the buffer of a pipe, and the reader exits after the first byte.
    const process_result r =
        through_shell("\"$@\" | head -c 1", {"ibnetdiscover", "--fabric", "sim:fattree2,radix=36"});
    CHECK(r.status == 141); // SIGPIPE, as with other programs
    CHECK(r.out == "#");
    CHECK(r.err.empty());

    for (const words& printed : {words{"--version"}, words{"--help"}, words{"ibhosts", "--help"}, words{"help"}})
        check_failure(through_shell("exec \"$@\" > /dev/full", printed), 1, "No space left on device");
}

TEST_CASE("progress appears on a terminal after a second and is cleared") {
    // The third host does not reply to NodeInfo, which takes 1.5 seconds.
    process health(ibtool({"health", "--for", "1200ms", "--fabric", "sim:single,sm=1"}), error_stream::terminal);
    const words slow{"ibhosts", "--fabric", "sim:fattree2,radix=4,dead=h-0003 HCA-1", "-t", "500ms"};
    process on_terminal(ibtool(slow), error_stream::terminal);
    process elsewhere(ibtool(slow));
    const process_result shown = on_terminal.wait();
    const process_result silent = elsewhere.wait();
    CHECK(shown.status == 3);
    CHECK_THAT(shown.err, StartsWith("\r\033[Kdiscovering: 13 nodes, "));
    const std::size_t cleared = shown.err.rfind("\r\033[K");
    REQUIRE(cleared != std::string::npos);
    CHECK(shown.err.substr(cleared + 4) == silent.err); // the text that stays on the terminal
    CHECK(lines_of(silent.err).size() == 2);
    CHECK(silent.err.find("discovering") == std::string::npos);
    CHECK(shown.out == silent.out);

    const process_result quick = run_process(ibtool({"ibhosts", "--fabric", "sim:single"}), error_stream::terminal);
    CHECK(quick.status == 0);
    CHECK(quick.err.empty());
    CHECK_THAT(health.wait().err, Contains(" of 1 s") && !Contains("MADs sent"));
}

TEST_CASE("a misspelled option gets at most three suggestions, and a surplus argument is named") {
    const process_result wrong = run({"sweep", "--evry", "1s"});
    check_failure(wrong, 2, "unknown option '--evry'; similar: --every, ");
    CHECK(std::ranges::count(wrong.err, ',') == 2);
    CHECK_THAT(wrong.err, EndsWith("; see ibtool sweep --help\n"));
    check_failure(run({"ibhosts", "--max-rate"}), 2, "--max-rate requires a value: 0..100000000; see ibtool help");
    check_failure(run({"sweep", "--every"}), 2, "--every requires a value: DURATION; see ibtool help");
    check_failure(run({"iblinkinfo", "--lines=3"}), 2, "unknown option '--lines'; similar: --line, ");
    check_failure(run({"ibhosts", "file", "surplus\x1b"}), 2,
                  "unexpected argument 'surplus\\x1b'; see ibtool ibhosts --help");
}

TEST_CASE("help to a pager or a file has no line of more than 132 columns") {
    for (const char* command : {"saquery", "ibccconfig", "ibccquery", "ibportstate", "sweep"}) {
        CAPTURE(command);
        const std::string help = run({command, "--help"}).out;
        // The lines of examples may be longer.
        for (const std::string& line : lines_in_order(help.substr(0, help.find("\nExamples:"))))
            CHECK(line.size() <= 132);
    }
}

TEST_CASE("SIGINT and SIGTERM end a discovery soon with a partial result") {
    for (const int number : {SIGINT, SIGTERM}) {
        process running(ibtool({"ibhosts", "--fabric", "sim:fattree2,radix=4,dead=h-0003 HCA-1", "-t", "1000s"}),
                        error_stream::terminal);
        running.await_error("discovering: 13 nodes");
        running.signal(number);
        const process_result r = running.wait(std::chrono::seconds(10));
        CHECK(r.status == 3);
        CHECK(lines_starting(r.out, "Ca\t: 0x") == 7);
        CHECK_THAT(r.err, Contains("ibtool: stopped before") && EndsWith("ibtool: partial result: 1 failure\n"));
    }
}

} // namespace ibtool_test
