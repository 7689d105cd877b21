// SPDX-License-Identifier: MIT
// other_parsers_test.cpp - what other projects expect of infiniband-diags' output, read as they read it: the fields and patterns are
// theirs (facts), the parsers and what must come out of a subnet whose cables are known are ours.
#include "virtual_device.hpp"

#include <map>
#include <regex>
#include <set>

namespace other_parsers_test { // compiled together with others

using namespace ibtool_rig;

namespace {

// Four leaves with two hosts at ports 1 and 2, two spines at ports 3 and 4, whose ports 1 to 4 go to the leaves.
const std::string fabric = "sim:fattree2,radix=4,sm=1,time=virtual";

words fields_of(const std::string& line) {
    std::istringstream in(line);
    words all;
    for (std::string word; in >> word;) all.push_back(word);
    return all;
}

words between_quotes(const std::string& line, char quote) {
    words all;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, quote);) all.push_back(part);
    return all;
}

} // namespace

// Slurm_tools' slurmibtopology.sh: awk over `ibnetdiscover -S -p`. Of a line that begins with SW, field 4 is the switch, 5 the width
// (?? where nothing is up), 8 the kind of neighbour and 11 its GUID; between single quotes stand the two descriptions, of which
// the neighbour's first word is its host.
TEST_CASE("a Slurm topology generator finds the hosts of each leaf and the leaves of each spine") {
    struct found_switch {
        std::string name;
        std::set<std::string> hosts;
        std::map<std::string, int> links;
    };
    std::map<std::string, found_switch> switches;
    const process_result r = run({"ibnetdiscover", "-S", "-p", "--fabric", fabric});
    check_success(r);
    for (const std::string& line : lines_in_order(r.out)) {
        const words f = fields_of(line);
        if (f.empty() || f[0] != "SW") continue;
        REQUIRE(f.size() > 5);
        const words quoted = between_quotes(line, '\'');
        found_switch& s = switches[f[3]];
        s.name = quoted.at(1);
        if (f[4] == "??") continue;
        REQUIRE(f.size() > 11);
        if (f[7] == "CA") s.hosts.insert(fields_of(quoted.at(3)).front());
        else if (f[7] == "SW") ++s.links[f[10]];
    }
    REQUIRE(switches.size() == 6);
    std::map<std::string, std::string> GUID_of;
    for (const auto& [GUID, s] : switches) GUID_of[s.name] = GUID;
    for (int leaf = 1; leaf <= 4; ++leaf) {
        const found_switch& s = switches.at(GUID_of.at("leaf-000" + std::to_string(leaf)));
        CHECK(s.hosts ==
              std::set<std::string>{"h-000" + std::to_string(2 * leaf - 1), "h-000" + std::to_string(2 * leaf)});
        CHECK(s.links == std::map<std::string, int>{{GUID_of.at("spine-0001"), 1}, {GUID_of.at("spine-0002"), 1}});
    }
    for (const char* spine : {"spine-0001", "spine-0002"}) {
        const found_switch& s = switches.at(GUID_of.at(spine));
        CHECK(s.hosts.empty());
        CHECK(s.links.size() == 4);
    }
}

// The same script goes on if `ibstat -l` ends with 0. Health checks of hosts read `ibstat`: below `CA 'NAME'` and `Port N:` lines of a
// name, a colon and a value, of which State, Physical state, Rate (a number), Base lid, SM lid and Link layer are compared.
TEST_CASE("a health check of a host finds its port Active, up and at its rate") {
    if (!has_devices()) return;
    const auto properties_in = [](const std::string& text) {
        std::map<std::string, std::string> found;
        std::string where;
        for (const std::string& line : lines_in_order(text)) {
            std::smatch m;
            if (std::regex_match(line, m, std::regex("CA '(.*)'"))) where = m[1].str() + '/';
            else if (std::regex_match(line, m, std::regex("\\s*Port ([0-9]+):"))) where += m[1].str() + ' ';
            else if (std::regex_match(line, m, std::regex("\\s*([^:]+): *(.*?)\\s*"))) found[where + m[1].str()] = m[2];
        }
        return found;
    };
    const std::string subnet = "sim:fattree2,radix=4,sm=1";
    CHECK(in_shell(subnet, "$IBTOOL ibstat -l >/dev/null").status == 0);
    const process_result r = in_shell(subnet, "$IBTOOL ibstat; echo =====; ibstat; echo =====");
    INFO(r.err);
    const words said = parts_of(r.out);
    REQUIRE(said.size() == 2);
    const auto ours = properties_in(said[0]);
    CHECK(ours == properties_in(said[1]));
    CHECK(ours.at("vib0/1 State") == "Active");
    CHECK(ours.at("vib0/1 Physical state") == "LinkUp");
    CHECK(ours.at("vib0/1 Rate") == "100"); // 4x EDR
    CHECK(ours.at("vib0/1 Base lid") == "1");
    CHECK(ours.at("vib0/1 SM lid") == "1");
    CHECK(ours.at("vib0/1 Link layer") == "InfiniBand");
    CHECK(ours.at("vib0/Number of ports") == "1");
}

