// SPDX-License-Identifier: MIT
// check_cabling_test.cpp - check_cabling on a simulated fabric: lines, JSON, exit codes and refused files.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_cabling_test {

using namespace ibtool_rig;

namespace {

constexpr std::string_view fabric = R"(
switchguid=0x5000
Switch	4 "S"	# "leaf"
[1]	"A"[1]
[2]	"B"[1]

caguid=0xa000
Ca	1 "A"	# "a"
[1]	"S"[1]

caguid=0xb000
Ca	1 "B"	# "b, the second"
[1]	"S"[2]
)";

/// A directory with a fabric. check() writes a plan and runs check_cabling on both.
struct planned : directory {
    planned() { write("fabric.topo", std::string(fabric)); }
    process_result check(const std::string& plan, const words& more = {}) const {
        const std::string file = write("plan.csv", plan);
        return run(words{"check_cabling", file, "--fabric", "sim:" + (*this / "fabric.topo")} + more);
    }
};

} // namespace

TEST_CASE("check_cabling reports deviations from the plan and exits with 1 if there are any") {
    const planned p;
    const process_result good = p.check("leaf,1,a,1\n0xb000,1,leaf,2\n");
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    CHECK(good.out == "2 cables planned, 2 of them connected as planned; 2 links in the subnet\n");

    const process_result bad = p.check("leaf,2,a,1\nleaf,1,\"b, the second\",1\nleaf,3,host,7\n");
    CHECK(bad.status == 1);
    CHECK(bad.out ==
          "swapped: leaf[2] <=> a[1] (line 1), leaf[1] <=> b, the second[1] (line 2): found a[1] <=> leaf[1], "
          "leaf[2] <=> b, the second[1]\n"
          "missing: leaf[3] <=> host[7] (line 3): unknown node 'host'\n"
          "3 cables planned, 0 of them connected as planned; 2 links in the subnet\n");

    const process_result moved = p.check("leaf,4,a,1\n");
    CHECK(moved.status == 1);
    CHECK(moved.out == "moved: leaf[4] <=> a[1] (line 1): found a[1] <=> leaf[1]\n"
                       "extra: leaf[2] <=> b, the second[1]\n"
                       "1 cables planned, 0 of them connected as planned; 2 links in the subnet\n");
}

TEST_CASE("check_cabling reads an NDT plan whose ports are written as words") {
    const planned p;
    const process_result good = p.check("#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
                                        "LEAF,Port 1,A,Port 1,Data\nleaf,Port 2,\"B, the second\",port 1,Data\n"
                                        "a,Port 1,leaf,Port 1,Data\n");
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    CHECK(good.out == "2 cables planned, 2 of them connected as planned; 2 links in the subnet\n");
    // check_cabling also accepts a plan without a heading line.
    const process_result first = p.check("leaf,Port 3,a,Port 1\nx,Blade 16_Port 2/20,y,mlx5_0\n", {"--json"});
    CHECK(first.status == 1);
    const auto all = nlohmann::json::parse(first.out);
    CHECK(all.at("planned") == 2);
    const auto& faults = all.at("faults");
    CHECK(faults.at(0).at("planned").at(0) ==
          nlohmann::json{{"line", 1},
                         {"node", "leaf"},
                         {"port", 3},
                         {"port_text", "Port 3"},
                         {"peer", {{"node", "a"}, {"port", 1}, {"port_text", "Port 1"}}}});
    CHECK(faults.at(1).at("planned").at(0).at("peer") ==
          nlohmann::json{{"node", "y"}, {"port", 0}, {"port_text", "mlx5_0"}});
    CHECK_THAT(p.check("x,Blade 16_Port 2/20,y,mlx5_0\n").out,
               StartsWith("missing: x[Blade 16_Port 2/20] <=> y[mlx5_0] (line 1): unknown node 'x'; "
                          "unknown node 'y'\n"));
}

