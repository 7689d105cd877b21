// SPDX-License-Identifier: MIT
// topology_file_test.cpp - topology files as users paste them, and files that are written and read again. The stanzas
// follow the output of ibnetdiscover in rdma-core. The malformed parts occur in published files.
#include "support/catch.hpp"
#include <comad/discovery/compare/detail/topology_difference.hpp>
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string>

namespace topology_file_test {

using namespace comad;
using namespace comad::discovery;
using Catch::Contains;
using Catch::StartsWith;
using topology_file::extent;
using topology_file::reading;

namespace {

/// Two switches, three hosts and a router. One port has no LID, one link runs at FDR10, one at XDR.
constexpr std::string_view plain =
    "#\n"
    "# Topology file: generated on Wed Nov 25 14:26:02 2026\n"
    "#\n"
    "# Initiated from node 0002c90300000100 port 0002c90300000101\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0xd2f2\n"
    "sysimgguid=0x2c90300000900\n"
    "switchguid=0x2c90300000900(2c90300000900)\n"
    "Switch\t4 \"S-0002c90300000900\"\t\t# \"leaf 1\" enhanced port 0 lid 9 lmc 0\n"
    "[1]\t\"H-0002c90300000100\"[1](2c90300000101) \t\t# \"h-1 mlx5_0\" lid 1 4xEDR\n"
    "[2]\t\"H-0002c90300000200\"[1](2c90300000201) \t\t# \"h-2 mlx5_0\" lid 65535 2xHDR\n"
    "[4]\t\"S-0002c90300000d00\"[1]\t\t# \"spine 1\" lid 13 4xXDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0xd2f2\n"
    "sysimgguid=0x2c90300000d00\n"
    "switchguid=0x2c90300000d00(2c90300000d00)\n"
    "Switch\t4 \"S-0002c90300000d00\"\t\t# \"spine 1\" base port 0 lid 13 lmc 0\n"
    "[1]\t\"S-0002c90300000900\"[4]\t\t# \"leaf 1\" lid 9 4xXDR\n"
    "[2]\t\"H-0002c90300000300\"[2](2c90300000302) \t\t# \"h-3 mlx4_0\" lid 3 4xFDR10\n"
    "[3]\t\"R-0002c90300000700\"[1](2c90300000701) \t\t# \"way out\" lid 7 1xSDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1021\n"
    "sysimgguid=0x2c90300000100\n"
    "caguid=0x2c90300000100\n"
    "Ca\t1 \"H-0002c90300000100\"\t\t# \"h-1 mlx5_0\"\n"
    "[1](2c90300000101) \t\"S-0002c90300000900\"[1]\t\t# lid 1 lmc 0 \"leaf 1\" lid 9 4xEDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1021\n"
    "sysimgguid=0x2c90300000200\n"
    "caguid=0x2c90300000200\n"
    "Ca\t1 \"H-0002c90300000200\"\t\t# \"h-2 mlx5_0\"\n"
    "[1](2c90300000201) \t\"S-0002c90300000900\"[2]\t\t# lid 65535 lmc 0 \"leaf 1\" lid 9 2xHDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1003\n"
    "sysimgguid=0x2c90300000300\n"
    "caguid=0x2c90300000300\n"
    "Ca\t2 \"H-0002c90300000300\"\t\t# \"h-3 mlx4_0\"\n"
    "[2](2c90300000302) \t\"S-0002c90300000d00\"[2]\t\t# lid 3 lmc 1 \"spine 1\" lid 13 4xFDR10\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0xc839\n"
    "sysimgguid=0x2c90300000d00\n"
    "rtguid=0x2c90300000700\n"
    "Rt\t8 \"R-0002c90300000700\"\t\t# \"way out\"\n"
    "[1](2c90300000701) \t\"S-0002c90300000d00\"[3]\t\t# lid 7 lmc 0 \"spine 1\" lid 13 1xSDR\n";
constexpr unsigned plain_lines = 50;

described_subnet read(std::string_view text, reading how = reading::tolerant) {
    return read_topology_file(text, "pasted", how);
}
std::string refusal_of(std::string_view text, reading how = reading::strict) {
    try {
        read(text, how);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "no error";
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != text.npos);
    return text.replace(at, what.size(), by);
}
std::string all_replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}
/// Returns a line of the text without its line break.
std::string line_with(std::string_view text, std::string_view what) {
    const std::size_t at = text.find(what);
    REQUIRE(at != text.npos);
    const std::size_t begin = text.rfind('\n', at) + 1;
    return std::string(text.substr(begin, text.find('\n', at) - begin));
}
std::string without(std::string_view text, std::string_view what) {
    return replaced(std::string(text), line_with(text, what) + '\n', "");
}

std::string json_of(std::string_view text) { return json_text(read(text).found); }

const node& node_at(const subnet& s, u64 GUID) {
    const node* found = s.find(iba::guid{GUID});
    REQUIRE(found);
    return *found;
}
port_ref place(const subnet& s, u64 GUID, u8 port) {
    return {static_cast<u32>(&node_at(s, GUID) - s.nodes.data()), port};
}
std::string rate_of(const subnet& s, u64 GUID, u8 port) {
    const port_ref r = place(s, GUID, port);
    return fmt::format("{}{}", format_link_width(s.at(r)), format_link_speed(s, r));
}
std::vector<std::string> lines_of(const std::vector<difference>& all) {
    std::vector<std::string> lines;
    for (const difference& d : all)
        lines.push_back(fmt::format("{} {} {}", text_of(d.of), static_cast<int>(d.what), d.place));
    return lines;
}

constexpr u64 leaf = 0x2c90300000900, spine = 0x2c90300000d00, h1 = 0x2c90300000100, h2 = 0x2c90300000200,
              h3 = 0x2c90300000300, router = 0x2c90300000700;

} // namespace

