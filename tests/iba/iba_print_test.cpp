// SPDX-License-Identifier: MIT
// iba_print_test.cpp - the dotted, JSON and dump formats. The samples follow the printers of python-rdma.
#include "iba_samples.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/from_json.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::iba;
using namespace comad::test;
using json_value = nlohmann::json; // not named `json`, which is also a printer

namespace {

smp::NodeInfo node_info() {
    smp::NodeInfo info;
    info.baseVersion = 1;
    info.classVersion = 1;
    info.nodeType = NodeType::Switch;
    info.numPorts = 36;
    info.systemImageGUID = guid{0x0002c9030040a0b3};
    info.nodeGUID = info.portGUID = guid{0x0002c9030040a0b0};
    info.partitionCap = 8;
    info.deviceID = 51000;
    info.revision = 161;
    info.localPortNum = 7;
    info.vendorID = 0x2c9;
    return info;
}

template <class T> bool contains(const std::string& text, const T& line) {
    return text.find(line) != std::string::npos;
}

} // namespace

TEST_CASE("a MAD is dumped word by word with its attribute") {
    smp::Format reply;
    reply.header.method = Method::GetResp;
    reply.header.transactionID = 0x1122334455667788;
    reply.header.attributeID = 0x11;
    encode(node_info(), reply.data.data());

    std::string expected = R"(  0 01010181 baseVersion=1,mgmtClass=1,classVersion=1,method=129
  4 00000000 status=0,classSpecific=0
  8 11223344 transactionID=1234605616436508552
 12 55667788 
 16 00110000 attributeID=17,reserved_144=0
 20 00000000 attributeModifier=0
 24 00000000 MKey=0
 28 00000000 
 32 00000000 reserved_256=<32 bytes>
)";
    for (int byte = 36; byte < 64; byte += 4) expected += fmt::format("{:3} 00000000 \n", byte);
    expected += R"(   + data SMPNodeInfo
 64 01010224 baseVersion=1,classVersion=1,nodeType=2,numPorts=36
 68 0002C903 systemImageGUID=GUID('0002:c903:0040:a0b3')
 72 0040A0B3 
 76 0002C903 nodeGUID=GUID('0002:c903:0040:a0b0')
 80 0040A0B0 
 84 0002C903 portGUID=GUID('0002:c903:0040:a0b0')
 88 0040A0B0 
 92 0008C738 partitionCap=8,deviceID=51000
 96 000000A1 revision=161
100 070002C9 localPortNum=7,vendorID=713
   - data
128 00000000 reserved_1024=<128 bytes>
)";
    CHECK(dump_mad(encode(reply)) == expected);
}

TEST_CASE("a dump of a directed-route SMP shows the D bit, the hops and both paths") {
    smp::FormatDirected request;
    request.header.attributeID = 0x11;
    request.header.hopCount = 2;
    request.initialPath = {0, 1, 3};
    const std::string text = dump_mad(encode(request));
    CHECK(contains(text, "\n  4 00000002 D=0,status=0,hopPointer=0,hopCount=2\n"));
    CHECK(contains(text, "\n128 00010300 initialPath=[0:0, 1:1, 2:3, 3:0\n132 00000000 4:0, 5:0, 6:0, 7:0\n"));
    CHECK(contains(text, "\n188 00000000 60:0, 61:0, 62:0, 63:0]\n192 00000000 returnPath=[0:0, 1:0, 2:0, 3:0\n"));
}

TEST_CASE("a dump shows each array element next to the word where it starts") {
    half_bytes map;
    for (u8 i = 0; i < 16; ++i) map.SLtoVL[i] = i;
    CHECK(dump(map) == "  0 01234567 SLtoVL=[0:0, 1:1, 2:2, 3:3, 4:4, 5:5, 6:6, 7:7\n"
                       "  4 89ABCDEF 8:8, 9:9, 10:10, 11:11, 12:12, 13:13, 14:14, 15:15]\n");
    CHECK(contains(dump(quarter_bytes{{3, 2, 1}}), "  0 E4000000 value=[0:3, 1:2, 2:1, 3:0,"));
}

