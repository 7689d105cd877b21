// SPDX-License-Identifier: MIT
// sim_set_test.cpp - what a subnet manager writes to a simulated subnet, and the effects (IBA 14.2.4, 14.2.5, 14.4.1).
// Also a minimal manager that configures a subnet only with SubnSets.
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/coro/driver.hpp>
#include <comad/iba.hpp>

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::transports::sim;
using iba::PortPhysicalState;
using iba::PortState;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::errc;
namespace smp = iba::smp;

namespace {

struct subnet {
    explicit subnet(const std::string& specification)
        : sim(make_sim(specification, time_mode::virtual_)),
          umad(*sim.transport, {.timeout = mad::duration{1'000'000}}) {}

    const topology& graph() const { return sim.fabric->graph(); }
    template <class T> T get(const mad::any_path& path, u32 modifier = 0) {
        auto got = umad.SubnGet<T>(path, modifier);
        REQUIRE(got);
        return got.value();
    }
    /// Reads an attribute, changes it and writes it. Returns what the node replies.
    template <class T, class F> mad::result<T> change(const mad::any_path& path, u32 modifier, F&& f) {
        T value = get<T>(path, modifier);
        f(value);
        return umad.SubnSet(value, path, modifier);
    }
    mad::result<PortInfo> set_state(const mad::any_path& path, u32 port, PortState state) {
        return change<PortInfo>(path, port, [&](PortInfo& i) { i.portState = state; });
    }
    mad::result<PortInfo> set_physical(const mad::any_path& path, u32 port, PortPhysicalState state) {
        return change<PortInfo>(path, port, [&](PortInfo& i) {
            i.portState = PortState::NoChange;
            i.portPhysicalState = state;
        });
    }
    PortState state(const mad::any_path& path, u32 port) { return get<PortInfo>(path, port).portState; }
    bool answers(const mad::any_path& path) { return umad.SubnGet<smp::NodeInfo>(path).has_value(); }

    simulation sim;
    coro::blocking_transactor umad;
};

bool is_invalid(const auto& result) {
    return !result && result.error().code == errc::status && result.error().status == 0x1c;
}

// h-0001 is at port 1 of its leaf. Port 3 of this leaf leads to port 1 of the first spine.
const mad::any_path here = route({}), leaf = route({1}), spine = route({1, 3}), neighbour = route({1, 2});

} // namespace

TEST_CASE("the state of a port changes only from Initialize to Armed to Active") {
    subnet s("fattree2,radix=4");
    CHECK(is_invalid(s.set_state(leaf, 3, PortState::Active)));
    CHECK(is_invalid(s.set_state(leaf, 3, PortState{5})));
    CHECK(s.state(leaf, 3) == PortState::Initialize);
    CHECK(s.set_state(leaf, 3, PortState::Armed).value().portState == PortState::Armed);
    CHECK(s.state(spine, 1) == PortState::Initialize); // each end has its own state
    CHECK(is_invalid(s.set_state(leaf, 3, PortState::Initialize)));
    CHECK(s.set_state(leaf, 3, PortState::Armed)); // the state that it already has
    CHECK(s.set_state(leaf, 3, PortState::NoChange).value().portState == PortState::Armed);
    CHECK(s.set_state(leaf, 3, PortState::Active).value().portState == PortState::Active);
    CHECK(is_invalid(s.set_state(leaf, 3, PortState::Armed)));
    CHECK(is_invalid(s.set_state(leaf, 0, PortState::Down))); // the port of the switch itself is always Active
    CHECK(is_invalid(s.set_state(leaf, 3, PortState{15})));
    CHECK_FALSE(s.umad.SubnSet(PortInfo{}, leaf, 5)); // port 5 does not exist
}

TEST_CASE("a link that is taken down retrains at both ends") {
    subnet s("fattree2,radix=4,sm=1");
    const auto clear = [&](const mad::any_path& path) {
        const auto after = s.change<SwitchInfo>(path, 0, [](SwitchInfo& i) { i.portStateChange = true; });
        CHECK_FALSE(after.value().portStateChange);
    };
    clear(leaf);
    clear(spine);
    CHECK(s.set_state(leaf, 3, PortState::Down).value().portState == PortState::Initialize);
    CHECK(s.state(spine, 1) == PortState::Initialize);
    CHECK(s.get<SwitchInfo>(leaf).portStateChange);
    CHECK(s.get<SwitchInfo>(spine).portStateChange);
    clear(spine);
    // A state that a manager writes does not set PortStateChange (14.2.5.4).
    CHECK(s.set_state(spine, 1, PortState::Armed));
    CHECK_FALSE(s.get<SwitchInfo>(spine).portStateChange);
    // No route by LID uses the link until it is Active again.
    CHECK(s.answers(to_lid(value(s.graph().nodes[*s.graph().find("spine-0001")].ports[0].LID))) ==
          s.answers(route({1, 4, 2, 3})));
}