TEST_CASE("a topology file gives a subnet with the widths, speeds, LIDs and states of its text") {
    const described_subnet d = read(plain, reading::strict);
    const subnet& s = d.found;
    CHECK(d.skipped.empty());
    CHECK_FALSE(s.may_lack_nodes);
    REQUIRE(s.nodes.size() == 6);
    CHECK(s.link_count() == 5);
    // The start is h-1, as specified in the file.
    CHECK(s.nodes[0].info.nodeGUID == iba::guid{h1});
    CHECK(s.start_port == 1);
    CHECK(std::ranges::equal(node_at(s, h3).route.hops(), std::array<u8, 3>{1, 4, 2}));
    CHECK(rate_of(s, leaf, 1) == "4xEDR");
    CHECK(rate_of(s, leaf, 2) == "2xHDR");
    CHECK(rate_of(s, leaf, 4) == "4xXDR");
    CHECK(rate_of(s, spine, 1) == "4xXDR");
    CHECK(rate_of(s, h3, 2) == "4xFDR10");
    CHECK(rate_of(s, router, 1) == "1xSDR");
    CHECK(s.lid_at(place(s, h3, 2)) == iba::lid{3});
    CHECK(node_at(s, h3).ports[2].info->LMC == 1);
    CHECK(node_at(s, h2).ports[1].info->LID == iba::lid{0xffff});
    CHECK(node_at(s, h2).ports[1].info->portState == iba::PortState::Initialize);
    CHECK(node_at(s, leaf).ports[2].info->portState == iba::PortState::Initialize);
    CHECK(node_at(s, h1).ports[1].info->portState == iba::PortState::Active);
    CHECK(node_at(s, leaf).ports[4].info->portState == iba::PortState::Active);
    CHECK_FALSE(node_at(s, leaf).ports[3].info.has_value());
    CHECK(node_at(s, leaf).switch_info->enhancedPort0);
    CHECK_FALSE(node_at(s, spine).switch_info->enhancedPort0);
}

