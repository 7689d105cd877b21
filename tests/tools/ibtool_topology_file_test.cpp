// SPDX-License-Identifier: MIT
// ibtool_topology_file_test.cpp - topology files with invalid lines, given to every command that reads a topology file.
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ibtool_topology_file_test {

using namespace ibtool_rig;

namespace {

/// A topology file in the format of ibnetdiscover: a switch with two hosts. No subnet manager has configured the second
/// host.
const std::string saved =
    "vendid=0x2c9\n"
    "devid=0xd2f2\n"
    "sysimgguid=0x2c90300000900\n"
    "switchguid=0x2c90300000900(2c90300000900)\n"
    "Switch\t4 \"S-0002c90300000900\"\t\t# \"leaf 1\" base port 0 lid 9 lmc 0\n"
    "[1]\t\"H-0002c90300000100\"[1](2c90300000101) \t\t# \"h-1 mlx5_0\" lid 1 4xEDR\n"
    "[2]\t\"H-0002c90300000200\"[1](2c90300000201) \t\t# \"h-2 mlx5_0\" lid 65535 2xHDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1021\n"
    "sysimgguid=0x2c90300000100\n"
    "caguid=0x2c90300000100\n"
    "Ca\t1 \"H-0002c90300000100\"\t\t# \"h-1 mlx5_0\"\n"
    "[1](2c90300000101) \t\"S-0002c90300000900\"[1]\t\t# lid 1 lmc 0 \"leaf 1\" lid 9 4xEDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1021\n"
    "sysimgguid=0x2c90300000200\n"
    "caguid=0x2c90300000200\n"
    "Ca\t1 \"H-0002c90300000200\"\t\t# \"h-2 mlx5_0\"\n"
    "[1](2c90300000201) \t\"S-0002c90300000900\"[2]\t\t# lid 65535 lmc 0 \"leaf 1\" lid 9 2xHDR\n";
const std::string warning =
    "ibwarn: [4242] mad_rpc: _do_madrpc failed; dport (DR path slid 65535; dlid 65535; 0,1,2)\n";
const std::string hosts =
    "Ca\t: 0x0002c90300000100 ports 1 \"h-1 mlx5_0\"\nCa\t: 0x0002c90300000200 ports 1 \"h-2 mlx5_0\"\n";

/// The topology file with a line from stderr at its start and without the stanza of the second host.
const std::string pasted = warning + saved.substr(0, saved.rfind("vendid="));

/// Checks for exit code 0 and one line on stderr, which starts with `begin`.
void check_one_note(const process_result& r, const std::string& begin) {
    INFO("stderr: " << r.err);
    CHECK(r.status == 0);
    CHECK_THAT(r.err, StartsWith(begin));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
}

} // namespace

TEST_CASE("every command skips invalid topology file lines with one message, and refuses them with --strict") {
    const directory d;
    const std::string noisy = d.write("noisy.topo", warning + saved), whole = d.write("saved.topo", saved);
    const std::string note =
        fmt::format("ibtool: {}: skipped 1 line; first at line 1: unrecognized line 'ibwarn: ", noisy);
    const std::string of_sim = "sim:" + noisy + ",time=virtual";
    const words discover{"ibdiscover", noisy, "--map", d / "map", "--topo", d / "links", "--new", d / "new"};
    for (const words& command : {words{"ibhosts", noisy},
                                 {"ibswitches", noisy},
                                 {"ibnodes", noisy, "--json"},
                                 {"export", "--format", "json", "--topology", noisy},
                                 {"export", "--format", "dot", "--topology", noisy},
                                 discover,
                                 {"ibhosts", "--fabric", of_sim},
                                 {"ibnetdiscover", "--load-cache", whole, "--diff", noisy},
                                 {"iblinkinfo", "--load-cache", whole, "--diff", noisy},
                                 {"iblinkinfo", "--load-cache", whole, "--filterdownports", noisy},
                                 {"subnet_diff", noisy, "--fabric", of_sim}}) {
        CAPTURE(command);
        const process_result r = run(command);
        INFO(r.err);
        CHECK(r.status == 0);
        CHECK_THAT(r.err, Contains(note.substr(8)));
        const process_result strict = run(command + words{"--strict"});
        CHECK(strict.status == 1);
        CHECK_THAT(strict.err,
                   EndsWith("expected Switch, Ca, Rt, [port], a setting such as caguid=0x1, or a comment\n"));
        CHECK_THAT(strict.err, Contains(noisy + ":1: unrecognized line "));
    }
    const process_result r = run({"ibhosts", noisy});
    CHECK(r.out == hosts);
    check_one_note(r, note);
    check_success(run({"ibhosts", whole, "--strict"}));
}

TEST_CASE("an exported topology file keeps the width, speed and state of links in every format") {
    const directory d;
    const std::string file = d.write("saved.topo", saved);
    const process_result topology = run({"export", "--format", "topology", "--topology", file});
    check_success(topology);
    CHECK_THAT(topology.out, Contains(saved.substr(0, saved.find("\n\n") + 1)));
    CHECK_THAT(topology.out, !Contains("??"));
    const auto json = nlohmann::json::parse(run({"export", "--format", "json", "--topology", file}).out);
    std::vector<std::string> links;
    for (const auto& n : json["nodes"])
        for (const auto& p : n["ports"])
            if (p.contains("peer"))
                links.push_back(fmt::format("{}[{}] {}{} {}", n["description"].get<std::string>(), p["port"].get<int>(),
                                            p["linkWidthActive"].get<std::string>(),
                                            p["linkSpeedActive"].get<std::string>(),
                                            p["portState"].get<std::string>()));
    CHECK(links == std::vector<std::string>{"h-1 mlx5_0[1] 4xEDR Active", "leaf 1[1] 4xEDR Active",
                                            "leaf 1[2] 2xHDR Initialize", "h-2 mlx5_0[1] 2xHDR Initialize"});
    // A written topology file reads back as an equal subnet, also in the simulator.
    const std::string again = d.write("again.topo", topology.out);
    CHECK(run({"export", "--format", "topology", "--topology", again}).out == topology.out);
    const process_result simulated =
        run({"export", "--format", "topology", "--fabric", "sim:" + file + ",time=virtual"});
    check_success(simulated);
    CHECK(simulated.out == topology.out);
}

TEST_CASE("a comparison with a topology file ignores what the file cannot contain") {
    const directory d;
    const std::string file = d.write("saved.topo", saved), part = d.write("pasted.topo", pasted);
    const words live{"--fabric", "sim:" + file + ",time=virtual"};
    check_success(run(words{"subnet_diff", file} + live));
    check_success(run(words{"ibnetdiscover", "--diff", file} + live));
    CHECK(run({"subnet_diff", file, file}).status == 0);
    CHECK(run(words{"ibnetdiscover", "--diff", file, "--diffcheck", "sw,ca,port,lid,nodedesc"} + live).out.empty());
    CHECK(run(words{"iblinkinfo", "--diff", file, "--diffcheck", "port,state,lid,nodedesc"} + live).out.empty());
    // The test compares a cache of the subnet with the topology file of the subnet.
    const std::string cache = d / "subnet.cache";
    REQUIRE(run(words{"ibhosts", "--subnet-cache", cache} + live).status == 0);
    CHECK(run({"subnet_diff", cache, file}).status == 0);
    CHECK(run({"subnet_diff", file, cache}).status == 0);
    // If a stanza is missing, its node is unknown, but the link to the node is known.
    for (const words& compared :
         {words{"subnet_diff", part}, {"ibnetdiscover", "--diff", part}, {"iblinkinfo", "--diff", part}}) {
        CAPTURE(compared);
        const process_result r = run(compared + live);
        check_one_note(r, fmt::format("ibtool: {}: skipped 1 line; first at line 1: ", part));
        CHECK_THAT(r.err,
                   Contains("; 1 link leads to 1 node not in the file, the first in line 8 to \"H-0002c90300000200\""));
        CHECK_THAT(r.out, !Contains("h-2"));
    }
    // A different speed counts as a difference.
    std::string slower = saved;
    for (std::size_t at = 0; (at = slower.find("4xEDR", at)) != slower.npos;) slower.replace(at, 5, "4xFDR");
    const process_result r = run(words{"subnet_diff", d.write("slower.topo", slower)} + live);
    CHECK(r.status == 1);
    CHECK_THAT(r.out, Contains("4x FDR") && Contains("4x EDR"));
}

TEST_CASE("a topology file is accepted wherever a cache is accepted") {
    const directory d;
    const std::string file = d.write("saved.topo", saved),
                      plan = d.write("plan.csv", "leaf 1,1,h-1 mlx5_0,1\nleaf 1,2,h-2 mlx5_0,1\n");
    const process_result links = run({"iblinkinfo", "-l", "--load-cache", file});
    CHECK(links.status == 0);
    CHECK_THAT(links.out,
               Contains("4X") && Contains("25.78125 Gbps") && Contains("Active/  LinkUp") && Contains("h-2 mlx5_0"));
    CHECK_THAT(links.out, !Contains("Could be"));
    CHECK(links.err == fmt::format("ibtool: read the subnet from the topology file '{}'\n", file));
    CHECK(run({"check_cabling", plan, "--load-cache", file}).status == 0);
    // The node of the missing stanza may have had a cable to another missing node.
    const std::string more = d.write(
        "more.csv", "h-2 mlx5_0,2,h-3 mlx5_0,1\nleaf 1,3,h-3 mlx5_0,2\nleaf 1,1,h-1 mlx5_0,1\nleaf 1,2,h-2 mlx5_0,1\n");
    const process_result cabling = run({"check_cabling", more, "--load-cache", d.write("pasted.topo", pasted)});
    CHECK(cabling.status == 1);
    CHECK_THAT(cabling.out, StartsWith("missing: leaf 1[3] <=> h-3 mlx5_0[2] (line 2): "));
    CHECK_THAT(cabling.out, Contains("\nunknown: h-2 mlx5_0[2] <=> h-3 mlx5_0[1] (line 1)\n"));
    CHECK_THAT(run({"ibhosts", "--subnet-cache", file}).out, Contains("h-1 mlx5_0"));
    // The file is neither a cache nor a topology file.
    check_failure(run({"iblinkinfo", "--load-cache", plan}), 1, "the file contains no nodes");
}

TEST_CASE("ibidsverify reports each port of a topology file without a LID, including LID 65535") {
    const directory d;
    std::string two = saved;
    for (std::size_t at = 0; (at = two.find("lid 1 ", at)) != two.npos;) two.replace(at, 6, "lid 65535 ");
    const process_result r = run({"ibidsverify", d.write("two.topo", two)});
    CHECK(r.status == 1);
    CHECK(r.out ==
          "LID 65535 found for ca NodeGUID 0x2c90300000100\nLID 65535 found for ca NodeGUID 0x2c90300000200\n");
}

TEST_CASE("the simulator drops links to nodes that its file does not contain, and reports the number") {
    const directory d;
    const std::string part = d.write("pasted.topo", pasted);
    const process_result r = run({"ibnodes", "--fabric", "sim:" + part + ",time=virtual"});
    check_one_note(r, fmt::format("ibtool: {}: skipped 1 line; ", part));
    CHECK_THAT(r.err,
               EndsWith("; 1 link leads to 1 node not in the file, the first in line 8 to \"H-0002c90300000200\"; "
                        "the simulator leaves these links out\n"));
    CHECK_THAT(r.out, Contains("h-1 mlx5_0") && !Contains("h-2"));
    check_failure(run({"ibnodes", "--fabric", "sim:" + part + ",time=virtual,strict"}), 1, ":1: unrecognized line");
}

} // namespace ibtool_topology_file_test