TEST_CASE("disabling a port takes its neighbor down, and enabling brings both back") {
    subnet s("fattree2,radix=4,sm=1");
    CHECK(s.answers(spine));
    const auto disabled = s.set_physical(leaf, 3, PortPhysicalState::Disabled);
    REQUIRE(disabled);
    CHECK(disabled.value().portState == PortState::Down);
    CHECK(disabled.value().portPhysicalState == PortPhysicalState::Disabled);
    CHECK_FALSE(s.answers(spine));
    const auto around = route({1, 4, 2, 3}); // through the other spine and leaf
    CHECK(s.state(around, 1) == PortState::Down);
    CHECK(s.get<PortInfo>(around, 1).portPhysicalState == PortPhysicalState::Polling);
    // Removing and reconnecting the cable does not change that.
    const u32 node = *s.graph().find("leaf-0001");
    s.sim.fabric->apply({topology_event::kind::cut, node, 3});
    s.sim.fabric->apply({topology_event::kind::restore, node, 3});
    CHECK(s.state(leaf, 3) == PortState::Down);

    const auto enabled = s.set_physical(leaf, 3, PortPhysicalState::Polling);
    REQUIRE(enabled);
    CHECK(enabled.value().portState == PortState::Initialize);
    CHECK(enabled.value().portPhysicalState == PortPhysicalState::LinkUp);
    CHECK(s.answers(spine));
    CHECK(s.state(spine, 1) == PortState::Initialize);
    CHECK(s.set_physical(leaf, 3, PortPhysicalState::LinkUp)); // the state that it already has
    CHECK(is_invalid(s.set_physical(leaf, 3, PortPhysicalState::PhyTest)));
    const auto both = s.change<PortInfo>(leaf, 3, [](PortInfo& i) {
        i.portState = PortState::Armed;
        i.portPhysicalState = PortPhysicalState::Disabled;
    });
    CHECK(is_invalid(both));
    CHECK(s.answers(spine));
    // Our own link. The local port replies to a route without hops, but a reply from the leaf cannot return.
    CHECK(s.set_physical(here, 1, PortPhysicalState::Disabled).has_value()); // a route without hops
    CHECK_FALSE(s.answers(leaf));
    CHECK(s.set_physical(here, 1, PortPhysicalState::Polling));
    CHECK(s.set_physical(leaf, 1, PortPhysicalState::Disabled).error().code == errc::timed_out);
}

TEST_CASE("two sleeping ports stay down, and a polling port wakes its neighbor") {
    subnet s("fattree2,radix=4");
    CHECK(s.set_physical(leaf, 3, PortPhysicalState::Sleep).value().portState == PortState::Initialize);
    const auto around = route({1, 4, 2, 3});
    CHECK(s.set_physical(around, 1, PortPhysicalState::Sleep).value().portPhysicalState == PortPhysicalState::Sleep);
    CHECK(s.state(leaf, 3) == PortState::Down);
    CHECK(s.set_physical(around, 1, PortPhysicalState::Polling).value().portState == PortState::Initialize);
}

TEST_CASE("enabled widths and speeds take effect when the link retrains") {
    subnet s("fattree2,radix=4");
    const auto enable = [&](u8 width, u8 speed, u8 extended) {
        return s.change<PortInfo>(leaf, 3, [&](PortInfo& i) {
            i.linkWidthEnabled = width;
            i.linkSpeedEnabled = speed;
            i.linkSpeedExtEnabled = extended;
        });
    };
    const PortInfo before = s.get<PortInfo>(leaf, 3);
    CHECK(enable(1, 2, 30).value().linkWidthActive == iba::LinkWidth::w4x);
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedExtEnabled == 0);
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(s.get<PortInfo>(leaf, 3).linkWidthActive == iba::LinkWidth::w1x);
    CHECK(s.get<PortInfo>(spine, 1).linkSpeedActive == iba::LinkSpeed::DDR);
    CHECK(is_invalid(enable(64, 2, 30)));
    CHECK(is_invalid(enable(1, 8, 30)));
    CHECK(is_invalid(enable(1, 2, 16)));
    CHECK(s.get<PortInfo>(leaf, 3).linkWidthEnabled == 1);
    CHECK(enable(0, 0, 0).value().linkWidthEnabled == 1); // unchanged
    const PortInfo all = enable(255, 15, 31).value();
    CHECK(all.linkWidthEnabled == before.linkWidthSupported);
    CHECK(all.linkSpeedEnabled == before.linkSpeedSupported);
    CHECK(all.linkSpeedExtEnabled == before.linkSpeedExtSupported);
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedExtActive == before.linkSpeedExtActive);
    // The neighbor has no speed in common: the link stays down until it has one.
    REQUIRE(s.change<PortInfo>(spine, 1, [](PortInfo& i) { i.linkSpeedEnabled = 1, i.linkSpeedExtEnabled = 30; }));
    CHECK(enable(255, 4, 30).value().portState == PortState::Initialize);
    CHECK(s.set_state(leaf, 3, PortState::Down).value().portState == PortState::Down);
    CHECK(enable(255, 15, 31));
    CHECK(s.set_physical(leaf, 3, PortPhysicalState::Disabled));
    CHECK(s.set_physical(leaf, 3, PortPhysicalState::Polling).value().portState == PortState::Initialize);
}

