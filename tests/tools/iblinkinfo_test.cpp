// SPDX-License-Identifier: MIT
// iblinkinfo_test.cpp - iblinkinfo compared with infiniband-diags on ibsim subnets with links that are down, narrow or
// slow; parts of a subnet; JSON output.
#include "subnet/two_switches.hpp"
#include <comad/transports/sim/detail/topology.hpp>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace ibtool_iblinkinfo_test {

using namespace ibtool_rig;

namespace {

/// Returns the sections of the report with their headings, or the lines in line mode. They are sorted, because
/// infiniband-diags prints nodes in another order.
std::set<std::string> stanzas_of(const std::string& text) {
    std::set<std::string> all;
    std::string stanza;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const bool is_first = !line.empty() && line[0] != ' ';
        if (is_first && !stanza.empty()) all.insert(std::exchange(stanza, {}));
        stanza += line + '\n';
    }
    all.insert(stanza);
    return all;
}

/// Checks that ibtool and infiniband-diags print equal sections in any order.
void compare_stanzas(const subnet& s, const words& command) {
    CAPTURE(command);
    const process_result theirs = s.peer(command), r = s.ours(command);
    REQUIRE(theirs.status == 0);
    check_success(r);
    const auto expected = stanzas_of(theirs.out), got = stanzas_of(r.out);
    CHECK(expected.size() > 1);
    CHECK(got == expected);
    CHECK(r.out.size() == theirs.out.size());
}

/// Returns the topology file of a fat tree.
std::string fat_tree() {
    std::ostringstream text;
    comad::transports::sim::write_topology(text, comad::transports::sim::make_topology("fattree2,radix=8"));
    return text.str();
}

// Values that ibsim enables: w=1 is 1x, w=2 4x, w=8 12x; s=1 is 2.5 Gb/s per lane, s=3 also 5, s=4 10; e=2 is 25.78125.
// All ends support 12x, 10 and 53.125 Gb/s. Ends without e= support no extended speeds.
constexpr std::string_view uneven = R"(
switchguid=0x5000
Switch	8 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1] w=1
[2]	"B"[1] s=7
[3]	"C"[2] w=2 s=3
[4]	"S2"[1] w=8 s=4
[5]	"S2"[2] w=8 s=4 e=2

switchguid=0x6000
Switch	4 "S2"	# "second switch"
[1]	"S1"[4] w=8 s=4
[2]	"S1"[5] w=8 s=4 e=2

caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S1"[1] w=1

caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S1"[2] s=7

caguid=0xc000
Hca	2 "C"	# "host C, with a name of more than 32 letters"
[2]	"S1"[3] w=2 s=3
)";

/// Returns the JSON objects of a command that must succeed, one per line.
std::vector<nlohmann::json> lines_as_json(const process_result& r) {
    check_success(r);
    std::vector<nlohmann::json> all;
    std::istringstream in(r.out);
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
}

} // namespace

TEST_CASE("iblinkinfo prints what infiniband-diags' iblinkinfo prints") {
    subnet tree(fat_tree(), manager::leaves);
    compare_stanzas(tree, {"iblinkinfo"});
    tree.console("Unlink \"S-0002c90300002100\"[2]");
    tree.console("Unlink \"S-0002c90300002100\"[6]");
    tree.console("Unlink \"S-0002c90300002900\"[3]");
    subnet odd(uneven, manager::leaves);
    const std::string map = odd.files().write("names", "0x5000 \"called so\"\n0xa000 \"Alice\"\n0x6000 \"T\"\n");
    for (const subnet* s : {&tree, &odd}) {
        for (const words& how :
             {words{}, words{"-p"}, words{"--additional", "-l"}, words{"-d"}, words{"--down", "--line"}, words{"-l"},
              words{"--switches-only"}, words{"--cas-only"}, words{"--switches-only", "-d", "-l"}, words{"-o", "8"}})
            compare_stanzas(*s, words{"iblinkinfo"} + how);
    }
    compare_stanzas(odd, {"iblinkinfo", "--node-name-map", map});
    compare_stanzas(odd, {"iblinkinfo", "-l", "--node-name-map", map});
}

