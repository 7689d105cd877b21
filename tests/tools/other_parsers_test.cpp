// SPDX-License-Identifier: MIT
// other_parsers_test.cpp - output about subnets and cables, parsed as other projects parse infiniband-diags. The fields
// and patterns are those of these projects (facts). The parsers and the expected results for a subnet with known cables
// are ours.
#include "kernel/virtual_device.hpp"
#include "wire/linked_names.hpp"

#include <map>
#include <regex>
#include <set>

namespace other_parsers_test {

using namespace ibtool_rig;

namespace {

/// Splits a line at blanks, as awk does.
words fields_of(const std::string& line) {
    std::istringstream in(line);
    words all;
    for (std::string word; in >> word;) all.push_back(word);
    return all;
}

/// Splits a line at a quote character.
words between_quotes(const std::string& line, char quote) {
    words all;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, quote);) all.push_back(part);
    return all;
}

} // namespace

// slurmibtopology.sh of Slurm_tools runs awk over `ibnetdiscover -S -p`. In a line that starts with SW, field 4 is the
// switch and field 5 the width (?? if the link is not up). Field 8 is the type of the neighbor and field 11 its GUID.
// Single quotes enclose the two descriptions. The first word of the neighbor's description is its host name.
TEST_CASE("a Slurm topology generator finds the hosts of each leaf and the leaves of each spine") {
    struct found_switch {
        std::string name;
        std::set<std::string> hosts;
        std::map<std::string, int> links;
    };
    std::map<std::string, found_switch> switches;
    const process_result r = linked().call("ibnetdiscover", {"-S", "-p"});
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
    std::map<std::string, std::string> guid_of;
    for (const auto& [GUID, s] : switches) guid_of[s.name] = GUID;
    for (int leaf = 1; leaf <= 4; ++leaf) {
        const found_switch& s = switches.at(guid_of.at("leaf-000" + std::to_string(leaf)));
        CHECK(s.hosts ==
              std::set<std::string>{"h-000" + std::to_string(2 * leaf - 1), "h-000" + std::to_string(2 * leaf)});
        CHECK(s.links == std::map<std::string, int>{{guid_of.at("spine-0001"), 1}, {guid_of.at("spine-0002"), 1}});
    }
    for (const char* spine : {"spine-0001", "spine-0002"}) {
        const found_switch& s = switches.at(guid_of.at(spine));
        CHECK(s.hosts.empty());
        CHECK(s.links.size() == 4);
    }
}

// The Slurm script continues only if `ibstat -l` exits with 0. Health checks of hosts read `ibstat`. Below the lines
// `CA 'NAME'` and `Port N:`, they read lines with a name, a colon and a value. They compare State, Physical state, Rate
// (a number), Base lid, SM lid and Link layer.
TEST_CASE("a host health check finds its port Active, up and at its rate") {
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
    const linked links;
    const std::string subnet = "sim:fattree2,radix=4,sm=1";
    CHECK(in_shell(subnet, links.first_in_path() + "ibstat -l >/dev/null").status == 0);
    const process_result r = in_shell(subnet, "ibstat; echo =====; " + links.first_in_path() + "ibstat; echo =====");
    INFO(r.err);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 2);
    const auto ours = properties_in(printed[1]);
    CHECK(ours == properties_in(printed[0]));
    CHECK(ours.at("vib0/1 State") == "Active");
    CHECK(ours.at("vib0/1 Physical state") == "LinkUp");
    CHECK(ours.at("vib0/1 Rate") == "100"); // 4x EDR
    CHECK(ours.at("vib0/1 Base lid") == "1");
    CHECK(ours.at("vib0/1 SM lid") == "1");
    CHECK(ours.at("vib0/1 Link layer") == "InfiniBand");
    CHECK(ours.at("vib0/Number of ports") == "1");
}