TEST_CASE("link= makes one link narrow and slow at both ends until it retrains") {
    subnet s("fattree2,radix=4,link=leaf-0001/3:1xQDR,link=leaf-0001/4:4xFDR");
    for (const auto& [path, port] : {std::pair{leaf, 3u}, {spine, 1u}}) {
        const PortInfo i = s.get<PortInfo>(path, port);
        CHECK(i.linkWidthActive == iba::LinkWidth::w1x);
        CHECK(i.linkSpeedActive == iba::LinkSpeed::QDR);
        CHECK(i.linkSpeedExtActive == iba::LinkSpeedExt::none);
        CHECK(i.linkWidthSupported == 3);
        CHECK(i.linkSpeedExtSupported == 3); // FDR, EDR
    }
    CHECK(s.get<PortInfo>(leaf, 4).linkSpeedExtActive == iba::LinkSpeedExt::FDR);
    CHECK(s.get<PortInfo>(leaf, 2).linkWidthActive == iba::LinkWidth::w4x);
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(s.get<PortInfo>(spine, 1).linkWidthActive == iba::LinkWidth::w4x);
    CHECK(s.get<PortInfo>(spine, 1).linkSpeedExtActive == iba::LinkSpeedExt::EDR);

    const auto refused = [](const char* value) {
        return message_of([&] { make_sim(std::string("fattree2,radix=4,link=") + value, time_mode::virtual_); });
    };
    CHECK(refused("leaf-0001/3:12xQDR") == "fattree2: link=leaf-0001/3:12xQDR: 12xQDR is not supported by both ports");
    CHECK(refused("leaf-0001/3:4xNDR").ends_with("4xNDR is not supported by both ports"));
    CHECK(refused("leaf-0001/3") ==
          "fattree2: link=leaf-0001/3 is incomplete; expected NODE/PORT, width and speed, such as NODE/PORT:1xQDR");
    CHECK(refused("leaf-0001/3:4x???").ends_with("such as NODE/PORT:1xQDR"));
    CHECK(refused("h-0001 HCA-1/2:1xQDR").ends_with("no cable at port 2 of 'h-0001 HCA-1', whose ports are 1..1"));
}

TEST_CASE("narrow= reduces only the width of one link, and speed= with a port only its speed") {
    subnet s("fattree2,radix=4,speed=HDR,narrow=leaf-0001/3:1x,speed=leaf-0001/4:QDR,narrow=leaf-0001/4:1x");
    for (const auto& [path, port] : {std::pair{leaf, 3u}, {spine, 1u}}) {
        const PortInfo i = s.get<PortInfo>(path, port);
        CHECK(i.linkWidthActive == iba::LinkWidth::w1x);
        CHECK(i.linkSpeedExtActive == iba::LinkSpeedExt::HDR);
        CHECK(i.linkWidthSupported == 3);
        CHECK(i.linkWidthEnabled == 3);
    }
    const PortInfo both = s.get<PortInfo>(leaf, 4);
    CHECK(both.linkWidthActive == iba::LinkWidth::w1x);
    CHECK(both.linkSpeedActive == iba::LinkSpeed::QDR);
    CHECK(both.linkSpeedExtActive == iba::LinkSpeedExt::none);
    const PortInfo other = s.get<PortInfo>(leaf, 2);
    CHECK(other.linkWidthActive == iba::LinkWidth::w4x);
    CHECK(other.linkSpeedExtActive == iba::LinkSpeedExt::HDR);

    const auto refused = [](const char* value) {
        return message_of([&] { make_sim(std::string("fattree2,radix=4,") + value, time_mode::virtual_); });
    };
    CHECK(refused("narrow=leaf-0001/3:4x") ==
          "fattree2: narrow=leaf-0001/3:4x: the link runs at 4xEDR, which 4x does not reduce");
    CHECK(refused("speed=leaf-0001/3:EDR").ends_with("the link runs at 4xEDR, which EDR does not reduce"));
    CHECK(refused("speed=leaf-0001/3:NDR").ends_with("NDR is not supported by both ports"));
    CHECK(refused("narrow=leaf-0001/3:QDR") ==
          "fattree2: narrow=leaf-0001/3:QDR is incomplete; expected NODE/PORT and width, such as NODE/PORT:1x");
    CHECK(refused("speed=leaf-0001:QDR").ends_with("expected NODE/PORT and speed, such as NODE/PORT:QDR"));
    CHECK(refused("speed=EDR,speed=HDR").ends_with("speed is given twice; keep one"));
}

