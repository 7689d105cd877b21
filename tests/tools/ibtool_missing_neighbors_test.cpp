// SPDX-License-Identifier: MIT
// ibtool_missing_neighbors_test.cpp - nodes that do not reply to a discovery are named from the records of the SA.
#include "kernel/virtual_device.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_missing_neighbors_test {

using namespace ibtool_rig;

TEST_CASE("a discovery names unresponsive nodes from the records of the SA") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual";
    const auto errors_of = [&](const words& more, const std::string& dead) {
        return run(words{"ibhosts", "--fabric", tree + dead} + more).err;
    };
    CHECK(errors_of({}, ",dead=h-0003 HCA-1") ==
          "ibtool: S-0002c90300000a00 \"leaf-0002\"[1]: no reply from the neighbor (in the SA's records: \"h-0003 "
          "HCA-1\")\nibtool: partial result: 1 failure\n");
    // A dead switch is the neighbor of four ports, and is named once.
    CHECK_THAT(
        errors_of({}, ",dead=spine-0001"),
        StartsWith("ibtool: 4 ports: no reply from the neighbor (in the SA's records: \"spine-0001\"); first: "));
    const std::string many = errors_of({}, ",dead=h-0003 HCA-1,dead=h-0004 HCA-1,dead=h-0005 HCA-1,dead=h-0006 HCA-1");
    CHECK_THAT(many, StartsWith("ibtool: 4 ports: no reply from the neighbor (in the SA's records: \"h-000") &&
                         Contains(" and 1 other); first: "));
    // -v prints each failure with its own neighbor.
    CHECK_THAT(errors_of({"-v"}, ",dead=h-0003 HCA-1,dead=h-0004 HCA-1"),
               Contains("(0, 1, 3, 2, 1)' (in the SA's records: \"h-0003 HCA-1\")\n") &&
                   Contains("(0, 1, 3, 2, 2)' (in the SA's records: \"h-0004 HCA-1\")\n"));
    const auto json =
        nlohmann::json::parse(run({"ibnetdiscover", "--json", "--fabric", tree + ",dead=h-0003 HCA-1"}).out);
    CHECK_THAT(json["problems"][0]["text"].get<std::string>(), EndsWith("(in the SA's records: \"h-0003 HCA-1\")"));
    // Without an SA there is no name.
    CHECK_THAT(run({"ibhosts", "--fabric", "sim:fattree2,radix=4,time=virtual,dead=h-0003 HCA-1"}).err,
               EndsWith("no reply from the neighbor\nibtool: partial result: 1 failure\n"));
}

TEST_CASE("a discovery names a host that died, from the records of OpenSM") {
    if (!has_devices()) return;
    // The host stops replying a while after OpenSM has read the subnet. OpenSM keeps its records, because the link stays up.
    const process_result r =
        in_shell("sim:fattree2,radix=4,kill=h-0003 HCA-1@6s",
                 with_manager + "$IBTOOL saquery NR | grep -c NodeDescription\n"
                                "until ! $IBTOOL smpquery NodeInfo 0,1,3,2,1 -t 20 >/dev/null 2>&1; do :; done\n"
                                "$IBTOOL ibhosts || true");
    CAPTURE(r.out, r.err);
    CHECK_THAT(r.out, StartsWith("14\n"));
    CHECK_THAT(r.err, Contains("no reply from the neighbor (in the SA's records: \"h-0003 HCA-1\")"));
}

} // namespace ibtool_missing_neighbors_test