TEST_CASE("check_cabling prints deviations as JSON") {
    const planned p;
    const auto all = nlohmann::json::parse(p.check("leaf,4,a,1\nleaf,3,\x1b,7\n", {"--json"}).out);
    CHECK(all.at("schema") == "comad.cabling/1");
    CHECK(all.at("planned") == 2);
    CHECK(all.at("as_planned") == 0);
    CHECK(all.at("links") == 2);
    REQUIRE(all.at("faults").size() == 3);
    const auto& moved = all.at("faults").at(0);
    CHECK(moved.at("kind") == "moved");
    CHECK(moved.at("planned").at(0) ==
          nlohmann::json{{"line", 1}, {"node", "leaf"}, {"port", 4}, {"peer", {{"node", "a"}, {"port", 1}}}});
    CHECK(moved.at("found").at(0) == nlohmann::json{{"nodeType", "CA"},
                                                    {"nodeGUID", "0000:0000:0000:a000"},
                                                    {"description", "a"},
                                                    {"portGUID", "0000:0000:0000:a001"},
                                                    {"LID", 0},
                                                    {"port", 1},
                                                    {"peer",
                                                     {{"nodeType", "Switch"},
                                                      {"nodeGUID", "0000:0000:0000:5000"},
                                                      {"description", "leaf"},
                                                      {"portGUID", "0000:0000:0000:5000"},
                                                      {"LID", 0},
                                                      {"port", 1}}}});
    CHECK(all.at("faults").at(1).at("kind") == "missing");
    CHECK_FALSE(all.at("faults").at(1).contains("found"));
    CHECK(all.at("faults").at(2).at("kind") == "extra");
    CHECK_FALSE(all.at("faults").at(2).contains("planned"));
}

TEST_CASE("check_cabling accepts a cache and a name map, and refuses an invalid plan") {
    const planned p;
    const std::string cache = p / "cache", map = p.write("names", "0xa000 \"Alice\"\n");
    check_success(run({"ibnetdiscover", "--fabric", "sim:" + (p / "fabric.topo"), "--subnet-cache", cache}));
    const std::string plan = p.write("named.csv", "leaf,1,Alice,1\nleaf,2,0xb000,1\n");
    CHECK(run({"check_cabling", plan, "--load-cache", cache, "--node-name-map", map}).status == 0);
    CHECK(run({"check_cabling", plan, "--load-cache", cache}).status == 1);
    check_failure(p.check("leaf,1,a,1\nleaf,1,b\n"), 1, "plan.csv:2: expected node,port,node,port");
    check_failure(p.check("leaf,1,a,1\n0x5000,1,b,1\n"), 1,
                  "line 2 of the plan: port 1 of '0x5000' already has a cable in line 1; a port can have only one");
    check_failure(run({"check_cabling", p / "no such plan"}), 1, "cannot read");
    check_failure(run({"check_cabling"}), 2, "plan");
}

