// SPDX-License-Identifier: MIT
// iba_registry_test.cpp - tables by name, class and ID, and the legal requests.
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba.hpp>
#include <comad/iba/detail/registry.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

using namespace comad;
using namespace comad::iba;
using nlohmann::json;

namespace {

std::string_view name_of(const record_info* info) { return info ? info->name : "nothing"; }

/// Returns the names in the calls describe<...>("SMPNodeInfo" of the headers.
std::set<std::string> described_names() {
    const auto headers = std::filesystem::path(COMAD_SOURCE_DIR) / "include/comad/iba";
    const std::regex description(R"(layout = describe<[^>]*>\("(\w+)\")");
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(headers)) {
        // This file contains an example in a comment.
        if (!entry.is_regular_file() || entry.path().filename() == "table.hpp") continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string source = text.str();
        for (std::sregex_iterator it(source.begin(), source.end(), description), end; it != end; ++it)
            names.insert((*it)[1]);
    }
    return names;
}

} // namespace

TEST_CASE("every table in the headers is registered") {
    std::set<std::string> registered;
    for (const structure& s : structures()) registered.emplace(s.info->name);
    CHECK(described_names() == registered);
    CHECK(registered.size() == structures().size());
}

TEST_CASE("a structure is found by its full name") {
    for (const structure& s : structures()) CHECK(find_structure(s.info->name) == &s);
    CHECK(find_structure("SMPNodeInfo")->info == &info_of<smp::NodeInfo>);
    CHECK(find_structure("SMPNodeInfo")->attributeID == 0x0011);
    CHECK(find_structure("NodeInfo") == nullptr);
    CHECK(find_structure("SMPNodeInf") == nullptr);
    CHECK(find_structure("") == nullptr);
    CHECK(find_structure("MADHeader")->uses.empty());
}

TEST_CASE("a format is found by class and version") {
    for (const json& facts : load_data("iba_layout.jsonl")) {
        if (facts["kind"] != "format") continue;
        const MgmtClass mgmt_class{facts["mgmt_class"].get<u8>()};
        const u8 version = facts["mgmt_class_version"];
        CHECK(name_of(find_format(mgmt_class, version)) == facts["struct"].get<std::string>());
        for (const unsigned other : {0u, version ^ 3u, 3u, 255u}) {
            INFO(facts["struct"] << " version " << other);
            CHECK(find_format(mgmt_class, static_cast<u8>(other)) == nullptr);
        }
    }
    CHECK(find_format(MgmtClass::BM, 1) == &info_of<bm::Format>);
    CHECK(find_format(MgmtClass::CongestionControl, 2) == &info_of<cc::Format>);
    CHECK(find_format(MgmtClass::CongestionControl, 2, 0x0013) == &info_of<cc::LogFormat>);
    CHECK(find_format(MgmtClass::CongestionControl, 1) == nullptr);
}

TEST_CASE("every vendor class has the format of its range") {
    for (unsigned c = 0; c <= 0xff; ++c) {
        INFO(c);
        const record_info* expected = nullptr;
        if (c >= 0x09 && c <= 0x0f) expected = &info_of<vend::Format>;
        if (c >= 0x30 && c <= 0x4f) expected = &info_of<vend::OUIFormat>;
        const std::set<unsigned> others{0x01, 0x04, 0x05, 0x06, 0x08, 0x81};
        if (!others.contains(c)) CHECK(find_format(MgmtClass{static_cast<u8>(c)}, 1) == expected);
    }
}

