// SPDX-License-Identifier: MIT
// cabling_plan_test.cpp - CSV files of cables: what RFC 4180 allows, and what is refused with the number of its line.
#include "catch.hpp"
#include "input/cabling_plan.hpp"
#include "thrown.hpp"

#include <fmt/format.h>

#include <sstream>

namespace cabling_plan_test { // compiled together with others

namespace {

/// `node port node port line` of each cable.
std::vector<std::string> cables_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> all;
    for (const auto& c : ibtool::read_cabling_plan(in, "f"))
        all.push_back(fmt::format("{}|{}|{}|{}|{}", c.a.node, c.a.port, c.b.node, c.b.port, c.line));
    return all;
}

std::string refused(const std::string& text) {
    return message_of([&] { cables_of(text); });
}

using list = std::vector<std::string>;

} // namespace

TEST_CASE("a plan says what it says, quoted or not") {
    CHECK(cables_of("leaf,1,host,2\n") == list{"leaf|1|host|2|1"});
    CHECK(cables_of("a,254,b,1") == list{"a|254|b|1|1"});
    CHECK(cables_of("\xEF\xBB\xBF# of May\r\n\r\n  \r\nNode A,Port A,Node B,Port B\r\na , 1,\tb b,2 \r\n") ==
          list{"a|1|b b|2|5"});
    CHECK(cables_of("\"a,\"\"b\"\"\" ,1, \"\"\"\",\"2\"\n") == list{"a,\"b\"|1|\"|2|1"});
    CHECK(cables_of("\" a \",1,b,2,3 m,\"blue, \"\"new\"\"\",\n") == list{" a |1|b|2|1"});
    CHECK(cables_of("a,1,b,2\n#a,1,b,2\na,2,b,1\n") == list{"a|1|b|2|1", "a|2|b|1|3"});
    CHECK(cables_of("a,1,a,2\n") == list{"a|1|a|2|1"});
    CHECK(cables_of("a,1,a,\"2\"\r\n") == list{"a|1|a|2|1"});
}

TEST_CASE("a line of a plan that is none is refused in one line") {
    CHECK(refused("a,1,b,2\na,1,b\n") == "f:2: expected node,port,node,port");
    CHECK(refused("nonsense\n") == "f:1: expected node,port,node,port");
    for (const char* port : {"", "0", "255", "256", "1x", "-1", "+1", "1 2", "0x1", "99999999999999999999"}) {
        CAPTURE(port);
        CHECK(refused(fmt::format("x,2,y,3\na,{},b,2\n", port)) ==
              fmt::format("f:2: a port must be a number from 1 to 254, not '{}'", port));
    }
    // Names of columns stand in the first line alone, and both are none.
    CHECK(refused("a,1,b,2\nnode,port,node,port\n") == "f:2: a port must be a number from 1 to 254, not 'port'");
    CHECK(refused("node,1,node,port\n") == "f:1: a port must be a number from 1 to 254, not 'port'");
    CHECK(refused(",1,b,2\n") == "f:1: a node has no name");
    CHECK(refused("a,1,\"\",2\n") == "f:1: a node has no name");
    CHECK(refused("a,1,a,1\n") == "f:1: both ends are the same port");
    CHECK(refused("\"a,1,b,2\n") == "f:1: a quote is not closed");
    CHECK(refused("\"a\nb\",1,c,2\n") == "f:1: a quote is not closed");
    CHECK(refused("a\"b\",1,c,2\n") == "f:1: a quote inside of a field that does not begin with one");
    CHECK(refused("\"a\"b,1,c,2\n") == "f:1: text behind a quoted field; a quote inside of it is written twice");
    CHECK(refused(std::string(ibtool::longest_plan_line + 1, 'a')) == "f:1: more than 4096 bytes");
    CHECK(refused("\x1b[2J,x,b,2\n") == "f:1: a port must be a number from 1 to 254, not 'x'");
    for (const char* nothing : {"", "\n\n", "# a,1,b,2\n", "node,port,node,port\n"})
        CHECK(refused(nothing) == "there is no cable in 'f'");
}

TEST_CASE("a plan has a largest size") {
    std::string text;
    for (unsigned i = 0; i <= ibtool::most_planned_cables; ++i) text += "a,1,b,2\n";
    CHECK(refused(text) == "f:1000001: more than 1000000 cables");
}

} // namespace cabling_plan_test