// infiniband-exporter (guilbaults): ibqueryerrors with these options, cut at `Errors for "NAME"` or `Errors for 0xGUID "NAME"`. A switch
// begins with the sum of its ports; then two lines belong together, of a port and of its link, which is taken where it is Active.
TEST_CASE("an exporter around ibqueryerrors finds each counter of each end of each link") {
    const process_result r =
        run({"ibqueryerrors", "--verbose", "--details", "--suppress-common", "--data", "--report-port", "--switch",
             "--ca", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3,traffic=1000,errors=1:50"});
    INFO(r.err);
    CHECK(r.status <= 1); // 1: some counter is above its threshold
    const std::regex header("Errors for (?:0[x][0-9a-f]+ )?\"(.*)\""),
        all_ports("\\s*GUID 0x[0-9a-f]+ port ALL: (?:\\[.*\\])+"), port_line("\\s*GUID (0x.*) port ([0-9]+):(.*)"),
        link_line("\\s*Link info:\\s+([0-9]+)\\s+([0-9]+)\\[\\s+\\] ==\\(.*"),
        active("\\s*Link info:\\s+([0-9]+)\\s+([0-9]+).*([0-9])X\\s+([0-9.]*) Gbps.* Active/  "
               "LinkUp.*(0x[0-9a-f]+)\\s+([0-9]+)\\s+"
               "([0-9]+).*\"(.*)\".*"),
        counter("\\[(\\w+) == ([0-9]+).*?\\]");
    struct link {
        std::string peer, peer_port, width;
        std::set<std::string> counters;
    };
    std::map<std::string, std::map<std::string, link>> links; // by name, by port
    std::string name;
    words lines;
    std::smatch m;
    const auto take_node = [&] {
        if (name.empty()) return;
        CAPTURE(name);
        std::size_t at = 0;
        const bool is_switch = !name.starts_with("h-");
        if (is_switch) {
            REQUIRE(std::regex_match(lines.at(0), all_ports));
            at = 1;
        }
        for (; at + 1 < lines.size(); at += 2) {
            const std::string &port = lines[at], &its_link = lines[at + 1];
            if (port.empty() || port.find("##") != port.npos) {
                CHECK((its_link.empty() || its_link.find("##") != its_link.npos));
                continue;
            }
            CAPTURE(port, its_link);
            REQUIRE(std::regex_match(port, m, port_line));
            const std::string number = m[2], counters = m[3];
            if (number == "0") continue;
            CHECK(std::regex_match(its_link, link_line));
            std::smatch l;
            if (!std::regex_match(its_link, l, active)) continue;
            link& found = links[name][number];
            found = {l[8], l[7], l[3], {}};
            for (std::sregex_iterator c(counters.begin(), counters.end(), counter), end; c != end; ++c)
                found.counters.insert((*c)[1]);
        }
        if (at < lines.size()) CHECK_THAT(lines[at], Contains("##"));
    };
    const words all = lines_in_order(r.out);
    REQUIRE(std::regex_match(all.at(0), header)); // it is cut there: nothing may stand before
    for (const std::string& line : all) {
        if (std::regex_match(line, m, header)) {
            const std::string next = m[1];
            take_node();
            name = next;
            lines.clear();
        } else {
            lines.push_back(line);
        }
    }
    take_node();
    // A line on stderr that it does not know makes the scrape one with errors: of -v they are what it cost.
    CHECK(run({"ibqueryerrors", "--details", "--data", "--report-port", "--switch", "--ca", "--fabric", fabric})
              .err.empty());
    CHECK(links.size() == 14);
    for (const auto& [node, ports] : links) {
        CAPTURE(node);
        CHECK(ports.size() == (node.starts_with("h-") ? 1 : 4));
        for (const auto& [number, l] : ports) {
            CAPTURE(number);
            CHECK(l.width == "4");
            for (const char* data : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"})
                CHECK(l.counters.contains(data));
            // Each end tells of the other.
            const link& other = links.at(l.peer).at(l.peer_port);
            CHECK(other.peer == node);
            CHECK(other.peer_port == number);
        }
    }
}

} // namespace other_parsers_test
