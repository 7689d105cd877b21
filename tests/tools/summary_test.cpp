// SPDX-License-Identifier: MIT
// summary_test.cpp - summary compared with `portstatus` on the console of OpenSM, on a large subnet, and without a subnet manager.
#include "kernel/virtual_device.hpp"
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace ibtool_summary_test {

using namespace ibtool_rig;
using nlohmann::json;

namespace {

// Starts OpenSM with its console on two pipes, and asks it for the port status. OpenSM reads only one command at a time, so each command
// is sent after the first line of the previous reply has arrived. The output of the first OpenSM command starts at the line `ALL`.
const std::string console_script = R"(
d=$(mktemp -d); trap 'kill -KILL $m; rm -rf $d' EXIT; mkfifo $d/in $d/out $d/log
opensm --console local --log_file stderr <$d/in >$d/out 2>$d/log & m=$!
exec 4>$d/in; exec 5<$d/out; exec 3<$d/log
grep -qm1 'SUBNET UP' <&3; cat <&3 >/dev/null &
ask() { echo "$1" >&4; while IFS= read -r line <&5; do echo "$line"; case "$line" in *"$2"*) return;; esac; done; }
ask portstatus '"ALL" port status'
ask 'portstatus ca' '"Channel Adapter" port status'
ask 'portstatus switch' '"Switch" port status'
ask 'help portstatus' 'limit the results'
echo =====
$IBTOOL summary --json || true # a host does not reply
echo =====
$IBTOOL summary || true
echo =====
)";

/// What OpenSM counts: values such as `at 4X`, and the ports that it names.
struct port_status {
    std::map<std::string, std::size_t> counts;
    std::map<std::string, std::set<std::string>> named; ///< by issue: `0x0002c90300000d00 1`
};

/// Returns the counts after the line with this title.
port_status status_of(const std::string& text, const std::string& title) {
    port_status status;
    const std::regex count(" +([0-9]+) (.*)"), scanned(" +([0-9]+) port\\(s\\) scanned on ([0-9]+) nodes.*"),
        port(" +(0x[0-9a-f]{16} [0-9]+) .*");
    std::istringstream lines(text.substr(text.find('"' + title + "\" port status:")));
    std::string issue;
    std::getline(lines, issue); // the title
    for (std::string line; std::getline(lines, line) && line.find("OpenSM $") == line.npos;) {
        std::smatch found;
        if (std::regex_match(line, found, scanned)) {
            status.counts["ports"] = std::stoul(found[1]);
            status.counts["nodes"] = std::stoul(found[2]);
        } else if (std::regex_match(line, found, port)) {
            status.named[issue].insert(found[1]);
        } else if (std::regex_match(line, found, count)) {
            issue = found[2];
            status.counts[issue] = std::stoul(found[1]);
        }
    }
    return status;
}

/// Checks that a member of the summary has the counts of OpenSM. `names`: OpenSM's name and ours.
void check_counts(const json& ours, const port_status& theirs,
                  const std::vector<std::pair<std::string, std::string>>& names) {
    std::size_t expected = 0;
    for (const auto& [name, member] : names) {
        const auto found = theirs.counts.find(name);
        CAPTURE(name);
        CHECK(ours.value(member, std::size_t{0}) == (found == theirs.counts.end() ? 0 : found->second));
        expected += found != theirs.counts.end();
    }
    CHECK(ours.size() == expected);
}

/// Checks all counts of a summary.
void check_ports(const json& ports, const port_status& theirs) {
    CHECK(ports["ports"] == theirs.counts.at("ports"));
    CHECK(ports["nodes"] == theirs.counts.at("nodes"));
    for (const auto& [name, state] :
         {std::pair("down", "Down"), {"active", "Active"}}) { // OpenSM counts no other states
        const auto found = theirs.counts.find(name);
        CHECK(ports["portState"].value(state, std::size_t{0}) == (found == theirs.counts.end() ? 0 : found->second));
    }
    check_counts(ports["linkWidthActive"], theirs,
                 {{"at 1X", "1x"}, {"at 4X", "4x"}, {"at 8X", "8x"}, {"at 12X", "12x"}});
    check_counts(ports["linkSpeedActive"], theirs,
                 {{"at 2.5 Gbps", "SDR"},
                  {"at 5.0 Gbps", "DDR"},
                  {"at 10.0 Gbps", "QDR"},
                  {"at 14.0625 Gbps", "FDR"},
                  {"at 25.78125 Gbps", "EDR"}});
    const auto of = [&](const std::string& issue) {
        const auto found = theirs.counts.find(issue);
        return found == theirs.counts.end() ? std::size_t{0} : found->second;
    };
    CHECK(ports["disabled"] == of("disabled"));
    CHECK(ports["reduced_width"] == of("with reduced width"));
    CHECK(ports["unenabled_width"] == of("with unenabled width"));
    // OpenSM counts a QDR link with faster speeds enabled as unenabled.
    CHECK(ports["reduced_speed"] == of("with reduced speed") + of("with unenabled speed"));
    CHECK(ports["unenabled_speed"] == 0);
}

