// SPDX-License-Identifier: MIT
// difference_test.cpp - differences between two subnets, one of which was edited by hand, and the ports that a notice
// makes possibly stale.
#include "library/discovery_rig.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/walk/changes.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace difference_test {

using namespace comad;
using namespace comad::test;
using discovery::difference;
using discovery::port_ref;
using kind = difference::kind;
using subject = difference::subject;

namespace {

/// Two copies of one subnet. The hosts have the lower GUIDs.
struct two_subnets {
    two_subnets() : w(managed("fattree2,radix=4")), was(w.discover()), is(was) {}

    u32 find(std::string_view description) const {
        for (u32 n = 0; n < was.nodes.size(); ++n)
            if (was.nodes[n].description == description) return n;
        FAIL("there is no " << description);
        return 0;
    }
    std::vector<difference> all() const { return discovery::differences(was, is); }
    difference only() const {
        const auto found = all();
        REQUIRE(found.size() == 1);
        return found[0];
    }
    iba::guid GUID(u32 n) const { return was.nodes[n].info.nodeGUID; }
    discovery::port& now(port_ref r) { return is.nodes[r.node].ports[r.port]; }
    void unlink(port_ref r) { now(std::exchange(now(r).peer, {})).peer = {}; }
    void link(port_ref a, port_ref b) {
        now(a).peer = b;
        now(b).peer = a;
    }

    world w;
    subnet was, is;
};

} // namespace

TEST_CASE("equal subnets have no differences in any order of their nodes") {
    two_subnets s;
    CHECK(s.all().empty());
    put_in_order(s.is, s.find("h-0005 HCA-1"), 1);
    CHECK(s.is.nodes[0].description == "h-0005 HCA-1");
    CHECK(s.all().empty());
}

TEST_CASE("a changed description, LID, LMC, rate or state is one difference each") {
    two_subnets s;
    const u32 host = s.find("h-0003 HCA-1"), leaf = s.find("leaf-0002");
    SECTION("description") {
        s.is.nodes[host].description = "another";
        const difference d = s.only();
        CHECK(d.of == subject::description);
        CHECK(d.what == kind::changed);
        CHECK(d.nodeGUID == s.GUID(host));
        CHECK(d.was == "h-0003 HCA-1");
        CHECK(d.is == "another");
    }
    SECTION("LID of a host") {
        s.now({host, 1}).info->LID = iba::lid{77};
        const difference d = s.only();
        CHECK(d.of == subject::LID);
        CHECK(d.nodeGUID == s.GUID(host));
        CHECK(d.port == 1);
        CHECK(d.place == "H-0002c90300000300 \"h-0003 HCA-1\"[1]");
        CHECK(d.was == fmt::format("LID {} LMC 0", value(s.was.at({host, 1}).info->LID)));
        CHECK(d.is == "LID 77 LMC 0");
    }
    SECTION("LMC of a switch and ignored LIDs of its other ports") {
        s.now({leaf, 0}).info->LMC = 2;
        s.now({leaf, 1}).info->LID = iba::lid{99};
        const difference d = s.only();
        CHECK(d.of == subject::LID);
        CHECK(d.port == 0);
        CHECK_THAT(d.is, Catch::EndsWith(" LMC 2"));
    }
    SECTION("rate") {
        s.now({leaf, 1}).info->linkWidthActive = iba::LinkWidth::w1x;
        s.now({host, 1}).info->linkWidthActive = iba::LinkWidth::w1x;
        const difference d = s.only();
        CHECK(d.of == subject::rate);
        CHECK(d.nodeGUID == s.GUID(host)); // the smaller GUID
        CHECK(d.port == 1);
        CHECK(d.peer_nodeGUID == s.GUID(leaf));
        CHECK(d.peer_port == 1);
        CHECK(d.was == "4x EDR");
        CHECK(d.is == "1x EDR");
    }
    SECTION("state") {
        s.now({leaf, 1}).info->portState = iba::PortState::Armed;
        const difference d = s.only();
        CHECK(d.of == subject::state);
        CHECK(d.nodeGUID == s.GUID(leaf));
        CHECK(d.port == 1);
        CHECK(d.was == "Active");
        CHECK(d.is == "Armed");
    }
}

TEST_CASE("a removed link hides the state changes of its ends, and a moved cable is two differences") {
    two_subnets s;
    const u32 leaf = s.find("leaf-0002"), spine = s.find("spine-0001");
    const port_ref up{leaf, 3}, down = s.was.at(up).peer;
    REQUIRE(down.node == spine);
    s.unlink(up);
    for (const port_ref r : {up, down}) s.now(r).info->portState = iba::PortState::Down;
    const difference d = s.only();
    CHECK(d.of == subject::link);
    CHECK(d.what == kind::removed);
    CHECK(d.place ==
          fmt::format("{}[3] <=> {}[{}]", name_of(s.was.nodes[leaf]), name_of(s.was.nodes[spine]), down.port));
    std::swap(s.was, s.is);
    CHECK(s.only().what == kind::added);
    std::swap(s.was, s.is);

    // The cable from this leaf to the other spine now leads to where the other cable did.
    const port_ref other_up{leaf, 4};
    s.unlink(other_up);
    s.link(other_up, down);
    const auto all = s.all();
    std::vector<kind> kinds;
    for (const difference& one : all)
        if (one.of == subject::link) kinds.push_back(one.what);
    CHECK(kinds == std::vector<kind>{kind::removed, kind::removed, kind::added});
}

