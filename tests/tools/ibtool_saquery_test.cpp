// SPDX-License-Identifier: MIT
// ibtool_saquery_test.cpp - saquery beside infiniband-diags' on a subnet of ibsim and OpenSM, line by line, and query, which
// asks for anything. Through ibsim's client library OpenSM's tables are cut to one MAD: the questions have short answers.
#include "ibtool_subnet.hpp"

namespace ibtool_saquery_test { // compiled together with others

using namespace ibtool_rig;

namespace {

const std::string switch_route = "0", CA_route = "0,1", far_CA_route = "0,20,1";

} // namespace

TEST_CASE("saquery prints what infiniband-diags' prints") {
    const subnet s;
    const std::string of_switch = s.LID_at(switch_route), of_CA = s.LID_at(CA_route), far = s.LID_at(far_CA_route);
    for (const std::string& LID : {of_switch, of_CA, far}) {
        compare(s, {"saquery", "NR", LID});
        compare(s, {"saquery", LID});
        compare(s, {"saquery", "SL2VL", LID + "/1/2"});
        compare(s, {"saquery", "GIR", LID + "/0"});
    }
    compare(s, {"saquery", "PIR", of_switch + "/17"});
    compare(s, {"saquery", "PIR", of_CA + "/1"});
    compare(s, {"saquery", "PIR", far + "/2"});
    compare(s, {"saquery", "SWIR", of_switch});
    compare(s, {"saquery", "LR", of_switch + "/17"});
    compare(s, {"saquery", "LR", of_CA});
    compare(s, {"saquery", "LFTR", of_switch + "/0"});
    compare(s, {"saquery", "VLAR", of_switch + "/17/1"});
    compare(s, {"saquery", "-p", "--src-to-dst", of_CA + ":" + far});
    compare(s, {"saquery", "PR", "--slid", of_CA, "--dlid", of_switch});
    compare(s, {"saquery", "PR", "--src-to-dst", of_CA + ":" + far});
    compare(s, {"saquery", "-c"});
    compare(s, {"saquery", "MCMR"});
    compare(s, {"saquery", "-g"});
}

TEST_CASE("saquery shows P_Keys, to who knows the SM_Key, and the number of their block as it was asked for") {
    const subnet s;
    const std::string of_CA = s.LID_at(CA_route);
    compare(s, {"saquery", "--smkey", "1", "PKTR", of_CA + "/1/0"});
    const process_result second = s.ours({"saquery", "--smkey", "1", "PKTR", of_CA + "/1/1"});
    CHECK_THAT(second.out, Contains("\t\tBlock......................1\n"));
    CHECK(nlohmann::json::parse(
              s.ours({"saquery", "--smkey", "1", "PKTR", of_CA + "/1/1", "--json"}).out)["blockNum"] == 1);
    check_failure(s.ours({"saquery", "PKTR", of_CA + "/1/0"}), 1, "invalid request (status 0x200)");
}

TEST_CASE("saquery knows subnet managers and the members of groups") {
    const subnet s;
    compare(s, {"saquery", "-s"});
    for (const char* node : {"A", "B"}) {
        const std::string port = node == std::string("A") ? "fe80::a001" : "fe80::b001";
        check_success(run({"query", "SubnAdmSet", "MCMemberRecord", "-f", "MGID=ff12:401b:ffff::ffff:ffff", "-f",
                           "portGID=" + port, "-f", "joinState=1", "--fabric", s.fabric() + "," + node}));
    }
    compare(s, {"saquery", "-m"}); // who does not know the SM_Key is told of groups only
    compare(s, {"saquery", "-m", "0xc000"});
    compare(s, {"saquery", "-g"});
    // infiniband-diags look for names in the table of all nodes, as below.
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
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"}; // 8 CAs, 6 switches
    const std::string list = run(words{"saquery", "-D"} + fabric).out;
    CHECK_THAT(list, StartsWith("   LID \"name\"\n================\n     "));
    CHECK(std::count(list.begin(), list.end(), '\n') == 2 + 8);
    const process_result r = run(words{"saquery", "--list", "--json"} + fabric);
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 8);
    CHECK_THAT(r.out, Contains("\"nodeType\":1") && !Contains("\"nodeType\":2"));
}

