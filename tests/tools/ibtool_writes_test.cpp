// SPDX-License-Identifier: MIT
// ibtool_writes_test.cpp - commands that change something, at OpenSM in an ibsim subnet and in what they send: alias GUIDs,
// traps, devices by their vendor class.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

namespace ibtool_writes_test { // compiled together with others

using namespace ibtool_rig;

namespace {

const std::string ca_route = "0,1", far_ca_route = "0,20,1";

/// The MADs of a capture, in order.
std::vector<nlohmann::json> mads_of(const std::string& capture) {
    const process_result r = run({"decode", "--json", capture});
    check_success(r);
    std::vector<nlohmann::json> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
}

nlohmann::json json_from(const process_result& r) {
    check_success(r);
    CAPTURE(r.out);
    return nlohmann::json::parse(r.out);
}

} // namespace

TEST_CASE("set_guid gives a port alias GUIDs and takes them away") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route);
    const std::string capture = s.files() / "set.pcap";
    const std::string alias = "0002:c903:0000:1491";

    const auto set = json_from(s.ours({"set_guid", LID, "3", alias, "--json", "--pcap", capture}));
    CHECK(set["LID"] == std::stoul(LID));
    CHECK(set["blockNum"] == 0);
    CHECK(set["GUIDInfo"]["GUIDBlock"][0] == "0000:0000:0000:a001");
    CHECK(set["GUIDInfo"]["GUIDBlock"][3] == alias);
    // LID and block number, and of the GUIDs only this one: bit 4 is the first's.
    const auto sent = mads_of(capture).at(0)["SAFormat"];
    CHECK(sent["method"] == 2);
    CHECK(sent["componentMask"] == "0x0000000000000083");
    CHECK(sent["data"]["GUIDInfo"]["GUIDBlock"][3] == alias);

    // The SA has it now, and infiniband-diags see it.
    const process_result theirs = s.peer({"saquery", "GIR", LID + "/0"});
    CHECK_THAT(theirs.out, Contains("GUID 3.....................0x0002c90300001491"));
    CHECK(s.ours({"saquery", "GIR", LID + "/0"}).out == theirs.out);

    // One that the SA chooses, in the second block, of a port by its route; text as saquery's.
    const process_result chosen = s.ours({"set_guid", "-D", ca_route, "9", "0", "--pcap", capture});
    check_success(chosen);
    CHECK_THAT(chosen.out, StartsWith("GUIDInfo Record dump:\n") && Contains("Block......................1\n") &&
                               Contains("GUID 0.....................0x0000000000000000\n") &&
                               Contains("GUID 1.....................0x001405")); // OpenSM's own vendor ID
    CHECK(mads_of(capture).at(2)["SAFormat"]["componentMask"] == "0x0000000000000023");

    const auto taken = json_from(s.ours({"set_guid", "--delete", LID, "3", "--json", "--pcap", capture}));
    CHECK(taken["GUIDInfo"]["GUIDBlock"][3] == "0000:0000:0000:0000");
    CHECK(mads_of(capture).at(0)["SAFormat"]["method"] == 0x15);
    CHECK(s.ours({"set_guid", "--delete", LID, "3"}).status == 0); // twice is not wrong
}