TEST_CASE("iblinkinfo prints the links of one node") {
    const subnet s;
    compare(s, {"iblinkinfo", "-D", "0,17"});
    compare(s, {"iblinkinfo", "-D", "0,17", "-l"});
    compare(s, {"iblinkinfo", "-D", "0"});
    compare(s, {"iblinkinfo", "-D", "0,17", "--switches-only"});
    // This subnet has no SA. With an SA, infiniband-diags resolves the LID and continues by routes that ibsim does not
    // carry.
    {
        const subnet without_sa(topology, manager::leaves);
        compare(without_sa, {"iblinkinfo", "--port-guid", "0x6000"});
        compare(without_sa, {"iblinkinfo", "-S", "0x6000", "-d"});
        compare(without_sa, {"iblinkinfo", "-G", "0xc002"});
    }
    // The target may be a node GUID. For a CA it may be a directed route, along which infiniband-diags searches for the
    // peer.
    const std::string C = s.ours({"iblinkinfo", "-G", "0xc002"}).out;
    CHECK(s.ours({"iblinkinfo", "-G", "0xc000"}).out == C);
    CHECK(s.ours({"iblinkinfo", "-D", "0,17,1"}).out == C);

    const auto heads = [&](const words& how) {
        words names;
        for (const std::string& line : lines_of(s.ours(words{"iblinkinfo", "-a"} + how).out))
            if (!line.empty() && line[0] != ' ') names.push_back(line);
        return names;
    };
    const std::string A = "CA: host A:", B = "CA: host B:", C_head = "CA: host C, with a name of more than 32 letters:",
                      S1 = "Switch: 0x0000000000005000 first switch:", S2 = "Switch: 0x0000000000006000 second switch:";
    CHECK(heads({"-D", "0,17"}) == words{C_head, S1, S2});
    CHECK(heads({"-D", "0,17", "-n", "2"}) == words{A, B, C_head, S1, S2});
    CHECK(heads({"-G", "0xa001"}) == words{A, S1});
    CHECK(heads({"-G", "0xa001", "-n", "2"}) == words{A, B, S1, S2});
    CHECK(heads({"-n", "1"}) == words{A, B, S1, S2});
    CHECK(heads({"-n", "1", "--switches-only"}) == words{S1, S2});
    // As in infiniband-diags, 0 selects the default.
    CHECK(heads({"-D", "0,17", "-n", "0"}) == heads({"-D", "0,17", "-n", "1"}));
    CHECK(heads({"-n", "0"}) == heads({}));

    CHECK(s.ours({"iblinkinfo", "-R"}).out == s.ours({"iblinkinfo"}).out);
    check_failure(s.ours({"iblinkinfo", "-G", "0x7777"}), 1, "the subnet has no port '0x7777'");
    check_failure(s.ours({"iblinkinfo", "-D", "0,3"}), 1, "the subnet has no port '0,3'");
    check_failure(s.ours({"iblinkinfo", "-D", "0,99"}), 1, "the subnet has no port '0,99'");
    check_failure(s.ours({"iblinkinfo", "-D", "0,1", "-G", "0xa001"}), 2, "excludes");
    check_failure(s.ours({"iblinkinfo", "-D", "7"}), 2, "must start with 0");
    check_failure(s.ours({"iblinkinfo", "-G", "0,1"}), 2, "is not a GUID");
    check_failure(s.ours({"iblinkinfo", "--cas-only", "--switches-only"}), 2, "excludes");
    check_failure(s.ours({"iblinkinfo", "--load-cache", "no-such-file"}), 1, "cannot read 'no-such-file'");
}

