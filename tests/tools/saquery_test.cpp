// SPDX-License-Identifier: MIT
// saquery_test.cpp - saquery compared with infiniband-diags line by line on a subnet of ibsim and OpenSM, and the
// general command query. ibsim's client library truncates OpenSM's tables to one MAD, so the queries have short
// replies.
#include "program/ibtool_subnet.hpp"

#include <set>

namespace ibtool_saquery_test {

using namespace ibtool_rig;

namespace {

const std::string switch_route = "0", ca_route = "0,1", far_ca_route = "0,20,1";

} // namespace

TEST_CASE("saquery prints what infiniband-diags' saquery prints") {
    const subnet s;
    const std::string of_switch = s.lid_at(switch_route), of_ca = s.lid_at(ca_route), far = s.lid_at(far_ca_route);
    for (const std::string& LID : {of_switch, of_ca, far}) {
        compare(s, {"saquery", "NR", LID});
        compare(s, {"saquery", LID});
        compare(s, {"saquery", "SL2VL", LID + "/1/2"});
        compare(s, {"saquery", "GIR", LID + "/0"});
    }
    compare(s, {"saquery", "PIR", of_switch + "/17"});
    compare(s, {"saquery", "PIR", of_ca + "/1"});
    compare(s, {"saquery", "PIR", far + "/2"});
    compare(s, {"saquery", "SWIR", of_switch});
    compare(s, {"saquery", "LR", of_switch + "/17"});
    compare(s, {"saquery", "LR", of_ca});
    compare(s, {"saquery", "LR", of_switch + "/17", s.lid_at("0,17") + "/3"});
    compare(s, {"saquery", "-x", "-K", of_switch + "/20"});
    compare(s, {"saquery", "LFTR", of_switch + "/0"});
    compare(s, {"saquery", "VLAR", of_switch + "/17/1"});
    compare(s, {"saquery", "-p", "--src-to-dst", of_ca + ":" + far});
    compare(s, {"saquery", "PR", "--slid", of_ca, "--dlid", of_switch});
    compare(s, {"saquery", "PR", "--src-to-dst", of_ca + ":" + far});
    compare(s, {"saquery", "-c"});
    compare(s, {"saquery", "MCMR"});
    compare(s, {"saquery", "-g"});
}

TEST_CASE("saquery with the SM_Key prints P_Keys with the requested block number") {
    const subnet s;
    const std::string of_ca = s.lid_at(ca_route);
    compare(s, {"saquery", "--smkey", "1", "PKTR", of_ca + "/1/0"});
    const process_result second = s.ours({"saquery", "--smkey", "1", "PKTR", of_ca + "/1/1"});
    CHECK_THAT(second.out, Contains("\t\tBlock......................1\n"));
    CHECK(nlohmann::json::parse(
              s.ours({"saquery", "--smkey", "1", "PKTR", of_ca + "/1/1", "--json"}).out)["blockNum"] == 1);
    check_failure(s.ours({"saquery", "PKTR", of_ca + "/1/0"}), 1, "invalid request (status 0x200)");
}

TEST_CASE("saquery prints subnet managers and the members of groups") {
    const subnet s;
    compare(s, {"saquery", "-s"});
    for (const char* node : {"A", "B"}) {
        const std::string port = node == std::string("A") ? "fe80::a001" : "fe80::b001";
        check_success(run({"query", "SubnAdmSet", "MCMemberRecord", "-f", "MGID=ff12:401b:ffff::ffff:ffff", "-f",
                           "portGID=" + port, "-f", "joinState=1", "--fabric", s.fabric() + "," + node}));
    }
    compare(s, {"saquery", "-m"}); // without the SM_Key, OpenSM returns only groups
    compare(s, {"saquery", "-m", "0xc000"});
    compare(s, {"saquery", "-g"});
    // infiniband-diags searches names in the table of all nodes (see below).
    CHECK(s.ours({"saquery", "--smkey", "1", "-m", "0xc000"}).out ==
          "\t\tPortGid.................fe80::a001 (host A)\n\t\tPortGid.................fe80::b001 (host B)\n");
    const process_result none = s.ours({"saquery", "-m", "0xc001"});
    check_success(none);
    CHECK(none.out.empty());
    for (const char* which : {"-s", "-m", "-g"}) {
        CAPTURE(which);
        const process_result r = s.ours({"saquery", "--json", which});
        check_success(r);
        CHECK(nlohmann::json::parse(r.out).contains(which == std::string("-s") ? "portNum" : "MLID"));
    }
}

TEST_CASE("saquery -D lists the CAs") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"}; // 8 CAs and 6 switches
    const std::string list = run(words{"saquery", "-D"} + fabric).out;
    CHECK_THAT(list, StartsWith("   LID \"name\"\n================\n     "));
    CHECK(std::count(list.begin(), list.end(), '\n') == 2 + 8);
    const process_result r = run(words{"saquery", "--list", "--json"} + fabric);
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 8);
    CHECK_THAT(r.out, Contains("\"nodeType\":1") && !Contains("\"nodeType\":2"));
}

