// SPDX-License-Identifier: MIT
// ibtool_targets_test.cpp - node names as targets of commands, resolved by the SA or by a discovery, with port numbers,
// and refused names.
#include "program/ibtool_rig.hpp"

using namespace ibtool_rig;

namespace {

const std::string with_sa = "sim:fattree2,radix=4,sm=1,time=virtual";
const std::string without_sa = "sim:fattree2,radix=4,time=virtual"; // this subnet has no LIDs either

/// Runs ibtool on a fabric.
process_result run_on(const std::string& fabric, const words& arguments) {
    return run(words{"--fabric", fabric} + arguments);
}

/// Returns the output of a command. Fails the test if the command fails.
std::string output_of(const std::string& fabric, const words& arguments) {
    const auto r = run_on(fabric, arguments);
    check_success(r);
    return r.out;
}
/// Returns the error line of a command. Fails the test if the command succeeds.
std::string failure_on(const std::string& fabric, const words& arguments) {
    const auto r = run_on(fabric, arguments);
    CHECK(r.out == "");
    CHECK(r.status == 1);
    return r.err;
}

} // namespace

TEST_CASE("commands accept the name of a node as a target and resolve the name at the SA") {
    CHECK(output_of(with_sa, {"smpquery", "nd", "leaf-0001"}) == output_of(with_sa, {"smpquery", "nd", "9"}));
    CHECK(output_of(with_sa, {"perfquery", "h-0008 HCA-1"}) == output_of(with_sa, {"perfquery", "8"}));
    CHECK(output_of(with_sa, {"ibtracert", "h-0001 HCA-1", "h-0008 HCA-1"}) ==
          output_of(with_sa, {"ibtracert", "1", "8"}));
    CHECK(output_of(with_sa, {"ibroute", "leaf-0001"}) == output_of(with_sa, {"ibroute", "9"}));
    CHECK(output_of(with_sa, {"query", "SubnGet", "NodeInfo", "leaf-0001"}) ==
          output_of(with_sa, {"query", "SubnGet", "NodeInfo", "9"}));
    CHECK(output_of(with_sa, {"ibaddr", "leaf-0001"}) == output_of(with_sa, {"ibaddr", "9"}));
    CHECK_THAT(output_of(with_sa, {"ibping", "-c", "1", "h-0008 HCA-1"}), StartsWith("Pong from h-0008 HCA-1 (Lid 8)"));
}

TEST_CASE("commands resolve the name of a node by a discovery if there is no SA") {
    CHECK(output_of(without_sa, {"smpquery", "nd", "spine-0001"}) ==
          "Node Description:......................spine-0001\n");
    CHECK_THAT(output_of(without_sa, {"smpquery", "pi", "leaf-0001/3"}), StartsWith("# Port info: DR path slid"));
}

TEST_CASE("the first words of a node description are a sufficient target") {
    CHECK(output_of(with_sa, {"smpquery", "nd", "h-0008"}) == output_of(with_sa, {"smpquery", "nd", "8"}));
    CHECK_THAT(failure_on(with_sa, {"smpquery", "nd", "h-000"}), StartsWith("ibtool: no node is named 'h-000'"));
}

TEST_CASE("a port after the name of a node selects the port in commands that have a port argument") {
    CHECK(output_of(with_sa, {"smpquery", "pi", "leaf-0001/3"}) == output_of(with_sa, {"smpquery", "pi", "9", "3"}));
    CHECK(output_of(with_sa, {"perfquery", "leaf-0001/3"}) == output_of(with_sa, {"perfquery", "9", "3"}));
    CHECK(output_of(with_sa, {"ibportstate", "leaf-0001/3", "query"}) ==
          output_of(with_sa, {"ibportstate", "9", "3", "query"}));
    CHECK(output_of(with_sa, {"smpquery", "nd", "h-0008 HCA-1/1"}) == output_of(with_sa, {"smpquery", "nd", "8"}));
    CHECK(
        failure_on(with_sa, {"smpquery", "nd", "leaf-0001/3"}) ==
        "ibtool: 'leaf-0001/3': this command cannot take the port of a switch from the name; give the name without it, "
        "and the port as its own argument if there is one\n");
    CHECK(failure_on(with_sa, {"smpquery", "nd", "leaf-0001/9"}) == "ibtool: 'leaf-0001/9': 'leaf-0001' has 4 ports\n");
}

