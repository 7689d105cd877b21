// SPDX-License-Identifier: MIT
// iba_keys_test.cpp - hiding keys in structures and MADs changes nothing else in them.
#include "support/catch.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace iba_keys_test {

using namespace comad;
using namespace comad::iba;

namespace {

constexpr u64 secret = 0x1122334455667788;

/// Returns a MAD of a class. All bytes after its header are set, except those of the attribute.
template <class Format> std::vector<u8> mad_of(Format format, std::span<const u8> attribute) {
    const auto bytes = encode(format);
    std::vector<u8> mad(bytes.begin(), bytes.end());
    std::copy(attribute.begin(), attribute.end(), mad.begin() + offset_of<&Format::data>);
    return mad;
}

void check_hidden(const std::vector<u8>& with, const std::vector<u8>& without) {
    std::vector<u8> hidden = with;
    CHECK(hide_keys(hidden) == (with != without));
    CHECK(hidden == without);
}

/// Returns a PortInfo with all bytes set, so that the test notices if too many bytes are hidden.
smp::PortInfo port_info(u64 key) {
    std::array<u8, wire_size<smp::PortInfo>> bytes;
    bytes.fill(0xa5);
    auto info = decode<smp::PortInfo>(bytes);
    info.MKey = key;
    return info;
}

} // namespace

TEST_CASE("the M_Key in the header of an SMP and in PortInfo, and the SM_Key in SMInfo, are hidden") {
    const auto smp = [](u64 key, u16 attributeID, std::span<const u8> attribute) {
        smp::Format f;
        f.header.attributeID = attributeID;
        f.MKey = key;
        return mad_of(f, attribute);
    };
    check_hidden(smp(secret, 0x15, encode(port_info(secret))), smp(0, 0x15, encode(port_info(0))));
    check_hidden(smp(0, 0x15, encode(port_info(0))), smp(0, 0x15, encode(port_info(0))));
    smp::SMInfo with{.GUID = guid{9}, .SMKey = secret, .actCount = 7}, without = with;
    without.SMKey = 0;
    check_hidden(smp(secret, 0x20, encode(with)), smp(0, 0x20, encode(without)));
    smp::FormatDirected directed;
    directed.header.attributeID = 0x11;
    directed.MKey = secret;
    const std::vector<u8> info(64, 0xff);
    const auto had = mad_of(directed, info);
    directed.MKey = 0;
    check_hidden(had, mad_of(directed, info));
}

TEST_CASE("the CC_Key of congestion control MADs and of CongestionKeyInfo is hidden") {
    const auto mad = [](u64 key) {
        cc::Format f;
        f.header.attributeID = attribute_id<cc::CongestionKeyInfo>;
        f.CCKey = key;
        return mad_of(f, encode(cc::CongestionKeyInfo{.CCKey = key, .CCKeyLeasePeriod = 5, .CCKeyViolations = 6}));
    };
    check_hidden(mad(secret), mad(0));
}

TEST_CASE("the M_Key of every record of an SA table is hidden, even across segments") {
    // 11 records of 72 bytes in segments of 200 bytes: keys lie inside segments and across their boundaries.
    constexpr std::size_t stride = (wire_size<sa::PortInfoRecord> + 7) / 8 * 8;
    const auto segments = [](u64 key) {
        std::vector<u8> records(11 * stride, 0x5a);
        for (unsigned i = 0; i < 11; ++i) {
            sa::PortInfoRecord r;
            r.endportLID = lid{static_cast<u16>(i + 1)};
            r.portInfo = port_info(key);
            const auto bytes = encode(r);
            std::copy(bytes.begin(), bytes.end(), records.begin() + static_cast<std::ptrdiff_t>(i * stride));
        }
        std::vector<std::vector<u8>> all;
        for (std::size_t begin = 0; begin < records.size(); begin += 200) {
            sa::Format f;
            f.header.rmpp.header.attributeID = attribute_id<sa::PortInfoRecord>;
            f.header.rmpp.header.method = Method::GetTableResp;
            f.header.rmpp.data1 = static_cast<u32>(all.size() + 1);
            f.header.SMKey = key;
            f.header.attributeOffset = stride / 8;
            all.push_back(
                mad_of(f, std::span(records).subspan(begin, std::min<std::size_t>(200, records.size() - begin))));
        }
        return all;
    };
    const auto with = segments(secret), without = segments(0);
    REQUIRE(with.size() == 4);
    for (std::size_t i = 0; i < with.size(); ++i) {
        CAPTURE(i);
        check_hidden(with[i], without[i]);
    }
    // The reassembled message, as an RMPP driver delivers it.
    std::vector<u8> whole = with[0], wanted = without[0];
    for (std::size_t i = 1; i < with.size(); ++i) {
        whole.insert(whole.end(), with[i].begin() + 56, with[i].end());
        wanted.insert(wanted.end(), without[i].begin() + 56, without[i].end());
    }
    check_hidden(whole, wanted);
}