TEST_CASE("the option -s names the SA's port in commands without another option -s") {
    const subnet s;
    const std::string manager = s.lid_at(switch_route), other = s.lid_at(ca_route);
    compare(s, {"smpquery", "-s", manager, "-G", "nodeinfo", "0xa001"});
    compare(s, {"ibtracert", "-s", manager, "-G", "0xa001", "0xb001"});
    check_failure(s.ours({"ibaddr", "-s", other, "-G", "0xa001", "-t", "50ms", "--retries", "0"}), 1,
                  "the SA at LID " + other + " did not reply to PathRecord (1 attempt, ");
    check_failure(s.ours({"saquery", "NR", manager, "--sm_port", other, "-t", "50ms", "--retries", "0"}), 1,
                  "the SA at LID " + other + " did not reply to NodeRecord");
    check_failure(s.ours({"ibaddr", "-s", "0xc000"}), 2, "the LID must be a number up to 49151, not '0xc000'");
    check_failure(s.ours({"sminfo", "-s", "3"}), 2, "sminfo only reads"); // in infiniband-diags, -s is a new state
}

// infiniband-diags searches names and LIDs in the table of all nodes, of which ibsim delivers only one record. So this
// test does not compare the output.
TEST_CASE("saquery finds nodes by description, and descriptions by LID and GUID") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    CHECK(s.ours({"saquery", "-L", "host A"}).out == LID + "\n");
    CHECK(s.ours({"saquery", "-G", "host A"}).out == "0x000000000000a001\n");
    CHECK(s.ours({"saquery", "host A"}).out == s.ours({"saquery", "NR", LID}).out);
    CHECK(s.ours({"saquery", "-O", LID}).out == "host A\n");
    CHECK(s.ours({"saquery", "-U", "0xa001"}).out == "host A\n");
}