TEST_CASE("FDR10 is enabled through MlnxExtPortInfo, and PortInfo then reports QDR") {
    subnet s("fattree2,radix=4,speed=FDR10");
    const auto of = [&](const mad::any_path& path, u32 port) { return s.get<smp::MlnxExtPortInfo>(path, port); };
    CHECK(of(leaf, 3).LinkSpeedActive == 1);
    CHECK(of(leaf, 3).LinkSpeedSupported == 1);
    CHECK(of(here, 0).LinkSpeedActive == 1);
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedActive == iba::LinkSpeed::QDR);
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedSupported == 7);
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedExtActive == iba::LinkSpeedExt::none);

    const auto enable = [&](u8 which) {
        return s.change<smp::MlnxExtPortInfo>(leaf, 3, [&](smp::MlnxExtPortInfo& i) { i.LinkSpeedEnabled = which; });
    };
    CHECK(is_invalid(enable(2)));
    REQUIRE(enable(0));
    CHECK(of(leaf, 3).LinkSpeedActive == 1); // until the link trains
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(of(leaf, 3).LinkSpeedActive == 0);
    CHECK(of(spine, 1).LinkSpeedActive == 0);
    CHECK(s.get<PortInfo>(spine, 1).linkSpeedActive == iba::LinkSpeed::QDR);
    // A Set of PortInfo does not change it.
    REQUIRE(enable(1));
    REQUIRE(s.change<PortInfo>(leaf, 3, [](PortInfo& i) { i.linkSpeedEnabled = 15; }));
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(of(spine, 1).LinkSpeedActive == 1);

    // A port without FDR10 rejects it.
    subnet fast("fattree2,radix=4");
    CHECK(fast.get<smp::MlnxExtPortInfo>(leaf, 3).LinkSpeedSupported == 0);
    CHECK(is_invalid(fast.change<smp::MlnxExtPortInfo>(leaf, 3, [](auto& i) { i.LinkSpeedEnabled = 1; })));
}

TEST_CASE("an XDR port has QDR, NDR and XDR in the three PortInfo fields, each with its own enable field") {
    subnet s("fattree2,radix=4,speed=XDR");
    const PortInfo before = s.get<PortInfo>(leaf, 3);
    CHECK(before.linkSpeedSupported == 7);
    CHECK(before.linkSpeedExtSupported == 15);
    CHECK(before.linkSpeedExtSupported2 == 1);
    CHECK(before.linkSpeedExtEnabled2 == 1);
    CHECK(before.linkSpeedActive == iba::LinkSpeed::QDR);
    CHECK(before.linkSpeedExtActive == iba::LinkSpeedExt::none);
    CHECK(before.linkSpeedExtActive2 == iba::LinkSpeedExt2::XDR);
    // 30: no extended speed.
    REQUIRE(s.change<PortInfo>(leaf, 3, [](PortInfo& i) { i.linkSpeedExtEnabled = 30; }));
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedExtEnabled2 == 0);
    REQUIRE(s.set_state(leaf, 3, PortState::Down));
    CHECK(s.get<PortInfo>(spine, 1).linkSpeedExtActive2 == iba::LinkSpeedExt2::none);
    CHECK(s.get<PortInfo>(spine, 1).linkSpeedActive == iba::LinkSpeed::QDR);
    // 31: all extended speeds.
    REQUIRE(s.change<PortInfo>(leaf, 3, [](PortInfo& i) { i.linkSpeedExtEnabled = 31; }));
    CHECK(s.get<PortInfo>(leaf, 3).linkSpeedExtEnabled2 == 1);
    // A port without XDR rejects it.
    subnet old("fattree2,radix=4,speed=NDR");
    CHECK(is_invalid(old.change<PortInfo>(leaf, 3, [](PortInfo& i) { i.linkSpeedExtEnabled2 = 1; })));
    REQUIRE(old.change<PortInfo>(leaf, 3, [](PortInfo& i) { i.linkSpeedExtEnabled = 4; }));
    CHECK(old.get<PortInfo>(leaf, 3).linkSpeedExtEnabled == 4);
}

