// SPDX-License-Identifier: MIT
// iba_json_test.cpp - conversion to JSON and back, with known values, random bytes, and every kind of malformed text.
#include "iba_samples.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/compare_structures.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/from_json.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::iba;
using namespace comad::test;
using json_value = nlohmann::json; // not named `json`, which is also a printer

namespace {

/// Flattens nested structures and arrays to dotted names. GUIDs and GIDs are in hex, as in the vectors.
void flatten(json_value& out, const record_info& info, const std::string& name, const json_value& value) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) flatten(out, info, name.empty() ? key : name + '.' + key, inner);
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) flatten(out, info, fmt::format("{}[{}]", name, i), value[i]);
    } else if (const row_info row = find_field(info, name).value(); row.how == show::gid) {
        std::string hex = "0x";
        std::array<u8, 16> address{};
        REQUIRE(inet_pton(AF_INET6, value.get_ref<const std::string&>().c_str(), address.data()) == 1);
        for (u8 byte : address) hex += fmt::format("{:02x}", byte);
        out[name] = hex;
    } else if (row.how == show::guid) {
        std::string digits = value;
        std::erase(digits, ':');
        out[name] = "0x" + digits;
    } else {
        out[name] = value;
    }
}

std::vector<std::string> names_in(const json_value& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
}

template <wire T> std::string refused(std::string_view text) {
    std::vector<u8> bytes(wire_size<T>, 0x5a);
    const auto done = set_json(info_of<T>, bytes, text);
    INFO(text);
    REQUIRE(!done);
    CHECK(bytes == std::vector<u8>(wire_size<T>, 0x5a));
    CHECK(done.error().text.find('\n') == std::string::npos);
    return done.error().text;
}

} // namespace

TEST_CASE("exact JSON of known bytes has the known values and converts back to the bytes") {
    std::set<std::string> all, disputed;
    for (const json_value& vector : load_data("iba_vectors.jsonl")) {
        const std::string name = vector["struct"];
        INFO(name);
        const structure* known = find_structure(name);
        REQUIRE(known);
        const record_info& info = *known->info;
        std::vector<u8> bytes = from_hex(vector["hex"]);
        const bool same_size = bytes.size() == info.bytes;
        bytes.resize(info.bytes);
        const std::string text = json(info, bytes, nullptr, json_style::exact);
        const auto back = from_json(info, text);
        REQUIRE(back);
        CHECK(back.value() == bytes);

        json_value values = json_value::object();
        flatten(values, info, {}, json_value::parse(text));
        if (!same_size || names_in(values) != names_in(vector["values"])) disputed.insert(name);
        else CHECK(values == vector["values"]);
        all.insert(name);
    }
    CHECK(all.size() == 120);
    // Where the source of the vectors is wrong, old or incomplete, tables follow other sources, which they name.
    CHECK(disputed == std::set<std::string>{"CMLAP", "CMMRA", "CMREP", "CMREQ", "CMSIDR_REP", "CMSIDR_REQ",
                                            "MlxGeneralInfo", "OFASysStatPing", "PMPortCounters", "PMPortCountersExt",
                                            "SAInformInfoRecord", "SAMultiPathRecord",
                                            "SAMulticastForwardingTableRecord", "SAPortInfoRecord", "SMPPortInfo",
                                            "SMPVendorDiag"});
}

TEST_CASE("random bytes survive conversion to exact JSON and back") {
    std::vector<const record_info*> all = {&info_of<quarter_bytes>, &info_of<half_bytes>, &info_of<block>,
                                           &info_of<mixture>,       &info_of<table>,      &info_of<wide>};
    for (const structure& s : structures()) all.push_back(s.info);
    std::mt19937 random(11);
    for (const record_info* info : all) {
        INFO(info->name);
        for (int round = 0; round < 20; ++round) {
            std::vector<u8> bytes(info->bytes);
            for (u8& byte : bytes) byte = static_cast<u8>(random());
            const auto back = from_json(*info, json(*info, bytes, nullptr, json_style::exact));
            REQUIRE(back);
            CHECK(back.value() == bytes);
        }
    }
}

