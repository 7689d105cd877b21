// SPDX-License-Identifier: MIT
// iba_vectors_test.cpp - all structures on bytes: values that other programs read from them, random values, and members
// by name.
#include "iba_disputes.hpp"
#include "iba_leaves.hpp"
#include "iba_typed.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace comad;
using namespace comad::iba;
using nlohmann::json;

namespace {

/// Returns the bytes of a vector with the size of the table. The two disagree on a few sizes.
std::vector<u8> bytes_of(const json& vector, const record_info& info) {
    std::vector<u8> bytes = from_hex(vector["hex"]);
    bytes.resize(info.bytes);
    return bytes;
}

const typed& typed_of(std::string_view name) {
    for (const typed& t : all_typed())
        if (t.info->name == name) return t;
    FAIL("no structure " << name);
    std::abort();
}

/// Returns `GUIDInfo` for `GUIDInfo.GUIDBlock[3]`.
std::string_view first_name(std::string_view leaf_name) { return leaf_name.substr(0, leaf_name.find_first_of(".[")); }

/// Returns `GUIDBlock` for `GUIDInfo.GUIDBlock[3]`.
std::string_view last_name(std::string_view leaf_name) {
    leaf_name.remove_prefix(leaf_name.rfind('.') + 1);
    return leaf_name.substr(0, leaf_name.find('['));
}

} // namespace

TEST_CASE("known bytes decode to their known values") {
    unsigned vectors = 0;
    for (const json& vector : load_data("iba_vectors.jsonl")) {
        ++vectors;
        const record_info& info = *typed_of(vector["struct"].get<std::string>()).info;
        const std::vector<u8> bytes = bytes_of(vector, info);
        std::set<std::string> unread;
        for (const auto& value : vector["values"].items()) unread.insert(value.key());
        std::set<std::string_view> owners{info.name};

        for (const leaf& at : leaves_of(info)) {
            owners.insert(at.owner->name);
            if (is_disputed(info.name, first_name(at.name)) || is_disputed(at.owner->name, at.row->name)) continue;
            INFO(info.name << '.' << at.name);
            REQUIRE(vector["values"].contains(at.name));
            CHECK(value_at(at, bytes) == vector["values"][at.name]);
            unread.erase(at.name);
        }
        for (const std::string& name : unread) {
            INFO(info.name << '.' << name);
            CHECK((is_disputed(info.name, first_name(name)) ||
                   std::any_of(owners.begin(), owners.end(),
                               [&](std::string_view owner) { return is_disputed(owner, last_name(name)); })));
        }
    }
    CHECK(vectors == 480);
}

TEST_CASE("known bytes survive decoding and encoding") {
    for (const json& vector : load_data("iba_vectors.jsonl")) {
        INFO(vector["struct"]);
        const typed& t = typed_of(vector["struct"].get<std::string>());
        const std::vector<u8> bytes = bytes_of(vector, *t.info);
        CHECK(t.round_trip(bytes) == bytes);
    }
}

TEST_CASE("random bytes of any structure decode to the values of their rows and encode to the same bytes") {
    std::mt19937_64 random(15);
    for (const typed& t : all_typed()) {
        INFO(t.info->name);
        for (int round = 0; round < 100; ++round) {
            std::vector<u8> bytes(t.info->bytes);
            for (u8& byte : bytes) byte = static_cast<u8>(random());
            CHECK(t.decodes_rows(bytes));
            CHECK(t.round_trip(bytes) == bytes);
        }
    }
}

TEST_CASE("every row has the name and offset of its member") {
    for (const typed& t : all_typed()) {
        const std::vector<member> members = t.members();
        // The rows of an inlined header come first.
        const auto rows = t.info->rows.last(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            INFO(t.info->name << '.' << rows[i].name);
            CHECK(members[i].off == rows[i].off);
            CHECK(members[i].bits == rows[i].bits());
            // In C++, a header that has its own name in the table is called `header`.
            const bool is_header = rows[i].nested && rows[i].off == 0 && members[i].name == "header";
            CHECK((is_header || members[i].name == rows[i].name));
        }
    }
}
