// SPDX-License-Identifier: MIT
// ibfindnodesusing_test.cpp - ibfindnodesusing compared with the infiniband-diags script of that name, on an ibsim
// subnet.
#include "subnet/two_switches.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace ibfindnodesusing_test {

using namespace ibtool_rig;

TEST_CASE("ibfindnodesusing prints what infiniband-diags' script prints, and more on request") {
    const subnet s(two_switches);
    for (const char* port : {"5", "6", "1"}) { // ports 5 and 6 lead to the other switch, port 1 to a host
        CAPTURE(port);
        const process_result theirs =
            s.peer(script("ibfindnodesusing", s.files() / "kept", {"0x0000000000005000", port}));
        CAPTURE(theirs.err);
        REQUIRE_THAT(theirs.out, Contains("<<=="));
        const process_result r = s.ours({"ibfindnodesusing", "0x0000000000005000", port});
        check_success(r);
        CHECK(r.out == theirs.out);
    }
    // The command accepts every form of target, including a name.
    const std::string out = s.ours({"ibfindnodesusing", "0x0000000000005000", "5"}).out;
    for (const char* target : {"0,", "first switch", "first", "0000:0000:0000:5000"})
        CHECK(s.ours({"ibfindnodesusing", target, "5"}).out == out);
    CHECK(s.ours({"ibfindnodesusing.pl", s.lid_at("0,"), "5"}).out == out);

    // Together, both cables carry the routes to all hosts of the other switch, in both directions.
    std::set<std::string> there, back;
    for (const char* port : {"5", "6"}) {
        const auto o = nlohmann::json::parse(s.ours({"ibfindnodesusing", "first", port, "--json", "-a"}).out);
        for (const auto& p : o["out"]) there.insert(p["description"]);
        for (const auto& p : o["back"]) back.insert(p["description"]);
    }
    CHECK(there == std::set<std::string>{"node-01", "node-03", "host E", "second switch"});
    CHECK(back == std::set<std::string>{"node-09", "node-10", "first switch"});
    const process_result details = s.ours({"ibfindnodesusing", "first", "1", "-v"});
    CHECK_THAT(details.out, Contains(fmt::format("0x000000000000a001 lid {} \"node-09\"\n", s.lid_at("0,1"))));

    check_failure(s.ours({"ibfindnodesusing", "0,1", "1"}), 1, "'0,1' is not a switch");
    check_failure(s.ours({"ibfindnodesusing", "first", "9"}), 1, "'first' has no port 9; valid ports: 1..8");
    check_failure(s.ours({"ibfindnodesusing", "first", "7"}), 1, "port 7 of 'first' has no link");
    check_failure(s.ours({"ibfindnodesusing", "switch", "1"}), 1, "'switch' matches 2 nodes, such as");
    check_failure(s.ours({"ibfindnodesusing", "third", "1"}), 1, "the subnet has no node 'third'");
}

} // namespace ibfindnodesusing_test
