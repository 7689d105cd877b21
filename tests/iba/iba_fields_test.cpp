// SPDX-License-Identifier: MIT
// iba_fields_test.cpp - fields by name and as text. The expected values were counted by hand from the tables.
#include "iba_samples.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/compare_structures.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::iba;
using namespace comad::test;

namespace {

template <wire T> std::string got(const T& value, std::string_view name) {
    const auto text = get_field(value, name);
    INFO(name);
    REQUIRE(text);
    return text.value();
}

template <wire T> T with(T value, std::string_view name, std::string_view text) {
    const auto done = set_field(value, name, text);
    INFO((done ? "" : done.error().text));
    REQUIRE(done);
    return value;
}

/// Returns the error of an assignment, which must not change the structure.
template <wire T> error refused(T value, std::string_view name, std::string_view text) {
    std::mt19937 random(5);
    std::array<u8, wire_size<T>> bytes;
    for (u8& byte : bytes) byte = static_cast<u8>(random());
    const auto before = bytes;
    INFO(name << '=' << text);
    REQUIRE(!set_field(info_of<T>, bytes, name, text));
    CHECK(bytes == before);
    const auto done = set_field(value, name, text);
    REQUIRE(!done);
    CHECK(done.error().text.find('\n') == std::string::npos);
    return done.error();
}

template <wire T> std::string unnamed(std::string_view name) {
    const auto text = get_field(T{}, name);
    REQUIRE(!text);
    CHECK(text.error().code == errc::unknown_name);
    std::array<u8, wire_size<T>> bytes{};
    CHECK(!set_field(info_of<T>, bytes, name, "0"));
    return text.error().text;
}

} // namespace

TEST_CASE("fields are enumerated in wire order, nested structures before their fields") {
    const std::vector<field_info> all = fields_of(info_of<mixture>);
    std::vector<std::string> names;
    for (const field_info& f : all) names.push_back(f.name);
    REQUIRE(names.size() == 6 + 2 * 3 + 12);
    CHECK(std::vector<std::string>(names.begin(), names.begin() + 12) ==
          std::vector<std::string>{"QOSClass", "reserved_12", "counter", "blocks", "blocks[0].port",
                                   "blocks[0].reserved_16", "blocks[0].LMC", "blocks[1].port", "blocks[1].reserved_16",
                                   "blocks[1].LMC", "nodeInfo", "nodeInfo.baseVersion"});
    CHECK(names.back() == "last");
    CHECK(all[1].row.is_reserved);
    CHECK(all[2].row.count == 2);
    CHECK(all[2].row.width == 32);
    CHECK(all[9].row.off == (12 + 4 + 3) * 8 + 5);
    CHECK(all[9].row.width == 3);
    CHECK(all[11].row.off == 160);
    CHECK(fields_of(info_of<nothing>).empty());

    for (const field_info& f : fields_of(info_of<wide>)) {
        const auto found = find_field(info_of<wide>, f.name);
        REQUIRE(found);
        CHECK(found.value().off == f.row.off);
        CHECK(found.value().bits() == f.row.bits());
        CHECK(found.value().nested == f.row.nested);
    }
}

TEST_CASE("kind_of returns the kind of value in a field") {
    const auto kind = [](std::string_view name) { return kind_of(find_field(info_of<wide>, name).value()); };
    CHECK(kind("one") == "GID");
    CHECK(kind("GUIDs") == "GUID");
    CHECK(kind("longs") == "integer");
    CHECK(kind("prefix") == "GID prefix");
    CHECK(kind("kind") == "enumeration");
    CHECK(kind("name") == "text");
    CHECK(kind("name[1]") == "integer");
    CHECK(kind("blob") == "bytes");
    CHECK(kind("tables") == "structure");
    CHECK(kind("tables[1].entries[2].shift") == "integer");
    CHECK(kind("reserved_992") == "bytes");
}

TEST_CASE("find_field finds fields by name and elements by index with their absolute offset") {
    const auto at_bit = [](std::string_view name) { return find_field(info_of<wide>, name).value().off; };
    CHECK(at_bit("GIDs") == 128);
    CHECK(at_bit("GIDs[1]") == 256);
    CHECK(at_bit("list[2]") == 97 * 8);
    CHECK(at_bit("tables[1]") == 108 * 8);
    CHECK(at_bit("tables[1].entries") == 110 * 8);
    CHECK(at_bit("tables[1].entries[2]") == 114 * 8);
    CHECK(at_bit("tables[1].entries[2].multiplier") == 114 * 8 + 2);
    const row_info element = find_field(info_of<wide>, "GIDs[1]").value();
    CHECK(element.count == 1);
    CHECK(element.width == 128);
}

