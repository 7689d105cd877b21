// SPDX-License-Identifier: MIT
// newer_diags_test.cpp - XDR and FDR10 lines of infiniband-diags versions after Debian's version 44. The expected lines
// are the output of rdma-core 691953d8d (August 2026) on equal simulated fabrics.
#include "program/ibtool_rig.hpp"

namespace newer_diags_test {

using namespace ibtool_rig;

namespace {

/// Returns the output of a command, which must succeed, on a tree with these options of the simulator.
std::string output_of(const words& line, const std::string& fabric) {
    const process_result r = run(line + words{"--fabric", "sim:fattree2,radix=4,sm=1," + fabric});
    check_success(r);
    return r.out;
}

/// Counts how often a text contains `part`.
std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

} // namespace

TEST_CASE("discoveries print XDR links as newer versions of infiniband-diags do") {
    const std::string fabric = "speed=XDR,link=leaf-0001/3:4xNDR"; // 16 links, one of which runs at NDR
    const std::string links = output_of({"iblinkinfo", "-l"}, fabric);
    CHECK(count(links, "==( 4X         212.5 Gbps Active/  LinkUp)==>") == 2 * 15);
    CHECK(count(links, "==( 4X        106.25 Gbps Active/  LinkUp)==>") == 2);
    CHECK(count(links, "( Could be 212.5 Gbps)") == 2);
    const std::string json = output_of({"iblinkinfo", "--json"}, fabric);
    CHECK(count(json, "\"linkSpeedPossible\":\"XDR\"") == 2);
    CHECK(count(json, "Possible\":") == 2);
    CHECK(count(json, "\"linkSpeedActive\":\"XDR\"") == 2 * 2 * 15); // of both ends on both lines of a link
    CHECK(count(output_of({"ibnetdiscover"}, fabric), " 4xXDR\n") == 2 * 15);
    CHECK(count(output_of({"ibnetdiscover"}, fabric), " 4xNDR\n") == 2);
    CHECK(count(output_of({"ibnetdiscover", "-p"}, fabric), " 4x XDR - ") == 2 * 15);
}

TEST_CASE("discoveries print FDR10 links as infiniband-diags does") {
    const std::string links = output_of({"iblinkinfo", "-l"}, "speed=FDR10");
    CHECK(count(links, "==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>") == 2 * 16);
    CHECK(count(links, "Could be") == 0);
    CHECK(count(output_of({"ibnetdiscover"}, "speed=FDR10"), " 4xFDR10\n") == 2 * 16);
    CHECK_THAT(output_of({"ibportstate", "1", "1"}, "speed=FDR10"),
               Contains("LinkSpeedActive:.................10.0 Gbps\n"));
}

// Newer versions print these lines for every port, with the values 0 and `No Extended Speed 2`. Version 44 prints them
// for no port.
TEST_CASE("smpquery, saquery and ibportstate print a port's second set of extended speeds") {
    const std::string three = "LinkSpeedExtActive2:.............212.5 Gbps\n"
                              "LinkSpeedExtSupported2:..........212.5 Gbps\n"
                              "LinkSpeedExtEnabled2:............212.5 Gbps\n";
    const std::string info = output_of({"smpquery", "portinfo", "1", "1"}, "speed=XDR");
    CHECK_THAT(
        info,
        Contains("LinkSpeedExtActive:..............No Extended Speed\n"
                 "LinkSpeedExtSupported:...........14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps\n"
                 "LinkSpeedExtEnabled:.............14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps\n" +
                 three));
    CHECK_THAT(output_of({"saquery", "PIR", "1"}, "speed=XDR"),
               Contains("LinkSpeedExtActive2:.............212.5 Gbps\n"));
    CHECK_THAT(output_of({"ibportstate", "1", "1"}, "speed=XDR"),
               Contains("LinkSpeedExtActive:..............No Extended Speed\n"
                        "LinkSpeedExtSupported2:..........212.5 Gbps\n"
                        "LinkSpeedExtEnabled2:............212.5 Gbps\n"
                        "LinkSpeedExtActive2:.............212.5 Gbps\n"));
    for (const words& line :
         {words{"smpquery", "portinfo", "1", "1"}, words{"saquery", "PIR", "1"}, words{"ibportstate", "1", "1"}})
        CHECK(output_of(line, "speed=NDR").find("ExtActive2") == std::string::npos);
}

} // namespace newer_diags_test
