// SPDX-License-Identifier: MIT
// other_readers_test.cpp - output about one port, host, route or subnet manager, parsed as other projects parse
// infiniband-diags. The fields and patterns are those of these projects (facts). The parsers are ours.
#include "kernel/virtual_device.hpp"
#include "wire/linked_names.hpp"

#include <map>
#include <regex>
#include <set>

namespace other_readers_test {

using namespace ibtool_rig;

namespace {

const std::string counted = linked_fabric + ",counters=3";

/// Returns the values after NAME, a colon and dots.
std::map<std::string, std::string> dotted_values(const std::string& text) {
    std::map<std::string, std::string> values;
    std::smatch m;
    for (const std::string& line : lines_in_order(text))
        if (std::regex_match(line, m, std::regex("([\\w ]+):\\.+(.*)"))) values.try_emplace(m[1], m[2]);
    return values;
}

/// Returns the value of a field of a record, `NAME....VALUE`.
std::string record_value(const std::string& text, const std::string& name) {
    std::smatch m;
    for (const std::string& line : lines_in_order(text))
        if (std::regex_match(line, m, std::regex("\\s*" + name + "\\.+(.*)"))) return m[1];
    return {};
}

/// Returns a word of a line by its position from 1, as awk counts words.
std::string field(const std::string& line, std::size_t place) {
    std::istringstream in(line);
    std::string word;
    for (std::size_t n = 0; n < place; ++n) in >> word;
    return word;
}

} // namespace

// Scripts that monitor a link run `perfquery -x LID PORT` twice and cut PortRcvData after its fixed number of dots.
// LLNL's perfmon does the same with `-l -x -L LID PORTS`, for each port below its PortSelect.
TEST_CASE("a link monitor finds its values at fixed columns of perfquery's output") {
    const linked links;
    const auto number_at = [](const std::string& text, const std::string& label, std::size_t dots) -> double {
        const std::string front = label + ":" + std::string(dots, '.');
        for (const std::string& line : lines_in_order(text))
            if (line.starts_with(front)) return std::stod(line.substr(front.size()));
        FAIL(label << " is not there");
        return 0;
    };
    const process_result leaf = links.call("perfquery", {"-x", "9", "1"}, counted);
    const process_result host = links.call("perfquery", {"-x", "1", "1"}, counted);
    check_success(leaf);
    check_success(host);
    // One end has received the data that the other end has sent, except for the MADs of the queries.
    const auto about = [](double n) { return Catch::Matchers::WithinRel(n, 0.001); };
    const double sent = number_at(leaf.out, "PortXmitData", 20), received = number_at(leaf.out, "PortRcvData", 21);
    CHECK(sent > 1e6);
    CHECK_THAT(number_at(host.out, "PortRcvData", 21), about(sent));
    CHECK_THAT(number_at(host.out, "PortXmitData", 20), about(received));

    const process_result both = links.call("perfquery", {"-l", "-x", "-L", "9", "1,2"}, counted);
    check_success(both);
    std::map<std::string, double> by_port;
    std::string port;
    for (const std::string& line : lines_in_order(both.out)) {
        const std::string select = "PortSelect:" + std::string(22, '.'), data = "PortXmitData:" + std::string(20, '.');
        if (line.starts_with(select)) port = line.substr(select.size());
        if (line.starts_with(data)) by_port[port] = std::stod(line.substr(data.size()));
    }
    REQUIRE(by_port.size() == 2);
    CHECK_THAT(by_port.at("1"), about(sent));
    CHECK(links.call("perfquery", {"-Gx", "0x0002c90300000900", "1"}, counted).status == 0); // two options in one word
    CHECK(links.call("perfquery", {"-x", "-P", "1"}, counted).status == 0);
}

// Searches for slow links (Mellanox' sysinfo-snapshot and others) run ibportstate for each line of `ibnetdiscover -p`.
// They compare the active and the enabled values, and check whether a port without a cable is disabled. Some scripts
// omit the port.
TEST_CASE("a search for slow links finds the active, enabled and disabled values") {
    const linked links;
    const std::string leaf = "0x0002c90300000900", fabric = counted + ",cut=leaf-0001/4@0ms";
    const auto up = dotted_values(links.call("ibportstate", {"-G", leaf, "3"}, fabric).out);
    CHECK(up.at("PhysLinkState") == "LinkUp");
    CHECK(up.at("LinkState") == "Active");
    CHECK(up.at("LinkWidthActive") == "4X");
    CHECK(up.at("LinkSpeedActive") == "10.0 Gbps");
    CHECK(up.at("LinkSpeedEnabled") == "2.5 Gbps or 5.0 Gbps or 10.0 Gbps");
    CHECK(up.at("LinkSpeedExtActive") == "25.78125 Gbps");
    CHECK_THAT(links.call("ibportstate", {"-D", "0", "1"}, fabric).out, Contains("LinkUp"));
    const auto cut = dotted_values(links.call("ibportstate", {"-G", leaf, "4"}, fabric).out);
    CHECK(cut.at("PhysLinkState") == "Polling");
    const process_result without_port = links.call("ibportstate", {"-G", leaf, "query"}, fabric);
    check_success(without_port);
    CHECK(dotted_values(without_port.out).at("Lid") == "9");
    const auto info = dotted_values(links.call("smpquery", {"-G", "portinfo", leaf, "3"}, fabric).out);
    CHECK(info.at("LinkState") == "Active");
    CHECK(info.at("LinkSpeedActive") == "10.0 Gbps");
    CHECK(dotted_values(links.call("smpquery", {"switchinfo", "9", "0"}, fabric).out).contains("LinearFdbCap"));
}

// Advice for Exadata and scripts of LLNL suppress errors that are not important, by old counter names.
TEST_CASE("old command lines of ibqueryerrors suppress the named counters") {
    const linked links;
    const process_result r =
        links.call("ibqueryerrors.pl", {"-rR", "-s", "RcvSwRelayErrors,XmtDiscards,XmtWait,VL15Dropped"}, counted);
    CHECK(r.status == 1);
    CHECK(r.err.empty());
    CHECK_THAT(r.out, Contains("[SymbolErrorCounter == ") && Contains("Link info:") && !Contains("[PortXmitDiscards") &&
                          !Contains("[PortXmitWait"));
    CHECK_THAT(links.call("ibqueryerrors", {"--help"}).out,
               Contains("--clear-errors")); // scripts detect the version by this option
}

// Searches for the subnet manager (Mellanox' lists, a resource agent, sysinfo-snapshot, test harnesses) read words 4
// and 10 of sminfo's output and the state. They read the node description after the last dot, and the GID of a path.
// The names of the members of a multicast group are in parentheses.
TEST_CASE("a search for the subnet manager finds its LID, node and state, paths and groups") {
    const linked links;
    const auto output = [&](const std::string& name, const words& arguments) {
        const process_result r = links.call(name, arguments);
        INFO(name << ' ' << r.err);
        CHECK(r.status == 0);
        return r.out;
    };
    const std::string printed = output("sminfo", {});
    std::smatch m;
    REQUIRE(std::regex_search(printed, m, std::regex("sminfo: sm lid (.+) sm guid (.+), .+")));
    CHECK(m[1] == "1");
    CHECK(m[2] == "0x2c90300000101");
    CHECK(field(printed, 4) == "1");
    CHECK(std::regex_match(field(printed, 10), std::regex("[0-9]+"))); // the activity count
    CHECK_THAT(printed, Contains(" state 3 SMINFO_MASTER"));
    for (const words& named : {words{"nodedesc", "1"}, words{"ND", "-C", "vib0", "-L", "1"}}) {
        const std::string described = output("smpquery", named);
        CHECK(described.starts_with("Node Description:..."));
        CHECK(described.substr(described.rfind('.') + 1) == "h-0001 HCA-1\n");
    }
    CHECK(record_value(output("saquery", {"--src-to-dst", "1:5"}), "dgid") == "fe80::2:c903:0:501");
    const std::string address = output("ibaddr", {"5"});
    CHECK(field(address, 2) == "fe80::2:c903:0:501");
    CHECK(field(address, 3) == "LID");

    const std::string groups = output("saquery", {"-t", "500", "-g"});
    CHECK(record_value(groups, "MGID") == "ff12:401b:ffff::ffff:ffff");
    const std::string MLID = record_value(groups, "Mlid");
    CHECK(std::regex_match(MLID, std::regex("0x[0-9A-Fa-f]+")));
    std::set<std::string> members;
    for (const std::string& line : lines_in_order(output("saquery", {"-t", "500", "-m", MLID})))
        if (std::regex_match(line, m, std::regex(".*PortGid.*\\((h-.*)\\)"))) members.insert(m[1]);
    CHECK(members.size() == 8);

    // Four numbers follow dots: the LID and port of one end, and the port and LID of the other end.
    std::string cable;
    for (const std::string& line : lines_in_order(output("saquery", {"-x", "1"})))
        if (std::regex_match(line, m, std::regex(".*\\.\\.([0-9]+)"))) cable += m[1].str() + ':';
    CHECK(cable == "1:1:1:9:");
    // Scripts rely on a failure status for missing objects.
    CHECK(links.call("saquery", {"-L", "no-such-host"}).status != 0);
    CHECK(output("saquery", {"-L", "leaf-0001"}) == "9\n");
}

// Programs that collect data about a subnet (`saquery -N`, `saquery -p`, `saquery -g`) get all paths from OpenSM. The
// IBA permits an SA to return fewer paths. Such an SA returns the paths from the local port.
TEST_CASE("a subnet collector gets the paths of the SA") {
    const linked links;
    const auto paths_in = [](const std::string& text) {
        const words lines = lines_in_order(text);
        return std::count(lines.begin(), lines.end(), "PathRecord dump:");
    };
    const process_result from_here = links.call("saquery", {"-p"});
    check_success(from_here);
    CHECK(paths_in(from_here.out) == 14);
    if (!has_devices()) return;
    const std::string script = "saquery -p; echo =====\n";
    const process_result r = in_shell("sim:fattree2,radix=4", with_manager + script + links.first_in_path() + script);
    INFO(r.err);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 2);
    CHECK(paths_in(printed[0]) == 14 * 14);
    CHECK(lines_of(printed[1]) == lines_of(printed[0]));
}