TEST_CASE("get_field returns fields as text") {
    smp::PortInfo port;
    port.MKey = 5;
    port.GIDPrefix = 0xfe80000000000000;
    port.LID = lid{7};
    port.portState = PortState::Active;
    port.linkWidthActive = LinkWidth{3};
    port.reserved_274 = 6;
    CHECK(got(port, "MKey") == "0x0000000000000005");
    CHECK(got(port, "GIDPrefix") == "fe80::/64");
    CHECK(got(port, "LID") == "7");
    CHECK(got(port, "portState") == "Active");
    CHECK(got(port, "linkWidthActive") == "?? 3");
    CHECK(got(port, "reserved_274") == "6");

    wide w{};
    w.gids[1] = gid(0xfe80000000000000, guid{1});
    w.guids[1] = guid{0x001777fffeb62ca4};
    w.name = {'a', 0, 'c'};
    w.blob = {1, 2, 255};
    w.list = {1, 2, 255};
    w.tables[1].entries[2].multiplier = 0x3fff;
    CHECK(got(w, "GIDs[1]") == "fe80::1");
    CHECK(got(w, "GIDs") == "[::, fe80::1]");
    CHECK(got(w, "GUIDs[1]") == "0017:77ff:feb6:2ca4");
    CHECK(got(w, "name") == "a");
    CHECK(got(w, "name[2]") == "99");
    CHECK(got(w, "blob") == "0x0102ff");
    CHECK(got(w, "list") == "[1, 2, 255]");
    CHECK(got(w, "list[2]") == "255");
    CHECK(got(w, "tables[1].entries[2].multiplier") == "16383");
}

TEST_CASE("set_field accepts integers in decimal or hex") {
    CHECK(with(smp::PortInfo{}, "LID", "65535").LID == lid{65535});
    CHECK(with(smp::PortInfo{}, "LID", "0xc000").LID == lid{0xc000});
    CHECK(with(smp::PortInfo{}, "LID", "007").LID == lid{7});
    CHECK(with(smp::PortInfo{}, "MKey", "18446744073709551615").MKey == ~u64{0});
    CHECK(with(smp::PortInfo{}, "MKey", "0XFFFFFFFFFFFFFFFF").MKey == ~u64{0});
    CHECK(with(smp::PortInfo{}, "reserved_274", "5").reserved_274 == 5);
    CHECK(with(mixture{}, "blocks[1].LMC", "7").blocks[1].LMC == 7);
    CHECK(with(half_bytes{}, "SLtoVL[14]", "0xf").SLtoVL[14] == 15);
}

TEST_CASE("set_field leaves every other bit unchanged") {
    smp::PortInfo port;
    decode(port,
           [] {
               std::array<u8, 64> ones;
               ones.fill(0xff);
               return ones;
           }()
               .data());
    const smp::PortInfo changed = with(port, "LMC", "2");
    CHECK(differences(port, changed) == std::vector<std::string>{"LMC"});
    CHECK(changed.reserved_274 == 7);
}

TEST_CASE("set_field accepts enumerators by name or number") {
    CHECK(with(smp::NodeInfo{}, "nodeType", "Switch").nodeType == NodeType::Switch);
    CHECK(with(smp::NodeInfo{}, "nodeType", "2").nodeType == NodeType::Switch);
    CHECK(with(smp::NodeInfo{}, "nodeType", "77").nodeType == NodeType{77});
    CHECK(with(smp::NodeInfo{}, "nodeType", "?? 77").nodeType == NodeType{77});
    CHECK(with(smp::PortInfo{}, "linkWidthActive", "4x").linkWidthActive == LinkWidth::w4x);
    CHECK(refused(smp::NodeInfo{}, "nodeType", "Swich").text ==
          "SMPNodeInfo.nodeType is 'Swich', expected an unsigned integer or one of CA, Switch, Router");
}