// infiniband-exporter (guilbaults) runs ibqueryerrors with these options and splits the output at `Errors for "NAME"`
// or `Errors for 0xGUID "NAME"`. The section of a switch starts with the sum of its ports. Then follow pairs of lines,
// one about a port and one about its link. The exporter uses a link if it is Active.
TEST_CASE("an exporter around ibqueryerrors finds each counter at each end of each link") {
    const linked links_of_diags;
    const process_result r = links_of_diags.call(
        "ibqueryerrors", {"--verbose", "--details", "--suppress-common", "--data", "--report-port", "--switch", "--ca"},
        linked_fabric + ",counters=3,traffic=1000,errors=1:50");
    INFO(r.err);
    CHECK(r.status <= 1); // 1: a counter is above its threshold
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
    std::map<std::string, std::map<std::string, link>> links; // by name and port
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
    REQUIRE(std::regex_match(all.at(0), header)); // the output must start with a header, because it is split there
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
    CHECK(r.err.empty()); // the exporter reports lines that it does not recognize as errors
    CHECK(links.size() == 14);
    for (const auto& [node, ports] : links) {
        CAPTURE(node);
        CHECK(ports.size() == (node.starts_with("h-") ? 1 : 4));
        for (const auto& [number, l] : ports) {
            CAPTURE(number);
            CHECK(l.width == "4");
            for (const char* data : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"})
                CHECK(l.counters.contains(data));
            // Each end reports the other end.
            const link& other = links.at(l.peer).at(l.peer_port);
            CHECK(other.peer == node);
            CHECK(other.peer_port == number);
        }
    }
}

// infiniband_exporter (by treydock, and its successor by SckyzO) runs `ibnetdiscover --ports` and splits the lines at
// blanks. In a line with a cable, fields 5 and 6 are the width and the name of the speed. From field 8 on follow the
// neighbor's type, LID, port and GUID. Two quoted names follow. For each device the exporter then runs `perfquery -l -x
// -G GUID PORTS`. Below the PortSelect of each port it reads lines with a name, one colon, dots and a number.
TEST_CASE("an exporter around ibnetdiscover and perfquery finds the counters of all cabled ports") {
    const linked links;
    const std::string fabric = linked_fabric + ",counters=3,cut=leaf-0002/3@0ms";
    const process_result r = links.call("ibnetdiscover", {"--ports"}, fabric);
    check_success(r);
    const std::regex names("\\( '(.+)' - '(.+)' \\)");
    struct device {
        std::string type, name;
        words ports;
    };
    std::map<std::string, device> devices; // by GUID
    std::map<words, words> other_ends;     // by GUID and port
    std::size_t unconnected = 0;
    for (const std::string& line : lines_in_order(r.out)) {
        const words f = fields_of(line);
        if (f.size() < 5) continue;
        CAPTURE(line);
        REQUIRE(f.size() > 5);
        if (f[5] == "???" || (f[5] == "SDR" && f.size() == 7)) {
            ++unconnected;
            continue;
        }
        CHECK(f[4] == "4x");
        CHECK(f[5] == "EDR");
        REQUIRE(f.size() > 10);
        std::smatch m;
        REQUIRE(std::regex_search(line, m, names));
        device& d = devices[f[3]];
        d.type = f[0];
        d.name = m[1];
        d.ports.push_back(f[2]);
        other_ends[{f[3], f[2]}] = {f[10], f[9]};
    }
    CHECK(unconnected == 2);
    CHECK(devices.size() == 14);
    CHECK(other_ends.size() == 30); // both ends of 15 cables; the test cuts one of 16
    for (const auto& [here, there] : other_ends) CHECK(other_ends.at(there) == here);

    for (const auto& [GUID, d] : devices) {
        CAPTURE(GUID, d.name);
        CHECK(d.type == (d.name.starts_with("h-") ? "CA" : "SW"));
        std::string ports;
        for (const std::string& p : d.ports) ports += (ports.empty() ? "" : ",") + p;
        const process_result reported = links.call("perfquery", {"-l", "-x", "-G", GUID, ports}, fabric);
        check_success(reported);
        std::map<std::string, std::map<std::string, std::string>> counters; // by port
        std::string port;
        for (const std::string& line : lines_in_order(reported.out)) {
            const words parts = between_quotes(line, ':');
            if (parts.size() != 2) continue;
            std::string value = parts[1];
            std::erase(value, '.');
            if (parts[0] == "PortSelect") port = value;
            else counters[port][parts[0]] = value;
        }
        CHECK(counters.size() == d.ports.size());
        for (const std::string& p : d.ports)
            for (const char* name : {"PortXmitData",
                                     "PortRcvData",
                                     "PortXmitPkts",
                                     "PortRcvPkts",
                                     "PortUnicastXmitPkts",
                                     "PortUnicastRcvPkts",
                                     "PortMulticastXmitPkts",
                                     "PortMulticastRcvPkts",
                                     "SymbolErrorCounter",
                                     "LinkErrorRecoveryCounter",
                                     "LinkDownedCounter",
                                     "PortRcvErrors",
                                     "PortRcvRemotePhysicalErrors",
                                     "PortRcvSwitchRelayErrors",
                                     "PortXmitDiscards",
                                     "PortXmitConstraintErrors",
                                     "PortRcvConstraintErrors",
                                     "LocalLinkIntegrityErrors",
                                     "ExcessiveBufferOverrunErrors",
                                     "VL15Dropped",
                                     "PortXmitWait",
                                     "QP1Dropped"}) {
                CAPTURE(p, name);
                CHECK(std::regex_match(counters.at(p).at(name), std::regex("[0-9]+")));
            }
    }
}

// Programs that print tables of links (InfiniBand-Fabric-Health-Check-Tools, HIL's reservations, a table of Exadata's
// switches and others) read `iblinkinfo -l`. A line starts with the near end: GUID, quoted name, LID, port followed by
// a bracket, and the state in parentheses. After `==>` follow GUID, LID, port followed by a bracket, and the name of
// the far end. Some of the programs stop if the exit code is not 0.
TEST_CASE("a parser of link tables finds both ends of each link, including links that are down") {
    const linked links;
    const std::regex near("0x[0-9a-fA-F]+\\s+\"(.*?)\"\\s+[0-9]+\\s+([0-9]+)\\[.*?\\((.*?)\\).*"),
        far("(0x[0-9a-f]+)\\s+([0-9]+)\\s+([0-9]+)\\[\\s*\\]\\s*\"([^\"]*)\".*");
    struct link_end {
        bool is_active = false;
        words peer; // name and port
    };
    const auto ends_of = [&](const std::string& fabric, const words& arguments) {
        const process_result r = links.call("iblinkinfo", arguments, fabric);
        CHECK(r.status == 0);
        std::map<words, link_end> ends; // by name and port
        for (const std::string& line : lines_in_order(r.out)) {
            CAPTURE(line);
            std::smatch n, f;
            REQUIRE(std::regex_match(line, n, near));
            link_end& end = ends[{n[1].str().substr(n[1].str().find_first_not_of(' ')), n[2]}];
            end.is_active = n[3].str().find("Active") != std::string::npos;
            std::string behind = line.substr(line.find("==>") + 3);
            behind.erase(0, behind.find_first_not_of(' '));
            if (std::regex_match(behind, f, far)) end.peer = {f[4], f[3]};
        }
        return ends;
    };
    const auto ends = ends_of(linked_fabric + ",cut=leaf-0002/3@0ms", {"-l"});
    CHECK(ends.size() == 32);
    for (const auto& [here, end] : ends) {
        CAPTURE(here);
        const bool is_cut = here == words{"leaf-0002", "3"} || here == words{"spine-0001", "2"};
        CHECK(end.is_active != is_cut);
        CHECK(end.peer.empty() == is_cut);
        if (!is_cut) CHECK(ends.at(end.peer).peer == here);
    }
    CHECK(ends_of(linked_fabric, {"--switches-only", "-l"}).size() == 24);
    CHECK(ends_of(linked_fabric, {"-l", "-D", "0,1"}).size() == 4); // links of the switch at the end of the route
    // The output lacks the unresponsive host. The port of its leaf is up, but its peer is unknown.
    const auto lacking = ends_of(linked_fabric + ",dead=0x0002c90300000500", {"-l"});
    CHECK(lacking.size() == 31);
    CHECK(lacking.at({"leaf-0003", "1"}).is_active);
    CHECK(lacking.at({"leaf-0003", "1"}).peer.empty());
    CHECK(lacking.at({"leaf-0003", "2"}).peer == words{"h-0006 HCA-1", "1"});
}

// Programs that read the topology file of ibnetdiscover (ibtopotool, ibtopo, infiniband_topology,
// InfiniBand-Graphviz-ualization, LLNL's ibtopo) read blocks. A block starts with Switch or Ca, the number of ports,
// and an ID and a description in quotes. It ends with an empty line. The block has a line for each cable: `[PORT]`,
// `(GUID)` for a CA, the ID of the other node and `[PORT]`. The line ends with the width and the speed with an x
// between them.
TEST_CASE("a parser of topology files finds nodes, cables and cable attributes") {
    const process_result r = linked().call("ibnetdiscover", {});
    check_success(r);
    const std::regex node("(Switch|Ca)\\s+([0-9]+)\\s+\"([-\\w]+)\"\\s+#\\s*\"(.*?)\"(?:.* lid ([0-9]+) lmc.*)?"),
        cable("\\[([0-9]+)\\](?:\\((\\w+)\\))?\\s*\"([HS]-[0-9a-f]{16})\"\\[([0-9]+)\\].*lid ([0-9]+) (.+)");
    struct block {
        std::string name, LID;
        unsigned ports = 0;
        std::map<std::string, words> cables; // other ID, other port and its LID, by port
    };
    std::map<std::string, block> blocks; // by id
    block* in = nullptr;
    for (const std::string& line : lines_in_order(r.out)) {
        CAPTURE(line);
        std::smatch m;
        if (line.empty()) {
            in = nullptr;
        } else if (std::regex_match(line, m, node)) {
            in = &blocks[m[3]];
            *in = {m[4], m[5], static_cast<unsigned>(std::stoul(m[2])), {}};
            CHECK(m[3].str().front() == (m[1] == "Ca" ? 'H' : 'S'));
        } else if (in) {
            REQUIRE(std::regex_match(line, m, cable));
            in->cables[m[1]] = {m[3], m[4]};
            CHECK(m[6] == "4xEDR");
            CHECK(fields_of(line).back() == "4xEDR");
            CHECK(m[2].matched == in->name.starts_with("h-"));
            if (blocks.contains(m[3]) && !blocks[m[3]].LID.empty()) CHECK(m[5] == blocks[m[3]].LID);
        }
    }
    CHECK(blocks.size() == 14);
    for (const auto& [id, b] : blocks) {
        CAPTURE(id, b.name);
        CHECK(b.ports == (id.front() == 'H' ? 1 : 4));
        CHECK(b.cables.size() == b.ports);
        for (const auto& [port, there] : b.cables) CHECK(blocks.at(there[0]).cables.at(there[1]) == words{id, port});
    }
}

} // namespace other_parsers_test
