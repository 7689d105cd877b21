// SPDX-License-Identifier: MIT
// ibtool_link_ends_test.cpp - link ends with different values, two nodes with the same GUID, and a route that ends
// before its destination.
#include "ibsim/ibsim_server.hpp"
#include "kernel/virtual_device.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_link_ends_test {

using namespace ibtool_rig;

namespace {

/// Returns a topology file with a switch and a host, in which each end of the link has its own values.
std::string two_ends(const std::string& at_switch, const std::string& at_host) {
    return "vendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x20(20)\n"
           "Switch 2 \"S-0000000000000020\" # \"switch\" base port 0 lid 2 lmc 0\n"
           "[1] \"H-0000000000000010\"[1](11) # \"host\" lid 1 " +
           at_switch +
           "\n\nvendid=0x2c9\ndevid=0x1021\ncaguid=0x10\nCa 1 \"H-0000000000000010\" # \"host\"\n"
           "[1](11) \"S-0000000000000020\"[1] # lid 1 lmc 0 \"switch\" lid 2 " +
           at_host + "\n";
}

} // namespace

TEST_CASE("link ends that differ are printed as different and not reported as a slower link") {
    const directory files;
    const words ends{"--fabric", "sim:" + files.write("ends.topo", two_ends("4xEDR", "4xSDR")) + ",sm=1,time=virtual"};
    const process_result text = run(words{"iblinkinfo"} + ends);
    check_success(text);
    CHECK_THAT(text.out, !Contains("Could be"));
    CHECK_THAT(text.out,
               Contains("25.78125 Gbps Active/  LinkUp)==>       1    1[  ] \"host\" ( 2.5 Gbps at the other end)"));
    CHECK_THAT(text.out,
               Contains(" 2.5 Gbps Active/  LinkUp)==>       2    1[  ] \"switch\" ( 25.78125 Gbps at the other end)"));
    const process_result json = run(words{"iblinkinfo", "--json"} + ends);
    CHECK_THAT(json.out, Contains("\"linkSpeedOtherEnd\":") && !Contains("Possible"));
    const process_result health = run(words{"health", "--for", "1s"} + ends);
    CHECK_THAT(health.out,
               EndsWith("speed is 25.78125 Gb/s per lane, but the neighbor runs at 2.5 (at \"switch\"[1])\n") ||
                   EndsWith("speed is 2.5 Gb/s per lane, but the neighbor runs at 25.78125 (at \"host\"[1])\n"));
    CHECK(std::ranges::count(health.out, '\n') == 2); // one line for the cable
    const process_result state = run(words{"ibportstate", "2", "1"} + ends);
    CHECK_THAT(state.err, Contains("the link runs at 25.78125 Gbps, but the other end reports 2.5 Gbps") &&
                              !Contains("but both ends have"));
    // A link is still reported if it is slower than both ends support.
    const words slow{"--fabric", "sim:" + files.write("width.topo", two_ends("4xEDR", "1xEDR")) + ",sm=1,time=virtual"};
    CHECK_THAT(run(words{"iblinkinfo"} + slow).out,
               Contains("( 1X at the other end )") || Contains("(1X at the other end )"));
}

TEST_CASE("ibidsverify reports two nodes with one GUID") {
    const ibsim_server server(
        "switchguid=0x5000\nSwitch\t4 \"S1\"\t# \"first switch\"\n[1]\t\"A\"[1]\n[2]\t\"B\"[1]\n[3]\t\"C\"[1]\n\n"
        "caguid=0xa000\nHca\t1 \"A\"\t# \"host A\"\n[1]\t\"S1\"[1]\n\n"
        "caguid=0xc000\nHca\t1 \"C\"\t# \"host C\"\n[1]\t\"S1\"[3]\n\n"
        "caguid=0xa000\nHca\t1 \"B\"\t# \"host B\"\n[1]\t\"S1\"[2]\n",
        {"-I"});
    const process_result r = run({"ibidsverify", "--fabric", "ibsim:" + server.sockname()});
    CAPTURE(r.out, r.err);
    CHECK(r.status == 3); // the discovery is partial
    CHECK_THAT(r.out,
               Contains("NodeGUID 0xa000 already defined for LID 0: the other node is connected to S-0000000000005000 "
                        "\"first switch\"[2]\n"));
    CHECK_THAT(r.err, Contains("two nodes have GUID") && !Contains("another neighbo"));
    const process_result json = run({"ibidsverify", "--json", "--fabric", "ibsim:" + server.sockname()});
    CHECK_THAT(json.out, Contains("\"finding\":\"duplicate_nodeGUID\""));
}

TEST_CASE("ibtracert -f to an unresponsive host prints the hops before it, as infiniband-diags' ibtracert does") {
    if (!has_devices()) return;
    for (const char* options : {"-f", "-f -n"}) {
        const std::string arguments = std::string(options) + " 1 9";
        const process_result r =
            in_shell("sim:fattree2,radix=8,sm=1,dead=h-0009 HCA-1", "set +e; ibtracert -t 50 " + arguments +
                                                                        " 2>/dev/null; echo =====\n$IBTOOL ibtracert " +
                                                                        arguments + "; rc=$?; echo =====; echo $rc");
        CAPTURE(options, r.err);
        const words parts = parts_of(r.out);
        REQUIRE(parts.size() == 2);
        const std::string theirs = parts[0].substr(0, parts[0].find("ibtracert: iberror")), ours = parts[1];
        CHECK(std::ranges::count(theirs, '\n') == 4); // lines of the host, its leaf, a spine and the other leaf
        CHECK(ours == theirs);
        CHECK_THAT(r.out, EndsWith("=====\n1\n"));
        CHECK_THAT(r.err, Contains("did not reply"));
    }
    const process_result json = run({"ibtracert", "-f", "--json", "1", "9", "--fabric",
                                     "sim:fattree2,radix=8,sm=1,time=virtual,dead=h-0009 HCA-1"});
    CHECK(json.status == 1);
    const auto way = nlohmann::json::parse(json.out);
    CHECK(way["hops"].size() == 3);
    CHECK(way["reached"] == false);
}

} // namespace ibtool_link_ends_test
