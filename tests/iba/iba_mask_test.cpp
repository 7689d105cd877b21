// SPDX-License-Identifier: MIT
// iba_mask_test.cpp - component masks: rules with hand-counted bits, and the records of the SA compared with data/ and
// OpenSM.
#include "iba_samples.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <set>
#include <string>

using namespace comad;
using namespace comad::iba;
using json_value = nlohmann::json;

namespace {

/// Two rows of a nested structure have no bit. An array in it has one bit for each element.
struct inner {
    u8 first;
    u8 reserved_8;
    u16 hidden;
    std::array<u16, 2> slots;
    test::block deeper;
};
/// A structure with each kind of row that component masks distinguish.
struct rules {
    u64 serviceID;
    u16 number;
    u16 reserved_80;
    u32 reserved_96;
    inner nested;
    std::array<u8, 4> data8;
    std::array<u8, 4> list;
    u16 upper;
    u16 lower;
    std::array<test::block, 2> blocks;
    test::block unnamed;
};
/// A structure with more components than a mask has bits.
struct many {
    std::array<u8, 70> elements;
    u8 last;
};

} // namespace

// clang-format off
template <> struct comad::iba::described<inner> : std::true_type {
    using T = inner;
    static constexpr auto layout = describe<12>("Inner", "0",
        field<&T::first,         at{0},  8>{"first"},
        reserved<&T::reserved_8, at{1},  8>{},
        field<&T::hidden,        at{2}, 16>{"hidden", mask::none},
        field<&T::slots,         at{4}, 32>{"slots", mask::each},
        field<&T::deeper,        at{8}, 32>{"deeper"});
};
template <> struct comad::iba::described<rules> : std::true_type {
    using T = rules;
    static constexpr auto layout = describe<52>("Rules", "0",
        field<&T::serviceID,      at{0},  64>{"serviceID", mask::two},
        field<&T::number,         at{8},  16>{"number"},
        reserved<&T::reserved_80, at{10}, 16>{},
        reserved<&T::reserved_96, at{12}, 32>{nullptr, mask::none},
        field<&T::nested,         at{16}, 96>{"nested"},
        field<&T::data8,          at{28}, 32>{"data8", mask::each},
        field<&T::list,           at{32}, 32>{"list"},
        field<&T::upper,          at{36}, 16>{"upper"},
        field<&T::lower,          at{38}, 16>{"lower", mask::with_previous},
        field<&T::blocks,         at{40}, 64>{"blocks"},
        field<&T::unnamed,        at{48}, 32>{"unnamed", mask::none});
};
template <> struct comad::iba::described<many> : std::true_type {
    using T = many;
    static constexpr auto layout = describe<71>("Many", "0",
        field<&T::elements, at{0},  560>{"elements", mask::each},
        field<&T::last,     at{70},   8>{"last"});
};
// clang-format on

namespace {

constexpr u64 bit(unsigned n) { return u64{1} << n; }

u64 named(std::string_view name) {
    const auto bits = component_mask(info_of<rules>, name);
    INFO(name);
    REQUIRE(bits);
    return bits.value();
}

} // namespace

// Bits 0 and 1: serviceID; 2: number; 3: reserved_80; nested 4: first, 5: reserved_8, 6 and 7: slots, 8: deeper; 9 to
// 12: data8; 13: list; 14: upper and lower; 15: blocks.
TEST_CASE("mask components are counted in wire order, including reserved rows") {
    CHECK(named("serviceID") == (bit(0) | bit(1)));
    CHECK(named("number") == bit(2));
    CHECK(named("reserved_80") == bit(3));
    CHECK(named("list") == bit(13));
    CHECK(named("upper") == bit(14));
    CHECK(named("lower") == bit(14));
    CHECK(named("blocks") == bit(15));
}

TEST_CASE("the rows of a nested structure are separate components") {
    CHECK(named("nested.first") == bit(4));
    CHECK(named("nested.reserved_8") == bit(5));
    CHECK(named("nested.slots") == (bit(6) | bit(7)));
    CHECK(named("nested.slots[1]") == bit(7));
    CHECK(named("nested.deeper") == bit(8));
    CHECK(named("nested.deeper.LMC") == bit(8));
    CHECK(named("nested") == (bit(4) | bit(6) | bit(7) | bit(8)));
}

TEST_CASE("an array element has its own mask bit or the bit of the array") {
    CHECK(named("data8") == (bit(9) | bit(10) | bit(11) | bit(12)));
    CHECK(named("data8[0]") == bit(9));
    CHECK(named("data8[3]") == bit(12));
    CHECK(named("list[3]") == bit(13));
    CHECK(named("blocks[1].LMC") == bit(15));
}

