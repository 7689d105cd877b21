// SPDX-License-Identifier: MIT
// iba_print_test.cpp - dotted, JSON and dump. Samples in the shape of python-rdma's printers, which these follow.
#include "catch.hpp"
#include "iba_data.hpp"
#include <comad/iba/mad_header.hpp>
#include <comad/iba/print.hpp>
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
using json_value = nlohmann::json; // not `json`, which is also a printer

namespace {

struct quarter_bytes {
    std::array<u8, 16> value;
};
struct half_bytes {
    std::array<u8, 16> SLtoVL;
};
struct block {
    u16 port;
    u16 reserved_16;
    u8 LMC;
};
struct mixture {
    u16 QOSClass;
    u32 reserved_12;
    std::array<u32, 2> counter;
    std::array<block, 2> blocks;
    smp::NodeInfo nodeInfo;
    u8 last;
};

} // namespace

// clang-format off
template <> struct comad::iba::described<quarter_bytes> : std::true_type {
    using T = quarter_bytes;
    static constexpr auto layout = describe<4>("QuarterBytes", "0",
        field<&T::value, at{0}, 32>{"value"});
};
template <> struct comad::iba::described<half_bytes> : std::true_type {
    using T = half_bytes;
    static constexpr auto layout = describe<8>("HalfBytes", "0",
        field<&T::SLtoVL, at{0}, 64>{"SLtoVL"});
};
template <> struct comad::iba::described<block> : std::true_type {
    using T = block;
    static constexpr auto layout = describe<4>("Block", "0",
        field<&T::port,           at{0},    16>{"port"},
        reserved<&T::reserved_16, at{2},    13>{},
        field<&T::LMC,            at{3, 5},  3>{"LMC"});
};
template <> struct comad::iba::described<mixture> : std::true_type {
    using T = mixture;
    static constexpr auto layout = describe<61>("Mixture", "0",
        field<&T::QOSClass,       at{0},     12>{"QOSClass", show::hex},
        reserved<&T::reserved_12, at{1, 4},  20>{},
        field<&T::counter,        at{4},     64>{"counter"},
        field<&T::blocks,         at{12},    64>{"blocks"},
        field<&T::nodeInfo,       at{20},   320>{"nodeInfo"},
        field<&T::last,           at{60},     8>{"last"});
};
// clang-format on

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

TEST_CASE("a MAD is dumped word by word, with its attribute") {
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

TEST_CASE("a dump shows the D bit, hops and paths of a directed route") {
    smp::FormatDirected request;
    request.header.attributeID = 0x11;
    request.header.hopCount = 2;
    request.initialPath = {0, 1, 3};
    const std::string text = dump_mad(encode(request));
    CHECK(contains(text, "\n  4 00000002 D=0,status=0,hopPointer=0,hopCount=2\n"));
    CHECK(contains(text, "\n128 00010300 initialPath=[0:0, 1:1, 2:3, 3:0\n132 00000000 4:0, 5:0, 6:0, 7:0\n"));
    CHECK(contains(text, "\n188 00000000 60:0, 61:0, 62:0, 63:0]\n192 00000000 returnPath=[0:0, 1:0, 2:0, 3:0\n"));
}

TEST_CASE("a dump puts each element of an array beside the word where it begins") {
    half_bytes map;
    for (u8 i = 0; i < 16; ++i) map.SLtoVL[i] = i;
    CHECK(dump(map) == "  0 01234567 SLtoVL=[0:0, 1:1, 2:2, 3:3, 4:4, 5:5, 6:6, 7:7\n"
                       "  4 89ABCDEF 8:8, 9:9, 10:10, 11:11, 12:12, 13:13, 14:14, 15:15]\n");
    CHECK(contains(dump(quarter_bytes{{3, 2, 1}}), "  0 E4000000 value=[0:3, 1:2, 2:1, 3:0,"));
}

TEST_CASE("a dump gives nested structures their absolute offsets, and the last bytes their own width") {
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

TEST_CASE("printers read no byte behind what arrived, whatever it is") {
    std::mt19937 random(3);
    for (std::size_t size = 0; size <= 256; ++size) {
        std::vector<u8> mad(size); // sized exactly, for AddressSanitizer
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

TEST_CASE("fields that did not arrive are left out") {
    const std::array<u8, 4> beginning{1, 0x81, 1, 0x01};
    CHECK(dotted(info_of<MADHeader>, beginning) == "BaseVersion......................1\n"
                                                   "MgmtClass........................129\n"
                                                   "ClassVersion.....................1\n"
                                                   "Method...........................1\n");
    CHECK(json(info_of<MADHeader>, {}) == "{}");
}

TEST_CASE("dotted lines show hex, prefixes, names, text and numbers in their own way") {
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
    CHECK(contains(text, "\nMulticastPKeyTrapSuppressionEnabled.0\n")); // one dot at least
    CHECK(std::count(text.begin(), text.end(), '\n') == 51);

    CHECK(contains(dotted(node_info()), "SystemImageGUID..................0002:c903:0040:a0b3\n"));

    smp::NodeDescription description;
    const std::string name = "sw \"A\"\x1b";
    std::copy(name.begin(), name.end(), description.nodeString.begin());
    CHECK(dotted(description) == "NodeString.......................'sw \"A\"\\x1b'\n");
}

TEST_CASE("dotted lines of nested structures begin with their path") {
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
    CHECK(contains(dotted(quarter_bytes{{3, 2}}), "Value............................[0:3, 1:2, 2:0,"));
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
    check(info_of<smp::PortInfo>);
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

TEST_CASE("JSON has descriptions as text, bytes that are no UTF-8 as U+00NN") {
    smp::NodeDescription description;
    const std::string name = "a\"\\\xff\x1b";
    std::copy(name.begin(), name.end(), description.nodeString.begin());
    CHECK(json(description) == R"({"nodeString":"a\"\\\u00ff\u001b"})");
}