TEST_CASE("ibdiscover prints node locations and the links that differ from the saved links") {
    const planned p;
    p.write("ibdiscover.map", "5000|4|\"rack 7\"|# leaf\nb000|1|\"rack 8\"|#\n");
    // Runs the command as ibdiscover.pl in the directory of the plan, with its input from a pipe.
    const auto annotated = [&](const std::string& options = {}) {
        return run_process(
            {"sh", "-c", "cd " + p / "" + " && " + ibtool_program() + " ibdiscover.pl " + options + " < fabric.topo"});
    };
    const process_result first = annotated();
    CHECK(first.status == 0);
    CHECK(first.err.empty());
    const std::string nodes = "\nSwitch GUID: 5000  \"rack 7\"\n"
                              "Local:  1  Remote:  1     Host  GUID: a000  Location: a000\n"
                              "Local:  2  Remote:  1     Host  GUID: b000  Location: \"rack 8\"\n"
                              "\nHost GUID: a000  \n"
                              "Local:  1  Remote:  1   Switch  GUID: 5000  Location: \"rack 7\"\n"
                              "\nHost GUID: b000  \"rack 8\"\n"
                              "Local:  1  Remote:  2   Switch  GUID: 5000  Location: \"rack 7\"\n"
                              "\nDelta change in topo (change between successive runs)\n\n";
    const std::string change = "Link change:  Local/Remote Port  1/ 1 Local/Remote GUID: 5000/a000\n"
                               "\tLocations: Local/Remote\n\t\t\"rack 7\"\n\t\t\n\n";
    CHECK_THAT(first.out, StartsWith(nodes + change)); // without a saved file, every link is a change
    const std::string links = "1|5000|1|a000\n2|5000|1|b000\n1|a000|1|5000\n1|b000|2|5000\n";
    CHECK(read_file(p / "ibdiscover.topo.new") == links);

    p.write("ibdiscover.topo", links);
    CHECK(annotated().out == nodes);
    CHECK(annotated().status == 0);

    p.write("ibdiscover.topo", links.substr(links.find('\n') + 1) + "3|5000|12|c000\n");
    const process_result changed = annotated();
    CHECK(changed.status == 1);
    CHECK(changed.out == nodes + change +
                             "Link change:  Local/Remote Port  3/12 Local/Remote GUID: 5000/c000\n"
                             "\tLocations: Local/Remote\n\t\t\"rack 7\"\n\t\t\n\n");
    const auto object = nlohmann::json::parse(annotated("--json").out);
    CHECK(object["is_first_run"] == false);
    CHECK(object["link_ends"] == 4);
    REQUIRE(object["changes"].size() == 2);
    CHECK(object["changes"][0]["kind"] == "added");
    CHECK(object["changes"][1] ==
          nlohmann::json{{"kind", "removed"},
                         {"nodeGUID", "0000:0000:0000:5000"},
                         {"port", 3},
                         {"location", "\"rack 7\""},
                         {"peer", {{"nodeGUID", "0000:0000:0000:c000"}, {"port", 12}, {"location", ""}}}});
    // An invalid input leaves the file of the previous run unchanged.
    p.write("ibdiscover.topo", "1|5000\n");
    const process_result wrong = annotated();
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.err, Contains("ibdiscover.topo:1: expected PORT|"));
    CHECK(read_file(p / "ibdiscover.topo.new") == links);
}

TEST_CASE("export --format cables writes a plan that check_cabling finds fulfilled") {
    const directory files;
    for (const std::string& subnet : {std::string("sim:fattree2,radix=8,sm=1"), "sim:" + files.write("fabric.topo", R"(
switchguid=0x5000
Switch	8 "S"	# "leaf, the \"first\""
[1]	"A"[1]
[2]	"B"[1]
[3]	"C"[1]
[4]	"D"[1]
[5]	"S2"[2]
[6]	"S2"[3]
[7]	"E"[2]

switchguid=0x6000
Switch	4 "S2"	# "#two"
[2]	"S"[5]
[3]	"S"[6]

caguid=0xa000
Ca	1 "A"	# "same name"
[1]	"S"[1]

caguid=0xb000
Ca	1 "B"	# "same name"
[1]	"S"[2]

caguid=0xc000
Ca	1 "C"	# ""
[1]	"S"[3]

caguid=0xd000
Ca	1 "D"	# " blanks "
[1]	"S"[4]

caguid=0xe000
Ca	2 "E"	# "0xb000"
[2]	"S"[7]
)")}) {
        CAPTURE(subnet);
        const std::string plan = files / "plan.csv";
        check_success(run({"export", "--format", "cables", plan, "--fabric", subnet}));
        const process_result r = run({"check_cabling", plan, "--fabric", subnet});
        check_success(r);
        const words lines = lines_in_order(r.out);
        REQUIRE(lines.size() == 1);
        const std::size_t links = subnet.ends_with("topo") ? 7 : 64;
        CHECK(lines[0] == std::to_string(links) + " cables planned, " + std::to_string(links) +
                              " of them connected as planned; " + std::to_string(links) + " links in the subnet");
        CHECK(lines_in_order(read_file(plan)).size() == 1 + links); // a comment and one line for each cable
    }
    const std::string map = files.write("names", "0x5000 \"top of rack\"\n");
    const std::string fabric_file = "sim:" + (files / "fabric.topo");
    const process_result named = run({"export", "--format", "cables", "--node-name-map", map, "--fabric", fabric_file});
    CHECK_THAT(named.out, Contains("top of rack,5,\"#two\",2\n") && Contains("\n0x000000000000a000,1,top of rack,1\n"));
}

} // namespace ibtool_cabling_test