TEST_CASE("saquery accepts node descriptions and mapped names where infiniband-diags accepts LIDs") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route), far = s.lid_at(far_ca_route), B = s.lid_at("0,2");
    const auto same = [&](const words& by_name, const words& by_lid) {
        CAPTURE(by_name);
        const process_result r = s.ours(words{"saquery"} + by_name), wanted = s.ours(words{"saquery"} + by_lid);
        check_success(wanted);
        check_success(r);
        CHECK_FALSE(r.out.empty());
        CHECK(r.out == wanted.out);
    };
    same({"NR", "host A"}, {"NR", LID});
    same({"PIR", "host A/1"}, {"PIR", LID + "/1"});
    same({"LR", "host A", "first switch/1"}, {"LR", LID});
    same({"--src-to-dst", "host A:host B"}, {"--src-to-dst", LID + ":" + B});
    same({"PR", "--slid", "host A", "--dlid", B}, {"PR", "--slid", LID, "--dlid", B});
    same({"-l", "host A"}, {"-L", "host A"});
    check_failure(s.ours({"saquery", "--src-to-dst", "host A:host Z"}), 1, "no node is named 'host Z'");

    const std::string map = s.files().write("names", "0xa000 \"the first host\"\n0x5000 \"of A/B\"\n");
    const words with_map{"--node-name-map", map};
    compare(s, words{"saquery", "NR", LID} + with_map);
    CHECK_THAT(s.ours(words{"saquery", "NR", LID} + with_map).out,
               Contains("NodeDescription.........the first host\n"));
    same(words{"-L", "the first host"} + with_map, {"-L", "host A"});
    same(words{"of A/B"} + with_map, words{"first switch"} + with_map);
    same(words{"--src-to-dst", "the first host:host B"} + with_map, {"--src-to-dst", LID + ":" + B});
    CHECK(s.ours(words{"saquery", "-O", LID} + with_map).out == "the first host\n");
    CHECK(s.ours(words{"saquery", LID, "-O"} + with_map).out == "the first host\n");
    const std::string of_sim = s.files().write("names of sim", "0x0002c90300000200 \"the second\"\n");
    CHECK_THAT(run({"saquery", "-D", "--fabric", "sim:fattree2,radix=4,sm=1", "--node-name-map", of_sim}).out,
               Contains("     2  \"the second\"\n") && Contains("     1  \"h-0001 HCA-1\"\n"));
}

TEST_CASE("saquery refuses surplus arguments") {
    const words fabric{"--fabric", "sim:single,sm=1"};
    const auto refused = [&](const words& arguments, const std::string& what) {
        CAPTURE(arguments);
        check_failure(run(words{"saquery"} + arguments + fabric), 2, what);
    };
    refused({"NR", "2", "3"}, "NodeRecord takes LID, not '3'");
    refused({"2", "3"}, "'3'");
    refused({"LR", "1", "2", "3"}, "LinkRecord takes fromLID/fromPort toLID/toPort, not '3'");
    refused({"SR", "1"}, "ServiceRecord takes only NAME=VALUE, not '1'");
    refused({"PIR", "1/x"}, "portNum");
    refused({"-p", "NR"}, "'NR'");
    refused({"-p", "-x"}, "PathRecord");
    refused({"-g", "-m"}, "-m");
    refused({"P"}, "'P' is ambiguous; the nearest record types are PortInfoRecord, PKeyTableRecord, PathRecord ");
    refused({"-s", "1"}, "-s takes no NAME=VALUE");
    refused({"-L"}, "no node given");
    refused({"CPI", "LID=1"}, "ClassPortInfo");
    refused({"NR", "--slid", "1"}, "SLID");
    refused({"PR", "--pkt_lifetime", "300"}, "300");
}

TEST_CASE("saquery PR without arguments queries the local port's paths, and --no-defaults queries all paths") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1", "--json"}; // 14 nodes with one LID each
    const auto paths = ibtool_rig::objects_of(run(words{"saquery", "PR"} + fabric).out);
    CHECK(paths.size() == 14);
    std::set<std::string> sources, destinations;
    for (const auto& path : paths) {
        sources.insert(path["SGID"]);
        destinations.insert(path["DGID"]);
    }
    CHECK(sources.size() == 1);
    CHECK(destinations.size() == 14);
    CHECK(ibtool_rig::objects_of(run(words{"saquery", "-p"} + fabric).out) == paths);
    CHECK(ibtool_rig::objects_of(run(words{"saquery", "PR", "--no-defaults", "SLID=1"} + fabric).out).size() == 14);
    CHECK(ibtool_rig::objects_of(run(words{"saquery", "PR", "--get", "SLID=1", "DLID=2"} + fabric).out).size() == 1);
}

