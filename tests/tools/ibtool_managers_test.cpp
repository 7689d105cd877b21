// SPDX-License-Identifier: MIT
// ibtool_managers_test.cpp - several subnet managers in one subnet: the output of doctor, sminfo and saquery with
// simulated managers and with two real OpenSMs.
#include "kernel/virtual_device.hpp"
#include "text/subnet_managers.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace ibtool_managers_test {

using namespace ibtool_rig;

namespace {

const std::string one = "sim:fattree2,radix=4,sm=1,time=virtual";

/// Returns the lines of the check `SM` without their possible fixes.
words managers_in(const process_result& r) {
    words lines;
    for (const std::string& line : lines_in_order(r.out))
        if (line.substr(9).starts_with("SM ")) lines.push_back(line.substr(0, line.find("; possible fix")));
    return lines;
}

} // namespace

TEST_CASE("doctor lists every subnet manager with its state and priority, masters first") {
    const process_result r =
        run({"doctor", "--fabric", one + ",manager=h-0005 HCA-1:notactive:4,manager=h-0003 HCA-1:standby:0"});
    check_success(r);
    const words lines = managers_in(r);
    REQUIRE(lines.size() == 3);
    CHECK_THAT(
        lines[0],
        StartsWith("ok       SM      LID 1: Master, GUID 0002:c903:0000:0101, priority 0, activity 1, replied in "));
    CHECK_THAT(
        lines[1],
        StartsWith("ok       SM      LID 3: Standby, GUID 0002:c903:0000:0301, priority 0, activity 1, replied in "));
    CHECK_THAT(lines[2], StartsWith("ok       SM      LID 5: NotActive, GUID 0002:c903:0000:0501, priority 4, "));
}

TEST_CASE("doctor, sminfo and saquery warn about two master subnet managers") {
    const words fabric{"--fabric", one + ",manager=h-0003 HCA-1:master:5"};
    const std::string both =
        "2 subnet managers are the master of this subnet: LID 1 (GUID 0002:c903:0000:0101, priority 0), "
        "LID 3 (GUID 0002:c903:0000:0301, priority 5); they overwrite each other's configuration";
    const process_result r = run(words{"doctor"} + fabric);
    CHECK(r.status == 0);
    CHECK(managers_in(r).back() == "warning  SM      " + both);
    const words alone{"--fabric", one};
    for (const words& command : {words{"sminfo"}, words{"sminfo", "--json"}, words{"saquery", "-s"}}) {
        CAPTURE(command);
        const process_result with = run(command + fabric);
        CHECK(with.status == 0);
        CHECK(with.err == "ibtool: " + both + '\n');
        const process_result without = run(command + alone);
        check_success(without);
        CHECK(with.out == without.out); // stdout has the format of infiniband-diags
    }
    CHECK(run(words{"saquery", "SMIR"} + fabric).err == "ibtool: " + both + '\n');
    CHECK(run(words{"saquery", "SMIR", "LID=1"} + fabric).err.empty()); // the query selects one manager
    CHECK(run(words{"saquery", "NR"} + fabric).err.empty());
}

TEST_CASE("doctor warns about a master with a lower priority than a standby") {
    struct {
        std::string managers;
        const char* warning;
    } const all[] = {
        {",manager=h-0003 HCA-1:standby:1", "has a lower priority than the standby at LID 3"},
        {",manager=h-0001 HCA-1:master:3,manager=h-0003 HCA-1:standby:3", nullptr}, // the master has the lower GUID
        {",manager=h-0001 HCA-1:master:4,manager=h-0003 HCA-1:standby:3", nullptr},
        {",manager=h-0003 HCA-1:notactive:15", nullptr},
        {",manager=h-0001 HCA-1:standby:3,manager=h-0003 HCA-1:standby:3", "no subnet manager is the master"},
    };
    for (const auto& a : all) {
        CAPTURE(a.managers);
        const process_result r = run({"doctor", "--fabric", one + a.managers});
        CAPTURE(r.out);
        CHECK(r.status == 0);
        if (a.warning) CHECK_THAT(managers_in(r).back(), StartsWith("warning  SM ") && Contains(a.warning));
        else CHECK_THAT(r.out, !Contains("warning"));
    }
    // The manager at the local port has the higher GUID, and the priorities are equal (IBA 14.4.1).
    const process_result r =
        run({"doctor", "--fabric", "sim:fattree2,radix=4,sm=h-0003 HCA-1,time=virtual,manager=h-0002 HCA-1:standby:0"});
    CHECK_THAT(r.out, Contains("has a lower rank than the standby at LID 2"));
}

