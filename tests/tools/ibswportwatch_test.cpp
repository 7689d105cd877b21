// SPDX-License-Identifier: MIT
// ibswportwatch_test.cpp - the rates that ibswportwatch prints, compared with the traffic of simulated ports.
#include "program/ibtool_subnet.hpp"

#include <nlohmann/json.hpp>

#include <csignal>

namespace ibswportwatch_test {

using namespace ibtool_rig;

using nlohmann::json;

TEST_CASE("ibswportwatch prints rates that match the traffic") {
    // The link of a spine carries 1000 packets per second in each direction and gets 10 symbol errors per second. Our
    // MADs cross the link only to reach the PMA.
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,traffic=1000,errors=1.0:10"};
    const process_result r = run(words{"ibswportwatch", "-n", "3", "-p", "2", "--json", "13", "4"} + fabric);
    check_success(r);
    const auto all = objects_of(r.out);
    REQUIRE(all.size() == 1 + 3 + 1);
    CHECK(all[0]["seconds"] == 0);
    CHECK_FALSE(all[0].contains("changes"));
    for (std::size_t i = 1; i <= 3; ++i) {
        CAPTURE(i);
        CHECK(all[i]["seconds"].get<double>() == Approx(2.0 * static_cast<double>(i)).epsilon(1e-4));
        CHECK(all[i]["changes"]["portXmitPkts"]["per_second"].get<double>() == Approx(1000).epsilon(0.01));
        CHECK(all[i]["changes"]["symbolErrorCounter"]["per_second"].get<double>() == Approx(10).epsilon(0.1));
        CHECK(all[i]["changes"]["portXmitPkts"]["state"] == "counted");
    }
    CHECK(all[4]["intervals"] == 3);
    CHECK(all[4]["totals"]["portXmitPkts"]["value"].get<double>() == Approx(6000).epsilon(0.01));

    const process_result text = run(words{"ibswportwatch", "-n", "1", "-p", "500ms", "13", "4"} + fabric);
    check_success(text);
    CHECK_THAT(text.out, StartsWith("# Lid 13 port 4, every 0.5 s\nPortXmitData:....") &&
                             Contains("\n# 0.500 s\nPortXmitData:....") && Contains("\nPortXmitPkts:....") &&
                             Contains("/s)\n") && Contains("\n## Summary: 1 intervals, 0.500 s\n"));
    // The rate of symbol errors is above 9 and below 11 per second.
    const directory files;
    for (const char* limit : {"9", "11"}) {
        CAPTURE(limit);
        const std::string file = files.write(limit, "symbolErrorCounter=" + std::string(limit) + "\n");
        const process_result above =
            run(words{"ibswportwatch", "-t", "-T", file, "-n", "1", "-p", "10", "13", "4"} + fabric);
        check_success(above);
        const std::string changes = above.out.substr(0, above.out.find("## Summary"));
        CHECK((changes.find("SymbolErrorCounter") != changes.npos) == (limit == std::string("9")));
        CHECK_THAT(changes, !Contains("PortXmitPkts"));
    }
    // The changes of other counters equal those that perfquery -E reports at these times.
    const process_result causes =
        run(words{"ibswportwatch", "-n", "2", "-p", "10", "-D", "-E", "--json", "13", "4"} + fabric);
    check_success(causes);
    const auto readings = objects_of(causes.out);
    REQUIRE(readings.size() == 1 + 2 + 1);
    const char* const physical = "portLocalPhysicalErrors";
    const auto counted = [&](std::size_t i) {
        return readings[i]["counters"]["PortRcvErrorDetails"][physical].get<std::uint64_t>();
    };
    CHECK(readings[0]["counters"].contains("PortXmitDiscardDetails"));
    REQUIRE(counted(1) > counted(0));
    const auto& change = readings[1]["changes"]["PortRcvErrorDetails"][physical];
    CHECK(change["value"] == counted(1) - counted(0));
    CHECK(change["per_second"].get<double>() ==
          Approx(static_cast<double>(counted(1) - counted(0)) / readings[1]["interval_seconds"].get<double>()));
    CHECK(readings[3]["totals"]["PortRcvErrorDetails"][physical]["value"] == counted(2) - counted(0));
    const process_result lines = run(words{"ibswportwatch", "-n", "1", "-p", "10", "-E", "13", "4"} + fabric);
    CHECK_THAT(lines.out, Contains("\n# 10.000 s\nPortLocalPhysicalErrors:.........") && Contains("/s)\n"));
    check_failure(run(words{"ibswportwatch", "-t", "-E", "13", "4"} + fabric), 2,
                  "-t supports only the default counters");
    check_failure(run(words{"ibswportwatch", "-c", "13", "4"} + fabric), 2, "no counters to watch");

    check_failure(run(words{"ibswportwatch", "13"} + fabric), 1, "the target is a switch; give a port");
    check_failure(run(words{"ibswportwatch", "-p", "often", "13", "4"} + fabric), 2, "invalid duration");
    check_failure(run(words{"ibswportwatch", "-n", "1", "200", "1"} + fabric), 1, "did not reply");
}

TEST_CASE("ibswportwatch watches the RS-FEC counters of a port with active RS-FEC, as perfquery -T reads them") {
    const words fabric{"--fabric", "sim:ring,switches=3,hosts=2,sm=1,time=virtual,ber=sw-0001/1:1e-3"};
    const process_result text = run(words{"ibswportwatch", "-n", "1", "--extended_speeds", "7", "1"} + fabric);
    check_success(text);
    const std::size_t changes = text.out.find("\n# 1.");
    REQUIRE(changes != text.out.npos);
    for (const char* name :
         {"FECCorrectableSymbolCtrLane0:", "PortFECCorrectableBlockCtr:", "PortFECUncorrectableBlockCtr:"})
        CHECK_THAT(text.out.substr(0, changes), Contains(name));
    for (const char* name : {"\nFECCorrectableSymbolCounterLane[0]:", "\nPortFECCorrectableBlockCounter:"})
        CHECK_THAT(text.out.substr(changes), Contains(name));
    CHECK_THAT(text.out, !Contains("FECCorrectableBlockCounterLane") && !Contains("FECCorrectableBlockCtrLane"));

    const process_result r = run(words{"ibswportwatch", "-n", "1", "--extended_speeds", "--json", "7", "1"} + fabric);
    check_success(r);
    const auto lines = objects_of(r.out);
    REQUIRE(lines.size() == 1 + 1 + 1);
    const process_result once = run(words{"perfquery", "-T", "--json", "7", "1"} + fabric);
    check_success(once);
    const auto names_of = [](const json& counters) {
        std::vector<std::string> names;
        for (const auto& [name, value] : counters.items()) names.push_back(name);
        return names;
    };
    const json& read = lines[1]["counters"]["PortExtendedSpeedsCounters"];
    CHECK(names_of(read) == names_of(objects_of(once.out).at(0)["counters"]));
    const std::string corrected = "portFECCorrectableBlockCounter";
    CHECK(lines[1]["changes"]["PortExtendedSpeedsCounters"][corrected]["value"] ==
          read[corrected].get<std::uint64_t>() -
              lines[0]["counters"]["PortExtendedSpeedsCounters"][corrected].get<std::uint64_t>());
    CHECK(lines[2]["totals"]["PortExtendedSpeedsCounters"].contains(corrected));

    // Ports with different FEC modes have no sum.
    check_failure(run(words{"ibswportwatch", "-n", "1", "--extended_speeds", "7", "255"} + fabric), 1,
                  "it depends on the error correction of each port; give a port");
    // Links with 8b/10b coding have no FEC, so the counters have their usual meaning.
    const words slow{"--fabric", "sim:ring,switches=3,hosts=2,sm=1,time=virtual,speed=QDR"};
    const process_result plain = run(words{"ibswportwatch", "-n", "1", "--extended_speeds", "7", "1"} + slow);
    check_success(plain);
    CHECK_THAT(plain.out, Contains("\nFECCorrectableBlockCtrLane0:") && !Contains("SymbolCtrLane"));
}

TEST_CASE("ibswportwatch prints the totals after a signal") {
    const int number = GENERATE(SIGINT, SIGTERM);
    process watching(ibtool({"ibswportwatch", "-d", "-p", "100", "2", "1", "--fabric", "sim:single,sm=1"}));
    watching.await_error("PMPortCountersExt(29) completed");
    watching.signal(number);
    const process_result r = watching.wait();
    CHECK(r.status == 0);
    CHECK_THAT(r.out, StartsWith("# Lid 2 port 1, every 100 s\n") && EndsWith("\n## Summary: 0 intervals, 0.000 s\n"));
}

} // namespace ibswportwatch_test