namespace {

/// Ranges of bytes of a MAD: the first byte, and the byte after the last.
using ranges = std::vector<std::pair<std::size_t, std::size_t>>;

/// Returns a MAD with all bytes set, except for class, version and attribute.
std::vector<u8> full_mad(u8 mgmt_class, u8 version, u16 attributeID) {
    std::vector<u8> mad(256, 0xee);
    mad[0] = 1, mad[1] = mgmt_class, mad[2] = version;
    mad[16] = static_cast<u8>(attributeID >> 8), mad[17] = static_cast<u8>(attributeID);
    return mad;
}
std::vector<u8> with_zeros(std::vector<u8> mad, const ranges& keys) {
    for (const auto& [begin, end] : keys)
        for (std::size_t i = begin; i < std::min(end, mad.size()); ++i) mad[i] = 0;
    return mad;
}

struct keys_of_mad {
    u8 mgmt_class, version;
    u16 attributeID;
    ranges keys;
};

} // namespace

// Counted by hand from IBA 14.2.1, 15.2.1, 16.2.1 and A10.4; for Mellanox classes from packets_layouts.h of ibis.
TEST_CASE("exactly the keys are hidden in MADs of all classes, versions, known and unknown attributes") {
    ranges neighbors{{24, 32}};
    for (std::size_t i = 0; i < 14; ++i) neighbors.emplace_back(32 + 16 * i + 8, 32 + 16 * i + 16);
    for (const keys_of_mad& m : std::vector<keys_of_mad>{
             {0x01, 1, 0x15, {{24, 32}, {64, 72}}}, // SMP, PortInfo
             {0x81, 1, 0x15, {{24, 32}, {64, 72}}}, // PortInfo by a directed route
             {0x01, 9, 0x15, {{24, 32}, {64, 72}}}, // another class version
             {0x81, 1, 0xff99, {{24, 32}}},         // an unknown attribute
             {0x01, 1, 0x20, {{24, 32}, {72, 80}}}, // SMInfo
             {0x03, 2, 0x18, {{36, 44}, {68, 76}}}, // SMInfoRecord
             {0x03, 1, 0x18, {{36, 44}, {68, 76}}},
             {0x03, 2, 0x31, {{36, 44}, {88, 104}}}, // ServiceRecord
             {0x04, 1, 0x12, {{24, 32}}},            // pm_key
             {0x05, 1, 0x20, {{24, 32}}},            // B_Key
             {0x05, 1, 0x10, {{24, 32}, {64, 72}}},  // BKeyInfo
             {0x09, 1, 0x10, {{24, 32}}},            // vs_key
             {0x0a, 1, 0x17, {{24, 32}}},            // vendor class 0x0a, GeneralInfo
             {0x0a, 1, 0x7e, {{24, 32}}},
             {0x0a, 3, 0x17, {{24, 32}}},
             {0x0b, 1, 0x20, {{24, 32}}},             // am_key
             {0x0b, 1, 0x10, {{24, 32}, {64, 72}}},   // AMKeyInfo
             {0x0b, 1, 0x24, {{24, 32}, {108, 116}}}, // QuotaConfig
             {0x0c, 1, 0x0f, {{24, 32}, {32, 40}}},   // N2N_Key, KeyInfo
             {0x0c, 1, 0x10, neighbors},
             {0x21, 2, 0x11, {{24, 32}}},           // CC_Key
             {0x21, 2, 0x13, {{24, 32}}},           // the log, which has another format
             {0x21, 2, 0x12, {{24, 32}, {64, 72}}}, // CongestionKeyInfo
             {0x21, 1, 0x12, {{24, 32}, {64, 72}}},
             {0x06, 1, 0x10, {}},
             {0x07, 2, 0x10, {}}, // REQ, whose Q_Key is not secret
             {0x08, 1, 0x11, {}},
             {0x10, 1, 0x10, {}},
             {0x32, 1, 0x10, {}},
         }) {
        CAPTURE(int{m.mgmt_class}, int{m.version}, m.attributeID);
        const std::vector<u8> mad = full_mad(m.mgmt_class, m.version, m.attributeID);
        check_hidden(mad, with_zeros(mad, m.keys));
        for (const std::size_t size : {24u, 28u, 30u, 40u, 70u, 90u, 100u, 255u}) { // truncated MADs stay truncated
            CAPTURE(size);
            const std::vector<u8> cut(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(size));
            check_hidden(cut, with_zeros(cut, m.keys));
        }
    }
}

