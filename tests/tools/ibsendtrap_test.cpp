// SPDX-License-Identifier: MIT
// ibsendtrap_test.cpp - the traps of ibsendtrap as OpenSM receives them, and the fields of traps compared with the IBA.
#include "program/ibtool_subnet.hpp"
#include "program/parsed_output.hpp"

namespace ibsendtrap_test {

using namespace ibtool_rig;

TEST_CASE("ibsendtrap's traps reach the subnet manager") {
    subnet s;
    struct {
        words arguments;
        const char* received;
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
        s.await_manager(line.received);
    }
}

TEST_CASE("ibsendtrap sends the fields that the IBA defines for each trap") {
    const directory files;
    const std::string capture = files / "trap.pcap";
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"};
    const auto node = parsed_output(run(words{"smpquery", "--json", "NI", "0,"} + fabric));
    const auto port = parsed_output(run(words{"smpquery", "--json", "PI", "0,"} + fabric));
    struct {
        words name;
        unsigned type, number;
        nlohmann::json details; ///< the fields that are neither zero nor values of the sender
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
        const auto printed =
            parsed_output(run(words{"ibsendtrap", "--json", "--pcap", capture, "--pcap-keys"} + fabric + trap.name));
        const auto all = captured_mads(capture);
        const auto sent = std::find_if(all.begin(), all.end(), [](const auto& mad) {
            return mad.contains("SMPFormat") && mad["SMPFormat"]["method"] == 5;
        });
        REQUIRE(sent != all.end());
        // A trap uses virtual lane 15 and goes to QP 0 of the subnet manager's port.
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
        const auto details = parsed_output(
            run({"decode", "--json", "--struct", layout, notice["dataDetails"].get<std::string>().substr(2)}));
        for (const auto& [field, value] : printed["dataDetails"].items()) CHECK(details[field] == value);
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

} // namespace ibsendtrap_test
