// SPDX-License-Identifier: MIT
// cabling_plan_test.cpp - CSV files of cables: the forms that RFC 4180 permits, and errors with their line numbers.
#include "input/cabling_plan.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"

#include <fmt/format.h>

#include <sstream>

namespace cabling_plan_test {

namespace {

/// Reads a cabling plan from a text, with `f` as the file name in messages.
std::vector<comad::discovery::planned_cable> read(const std::string& text) {
    std::istringstream in(text);
    return ibtool::read_cabling_plan(in, "f");
}

/// Returns `node port node port line` for each cable.
std::vector<std::string> cables_of(const std::string& text) {
    std::vector<std::string> all;
    for (const auto& c : read(text))
        all.push_back(fmt::format("{}|{}|{}|{}|{}", c.a.node, c.a.port, c.b.node, c.b.port, c.line));
    return all;
}

/// Returns `blade chip port words` for the port in a line of a plan.
std::string port_of(const std::string& text) {
    const auto end = read("a," + text + ",b,2\n").at(0).a;
    return fmt::format("{} {} {} {}", end.blade, end.chip, end.port, end.words);
}

/// Returns the message with which a plan is refused.
std::string refused(const std::string& text) {
    return message_of([&] { cables_of(text); });
}

using list = std::vector<std::string>;

} // namespace

TEST_CASE("a cabling plan is read with quoted and unquoted values") {
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

// The example of ibdm-topo-file(1), and the arrows with width and speed in the topology files of ibutils.
TEST_CASE("a topology file of ibutils is a cabling plan") {
    CHECK(cables_of("MTS2400 S-1\n   P1 -> MT23108 H-1 P1\n   P2 -> MT23108 H-1 P2\n   P24 -> MT23108 H-2 P1\n") ==
          list{"S-1|1|H-1|1|2", "S-1|2|H-1|2|3", "S-1|24|H-2|1|4"});
    CHECK(
        cables_of("# comment, with a comma\n\nSW4 a CFG: leaf3=R # more\n\tP1 -12X-> SW4 b P2\r\n\nSW4 b\n 3 -4x-10G-> "
                  "CA1 c 1\n") == list{"a|1|b|2|4", "b|3|c|1|7"});
    CHECK(refused("SW4 a\nP1 -> SW4 b P255\n") == "f:2: a port must be P1 to P254, not 'P255'; ports of systems with "
                                                  "several switches are not supported");
    CHECK(refused("SW4 a\nP1 -> SW4 b\n") == "f:2: expected 'P1 -> TYPE NAME P2'");
    CHECK(refused("SW4 a\nP1 -> SW4 a P1\n") == "f:2: the cable connects a port to itself");
    CHECK(refused("SW4 a\nP1 -> SW4 b P1\nP2 SW4 b P2\n").ends_with("or a cable, 'P1 -> TYPE NAME P2'"));
}

TEST_CASE("an invalid line of a cabling plan is refused with a one-line message") {
    CHECK(refused("a,1,b,2\na,1,b\n") == "f:2: expected node,port,node,port");
    CHECK(refused("nonsense\n") == "f:1: expected node,port,node,port");
    const std::string ports =
        "f:2: a port must be a number from 1 to 254, 'Port 21', 'Blade 16_Port 2/20' or an adapter name, not ";
    for (const char* port : {"",
                             "0",
                             "255",
                             "256",
                             "1x",
                             "-1",
                             "+1",
                             "1 2",
                             "0x1",
                             "99999999999999999999",
                             "port",
                             "Port 0",
                             "Port 1/2/1",
                             "Port -1",
                             "Blade 16_Port 2",
                             "Blade 0_Port 2/20",
                             "Blade 16_Port 0/20",
                             "Blade 16_Port 2/255",
                             "Blade 16_Port 2/20x",
                             "Blade 300_Port 2/20",
                             "IB Port"}) {
        CAPTURE(port);
        CHECK(refused(fmt::format("x,2,y,3\na,{},b,2\n", port)) == fmt::format("{}'{}'", ports, port));
    }
    CHECK(refused("a,1,b,2\nnode,port,node,port\n") == ports + "'port'");
    CHECK(refused("node,1,node,port\n") == "f:1" + ports.substr(3) + "'port'");
    CHECK(refused(",1,b,2\n") == "f:1: the name of a node is empty");
    CHECK(refused("a,1,\"\",2\n") == "f:1: the name of a node is empty");
    CHECK(refused("a,1,a,1\n") == "f:1: the cable connects a port to itself");
    CHECK(refused("\"a,1,b,2\n") == "f:1: the closing quote is missing");
    CHECK(refused("\"a\nb\",1,c,2\n") == "f:1: the closing quote is missing");
    CHECK(refused("a\"b\",1,c,2\n") == "f:1: quote inside a field that is not quoted; quote the whole field");
    CHECK(refused("\"a\"b,1,c,2\n") ==
          "f:1: unexpected text after the closing quote of a field; write two quotes for a quote inside a field");
    CHECK(refused(std::string(ibtool::longest_plan_line + 1, 'a')) == "f:1: the line is longer than 4096 bytes");
    CHECK(refused("a,\x1b[2J,b,2\n") == "f:1" + ports.substr(3) + "'\\x1b[2J'");
    for (const char* nothing : {"", "\n\n", "# a,1,b,2\n", "node,port,node,port\n"})
        CHECK(refused(nothing) == "no cables found in 'f'; expected lines of the form node,port,node,port");
}

TEST_CASE("a cabling plan accepts the port names of vendor tools in upper and lower case") {
    for (const char* port : {"21", "Port 21", "port 21", "PORT 21", "Port21", "port_21", "IB Port 21", "ib port 21"}) {
        CAPTURE(port);
        CHECK(port_of(port) == fmt::format("0 0 21 {}", port == std::string("21") ? "" : port));
    }
    for (const char* port : {"Blade 16_Port 2/20", "blade 16_port 2/20", "BLADE 16_PORT 2/20", "Blade 16 Port 2/20"}) {
        CAPTURE(port);
        CHECK(port_of(port) == fmt::format("16 2 20 {}", port));
    }
    for (const char* adapter : {"mlx5_0", "node17 mlx5_0", "portal HCA-1", "blade7 mlx5_0", "IB-host HCA-1"}) {
        CAPTURE(adapter);
        CHECK(port_of(adapter) == fmt::format("0 0 0 {}", adapter));
    }
}

TEST_CASE("a cabling plan in NDT format has its columns in any order, found by their headings") {
    for (const char* names :
         {"#StartDevice,StartPort,EndDevice,EndPort,LinkType", "StartDevice,StartPort,EndDevice,EndPort",
          "#Fields:StartDevice,StartPort,EndDevice,EndPort", "# startdevice , STARTPORT,EndDevice,endport",
          "\xEF\xBB\xBF#StartDevice,StartPort,EndDevice,EndPort\r",
          "\"StartDevice\",\"StartPort\",\"EndDevice\",\"EndPort\"",
          "# May\n\n#StartDevice,StartPort,EndDevice,EndPort"}) {
        CAPTURE(names);
        const auto cables =
            read(fmt::format("{}\nleaf,Port 1,host,Port 2,Data\nleaf,Port 2,host,Port 1, Data\n", names));
        REQUIRE(cables.size() == 2);
        CHECK(cables[0].a == comad::discovery::planned_end{"leaf", 1, 0, 0, "Port 1"});
        CHECK(cables[0].b == comad::discovery::planned_end{"host", 2, 0, 0, "Port 2"});
    }
    // Vendor files contain other columns in between, rack locations, and a column without a name.
    CHECK(cables_of(
              ",rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation\n"
              ",Rack 1,U41,leaf,Port 21,F01,core,Blade 1_Port 1/4,F02,U25,Data\n") == list{"leaf|21|core|4|2"});
    CHECK(cables_of("EndPort,EndDevice,StartPort,StartDevice\n2,b,1,a\n") == list{"a|1|b|2|2"});
    // Two concatenated files, a port without a cable, and a comment that contains the name of a column.
    CHECK(cables_of("StartDevice,StartPort,EndDevice,EndPort,State\na,1,b,2,Active\na,2,,,Disabled\n"
                    "EndDevice,EndPort,StartDevice,StartPort\nc,1,a,3\n# EndDevice is a host\n") ==
          list{"a|1|b|2|2", "a|3|c|1|5"});
    CHECK(refused("#StartDevice,EndDevice,EndPort,LinkType\na,b,Port 1,Data\n") ==
          "f:1: the column StartPort is missing");
    CHECK(refused("x,StartDevice,StartPort,EndDevice,EndPort\na,1,b,2\n") ==
          "f:2: expected at least 5 columns, as in the heading");
    CHECK(refused("StartDevice,StartPort,EndDevice,EndPort\na,1,,2\n") == "f:2: the name of a node is empty");
    CHECK(refused("a,1,,\n").starts_with("f:1: a port must be"));
}

TEST_CASE("a line with a cable is never read as the column headings of a cabling plan") {
    for (const char* line : {"leaf-0001,Port 1,h-0001 HCA-1,Port 1", "switch 1,Port 1,switch 2,Port 2",
                             "leaf,uplink,host,hca", "switch,Port1,host,Port2", "node,mlx5_0,switch,Port 1"}) {
        CAPTURE(line);
        CHECK(read(fmt::format("{}\n", line)).size() == 1);
    }
    CHECK(refused("leaf,Port #1,host,Port #2\n").starts_with("f:1: a port must be"));
    CHECK(refused("leaf 1,port,host 7,port\n").starts_with("f:1: a port must be"));
    for (const char* names :
         {"node,port,node,port", "Source,Source Port,Destination,Destination Port", "Switch A,Port A,Switch B,Port B",
          "from_node,from_port,to_node,to_port", "Node 1,port,Node 2,port"}) {
        CAPTURE(names);
        CHECK(cables_of(fmt::format("{}\na,1,b,2\n", names)) == list{"a|1|b|2|2"});
    }
}

TEST_CASE("a cabling plan that is too large is refused") {
    std::string text;
    for (unsigned i = 0; i <= ibtool::most_planned_cables; ++i) text += "a,1,b,2\n";
    CHECK(refused(text) == "f:1000001: too many cables in the plan; the maximum is 1000000");
}

} // namespace cabling_plan_test