TEST_CASE("doctor finds subnet managers by directed routes if the SA does not reply") {
    // The manager of the local port is unresponsive, and another one runs at a port whose SA is not queried.
    const process_result r =
        run({"doctor", "--fabric",
             "sim:fattree2,radix=4,sm=h-0003 HCA-1,time=virtual,dead=h-0003 HCA-1,manager=h-0005 HCA-1:standby:2"});
    CHECK(r.status == 1);
    CHECK_THAT(r.out, Contains("bad      SM      LID 3: ") &&
                          Contains("ok       SM      LID 5: Standby, GUID 0002:c903:0000:0501, priority 2") &&
                          Contains("no subnet manager is the master"));
    // Without sm=, the local port has no SM LID, and doctor still finds the manager.
    CHECK_THAT(run({"doctor", "--fabric", "sim:fattree2,radix=4,time=virtual,manager=h-0005 HCA-1:master:2"}).out,
               Contains("bad      SM      no subnet manager is known: the SM LID") &&
                   Contains("ok       SM      route 0,1,3,3,1: Master"));
}

TEST_CASE("doctor reports two OpenSMs with the values of infiniband-diags' sminfo") {
    if (!has_devices()) return;
    const process_result r = in_shell(
        "sim:fattree2,radix=4",
        "d=$(mktemp -d); trap 'kill -KILL $a $b; rm -rf $d' EXIT; mkfifo $d/1 $d/2\n"
        "guid() { cat /sys/class/infiniband/$1/ports/1/gids/0 | tr -d : | sed 's/.*\\(.\\{16\\}\\)$/0x\\1/'; }\n"
        "opensm -g $(guid vib0) -p 9 --log_file stderr >/dev/null 2>$d/1 & a=$!\n"
        "exec 3<$d/1; grep -qm1 'SUBNET UP' <&3; cat <&3 >/dev/null &\n"
        "opensm -g $(guid vib1) -p 3 --log_file stderr >/dev/null 2>$d/2 & b=$!\n"
        "exec 4<$d/2; grep -qim1 -e 'SUBNET UP' -e 'entering standby' <&4; cat <&4 >/dev/null &\n"
        "kill -HUP $a; n=0\n" // the first one sweeps again and finds the second one
        "until test $($IBTOOL saquery SMIR --json 2>/dev/null | wc -l) = 2 -o $n = 100; do n=$((n + 1)); done\n"
        "lids=$(cat /sys/class/infiniband/vib*/ports/1/lid)\n"
        "for lid in $lids; do sminfo $lid || true; done; echo =====\n"
        "$IBTOOL doctor --json | grep '\"SM\"' || true; echo =====\n",
        {"--port", "h-0001 HCA-1", "--port", "h-0003 HCA-1"});
    CAPTURE(r.out, r.err);
    REQUIRE(r.status == 0);
    const words parts = parts_of(r.out);
    REQUIRE(parts.size() == 2);
    std::map<std::string, std::string> theirs, ours; // priority and state, by LID
    const std::map<std::string, std::string> states{
        {"SMINFO_MASTER", "Master"}, {"SMINFO_STANDBY", "Standby"}, {"SMINFO_DISCOVER", "Discovering"}};
    for (const std::string& line : lines_in_order(parts[0])) {
        std::istringstream in(line);
        const words w{std::istream_iterator<std::string>(in), {}};
        REQUIRE(w.size() >= 15);
        theirs["LID " + w[3]] = states.at(w.back()) + " " + w[w.size() - 4];
    }
    unsigned masters = 0;
    bool warns = false;
    for (const std::string& line : lines_in_order(parts[1])) {
        const auto o = nlohmann::json::parse(line);
        const std::string found = o.at("found");
        if (o.at("about").is_null()) {
            warns |= found.find("are the master of this subnet") != found.npos;
            continue;
        }
        const std::size_t at = found.find("priority ");
        REQUIRE(at != found.npos);
        ours[o.at("about")] =
            found.substr(0, found.find(',')) + " " + found.substr(at + 9, found.find(',', at) - at - 9);
        masters += found.starts_with("Master");
    }
    CHECK(theirs.size() == 2);
    CHECK(ours == theirs);
    CHECK(warns == (masters > 1));
}

TEST_CASE("doctor names a subnet manager by its LID or by its directed route") {
    ibtool::manager_facts m;
    m.route = "0,1,4";
    CHECK(manager_name(m) == "route 0,1,4");
    m.LID = 7;
    CHECK(manager_name(m) == "LID 7");
}

} // namespace ibtool_managers_test