TEST_CASE("a dump shows absolute offsets of nested structures and the actual width of the last bytes") {
    mixture m{};
    m.QOSClass = 0xabc;
    m.blocks[1] = {9, 0, 3};
    m.nodeInfo = node_info();
    m.last = 0x5a;
    const std::string text = dump(m);
    CHECK(contains(text, "  0 ABC00000 QOSClass=2748,reserved_12=0\n  4 00000000 counter=[0:0\n  8 00000000 1:0]\n"));
    CHECK(contains(text, "   + blocks[0] Block\n 12 00000000 port=0,reserved_16=0,LMC=0\n   - blocks[0]\n"));
    CHECK(contains(text, "   + blocks[1] Block\n 16 00090003 port=9,reserved_16=0,LMC=3\n   - blocks[1]\n"));
    CHECK(contains(text, "   + nodeInfo SMPNodeInfo\n 20 01010224 baseVersion=1"));
    CHECK(contains(text, "   - nodeInfo\n 60 5A last=90\n"));
}

TEST_CASE("a dump shows whole words at unaligned structures and repeats a shared word") {
    const table t{5, {pair{1, 2}, {3, 4}, {0, 5}}};
    CHECK(dump(t) == "  0 00054002 limit=5\n"
                     "   + entries[0] Pair\n"
                     "  0 00054002 shift=1,multiplier=2\n"
                     "   - entries[0]\n"
                     "   + entries[1] Pair\n"
                     "  4 C0040005 shift=3,multiplier=4\n"
                     "   - entries[1]\n"
                     "   + entries[2] Pair\n"
                     "  4 C0040005 shift=0,multiplier=5\n");

    wide w{};
    w.blob = {1, 2, 3};
    w.list = {4, 5, 6};
    w.number = 7;
    w.tables[1].entries[2] = {2, 1};
    w.reserved_992[11] = 1;
    const std::string text = dump(w);
    CHECK(contains(text, "\n 88 00000000 kind=0,name=''\n 92 01020304 blob=<3 bytes>,list=[0:4\n"
                         " 96 05060007 1:5, 2:6],number=7\n   + tables[0] Table\n100 00000000 limit=0\n"
                         "   + tables[0].entries[0] Pair\n100 00000000 shift=0,multiplier=0\n"
                         "   - tables[0].entries[0]\n"));
    CHECK(contains(text, "\n   + tables[1].entries[2] Pair\n112 00008001 shift=2,multiplier=1\n"
                         "   - tables[1].entries[2]\n   - tables[1]\n116 00000000 reserved_928=0\n"
                         "120 00000000 \n124 00000000 reserved_992=<12 bytes>\n128 00000000 \n132 00000001 \n"));
}

TEST_CASE("a dump omits the part of the data area that the attribute does not use") {
    smp::Format reply;
    const record_info& few = info_of<table>; // eight of 64 bytes
    CHECK(contains(dump(info_of<smp::Format>, encode(reply), &few),
                   " 68 00000000 shift=0,multiplier=0\n   - data.entries[2]\n   - data\n128 00000000 reserved_1024="));
    CHECK(contains(dump(info_of<smp::Format>, encode(reply), &info_of<nothing>),
                   "   + data Nothing\n   - data\n128 00000000 reserved_1024="));
}

TEST_CASE("a structure without bytes prints as nothing") {
    CHECK(dump(nothing{}).empty());
    CHECK(dotted(nothing{}).empty());
    CHECK(json(nothing{}) == "{}");
}