TEST_CASE("a removed node removes its end ports, and a new port GUID is a new end port") {
    two_subnets s;
    const u32 host = s.find("h-0003 HCA-1");
    s.now({host, 1}).portGUID = iba::guid{0x1234};
    auto all = s.all();
    REQUIRE(all.size() == 2);
    CHECK(all[0].of == subject::end_port);
    CHECK(all[0].what == kind::removed);
    CHECK_THAT(all[0].place, Catch::EndsWith("[1] port GUID 0002:c903:0000:0301"));
    CHECK(all[1].what == kind::added);
    CHECK_THAT(all[1].place, Catch::EndsWith("[1] port GUID 0000:0000:0000:1234"));

    s.is = s.was;
    u32 simulated = 0;
    while (s.w.net.graph().nodes[simulated].description != "h-0003 HCA-1") ++simulated;
    s.w.net.apply({transports::sim::topology_event::kind::cut, simulated, 1});
    s.is = s.w.discover();
    all = s.all();
    REQUIRE(all.size() == 2);
    CHECK(all[0].of == subject::node);
    CHECK(all[0].place == "H-0002c90300000300 \"h-0003 HCA-1\"");
    CHECK(all[1].of == subject::link);

    std::istringstream map("0x0002c90300000300 \"rack 7\"\n");
    std::vector<std::string> warnings;
    const auto names = discovery::node_names::read(map, "map", warnings);
    const auto named = discovery::differences(s.was, s.is, names);
    REQUIRE(named.size() == 2);
    CHECK(named[0].place == "H-0002c90300000300 \"rack 7\"");
    CHECK_THAT(named[1].place, Catch::StartsWith("H-0002c90300000300 \"rack 7\"[1] <=> "));
}

TEST_CASE("a notice marks the ports that it describes as possibly stale") {
    two_subnets s;
    const u32 host = s.find("h-0003 HCA-1"), leaf = s.find("leaf-0002");
    using refs = std::vector<port_ref>;
    const auto possibly_stale = [&](iba::TrapNumber number, const auto& details, bool isGeneric = true) {
        iba::Notice n;
        n.isGeneric = isGeneric;
        n.trapNumber = number;
        iba::encode(details, n.dataDetails.data());
        return discovery::ports_affected_by(s.was, n);
    };
    using iba::TrapNumber;
    const iba::lid leaf_lid = s.was.at({leaf, 0}).info->LID, host_lid = s.was.at({host, 1}).info->LID;
    CHECK(possibly_stale(TrapNumber::LinkStateChange, iba::NoticeTrap128{.lidAddr = leaf_lid}) == refs{{leaf, 0}});
    CHECK(possibly_stale(TrapNumber::LinkStateChange, iba::NoticeTrap128{.lidAddr = iba::lid{999}}) == refs{});
    // The number belongs to a notice of a vendor.
    CHECK(possibly_stale(TrapNumber::LinkStateChange, iba::NoticeTrap128{.lidAddr = leaf_lid}, false) == refs{});
    CHECK(possibly_stale(TrapNumber::LocalChange, iba::NoticeTrap144{.lidAddr = host_lid}) == refs{{host, 0}});
    CHECK(possibly_stale(TrapNumber::SystemImageGUIDChange, iba::NoticeTrap145{.lidAddr = host_lid}) ==
          refs{{host, 0}});
    const auto gid_of = [](iba::guid port) {
        return iba::NoticeTrap64{.gidAddr = iba::gid(iba::link_local_prefix, port)};
    };
    // If a host appears or disappears, its switch port is possibly stale. For a switch, all of its ports are. For an
    // unknown node, only the SA can be queried.
    for (const TrapNumber number : {TrapNumber::GIDInService, TrapNumber::GIDOutOfService}) {
        CHECK(possibly_stale(number, gid_of(s.was.at({host, 1}).portGUID)) == refs{{leaf, 1}});
        CHECK(possibly_stale(number, gid_of(s.was.nodes[leaf].info.portGUID)) == refs{{leaf, 0}});
        CHECK(possibly_stale(number, gid_of(iba::guid{0x9999})) == std::nullopt);
    }
    CHECK(possibly_stale(TrapNumber::MulticastGroupCreated, gid_of(iba::guid{1})) == refs{});
}

} // namespace difference_test