TEST_CASE("iblinkinfo prints links as JSON") {
    const subnet s(uneven, manager::leaves);
    const auto all = lines_as_json(s.ours({"iblinkinfo", "--json"}));
    REQUIRE(all.size() == 8 + 4 + 3); // all ports of switches, and the cabled ports of CAs
    const auto& first = all[0];
    CHECK(first["nodeType"] == "Switch");
    CHECK(first["nodeGUID"] == "0000:0000:0000:5000");
    CHECK(first["description"] == "first switch");
    CHECK(first["port"] == 1);
    CHECK(first["portState"] == "Active");
    CHECK(first["portPhysicalState"] == "LinkUp");
    CHECK(first["peer"]["description"] == "host A");
    CHECK(first["peer"]["portGUID"] == "0000:0000:0000:a001");
    CHECK(first["peer"]["port"] == 1);
    CHECK(first["LID"] > 0);
    CHECK(first["linkWidthActive"] == "1x");
    CHECK(first["linkSpeedActive"] == "SDR");
    CHECK(first["linkWidthPossible"] == "12x");
    CHECK(first["linkSpeedPossible"] == "QDR");
    CHECK(all[3]["linkWidthActive"] == "12x");
    CHECK(all[3]["linkSpeedActive"] == "QDR");
    CHECK_FALSE(all[3].contains("linkWidthPossible"));
    CHECK_FALSE(all[3].contains("linkSpeedPossible"));
    CHECK(all[4]["linkSpeedActive"] == "EDR");
    CHECK(all[4]["linkSpeedPossible"] == "HDR");
    const auto& down = all[5];
    CHECK(down["port"] == 6);
    CHECK(down["portState"] == "Down");
    CHECK_FALSE(down.contains("linkWidthActive"));
    CHECK_FALSE(down.contains("peer"));
    CHECK(lines_as_json(s.ours({"iblinkinfo", "--json", "-d"})).size() == 3 + 2);
}

/// The names of the widths and speeds in our JSON, and the texts of infiniband-diags.
const std::map<std::string, std::string> diags_texts{{"1x", "1X"},
                                                     {"2x", "2X"},
                                                     {"4x", "4X"},
                                                     {"8x", "8X"},
                                                     {"12x", "12X"},
                                                     {"SDR", "2.5 Gbps"},
                                                     {"DDR", "5.0 Gbps"},
                                                     {"QDR", "10.0 Gbps"},
                                                     {"FDR", "14.0625 Gbps"},
                                                     {"EDR", "25.78125 Gbps"},
                                                     {"HDR", "53.125 Gbps"},
                                                     {"NDR", "106.25 Gbps"},
                                                     {"XDR", "212.5 Gbps"}};

TEST_CASE("the JSON of iblinkinfo has the possible width and speed that infiniband-diags prints as Could be") {
    const subnet s(uneven, manager::leaves);
    std::map<std::string, std::string> theirs; // the text in the last parentheses, by port GUID and number
    const std::regex with_neighbor("0x([0-9a-f]{16}) \".*\" +[0-9]+ +([0-9]+)\\[..\\] ==\\(.*\"[^\"]*\" \\((.*)\\)");
    for (const std::string& line : lines_of(s.peer({"iblinkinfo", "-l"}).out))
        if (std::smatch found; std::regex_match(line, found, with_neighbor) && line.find("==>") != line.npos)
            theirs[found[1].str() + ' ' + found[2].str()] = found[3];
    std::size_t better = 0;
    for (const auto& o : lines_as_json(s.ours({"iblinkinfo", "--json"}))) {
        std::string key = o["portGUID"];
        std::erase(key, ':');
        key += ' ' + std::to_string(o["port"].get<unsigned>());
        CAPTURE(key);
        std::string expected;
        for (const char* member : {"linkWidthPossible", "linkSpeedPossible"})
            expected += (expected.empty() ? "" : " ") +
                        (o.contains(member) ? "Could be " + diags_texts.at(o[member]) : std::string());
        if (!o.contains("linkWidthPossible")) expected = ' ' + expected;
        better += expected.size() > 1;
        REQUIRE(theirs.contains(key));
        CHECK(theirs[key] == (o.contains("peer") ? expected : " "));
    }
    CHECK(better == 8); // both ends of the links to hosts and of one link between the switches
}