// Parsers of routes run `ibroute` for each LID of `ibswitches`. Its lines contain the LID in hex, the port and the
// destination (LLNL's dump-lfts and lfts_sort, ibdiag.py). The parsers also run `ibtracert`. Its lines contain a GUID
// in braces, a port in brackets after it, and the LIDs as a range.
TEST_CASE("a parser of routes finds the ports of the route") {
    const linked links;
    std::smatch m;
    std::set<std::string> lids;
    for (const std::string& line : lines_in_order(links.call("ibswitches", {}).out)) {
        REQUIRE(std::regex_match(line, m, std::regex(R"re(Switch.* ports \d+ "(.*)" .* lid ([0-9a-f]*) lmc .*)re")));
        lids.insert(m[2]);
    }
    CHECK(lids == std::set<std::string>{"9", "10", "11", "12", "13", "14"});

    const words table = lines_in_order(links.call("ibroute", {"9"}).out);
    REQUIRE(table.size() == 18); // three heading lines, 14 LIDs, a sum
    REQUIRE(std::regex_match(table[0], m, std::regex("Unicast lids .+ of switch Lid (.+) guid (.+) \\((.+)\\):")));
    CHECK(m[1] == "9");
    CHECK(m[2] == "0x0002c90300000900");
    CHECK(m[3] == "leaf-0001");
    std::map<unsigned long, unsigned long> port_to;
    for (std::size_t i = 3; i < 17; ++i) {
        CAPTURE(table[i]);
        REQUIRE(std::regex_match(table[i], m,
                                 std::regex("(0x[0-9a-f]{4}) ([0-9]{3}) : \\((.+) portguid (0x.+): '(.+)'\\)")));
        port_to[std::stoul(m[1], nullptr, 16)] = std::stoul(m[2]);
    }
    CHECK_THAT(table.back(), Contains("14 valid lids dumped"));
    CHECK(port_to.at(1) == 1);
    CHECK(port_to.at(2) == 2);
    CHECK(port_to.at(9) == 0);

    const std::string route = links.call("ibtracert", {"1", "5"}).out;
    const std::regex port("\\{(0x[0-9a-f]+)\\}\\[([0-9]+)\\] lid ([0-9]+)-");
    words by_lid;
    for (std::sregex_iterator i(route.begin(), route.end(), port), end; i != end; ++i) by_lid.push_back((*i)[3]);
    REQUIRE(by_lid.size() == 4);
    CHECK(by_lid.front() == "9");
    CHECK((by_lid[1] == "13" || by_lid[1] == "14"));
    CHECK(by_lid[2] == "11");
    CHECK(by_lid.back() == "5");
    // The first switch and the port through which the route enters it.
    CHECK_THAT(lines_in_order(route).at(1), EndsWith("[1] lid 9-9 \"leaf-0001\""));
}