TEST_CASE("the reply to a Set is the new state of the node, and a rejected Set changes nothing") {
    subnet s("fattree2,radix=4,sm=1");
    const auto set = s.change<PortInfo>(neighbour, 1, [](PortInfo& i) {
        i.LID = iba::lid{100};
        i.LMC = 2;
        i.masterSMLID = iba::lid{7};
        i.masterSMSL = 3;
        i.subnetTimeOut = 11;
        i.MTUCap = iba::MTU::m256; // read-only, like the following fields
        i.capabilityMask = 0;
        i.GUIDCap = 1;
        i.linkWidthActive = iba::LinkWidth::w12x;
        i.neighborMTU = iba::MTU::m2048;
        i.operationalVLs = iba::VLCap::VL0_1;
        i.VLHighLimit = 9;
    });
    REQUIRE(set);
    CHECK(set.value() == s.get<PortInfo>(neighbour, 1));
    const PortInfo& i = set.value();
    CHECK(i.LID == iba::lid{100});
    CHECK(i.masterSMLID == iba::lid{7});
    CHECK(i.masterSMSL == 3);
    CHECK(i.subnetTimeOut == 11);
    CHECK(i.MTUCap == iba::MTU::m4096);
    CHECK(i.capabilityMask != 0);
    CHECK(i.GUIDCap == 32);
    CHECK(i.linkWidthActive == iba::LinkWidth::w4x);
    CHECK(i.neighborMTU == iba::MTU::m2048);
    CHECK(i.operationalVLs == iba::VLCap::VL0_1);
    CHECK(i.VLHighLimit == 9);
    // The new LIDs are valid at once.
    for (const unsigned LID : {100u, 103u}) CHECK(s.answers(to_lid(LID)));
    CHECK_FALSE(s.answers(to_lid(104)));
    CHECK_FALSE(s.answers(to_lid(2)));

    const auto refused = [&](auto&& f) {
        return is_invalid(s.change<PortInfo>(neighbour, 1, [&](PortInfo& p) {
            p.VLHighLimit = 1;
            f(p);
        }));
    };
    CHECK(refused([](PortInfo& p) { p.LID = iba::lid{0xc000}; }));
    CHECK(refused([](PortInfo& p) { p.masterSMLID = iba::lid{0xffff}; }));
    CHECK(refused([](PortInfo& p) { p.neighborMTU = iba::MTU{6}; }));
    CHECK(refused([](PortInfo& p) { p.operationalVLs = iba::VLCap::VL0_14; }));
    CHECK(refused([](PortInfo& p) { p.linkDownDefaultState = PortPhysicalState::Disabled; }));
    CHECK(is_invalid(s.change<PortInfo>(leaf, 0, [](PortInfo& p) { p.LMC = 1; }))); // a base port 0 has no LMC
    CHECK(s.get<PortInfo>(neighbour, 1) == set.value());
}

TEST_CASE("requests follow the LID of the subnet manager when the LID changes") {
    subnet s("fattree2,radix=4,sm=1");
    REQUIRE(s.change<PortInfo>(here, 0, [](PortInfo& i) { i.LID = iba::lid{77}; }));
    mad::IBPath path = to_lid(77);
    s.umad.schedule().set_sa_path(path);
    const auto query = iba::query<iba::sa::NodeRecord>{}.where<&iba::sa::NodeRecord::LID>(iba::lid{77});
    CHECK(s.umad.SubnAdmGet(query));
    CHECK(s.get<PortInfo>(neighbour, 1).masterSMLID == iba::lid{77});
}

TEST_CASE("M_Key protection follows the protection bits") {
    subnet s("fattree2,radix=4");
    const auto with_key = [](u64 key) {
        mad::IBDRPath path = route({1, 2});
        path.MKey = key;
        return path;
    };
    const auto protect = [&](u64 key, u64 next, u8 bits) {
        return s.change<PortInfo>(with_key(key), 1, [&](PortInfo& i) { i.MKey = next, i.MKeyProtectBits = bits; });
    };
    const auto gone = [](const auto& result) { return !result && result.error().code == errc::timed_out; };
    CHECK(protect(0, 5, 0).value().MKey == 5);
    CHECK(s.get<PortInfo>(with_key(0), 1).MKey == 5); // with protect bits 0, every requester may read, and sees the key
    CHECK(gone(protect(6, 7, 0)));
    CHECK(protect(5, 8, 1).value().MKey == 8); // a requester with the old key gets the new one
    CHECK(protect(8, 5, 1));
    CHECK(s.get<PortInfo>(with_key(0), 1).MKey == 0);
    CHECK(s.get<PortInfo>(with_key(5), 1).MKey == 5);
    CHECK(gone(protect(0, 0, 1)));
    CHECK(protect(5, 5, 2));
    const u16 before = s.get<PortInfo>(with_key(5), 1).MKeyViolations;
    CHECK(before > 0);
    CHECK(gone(s.umad.SubnGet<smp::NodeInfo>(with_key(6), 0, {.retries = 0})));
    CHECK(s.get<PortInfo>(with_key(5), 1).MKeyViolations == before + 1);
    CHECK(s.answers(with_key(5)));
    CHECK(s.change<PortInfo>(with_key(5), 1, [](PortInfo& i) { i.MKeyViolations = 99; }).value().MKeyViolations ==
          before + 1);
    CHECK(s.change<PortInfo>(with_key(5), 1, [](PortInfo& i) { i.MKeyViolations = 0; }).value().MKeyViolations == 0);
    CHECK(s.answers(leaf)); // no other node has an M_Key
    CHECK(protect(5, 0, 0));
    CHECK(s.answers(neighbour));

    // The key of a switch protects the whole switch.
    REQUIRE(s.change<PortInfo>(leaf, 0, [](PortInfo& i) { i.MKey = 9, i.MKeyProtectBits = 3; }));
    CHECK_FALSE(s.answers(leaf));
    CHECK(s.answers(spine)); // routes still lead through it
    mad::IBDRPath keyed = route({1});
    keyed.MKey = 9;
    CHECK(s.get<PortInfo>(keyed, 2).portState == PortState::Initialize);
    // The other ports of a switch therefore have no key and no subnet prefix (IBA 14.2.5.6: only port 0 and ports of
    // CAs have them).
    const auto changed = s.change<PortInfo>(keyed, 2, [](PortInfo& i) { i.MKey = 7, i.GIDPrefix = 0xfec0; });
    CHECK(changed.value().MKey == 0);
    CHECK(changed.value().GIDPrefix == 0);
}

