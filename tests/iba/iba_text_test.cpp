// SPDX-License-Identifier: MIT
// iba_text_test.cpp - names and texts from the network: no character vanishes, and none controls a terminal.
#include "support/catch.hpp"
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/json.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

using namespace comad;
using namespace comad::iba;
using namespace std::string_literals;

namespace {

smp::NodeDescription description(std::string_view text) {
    smp::NodeDescription d;
    std::copy(text.begin(), text.end(), d.nodeString.begin());
    return d;
}

std::string json_quoted(std::string_view raw) { return detail::json_compact(detail::json_string(raw)); }

} // namespace

TEST_CASE("plain descriptions and valid UTF-8 pass unchanged") {
    for (std::string_view text : {"", "switch 1", "MT47396 Infiniscale-III Mellanox Technologies", "C:\\node \"7\" '~'",
                                  "Zürich – 節点", "\xf0\x9f\x96\xa7", "\xc2\xa0", "\xef\xbf\xbd"})
        CHECK(escaped(text) == text);
}

TEST_CASE("control characters are escaped") {
    CHECK(escaped("a\tb\nc\r") == "a\\x09b\\x0ac\\x0d");
    CHECK(escaped("\x1b[2J\x1b]0;owned\x07") == "\\x1b[2J\\x1b]0;owned\\x07");
    CHECK(escaped("del\x7f") == "del\\x7f");
    CHECK(escaped("\0nul"s) == "\\x00nul");
    CHECK(escaped("\x9b"
                  "31m") == "\\x9b31m"); // C1 CSI as one byte
    CHECK(escaped("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m"); // C1 CSI as UTF-8
    CHECK(escaped("\xc2\x80\xc2\x9f") == "\\xc2\\x80\\xc2\\x9f");
}

TEST_CASE("characters that reorder or break lines are escaped") {
    CHECK(escaped("\u202egnp.exe") == "\\xe2\\x80\\xaegnp.exe");
    CHECK(escaped("\u2066x\u2069") == "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
    CHECK(escaped("\u2028\u2029") == "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
}

TEST_CASE("invisible characters are escaped") {
    // Soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul fillers, zero-width space and joiners,
    // directional marks, word joiner, invisible operators, variation selectors, byte order mark, annotations and tags.
    for (const char* text :
         {"\u00ad", "\u034f", "\u061c", "\u115f",     "\u1160",     "\u3164",     "\uffa0",     "\u17b4",    "\u180e",
          "\u200b", "\u200d", "\u200e", "\u200f",     "\u2060",     "\u2064",     "\u206f",     "\ufe00",    "\ufe0f",
          "\ufeff", "\ufff9", "\ufffb", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100"}) {
        const std::string out = escaped("a"s + text + "b");
        CAPTURE(out);
        CHECK(std::all_of(out.begin(), out.end(), [](char c) { return c > 0; }));
        CHECK(out.size() == 2 + 4 * std::string_view(text).size());
        CHECK(nlohmann::json::parse(json_quoted(text)).get<std::string>() == text);
        const std::string in_json = json_quoted(text);
        CHECK(std::all_of(in_json.begin(), in_json.end(), [](char c) { return c > 0; }));
    }
    CHECK(escaped("\ufeffleaf") == "\\xef\\xbb\\xbfleaf");
    CHECK(json_quoted("\U000e0041") == "\"\\udb40\\udc41\""); // a surrogate pair
    // The neighbors of these characters are visible, and stay.
    for (const std::string text : {"\u00ac", "\u00ae", "\u0350", "\u115e", "\u1161", "\u200a", "\u2010", "\u2027",
                                   "\u202f", "\u205f", "\u2070", "\ufe10", "\ufffc", "\U000e1000"})
        CHECK(escaped(text) == text);
}

TEST_CASE("invalid UTF-8 is escaped byte by byte, and the text after it is kept") {
    CHECK(escaped("\xff"
                  "a") == "\\xffa");
    CHECK(escaped("\xc3") == "\\xc3");                            // truncated
    CHECK(escaped("\xe2\x82") == "\\xe2\\x82");                   // truncated
    CHECK(escaped("\xc3(") == "\\xc3(");                          // missing continuation byte
    CHECK(escaped("\x80") == "\\x80");                            // continuation byte without a start
    CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");                   // overlong
    CHECK(escaped("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");          // overlong
    CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");          // surrogate
    CHECK(escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80"); // above U+10FFFF
    CHECK(escaped("\xf8\x88\x80\x80\x80") == "\\xf8\\x88\\x80\\x80\\x80");
    CHECK(escaped("\xe2\x82\xc3\xa4") == "\\xe2\\x82\xc3\xa4"); // truncated, then a complete character
}

TEST_CASE("the escaped text of any bytes contains no control byte") {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::string raw(random() % 65, '\0');
        for (char& c : raw) c = static_cast<char>(random());
        const std::string out = escaped(raw);
        CHECK(std::none_of(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
        CHECK(escaped(out) == out); // valid UTF-8 without control characters does not change again
        CHECK_NOTHROW(nlohmann::json::parse(json_quoted(raw)));
    }
}

TEST_CASE("a JSON string equals its input if the input was valid UTF-8") {
    for (const std::string& text : {"plain"s, "quote \" backslash \\"s, "Zürich"s, "\x1b\n\0\x7f"s, "\u202e\u0085"s})
        CHECK(nlohmann::json::parse(json_quoted(text)).get<std::string>() == text);
    CHECK(json_quoted("a\x1b"
                      "b") == "\"a\\u001bb\"");
    CHECK(json_quoted("\u202e") == "\"\\u202e\"");
    CHECK(json_quoted("\xff"
                      "a") == "\"\\u00ffa\""); // not UTF-8
}

TEST_CASE("a JSON value keeps the bytes of a text, and each function that writes JSON converts them") {
    const nlohmann::ordered_json name = detail::json_string("h\xff");
    CHECK(name.get<std::string>() == "h\xff");
    const nlohmann::ordered_json nested{{"a", {1, true, nullptr, {{"b", name}}}},
                                        {"c", detail::json_string("\xc3\xbf")}};
    CHECK(detail::json_compact(nested) == R"({"a":[1,true,null,{"b":"h\u00ff"}],"c":"\u00ff"})");
    CHECK(detail::json_line(name) == "\"h\\u00ff\"\n");
    CHECK(detail::json_document({{"a", name}}) == "{\n \"a\": \"h\\u00ff\"\n}\n");
    std::string object = detail::json_compact({{"a", 1}});
    detail::add_json_list(object, "names", 1, [&](std::size_t) { return name; });
    CHECK(object == R"({"a":1,"names":["h\u00ff"]})");
}

TEST_CASE("valid_utf8 keeps valid UTF-8 and converts each other byte to a character") {
    for (const std::string& text : {""s, "plain"s, "Zürich – 節点"s, "\xf0\x9f\x96\xa7"s, "\x1b\0\x7f"s})
        CHECK(valid_utf8(text) == text);
    CHECK(valid_utf8("\xff\x80z") == "\u00ff\u0080z");
    CHECK(valid_utf8("\xc3") == "\u00c3");                         // truncated
    CHECK(valid_utf8("\xed\xa0\x80") == "\u00ed\u00a0\u0080");     // surrogate
    CHECK(valid_utf8("\xe2\x82\xc3\xa4") == "\u00e2\u0082\u00e4"); // truncated, then a complete character
}

TEST_CASE("escaped JSON is ASCII and contains the original text") {
    const std::string in_json = json_quoted("Zürich – 節点");
    CHECK(std::all_of(in_json.begin(), in_json.end(), [](char c) { return c > 0; }));
    CHECK(nlohmann::json::parse(in_json) == "Zürich – 節点");
}

TEST_CASE("a node description ends at the first NUL or at its full length") {
    CHECK(text(description("")).empty());
    CHECK(text(description("switch \"A\"")) == "switch \"A\"");
    CHECK(text(description("host\0rest"s)) == "host");
    const std::string sixty_three(63, 'x');
    CHECK(text(description(sixty_three)) == sixty_three);
    const std::string sixty_four(64, 'y');
    CHECK(text(description(sixty_four)) == sixty_four);
}

TEST_CASE("values without a name print their number") {
    CHECK(name_or_number(NodeType::Switch) == "Switch");
    CHECK(name_or_number(NodeType{7}) == "?? 7");
    CHECK(name_or_number(LinkWidth{0}) == "?? 0");
    CHECK(name_or_number(LinkWidth{16}) == "2x");
    CHECK(name_or_number(PortPhysicalState{15}) == "?? 15");
    CHECK(name_or_number(MgmtClass{0x81}) == "SubnDirected");
    CHECK(name_or_number(Method{0x92}) == "GetTableResp");
}

TEST_CASE("the formatters of guid and lid have their own format specifications") {
    CHECK(fmt::format("{}", guid{0x001777fffeb62ca4}) == "0017:77ff:feb6:2ca4");
    CHECK(fmt::format("{}", guid{}) == "0000:0000:0000:0000");
    CHECK(fmt::format("[{:>21}]", guid{1}) == "[  0000:0000:0000:0001]");
    CHECK(fmt::format("{}", lid{49152}) == "49152");
    CHECK(fmt::format("{:#06x}", lid{0x2a}) == "0x002a");
}
