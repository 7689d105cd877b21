// SPDX-License-Identifier: MIT
// set_guid_test.cpp - set_guid with a real OpenSM on an ibsim subnet, and the MADs that set_guid sends.
#include "program/ibtool_subnet.hpp"
#include "program/parsed_output.hpp"

namespace set_guid_test {

using namespace ibtool_rig;

namespace {

const std::string ca_route = "0,1", far_ca_route = "0,20,1";

} // namespace

TEST_CASE("set_guid assigns alias GUIDs to a port and removes them") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    const std::string capture = s.files() / "set.pcap";
    const std::string alias = "0002:c903:0000:1491";

    const auto set = parsed_output(s.ours({"set_guid", LID, "3", alias, "--json", "--pcap", capture}));
    CHECK(set["LID"] == std::stoul(LID));
    CHECK(set["blockNum"] == 0);
    CHECK(set["GUIDInfo"]["GUIDBlock"][0] == "0000:0000:0000:a001");
    CHECK(set["GUIDInfo"]["GUIDBlock"][3] == alias);
    // The component mask selects the LID, the block number and only this GUID. Bit 4 is the first GUID.
    const auto sent = captured_mads(capture).at(0)["SAFormat"];
    CHECK(sent["method"] == 2);
    CHECK(sent["componentMask"] == "0x0000000000000083");
    CHECK(sent["data"]["GUIDInfo"]["GUIDBlock"][3] == alias);

    // The SA now has the GUID, and infiniband-diags prints it.
    const process_result theirs = s.peer({"saquery", "GIR", LID + "/0"});
    CHECK_THAT(theirs.out, Contains("GUID 3.....................0x0002c90300001491"));
    CHECK(s.ours({"saquery", "GIR", LID + "/0"}).out == theirs.out);

    // The SA chooses a GUID in the second block of a port. The target is the route of the port, and the output is that
    // of saquery.
    const process_result chosen = s.ours({"set_guid", "-D", ca_route, "9", "0", "--pcap", capture});
    check_success(chosen);
    CHECK_THAT(chosen.out, StartsWith("GUIDInfo Record dump:\n") && Contains("Block......................1\n") &&
                               Contains("GUID 0.....................0x0000000000000000\n") &&
                               Contains("GUID 1.....................0x001405")); // starts with OpenSM's vendor ID
    CHECK(captured_mads(capture).at(2)["SAFormat"]["componentMask"] == "0x0000000000000023");

    const auto taken = parsed_output(s.ours({"set_guid", "--delete", LID, "3", "--json", "--pcap", capture}));
    CHECK(taken["GUIDInfo"]["GUIDBlock"][3] == "0000:0000:0000:0000");
    CHECK(captured_mads(capture).at(0)["SAFormat"]["method"] == 0x15);
    CHECK(s.ours({"set_guid", "--delete", LID, "3"}).status == 0); // a second deletion is not an error
}

TEST_CASE("set_guid reports GUIDs that were not set and slots that do not exist") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route), far = s.lid_at(far_ca_route);
    check_success(s.ours({"set_guid", LID, "1", "0x1234"}));
    const process_result used = s.ours({"set_guid", far, "1", "0x1234"});
    CHECK(used.status == 3);
    CHECK_THAT(used.out, Contains("GUID 1.....................0x0000000000000000\n"));
    CHECK_THAT(used.err, Contains("slot 1 of LID " + far + ": not set: the slot holds 0000:0000:0000:0000"));
    check_failure(s.ours({"set_guid", LID, "40", "0x77"}), 1, "no records (status 0x300)"); // ibsim has 32 per port
    check_failure(s.ours({"set_guid", LID, "0", "0x77"}), 2, "slot 0 holds the port's own GUID");
    check_failure(s.ours({"set_guid", LID, "255", "0x77"}), 2, "the slot must be a number up to 254, not '255'");
    check_failure(s.ours({"set_guid", LID, "1", "alias"}), 2, "invalid GUID 'alias'");
    check_failure(s.ours({"set_guid", LID, "1"}), 2, "no GUID given");
    check_failure(s.ours({"set_guid", LID, "1", "0x77", "--delete"}), 2, "--delete takes no GUID");
    check_failure(run({"set_guid", "7", "1", "0x77", "--fabric", "sim:single"}), 1,
                  "no subnet manager has configured it");
}

} // namespace set_guid_test