TEST_CASE("saquery prints records by IBA names or as words, and with -v the compared components") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    const std::string names = s.ours({"saquery", "NR", LID, "--int-names"}).out;
    CHECK_THAT(names, StartsWith("LID.............................." + LID + "\n") &&
                          Contains("\nnodeInfo.PortGUID................0000:0000:0000:a001\n"));
    const process_result dump = s.ours({"saquery", "NR", LID, "-vv"});
    CHECK(dump.status == 0);
    CHECK_THAT(
        dump.out,
        StartsWith("  0 000") && Contains("LID=" + LID) &&
            Contains("   + nodeInfo SMPNodeInfo\n  4 01010102 baseVersion=1,classVersion=1,nodeType=1,numPorts=2\n"));
    CHECK_THAT(dump.err, Contains("querying SANodeRecord with component mask 0x1: LID=" + LID + "\n"));
    CHECK_THAT(s.ours({"saquery", "PR", "-v"}).err, Contains("SGID=fe80::5000, numbPath=1\n"));
    // No key is printed unless it is requested.
    check_success(
        s.ours({"query", "SubnAdmSet", "ServiceRecord", "-f", "serviceID=0x77", "-f", "serviceGID=fe80::a001", "-f",
                "servicePKey=0xffff", "-f", "serviceLease=60", "-f", "serviceKey=abcd::1", "-f", "serviceName=x"}));
    for (const words& style : {words{}, words{"--int-names"}, words{"-vv"}, words{"--json"}}) {
        CAPTURE(style);
        const words command = words{"saquery", "SR", "--smkey", "1"} + style; // OpenSM returns the key only with it
        const auto shows_key = [](const std::string& text) {
            return text.find("abcd") != text.npos || text.find("ABCD") != text.npos;
        };
        CHECK_FALSE(shows_key(s.ours(command).out));
        CHECK(shows_key(s.ours(command + words{"-K"}).out));
    }
}

TEST_CASE("the option --sa-path selects the path to the SA and whether the SA must reply") {
    const subnet s;
    const std::string manager = s.lid_at(switch_route), other = s.lid_at(ca_route), far = s.lid_at(far_ca_route);
    for (const std::string& path : {manager, std::string("fe80::5000"), "IBPath(DLID=" + manager + ")"}) {
        CAPTURE(path);
        const process_result r = s.ours({"smpquery", "NodeInfo", far, "--sa-path", path, "-d"});
        CHECK(r.status == 0);
        CHECK(r.out == s.ours({"smpquery", "NodeInfo", far}).out);
        CHECK_THAT(r.err, Contains(" SAFormat(3.2) ") && !Contains("SMPFormat"));
        CHECK(s.ours({"saquery", "NR", far, "--sa-path", path}).out == s.ours({"saquery", "NR", far}).out);
    }
    check_failure(s.ours({"saquery", "NR", far, "--sa-path", other, "-t", "50ms", "--retries", "0"}), 1,
                  "the SA at LID " + other + " did not reply to NodeRecord");
    check_failure(s.ours({"saquery", "--sa-path", "fe80::9999"}), 1, "--sa-path: ");
    check_failure(s.ours({"saquery", "--sa-path", "0,1"}), 2, "--sa-path must not be a directed route");
    check_failure(s.ours({"ibchecknet", "--sa-path", manager}), 2, "--sa is not supported by");
}

TEST_CASE("saquery prints an empty result for no match and one line for an invalid argument") {
    const subnet s;
    const process_result none = s.ours({"saquery", "NR", "999"});
    check_success(none);
    CHECK(none.out.empty());
    check_failure(s.ours({"saquery", "NR", "LIDD=3"}), 2, "LID");
    check_failure(s.ours({"saquery", "no such node"}), 1, "no such node");
    check_failure(s.ours({"saquery", "LR", "1/2/3"}), 2, "1/2/3");
}

