// SPDX-License-Identifier: MIT
// vendstat_test.cpp - the MADs that vendstat sends, compared with the MADs of infiniband-diags' vendstat.
#include "program/ibtool_subnet.hpp"
#include "program/parsed_output.hpp"

#include <fmt/format.h>

namespace vendstat_test {

using namespace ibtool_rig;

namespace {

/// Returns bytes as hex digits.
std::string hex_of(const std::string& bytes) {
    std::string hex;
    for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return hex;
}

} // namespace

TEST_CASE("vendstat sends the queries that infiniband-diags' vendstat sends") {
    const directory files;
    const std::string capture = files / "vendor.pcap";
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1", "--pcap", capture};
    // In infiniband-diags' vendstat.c, 8 reserved bytes precede words of address, data and mask. The modifier contains
    // the port or the count.
    const std::string reserved(16, '0');
    struct {
        words arguments;
        unsigned method, attribute, modifier;
        std::string data; ///< the first bytes of the data, in hex
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
        // A simulated device supports none of these attributes. vendstat reports an error, and the capture contains its
        // request.
        check_failure(run(words{"vendstat"} + line.arguments + fabric), 1, " refused ");
        const auto sent = captured_mads(capture).at(0)["VendFormat"];
        CHECK(sent["mgmtClass"] == 0x0a);
        CHECK(sent["classVersion"] == 1);
        CHECK(sent["method"] == line.method);
        CHECK(sent["attributeID"] == line.attribute);
        CHECK(sent["attributeModifier"] == line.modifier);
        const std::string attribute = fmt::format("{:04x}0000{:08x}{}", line.attribute, line.modifier, line.data);
        CHECK_THAT(hex_of(read_file(capture)), Contains(attribute));
    }
    check_failure(run(words{"vendstat", "-w", "1"} + fabric), 1, "only 0xb924"); // the device ID of an InfiniScale III
    CHECK(captured_mads(capture).at(0)["VendFormat"]["attributeID"] == 0x17);
    CHECK(parsed_output(run(words{"vendstat", "--cpi", "--json", "1"} + fabric))["baseVersion"] == 1);
    CHECK_THAT(run(words{"vendstat", "--cpi", "1"} + fabric).out, Contains("ClassVersion.....................1\n"));
    CHECK(captured_mads(capture).at(0)["VendFormat"]["attributeID"] == 1);

    check_failure(run(words{"vendstat", "1"} + fabric), 2, "-N, -w, -i, -c, -R, -W or --cpi");
    check_failure(run(words{"vendstat", "-R", "xyz", "1"} + fabric), 2, "'xyz'");
    check_failure(run(words{"vendstat", "-R", "1,2,3", "1"} + fabric), 2, "'1,2,3'");
    check_failure(run(words{"vendstat", "-W", "10013c", "1"} + fabric), 2, "'10013c'");
    check_failure(run(words{"vendstat", "-W", "1,2,3,4", "1"} + fabric), 2, "'1,2,3,4'");
    check_failure(run(words{"vendstat", "-c", "2", "1"} + fabric), 2, "-c: expected A,B: two numbers 0..255");
    check_failure(run(words{"vendstat", "-c", "2,256", "1"} + fabric), 2, "-c: expected A,B: two numbers 0..255");
}

TEST_CASE("vendstat -N accepts each form of target") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"};
    const auto at = parsed_output(run(words{"ibaddr", "--json", "0,1"} + fabric));
    const std::string LID = std::to_string(at["LID"].get<unsigned>()), GID = at["GID"];
    const auto node = parsed_output(run(words{"smpquery", "--json", "NI", LID} + fabric));
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
    CHECK(parsed_output(run(words{"vendstat", "-N", "--json", LID} + fabric))["device_id"] == node["deviceID"]);
}

} // namespace vendstat_test