TEST_CASE("an ambiguous node name is refused with at most three candidates") {
    const directory d;
    const std::string file = d / "twins.topo";
    std::string text;
    for (int n = 1; n <= 4; ++n)
        text += "\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x" + std::to_string(n) + "1\ncaguid=0x" + std::to_string(n) +
                "0\nCa\t1 \"H-000000000000000" + std::to_string(n) + "\"\t\t# \"twin\"\n";
    std::string ports;
    for (int n = 1; n <= 4; ++n)
        ports += "[" + std::to_string(n) + "]\t\"H-000000000000000" + std::to_string(n) + "\"[1]\t\t# \"twin\" lid " +
                 std::to_string(n) + " 4xEDR\n";
    std::ofstream(file) << "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x99\nswitchguid=0x99(99)\n"
                        << "Switch\t4 \"S-0000000000000099\"\t\t# \"switch\" base port 0 lid 9 lmc 0\n"
                        << ports << text;
    const std::string err = failure_on("sim:" + file + ",sm=1,time=virtual", {"smpquery", "nd", "twin"});
    CHECK_THAT(err, StartsWith("ibtool: 'twin' matches 4 nodes, such as 'twin' (0x"));
    CHECK_THAT(err, EndsWith("; give the whole name, a LID or a port GUID\n"));
    std::size_t candidates = 0;
    for (std::size_t at = err.find("(0x"); at != err.npos; at = err.find("(0x", at + 1)) ++candidates;
    CHECK(candidates == 3);
}

/// A switch, and the host `dual` with both ports connected to it.
std::string topology_with_two_ports() {
    return "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x99\nswitchguid=0x99(99)\n"
           "Switch\t4 \"S-0000000000000099\"\t\t# \"switch\" base port 0 lid 9 lmc 0\n"
           "[1]\t\"H-0000000000000001\"[1](11)\t\t# \"host\" lid 1 4xEDR\n"
           "[2]\t\"H-0000000000000020\"[1](21)\t\t# \"dual\" lid 2 4xEDR\n"
           "[3]\t\"H-0000000000000020\"[2](22)\t\t# \"dual\" lid 3 4xEDR\n\n"
           "vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x1\ncaguid=0x1\n"
           "Ca\t1 \"H-0000000000000001\"\t\t# \"host\"\n"
           "[1](11)\t\"S-0000000000000099\"[1]\t\t# lid 1 lmc 0 \"switch\" lid 9 4xEDR\n\n"
           "vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x20\ncaguid=0x20\n"
           "Ca\t2 \"H-0000000000000020\"\t\t# \"dual\"\n"
           "[1](21)\t\"S-0000000000000099\"[2]\t\t# lid 2 lmc 0 \"switch\" lid 9 4xEDR\n"
           "[2](22)\t\"S-0000000000000099\"[3]\t\t# lid 3 lmc 0 \"switch\" lid 9 4xEDR\n";
}

TEST_CASE("the name of a CA with two connected ports needs a port, with and without an SA") {
    const directory d;
    const std::string file = d / "dual.topo";
    std::ofstream(file) << topology_with_two_ports();
    for (const std::string sa : {",sm=1", ""}) {
        const std::string fabric = "sim:" + file + sa + ",time=virtual";
        CAPTURE(fabric);
        for (const std::string name : {"dual", "dual/0"})
            CHECK(failure_on(fabric, {"smpquery", "ni", name}) ==
                  "ibtool: 'dual' has several ports (1, 2); give one of them, such as 'dual/1'\n");
        CHECK_THAT(output_of(fabric, {"smpquery", "ni", "dual/1"}), Contains("LocalPort:.......................1\n"));
        CHECK_THAT(output_of(fabric, {"smpquery", "ni", "dual/2"}), Contains("LocalPort:.......................2\n"));
    }
}

TEST_CASE("a name is not looked up in a cache file, and the lookup does not write one") {
    const directory d;
    const std::string cache = d / "subnet.cache";
    const words use_cache{"--subnet-cache", cache};
    CHECK_THAT(run_on(without_sa, use_cache + words{"smpquery", "nd", "leaf-0001"}).out, Contains("leaf-0001"));
    CHECK_FALSE(std::filesystem::exists(cache));
    CHECK(run_on(without_sa, use_cache + words{"ibhosts"}).status == 0);
    REQUIRE(std::filesystem::exists(cache));
    // In this other fabric, the cached routes lead to other nodes.
    const std::string other = "sim:fattree2,radix=6,time=virtual";
    CHECK_THAT(run_on(other, use_cache + words{"smpquery", "nd", "spine-0003"}).out, Contains("spine-0003"));
}

