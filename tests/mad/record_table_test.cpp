// SPDX-License-Identifier: MIT
// record_table_test.cpp - the records of an SA message: complete, truncated, and with false lengths.
#include "support/catch.hpp"
#include <comad/mad/detail/record_table.hpp>

#include <vector>

using namespace comad;
using mad::record_table;

namespace {

/// Returns an SA header with this AttributeOffset (bytes 44 and 45), and then bytes that count upwards.
std::vector<u8> message(u16 attributeOffset, std::size_t data) {
    std::vector<u8> bytes(56);
    bytes[44] = static_cast<u8>(attributeOffset >> 8);
    bytes[45] = static_cast<u8>(attributeOffset);
    for (std::size_t i = 0; i < data; ++i) bytes.push_back(static_cast<u8>(i));
    return bytes;
}

std::string refusal(const std::vector<u8>& bytes, std::size_t record_size) {
    const auto table = record_table::of(bytes, record_size);
    if (table) return "none";
    CHECK(table.error().code == iba::errc::too_short);
    return table.error().text;
}

} // namespace

TEST_CASE("a record starts at the next multiple of 8 bytes") {
    CHECK(mad::attribute_offset_of(108) == 14); // NodeRecord: 112 bytes
    CHECK(mad::attribute_offset_of(64) == 8);   // PathRecord: no padding
    CHECK(mad::attribute_offset_of(65) == 9);
    CHECK(mad::attribute_offset_of(1) == 1);
}

TEST_CASE("AttributeOffset determines the position of each record") {
    const std::vector<u8> bytes = message(14, 224);
    const auto table = record_table::of(bytes, 108);
    REQUIRE(table);
    CHECK(table.value().size() == 2);
    CHECK(table.value().stride() == 112);
    CHECK(table.value()[0].data() == bytes.data() + 56);
    CHECK(table.value()[1].data() == bytes.data() + 168);
    CHECK(table.value()[1].size() == 108);
}

TEST_CASE("records of a newer server can be longer than the known layout") {
    const std::vector<u8> bytes = message(9, 144);
    const auto table = record_table::of(bytes, 64);
    REQUIRE(table);
    CHECK(table.value().size() == 2);
    CHECK(table.value()[1].front() == 72);
}

TEST_CASE("a table without data, or of zeros without AttributeOffset, has no records") {
    std::vector<u8> padded = message(0, 0);
    padded.resize(256);
    for (const auto& bytes : {message(14, 0), message(0, 0), padded}) {
        const auto table = record_table::of(bytes, 108);
        REQUIRE(table);
        CHECK(table.value().size() == 0);
    }
}

TEST_CASE("the last record can omit its padding") {
    for (std::size_t data : {220u, 223u, 224u}) {
        const std::vector<u8> bytes = message(14, data);
        const auto table = record_table::of(bytes, 108);
        REQUIRE(table);
        CHECK(table.value().size() == 2);
    }
}

TEST_CASE("a table with an incomplete record is rejected") {
    CHECK(refusal(message(13, 224), 108) == "AttributeOffset is 104 bytes, but a record has 108 bytes");
    CHECK(refusal(message(14, 219), 108) == "the last of 2 records is truncated: it has 107 of 108 bytes");
    CHECK(refusal(message(14, 225), 108) == "the last of 3 records is truncated: it has 1 of 108 bytes");
    CHECK(refusal(message(0xffff, 10), 108) == "the last of 1 records is truncated: it has 10 of 108 bytes");
    // One record or none would remain of two.
    CHECK(refusal(message(0xffff, 224), 108) ==
          "the last of 1 records has 224 bytes, but AttributeOffset is 524280 bytes");
    CHECK(refusal(message(28, 216), 108) == "the last of 1 records has 216 bytes, but AttributeOffset is 224 bytes");
    CHECK(refusal(message(0, 224), 108) == "AttributeOffset is 0, but 224 bytes of records follow");
    CHECK(refusal(std::vector<u8>(55), 108) == "an SA message must have at least 56 bytes, but has 55");
    CHECK(refusal({}, 108) == "an SA message must have at least 56 bytes, but has 0");
}

TEST_CASE("a reply to a table request without RMPP is rejected, whatever its length and AttributeOffset") {
    for (const std::size_t data : {0u, 108u, 200u, 448u})
        for (const u16 offset : {0, 13, 14, 25, 0xffff}) {
            CAPTURE(data, offset);
            const std::vector<u8> reply = message(offset, data);
            const auto table = record_table::of_reply(reply, 108);
            REQUIRE_FALSE(table);
            CHECK(table.error().text == "the table was not sent as an RMPP transfer");
        }
}