TEST_CASE("changes of blanks and line breaks do not damage a topology file") {
    const std::string text(plain), whole = json_of(plain);
    const auto is_same = [&](const std::string& other) {
        return refusal_of(other) == "no error" && json_of(other) == whole;
    };
    CHECK(is_same(all_replaced(text, "\n", "\r\n")));
    CHECK(is_same(all_replaced(text, "\n", "\r\r\n")));
    CHECK(is_same(all_replaced(text, "\n", "\r")));
    CHECK(is_same(all_replaced(text, "\n", "\n\n")));
    CHECK(is_same(all_replaced(text, "\t", "        ")));
    CHECK(is_same(all_replaced(text, "\t", "\xc2\xa0")));
    CHECK(is_same(all_replaced(text, "\t", "")));
    CHECK(is_same(all_replaced(all_replaced(text, "\t", ""), ") #", ")#")));
    CHECK(is_same(all_replaced(text, "\n\n", "\n")));
    CHECK(is_same(all_replaced(text, "\n", " \t \n")));
    CHECK(is_same(all_replaced(text, "\n[", "\n  [")));
    CHECK(is_same(text.substr(0, text.size() - 1)));
}

TEST_CASE("lines of other programs in a topology file are skipped and counted, or rejected in strict mode") {
    const std::string text(plain), whole = json_of(plain);
    const auto with_line = [&](std::string_view line, std::string_view before) {
        return replaced(text, before, fmt::format("{}\n{}", line, before));
    };
    for (const std::string_view line :
         {"src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1,1,31 Attr 0x11:0) bad status 110; Connection timed "
          "out",
          "ibwarn: [12345] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)",
          "[root@head ~]# ibnetdiscover", "[root@head ~]# ", "admin@head:~$ ibnetdiscover > fabric.topo",
          "Script started on 2026-11-25 14:26:02",
          "=~=~=~=~=~=~=~=~=~=~=~= PuTTY log 2026.11.25 12:06:05 =~=~=~=~=~=~=~=~=~=~=~=", "Switch port 5 is down",
          "Can't open UMAD port ((null):0)", "[1]+  Done                    ibnetdiscover", "PATH=/usr/sbin",
          "\x01\x02\xff", "speed=99"}) {
        CAPTURE(std::string(line));
        for (const std::string_view before : {"#\n# Topology", "vendid=0x2c9\ndevid=0x1003", "[4]\t"}) {
            CAPTURE(std::string(before));
            const std::string damaged = with_line(line, before);
            const auto at = static_cast<unsigned>(
                std::count(damaged.begin(), damaged.begin() + static_cast<long>(damaged.find(line)), '\n') + 1);
            const described_subnet d = read(damaged);
            CHECK(json_text(d.found) == whole);
            CHECK_FALSE(d.found.may_lack_nodes);
            CHECK_THAT(d.skipped, StartsWith(fmt::format("skipped 1 line; first at line {}: ", at)));
            CHECK(d.skipped.find_first_of("\n\x01\x02\xff") == std::string::npos);
            CHECK_THAT(refusal_of(damaged), StartsWith(fmt::format("pasted:{}: ", at)));
        }
    }
    // A stanza that occurs twice, and a terminal log with colors and a prompt after the last line.
    const std::string log = "\x1b]0;root@head\a\x1b[01;32mroot@head\x1b[0m# ibnetdiscover\n" +
                            all_replaced(text, "\n", "\x1b[K\r\n") + "root@head# exit\n";
    CHECK(json_of(log) == whole);
    CHECK(read(log).skipped == "skipped 2 lines; first at line 1: unrecognized line 'root@head# ibnetdiscover'");
}

TEST_CASE("a byte-order mark in a topology file is skipped and reported") {
    const std::string marked = "\xef\xbb\xbf" + std::string(plain);
    CHECK(json_of(marked) == json_of(plain));
    CHECK(read(marked).skipped == "skipped 1 byte-order mark, in line 1");
    CHECK(refusal_of(marked) == "pasted:1: the line has a byte-order mark; save the file without it");
}

TEST_CASE("two logs of one subnet in one file give one subnet") {
    const std::string twice = std::string(plain) + std::string(plain);
    const described_subnet d = read(twice);
    CHECK(json_text(d.found) == json_of(plain));
    CHECK_FALSE(d.found.may_lack_nodes);
    // Six lines describe nodes, ten describe ports.
    CHECK_THAT(d.skipped, StartsWith(fmt::format("skipped 16 lines; first at line {}: node id", plain_lines + 10)));
}

