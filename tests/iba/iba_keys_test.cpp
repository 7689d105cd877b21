// SPDX-License-Identifier: MIT
// iba_keys_test.cpp - structures and MADs without their keys: nothing else in them changes.
#include "catch.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/codec.hpp>
#include <comad/iba/keys.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace iba_keys_test { // compiled together with others

using namespace comad;
using namespace comad::iba;

namespace {

constexpr u64 secret = 0x1122334455667788;

/// A MAD of a class with every byte behind its header set, but its attribute's.
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

/// Filled, so that a byte too much that is hidden is seen.
smp::PortInfo port_info(u64 key) {
    std::array<u8, wire_size<smp::PortInfo>> bytes;
    bytes.fill(0xa5);
    auto info = decode<smp::PortInfo>(bytes);
    info.MKey = key;
    return info;
}

} // namespace

TEST_CASE("an SMP's M_Key is hidden, and that of a PortInfo in it, and the SM_Key of an SMInfo") {
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

TEST_CASE("of congestion control the CC_Key is hidden, also that of CongestionKeyInfo") {
    const auto mad = [](u64 key) {
        cc::Format f;
        f.header.attributeID = attribute_id<cc::CongestionKeyInfo>;
        f.CCKey = key;
        return mad_of(f, encode(cc::CongestionKeyInfo{.CCKey = key, .CCKeyLeasePeriod = 5, .CCKeyViolations = 6}));
    };
    check_hidden(mad(secret), mad(0));
}

TEST_CASE("of a table of the SA every record's M_Key is hidden, in whichever segments it lies") {
    // 11 records of 72 bytes in segments of 200: keys lie within segments and across their ends.
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
    // Put together, as a driver of RMPP has it.
    std::vector<u8> whole = with[0], wanted = without[0];
    for (std::size_t i = 1; i < with.size(); ++i) {
        whole.insert(whole.end(), with[i].begin() + 56, with[i].end());
        wanted.insert(wanted.end(), without[i].begin() + 56, without[i].end());
    }
    check_hidden(whole, wanted);
}

TEST_CASE("what is short or of an unknown class stays as it is") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{23}, std::size_t{256}}) {
        std::vector<u8> bytes(size, 0x7e);
        const std::vector<u8> before = bytes;
        CHECK_FALSE(hide_keys(bytes));
        CHECK(bytes == before);
    }
    std::vector<u8> cut(30, 0xff); // an SMP that ends in its M_Key
    cut[1] = 1, cut[2] = 1;
    const std::vector<u8> before = cut;
    hide_keys(cut);
    CHECK(cut == before);
}

TEST_CASE("printers leave a hidden key out, and say so where there are lines") {
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