TEST_CASE("an attribute is found by class and ID") {
    unsigned attributes = 0;
    for (const json& facts : load_data("iba_layout.jsonl")) {
        if (!facts.contains("attributes")) continue;
        const MgmtClass mgmt_class{facts["mgmt_class"].get<u8>()};
        const u8 version = facts["mgmt_class_version"];
        for (const auto& [id, name] : facts["attributes"].items()) {
            INFO(facts["struct"] << ' ' << id);
            const auto number = static_cast<u16>(std::stoul(id, nullptr, 16));
            CHECK(name_of(find_attribute(mgmt_class, version, number)) == name.get<std::string>());
            CHECK(find_attribute(mgmt_class, static_cast<u8>(version + 1), number) == nullptr);
            ++attributes;
        }
    }
    CHECK(attributes == 90);
    CHECK(find_attribute(MgmtClass::SubnLID, 1, 0x0001) == nullptr); // subnet management has no ClassPortInfo
    CHECK(find_attribute(MgmtClass::SubnDirected, 1, 0xff90) == &info_of<smp::MlnxExtPortInfo>);
    CHECK(find_attribute(MgmtClass::SubnAdm, 2, 0xff90) == nullptr);
    CHECK(find_attribute(MgmtClass{0x7f}, 1, 0x0001) == nullptr);
}

TEST_CASE("a vendor attribute is found by its class and OUI") {
    const MgmtClass mlx{0x0a};
    const MgmtClass openfabrics{0x33};
    CHECK(find_attribute(mlx, 1, 0x0017) == &info_of<vend::MlxGeneralInfo>);
    CHECK(find_attribute(MgmtClass::Vend, 1, 0x0017) == nullptr);
    CHECK(find_attribute(openfabrics, 1, 0x0010, 0x001405) == &info_of<vend::OFASysStatPing>);
    CHECK(find_attribute(openfabrics, 1, 0x0010, 0x0002c9) == nullptr);
    CHECK(find_attribute(openfabrics, 1, 0x0010) == nullptr);
    CHECK(find_attribute(MgmtClass::VendOUI, 1, 0x0010, 0x001405) == nullptr);
    for (const u8 c : {u8{0x09}, u8{0x0f}, u8{0x30}, u8{0x4f}})
        CHECK(find_attribute(MgmtClass{c}, 1, 0x0001, 0x123456) == &info_of<ClassPortInfo>);
}

TEST_CASE("find_attribute returns the first structure with the ID that fits the format") {
    CHECK(find_attribute(MgmtClass::SubnLID, 1, 0x0002) == &info_of<smp::NoticeTrap>);
    CHECK(find_attribute(MgmtClass::DevMgt, 1, 0x0002) == &info_of<Notice>);
    CHECK(find_attribute(MgmtClass::CongestionControl, 2, 0x0013) == &info_of<cc::CongestionLogSwitch>);
    CHECK(find_attribute(MgmtClass::Performance, 1, 0x001f) == &info_of<pm::PortExtendedSpeedsCounters>);
}

TEST_CASE("all requests of the IBA are legal") {
    for (const structure& s : structures()) {
        for (const attribute_use& use : s.uses) {
            for (const enum_name& method : names_of<Method>) {
                const Method m{static_cast<u8>(method.value)};
                if (!use.allows(m)) continue;
                INFO(s.info->name << ' ' << method.name);
                CHECK(is_legal_request(use.mgmt_class, use.class_version, m, s.attributeID, use.OUI));
                CHECK_FALSE(is_legal_request(use.mgmt_class, 77, m, s.attributeID, use.OUI));
            }
        }
    }
    CHECK(is_legal_request(MgmtClass::SubnDirected, 1, Method::Set, 0x0015));
    CHECK(is_legal_request(MgmtClass::SubnLID, 1, Method::Set, 0x0002)); // although another table describes it
}

TEST_CASE("requests that the IBA does not define are not legal") {
    CHECK_FALSE(is_legal_request(MgmtClass::SubnLID, 1, Method::Set, 0x0011));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnLID, 1, Method::GetResp, 0x0011));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnLID, 1, Method::GetTable, 0x0011));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnAdm, 2, Method::Set, 0x0035));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnAdm, 1, Method::Get, 0x0035));
    CHECK_FALSE(is_legal_request(MgmtClass::Performance, 1, Method::Get, 0x0038));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnLID, 1, Method::Get, 0x7777));
    CHECK_FALSE(is_legal_request(MgmtClass{0x33}, 1, Method::Get, 0x0010, 0x0002c9));
    CHECK_FALSE(is_legal_request(MgmtClass::SubnLID, 1, Method{0x22}, 0x0011)); // 32 above Set
}