// Some checks of a host do not use plain ibstat (scripts of DAOS, vast and Weka). They read the lines of ibstatus,
// which have a name, a colon and a value. They also read `ibstat -p`, which prints the GUIDs of the ports in order, and
// the list of devices that `ibstat -l` prints.
TEST_CASE("a host check counts its active ports and finds their GUIDs and GIDs") {
    if (!has_devices()) return;
    const linked links;
    const std::string script = "ibstatus; echo =====; ibstatus vib0 | grep rate; echo =====; ibstat -p; echo =====; "
                               "ibstat -l; echo =====; ibstat --short vib0; echo =====; ibstat -p vib0; echo =====; "
                               "ibstat vib0 1; echo =====\n";
    const process_result r = in_shell("sim:fattree2,radix=4,sm=1", script + links.first_in_path() + script);
    INFO(r.err);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 14);
    CHECK(words(printed.begin() + 7, printed.end()) == words(printed.begin(), printed.begin() + 7));
    CHECK_THAT(printed[7], Contains("Infiniband device 'vib0' port 1 status:\n") &&
                               Contains("\tdefault gid:\t fe80:0000:0000:0000:0002:c903:0000:0101\n") &&
                               Contains("\tstate:\t\t 4: ACTIVE\n") && Contains("\tphys state:\t 5: LinkUp\n") &&
                               Contains("\tlink_layer:\t InfiniBand\n"));
    CHECK(printed[8] == "\trate:\t\t 100 Gb/sec (4X EDR)\n");
    CHECK(printed[9] == "0x0002c90300000101\n");
    CHECK(printed[10] == "vib0\n");
}

} // namespace other_readers_test
