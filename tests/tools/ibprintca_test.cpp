// SPDX-License-Identifier: MIT
// ibprintca_test.cpp - ibprintca, ibprintswitch and ibprintrt compared with ibnetdiscover, ibhosts and ibswitches of
// infiniband-diags.
#include "subnet/two_switches.hpp"

#include <string>

namespace ibprintca_test {

using namespace ibtool_rig;

namespace {

/// Returns the stanza of a node in a topology file.
std::string stanza_with(const std::string& topology, const std::string& id) {
    const std::size_t at = topology.find("\t" + id), begin = topology.rfind("\n\n", at) + 2;
    return topology.substr(begin, topology.find("\n\n", at) + 1 - begin);
}

} // namespace

TEST_CASE("ibprintca, ibprintswitch and ibprintrt print the topology file section of a node") {
    const subnet s(two_switches);
    const std::string topology_file = s.peer({"ibnetdiscover"}).out;
    CHECK(s.ours({"ibprintswitch", "0x0000000000006000"}).out ==
          stanza_with(topology_file + '\n', "6 \"S-0000000000006000"));
    CHECK(s.ours({"ibprintca", "host E"}).out == stanza_with(topology_file + '\n', "1 \"H-000000000000e000"));
    CHECK(s.ours({"ibprintca.pl", "0,1"}).out == stanza_with(topology_file + '\n', "2 \"H-000000000000a000"));
    CHECK(lines_of(s.ours({"ibprintca", "-l"}).out) == lines_of(s.peer({"ibhosts"}).out));
    CHECK(lines_of(s.ours({"ibprintswitch", "-l"}).out) == lines_of(s.peer({"ibswitches"}).out));
    CHECK(s.ours({"ibprintrt", "-l"}).out.empty());
    CHECK(nlohmann::json::parse(s.ours({"ibprintca", "host E", "--json"}).out)["nodeGUID"] == "0000:0000:0000:e000");
    check_failure(s.ours({"ibprintca", "first"}), 1, "'first' is a Switch, not a Channel Adapter");
    check_failure(s.ours({"ibprintrt"}), 2, "no target given");
}

} // namespace ibprintca_test