TEST_CASE("set_field accepts GUIDs in all common notations") {
    for (const char* text : {"0017:77ff:feb6:2ca4", "17:77ff:feb6:2ca4", "0x001777fffeb62ca4", "0x1777FFFEB62CA4",
                             "001777fffeb62ca4", "0017:77FF:FEB6:2CA4"})
        CHECK(with(mixture{}, "nodeInfo.portGUID", text).nodeInfo.portGUID == guid{0x001777fffeb62ca4});
    CHECK(with(mixture{}, "nodeInfo.portGUID", "0:0:0:1").nodeInfo.portGUID == guid{1});
    for (const char* text : {"", ":", "1", "0:0:0", "0:0:0:0:1", "0:0:0:", ":0:0:0", "00017:77ff:feb6:2ca4", "0:0:0:x",
                             "001777fffeb62ca", "0x", "0:0:0:0x1", "-1", "0:0:0:-1", " 0:0:0:1", "fe80::1"})
        CHECK(refused(mixture{}, "nodeInfo.portGUID", text).code == errc::unreadable);
    CHECK(refused(mixture{}, "nodeInfo.portGUID", "5").text ==
          "Mixture.nodeInfo.portGUID is '5', expected a GUID (0017:77ff:feb6:2ca4)");
    CHECK(refused(mixture{}, "nodeInfo.portGUID", "0x10000000000000000").code == errc::out_of_range);
}

TEST_CASE("set_field accepts GIDs and GID prefixes as IPv6 addresses") {
    CHECK(with(wide{}, "one", "fe80::17:77ff:feb6:2ca4").one == gid(0xfe80000000000000, guid{0x001777fffeb62ca4}));
    CHECK(with(wide{}, "GIDs[1]", "::2").gids[1] == gid(0, guid{2}));
    CHECK(with(wide{}, "GIDs", "[::1, ::2]").gids == std::array{gid(0, guid{1}), gid(0, guid{2})});
    for (const char* text : {"", "1", "0x1", "fe80::1x", "fe80::1%0", "1.2.3.4", "fe80::/64"})
        CHECK(refused(wide{}, "one", text).code == errc::unreadable);
    using namespace std::string_view_literals;
    CHECK(refused(wide{}, "one", "::1\0"sv).text == "Wide.one is '::1\\x00', expected a GID (an IPv6 address)");

    for (const char* text : {"fe80::/64", "fe80::", "0xfe80000000000000", "18338657682652659712"})
        CHECK(with(smp::PortInfo{}, "GIDPrefix", text).GIDPrefix == 0xfe80000000000000);
    for (const char* text : {"fe80::1", "fe80::1/64", "fe80::/10", "/64", "fe80"})
        CHECK(refused(smp::PortInfo{}, "GIDPrefix", text).code == errc::unreadable);
}

TEST_CASE("set_field stores text and fills the rest of the field with zeros") {
    smp::NodeDescription description = with(smp::NodeDescription{}, "nodeString", "a long name");
    description = with(description, "nodeString", "MF0;sw-1, 'x'=1");
    CHECK(text(description) == "MF0;sw-1, 'x'=1");
    CHECK(description.nodeString[15] == 0);
    CHECK(text(with(description, "nodeString", "")).empty());
    CHECK(text(with(description, "nodeString", std::string(64, 'x'))) == std::string(64, 'x'));
    CHECK(text(with(description, "nodeString", "0x41")) == "0x41");
    CHECK(text(with(description, "nodeString", "0x41" + std::string(126, '0'))) == "A"); // all bytes of the field
    CHECK(refused(description, "nodeString", std::string(65, 'x')).text ==
          "SMPNodeDescription.nodeString must have at most 64 bytes, but got 65");
}

TEST_CASE("set_field requires byte strings as complete hex") {
    CHECK(with(wide{}, "blob", "0x0102Ff").blob == std::array<u8, 3>{1, 2, 255});
    CHECK(with(wide{}, "reserved_992", "0x0000000000000000000000ee").reserved_992[11] == 0xee);
    CHECK(with(wide{}, "blob[1]", "0x10").blob == std::array<u8, 3>{0, 16, 0});
    for (const char* text : {"", "0x", "0x0102", "0x010203ff", "010203", "0x0102fg", "[1, 2, 3]"})
        CHECK(refused(wide{}, "blob", text).code == errc::unreadable);
    CHECK(refused(wide{}, "blob", "0x0102").text == "Wide.blob is '0x0102', expected 0x and 6 hex digits");
}