TEST_CASE("a MAD of an unknown class is dumped as words") {
    std::array<u8, 32> mad{};
    mad[1] = 0x7f;
    mad[31] = 1;
    CHECK(dump_mad(mad).substr(0, 30) == "  0 007F0000 \n  4 00000000 \n  ");
    CHECK(contains(dump_mad(mad), " 28 00000001 \n"));
    const std::array<u8, 3> fragment{0x01, 0x01, 0x01};
    CHECK(dump_mad(fragment) == "  0 010101 \n");
    CHECK(dump_mad({}).empty());
}

TEST_CASE("printers never read beyond the received bytes") {
    std::mt19937 random(3);
    for (std::size_t size = 0; size <= 256; ++size) {
        std::vector<u8> mad(size); // exact size, for AddressSanitizer
        for (u8& byte : mad) byte = static_cast<u8>(random());
        if (size > 2) mad[0] = mad[2] = 1;
        if (size > 2) mad[1] = size % 2 == 0 ? 0x01 : 0x81;
        if (size > 17) mad[16] = 0;
        if (size > 17) mad[17] = static_cast<u8>(0x10 + random() % 6);
        const std::string text = dump_mad(mad);
        CHECK(std::count(text.begin(), text.end(), '\n') >=
              static_cast<long>((std::min<std::size_t>(size, 24) + 3) / 4));
        dotted(info_of<smp::FormatDirected>, mad, &info_of<smp::PortInfo>);
        CHECK_NOTHROW(json_value::parse(json(info_of<smp::FormatDirected>, mad, &info_of<smp::NodeDescription>)));
    }
}

TEST_CASE("printers omit fields that were not received") {
    const std::array<u8, 4> beginning{1, 0x81, 1, 0x01};
    CHECK(dotted(info_of<MADHeader>, beginning) == "BaseVersion......................1\n"
                                                   "MgmtClass........................129\n"
                                                   "ClassVersion.....................1\n"
                                                   "Method...........................1\n");
    CHECK(json(info_of<MADHeader>, {}) == "{}");
}

TEST_CASE("dotted lines show hex, prefixes, names, text and numbers in their own formats") {
    smp::PortInfo port;
    port.MKey = 5;
    port.GIDPrefix = 0xfe80000000000000;
    port.LID = lid{7};
    port.portState = PortState::Active;
    port.linkWidthActive = LinkWidth{3};
    port.diagCode = 0xa;
    const std::string text = dotted(port);
    CHECK(contains(text, "MKey.............................0x0000000000000005\n"));
    CHECK(contains(text, "\nGIDPrefix........................fe80::/64\n"));
    CHECK(contains(text, "\nLID..............................7\n"));
    CHECK(contains(text, "\nPortState........................Active\n"));
    CHECK(contains(text, "\nLinkWidthActive..................?? 3\n"));
    CHECK(contains(text, "\nDiagCode.........................0x000a\n"));
    CHECK(contains(text, "\nMulticastPKeyTrapSuppressionEnabled.0\n")); // at least one dot
    CHECK(std::count(text.begin(), text.end(), '\n') == 54);

    CHECK(contains(dotted(node_info()), "SystemImageGUID..................0002:c903:0040:a0b3\n"));

    smp::NodeDescription description;
    const std::string name = "sw \"A\"\x1b";
    std::copy(name.begin(), name.end(), description.nodeString.begin());
    CHECK(dotted(description) == "NodeString.......................'sw \"A\"\\x1b'\n");
}

TEST_CASE("dotted lines of nested structures start with their path") {
    smp::Format reply;
    encode(node_info(), reply.data.data());
    const std::string text = dotted(info_of<smp::Format>, encode(reply), &info_of<smp::NodeInfo>);
    CHECK(contains(text, "\ndata.VendorID....................0x0002c9\n"));
    CHECK(contains(text, "\ndata.NodeType....................Switch\n"));
    CHECK(contains(dotted(reply), "\nData.............................0x01010224"));

    mixture m{};
    m.counter = {1, 2};
    m.blocks[1].port = 9;
    const std::string nested = dotted(m);
    CHECK(contains(nested, "QOSClass.........................0x000\nCounter[0].......................1\n"
                           "Counter[1].......................2\n"));
    CHECK(contains(nested, "\nblocks[1].Port...................9\n"));
    CHECK(contains(nested, "\nnodeInfo.NumPorts................0\n"));
    CHECK(contains(dotted(info_of<sa::Format>, encode(sa::Format{}), &info_of<sa::PathRecord>),
                   "\ndata.DGID........................::\n"));
    CHECK(contains(dotted(quarter_bytes{{3, 2}}), "Value............................[0:3, 1:2, 2:0,"));
}

