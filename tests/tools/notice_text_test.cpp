// SPDX-License-Identifier: MIT
// notice_text_test.cpp - the subjects of notices as text and as JSON. Each DataDetails is written byte by byte after
// IBA 14.2.5.1. The offsets in OpenSM's ib_types.h (ib_mad_notice_attr_t) are equal.
#include "support/catch.hpp"
#include "text/notice_text.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

namespace notice_text_test {

using namespace comad;
using ibtool::notice_text;
using json = nlohmann::ordered_json;

namespace {

constexpr iba::guid host_port_guid{0x0002c90300000301};
const std::vector<u8> host_gid{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 3, 1};
const std::vector<u8> other_gid{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 0x99, 1};

/// Adds a node with one end port that has been read.
void add_node(discovery::subnet& s, iba::NodeType type, u64 GUID, std::string description, u8 port, u16 LID) {
    discovery::node& n = s.nodes.emplace_back();
    n.info.nodeType = type;
    n.info.nodeGUID = iba::guid{GUID};
    n.info.numPorts = 2;
    n.description = std::move(description);
    n.ports.resize(3);
    n.ports[port].portGUID = iba::guid{GUID + port};
    n.ports[port].info.emplace().LID = iba::lid{LID};
}

/// Returns a subnet with the manager's host, a switch and a host.
discovery::subnet three_nodes() {
    discovery::subnet s;
    add_node(s, iba::NodeType::CA, 0x0002c90300000100, "manager", 1, 1);
    add_node(s, iba::NodeType::Switch, 0x0002c90300000200, "leaf", 0, 3);
    add_node(s, iba::NodeType::CA, 0x0002c90300000300, "ho\x1bst", 1, 5);
    return s;
}

/// Bytes of DataDetails at an offset.
struct at {
    std::size_t offset;
    std::vector<u8> bytes;
};

/// Returns a generic notice with these bytes in its DataDetails.
iba::Notice notice(u16 trap, u16 issuer, std::initializer_list<at> details) {
    iba::Notice n;
    n.isGeneric = true;
    n.noticeType = iba::NoticeType::Informational;
    n.trapNumber = iba::TrapNumber{trap};
    n.issuerLID = iba::lid{issuer};
    for (const at& d : details)
        std::copy(d.bytes.begin(), d.bytes.end(), n.dataDetails.begin() + static_cast<std::ptrdiff_t>(d.offset));
    return n;
}

/// Checks the text and the JSON of notices about the subnet of three nodes.
struct notices_rig {
    discovery::subnet subnet = three_nodes();
    discovery::node_names names;
    notice_text words{subnet, names};
    void check(const iba::Notice& n, const std::string& text, const json& about) const {
        CHECK(words.text(n) == text);
        const json line = words.to_json(n);
        CHECK(line.at("issuerLID") == value(n.issuerLID));
        CHECK(line.at("trap") == static_cast<u16>(n.trapNumber));
        CHECK(line.at("about") == about);
    }
};

const json host{{"LID", 5}, {"nodeGUID", "0002:c903:0000:0300"}, {"name", "ho\x1bst"}, {"port", 1}};
const json leaf{{"LID", 3}, {"nodeGUID", "0002:c903:0000:0200"}, {"name", "leaf"}};

/// Returns an object with further members.
json with(json object, const json& more) {
    object.update(more);
    return object;
}

} // namespace

TEST_CASE("a notice about a GID names the port that was added or removed, and not the issuer") {
    const notices_rig r;
    r.check(
        notice(65, 1, {{6, host_gid}}),
        R"(notice GIDOutOfService: GID fe80::2:c903:0:301 ("ho\x1bst"[1]) is out of service; reported by LID 1 ("manager"[1]))",
        {{"GID", "fe80::2:c903:0:301"}, {"nodeGUID", "0002:c903:0000:0300"}, {"name", "ho\x1bst"}, {"port", 1}});
    r.check(notice(64, 1, {{6, other_gid}}),
            R"(notice GIDInService: GID fe80::2:c903:0:9901 is in service; reported by LID 1 ("manager"[1]))",
            {{"GID", "fe80::2:c903:0:9901"}});
}

TEST_CASE("a notice about a multicast group names the group") {
    const notices_rig r;
    const std::vector<u8> MGID{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    r.check(
        notice(66, 1, {{6, MGID}}),
        R"(notice MulticastGroupCreated: multicast group ff12:401b:ffff::ffff:ffff was created; reported by LID 1 ("manager"[1]))",
        {{"MGID", "ff12:401b:ffff::ffff:ffff"}});
    r.check(
        notice(67, 1, {{6, MGID}}),
        R"(notice MulticastGroupDeleted: multicast group ff12:401b:ffff::ffff:ffff was deleted; reported by LID 1 ("manager"[1]))",
        {{"MGID", "ff12:401b:ffff::ffff:ffff"}});
}

TEST_CASE("a notice about a switch or a port names it by LID, name and port") {
    const notices_rig r;
    r.check(
        notice(128, 3, {{0, {0, 3}}}), // only this trap has LIDADDR as its first member
        R"(notice LinkStateChange: the state of a link changed at the switch with LID 3 ("leaf"); reported by LID 3 ("leaf"))",
        leaf);
    r.check(
        notice(129, 3, {{2, {0, 3, 7}}}),
        R"(notice LinkIntegrityThreshold: port 7 of LID 3 ("leaf") reached the threshold of local link integrity errors; reported by LID 3 ("leaf"))",
        with(leaf, {{"port", 7}}));
    r.check(
        notice(130, 3, {{2, {0, 3, 7}}}),
        R"(notice BufferOverrunThreshold: port 7 of LID 3 ("leaf") reached the threshold of excessive buffer overruns; reported by LID 3 ("leaf"))",
        with(leaf, {{"port", 7}}));
    r.check(
        notice(131, 9, {{2, {0, 9, 7}}}),
        R"(notice FlowControlWatchdog: port 7 of LID 9 received no flow control update in time (watchdog); reported by LID 9)",
        {{"LID", 9}, {"port", 7}});
}

TEST_CASE("a notice about a local change names the change") {
    const notices_rig r;
    r.check(
        notice(144, 5, {{2, {0, 5}}, {6, {0x02, 0x51, 0x48, 0x6a}}}),
        R"(notice LocalChange: LID 5 ("ho\x1bst"[1]): the capability mask changed to 0x0251486a; reported by LID 5 ("ho\x1bst"[1]))",
        with(host, {{"changed", {"CapabilityMask"}}, {"capabilityMask", 0x0251486a}}));
    r.check(
        notice(144, 5, {{2, {0, 5}}, {5, {1}}, {10, {0, 0x01}}}), // TRAP_144_MASK_NODE_DESCRIPTION_CHANGE
        R"(notice LocalChange: LID 5 ("ho\x1bst"[1]): the node description changed; reported by LID 5 ("ho\x1bst"[1]))",
        with(host, {{"changed", {"NodeDescription"}}, {"capabilityMask", 0}}));
    r.check(
        notice(144, 5, {{2, {0, 5}}, {5, {1}}, {10, {0, 0x3e}}}),
        R"(notice LocalChange: LID 5 ("ho\x1bst"[1]): the enabled link widths, the enabled link speeds, the SM priority, the hierarchy information, the capability mask 2 changed; reported by LID 5 ("ho\x1bst"[1]))",
        with(host,
             {{"changed", {"LinkWidthEnabled", "LinkSpeedEnabled", "SMPriority", "HierarchyInfo", "CapabilityMask2"}},
              {"capabilityMask", 0}}));
    r.check(
        notice(145, 3, {{2, {0, 3}}, {6, {0, 2, 0xc9, 3, 0, 0, 2, 3}}}),
        R"(notice SystemImageGUIDChange: LID 3 ("leaf"): the system image GUID changed to 0002:c903:0000:0203; reported by LID 3 ("leaf"))",
        with(leaf, {{"systemImageGUID", "0002:c903:0000:0203"}}));
}

TEST_CASE("a notice about a wrong M_Key names the SMP and its route, and never the M_Key") {
    const notices_rig r;
    const at MKey{14, {0xab, 0xcd, 0xab, 0xcd, 0xab, 0xcd, 0xab, 0xcd}};
    const iba::Notice by_lid = notice(256, 3, {{2, {0, 5}}, {6, {2}}, {8, {0, 0x15}}, {10, {0, 0, 0, 7}}, MKey});
    r.check(
        by_lid,
        R"(notice BadMKey: wrong M_Key in Set of PortInfo, modifier 0x7, from LID 5 ("ho\x1bst"[1]); reported by LID 3 ("leaf"))",
        {{"source", host},
         {"method", "Set"},
         {"attribute", "PortInfo"},
         {"attributeID", 0x15},
         {"attributeModifier", 7}});
    // DRNotice and DRPathTruncated are the upper two bits of a byte whose lower six bits are DRHopCount.
    const iba::Notice by_route = notice(
        256, 3, {{2, {0, 5}}, {4, {0xff, 0xff}}, {6, {1}}, {8, {0x12, 0x34}}, MKey, {23, {0xc3}}, {24, {4, 9, 2, 8}}});
    r.check(
        by_route,
        R"(notice BadMKey: wrong M_Key in Get of attribute 0x1234, modifier 0x0, from LID 5 ("ho\x1bst"[1]) by directed route, drSLID 65535, 3 hops, return path 4,9,2 (truncated); reported by LID 3 ("leaf"))",
        {{"source", host},
         {"method", "Get"},
         {"attribute", "attribute 0x1234"},
         {"attributeID", 0x1234},
         {"attributeModifier", 0},
         {"directed_route", {{"drSLID", 0xffff}, {"hops", 3}, {"return_path", {4, 9, 2}}, {"truncated", true}}}});
    for (const iba::Notice& n : {by_lid, by_route}) {
        const std::string all = r.words.text(n) + r.words.to_json(n).dump();
        CHECK(all.find("abcd") == all.npos);
        CHECK(all.find(std::to_string(0xabcdabcdabcdabcd)) == all.npos);
    }
}

TEST_CASE("a hop count beyond the return path of a notice causes no read beyond the path") {
    const notices_rig r;
    const json line = r.words.to_json(notice(256, 3, {{23, {0xbf}}}));
    CHECK(line["about"]["directed_route"]["hops"] == 63);
    CHECK(line["about"]["directed_route"]["return_path"].size() == 30);
}

TEST_CASE("a notice about a wrong P_Key or Q_Key names the key and both ends of the packet") {
    const notices_rig r;
    const at SLID{2, {0, 5}}, DLID{4, {0, 1}}, SL{10, {0x30}}, source_qp{11, {0x01, 0x02, 0x03}},
        destination_qp{15, {0, 0, 1}};
    const json source = with(host, {{"QP", 0x010203}});
    const json destination{
        {"LID", 1}, {"nodeGUID", "0002:c903:0000:0100"}, {"name", "manager"}, {"port", 1}, {"QP", 1}};
    r.check(
        notice(257, 1, {SLID, DLID, {6, {0, 0, 0x80, 1}}, SL, source_qp, destination_qp}),
        R"(notice BadPKey: wrong P_Key 0x8001 in a packet from LID 5 ("ho\x1bst"[1]) QP 0x10203 to LID 1 ("manager"[1]) QP 0x1, SL 3; reported by LID 1 ("manager"[1]))",
        {{"PKey", 0x8001}, {"SL", 3}, {"source", source}, {"destination", destination}});
    r.check(
        notice(258, 1,
               {SLID, DLID, {6, {0x80, 1, 0, 2}}, SL, source_qp, destination_qp, {18, host_gid}, {34, other_gid}}),
        R"(notice BadQKey: wrong Q_Key 0x80010002 in a packet from LID 5 ("ho\x1bst"[1]) QP 0x10203 GID fe80::2:c903:0:301 to LID 1 ("manager"[1]) QP 0x1 GID fe80::2:c903:0:9901, SL 3; reported by LID 1 ("manager"[1]))",
        {{"QKey", 0x80010002},
         {"SL", 3},
         {"source", with(source, {{"GID", "fe80::2:c903:0:301"}})},
         {"destination", with(destination, {{"GID", "fe80::2:c903:0:9901"}})}});
}

TEST_CASE("a notice about a switch that dropped a packet for its P_Key names the switch and its port") {
    const notices_rig r;
    r.check(
        notice(259, 3,
               {{0, {0, 0x3f}},
                {2, {0, 5}},
                {4, {0, 1}},
                {6, {0x80, 1}},
                {8, {0x30}},
                {9, {0x01, 0x02, 0x03}},
                {13, {0, 0, 1}},
                {48, {0, 3}},
                {50, {7}}}),
        R"(notice BadPKeyAtSwitch: wrong P_Key 0x8001 in a packet from LID 5 ("ho\x1bst"[1]) QP 0x10203 to LID 1 ("manager"[1]) QP 0x1, SL 3; received at port 7 of the switch with LID 3 ("leaf"); reported by LID 3 ("leaf"))",
        {{"PKey", 0x8001},
         {"SL", 3},
         {"source", with(host, {{"QP", 0x010203}})},
         {"destination",
          {{"LID", 1}, {"nodeGUID", "0002:c903:0000:0100"}, {"name", "manager"}, {"port", 1}, {"QP", 1}}},
         {"switch", with(leaf, {{"port", 7}})},
         {"dataValid", 0x3f}});
}

TEST_CASE("an unknown or vendor-specific notice prints its numbers and no details") {
    const notices_rig r;
    CHECK(r.words.text(notice(600, 9, {})) == "notice 600; reported by LID 9");
    CHECK_FALSE(r.words.to_json(notice(600, 9, {})).contains("about"));
    iba::Notice of_vendor = notice(65, 9, {{6, host_gid}}); // the number is a device ID here and not a trap number
    of_vendor.isGeneric = false;
    of_vendor.nodeType = iba::ProducerType{0x0002c9};
    CHECK(r.words.text(of_vendor) == "notice Informational of device 0x41 of vendor 0x0002c9; reported by LID 9");
    const json line = r.words.to_json(of_vendor);
    CHECK(line.at("vendorID") == 0x2c9);
    CHECK(line.at("deviceID") == 65);
    CHECK_FALSE(line.contains("about"));
}

} // namespace notice_text_test