TEST_CASE("a link to a node that is not in the file uses the description of the node in the link") {
    const std::size_t begin = plain.find("vendid=0x2c9\ndevid=0x1003"), end = plain.find("vendid=0x2c9\ndevid=0xc839");
    const std::string text = std::string(plain.substr(0, begin)) + std::string(plain.substr(end));
    const described_subnet d = read(text);
    CHECK(d.skipped == "1 link leads to 1 node not in the file, the first in line 21 to \"H-0002c90300000300\"");
    CHECK(refusal_of(text) == "pasted:21: unknown node \"H-0002c90300000300\"; add it, or remove this link");
    const subnet& s = d.found;
    CHECK(s.may_lack_nodes);
    const node& n = node_at(s, h3);
    CHECK(n.known == extent::links_only);
    CHECK(n.info.nodeType == iba::NodeType::CA);
    CHECK(n.description == "h-3 mlx4_0");
    CHECK(n.ports[2].portGUID == iba::guid{h3 + 2});
    CHECK(n.ports[2].info->LID == iba::lid{3});
    CHECK(rate_of(s, h3, 2) == "4xFDR10");
    CHECK(s.link_count() == 5);
    // The information is unknown, not missing: there is no difference from the complete file.
    CHECK(lines_of(differences(read(plain).found, s)).empty());
    CHECK(lines_of(differences(s, read(plain).found)).empty());
    CHECK(topology_difference(read(plain).found, s, {}, {}).empty());
    CHECK(topology_difference(s, read(plain).found, {}, {}).empty());
    // The host has no line in a list of nodes and no stanza. Its number of ports and its device are unknown.
    CHECK_THAT(format_hosts(s, {}), !Contains("h-3"));
    CHECK_THAT(format_hosts(s, {}), Contains("h-2"));
    CHECK(read(format_topology(s, {}, {})).skipped ==
          "1 link leads to 1 node not in the file, the first in line 22 to \"H-0002c90300000300\"");
}

TEST_CASE("a topology file truncated anywhere keeps everything before the truncation") {
    const subnet whole = read(plain).found;
    unsigned readable = 0;
    for (std::size_t size = 0; size < plain.size(); size += 3) {
        CAPTURE(size);
        const std::string text(plain.substr(0, size));
        const std::string why = refusal_of(text, reading::tolerant);
        if (why != "no error") {
            CHECK_THAT(why, Contains("the file contains no nodes"));
            continue;
        }
        ++readable;
        const described_subnet d = read(text);
        for (const difference& x : differences(whole, d.found)) {
            // Nodes without any trace are missing. If a number or a name is cut off, its value differs.
            const bool is_cut_value = x.of == difference::subject::description || x.of == difference::subject::LID ||
                                      x.of == difference::subject::rate || x.of == difference::subject::end_port;
            INFO(text_of(x.of) << ' ' << x.place);
            CHECK((is_cut_value || !d.found.find(x.nodeGUID) || !d.found.find(x.peer_nodeGUID) ||
                   x.of == difference::subject::link));
            if (x.of == difference::subject::node) CHECK_FALSE(d.found.may_lack_nodes);
        }
    }
    CHECK(readable > 400);
}

TEST_CASE("a stanza with a damaged head is unknown, and its ports do not belong to the previous stanza") {
    for (const auto& [what, by] : {std::pair<std::string_view, std::string_view>{"Switch\t4 \"S-0002c90300000d00\"",
                                                                                 "Switch\t4 S-0002c90300000d00"},
                                   {"Switch\t4 \"S-0002c90300000d00\"", "Swi\t4 \"S-0002c90300000d00\""},
                                   {"Switch\t4 \"S-0002c90300000d00\"", "Switch\t400 \"S-0002c90300000d00\""}}) {
        CAPTURE(std::string(by));
        const described_subnet d = read(replaced(std::string(plain), what, by));
        const subnet& s = d.found;
        CHECK_THAT(d.skipped, Contains("1 node of the file cannot be read"));
        CHECK(s.may_lack_nodes);
        CHECK(node_at(s, spine).known == extent::links_only);
        CHECK(node_at(s, leaf).known == extent::all);
        CHECK_FALSE(s.at(place(s, leaf, 3)).peer);
        CHECK(s.link_count() == 5); // the opposite ends name all of its cables
        CHECK(lines_of(differences(read(plain).found, s)).empty());
    }
}

