// SPDX-License-Identifier: MIT
// ibtracert_test.cpp - ibtracert compared with ibtracert of infiniband-diags, on an ibsim subnet that OpenSM
// configured.
#include "program/ibtool_subnet.hpp"
#include "program/parsed_output.hpp"

namespace ibtracert_test {

using namespace ibtool_rig;

namespace {

const std::string switch_route = "0", far_switch_route = "0,17", ca_route = "0,1", far_ca_route = "0,20,1";

/// Writes the ports of MLID 0xc000 into a switch's table, 16 ports per position.
void set_group(const subnet& s, const std::string& route, const words& masks) {
    for (std::size_t position = 0; position < masks.size(); ++position)
        check_success(s.ours({"query", "SubnSet", "MulticastForwardingTable", "-D", route, "-a",
                              std::to_string(position << 28), "-f", "portMaskBlock[0]=" + masks[position]}));
}

} // namespace

TEST_CASE("ibtracert traces a route to one target, a return route, and a route in a file") {
    const subnet s(topology, manager::leaves);
    const std::string here = s.lid_at(switch_route), A = s.lid_at(ca_route), C = s.lid_at(far_ca_route);
    CHECK(s.ours({"ibtracert", C}).out == s.peer({"ibtracert", here, C}).out);
    CHECK(s.ours({"ibtracert", "-r", C}).out == s.peer({"ibtracert", C, here}).out);
    CHECK(s.ours({"ibtracert", "-r", A, C}).out == s.peer({"ibtracert", C, A}).out);
    for (const words& how : {words{"-v"}, words{"-v", "-n"}}) {
        const process_result r = s.ours(words{"ibtracert"} + how + words{A, C});
        CHECK(r.out == s.peer(words{"ibtracert"} + how + words{A, C}).out);
        CHECK_THAT(r.out, StartsWith("[1] -> ca port {0x000000000000a001}[1] lid "));
    }

    const std::string file = s.files().write("pairs", "# from to\n" + A + " " + C + "\n\n  " + C + "\t" + here + "\n");
    compare(s, {"ibtracert", "--ports-file", file});
    compare(s, {"ibtracert", "-n", "--ports-file", file});
    CHECK(lines_of(s.ours({"ibtracert", "--ports-file", file, "--json"}).out).size() == 2);
    const std::string gap = s.files().write("gap", A + " 0xbff\n" + A + " " + C + "\n");
    const process_result r = s.ours({"ibtracert", "-t", "200ms", "--retries", "0", "--ports-file", gap});
    CHECK(r.status == 3);
    CHECK_THAT(r.out,
               StartsWith("From ca {0x000000000000a000}") && EndsWith("2 lid/guid pairs processed from " + gap + "\n"));
    CHECK_THAT(r.err, Contains(gap + ", line 1: "));
    check_failure(s.ours({"ibtracert", "--ports-file", s.files().write("bad", A + "\n")}), 2,
                  "line 1: expected two targets");
    check_failure(s.ours({"ibtracert", "--ports-file", s.files().write("none", "#\n")}), 2,
                  "contains no targets; expected two on each line");

    // At our switch, the LID of C leads nowhere, so C does not receive requests by LID. At the other switch the LID
    // leads to C.
    check_success(
        s.ours({"query", "SubnSet", "LinearForwardingTable", "-D", switch_route, "-f", "portBlock[" + C + "]=5"}));
    const words quick{"-t", "200", "--retries", "0"}, blind{"ibtracert", s.lid_at(far_switch_route), C};
    check_failure(s.ours(blind + quick), 1, "did not reply");
    const process_result forced = s.ours(blind + words{"-f"} + quick);
    CHECK(forced.status == 0);
    CHECK(forced.out == s.peer(blind + words{"-f", "-t", "200"}).out);
    CHECK_THAT(forced.err, Contains("tracing to lid " + C + ", although its node could not be queried: "));
}

TEST_CASE("ibtracert -m prints the route of multicast packets as infiniband-diags' ibtracert does") {
    const subnet s;
    // A, B and C are members: ports 1, 2 and 17 of the first switch, 1 and 3 of the second, and the cable between the
    // switches.
    set_group(s, switch_route, {"0x0006", "0x0002"});
    set_group(s, far_switch_route, {"0x000a"});
    const words places{switch_route, far_switch_route, ca_route, "0,2", far_ca_route};
    for (const std::string& from : places) {
        for (const std::string& to : places) {
            // In these cases infiniband-diags crashes, or prints a port of a CA's switch that depends on the order of
            // its search.
            const bool is_own_switch = (from == ca_route || from == "0,2") && to == switch_route;
            if (from == to || is_own_switch || (from == far_ca_route && to == far_switch_route)) continue;
            for (const words& how : {words{}, words{"-n"}})
                compare(s, words{"ibtracert", "-m", "0xc000"} + how + words{s.lid_at(from), s.lid_at(to)});
        }
    }
    const std::string A = s.lid_at(ca_route), C = s.lid_at(far_ca_route);
    CHECK_THAT(s.ours({"ibtracert", "-m", "49152", ca_route, "0,"}).out, // targets may have different forms
               Contains("[1] -> switch 0x5000[1] lid ") && Contains("To switch 0x5000 port 1 lid "));
    const auto way = parsed_output(s.ours({"ibtracert", "-m", "0xc000", "--json", A, C}));
    REQUIRE(way["hops"].size() == 3);
    CHECK(way["hops"][1]["out"] == 17);
    CHECK(way["hops"][1]["nodeGUID"] == "0000:0000:0000:6000");

    // A group without members, a table that ends too early, and a table that leads back over the other cable.
    check_failure(s.ours({"ibtracert", "-m", "0xc001", A, C}), 1, "packets to lid 0xc001 from \"host A\" do not reach");
    check_failure(s.ours({"ibtracert", "-m", "0xc000", A, A}), 1,
                  "the source and the destination are the same port of");
    check_failure(s.ours({"ibtracert", "-m", "0x1", A, C}), 2, "0x1 is not a multicast LID; it must be 0xc000..0xfffe");
    set_group(s, far_switch_route, {"0x0008"});
    check_failure(s.ours({"ibtracert", "-m", "0xc000", A, C}), 1, "do not reach");
    set_group(s, switch_route, {"0x0006", "0x0012"});
    set_group(s, far_switch_route, {"0x0018"});
    check_failure(s.ours({"ibtracert", "-m", "0xc000", A, C}), 1, "loop: they reach");
}

TEST_CASE("ibtracert -m --sa reads the tables from the SA") {
    const subnet s;
    const words command{"ibtracert", "-m", "0xc000", s.lid_at(ca_route), s.lid_at("0,2"), "--sa", "-d"};
    const process_result r = s.ours(command);
    CHECK(r.status == 1);
    CHECK_THAT(r.err, Contains("SAMulticastForwardingTableRecord") && !Contains("SMPFormat"));
}

} // namespace ibtracert_test