TEST_CASE("the port whose SA is asked is named by -s, where a command has no other -s") {
    const subnet s;
    const std::string manager = s.LID_at(switch_route), other = s.LID_at(CA_route);
    compare(s, {"smpquery", "-s", manager, "-G", "nodeinfo", "0xa001"});
    compare(s, {"ibtracert", "-s", manager, "-G", "0xa001", "0xb001"});
    check_failure(s.ours({"ibaddr", "-s", other, "-G", "0xa001", "-t", "50ms", "--retries", "0"}), 1,
                  "the SA at LID " + other + " did not answer PathRecord (1 attempt, ");
    check_failure(s.ours({"saquery", "NR", manager, "--sm_port", other, "-t", "50ms", "--retries", "0"}), 1,
                  "the SA at LID " + other + " did not answer NodeRecord");
    check_failure(s.ours({"ibaddr", "-s", "0xc000"}), 2, "the LID is '0xc000'");
    check_failure(s.ours({"sminfo", "-s", "3"}), 2, "sminfo only asks"); // there it is a state to go to
}

// infiniband-diags look for names and LIDs in the table of all nodes, of which ibsim leaves one record: no comparison.
TEST_CASE("saquery finds nodes by description, and descriptions by LID and GUID") {
    const subnet s;
    const std::string LID = s.LID_at(CA_route);
    CHECK(s.ours({"saquery", "-L", "host A"}).out == LID + "\n");
    CHECK(s.ours({"saquery", "-G", "host A"}).out == "0x000000000000a001\n");
    CHECK(s.ours({"saquery", "host A"}).out == s.ours({"saquery", "NR", LID}).out);
    CHECK(s.ours({"saquery", "-O", LID}).out == "host A\n");
    CHECK(s.ours({"saquery", "-U", "0xa001"}).out == "host A\n");
}

TEST_CASE("saquery of nothing is an empty answer, of nonsense one line") {
    const subnet s;
    const process_result none = s.ours({"saquery", "NR", "999"});
    check_success(none);
    CHECK(none.out.empty());
    check_failure(s.ours({"saquery", "NR", "LIDD=3"}), 2, "LID");
    check_failure(s.ours({"saquery", "no such node"}), 1, "no such node");
    check_failure(s.ours({"saquery", "LR", "1/2/3"}), 2, "1/2/3");
}

TEST_CASE("saquery takes any component by name, and gives JSON") {
    const subnet s;
    const std::string LID = s.LID_at(CA_route);
    const process_result r = s.ours({"saquery", "NR", "nodeInfo.nodeGUID=0000:0000:0000:a000", "LID=" + LID, "--json"});
    check_success(r);
    const auto record = nlohmann::json::parse(r.out);
    CHECK(record["LID"] == std::stoul(LID));
    CHECK(record["nodeInfo"]["portGUID"] == "0000:0000:0000:a001");
    CHECK(record["nodeDescription"]["nodeString"] == "host A");
}

TEST_CASE("query makes any RPC with any field") {
    const subnet s;
    const std::string LID = s.LID_at(CA_route);
    const auto json = [&](const words& command) {
        const process_result r = s.ours(words{"query"} + command + words{"--json"});
        check_success(r);
        return nlohmann::json::parse(r.out);
    };
    CHECK(json({"SubnGet", "SMPNodeInfo", LID})["nodeGUID"] == "0000:0000:0000:a000");
    CHECK(json({"SubnGet", "NodeInfo", CA_route})["nodeGUID"] == "0000:0000:0000:a000");
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
    check_failure(s.ours({"query", "PerformanceGet", "PortCounters", CA_route}), 2, "directed");
}

TEST_CASE("a service is registered with a real SA and deleted again, and infiniband-diags see it") {
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
    // The last eight bytes of the record are what was in OpenSM's memory: what it sends through that library is too short.
    const auto without_last_line = [](std::string text) { return text.erase(text.rfind("\t\tServiceData64.2")); };
    CHECK(without_last_line(s.ours({"saquery", "SR"}).out) == without_last_line(registered()));

    check_success(s.ours(words{"query", "SubnAdmDelete"} + service));
    CHECK_THAT(registered(), !Contains("0x1122334455667788"));
    check_failure(s.ours(words{"query", "SubnAdmDelete"} + service), 1, "no records (status 0x300)");
}

} // namespace ibtool_saquery_test
