// SPDX-License-Identifier: MIT
// gunzip_test.cpp - gzip data that is complete, damaged, truncated or too large, and network frames that are complete or
// truncated.
#include "input/gunzip.hpp"
#include "input/roce_frame.hpp"
#include "program/process.hpp"
#include "support/catch.hpp"
#include <comad/iba/types.hpp>

#include <array>
#include <string>
#include <vector>

namespace gunzip_test {

using namespace comad;

namespace {

/// Compresses a text with the program gzip.
std::string gzipped(const std::string& text) {
    return run_process({"sh", "-c", "printf %s \"$1\" | gzip -c", "sh", text}).out;
}

/// Returns the decompressed text. Sets `problem` to the error or to an empty text.
std::string text_of(std::string_view bytes, std::string& problem, std::size_t most = ibtool::most_decompressed) {
    problem.clear();
    return ibtool::gunzip(bytes, problem, most);
}

} // namespace

TEST_CASE("gunzip restores what gzip compressed, including files with several members") {
    const std::string text = std::string(100'000, 'x') + "end", file = gzipped(text);
    std::string problem;
    REQUIRE(ibtool::is_gzipped(file));
    CHECK_FALSE(ibtool::is_gzipped("\x1f\x8b"));
    CHECK(text_of(file, problem) == text);
    CHECK(text_of(file + gzipped("more"), problem) == text + "more");
    CHECK(text_of(file + std::string(7, '\0'), problem) == text); // gzip ignores padding
    CHECK(problem.empty());
}

TEST_CASE("gunzip returns the valid data, then reports that the rest is truncated, damaged or too large") {
    const std::string text = std::string(100'000, 'x') + "end", file = gzipped(text);
    std::string problem;
    for (std::size_t size = 3; size < file.size(); ++size) {
        CHECK(text.starts_with(text_of(file.substr(0, size), problem)));
        CHECK(problem == "the compressed data is truncated");
    }
    std::string damaged = file;
    damaged[damaged.size() - 5] ^= 1; // a byte of the checksum
    CHECK(text_of(damaged, problem) == text);
    CHECK_THAT(problem, Catch::StartsWith("the compressed data is damaged: "));
    CHECK(text_of(file, problem, text.size()) == text);
    CHECK(problem.empty());
    CHECK(text_of(file, problem, text.size() - 1).size() == text.size() - 1);
    CHECK(problem == "the decompressed data exceeds 100002 bytes; decompress and split the file");
}

TEST_CASE("a frame that is truncated or contains no RoCE packet is not read beyond its end") {
    // A frame of Ethernet, IPv4, UDP to port 4791, and a UD SEND of 4 bytes with its CRC. The test then changes single
    // bytes.
    const std::vector<u8> frame{
        2,    0, 0,    0,    0, 1,  2, 0,    0,  0,  0, 2, 0x08, 0x00,                                // Ethernet
        0x45, 0, 0,    56,   0, 1,  0, 0,    64, 17, 0, 0, 10,   0,    0, 1, 10, 0, 0, 2,             // IPv4
        0xc0, 0, 0x12, 0xb7, 0, 36, 0, 0,                                                             // UDP
        100,  0, 0xff, 0xff, 0, 0,  0, 0x48, 0,  0,  0, 0, 0,    0,    0, 1, 0,  0, 0, 1, 8, 0, 0, 0, // BTH, DETH, data
        1,    2, 3,    4};
    using enum ibtool::frame_start;
    const auto whole = ibtool::packet_in_frame(frame, ethernet);
    REQUIRE(whole.bytes.size() == 24);
    CHECK(whole.bytes.data() == frame.data() + 42);
    CHECK(whole.where == "RoCEv2 from 10.0.0.1 to 10.0.0.2");
    for (const auto from : {ethernet, cooked, cooked2, ip})
        for (std::size_t size = 0; size <= frame.size(); ++size) {
            const std::vector<u8> cut(frame.begin(),
                                      frame.begin() + static_cast<std::ptrdiff_t>(size)); // for ASan
            const auto found = ibtool::packet_in_frame(cut, from);
            CHECK(found.bytes.size() == (from == ethernet && size > 42 ? std::min<std::size_t>(size - 42, 24) : 0));
        }
    struct change {
        std::size_t at;
        u8 value;
    };
    // The changes cause another EtherType, a fragment, TCP, another port, an invalid UDP length, and an IPv4 header
    // that is longer than the frame.
    for (const change c :
         {change{13, 6}, {20, 0x20}, {21, 8}, {23, 6}, {37, 0xb8}, {39, 7}, {14, 0x44}, {14, 0x4f}, {14, 0x65}}) {
        std::vector<u8> other = frame;
        other[c.at] = c.value;
        CAPTURE(c.at, unsigned{c.value});
        CHECK(ibtool::packet_in_frame(other, ethernet).bytes.empty());
    }
}

} // namespace gunzip_test
