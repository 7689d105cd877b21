// SPDX-License-Identifier: MIT
// iba_link_words_test.cpp - names of link widths and speeds. The names are those of rdma-core (infiniband-diags/ibnetdiscover.c).
#include "support/catch.hpp"
#include <comad/iba/detail/link_words.hpp>

#include <map>
#include <string_view>

namespace iba_link_words_test {

using namespace comad;
using iba::link_word;
using iba::LinkWidth;
using kind = link_word::kind;

namespace {

const std::map<std::string_view, LinkWidth> widths{{"1x", LinkWidth::w1x},
                                                   {"2x", LinkWidth::w2x},
                                                   {"4x", LinkWidth::w4x},
                                                   {"8x", LinkWidth::w8x},
                                                   {"12x", LinkWidth::w12x}};
// Bits of LinkSpeed, then of LinkSpeedExt from bit 3 and of LinkSpeedExt2 from bit 7 (IBA 14.2.5.6).
const std::map<std::string_view, u32> speeds{{"SDR", 1},  {"DDR", 2},  {"QDR", 4},  {"FDR10", 0x8000}, {"FDR", 8},
                                             {"EDR", 16}, {"HDR", 32}, {"NDR", 64}, {"XDR", 128}};

} // namespace

TEST_CASE("parse_link_word parses a width followed by a speed, and each name is written back") {
    for (const auto& [width, width_code] : widths) {
        for (const auto& [speed, speed_code] : speeds) {
            const std::string word = std::string(width) + std::string(speed);
            CAPTURE(word);
            const link_word parsed = iba::parse_link_word(word);
            CHECK(parsed.what == kind::known);
            CHECK(parsed.width == width_code);
            CHECK(parsed.speed == speed_code);
            CHECK(iba::width_name(parsed.width) == width);
            CHECK(iba::speed_name(parsed.speed) == speed);
        }
    }
    CHECK(iba::parse_link_word("4Xedr").speed == 16);
}

TEST_CASE("question marks are not parsed as a width or a speed") {
    CHECK(iba::parse_link_word("?????").what == kind::unknown);
    CHECK(iba::parse_link_word("4x???").what == kind::known);
    CHECK(iba::parse_link_word("4x???").width == LinkWidth::w4x);
    CHECK(iba::parse_link_word("4x???").speed == 0);
    CHECK(iba::parse_link_word("??EDR").what == kind::known);
    CHECK(iba::parse_link_word("??EDR").width == LinkWidth{});
    CHECK(iba::parse_link_word("??EDR").speed == 16);
    CHECK(iba::width_name(LinkWidth{}) == "??");
    CHECK(iba::width_name(LinkWidth{6}) == "??"); // more than one width
    CHECK(iba::speed_name(0) == "???");
    CHECK(iba::speed_name(0x18) == "???");
}

TEST_CASE("a word shaped like width and speed with unknown values is invalid") {
    for (const char* word : {"4xABC", "3xEDR", "16xHDR", "4xGDR", "4xFDR100", "4xE", "??ABC", "3x???"}) {
        CAPTURE(word);
        CHECK(iba::parse_link_word(word).what == kind::invalid);
    }
}

TEST_CASE("a word of any other shape is neither width and speed nor invalid") {
    for (const char* word : {"", "lid", "7", "w=3", "4x", "x", "EDR", "0x2c9", "0xabc", "slot", "(scp)", "??", "???",
                             "4x-EDR", "4x EDR", "\"4xEDR\""}) {
        CAPTURE(word);
        CHECK(iba::parse_link_word(word).what == kind::other);
    }
}

TEST_CASE("messages list every width and speed") {
    for (const auto& [width, code] : widths) CHECK(iba::all_width_names().find(width) != std::string_view::npos);
    for (const auto& [speed, code] : speeds) CHECK(iba::all_speed_names().find(speed) != std::string_view::npos);
}

} // namespace iba_link_words_test
