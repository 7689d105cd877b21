// SPDX-License-Identifier: MIT
// diags_text_test.cpp - the text of each attribute compared with libibmad for equal bytes, with a different value in each
// field. Structures without a dump function in libibmad are checked by hand.
#include "library/iba_data.hpp"
#include "subnet/made_records.hpp"
#include "support/catch.hpp"
#include "text/diags_text.hpp"
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <infiniband/mad.h>

#include <array>
#include <sstream>

namespace diags_text_test {

using namespace comad;
using namespace ibtool;
namespace smp = iba::smp;
namespace vend = iba::vend;

namespace {

constexpr unsigned patterns = 256;

using dumper = void(char*, int, void*, int);

/// Returns libibmad's text for these bytes.
std::string dumped(dumper* dump, std::vector<u8> bytes) {
    const auto size = static_cast<int>(bytes.size());
    bytes.resize(256);
    std::array<char, 8192> text{};
    dump(text.data(), text.size(), bytes.data(), size);
    return text.data();
}
/// Returns libibmad's text for a number.
std::string dumped(dumper* dump, unsigned number) {
    std::array<char, 256> text{};
    dump(text.data(), text.size(), &number, sizeof number);
    return text.data();
}

/// Returns the number in `count` bytes at an offset.
u64 number_at(std::span<const u8> bytes, unsigned begin, unsigned count) {
    return iba::bits_at(bytes.data(), begin * 8, count * 8);
}

/// Calls `compare(record, text of libibmad)` for each pattern.
template <class T> void for_each_made(dumper* dump, auto&& change, auto&& compare) {
    CHECK(test::are_distinguishable(iba::info_of<T>, patterns));
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
        T value = test::made<T>(pattern);
        change(value);
        const auto bytes = iba::encode(value);
        CAPTURE(pattern);
        compare(value, dumped(dump, {bytes.begin(), bytes.end()}));
    }
}
/// Checks that our text equals libibmad's text for each pattern.
template <class T> void compare(dumper* dump) {
    for_each_made<T>(
        dump, [](T&) {}, [](const T& v, const std::string& theirs) { CHECK(format_diags(v) == theirs); });
}

/// Returns the lines of a text in order.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

} // namespace

TEST_CASE("attributes print libibmad's lines, each with the value of the right field") {
    compare<smp::NodeInfo>(mad_dump_nodeinfo);
    compare<smp::SwitchInfo>(mad_dump_switchinfo);
    compare<smp::MlnxExtPortInfo>(mad_dump_mlnx_ext_port_info);
    compare<smp::SLToVLMappingTable>(mad_dump_sltovl);
    for_each_made<smp::VLArbitrationTable>(
        mad_dump_vlarbitration, [](auto&) {},
        [](const auto& v, const std::string& theirs) { CHECK(format_vl_arbitration(v.VLWeightBlock) == theirs); });
}

TEST_CASE("PortInfo prints libibmad's lines, each with the value of the right field") {
    for_each_made<smp::PortInfo>(
        mad_dump_portinfo,
        [](smp::PortInfo& p) { // libibmad 44 does not support XDR and reports invalid widths
            p.linkSpeedExtSupported2 = 0;
            p.linkSpeedExtActive2 = {};
            p.linkWidthActive = iba::LinkWidth{static_cast<u8>(1 << value(p.linkWidthActive) % 5)};
        },
        [](smp::PortInfo& p, const std::string& theirs) {
            CHECK(format_diags(p, true) == theirs);
            const std::string first = theirs.substr(0, 33);
            CHECK(format_diags(p, false) == first + "<not displayed>" + theirs.substr(theirs.find('\n')));
            // ibportstate prints a part of these lines.
            const auto whole = lines_of(theirs), state = lines_of(format_port_state(p, true, true, true));
            CHECK(state.size() == 2 + 3 + 6 + 3 + 3); // states, LIDs, width and speed, extended speeds, key
            for (const std::string& line : state) CHECK(std::ranges::find(whole, line) != whole.end());
            CHECK(lines_of(format_port_state(p, false, true, true)).size() == state.size() - 3);
            CHECK(lines_of(format_port_state(p, true, false, true)).size() == state.size() - 3);
            const auto hidden = lines_of(format_port_state(p, false, true, false));
            CHECK(std::ranges::find(hidden, first + "<not displayed>") != hidden.end());
        });
}