TEST_CASE("a damaged port line makes the cable unknown instead of missing") {
    const subnet whole = read(plain).found;
    const std::string leaf_side = "[4]\t\"S-0002c90300000d00\"[1]", spine_side = "[1]\t\"S-0002c90300000900\"[4]";
    std::string text = replaced(std::string(plain), leaf_side, "[4]\t\"S-0002c903");
    CHECK(lines_of(differences(whole, read(text).found)).empty()); // the opposite end still names it
    text = replaced(text, spine_side, "[1]\tS-0002c90300000900\"[4]");
    const described_subnet d = read(text);
    CHECK_THAT(d.skipped, StartsWith("skipped 2 lines; first at line 13: "));
    CHECK(node_at(d.found, leaf).known == extent::some);
    CHECK_FALSE(d.found.at(place(d.found, leaf, 4)).peer);
    CHECK(lines_of(differences(whole, d.found)).empty());
    CHECK(lines_of(differences(d.found, whole)).empty());
    // Both stanzas are complete, but have no line for the cable: it was removed.
    const subnet cut = read(without(without(plain, leaf_side), spine_side)).found;
    CHECK(lines_of(differences(whole, cut)) ==
          std::vector<std::string>{"link 0 S-0002c90300000900 \"leaf 1\"[4] <=> S-0002c90300000d00 \"spine 1\"[1]"});
}

TEST_CASE("facts that a topology file cannot express are not differences to a discovered subnet") {
    const described_subnet d = read(plain);
    subnet real = d.found;
    for (node& n : real.nodes) {
        for (port& p : n.ports) {
            p.assumed = 0;
            if (!p.info && n.is_switch()) p.info.emplace().portState = iba::PortState::Down;
            else if (p.info) p.info->portState = iba::PortState::Armed;
        }
    }
    CHECK(lines_of(differences(d.found, real)).empty());
    CHECK(lines_of(differences(real, d.found)).empty());
    CHECK(topology_difference(d.found, real, {}, {.lids = true, .descriptions = true}).empty());
    // A value that the file contains does make a difference.
    real.nodes[0].ports[1].info->LID = iba::lid{99};
    CHECK(lines_of(differences(d.found, real)) ==
          std::vector<std::string>{"LID 2 H-0002c90300000100 \"h-1 mlx5_0\"[1]"});
}

TEST_CASE("a link with an unknown speed or LID is kept, and the line is reported") {
    std::string text = all_replaced(std::string(plain), "4xEDR", "4xABC");
    CHECK_THAT(read(text).skipped, StartsWith("skipped 2 lines; first at line 11: '4xABC' is not a width and a speed"));
    CHECK(rate_of(read(text).found, leaf, 1) == "?????");
    CHECK(read(text).found.link_count() == 5);
    text = replaced(std::string(plain), "4xEDR", "?????"); // ibnetdiscover prints this for an unknown speed: at one end
    CHECK(refusal_of(text) == "no error");
    CHECK(json_of(text) == json_of(plain));
    text = replaced(std::string(plain), "lid 65535 2xHDR", "lid 65536 2xHDR");
    CHECK_THAT(read(text).skipped, Contains("invalid lid"));
    CHECK(rate_of(read(text).found, leaf, 2) == "2xHDR");
}

TEST_CASE("names with quotes, question marks and control characters survive a topology file") {
    for (const std::string_view name :
         {R"(host "quoted" HCA-1)", "bad lid 7 4xSDR name", "a # b", "", "[1] (x)", "gr\xc3\xbcn", "tab\tand\x1b[31m",
          "not UTF-8 \xff\xfe", R"(back\slash \x)", "w=1 s=1"}) {
        CAPTURE(std::string(name));
        subnet s = read(plain).found;
        for (node& n : s.nodes)
            if (n.info.nodeGUID == iba::guid{h1}) n.description = name;
        const std::string text = format_topology(s, {}, {});
        CHECK(text.find('\x1b') == text.npos);
        CHECK(refusal_of(text) == "no error");
        CHECK(node_at(read(text).found, h1).description == name);
        CHECK(json_of(text) == json_text(s));
    }
}

