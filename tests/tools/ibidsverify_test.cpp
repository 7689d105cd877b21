// SPDX-License-Identifier: MIT
// ibidsverify_test.cpp - ibidsverify compared with the infiniband-diags script of that name, on files and an ibsim
// subnet.
#include "subnet/two_switches.hpp"

namespace ibidsverify_test {

using namespace ibtool_rig;

TEST_CASE("ibidsverify agrees with infiniband-diags' script on a topology and the subnet, and uses the LMC") {
    const directory files;
    const std::string kept = files / "kept";
    const auto theirs = [&](const std::string& topology) {
        (void)files.write("kept/ibnetdiscover--.topology", topology);
        return run_process(script("ibidsverify", kept, {}));
    };
    // A duplicate node LID, a duplicate port GUID, a port GUID that belongs to another node, and a LID 0.
    const std::string wrong = R"(
vendid=0x2c9
devid=0xb924
sysimgguid=0x6000
switchguid=0x6000(6000)
Switch	8 "S-0000000000006000"		# "second switch" base port 0 lid 2 lmc 0
[1]	"H-000000000000c000"[1](c001) 		# "C" lid 3 4xSDR
[2]	"H-000000000000d000"[1](c001) 		# "D" lid 3 4xSDR
[3]	"H-000000000000e000"[1](6000) 		# "E" lid 0 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xc000
caguid=0xc000
Ca	1 "H-000000000000c000"		# "C"
[1](c001) 	"S-0000000000006000"[1]		# lid 3 lmc 0 "second switch" lid 2 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xd000
caguid=0xd000
Ca	1 "H-000000000000d000"		# "D"
[1](c001) 	"S-0000000000006000"[2]		# lid 3 lmc 0 "second switch" lid 2 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xe000
caguid=0xe000
Ca	1 "H-000000000000e000"		# "E"
[1](6000) 	"S-0000000000006000"[3]		# lid 0 lmc 0 "second switch" lid 2 4xSDR
)";
    const process_result printed = theirs(wrong);
    CAPTURE(printed.err);
    CHECK(printed.status == 1);
    CHECK(lines_of(printed.out).size() == 4);
    const process_result ours = run({"ibidsverify", files.write("wrong", wrong)});
    CHECK(ours.status == 1);
    CHECK(ours.out == printed.out);
    CHECK(ours.err.empty());
    words findings;
    for (const auto& line : objects_of(run({"ibidsverify", "--json", files / "wrong"}).out))
        findings.push_back(line["description"].get<std::string>() + ": " + line["finding"].get<std::string>());
    CHECK(findings == words{"D: duplicate_LID", "D: duplicate_portGUID", "E: no_LID", "E: duplicate_portGUID"});

    // At first no port has a LID. Then OpenSM assigns LIDs.
    ibsim_server server(two_switches);
    const words fabric{"--fabric", "ibsim:" + server.sockname()};
    const process_result without = run(words{"ibidsverify"} + fabric);
    CHECK(without.status == 1);
    CHECK(lines_of(without.out).size() == 7);
    CHECK(without.out == theirs(run(words{"ibnetdiscover"} + fabric).out).out);
    CHECK(run(words{"ibidsverify", "--json"} + fabric).status == 1);
    const subnet configured(two_switches, manager::leaves);
    const process_result well = configured.ours({"ibidsverify.pl"});
    check_success(well);
    CHECK(well.out.empty());

    // The second LID of one port equals the first LID of another port. The script does not detect this duplicate.
    std::string by_lmc = wrong.substr(0, wrong.find("vendid=0x2c9\ndevid=0x1\nsysimgguid=0xd000"));
    by_lmc.replace(by_lmc.find("lid 3 lmc 0"), 11, "lid 1 lmc 1");
    by_lmc.erase(by_lmc.find("[2]"), by_lmc.find("\n\nvendid=0x2c9\ndevid=0x1") - by_lmc.find("[2]") + 1);
    CHECK(theirs(by_lmc).out.empty());
    const process_result doubled = run({"ibidsverify", files.write("LMC", by_lmc)});
    CHECK(doubled.status == 1);
    CHECK(doubled.out == "LID 2 already defined for NodeGUID 0x6000\n");
}

} // namespace ibidsverify_test