TEST_CASE("set_guid tells what it cannot do") {
    const subnet s;
    const std::string LID = s.lid_at(ca_route), far = s.lid_at(far_ca_route);
    check_success(s.ours({"set_guid", LID, "1", "0x1234"}));
    const process_result used = s.ours({"set_guid", far, "1", "0x1234"});
    CHECK(used.status == 3);
    CHECK_THAT(used.out, Contains("GUID 1.....................0x0000000000000000\n"));
    CHECK_THAT(used.err, Contains("slot 1 of LID " + far + ": not set: the slot holds 0000:0000:0000:0000"));
    check_failure(s.ours({"set_guid", LID, "40", "0x77"}), 1, "no records (status 0x300)"); // ibsim's ports have 32
    check_failure(s.ours({"set_guid", LID, "0", "0x77"}), 2, "slot 0 holds the port's own GUID");
    check_failure(s.ours({"set_guid", LID, "255", "0x77"}), 2, "the slot must be a number up to 254, not '255'");
    check_failure(s.ours({"set_guid", LID, "1", "alias"}), 2, "invalid GUID 'alias'");
    check_failure(s.ours({"set_guid", LID, "1"}), 2, "no GUID given");
    check_failure(s.ours({"set_guid", LID, "1", "0x77", "--delete"}), 2, "--delete takes no GUID");
    check_failure(run({"set_guid", "7", "1", "0x77", "--fabric", "sim:single"}), 1,
                  "no subnet manager has configured it");
}