TEST_CASE("XDR fields of a port are printed with their labels only if the port reports them") {
    const auto last_lines = [](unsigned supported, unsigned enabled, unsigned active) {
        smp::PortInfo p = test::made<smp::PortInfo>(1);
        p.linkSpeedExtSupported2 = static_cast<u8>(supported);
        p.linkSpeedExtEnabled2 = static_cast<u8>(enabled);
        p.linkSpeedExtActive2 = iba::LinkSpeedExt2{static_cast<u8>(active)};
        const std::string text = format_diags(p, true);
        return text.substr(text.find('\n', text.find("\nLinkSpeedExtEnabled:") + 1) + 1);
    };
    CHECK(last_lines(0, 1, 0).empty());
    CHECK(last_lines(1, 0, 0) == "LinkSpeedExtActive2:.............No Extended Speed 2\n"
                                 "LinkSpeedExtSupported2:..........212.5 Gbps\n"
                                 "LinkSpeedExtEnabled2:............0\n");
    CHECK(last_lines(0, 1, 2) == "LinkSpeedExtActive2:.............undefined (2)\n"
                                 "LinkSpeedExtSupported2:..........0\n"
                                 "LinkSpeedExtEnabled2:............212.5 Gbps\n");
    CHECK(last_lines(2, 3, 1) == "LinkSpeedExtActive2:.............212.5 Gbps\n"
                                 "LinkSpeedExtSupported2:..........undefined (2)\n"
                                 "LinkSpeedExtEnabled2:............212.5 Gbps or undefined (3)\n");
}

TEST_CASE("PortInfoExtended prints libibmad's lines, with the HDR and NDR fields at the IBA's offsets") {
    CHECK(test::are_distinguishable(iba::info_of<smp::PortInfoExtended>, patterns));
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
        std::vector<u8> bytes = test::made_bytes(iba::info_of<smp::PortInfoExtended>, pattern);
        smp::PortInfoExtended p;
        iba::decode(p, bytes.data());
        const std::vector<std::string> ours = lines_of(format_diags(p));
        const std::vector<std::string> theirs = lines_of(dumped(mad_dump_portinfo_ext, bytes));
        // libibmad 44 reads each of these fields from the other half of its word.
        for (const std::size_t word : {12, 16, 20}) std::swap_ranges(&bytes[word], &bytes[word + 2], &bytes[word + 2]);
        const std::vector<std::string> of_swapped = lines_of(dumped(mad_dump_portinfo_ext, bytes));
        REQUIRE(ours.size() == 10);
        REQUIRE(theirs.size() == 10);
        for (std::size_t i = 0; i < 10; ++i) CHECK(ours[i] == (i < 6 ? theirs : of_swapped)[i]);
    }
}

TEST_CASE("single values print as in libibmad") {
    for (const unsigned width : {1, 2, 3, 4, 8, 16}) CHECK(format_width(width) == dumped(mad_dump_linkwidth, width));
    for (unsigned value = 0; value < 256; ++value) {
        if (value < 16) { // values of four bits
            CHECK(format_speed(value) == dumped(mad_dump_linkspeed, value));
            CHECK(format_extended_speed(value) == dumped(mad_dump_linkspeedext, value));
            CHECK(format_link_state(iba::PortState{static_cast<u8>(value)}) == dumped(mad_dump_portstate, value));
            CHECK(format_physical_link_state(iba::PortPhysicalState{static_cast<u8>(value)}) ==
                  dumped(mad_dump_physportstate, value));
        }
        CHECK(format_node_type(iba::NodeType{static_cast<u8>(value)}) == dumped(mad_dump_node_type, value));
    }
}

TEST_CASE("a target is printed as libibmad's portid2str() prints the target") {
    ib_portid_t port{};
    port.lid = 0x1234;
    const std::string of_lid = portid2str(&port);
    mad::IBPath path;
    path.DLID = iba::lid{0x1234};
    CHECK(format_place(path) == of_lid);

    mad::IBDRPath route;
    port = {};
    port.drpath.drslid = port.drpath.drdlid = 0xffff;
    port.drpath.cnt = 3;
    route.hopCount = 3;
    for (u8 hop = 1; hop <= 3; ++hop) port.drpath.p[hop] = route.drPath[hop] = static_cast<u8>(hop * 7);
    CHECK(format_place(route) == std::string(portid2str(&port)));
    port.lid = 0x1234;
    route.DLID = iba::lid{0x1234};
    port.drpath.drslid = 5;
    route.drSLID = iba::lid{5};
    CHECK(format_place(route) == std::string(portid2str(&port)));
}