TEST_CASE("set_field accepts arrays as lists and fills missing elements with zeros") {
    wide w{};
    w.list = {9, 9, 9};
    w.longs = {9, 9};
    for (const char* text : {"[1, 2, 3]", "1,2,3", "[1,2,3]", " 1 , 2,3 ", "0x010203", "[0x1, 2, 0x3]"})
        CHECK(with(w, "list", text).list == std::array<u8, 3>{1, 2, 3});
    CHECK(with(w, "list", "7").list == std::array<u8, 3>{7, 0, 0});
    CHECK(with(w, "list", "[]").list == std::array<u8, 3>{});
    CHECK(with(w, "longs", "[1]").longs == std::array<u64, 2>{1, 0});
    CHECK(with(w, "GUIDs", "0:0:0:1,0:0:0:2").guids == std::array{guid{1}, guid{2}});
    for (const char* text : {"", "1,,2", ",", "1,2,", "[1", "1]", "[[1]]", "1 2", "x"})
        CHECK(refused(w, "list", text).code == errc::unreadable);
    CHECK(refused(w, "list", "1,2,3,4").text == "Wide.list must have at most 3 elements, but got 4");
    CHECK(refused(w, "list", "1,256").text == "Wide.list[1]: value 256 does not fit in 8 bits");
}

TEST_CASE("set_field rejects a value with more bits than the field") {
    CHECK(refused(smp::PortInfo{}, "LMC", "9").text == "SMPPortInfo.LMC: value 9 does not fit in 3 bits");
    CHECK(refused(smp::PortInfo{}, "LMC", "0x9").text == "SMPPortInfo.LMC: value 0x9 does not fit in 3 bits");
    CHECK(refused(smp::PortInfo{}, "clientReregister", "2").text ==
          "SMPPortInfo.clientReregister: value 2 does not fit in 1 bit");
    CHECK(refused(smp::PortInfo{}, "portState", "16").code == errc::out_of_range);
    CHECK(refused(smp::PortInfo{}, "MKey", "18446744073709551616").text ==
          "SMPPortInfo.MKey: value (not shown) does not fit in 64 bits");
    CHECK(refused(mixture{}, "blocks[1].LMC", "8").text == "Mixture.blocks[1].LMC: value 8 does not fit in 3 bits");
}

TEST_CASE("set_field rejects text that is not a number") {
    for (const char* text : {"", "x", "0x", "-1", "+1", "1.5", "1e3", " 1", "1 ", "0b1", "0x1g"})
        CHECK(refused(smp::PortInfo{}, "LMC", text).code == errc::unreadable);
    CHECK(refused(smp::PortInfo{}, "LMC", "a\x1b\nb").text ==
          "SMPPortInfo.LMC is 'a\\x1b\\x0ab', expected an unsigned integer");
    CHECK(refused(smp::PortInfo{}, "LMC", std::string(1000, 'y')).text.size() < 120);
}

TEST_CASE("set_field reports another member with an oversized value instead of truncating it") {
    smp::PortInfo port;
    port.LMC = 9;
    const auto done = set_field(port, "LID", "1");
    REQUIRE(!done);
    CHECK(done.error().text == "SMPPortInfo.LMC: value 9 does not fit in 3 bits");
    CHECK(port.LID == lid{});
}

TEST_CASE("the message for an unknown field name suggests valid names, most similar first") {
    CHECK(unnamed<block>("lmc") == "Block has no field 'lmc'; the nearest are LMC, port");
    CHECK(unnamed<smp::NodeInfo>("nodeGuid")
              .starts_with("SMPNodeInfo has no field 'nodeGuid'; the nearest are nodeGUID, portGUID, "));
    CHECK(unnamed<smp::NodeInfo>("GUID").starts_with(
        "SMPNodeInfo has no field 'GUID'; the nearest are systemImageGUID, nodeGUID, portGUID, "));
    CHECK(unnamed<mixture>("nodeInfo.prtGUID")
              .starts_with("Mixture.nodeInfo has no field 'prtGUID'; the nearest are portGUID, "));
    CHECK(unnamed<mixture>("blocks[1].prt") == "Mixture.blocks[1] has no field 'prt'; the nearest are port, LMC");
    CHECK(unnamed<nothing>("x") == "Nothing has no fields");
    // The message shows three of many names, and no reserved one.
    const std::string three = unnamed<smp::PortInfo>("x");
    unsigned named = 0;
    for (const row_info& row : info_of<smp::PortInfo>.rows) {
        const bool is_named = three.find(" " + std::string(row.name) + ",") != std::string::npos;
        CHECK_FALSE((is_named && row.is_reserved));
        named += is_named;
    }
    CHECK(named == 3);
    CHECK(three.ends_with(", ..."));
    CHECK(unnamed<smp::PortInfo>(std::string(100000, 'x')).size() < 300);
}