TEST_CASE("ibsendtrap's traps reach the subnet manager") {
    subnet s;
    struct {
        words arguments;
        const char* heard;
    } const lines[] = {
        {{}, "Received Generic Notice type:4 num:144"},
        {{"link_speed_enabled_change"}, "Received Generic Notice type:4 num:144"},
        {{"local_link_integrity", "2"},
         "Received Generic Notice type:1 num:129 (Local Link integrity threshold reached) "
         "Producer:1 (Channel Adapter) from LID:"},
        {{"sys_image_guid_change"}, "Received Generic Notice type:4 num:145"},
        {{"mkey_lid"}, "Received Generic Notice type:2 num:256"},
        {{"mkey_dr"}, "Received Generic Notice type:2 num:256"},
        {{"pkey"}, "Received Generic Notice type:2 num:257"},
        {{"qkey"}, "Received Generic Notice type:2 num:258"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        const process_result r = run(words{"ibsendtrap", "--fabric", s.fabric() + ",A"} + line.arguments);
        check_success(r);
        CHECK(r.out.empty());
        s.await_manager(line.heard);
    }
}

TEST_CASE("ibsendtrap tells what the IBA lays down for each trap") {
    const directory files;
    const std::string capture = files / "trap.pcap";
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"};
    const auto node = json_from(run(words{"smpquery", "--json", "NI", "0,"} + fabric));
    const auto port = json_from(run(words{"smpquery", "--json", "PI", "0,"} + fabric));
    struct {
        words name;
        unsigned type, number;
        nlohmann::json details; ///< what is neither zero nor the sender's
    } const traps[] = {
        {{"node_desc_change"},
         4,
         144,
         {{"otherLocalChanges", 1}, {"nodeDescriptionChange", 1}, {"linkSpeedEnabledChange", 0}}},
        {{"link_speed_enabled_change"},
         4,
         144,
         {{"otherLocalChanges", 1}, {"linkSpeedEnabledChange", 1}, {"nodeDescriptionChange", 0}}},
        {{"local_link_integrity", "2"}, 1, 129, {{"portNum", 2}}},
        {{"local_link_integrity"}, 1, 129, {{"portNum", 1}}},
        {{"sys_image_guid_change"}, 4, 145, {{"systemImageGUID", node["systemImageGUID"]}}},
        {{"mkey_lid"},
         2,
         256,
         {{"drNotice", 0},
          {"method", 1},
          {"attributeID", 0x15},
          {"attributeModifier", 0x12},
          {"MKey", "0x1234567812345678"},
          {"drHopCount", 0}}},
        {{"mkey_dr"},
         2,
         256,
         {{"drNotice", 1},
          {"drHopCount", 4},
          {"drNoticeReturnPath0", 5},
          {"drNoticeReturnPath3", 8},
          {"drNoticeReturnPath4", 0},
          {"drSLID", 0xffff}}},
        {{"pkey"},
         2,
         257,
         {{"lidAddr1", 1},
          {"lidAddr2", 2},
          {"key", 0x12345678},
          {"qp1", 0x010101},
          {"qp2", 0x020202},
          {"gidAddr1", "f8c0::1:1111:2222:3333:4444"}}},
        {{"qkey"}, 2, 258, {{"gidAddr2", "f8c0::1:5678:5678:1234:1234"}}},
    };
    for (const auto& trap : traps) {
        CAPTURE(trap.name);
        const auto said =
            json_from(run(words{"ibsendtrap", "--json", "--pcap", capture, "--pcap-keys"} + fabric + trap.name));
        const auto all = mads_of(capture);
        const auto sent = std::find_if(all.begin(), all.end(), [](const auto& mad) {
            return mad.contains("SMPFormat") && mad["SMPFormat"]["method"] == 5;
        });
        REQUIRE(sent != all.end());
        // On virtual lane 15 to QP 0 of the port where the subnet manager is.
        CHECK((*sent)["HdrLRH"]["VL"] == 15);
        CHECK((*sent)["HdrLRH"]["DLID"] == port["masterSMLID"]);
        CHECK((*sent)["HdrBTH"]["destQP"] == 0);
        CHECK((*sent)["SMPFormat"]["attributeID"] == 2);
        const auto notice = (*sent)["SMPFormat"]["data"];
        CHECK(notice["isGeneric"] == 1);
        CHECK(notice["noticeType"] == trap.type);
        CHECK(notice["trapNumber"] == trap.number);
        CHECK(notice["nodeType"] == node["nodeType"]);
        CHECK(notice["issuerLID"] == port["LID"]);
        const std::string layout = fmt::format("MADNoticeTrap{}", trap.number == 258 ? 257 : trap.number);
        const auto details = json_from(
            run({"decode", "--json", "--struct", layout, notice["dataDetails"].get<std::string>().substr(2)}));
        for (const auto& [field, value] : said["dataDetails"].items()) CHECK(details[field] == value);
        for (const auto& [field, value] : trap.details.items()) {
            CAPTURE(field);
            CHECK(details[field] == value);
        }
        if (trap.number < 257) CHECK(details["lidAddr"] == port["LID"]);
        if (trap.number == 144) CHECK(details["capabilityMask"] == port["capabilityMask"]);
    }
    check_failure(run(words{"ibsendtrap", "qkeys"} + fabric), 2, "unknown trap 'qkeys'; the nearest are qkey");
    check_failure(run(words{"ibsendtrap", "qkey", "2"} + fabric), 2, "only local_link_integrity");
    check_failure(run(words{"ibsendtrap", "--sa"} + fabric), 2, "--sa is not supported by");
    check_failure(run({"ibsendtrap", "--fabric", "sim:single"}), 1, "no subnet manager has configured it");
}

namespace {

std::string hex_of(const std::string& bytes) {
    std::string hex;
    for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return hex;
}

} // namespace

TEST_CASE("vendstat asks for what infiniband-diags' vendstat asks for") {
    const directory files;
    const std::string capture = files / "vendor.pcap";
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1", "--pcap", capture};
    // infiniband-diags' vendstat.c: after 8 reserved bytes words of address, data and mask; port or count in the modifier.
    const std::string reserved(16, '0');
    struct {
        words arguments;
        unsigned method, attribute, modifier;
        std::string data; ///< as much as is said of it, in hex
    } const lines[] = {
        {{"-i", "1", "12"}, 1, 0x90, 12, reserved + "00000000"},
        {{"-c", "2,8", "1", "12"},
         2,
         0x91,
         12,
         reserved + "00000000"
                    "00000002"
                    "00000008"},
        {{"-R", "10013c", "1"},
         1,
         0x50,
         (2u << 22) + (1u << 16),
         reserved + "0010013c"
                    "00000000"
                    "ffffffff"
                    "00000000"},
        {{"-R", "0x10013c,ff", "-R", "4", "1"},
         1,
         0x50,
         (2u << 22) + (2u << 16),
         reserved + "0010013c"
                    "00000000"
                    "000000ff"
                    "00000004"
                    "00000000"
                    "ffffffff"},
        {{"-W", "10013c,12,f0", "1"},
         2,
         0x50,
         (2u << 22) + (1u << 16),
         reserved + "0010013c"
                    "00000012"
                    "000000f0"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        // A simulated device has none of these: it says so, and what it was asked for is in the capture.
        check_failure(run(words{"vendstat"} + line.arguments + fabric), 1, " refused ");
        const auto sent = mads_of(capture).at(0)["VendFormat"];
        CHECK(sent["mgmtClass"] == 0x0a);
        CHECK(sent["classVersion"] == 1);
        CHECK(sent["method"] == line.method);
        CHECK(sent["attributeID"] == line.attribute);
        CHECK(sent["attributeModifier"] == line.modifier);
        const std::string attribute = fmt::format("{:04x}0000{:08x}{}", line.attribute, line.modifier, line.data);
        CHECK_THAT(hex_of(read_file(capture)), Contains(attribute));
    }
    check_failure(run(words{"vendstat", "-w", "1"} + fabric), 1, "only 0xb924"); // an InfiniScale III
    CHECK(mads_of(capture).at(0)["VendFormat"]["attributeID"] == 0x17);
    CHECK(json_from(run(words{"vendstat", "--cpi", "--json", "1"} + fabric))["baseVersion"] == 1);
    CHECK_THAT(run(words{"vendstat", "--cpi", "1"} + fabric).out, Contains("ClassVersion.....................1\n"));
    CHECK(mads_of(capture).at(0)["VendFormat"]["attributeID"] == 1);

    check_failure(run(words{"vendstat", "1"} + fabric), 2, "-N, -w, -i, -c, -R, -W or --cpi");
    check_failure(run(words{"vendstat", "-R", "xyz", "1"} + fabric), 2, "'xyz'");
    check_failure(run(words{"vendstat", "-R", "1,2,3", "1"} + fabric), 2, "'1,2,3'");
    check_failure(run(words{"vendstat", "-W", "10013c", "1"} + fabric), 2, "'10013c'");
    check_failure(run(words{"vendstat", "-W", "1,2,3,4", "1"} + fabric), 2, "'1,2,3,4'");
    check_failure(run(words{"vendstat", "-c", "2", "1"} + fabric), 2, "-c: expected A,B: two numbers 0..255");
    check_failure(run(words{"vendstat", "-c", "2,256", "1"} + fabric), 2, "-c: expected A,B: two numbers 0..255");
}

TEST_CASE("vendstat -N finds a device in each form of target") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"};
    const auto at = json_from(run(words{"ibaddr", "--json", "0,1"} + fabric));
    const std::string LID = std::to_string(at["LID"].get<unsigned>()), GID = at["GID"];
    const auto node = json_from(run(words{"smpquery", "--json", "NI", LID} + fabric));
    const process_result text = run(words{"vendstat", "-N", LID} + fabric);
    check_success(text);
    CHECK_THAT(text.out, StartsWith("hw_dev_rev:  0x0000\nhw_dev_id:   0xd2f2\nhw_uptime:   0x00000e10\n") &&
                             Contains("fw_date:     12/31/2024\nfw_psid:     'SIMULATED'\n"));
    for (const std::string& target : {std::string("0,1"), GID, node["portGUID"].get<std::string>(),
                                      "IBPath(DLID=" + LID + ")", std::string("IBDRPath(drPath=0:1:)")}) {
        CAPTURE(target);
        CHECK(run(words{"vendstat", "-N", target} + fabric).out == text.out);
        CHECK_THAT(run(words{"vendstat", "-N", target, "--sa", "-d"} + fabric).err, !Contains("SMPFormat"));
    }
    CHECK(json_from(run(words{"vendstat", "-N", "--json", LID} + fabric))["device_id"] == node["deviceID"]);
}

} // namespace ibtool_writes_test