TEST_CASE("attribute_use of a class covers the classes that it represents") {
    constexpr attribute_use smp = in_class<MgmtClass::SubnLID, 1, Method::Get>;
    constexpr attribute_use vendor = in_class<MgmtClass::Vend, 1, Method::Get>;
    constexpr attribute_use vendor_with_oui = in_class<MgmtClass::VendOUI, 1, Method::Get>;
    constexpr attribute_use one_vendor = in_vendor_class<MgmtClass{0x33}, 1, 0x001405, Method::Get>;
    for (unsigned i = 0; i <= 0xff; ++i) {
        INFO(i);
        const MgmtClass c{static_cast<u8>(i)};
        CHECK(smp.covers(c) == (i == 0x01 || i == 0x81));
        CHECK(vendor.covers(c) == (i >= 0x09 && i <= 0x0f));
        CHECK(vendor_with_oui.covers(c) == (i >= 0x30 && i <= 0x4f));
        CHECK(one_vendor.covers(c) == (i == 0x33));
    }
}

TEST_CASE("the structure of notice details is found by trap number") {
    std::map<unsigned, std::string> expected;
    for (const json& facts : load_data("iba_layout.jsonl")) {
        if (facts["kind"] != "notice_details") continue;
        const std::string prefix = "MADNoticeTrap";
        const std::string name = facts["struct"];
        expected[std::stoul(name.substr(prefix.size()))] = name;
        if (!facts.contains("aliases") || facts["aliases"].is_null()) continue;
        for (const json& alias : facts["aliases"])
            expected[std::stoul(alias.get<std::string>().substr(prefix.size()))] = name;
    }
    CHECK(expected.size() == 14);
    for (unsigned trap = 0; trap <= 0xffff; ++trap) {
        const auto known = expected.find(trap);
        const std::string name = known == expected.end() ? "nothing" : known->second;
        if (name_of(find_notice_details(TrapNumber{static_cast<u16>(trap)})) != name) FAIL_CHECK("trap " << trap);
    }
}

TEST_CASE("the details of a notice are decoded from the notice") {
    Notice notice;
    notice.trapNumber = TrapNumber::LocalChange;
    NoticeTrap144 change;
    change.lidAddr = lid{0x1234};
    change.otherLocalChanges = true;
    change.capabilityMask = 0x89abcdef;
    change.nodeDescriptionChange = true;
    notice.dataDetails = encode(change);
    // IBA 14.2.5.1: LID in bytes 2 and 3 of the details, capability mask from byte 6, flags in bytes 5 and 11.
    const std::array<u8, 14> expected{0, 0, 0x12, 0x34, 0, 1, 0x89, 0xab, 0xcd, 0xef, 0, 1, 0, 0};
    CHECK(std::equal(expected.begin(), expected.end(), notice.dataDetails.begin()));
    CHECK(decode<NoticeTrap144>(notice.dataDetails) == change);
}

TEST_CASE("a notice of subnet management prints like any other notice") {
    smp::NoticeTrap trap;
    trap.isGeneric = true;
    trap.nodeType = ProducerType::Switch;
    trap.trapNumber = TrapNumber::LinkStateChange;
    trap.issuerLID = lid{7};
    trap.noticeCount = 0x1234;
    trap.dataDetails = 0x0007;
    trap.dataDetails2 = {0xabcd, 0, 0xef01};
    const Notice notice = smp::notice_of(trap);
    CHECK(notice.isGeneric);
    CHECK(notice.nodeType == ProducerType::Switch);
    CHECK(notice.trapNumber == TrapNumber::LinkStateChange);
    CHECK(notice.issuerLID == lid{7});
    CHECK(notice.noticeCount == 0x1234);
    CHECK(notice.issuerGID == gid{});
    const auto details = decode<NoticeTrap128>(notice.dataDetails);
    CHECK(details.lidAddr == lid{7});
    CHECK(details.padding[0] == 0xab);
    CHECK(details.padding[5] == 0x01);
}