TEST_CASE("the message for an invalid index names the valid range or the mistake") {
    CHECK(unnamed<smp::PortInfo>("LMC[0]") == "SMPPortInfo.LMC is not an array; omit the index");
    CHECK(unnamed<half_bytes>("SLtoVL[16]") == "the index of HalfBytes.SLtoVL must be 0..15");
    CHECK(unnamed<half_bytes>("SLtoVL[99999999999999999999]") == "the index of HalfBytes.SLtoVL must be 0..15");
    CHECK(unnamed<smp::PortInfo>("LMC.x") == "SMPPortInfo.LMC is not a structure and has no fields");
    CHECK(unnamed<mixture>("blocks.LMC") ==
          "Mixture.blocks is an array of 2 structures; name one of them, such as blocks[0]");
    CHECK(unnamed<mixture>("blocks[1]") == "Mixture.blocks[1] is a structure; name one of its fields: port, LMC");
    for (const char* name :
         {"", ".", "LMC.", ".LMC", "LMC[", "LMC]", "LMC[]", "LMC[x]", "LMC[-1]", "LMC[0]x", "LMC[0][0]"})
        unnamed<smp::PortInfo>(name);
}

TEST_CASE("get_field and set_field reject a buffer smaller than the structure") {
    std::array<u8, 63> bytes{};
    const auto text = get_field(info_of<smp::PortInfo>, bytes, "MKey");
    REQUIRE(!text);
    CHECK(text.error().text == "SMPPortInfo needs 64 bytes, but got only 63");
    CHECK(set_field(info_of<smp::PortInfo>, bytes, "MKey", "1").error().code == errc::too_short);
}

TEMPLATE_TEST_CASE("fields read from random bytes can be written and give the same bytes", "", mixture, wide,
                   half_bytes, smp::PortInfo, smp::FormatDirected) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::array<u8, wire_size<TestType>> bytes;
        for (u8& byte : bytes) byte = static_cast<u8>(random());
        std::array<u8, wire_size<TestType>> copy{};
        for (const field_info& f : fields_of(info_of<TestType>)) {
            if (f.row.nested) continue;
            INFO(f.name);
            if (f.row.how == show::text) { // text ends at a NUL: assigned byte by byte instead
                for (unsigned i = 0; i < f.row.count; ++i) {
                    const std::string byte = f.name + '[' + std::to_string(i) + ']';
                    REQUIRE(
                        set_field(info_of<TestType>, copy, byte, get_field(info_of<TestType>, bytes, byte).value()));
                }
                continue;
            }
            REQUIRE(set_field(info_of<TestType>, copy, f.name, get_field(info_of<TestType>, bytes, f.name).value()));
        }
        CHECK(copy == bytes);
    }
}

TEST_CASE("a path record that is set field by field has the bytes of python-rdma") {
    sa::PathRecord path;
    for (const auto& [name, text] : {std::pair{"DGID", "fe80::1"},
                                     {"DLID", "3"},
                                     {"reversible", "1"},
                                     {"numbPath", "1"},
                                     {"PKey", "0xffff"},
                                     {"MTUSelector", "2"},
                                     {"MTU", "4"},
                                     {"rateSelector", "2"},
                                     {"rate", "16"},
                                     {"packetLifeTimeSelector", "2"},
                                     {"packetLifeTime", "18"}})
        path = with(path, name, text);
    const std::string known = "0000000000000000fe80000000000000000000000000000100000000000000000000000000000000"
                              "00030000000000000081ffff000084909200000000000000";
    const auto bytes = encode(path);
    CHECK(fmt::format("{:02x}", fmt::join(bytes, "")) == known);
}

TEST_CASE("an assignment consists of a name and a text that can contain equals signs") {
    const auto a = parse_assignment("nodeInfo.portGUID=0017:77ff:feb6:2ca4");
    REQUIRE(a);
    CHECK(a.value().name == "nodeInfo.portGUID");
    CHECK(a.value().text == "0017:77ff:feb6:2ca4");
    CHECK(parse_assignment("nodeString=a=b").value().text == "a=b");
    CHECK(parse_assignment("nodeString=").value().text.empty());
    CHECK(parse_assignment("LMC").error().text == "invalid assignment 'LMC'; expected NAME=VALUE");
}

TEST_CASE("similar names are sorted by containment and then by the number of changed characters") {
    CHECK(most_similar_first("guid", {"LID", "portGUID", "GUIDs", "gid"}) == "portGUID, GUIDs, gid, LID");
    CHECK(most_similar_first("Switch", {"Router", "swich", "CA"}) == "swich, Router, CA");
    CHECK(most_similar_first("x", {}).empty());
}