TEST_CASE("the JSON of iblinkinfo has the supported and enabled widths and speeds, MTUs and VLs that smpquery prints") {
    const subnet s(uneven, manager::leaves);
    // Returns the value that infiniband-diags prints in this line of the PortInfo; empty if there is no such line.
    const auto value_in = [](const std::string& info, const std::string& name) {
        std::smatch found;
        return std::regex_search(info, found, std::regex('\n' + name + ":\\.*([^\n]*)")) ? found[1].str()
                                                                                         : std::string();
    };
    const auto texts_of = [](const nlohmann::json& names) {
        std::set<std::string> texts;
        for (const std::string name : names) texts.insert(diags_texts.at(name));
        return texts;
    };
    // Returns the parts of `1X or 4X`. `0` means none.
    const auto parts_of = [](std::string text) {
        std::set<std::string> texts;
        if (const std::size_t remark = text.find(" (IBA extension)"); remark != text.npos) text.erase(remark);
        for (std::size_t end; (end = text.find(" or ")) != text.npos; text.erase(0, end + 4))
            texts.insert(text.substr(0, end));
        if (text != "0") texts.insert(text);
        return texts;
    };
    const auto both = [&](const std::string& a, const std::string& b) {
        std::set<std::string> texts = parts_of(a);
        texts.merge(parts_of(b));
        return texts;
    };
    const std::map<std::string, unsigned> mtus{{"256", 1}, {"512", 2}, {"1024", 3}, {"2048", 4}, {"4096", 5}},
        vls{{"VL0", 1}, {"VL0-1", 2}, {"VL0-3", 3}, {"VL0-7", 4}, {"VL0-14", 5}};
    std::size_t ports = 0;
    for (const auto& o : lines_as_json(s.ours({"iblinkinfo", "--json", "--up"}))) {
        const std::string LID = std::to_string(o["LID"].get<unsigned>()),
                          port = std::to_string(o["port"].get<unsigned>());
        const std::string info = s.peer({"smpquery", "portinfo", LID, port}).out;
        CAPTURE(info, o.dump());
        CHECK(texts_of(o["linkWidthSupported"]) == parts_of(value_in(info, "LinkWidthSupported")));
        CHECK(texts_of(o["linkWidthEnabled"]) == parts_of(value_in(info, "LinkWidthEnabled")));
        CHECK(texts_of(o["linkSpeedSupported"]) ==
              both(value_in(info, "LinkSpeedSupported"), value_in(info, "LinkSpeedExtSupported")));
        CHECK(texts_of(o["linkSpeedEnabled"]) ==
              both(value_in(info, "LinkSpeedEnabled"), value_in(info, "LinkSpeedExtEnabled")));
        CHECK(o["neighborMTU"] == mtus.at(value_in(info, "NeighborMTU")));
        CHECK(o["MTUCap"] == mtus.at(value_in(info, "MtuCap")));
        CHECK(o["VLCap"] == vls.at(value_in(info, "VLCap")));
        CHECK(o["operationalVLs"] == vls.at(value_in(info, "OperVLs")));
        ++ports;
        // The neighbor has the same data as on its own line.
        const auto& peer = o["peer"];
        for (const auto& own : lines_as_json(s.ours({"iblinkinfo", "--json", "--up"})))
            if (own["nodeGUID"] == peer["nodeGUID"] && own["port"] == peer["port"])
                for (const auto& [name, value] : peer.items()) CHECK(own[name] == value);
    }
    CHECK(ports == 5 + 2 + 3);
}

TEST_CASE("iblinkinfo prints the responsive part of the subnet and exits with 3") {
    const process_result r = run({"iblinkinfo", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(r.status == 3);
    CHECK_THAT(r.out, Contains(" \"Port not available\"\n") && Contains("spine-0002"));
    CHECK_THAT(r.err, Contains("ibtool: partial result"));
}

TEST_CASE("iblinkinfo prints one node for any form of target, and filters links by state") {
    const subnet s(two_switches);
    const process_result links = s.peer({"iblinkinfo", "-D", "0,5"});
    REQUIRE_THAT(links.out, Contains("second switch"));
    for (const std::string& target : {std::string("0,5"), std::string("second switch"), s.lid_at("0,5")})
        CHECK(s.ours({"iblinkinfo", target}).out == links.out);
    words up = lines_of(s.ours({"iblinkinfo", "-l", "--up"}).out);
    const words down = lines_of(s.peer({"iblinkinfo", "-l", "--down"}).out);
    CHECK(up.size() == 5 * 2 + 2 * 2); // both ends of five cables to hosts and of two between the switches
    CHECK(down.size() == 8 - 4 + 6 - 5);
    up.insert(up.end(), down.begin(), down.end());
    std::sort(up.begin(), up.end());
    CHECK(up == lines_of(s.peer({"iblinkinfo", "-l"}).out));
    CHECK_THAT(s.ours({"iblinkinfo", "first", "-g"}).out,
               Contains("      0x0000000000005000 ") && Contains("==>  0x000000000000a001 "));
    check_failure(s.ours({"iblinkinfo", "first", "-D", "0,1"}), 2, "a target excludes -G and -D");
}

} // namespace ibtool_iblinkinfo_test