TEST_CASE("dotted lines support a column, a colon, reserved bits and a line per array element") {
    mixture m{};
    m.reserved_12 = 9;
    m.last = 3;
    CHECK(contains(dotted(m, {.column = 25}), "QOSClass.................0x000\nCounter[0]...............0\n"));
    CHECK(contains(dotted(m, {.column = 25}), "\nnodeInfo.SystemImageGUID.0000:0000:0000:0000\n"));
    CHECK(contains(dotted(m, {.column = 25, .skip_reserved = false}),
                   "QOSClass.................0x000\nReserved_12..............9\nCounter[0]"));
    CHECK_FALSE(contains(dotted(m), "eserved"));
    CHECK(contains(dotted(m, {.colon = true}), "\nLast:............................3\n"));
    CHECK(contains(dotted(m, {.column = 25, .colon = true}), "\nnodeInfo.SystemImageGUID:0000:0000:0000:0000\n"));

    const std::string list = dotted(quarter_bytes{{3, 2}}, {.colon = true, .list = true});
    CHECK(contains(list, "Value[0]:........................3\nValue[1]:........................2\n"));
    CHECK(std::count(list.begin(), list.end(), '\n') == 16);
    CHECK(contains(dotted(smp::NodeDescription{}, {.list = true}), "NodeString.......................''\n"));
    CHECK(contains(dotted(smp::Format{}, {.skip_reserved = false, .list = true}),
                   "\nReserved_256.....................0x00000000"));
}

TEST_CASE("perfquery lines have a colon, and one line per virtual lane") {
    pm::PortVLXmitFlowCtlUpdateErrors errors;
    errors.portSelect = 3;
    errors.portVLXmitFlowCtlUpdateErrors = {3, 2};
    const std::string text = dotted(errors, {.colon = true, .list = true});
    CHECK(contains(text, "PortSelect:......................3\n"));
    CHECK(contains(text, "\nPortVLXmitFlowCtlUpdateErrors[0]:3\nPortVLXmitFlowCtlUpdateErrors[1]:2\n"));
}

TEST_CASE("dotted lines show each GID as an IPv6 address on its own line") {
    wide w{};
    w.one = gid(0xfe80000000000000, guid{1});
    w.gids[1] = gid(0, guid{2});
    w.kind = NodeType{9};
    w.name = {'a', 'b', 'c'};
    w.blob = {1, 2, 0xff};
    w.list = {1, 2, 0xff};
    const std::string text = dotted(w);
    CHECK(contains(text,
                   "One..............................fe80::1\nGIDs[0]..........................::\n"
                   "GIDs[1]..........................::2\nGUIDs[0].........................0000:0000:0000:0000\n"));
    CHECK(contains(text, "\nPrefix...........................::/64\nKind.............................?? 9\n"
                         "Name.............................'abc'\nBlob.............................0x0102ff\n"
                         "List.............................[0:1, 1:2, 2:255]\n"));
    CHECK(contains(text, "\ntables[1].entries[2].Multiplier..0\n"));
}