// Offsets follow OpenSM's ib_types.h: ntc_256, ntc_bkey_259 and ntc_cckey_0 of ib_mad_notice_attr_t. Its data_details
// start at byte 10.
TEST_CASE("the key in a key violation notice is hidden, whatever its RMPP bytes contain") {
    const auto notice = [](u8 mgmt_class, u8 version, std::size_t data, u16 trap) {
        std::vector<u8> mad = full_mad(mgmt_class, version, 2);
        mad[data] = 0x83; // generic, type 3
        mad[data + 4] = static_cast<u8>(trap >> 8), mad[data + 5] = static_cast<u8>(trap);
        return mad;
    };
    const auto check = [](const std::vector<u8>& mad, const ranges& keys) { check_hidden(mad, with_zeros(mad, keys)); };
    for (const u8 smp : {u8{0x01}, u8{0x81}}) {
        check(notice(smp, 1, 64, 256), {{24, 32}, {64 + 10 + 14, 64 + 10 + 22}});
        check(notice(smp, 2, 64, 256), {{24, 32}, {64 + 10 + 14, 64 + 10 + 22}});
        check(notice(smp, 1, 64, 257), {{24, 32}}); // a P_Key is not secret
    }
    std::vector<u8> report = notice(0x03, 2, 56, 256);
    const ranges of_report{{36, 44}, {56 + 10 + 14, 56 + 10 + 22}};
    check(report, of_report);
    for (std::size_t i = 24; i < 36; ++i) report[i] = 0; // as the SA sends it
    check(report, of_report);
    check(notice(0x05, 1, 64, 259), {{24, 32}, {64 + 10 + 14, 64 + 10 + 22}});
    // According to ibis, the key is two bytes before its position in OpenSM.
    check(notice(0x21, 2, 64, 0), {{24, 32}, {64 + 8 + 16, 64 + 10 + 24}});
}

TEST_CASE("bytes that are not a MAD or are of an unknown class stay unchanged") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{23}, std::size_t{256}}) {
        std::vector<u8> bytes(size, 0x7e);
        const std::vector<u8> before = bytes;
        CHECK_FALSE(hide_keys(bytes));
        CHECK(bytes == before);
    }
}

TEST_CASE("printers omit a hidden key, and line formats mark it as hidden") {
    smp::PortInfo info;
    info.MKey = secret;
    info.LID = lid{7};
    CHECK(json(info).find("\"MKey\":\"0x1122334455667788\"") != std::string::npos);
    const std::string hidden = json(info, json_style::readable, key_display::hidden);
    CHECK(hidden.find("\"MKey\"") == std::string::npos);
    CHECK(hidden.find("\"LID\":7") != std::string::npos);
    const std::string lines = dotted(info, {.keys = key_display::hidden});
    CHECK(lines.find("MKey.............................<not displayed>\n") == 0);
    CHECK(lines.find("11223344") == std::string::npos);
    NoticeTrap256 details;
    details.MKey = secret;
    CHECK(json(details, json_style::readable, key_display::hidden).find("MKey") == std::string::npos);
}

} // namespace iba_keys_test