TEST_CASE("vendstat's general information prints each value from the right bytes") {
    // infiniband-diags' vendstat.c prints a block for the hardware and one for the firmware. If the firmware version is too
    // long for its field, three words with the version and a block for the software follow.
    struct {
        unsigned device;
        bool is_long;
    } const devices[] = {{0xb924, false}, {0x1002, false}, {0x1003, true}, {0x101b, true},
                         {0x101c, false}, {0xd2f0, true},  {0xc739, true}, {0x1bc7, false}};
    CHECK(test::are_distinguishable(iba::info_of<vend::MlxGeneralInfo>, std::size(devices)));
    for (unsigned pattern = 0; pattern < std::size(devices); ++pattern) {
        const auto [device, is_long] = devices[pattern];
        std::vector<u8> b = test::made_bytes(iba::info_of<vend::MlxGeneralInfo>, pattern);
        iba::put_bits_at(b.data(), 10 * 8, 16, device);
        b[56 + 13] = 0; // terminates the PSID
        vend::MlxGeneralInfo info;
        iba::decode(info, b.data());
        const auto dotted = [&](unsigned begin, unsigned each) {
            return fmt::format("{:02}.{:02}.{:02}", number_at(b, begin, each), number_at(b, begin + each, each),
                               number_at(b, begin + 2 * each, each));
        };
        CAPTURE(device);
        CHECK(lines_of(format_diags(info)) ==
              std::vector{fmt::format("hw_dev_rev:  0x{:04x}", number_at(b, 8, 2)),
                          fmt::format("hw_dev_id:   0x{:04x}", number_at(b, 10, 2)),
                          fmt::format("hw_uptime:   0x{:08x}", number_at(b, 36, 4)),
                          "fw_version:  " + (is_long ? dotted(76, 4) : dotted(41, 1)),
                          fmt::format("fw_build_id: 0x{:04x}", number_at(b, 44, 4)),
                          fmt::format("fw_date:     {:02x}/{:02x}/{:04x}", b[48], b[49], number_at(b, 50, 2)),
                          fmt::format("fw_psid:     '{}'", std::string(b.begin() + 56, b.begin() + 69)),
                          fmt::format("fw_ini_ver:  {}", number_at(b, 72, 4)),
                          "sw_version:  " + (is_long ? dotted(105, 1) : dotted(77, 1))});
    }
}

TEST_CASE("vendstat prints the extended version for a device that infiniband-diags does not list") {
    auto mads = load_mads("mellanox_mads.txt");
    const std::vector<u8> request = from_hex(mads["general_info_request"]),
                          reply = from_hex(mads["general_info_reply"]);
    REQUIRE(request.size() == 256);
    REQUIRE(reply.size() == 256);
    const iba::mad_tables tables = iba::tables_of(reply);
    CHECK(tables.attribute == &iba::info_of<vend::MlxGeneralInfo>);
    CHECK(iba::tables_of(request).attribute == tables.attribute);
    vend::MlxGeneralInfo info;
    iba::decode(info, reply.data() + 24); // after the MAD header: the vs_key, then the 144 bytes
    CHECK(info.device_id == 0xd2f2);
    CHECK(info.hw_revision == 0xa1);
    CHECK(info.uptime == 86461);
    CHECK(info.fw_hour == 0x1743);
    CHECK(vend::has_extended_version(info));
    CHECK(vend::firmware_version(info) == std::array<u32, 3>{31, 2012, 1068});
    CHECK((info.capability_mask[0] >> 20 & 1) == 1); // AccessRegister in GMPs is supported, so mstflint used it
    CHECK(info.capability_mask == std::array<u32, 4>{0x041cc5e0, 0x10, 0, 0});
    CHECK_THAT(format_diags(info),
               Catch::Contains("\nfw_version:  31.2012.1068\n") && Catch::Contains("\nfw_date:     10/26/2023\n") &&
                   Catch::Contains("\nfw_psid:     'MT_0000000063'\n") && Catch::Contains("\nsw_version:  00.00.00\n"));
    CHECK_THAT(iba::json(info),
               Catch::Contains("\"fw_ext_sub_minor\":1068") && Catch::Contains("\"capability_mask\":"));
}

TEST_CASE("tables print the first index before each row, and zeros up to the end of the table") {
    std::vector<u16> keys;
    for (unsigned i = 0; i < 9; ++i) keys.push_back(static_cast<u16>(0x8001 + i));
    CHECK(format_table(keys, 16) == "   0: 0x8001 0x8002 0x8003 0x8004 0x8005 0x8006 0x8007 0x8008\n"
                                    "   8: 0x8009 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n");
    const std::vector<iba::guid> guids{iba::guid{0x1122334455667788}, iba::guid{9}, iba::guid{0xa}};
    CHECK(format_table(guids, 4) == "   0: 0x1122334455667788 0x0000000000000009\n"
                                    "   2: 0x000000000000000a 0x0000000000000000\n");
    std::vector<u8> bytes;
    for (unsigned i = 0; i < 32; ++i) bytes.push_back(static_cast<u8>(3 * i));
    CHECK(format_hex(bytes) == "0003 0609 0c0f 1215 181b 1e21 2427 2a2d\n3033 3639 3c3f 4245 484b 4e51 5457 5a5d\n");
    CHECK(format_node_description("host A") == "Node Description:" + std::string(26, '.') + "host A\n");
}

} // namespace diags_text_test