TEST_CASE("JSON has the known values of known bytes under the names of the IBA") {
    const auto check = [](const record_info& info) {
        unsigned vectors = 0;
        for (const json_value& vector : load_data("iba_vectors.jsonl")) {
            if (vector["struct"] != info.name) continue;
            ++vectors;
            json_value expected;
            for (const auto& [name, value] : vector["values"].items()) {
                if (name.starts_with("reserved_")) continue;
                expected[name] = value;
                if (!name.ends_with("GUID")) continue;
                const std::string hex = value;
                expected[name] =
                    hex.substr(2, 4) + ':' + hex.substr(6, 4) + ':' + hex.substr(10, 4) + ':' + hex.substr(14);
            }
            CHECK(json_value::parse(json(info, from_hex(vector["hex"]))) == expected);
        }
        CHECK(vectors == 4);
    };
    check(info_of<MADHeader>);
    check(info_of<MADHeaderDirected>);
    check(info_of<smp::Format>);
    check(info_of<smp::NodeInfo>);
    check(info_of<smp::SwitchInfo>);
}

TEST_CASE("JSON nests structures and lists arrays") {
    mixture m{};
    m.QOSClass = 0xabc;
    m.counter = {1, 0xffffffff};
    m.blocks[1] = {9, 0, 3};
    m.nodeInfo = node_info();
    const json_value parsed = json_value::parse(json(m));
    CHECK(parsed["QOSClass"] == 0xabc);
    CHECK(parsed["counter"] == json_value::array({1, 0xffffffff}));
    CHECK(parsed["blocks"] == json_value::parse(R"([{"port":0,"LMC":0},{"port":9,"LMC":3}])"));
    CHECK(parsed["nodeInfo"]["nodeGUID"] == "0002:c903:0040:a0b0");
    CHECK(parsed["nodeInfo"]["nodeType"] == 2);
    CHECK(parsed.size() == 5);

    smp::FormatDirected request;
    request.initialPath = {0, 1, 3};
    const json_value mad =
        json_value::parse(json(info_of<smp::FormatDirected>, encode(request), &info_of<smp::NodeInfo>));
    CHECK(mad["initialPath"].size() == 64);
    CHECK(mad["initialPath"][2] == 3);
    CHECK(mad["data"]["numPorts"] == 0);
    CHECK(mad["MKey"] == "0x0000000000000000");
}

TEST_CASE("JSON has descriptions as text with invalid UTF-8 bytes as U+00NN") {
    smp::NodeDescription description;
    const std::string name = "a\"\\\xff\x1b";
    std::copy(name.begin(), name.end(), description.nodeString.begin());
    CHECK(json(description) == R"({"nodeString":"a\"\\\u00ff\u001b"})");
}

TEST_CASE("exact JSON has reserved members and byte strings in wire order") {
    wide w{};
    w.one = gid(0xfe80000000000000, guid{1});
    w.gids[1] = gid(0, guid{2});
    w.guids[0] = guid{0x001777fffeb62ca4};
    w.longs[1] = 0xab;
    w.prefix = 0xfe80000000000000;
    w.kind = NodeType::Router;
    w.name = {'a', 'b', 0};
    w.blob = {1, 2, 0xff};
    w.list = {1, 2, 0xfe};
    w.number = 0x102;
    w.tables[1] = {5, {pair{1, 2}, {3, 4}, {0, 5}}};
    w.reserved_928 = 1;
    w.reserved_992[11] = 0xee;
    CHECK(
        json(w, json_style::exact) ==
        R"({"one":"fe80::1","GIDs":["::","::2"],"GUIDs":["0017:77ff:feb6:2ca4","0000:0000:0000:0000"],)"
        R"("longs":["0x0000000000000000","0x00000000000000ab"],"prefix":"0xfe80000000000000","kind":3,)"
        R"("name":"0x616200","blob":"0x0102ff","list":"0x0102fe","number":258,"tables":[{"limit":0,"entries":[)"
        R"({"shift":0,"multiplier":0},{"shift":0,"multiplier":0},{"shift":0,"multiplier":0}]},)"
        R"({"limit":5,"entries":[{"shift":1,"multiplier":2},{"shift":3,"multiplier":4},{"shift":0,"multiplier":5}]}],)"
        R"("reserved_928":"0x0000000000000001","reserved_992":"0x0000000000000000000000ee"})");
    CHECK(contains(json(w), R"("name":"ab","blob":"0x0102ff","list":[1,2,254],)"));
    CHECK_FALSE(contains(json(w), "reserved"));
}