TEST_CASE("a subnet survives writing and reading as a topology file and as a cache") {
    namespace sim = transports::sim;
    const auto* specification =
        GENERATE("fattree2,radix=4", "fattree3,radix=4,speed=HDR,width=2x", "torus,x=3,y=3,z=2,speed=QDR",
                 "ring,switches=5,speed=NDR", "line,switches=3,hosts=2,speed=SDR,width=1x", "plain");
    CAPTURE(specification);
    std::string text(plain);
    if (text = plain; specification != std::string_view("plain")) {
        sim::topology t = sim::make_topology(specification);
        sim::bring_up(t);
        std::ostringstream out;
        sim::write_topology(out, t);
        text = out.str();
    }
    const subnet first = read(text, reading::strict).found;
    const subnet again = read(format_topology(first, {}, {}), reading::strict).found;
    CHECK(cache_bytes(again, {}) == cache_bytes(first, {}));
    CHECK(format_topology(again, {}, {}) == format_topology(first, {}, {}));

    const std::string bytes = cache_bytes(first, {});
    const subnet cached = read_cache({reinterpret_cast<const u8*>(bytes.data()), bytes.size()}).found;
    CHECK(cache_bytes(cached, {}) == bytes);
    CHECK(json_text(cached) == json_text(first));
    CHECK(lines_of(differences(cached, first)).empty());

    const std::string diags = diags_cache_bytes(first);
    const subnet theirs = read_cache({reinterpret_cast<const u8*>(diags.data()), diags.size()}).found;
    CHECK(diags_cache_bytes(theirs) == diags);
    CHECK(lines_of(differences(theirs, first)).size() ==
          (specification == std::string_view("plain") ? 1 : 0)); // without an FDR10 link

    std::istringstream in(format_topology(first, {}, {}));
    std::ostringstream written;
    sim::write_topology(written, sim::read_topology(in, "again"));
    CHECK(json_of(written.str()) == json_text(first));
}

TEST_CASE("a damaged topology file stays marked as incomplete when it is written and read again") {
    const std::string damaged = replaced(std::string(plain), "Ca\t2 \"H-", "Ca\t2 H-");
    const subnet first = read(replaced(damaged, "[4]\t\"S-0002c90300000d00\"[1]", "[4]\t\"S-")).found;
    CHECK(first.may_lack_nodes);
    const subnet again = read(format_topology(first, {}, {})).found;
    CHECK(again.may_lack_nodes);
    CHECK(node_at(again, leaf).known == extent::some);
    const std::string bytes = cache_bytes(first, {});
    const subnet cached = read_cache({reinterpret_cast<const u8*>(bytes.data()), bytes.size()}).found;
    CHECK(cached.may_lack_nodes);
    CHECK(node_at(cached, leaf).known == extent::some);
    CHECK(node_at(cached, h3).known == extent::links_only);
}

TEST_CASE("a topology file without a node or with too many ports is rejected") {
    CHECK_THAT(refusal_of("", reading::tolerant), Contains("the file contains no nodes"));
    CHECK_THAT(refusal_of("hello\nworld\n", reading::tolerant), Contains("the file contains no nodes"));
    CHECK_THAT(refusal_of("{ CA NodeGUID: PN: }\n", reading::tolerant), Contains("the file contains no nodes"));
    std::string many;
    for (unsigned i = 0; i < 8000; ++i) many += fmt::format("Switch 255 \"{}\"\n", i);
    CHECK_THAT(refusal_of(many, reading::tolerant), Contains("the file has more ports than the maximum of 2000000"));
}

TEST_CASE("a cable that leads back into its own port is kept") {
    const std::string text =
        replaced(std::string(plain), "[4]\t\"S-0002c90300000d00\"",
                 "[3]\t\"S-0002c90300000900\"[3]\t\t# \"leaf 1\" lid 9 4xEDR\n[4]\t\"S-0002c90300000d00\"");
    const subnet s = read(text, reading::strict).found;
    CHECK(s.at(place(s, leaf, 3)).peer == place(s, leaf, 3));
    CHECK(json_of(format_topology(s, {}, {})) == json_text(s));
}

} // namespace topology_file_test