TEST_CASE("readable JSON loses reserved bits and invalid UTF-8 in texts") {
    wide w{};
    w.name = {'a', 'b', 0};
    w.list = {1, 2, 3};
    w.kind = NodeType{77};
    w.reserved_928 = 1;
    const auto back = from_json<wide>(json(w));
    REQUIRE(back);
    CHECK(back.value().reserved_928 == 0);
    w.reserved_928 = 0;
    CHECK(equal(back.value(), w));
}

TEST_CASE("JSON keys can have any order, and missing members keep their values") {
    const auto info = from_json<mixture>(R"({"last":3,"nodeInfo":{"portGUID":"0017:77ff:feb6:2ca4"},)"
                                         R"( "blocks":[{"port":1},{"LMC":7}], "QOSClass":"0xabc"})");
    REQUIRE(info);
    CHECK(info.value().last == 3);
    CHECK(info.value().nodeInfo.portGUID == guid{0x001777fffeb62ca4});
    CHECK(info.value().nodeInfo.nodeGUID == guid{});
    CHECK(info.value().blocks[0].port == 1);
    CHECK(info.value().blocks[1].LMC == 7);
    CHECK(info.value().QOSClass == 0xabc);

    CHECK(from_json<smp::Format>("{}").value() == smp::Format{}); // with the versions and the class of the structure
    CHECK(from_json(info_of<smp::Format>, "{}").value()[0] == 0); // the table does not have these defaults
    CHECK(from_json<nothing>("{}"));

    std::array<u8, 64> ones;
    ones.fill(0xff);
    REQUIRE(set_json(info_of<smp::PortInfo>, ones, R"({"LMC":2})"));
    std::array<u8, 64> expected;
    expected.fill(0xff);
    expected[34] = 0xfa;
    CHECK(ones == expected);
}

TEST_CASE("an array in JSON must be complete") {
    std::array<u8, 136> ones;
    ones.fill(0xff);
    REQUIRE(set_json(info_of<wide>, ones, R"({"longs":[1],"list":[],"GIDs":["::1"],"tables":[{"limit":1}]})"));
    const auto w = decode<wide>(ones);
    CHECK(w.longs == std::array<u64, 2>{1, 0});
    CHECK(w.list == std::array<u8, 3>{});
    CHECK(w.gids == std::array{gid(0, guid{1}), gid{}});
    CHECK(w.tables[0].limit == 1);
    CHECK(w.tables[0].entries[0].multiplier == 0);
    CHECK(w.tables[1].limit == 0);
    CHECK(w.number == 0xffff);
}

TEST_CASE("JSON values can be strings in command-line notation") {
    const auto w = from_json<wide>(R"({"kind":"Router","prefix":"fe80::/64","one":"fe80::1","number":"0x10",)"
                                   R"("longs":"[1, 2]","name":"ab","GUIDs":[1,"0:0:0:2"]})");
    REQUIRE(w);
    CHECK(w.value().kind == NodeType::Router);
    CHECK(w.value().prefix == 0xfe80000000000000);
    CHECK(w.value().one == gid(0xfe80000000000000, guid{1}));
    CHECK(w.value().number == 16);
    CHECK(w.value().longs == std::array<u64, 2>{1, 2});
    CHECK(w.value().name == std::array<u8, 3>{'a', 'b', 0});
    CHECK(w.value().guids == std::array{guid{1}, guid{2}});
}

TEST_CASE("a JSON value that does not fit is rejected with its path") {
    CHECK(refused<smp::PortInfo>(R"({"LID":1,"LMC":9})") == "SMPPortInfo.LMC: value 9 does not fit in 3 bits");
    CHECK(refused<mixture>(R"({"blocks":[{},{"LMC":8}]})") == "Mixture.blocks[1].LMC: value 8 does not fit in 3 bits");
    CHECK(refused<mixture>(R"({"nodeInfo":{"vendorID":16777216}})") ==
          "Mixture.nodeInfo.vendorID: value 16777216 does not fit in 24 bits");
    CHECK(refused<half_bytes>(R"({"SLtoVL":[0,1,16]})") == "HalfBytes.SLtoVL[2]: value 16 does not fit in 4 bits");
    CHECK(refused<wide>(R"({"tables":[{},{"entries":[{},{},{"shift":4}]}]})") ==
          "Wide.tables[1].entries[2].shift: value 4 does not fit in 2 bits");
    CHECK(refused<wide>(R"({"tables":[{},{},{}]})") == "Wide.tables must have at most 2 elements, but got 3");
    CHECK(refused<wide>(R"({"name":"abcd"})") == "Wide.name must have at most 3 bytes, but got 4");
    CHECK(refused<smp::PortInfo>(R"({"MKey":"0x10000000000000000"})") ==
          "SMPPortInfo.MKey: value (not shown) does not fit in 64 bits");
}

