// SPDX-License-Identifier: MIT
// mcm_rereg_test_test.cpp - mcm_rereg_test with files of GUIDs, and with a real OpenSM on the virtual device.
#include "kernel/virtual_device.hpp"

namespace mcm_rereg_test_test {

using namespace ibtool_rig;

TEST_CASE("mcm_rereg_test lets the ports of a file leave and join the IPoIB broadcast group") {
    const directory files;
    const std::string list = files.write("guids", "0x0002c90300000101 # h-0001\n\n0002:c903:0000:0201\n");
    const process_result dry = run({"mcm_rereg_test", list, "--dry-run"});
    check_success(dry);
    CHECK(dry.out == "0x0002c90300000101 would leave and join\n0x0002c90300000201 would leave and join\n");
    check_failure(run({"mcm_rereg_test", files.write("bad", "0x1\nnobody\n")}), 1, "line 2: invalid GUID 'nobody'");
}

TEST_CASE("mcm_rereg_test reports for each port whether OpenSM accepted the leave and the join") {
    if (!has_devices()) return;
    const process_result r = in_shell("sim:fattree2,radix=4",
                                      with_manager + "printf '0x0002c90300000101\\n0x0002c9030000ffff\\n' >$d/guids\n"
                                                     "$IBTOOL mcm_rereg_test $d/guids --json || echo code $?\n"
                                                     "$IBTOOL mcm_rereg_test $d/guids || true\n");
    const words lines = lines_in_order(r.out);
    INFO(r.err);
    REQUIRE(lines.size() == 5);
    // A port that is not a member cannot leave, and an address that is not a port cannot join.
    CHECK(lines[0] == R"({"portGUID":"0002:c903:0000:0101","left":false,"joined":true,"found":true,"dry_run":false})");
    CHECK(lines[1] ==
          R"({"portGUID":"0002:c903:0000:ffff","left":false,"joined":false,"found":false,"dry_run":false})");
    CHECK(lines[2] == "code 3");
    CHECK(lines[3] == "0x0002c90300000101: left: yes, joined: yes, found: yes");
    CHECK_THAT(r.err, Contains("0x0002c9030000ffff: not joined: "));
}

} // namespace mcm_rereg_test_test