/// Returns a port in the form of OpenSM.
std::string named_port(const json& place) {
    std::string GUID = place["nodeGUID"];
    std::erase(GUID, ':');
    return fmt::format("0x{} {}", GUID, place["port"].get<unsigned>());
}

} // namespace

TEST_CASE("summary counts the ports that OpenSM's console counts, and names the reduced ones") {
    if (!has_devices()) return;
    const process_result r =
        in_shell("sim:fattree2,radix=4,link=leaf-0001/3:1xQDR,link=leaf-0002/1:4xFDR,link=leaf-0003/4:1xEDR,"
                 "dead=h-0008 HCA-1",
                 "$IBTOOL set_port_state --disable 0,1,4,3@1 --force >/dev/null 2>&1 || true" + console_script);
    CAPTURE(r.out, r.err);
    const words parts = parts_of(r.out);
    REQUIRE(parts.size() == 3);
    const json ours = json::parse(parts[1]);
    const port_status all = status_of(parts[0], "ALL");
    check_ports(ours["ports"], all);
    check_ports(ours["ports_of"]["CA"], status_of(parts[0], "Channel Adapter"));
    check_ports(ours["ports_of"]["Switch"], status_of(parts[0], "Switch"));
    CHECK(all.counts.at("at 1X") == 4); // both ends of two cables
    CHECK(all.counts.at("at 14.0625 Gbps") == 2);

    std::set<std::string> theirs, named;
    for (const char* issue : {"with reduced width", "with reduced speed", "with unenabled speed"}) {
        const auto found = all.named.find(issue);
        if (found != all.named.end()) theirs.insert(found->second.begin(), found->second.end());
    }
    for (const json& cable : ours["reduced"]) {
        named.insert(named_port(cable));
        named.insert(named_port(cable["peer"]));
    }
    CHECK(theirs.size() == 6);
    CHECK(named == theirs);
    CHECK(ours["complete"] == false);
    CHECK_THAT(parts[2], Contains("\nReduced   3 cables\n") &&
                             Contains("\"leaf-0001\"[3] <=> \"spine-0001\"[1]: 1x QDR, enabled 4x EDR\n") &&
                             Contains("\"spine-0002\"[3] <=> \"leaf-0003\"[4]: 1x EDR, enabled 4x\n") &&
                             Contains(": Master, GUID "));
}

TEST_CASE("summary fits on one screen for a subnet of 13,284 nodes") {
    const process_result r = run({"summary", "--fabric", "sim:fattree3,radix=36,sm=1,time=virtual"});
    check_success(r);
    const words lines = lines_in_order(r.out);
    CHECK(lines.size() <= 24);
    for (const std::string& line : lines) CHECK(line.size() <= 100);
    // 36^3 / 4 hosts, 5 * 36^2 / 4 switches, and 3 * 36^3 / 4 cables
    CHECK_THAT(r.out, Contains("13284: 11664 CAs, 1620 switches\n") && Contains("34992, at most 6 hops from ") &&
                          Contains("69984 at 4x\n") && Contains("69984 at EDR\n") &&
                          Contains("13284 from 1 to 13284\n"));
}

TEST_CASE("summary limits its lists and describes subnets without a subnet manager and from files") {
    const directory files;
    const std::string slow =
        "sim:fattree2,radix=4,sm=1,time=virtual,speed=QDR,link=leaf-0001/3:4xSDR,link=leaf-0001/4:4xSDR";
    const process_result two = run({"summary", "--top", "1", "--fabric", slow, "--subnet-cache", files / "cache"});
    check_success(two);
    CHECK_THAT(two.out, Contains("\nReduced   2 cables\n") && Contains("[3] <=> ") && !Contains("[4] <=> ") &&
                            Contains("\n          and 1 more\n"));
    const process_result cached = run({"summary", "--load-cache", files / "cache", "--json"});
    CHECK(cached.status == 0);
    CHECK_FALSE(json::parse(cached.out).contains("managers"));
    CHECK(json::parse(cached.out)["reduced"].size() == 2);
    const process_result without = run({"summary", "--fabric", "sim:fattree2,radix=4,time=virtual"});
    CHECK_THAT(without.out, Contains("SMs       none found\n") && Contains("LIDs      none"));
    const process_result dead = run({"summary", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(dead.status == 3);
    CHECK_THAT(dead.out, Contains("; partial result\n") && Contains("4 failures of the discovery\n"));
    const process_result as_json =
        run({"summary", "--json", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(json::parse(as_json.out)["problems"] == json{"4 failures of the discovery"});
    // The ports still have the LID of a subnet manager whose host does not reply.
    const process_result silent =
        run({"summary", "--fabric", "sim:fattree2,radix=4,sm=spine-0001,time=virtual,dead=spine-0001"});
    CHECK_THAT(silent.out,
               Contains("SMs       none found\n") && Contains("the subnet manager at LID 13 did not reply"));
}

} // namespace ibtool_summary_test
