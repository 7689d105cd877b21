// SPDX-License-Identifier: MIT
// forwarding_text_test.cpp - rows of forwarding tables, compared with the output of infiniband-diags' ibroute.
#include "support/catch.hpp"
#include "text/forwarding_text.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace forwarding_text_test {

using namespace comad;
using namespace ibtool;

namespace {

const table_heading heading{"Lid 3", iba::guid{0x10}, "a switch", 17, 1, 20};

/// Returns a port of a host with this base LID and LMC.
destination port_at(unsigned base, unsigned LMC) {
    return {true, iba::NodeType::CA, iba::guid{0x21}, base, LMC, "a host"};
}

/// Returns the rows of a table without its head and its sum.
std::string rows_of(const std::string& text) {
    const auto begin = text.find("Info \n") + 6;
    return text.substr(begin, text.find(" dumped") - begin);
}

} // namespace

TEST_CASE("the LIDs of one port are printed with the first LID and then numbered") {
    const std::vector<unicast_row> rows{{3, 1, true, port_at(3, 0)},
                                        {4, 2, true, port_at(4, 2)},
                                        {5, 2, true, port_at(4, 2)},
                                        {6, 200, false, port_at(4, 2)},
                                        {7, 3, true, port_at(4, 2)},
                                        {8, 200, false, {}},
                                        {9, 2, true, {}},
                                        {10, 1, true, port_at(10, 1)},
                                        {11, 1, true, port_at(10, 1)}};
    CHECK(rows_of(format_unicast(heading, rows, {})) ==
          "0x0003 001 : (Channel Adapter portguid 0x0000000000000021: 'a host')\n"
          "0x0004 002 : (Channel Adapter portguid 0x0000000000000021: 'a host')\n"
          "0x0005 002 : (path #2 out of 4: portguid 0x0000000000000021)\n"
          "0x0006 200 : (path #2 - illegal port)\n" // the third path; infiniband-diags counts from 0 here
          "0x0007 003 : (path #4 out of 4: portguid 0x0000000000000021)\n"
          "0x0008 200 : (illegal port)\n"
          "0x0009 002 : (unknown node and type)\n"
          "0x000a 001 : (Channel Adapter portguid 0x0000000000000021: 'a host')\n"
          "0x000b 001 : (path #2 out of 2: portguid 0x0000000000000021)\n"
          "9 valid lids");
    CHECK(rows_of(format_unicast(heading, {rows[0]}, {.everything = true, .brief = true})) == "0x0003 001 \n1 lids");
}

TEST_CASE("the JSON of a unicast row names the owner of the LID if known and requested") {
    const std::vector<unicast_row> rows{{3, 1, true, port_at(3, 0)}, {4, 2, true, {}}};
    const auto entries = [&](const table_style& style) {
        const auto json = nlohmann::json::parse(unicast_json(heading, rows, style, 20));
        CHECK(json["linearFDBTop"] == 20);
        CHECK(json["description"] == "a switch");
        return json["entries"];
    };
    CHECK(entries({}) ==
          nlohmann::json::parse(
              R"([{"LID":3,"port":1,"nodeType":"CA","portGUID":"0000:0000:0000:0021","description":"a host"},)"
              R"({"LID":4,"port":2}])"));
    CHECK(entries({.brief = true}) == nlohmann::json::parse(R"([{"LID":3,"port":1},{"LID":4,"port":2}])"));
}

TEST_CASE("a multicast row prints one column per port from port 0, or port masks") {
    const std::vector<multicast_row> rows{{0xc000, {0x0003, 0x0002}}, {0xc001, {0x8000, 0x0001}}};
    const std::string text = format_multicast(heading, rows, {});
    const std::string gap(30, ' '); // the empty columns of 15 ports
    CHECK_THAT(text, Catch::Contains("\n0xc000      x x " + gap + "x \n"));
    CHECK_THAT(text, Catch::Contains("\n0xc001      " + gap + "x x   \n"));
    CHECK_THAT(format_multicast(heading, rows, {.brief = true}),
               Catch::Contains("0xc000      00030002\n0xc001      80000001\n"));
    const auto json = nlohmann::json::parse(multicast_json(heading, rows, 0xc001));
    CHECK(json["multicastFDBTop"] == 0xc001);
    CHECK(json["entries"] ==
          nlohmann::json::parse(R"([{"MLID":49152,"ports":[0,1,17]},{"MLID":49153,"ports":[15,16]}])"));
}

} // namespace forwarding_text_test
