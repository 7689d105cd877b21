// SPDX-License-Identifier: MIT
// usage_errors_test.cpp - messages about invalid command lines have one line and no control characters.
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace usage_errors_test {

using namespace ibtool_rig;

namespace {

// A path in a directory that does not exist, so that no command creates the file. It contains ESC, a line break, CSI as
// UTF-8, and a byte that is invalid UTF-8.
const std::string evil = "/missing-\x1b[31m\nevil line\xc2\x9b\x9d/x";
const words fabric{"--fabric", "sim:single,sm=1,time=virtual"};

/// Returns true if a text contains no control character and no line break of `evil`.
bool is_harmless(const std::string& text) {
    return text.find('\x1b') == text.npos && text.find("\nevil") == text.npos && text.find("\xc2\x9b") == text.npos &&
           text.find('\x9d') == text.npos;
}

/// An option with a value.
struct option {
    std::string command, name;
};

/// Returns each option once, even if several commands have it. Global options have an empty command.
std::vector<option> options_with_values() {
    std::set<std::string> seen;
    std::vector<option> all;
    for (const std::string& line : lines_in_order(run({"help", "--arguments"}).out)) {
        const nlohmann::json o = nlohmann::json::parse(line);
        const std::string names = o.at("argument"), help = o.at("help");
        if (!names.starts_with('-') || o.at("flag") || !seen.insert(names + help).second) continue;
        all.push_back({o.at("command"), names.substr(names.rfind(',') + 1)});
    }
    return all;
}

} // namespace

TEST_CASE("no error message contains a control character or a line break of the command line") {
    unsigned refused = 0;
    const auto examine = [&](const words& command) {
        CAPTURE(command);
        const process_result r = run(command);
        refused += r.status != 0;
        CHECK(is_harmless(r.err));
        CHECK(is_harmless(r.out));
    };
    for (const words& command : {words{evil},
                                 words{"--" + evil},
                                 words{"-" + evil},
                                 words{"help", evil},
                                 words{"ibhosts", evil},
                                 words{"ibhosts", "--" + evil},
                                 words{"smpquery", evil},
                                 words{"smpquery", "NI", evil},
                                 words{"query", evil, "NodeInfo"},
                                 words{"query", "SubnGet", evil},
                                 words{"query", "SubnGet", "PortInfo", "0,", "-f", evil},
                                 words{"saquery", evil},
                                 words{"saquery", "NR", evil},
                                 words{"decode", evil},
                                 words{"decode", "--struct", "SMPNodeInfo", evil},
                                 words{"encode", "--struct", "SMPNodeInfo", evil},
                                 words{"encode", "--struct", "SMPNodeInfo", "{" + evil},
                                 words{"describe", evil},
                                 words{"ibportstate", "0,", "1", evil},
                                 words{"ibroute", "0,1", evil},
                                 words{"vumad", evil},
                                 words{"vumad", "--fabric", "sim:single", "true", "-" + evil},
                                 words{"ibhosts", "--fabric", evil},
                                 words{"ibhosts", "--fabric", "sim:" + evil},
                                 words{"ibhosts", "--fabric", "umad:" + evil},
                                 words{"ibhosts", "--fabric", "ibsim:" + evil}})
        examine(command + (command.size() > 2 && command[1] == "--fabric" ? words{} : fabric));
    sampled sample;
    for (const option& o : options_with_values()) {
        if (o.name == "--fabric" || (!o.command.empty() && sample.skips())) continue;
        examine(words{o.command.empty() ? "ibhosts" : o.command, o.name, evil} + fabric);
    }
    CHECK(refused > (other_program() ? 30 : 60)); // with a sanitizer, only a sample runs
}

TEST_CASE("an option with an empty value is refused, unlike a missing option") {
    for (const words& command :
         {words{"sweep", "--listen", ""}, words{"sweep", "--listen="}, words{"sweep", "--listen", ":0", "--auth", ""},
          words{"sweep", "--prometheus", ""}, words{"sweep", "--rules", ""}, words{"ibnetdiscover", "--cache", ""},
          words{"ibhosts", "--pcap", ""}, words{"ibhosts", "--subnet-cache", ""}, words{"ibhosts", "--fabric", ""}}) {
        CAPTURE(command);
        const process_result r = run(command + (command[1] == "--fabric" ? words{} : fabric));
        CHECK(r.status == 2);
        CHECK(r.out.empty());
        CHECK_THAT(r.err, StartsWith("ibtool: --") && EndsWith("\n"));
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    }
    check_failure(run(words{"sweep", "--listen", ""} + fabric), 2, "--listen: must not be empty");
}

TEST_CASE("an option for the program that vumad runs is refused with a hint about the two dashes") {
    const words vumad{"vumad", "--fabric", "sim:single"};
    for (const words& program : {words{"sh", "-c", "true"}, words{"ls", "--all-of-it"}, words{"ibnetdiscover", "-x"}}) {
        const std::string option = program[1];
        check_failure(
            run(vumad + program), 2,
            fmt::format("unknown option '{}'; if it belongs to the program that vumad runs, write -- before the "
                        "program: ibtool vumad [OPTIONS] -- PROGRAM {}",
                        option, option));
    }
    check_failure(run({"ibhosts", "--all-of-it"}), 2, "unknown option '--all-of-it'; similar: ");
}

TEST_CASE("ibroute stops resolving names after many failures and prints the rows") {
    const auto fabric_at_switch = [](const char* more) {
        return words{"--fabric", std::string("sim:fattree3,radix=16,sm=1,time=virtual,at=leaf-0128") + more};
    };
    const words whole = fabric_at_switch(""), dead = fabric_at_switch(",dead=0.9"); // 1,344 nodes
    const process_result all = run(words{"ibroute", "-n", "0,"} + dead), named = run(words{"ibroute", "0,"} + dead);
    check_success(all);
    CHECK(named.status == 0);
    const std::string before = "the names of ";
    const std::size_t at = named.err.find(before) + before.size();
    CHECK_THAT(named.err.substr(at), Contains(" destinations were not queried: ") &&
                                         EndsWith(" before them are unresponsive; -n queries no names\n"));
    CHECK(lines_in_order(named.out).size() == lines_in_order(all.out).size());
    // The queried part: 256 unresponsive nodes, the rest of their block, and the nodes that replied (one in ten).
    CHECK(std::stoul(named.err.substr(at)) > 1344 - (256 + 64) * 10 / 8);
    check_success(run(words{"ibroute", "0,"} + whole));
    check_success(run(words{"ibroute", "0,", "1", "100"} + dead)); // too few names for the limit
}

} // namespace usage_errors_test