TEST_CASE("each table block keeps what is written to it, independent of other blocks") {
    subnet s("fattree2,radix=4");
    const auto check = [&](const mad::any_path& path, u32 modifier, u32 other, auto value) {
        using T = decltype(value);
        INFO(iba::info_of<T>.name << ' ' << modifier);
        const T before = s.get<T>(path, other);
        CHECK(s.umad.SubnSet(value, path, modifier).value() == value);
        CHECK(s.get<T>(path, modifier) == value);
        CHECK(s.get<T>(path, other) == before);
        CHECK(is_invalid(s.umad.SubnSet(value, path, 0x00ff'00ff)));
    };
    smp::PKeyTable keys;
    keys.PKeyBlock[0] = 0xffff;
    keys.PKeyBlock[31] = 0x8001;
    check(leaf, 2 << 16, 3 << 16, keys);
    check(neighbour, 1, 0, keys);
    smp::SLToVLMappingTable map;
    map.SLtoVL[15] = 3;
    check(leaf, 0x0102, 0x0201, map);
    smp::VLArbitrationTable weights;
    weights.VLWeightBlock[7] = 0x0304;
    check(leaf, 1 << 16 | 2, 1 << 16 | 3, weights);
    smp::MulticastForwardingTable multicast;
    multicast.portMaskBlock[31] = 0b1010;
    check(leaf, 3, 4, multicast);
    smp::LinearForwardingTable linear;
    linear.portBlock[5] = 3;
    CHECK(s.umad.SubnSet(linear, leaf, 2).value() == linear);
    CHECK(is_invalid(s.umad.SubnSet(linear, leaf, 0xc000 / 64)));
    smp::LedInfo lit;
    lit.ledMask = true;
    CHECK(s.umad.SubnSet(lit, leaf, 2).value() == lit);
    CHECK(s.get<smp::LedInfo>(leaf, 2) == lit);
    CHECK_FALSE(s.get<smp::LedInfo>(leaf, 1).ledMask);
    CHECK(is_invalid(s.umad.SubnSet(lit, leaf, 5)));

    smp::GUIDInfo guids = s.get<smp::GUIDInfo>(neighbour);
    const iba::guid own = guids.GUIDBlock[0];
    guids.GUIDBlock = {iba::guid{1}, iba::guid{2}};
    const auto reported = s.umad.SubnSet(guids, neighbour).value();
    CHECK(reported.GUIDBlock[0] == own);
    CHECK(reported.GUIDBlock[1] == iba::guid{2});

    SwitchInfo wanted = s.get<SwitchInfo>(leaf);
    wanted.linearFDBTop = 50;
    wanted.lifeTimeValue = 7;
    wanted.linearFDBCap = 1; // read-only
    const SwitchInfo got = s.umad.SubnSet(wanted, leaf).value();
    CHECK(got.linearFDBTop == 50);
    CHECK(got.lifeTimeValue == 7);
    CHECK(got.linearFDBCap == 0xc000);
    wanted.linearFDBTop = 0xc000;
    CHECK(is_invalid(s.umad.SubnSet(wanted, leaf)));
    CHECK_FALSE(s.umad.SubnSet(wanted, neighbour)); // not a switch
}

TEST_CASE("the attribute modifier of SMInfo controls the state of a subnet manager") {
    subnet s("fattree2,radix=4,sm=1");
    const auto set_sm_info = [&](u32 modifier) { return s.umad.SubnSet(smp::SMInfo{}, here, modifier); };
    CHECK(s.get<smp::SMInfo>(here).SMState == iba::SMState::Master);
    for (const u32 modifier : {0u, 3u, 4u, 5u, 6u}) CHECK(is_invalid(set_sm_info(modifier)));
    CHECK(set_sm_info(1).value().SMState == iba::SMState::Master);
    CHECK(set_sm_info(2).value().SMState == iba::SMState::Standby);
    CHECK(is_invalid(set_sm_info(2)));
    CHECK(set_sm_info(3).value().SMState == iba::SMState::NotActive);
    CHECK(is_invalid(set_sm_info(1)));
    CHECK(set_sm_info(4).value().SMState == iba::SMState::Standby);
    CHECK(set_sm_info(1).value().SMState == iba::SMState::Master);
    CHECK_FALSE(s.umad.SubnSet(smp::SMInfo{}, leaf, 1));
}

namespace {

/// A minimal subnet manager: finds nodes by directed routes, assigns LIDs, and writes forwarding tables.
class manager {
public:
    explicit manager(subnet& s) : s_(s) {}

    void run() {
        discover();
        for (u16 i = 0; i < nodes_.size(); ++i) give_lid(i);
        for (u16 i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].is_switch) write_table(i);
        for (const PortState state : {PortState::Armed, PortState::Active})
            for (const found& n : nodes_)
                for (const auto& [port, peer] : n.cables) REQUIRE(s_.set_state(n.route, port, state));
    }
    std::size_t size() const { return nodes_.size(); }
    const mad::IBDRPath& route_to(std::size_t n) const { return nodes_[n].route; }
    static iba::lid lid_of(std::size_t n) { return iba::lid{static_cast<u16>(n + 100)}; }

private:
    struct found {
        mad::IBDRPath route;
        bool is_switch;
        std::map<u8, std::size_t> cables; // port, node
    };
    std::size_t add(const mad::IBDRPath& route, std::deque<std::size_t>& todo) {
        const auto info = s_.get<smp::NodeInfo>(route);
        const auto [known, is_new] = by_guid_.emplace(info.nodeGUID, nodes_.size());
        if (is_new) {
            todo.push_back(nodes_.size());
            nodes_.push_back({route, info.nodeType == iba::NodeType::Switch, {}});
        }
        return known->second;
    }
    void discover() {
        std::deque<std::size_t> todo;
        add(mad::IBDRPath{}, todo);
        for (; !todo.empty(); todo.pop_front()) {
            const std::size_t n = todo.front();
            const auto route = nodes_[n].route;
            const auto info = s_.get<smp::NodeInfo>(route);
            for (u8 p = 1; p <= info.numPorts; ++p) {
                if (s_.state(route, p) == PortState::Down) continue;
                // The cable of a CA leads to where the route came from, except at the local node.
                if (!nodes_[n].is_switch && n != 0) nodes_[n].cables[p] = leaf_before(route, todo);
                else nodes_[n].cables[p] = add(route.extended(p), todo);
            }
        }
    }
    std::size_t leaf_before(mad::IBDRPath route, std::deque<std::size_t>& todo) {
        route.drPath[route.hopCount--] = 0;
        return add(route, todo);
    }
    void give_lid(std::size_t n) {
        REQUIRE(s_.change<PortInfo>(nodes_[n].route, 0, [&](PortInfo& i) {
            i.LID = lid_of(n);
            i.masterSMLID = lid_of(0);
        }));
    }
    /// Writes for every node the first port of a shortest path.
    void write_table(std::size_t from) {
        std::vector<u8> first(nodes_.size(), 255);
        std::deque<std::size_t> todo{from};
        first[from] = 0;
        for (; !todo.empty(); todo.pop_front()) {
            const std::size_t at = todo.front();
            if (!nodes_[at].is_switch) continue;
            for (const auto& [port, peer] : nodes_[at].cables) {
                if (first[peer] != 255) continue;
                first[peer] = at == from ? port : first[at];
                todo.push_back(peer);
            }
        }
        REQUIRE(s_.change<SwitchInfo>(nodes_[from].route, 0, [&](SwitchInfo& i) {
            i.linearFDBTop = value(lid_of(nodes_.size() - 1));
            i.portStateChange = true;
        }));
        std::map<u32, smp::LinearForwardingTable> blocks;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            auto& block = blocks.try_emplace(value(lid_of(n)) / 64u, full()).first->second;
            block.portBlock[value(lid_of(n)) % 64u] = first[n];
        }
        for (const auto& [number, block] : blocks) REQUIRE(s_.umad.SubnSet(block, nodes_[from].route, number));
    }
    static smp::LinearForwardingTable full() {
        smp::LinearForwardingTable none;
        none.portBlock.fill(255);
        return none;
    }

    subnet& s_;
    std::vector<found> nodes_;
    std::map<iba::guid, std::size_t> by_guid_;
};

} // namespace

TEST_CASE("a manager configures a subnet with SubnSets only, and LIDs lead where its tables point") {
    const auto* specification = GENERATE("fattree2,radix=8", "torus,x=3,y=3,hosts=2", "line,switches=4,hosts=2");
    INFO(specification);
    subnet s(specification);
    manager m(s);
    CHECK_FALSE(s.answers(to_lid(100)));
    m.run();
    REQUIRE(m.size() == s.graph().nodes.size());
    for (std::size_t n = 0; n < m.size(); ++n) {
        const mad::IBPath path = to_lid(value(m.lid_of(n)));
        const auto by_lid = s.umad.SubnGet<smp::NodeInfo>(path);
        REQUIRE(by_lid);
        CHECK(by_lid.value().nodeGUID == s.get<smp::NodeInfo>(m.route_to(n)).nodeGUID);
        CHECK(s.umad.PerformanceGet<iba::ClassPortInfo>(path)); // and its PMA replies
        CHECK(s.state(m.route_to(n), s.get<smp::NodeInfo>(m.route_to(n)).localPortNum) == PortState::Active);
    }
    for (const node& n : s.graph().nodes)
        for (const port& p : n.ports)
            if (p.linked()) CHECK(p.state == PortState::Active);

    // A node that one switch does not forward to cannot be reached through this switch.
    const std::size_t last = m.size() - 1;
    const mad::IBPath path = to_lid(value(m.lid_of(last)));
    const auto leaf_route = m.route_to(1);
    const u32 block = value(m.lid_of(last)) / 64u;
    const auto set_port = [&](u8 port) {
        return s.change<smp::LinearForwardingTable>(
            leaf_route, block, [&](smp::LinearForwardingTable& t) { t.portBlock[value(m.lid_of(last)) % 64u] = port; });
    };
    const u8 before = s.get<smp::LinearForwardingTable>(leaf_route, block).portBlock[value(m.lid_of(last)) % 64u];
    REQUIRE(set_port(255));
    CHECK_FALSE(s.answers(path));
    REQUIRE(set_port(s.get<smp::NodeInfo>(leaf_route).localPortNum)); // the port that leads back
    CHECK_FALSE(s.answers(path));
    REQUIRE(set_port(before));
    CHECK(s.answers(path));
    // A LID beyond the end of the table is not forwarded, nor is any packet over a link that is not Active.
    REQUIRE(s.change<SwitchInfo>(leaf_route, 0, [](SwitchInfo& i) { i.linearFDBTop = 100; }));
    CHECK_FALSE(s.answers(path));
    CHECK(s.answers(to_lid(100)));
    REQUIRE(s.change<SwitchInfo>(leaf_route, 0, [](SwitchInfo& i) { i.linearFDBTop = 1000; }));
    CHECK(s.answers(path));
    REQUIRE(s.set_state(leaf_route, before, PortState::Down));
    CHECK_FALSE(s.answers(path));
}

TEST_CASE("a MAD is lost if the forwarding tables form a loop") {
    subnet s("line,switches=2,hosts=1,sm=1");
    const auto far = s.graph().nodes.size();
    smp::LinearForwardingTable table = s.get<smp::LinearForwardingTable>(route({1, 1}), 0);
    const u8 back = s.get<smp::NodeInfo>(route({1, 1})).localPortNum; // the cable between the switches
    CHECK(s.answers(to_lid(static_cast<unsigned>(far))));
    for (u8& port : table.portBlock)
        if (port != 0 && port != 255) port = back;
    REQUIRE(s.umad.SubnSet(table, route({1, 1}), 0));
    unsigned lost = 0;
    for (unsigned LID = 1; LID <= far; ++LID) lost += !s.answers(to_lid(LID));
    CHECK(lost == 1); // only the far host: all others are on this side
}

TEST_CASE("Sets survive loss, duplicates and retries") {
    subnet s("fattree2,radix=4,loss=0.1,duplicate=0.2,reorder=0.1,seed=3");
    coro::blocking_transactor patient(*s.sim.transport, {.timeout = mad::duration{1'000'000}, .retries = 20});
    for (const PortState state : {PortState::Armed, PortState::Active}) {
        PortInfo wanted;
        wanted.portState = state;
        for (u32 p = 1; p <= 4; ++p) CHECK(patient.SubnSet(wanted, leaf, p).value().portState == state);
    }
}

namespace {

/// Results of Gets and Sets of PortInfo.
struct set_load {
    unsigned sets = 0;
    std::vector<mad::mad_error> failed{};
    mad::duration took{};
};

coro::task<mad::result<void>> get_and_set(coro::MADSchedule& sched, mad::IBDRPath path, u8 port, set_load& load) {
    auto got = co_await sched.SubnGet<PortInfo>(path, port);
    if (!got) {
        load.failed.push_back(std::move(got).error());
        co_return mad::success();
    }
    PortInfo same = got.value();
    same.portState = PortState::NoChange;
    same.portPhysicalState = {};
    auto set = co_await sched.SubnSet(same, path, port);
    ++load.sets;
    if (!set) load.failed.push_back(std::move(set).error());
    co_return mad::success();
}

coro::generator<coro::task<mad::result<void>>> many_sets(coro::MADSchedule& sched, unsigned many, set_load& load) {
    for (unsigned i = 0; i < many; ++i)
        co_yield get_and_set(sched, mad::IBDRPath{}.extended(1), static_cast<u8>(1 + i % 4), load);
}

coro::task<void> await_all(coro::MADSchedule& sched, unsigned many, set_load& load) {
    auto all = many_sets(sched, many, load);
    static_cast<void>(co_await sched.mqueue(std::move(all)));
}

set_load load_one_switch(const std::string& specification, unsigned many) {
    simulation sim = make_sim(specification, time_mode::virtual_);
    coro::MADSchedule sched(*sim.transport);
    set_load load;
    const mad::time_point start = sched.now();
    coro::sync_wait(sched, await_all(sched, many, load));
    load.took = sched.now() - start;
    return load;
}

} // namespace

TEST_CASE("2,000 Get and Set pairs to one switch with 2 % loss each way succeed in less than 25 s") {
    const set_load load = load_one_switch("fattree2,radix=8,loss=0.02", 2000);
    CHECK(load.sets == 2000);
    CHECK(load.failed.empty());
    CHECK(mad::in_seconds(load.took) <= 25);
}

TEST_CASE("every Get and Set succeeds with 5 % loss each way for any seed") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const set_load load = load_one_switch(fmt::format("fattree2,radix=8,loss=0.05,seed={}", seed), 300);
        CHECK(load.sets == 300);
        CHECK(load.failed.empty());
    }
}