TEST_CASE("after a partial discovery only a whole description is the name of a node") {
    const std::string fabric = without_sa + ",dead=spine-0001";
    CHECK_THAT(output_of(fabric, {"smpquery", "nd", "h-0008 HCA-1"}), Contains("h-0008 HCA-1"));
    const std::string err = failure_on(fabric, {"smpquery", "nd", "h-0008"});
    CHECK_THAT(err, StartsWith("ibtool: cannot determine which node is named 'h-0008': the discovery has "));
    CHECK_THAT(err, EndsWith("; give the whole name, a LID or a port GUID\n"));
}

TEST_CASE("bench measures the other targets if no node has one of the names") {
    const auto r = run_on(with_sa, {"bench", "--count", "10", "leaf-0001", "leaf-0009"});
    CHECK(r.status == 3);
    CHECK_THAT(r.out, Contains("# SubnGet SMPNodeInfo to IBPath(DLID=9)"));
    CHECK_THAT(r.err, Contains("no node is named 'leaf-0009'"));
}

TEST_CASE("target forms of infiniband-diags have precedence over node names") {
    const directory d;
    const std::string file = d / "numbers.topo";
    std::ofstream(file) << "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x99\nswitchguid=0x99(99)\n"
                           "Switch\t4 \"S-0000000000000099\"\t\t# \"1\" base port 0 lid 2 lmc 0\n"
                           "[1]\t\"H-0000000000000001\"[1](11)\t\t# \"host\" lid 1 4xEDR\n\n"
                           "vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x11\ncaguid=0x1\n"
                           "Ca\t1 \"H-0000000000000001\"\t\t# \"host\"\n"
                           "[1](11)\t\"S-0000000000000099\"[1]\t\t# lid 1 lmc 0 \"1\" lid 2 4xEDR\n";
    const std::string fabric = "sim:" + file + ",sm=1,time=virtual";
    CHECK_THAT(output_of(fabric, {"smpquery", "ni", "1"}), Contains("Channel Adapter"));
    CHECK_THAT(output_of(fabric, {"smpquery", "ni", "\"1\""}), Contains("Switch"));
}

TEST_CASE("an invalid target is refused with the list of target forms") {
    CHECK(failure_on(with_sa, {"smpquery", "nd", "leaf-0009"}) ==
          "ibtool: no node is named 'leaf-0009'; expected the name of a node, a LID (7), directed route (0,1,4), GUID "
          "(0002:c903:0000:1491) or GID (fe80::2:c903:0:1491)\n");
    CHECK(run_on(with_sa, {"smpquery", "nd", "0,1,x"}).status == 2);
    CHECK(run_on(with_sa, {"smpquery", "-L", "nd", "leaf-0001"}).status == 2);
    CHECK(run_on(with_sa, {"smpquery", "-G", "nd", "leaf-0001"}).status == 2);
    CHECK(run_on(with_sa, {"smpquery", "-D", "nd", "leaf-0001"}).status == 2);
}

TEST_CASE("a path with a DLID and a DGID uses the DLID, and low bits of a LID are limited by the LMC") {
    // The DGID belongs to the port with LID 9.
    const std::string both = output_of(with_sa, {"smpquery", "nd", "IBPath(DLID=10, DGID=fe80::2:c903:0:900)"});
    CHECK(both == output_of(with_sa, {"smpquery", "nd", "10"}));
    CHECK(both != output_of(with_sa, {"smpquery", "nd", "9"}));
    CHECK(run_on(with_sa, {"smpquery", "nd", "IBPath(DLID_bits=0)"}).status == 0);
    for (const char* path : {"IBPath(DLID_bits=1)", "IBPath(DLID=9, SLID_bits=1)"}) {
        const process_result r = run_on(with_sa, {"smpquery", "nd", path});
        CHECK(r.status == 2);
        CHECK_THAT(r.err, Contains("but the local port has LMC 0, so only 0 is possible"));
    }
}