TEST_CASE("an unknown JSON key is rejected with a list of valid keys") {
    CHECK(refused<block>(R"({"lmc":1})") == "Block has no field 'lmc'; the nearest are LMC, port");
    CHECK(refused<mixture>(R"({"nodeInfo":{"prtGUID":0}})")
              .starts_with("Mixture.nodeInfo has no field 'prtGUID'; the nearest are portGUID, "));
    CHECK(refused<block>(R"({"a\nb":1})").starts_with("Block has no field 'a\\x0ab'; the nearest are "));
    CHECK(refused<block>(R"({"LMC[0]":1})").starts_with("Block has no field 'LMC[0]'; the nearest are "));
    CHECK(refused<nothing>(R"({"x":1})") == "Nothing has no fields");
}

TEST_CASE("a JSON value of the wrong type is rejected") {
    CHECK(refused<smp::PortInfo>(R"({"LMC":-1})") == "SMPPortInfo.LMC is '-1', expected an unsigned integer");
    CHECK(refused<smp::PortInfo>(R"({"LMC":1.5})") == "SMPPortInfo.LMC is '1.5', expected an unsigned integer");
    CHECK(refused<smp::PortInfo>(R"({"LMC":null})") == "SMPPortInfo.LMC is 'null', expected an unsigned integer");
    CHECK(refused<smp::PortInfo>(R"({"LMC":[1]})") == "SMPPortInfo.LMC is 'array', expected an unsigned integer");
    CHECK(refused<smp::PortInfo>(R"({"LMC":"x"})") == "SMPPortInfo.LMC is 'x', expected an unsigned integer");
    CHECK(refused<mixture>(R"({"nodeInfo":5})") == "Mixture.nodeInfo is '5', expected a JSON object");
    CHECK(refused<mixture>(R"({"nodeInfo":"x"})") == "Mixture.nodeInfo is 'x', expected a JSON object");
    CHECK(refused<mixture>(R"({"blocks":{}})") == "Mixture.blocks is 'object', expected a list of up to 2");
    CHECK(refused<mixture>(R"({"blocks":[5]})") == "Mixture.blocks[0] is '5', expected a JSON object");
    CHECK(refused<wide>(R"({"one":5})") == "Wide.one is '5', expected a GID (an IPv6 address)");
    CHECK(refused<wide>(R"({"blob":[1,2,3]})") == "Wide.blob is 'array', expected 0x and 6 hex digits");
    CHECK(refused<wide>(R"({"list":5})") == "Wide.list is '5', expected a list of up to 3");
    CHECK(refused<wide>("[]") == "Wide is 'array', expected a JSON object");
}

TEST_CASE("text that is not JSON is rejected") {
    CHECK(refused<block>("") == "Block: invalid JSON at byte 1");
    CHECK(refused<block>(R"({"LMC":})") == "Block: invalid JSON at byte 8");
    CHECK(refused<block>("{\"LMC\":\"\xff\"}").starts_with("Block: invalid JSON at byte "));
    CHECK(refused<block>(R"({"LMC":1} x)").starts_with("Block: invalid JSON at byte "));
    CHECK(refused<block>(std::string(100000, '[')).starts_with("Block: invalid JSON at byte "));
    CHECK(refused<block>(R"({"LMC":1e999})") == "Block: a number is too large for any field");
}

TEST_CASE("JSON is rejected if the buffer is smaller than the structure") {
    std::array<u8, 3> bytes{};
    const auto done = set_json(info_of<block>, bytes, "{}");
    REQUIRE(!done);
    CHECK(done.error().text == "Block needs 4 bytes, but got only 3");
}