namespace {

/// Returns a trap 144 with the layout of IBA 13.4.8.2 and 14.2.5.1: LID 0x1234 has a new description.
std::vector<u8> notice_144() {
    std::vector<u8> bytes(wire_size<Notice>);
    const std::array<u8, 24> begin{0x84, 0,    0,    2,    0, 144, 0x12, 0x34, 0, 1, // generic, informational, a switch
                                   0,    0,    0x12, 0x34,                           // details: lidAddr
                                   0,    1,                                          // otherLocalChanges
                                   0x89, 0xab, 0xcd, 0xef,                           // capabilityMask
                                   0,    1};                                         // nodeDescriptionChange
    std::copy(begin.begin(), begin.end(), bytes.begin());
    return bytes;
}

} // namespace

TEST_CASE("the details of a notice are shown according to its trap number") {
    const std::string text = dotted(info_of<Notice>, notice_144());
    CHECK(contains(text, "dataDetails.LidAddr..............4660\n"));
    CHECK(contains(text, "dataDetails.CapabilityMask.......0x89abcdef\n"));
    CHECK(contains(text, "dataDetails.NodeDescriptionChange.1\n"));
    CHECK_FALSE(contains(text, "DataDetails"));
    CHECK(contains(dump(info_of<Notice>, notice_144()), "   + dataDetails MADNoticeTrap144\n"));
    const json_value shown = json_value::parse(json(info_of<Notice>, notice_144()));
    CHECK(shown["dataDetails"]["capabilityMask"] == 0x89abcdef);
}

TEST_CASE("the details of an unknown or vendor-specific trap are shown as bytes") {
    std::vector<u8> unknown = notice_144();
    unknown[5] = 143;
    std::vector<u8> of_vendor = notice_144();
    of_vendor[0] = 0x04;
    for (const std::vector<u8>& notice : {unknown, of_vendor}) {
        CHECK(
            contains(dotted(info_of<Notice>, notice), "\nDataDetails......................0x00001234000189abcdef0001"));
        CHECK(json_value::parse(json(info_of<Notice>, notice))["dataDetails"].is_string());
    }
}

TEST_CASE("exact JSON keeps the details of a notice as bytes, and both JSON styles can be read back") {
    const std::vector<u8> notice = notice_144();
    const std::string exact = json(info_of<Notice>, notice, nullptr, json_style::exact);
    CHECK(json_value::parse(exact)["dataDetails"].get<std::string>().starts_with("0x00001234000189abcdef0001"));
    for (const std::string& text : {exact, json(info_of<Notice>, notice)}) {
        std::vector<u8> read(notice.size());
        REQUIRE(set_json(info_of<Notice>, read, text));
        CHECK(read == notice);
    }
    std::vector<u8> read(notice.size());
    const auto without_trap = set_json(info_of<Notice>, read, R"({"dataDetails":{"lidAddr":7}})");
    REQUIRE(!without_trap);
    CHECK(contains(without_trap.error().text, "dataDetails"));
}

TEST_CASE("a trap is dumped with its details") {
    smp::Format trap;
    trap.header.method = Method::Trap;
    trap.header.attributeID = 0x0002;
    const std::vector<u8> notice = notice_144();
    std::copy_n(notice.begin(), trap.data.size(), trap.data.begin());
    const std::string text = dump_mad(encode(trap));
    CHECK(contains(text, "   + data SMPNoticeTrap\n"));
    CHECK(contains(text, "   + data.dataDetails MADNoticeTrap144\n"));
    CHECK(contains(text, "nodeDescriptionChange=1"));
}