TEST_CASE("saquery accepts any component by name and prints JSON") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    const process_result r = s.ours({"saquery", "NR", "nodeInfo.nodeGUID=0000:0000:0000:a000", "LID=" + LID, "--json"});
    check_success(r);
    const auto record = nlohmann::json::parse(r.out);
    CHECK(record["LID"] == std::stoul(LID));
    CHECK(record["nodeInfo"]["portGUID"] == "0000:0000:0000:a001");
    CHECK(record["nodeDescription"]["nodeString"] == "host A");
}

TEST_CASE("query sends any RPC with any field") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    const auto json = [&](const words& command) {
        const process_result r = s.ours(words{"query"} + command + words{"--json"});
        check_success(r);
        return nlohmann::json::parse(r.out);
    };
    CHECK(json({"SubnGet", "SMPNodeInfo", LID})["nodeGUID"] == "0000:0000:0000:a000");
    CHECK(json({"SubnGet", "NodeInfo", ca_route})["nodeGUID"] == "0000:0000:0000:a000");
    CHECK(json({"SubnGet", "PortInfo", LID, "-a", "1"})["LID"] == std::stoul(LID));
    CHECK(json({"SubnAdmGet", "SANodeRecord", "-f", "LID=" + LID})["nodeInfo"]["nodeGUID"] == "0000:0000:0000:a000");
    CHECK(json({"SubnAdmGetTable", "LinkRecord", "-f", "fromLID=" + LID})["fromPort"] == 1);
    CHECK(json({"PerformanceGet", "PortCounters", LID, "-f", "portSelect=1"})["portSelect"] == 1);
    CHECK(json({"PerformanceGet", "PortCounters", "-f", "portSelect=1", LID})["portSelect"] == 1);
    CHECK(json({"SubnAdmGet", "PKeyTableRecord", "-f", "LID=" + LID, "-f", "blockNum=0", "--smkey", "1"})["portNum"] ==
          1);
    CHECK_THAT(s.ours({"query", "SubnGet", "NodeInfo", LID}).out,
               Contains("PortGUID.........................0000:0000:0000:a001"));
    check_failure(s.ours({"query", "SubnSet", "NodeInfo", LID}), 2, "SubnGet");
    check_failure(s.ours({"query", "SubnGe", "NodeInfo"}), 2, "SubnGet");
    check_failure(s.ours({"query", "SubnGet", "NodeInf"}), 2, "SMPNodeInfo");
    check_failure(s.ours({"query", "SubnGet", "NodeInfo", LID, "-f", "nodeGUI=1"}), 2, "nodeGUID");
    check_failure(s.ours({"query", "PerformanceGet", "PortCounters", ca_route}), 2, "directed");
}

TEST_CASE("a service is registered with and deleted from a real SA, and infiniband-diags lists the service") {
    const subnet s;
    const words service{"ServiceRecord",     "-f", "serviceID=0x1122334455667788", "-f", "serviceGID=fe80::a001", "-f",
                        "servicePKey=0xffff"};
    const auto registered = [&] { return s.peer({"saquery", "SR"}).out; };
    CHECK_THAT(registered(), !Contains("0x1122334455667788"));

    const process_result set = s.ours(words{"query", "SubnAdmSet"} + service +
                                      words{"-f", "serviceLease=0xffffffff", "-f", "serviceName=comad", "--json"});
    check_success(set);
    CHECK(nlohmann::json::parse(set.out)["serviceName"] == "comad");
    CHECK_THAT(registered(), Contains("0x1122334455667788") && Contains("comad"));
    // The last eight bytes of the record are random memory of OpenSM, because OpenSM sends too few bytes through
    // ibsim's library.
    const auto without_last_line = [](std::string text) { return text.erase(text.rfind("\t\tServiceData64.2")); };
    CHECK(without_last_line(s.ours({"saquery", "SR"}).out) == without_last_line(registered()));

    check_success(s.ours(words{"query", "SubnAdmDelete"} + service));
    CHECK_THAT(registered(), !Contains("0x1122334455667788"));
    check_failure(s.ours(words{"query", "SubnAdmDelete"} + service), 1, "no records (status 0x300)");
}

} // namespace ibtool_saquery_test