TEST_CASE("a name without a mask bit and an unknown name are errors") {
    const auto refused = [](std::string_view name) { return component_mask(info_of<rules>, name).error().text; };
    CHECK(refused("reserved_96") == "Rules.reserved_96 cannot be selected: it has no bit in the component mask");
    CHECK(refused("nested.hidden") == "Rules.nested.hidden cannot be selected: it has no bit in the component mask");
    CHECK(refused("unnamed.LMC") == "Rules.unnamed.LMC cannot be selected: it has no bit in the component mask");
    CHECK(refused("numbr").starts_with("Rules has no field 'numbr'; the nearest are number, "));
    CHECK(refused("data8[4]") == "the index of Rules.data8 must be 0..3");
}

TEST_CASE("members have their mask bits at compile time") {
    STATIC_REQUIRE(mask_of<&rules::serviceID> == 0b11);
    STATIC_REQUIRE(mask_of<&rules::reserved_80> == 1u << 3);
    STATIC_REQUIRE(mask_of<&rules::nested, &inner::first> == 1u << 4);
    STATIC_REQUIRE(mask_of<&rules::nested, &inner::slots> == 0b11u << 6);
    STATIC_REQUIRE(mask_of<&rules::nested> == 0b1'1101u << 4);
    STATIC_REQUIRE(mask_of<&rules::data8> == 0xfu << 9);
    STATIC_REQUIRE(mask_of<&rules::lower> == 1u << 14);
    STATIC_REQUIRE(mask_of_element<&rules::data8>(3) == 1u << 12);
    STATIC_REQUIRE(mask_of_element<&rules::list>(3) == 1u << 13);
    STATIC_REQUIRE(mask_of_element<&rules::nested, &inner::slots>(1) == 1u << 7);
}

TEST_CASE("setting values of a query sets their mask bits") {
    query<rules> q;
    CHECK(q.component_mask() == 0);
    q.where<&rules::number>(9).where<&rules::nested, &inner::first>(3);
    CHECK(q.value().number == 9);
    CHECK(q.value().nested.first == 3);
    CHECK(q.component_mask() == (bit(2) | bit(4)));
    q.where<&rules::data8>(2, 7).where<&rules::nested, &inner::slots>(1, 8).where<&rules::serviceID>(0);
    CHECK(q.value().data8 == std::array<u8, 4>{0, 0, 7, 0});
    CHECK(q.value().nested.slots[1] == 8);
    CHECK(q.component_mask() == (bit(0) | bit(1) | bit(2) | bit(4) | bit(7) | bit(11)));

    const query<rules> one = query<rules>{}.where<&rules::list>({1, 2, 3, 4});
    CHECK(one.value().list[3] == 4);
    CHECK(one.component_mask() == bit(13));
}

TEST_CASE("a query accepts member names and texts") {
    query<rules> q;
    REQUIRE(q.set("nested.slots[1]", "0x10"));
    REQUIRE(q.set("data8[3]", "5"));
    REQUIRE(q.set("list", "1,2"));
    CHECK(q.value().nested.slots == std::array<u16, 2>{0, 16});
    CHECK(q.value().data8[3] == 5);
    CHECK(q.component_mask() == (bit(7) | bit(12) | bit(13)));

    CHECK(!q.set("numbr", "1"));
    CHECK(!q.set("number", "65536"));
    CHECK(!q.set("nested.hidden", "1"));
    CHECK(!q.set("nested", "1"));
    CHECK(q.component_mask() == (bit(7) | bit(12) | bit(13)));
    CHECK(q.value().number == 0);
    CHECK(q.value().nested.hidden == 0);
}

TEST_CASE("components beyond bit 63 have no mask bit") {
    CHECK(component_mask(info_of<many>, "elements[63]").value() == bit(63));
    CHECK(!component_mask(info_of<many>, "elements[64]"));
    CHECK(!component_mask(info_of<many>, "elements"));
    CHECK(!component_mask(info_of<many>, "last"));
}

TEST_CASE("SA records have the component mask bits of the IBA") {
    // OpenSM differs from the source of the data file here (ib_types.h, IB_PR_, IB_MPR_, IB_MFTR_, IB_GIR_COMPMASK_).
    const std::set<std::string> otherwise{"SAMultiPathRecord.*", "SAMulticastForwardingTableRecord.*",
                                          "SAPathRecord.serviceID", "SAPathRecord.serviceID56LSB",
                                          "SAGUIDInfoRecord.GUIDInfo.GUIDBlock"};
    unsigned records = 0;
    for (const json_value& facts : load_data("iba_layout.jsonl")) {
        if (!facts.contains("component_mask")) continue;
        ++records;
        const std::string record = facts["struct"];
        const record_info& info = *find_structure(record)->info;
        for (const auto& [name, number] : facts["component_mask"].items()) {
            if (otherwise.count(record + ".*") || otherwise.count(record + '.' + name)) continue;
            std::string ours = name;
            if (name.starts_with("serviceData")) ours.replace(name.find('_'), 1, "[").append("]");
            INFO(record << '.' << ours);
            const auto bits = component_mask(info, ours);
            REQUIRE(bits);
            CHECK(bits.value() == bit(number));
        }
    }
    CHECK(records == 21);
}

TEST_CASE("component mask constants of OpenSM equal the bits of the members") {
    using namespace sa;
    STATIC_REQUIRE(mask_of<&PathRecord::serviceID> == 0b11);
    STATIC_REQUIRE(mask_of<&PathRecord::DGID> == bit(2));
    STATIC_REQUIRE(mask_of<&PathRecord::SGID> == bit(3));
    STATIC_REQUIRE(mask_of<&PathRecord::DLID> == bit(4));
    STATIC_REQUIRE(mask_of<&PathRecord::hopLimit> == bit(9));
    STATIC_REQUIRE(mask_of<&PathRecord::reversible> == bit(11));
    STATIC_REQUIRE(mask_of<&PathRecord::numbPath> == bit(12));
    STATIC_REQUIRE(mask_of<&PathRecord::PKey> == bit(13));
    STATIC_REQUIRE(mask_of<&PathRecord::QOSClass> == bit(14));
    STATIC_REQUIRE(mask_of<&PathRecord::packetLifeTime> == bit(21));

    STATIC_REQUIRE(mask_of<&NodeRecord::LID> == bit(0));
    STATIC_REQUIRE(mask_of<&NodeRecord::nodeInfo, &smp::NodeInfo::nodeType> == bit(4));
    STATIC_REQUIRE(mask_of<&NodeRecord::nodeInfo, &smp::NodeInfo::nodeGUID> == bit(7));
    STATIC_REQUIRE(mask_of<&NodeRecord::nodeInfo, &smp::NodeInfo::vendorID> == bit(13));
    STATIC_REQUIRE(mask_of<&NodeRecord::nodeDescription> == bit(14));
    STATIC_REQUIRE(mask_of<&NodeRecord::nodeInfo> == 0x3ffc);

    STATIC_REQUIRE(mask_of<&PortInfoRecord::portInfo, &smp::PortInfo::capabilityMask> == bit(7));
    STATIC_REQUIRE(mask_of<&PortInfoRecord::portInfo, &smp::PortInfo::LMC> == bit(20));
    STATIC_REQUIRE(mask_of<&PortInfoRecord::portInfo, &smp::PortInfo::linkRoundTripLatency> == bit(52));
    STATIC_REQUIRE(mask_of<&PortInfoRecord::portInfo, &smp::PortInfo::linkSpeedExtEnabled> == bit(57));

    STATIC_REQUIRE(mask_of_element<&GUIDInfoRecord::GUIDInfo, &smp::GUIDInfo::GUIDBlock>(0) == bit(4));
    STATIC_REQUIRE(mask_of_element<&GUIDInfoRecord::GUIDInfo, &smp::GUIDInfo::GUIDBlock>(7) == bit(11));
    STATIC_REQUIRE(mask_of<&GUIDInfoRecord::GUIDInfo> == 0xff0);

    STATIC_REQUIRE(mask_of_element<&ServiceRecord::serviceData8>(0) == bit(7));
    STATIC_REQUIRE(mask_of_element<&ServiceRecord::serviceData64>(1) == bit(36));

    STATIC_REQUIRE(mask_of<&MulticastForwardingTableRecord::position> == bit(1));
    STATIC_REQUIRE(mask_of<&MulticastForwardingTableRecord::blockNum> == bit(3));

    STATIC_REQUIRE(mask_of<&InformInfoRecord::informInfo, &InformInfo::producerType> == bit(15));
    STATIC_REQUIRE(mask_of<&MCMemberRecord::proxyJoin> == bit(17));
}

TEST_CASE("the component mask bits of MultiPathRecord equal those of OpenSM") {
    const auto of = [](std::string_view name) { return component_mask(info_of<sa::MultiPathRecord>, name).value(); };
    CHECK(of("rawTraffic") == bit(0));
    CHECK(of("PKey") == bit(7));
    CHECK(of("QOSClass") == bit(8));
    CHECK(of("packetLifeTime") == bit(15));
    CHECK(of("serviceID8MSB") == bit(16));
    CHECK(of("independenceSelector") == bit(17));
    CHECK(of("DGIDCount") == bit(20));
    CHECK(of("serviceID56LSB") == bit(21));
    CHECK(of("SDGID") == bit(22)); // OpenSM has no constant for this bit
}
