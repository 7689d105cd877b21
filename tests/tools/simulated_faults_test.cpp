// SPDX-License-Identifier: MIT
// simulated_faults_test.cpp - keys of the simulator and names of fabrics, as commands see them. The routes of the
// simulated subnet manager are compared with the routes of OpenSM.
#include "kernel/virtual_device.hpp"

#include <algorithm>
#include <map>

namespace simulated_faults_test {

using namespace ibtool_rig;

namespace {

const std::string tree = "sim:fattree2,radix=8,sm=1,time=virtual"; // 32 hosts, 8 leaves, 4 spines

/// Returns the sections of `check_lft_balance -v`, sorted: a line with the switch and a line for each port.
std::vector<std::string> sections_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.find("Switch Port Usage") != line.npos) all.push_back(line);
        else if (line.starts_with("Port ") && !all.empty()) all.back() += '\n' + line;
    }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("check_lft_balance accepts spread routes, which have the same loads as the routes of OpenSM's minhop") {
    const process_result spread = run({"check_lft_balance", "--fabric", tree + ",routes=spread"});
    CHECK(spread.status == 0);
    CHECK(spread.out.empty());
    const process_result shortest = run({"check_lft_balance", "--fabric", tree});
    CHECK(shortest.status == 1);
    CHECK_THAT(shortest.out, StartsWith("Unbalanced Switch Port Usage: "));
    check_success(run({"ibcheckroutes", "--fabric", tree + ",routes=spread"}));
    if (!has_devices() || !is_installed("opensm")) return;
    const process_result by_opensm =
        in_shell("sim:fattree2,radix=8", "d=$(mktemp -d); trap 'rm -rf $d' EXIT\n"
                                         "OSM_TMP_DIR=$d opensm -o -R minhop -f $d/log >/dev/null 2>&1\n"
                                         "$IBTOOL check_lft_balance -v 2>/dev/null\n");
    INFO(by_opensm.err);
    const auto expected = sections_of(by_opensm.out);
    CHECK(expected.size() == 12);
    CHECK(sections_of(run({"check_lft_balance", "-v", "--fabric", tree + ",routes=spread"}).out) == expected);
}

TEST_CASE("spread routes use every direction of every link of a fat tree with three levels, as OpenSM's ftree does") {
    const std::string large =
        "sim:fattree3,radix=8,sm=1,time=virtual"; // minhop leaves 192 of 512 directions without a route
    CHECK_THAT(run({"ibcheckroutes", "--fabric", large + ",routes=spread"}).out,
               Contains("16256 routes checked, 0 cut") &&
                   Contains(" and 112 to 124 routes; 0 directions without a route") && Contains(", 0 credit loops"));
    CHECK_THAT(run({"ibcheckroutes", "--fabric", large}).out, !Contains("; 0 directions without a route"));
}

TEST_CASE("iblinkinfo shows what a narrow and a slow link could be") {
    const std::string links =
        run({"iblinkinfo", "-l", "--fabric", tree + ",narrow=leaf-0001/5:1x,speed=leaf-0001/6:QDR"}).out;
    CHECK_THAT(links, Contains("( 1X      25.78125 Gbps Active/  LinkUp)") && Contains("(Could be 4X )"));
    CHECK_THAT(links, Contains("( 4X          10.0 Gbps Active/  LinkUp)") && Contains("( Could be 25.78125 Gbps)"));
}

TEST_CASE("ibqueryerrors reports the errors of a port with a bit error rate, and none of its neighbor") {
    // 4x QDR: 40 Gb/s, so 1e-9 is 40 errors per second at one end.
    const process_result r = run({"ibqueryerrors", "--fabric", tree + ",speed=QDR,ber=leaf-0001/5:1e-9,delay=100ms"});
    CHECK_THAT(r.out,
               Contains("\"leaf-0001\"\n") && Contains(" port 5: [SymbolErrorCounter == ") && !Contains("spine"));
    CHECK_THAT(r.out, Contains("1 ports have errors beyond threshold"));
}

TEST_CASE("a fabric with a name of its own has this name in the label fabric") {
    const directory d;
    const std::string other = "sim:single,sm=1,time=virtual", file = d / "sweep.prom";
    const auto fabrics_in = [&] {
        std::map<std::string, int> ports;
        std::istringstream in(read_file(file));
        for (std::string line; std::getline(in, line);) {
            const std::string begin = "infiniband_port_xmit_packets_total{fabric=\"";
            if (line.starts_with(begin))
                ++ports[line.substr(begin.size(), line.find('"', begin.size()) - begin.size())];
        }
        return ports;
    };
    check_success(run({"sweep", "--fabric", "compute=" + tree, "--fabric", "storage=" + other, "--prometheus", file}));
    const auto both = fabrics_in();
    CHECK(both.size() == 2);
    CHECK(both.at("storage") == 2);
    CHECK(both.at("compute") > 2);
    check_success(run({"sweep", "--fabric", "storage=" + other, "--fabric", tree, "--prometheus", file}));
    CHECK(fabrics_in().contains(tree));
    check_success(run({"sweep", "--fabric", "lab.1=" + other, "--prometheus", file}));
    CHECK(fabrics_in() == std::map<std::string, int>{{"lab.1", 2}});
    CHECK(run({"ibhosts", "--fabric", "lab=" + other}).out == run({"ibhosts", "--fabric", other}).out);

    check_failure(run({"sweep", "--fabric", "a=" + tree, "--fabric", "a=" + other, "--prometheus", file}), 2,
                  "--fabric: the name 'a' is given twice; use a different name");
    check_failure(run({"ibhosts", "--fabric", "a b=" + other}), 2, "--fabric: invalid name in 'a b=sim:single,sm=1");
    check_failure(run({"ibhosts", "--fabric", "=" + other}), 2, "expected NAME=FABRIC with a NAME of letters, digits");
    check_failure(run({"ibhosts", "--fabric", "a=b"}), 2, "invalid fabric 'b'; expected umad");
}

} // namespace simulated_faults_test
