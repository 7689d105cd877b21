// SPDX-License-Identifier: MIT
// link_files_test.cpp - the files of ibdiscover in the format of its man page, and their errors.
#include "input/link_files.hpp"
#include "support/catch.hpp"
#include "support/made_file.hpp"

using namespace comad;
using Catch::Contains;
using ibtool::link_end;

TEST_CASE("node locations are read in the format of ibdiscover.map") {
    const auto places = ibtool::read_places(made_file("8f10400410015|8|\"ISR 6000\"|# SW-6IB4 Voltaire port 0 lid 5\n"
                                                      "\n# none\n"
                                                      "8f10403960558|2|HCA 1\r\n")
                                                .name);
    REQUIRE(places.size() == 2);
    CHECK(places.at(iba::guid{0x8f10400410015}) == "\"ISR 6000\"");
    CHECK(places.at(iba::guid{0x8f10403960558}) == "HCA 1");
    for (const char* wrong : {"8f10400410015|8", "nobody|8|there", "|8|there", "8f104004100158f104004100|8|there"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH(ibtool::read_places(made_file("1|1|one\n" + std::string(wrong)).name),
                          Contains(":2: expected NODEGUID|NUMBER|LOCATION"));
    }
    CHECK_THROWS_WITH(ibtool::read_places("/no/such"), Contains("cannot read '/no/such'"));
}

TEST_CASE("links are read and written in the format of ibdiscover.topo") {
    const std::string text = "1|8f10400410015|2|8f10403960558\n10|5442b100004900|5|8f10400410015\n";
    const auto links = ibtool::read_links(made_file(text).name);
    CHECK(links == std::set<link_end>{{iba::guid{0x5442b100004900}, 10, 5, iba::guid{0x8f10400410015}},
                                      {iba::guid{0x8f10400410015}, 1, 2, iba::guid{0x8f10403960558}}});
    // The links are sorted by GUID and port.
    CHECK(ibtool::format_links(links) == text);
    for (const char* wrong : {"1|1|1", "1|1|1|1|1", "255|1|1|1", "1|x|1|1", "1|1|x|1", "1|1|1|", "1|1|256|1"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH(ibtool::read_links(made_file(wrong).name),
                          Contains(":1: expected PORT|NODEGUID|PEER_PORT|PEER_NODEGUID"));
    }
    CHECK_NOTHROW(ibtool::read_links(made_file("254|1|254|1\n").name));
}
