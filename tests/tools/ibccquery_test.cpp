// SPDX-License-Identifier: MIT
// ibccquery_test.cpp - ibccquery and ibccconfig compared with infiniband-diags on a virtual device over the simulator,
// with the known errors of infiniband-diags. Further tests cover reading back, dry runs and whole subnets.
#include "kernel/virtual_device.hpp"

#include <nlohmann/json.hpp>

#include <regex>

namespace ibtool_congestion_test {

using namespace ibtool_rig;

namespace {

// The simulator assigns LIDs (sm=1) in the order of the nodes: hosts, then leaves, then spines.
const std::string fabric = "sim:fattree2,radix=4,sm=1,cc=4", a_ca = "1", a_switch = "9";

/// Replaces times, because they differ between two runs.
std::string without_times(const std::string& text) {
    return std::regex_replace(text, std::regex("((?:Current)?Time[sS]tamp[A-Z_a-z]*:\\.*)[0-9]+"), "$1");
}

/// Returns the output of `program` for each command. Each program gets its own fabric, because a program that reads a
/// log resets the log.
words printed(const words& commands, const std::string& program = "", const std::string& of = fabric) {
    std::string script;
    for (const std::string& c : commands) script += program + c + "; echo =====\n";
    const process_result r = in_shell(of, script);
    INFO(r.err);
    REQUIRE(r.status == 0);
    const words output = parts_of(r.out);
    REQUIRE(output.size() == commands.size());
    return output;
}
const std::string ours = "$IBTOOL ";

/// Checks that both programs print equal text, and that the text is not empty.
void compare(const words& commands) {
    const words theirs = printed(commands), mine = printed(commands, ours);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        CAPTURE(commands[i]);
        CHECK(commands[i].starts_with("ibccconfig") == theirs[i].empty());
        CHECK(without_times(mine[i]) == without_times(theirs[i]));
    }
}

/// Returns the line of a label; empty if it is missing.
std::string line_of(const std::string& text, const std::string& label) {
    const std::size_t begin = text.find(label + ":");
    return begin == text.npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
}
/// Returns the value after a label.
std::string value_of(const std::string& text, const std::string& label) {
    const std::string line = line_of(text, label);
    return line.substr(line.find_last_of('.') + 1);
}

} // namespace

TEST_CASE("ibccquery prints what infiniband-diags' ibccquery prints") {
    if (!has_devices()) return;
    words commands;
    for (const std::string& LID : {a_ca, a_switch})
        for (const char* operation : {"CP", "CI", "CongestionInfo", "CK", "ti"})
            commands.push_back(std::string("ibccquery ") + operation + ' ' + LID);
    for (const std::string operation : {"CL", "SS", "SP", "SwitchPortCongestionSetting"})
        commands.push_back("ibccquery " + operation + ' ' + a_switch);
    commands.push_back("ibccquery SP " + a_switch + " 3");
    for (const std::string operation : {"CS", "CT"}) commands.push_back("ibccquery " + operation + ' ' + a_ca);
    commands.push_back("ibccquery -G CI 0x0002c90300000101");
    compare(commands);
}

TEST_CASE("ibccconfig writes what infiniband-diags' ibccconfig writes") {
    if (!has_devices()) return;
    words commands{"ibccconfig SS " + a_switch + " 0x1f 0x1FFFFFFFFE abc 15 8 7 2:3 100",
                   "ibccquery SS " + a_switch,
                   "ibccconfig SS " + a_switch + " 0x04 0 0 0x3 0x21 1 0:0 5",
                   "ibccquery SS " + a_switch,
                   "ibccconfig SP " + a_switch + " 2 1 0 12 8 77",
                   "ibccconfig SP " + a_switch + " 4 1 1 3 9 78",
                   "ibccquery SP " + a_switch,
                   "ibccconfig CS " + a_ca + " 1 0x8003 150 1 2 3",
                   "ibccquery CS " + a_ca};
    std::string first, second;
    for (int i = 0; i < 64; ++i) first += " 1:" + std::to_string(i), second += " 3:" + std::to_string(16383 - i);
    commands.insert(commands.end(),
                    {"ibccconfig CT " + a_ca + " 63 0" + first, "ibccquery CT " + a_ca,
                     "ibccconfig CT " + a_ca + " 127 1" + second, "ibccquery CT " + a_ca,
                     "ibccconfig CK " + a_ca + " 0x123456789abcdef0 1 10 3", "ibccquery CK " + a_ca,
                     "ibccquery -c 0x123456789abcdef0 CK " + a_ca,
                     "ibccconfig -c 0x123456789abcdef0 CK " + a_ca + " 0 0 0 0", "ibccquery CK " + a_ca});
    compare(commands);
}

TEST_CASE("ibccquery reads switch ports in blocks of 32, unlike infiniband-diags") {
    if (!has_devices()) return;
    const std::string large = "sim:fattree2,radix=40,sm=1";
    const std::string LID = std::to_string(40 * 20 + 1);
    const words commands{"$IBTOOL ibccconfig SP " + LID + " 35 1 0 12 8 77", "ibccquery SP " + LID,
                         "ibccquery SP " + LID + " 35", "$IBTOOL ibccquery SP " + LID,
                         "$IBTOOL ibccquery SP " + LID + " 35"};
    const words output = printed(commands, "", large);
    const std::string up_to_32 = output[3].substr(0, output[3].find("Port:............................32\n"));
    CHECK(output[1].starts_with(up_to_32));
    CHECK_THAT(output[3], Contains("Port:............................35\nValid:...........................1\n"));
    CHECK_THAT(output[3],
               EndsWith("Port:............................40\n" + output[4].substr(output[4].find('\n') + 1)) ||
                   Contains("Port:............................40\nValid:...........................0\n"));
    CHECK_THAT(output[4], Contains("Cong_Parm_Marking_Rate:..........77\n"));
    CHECK_THAT(output[1], !Contains("Valid:...........................1\n"));
    CHECK_THAT(output[2], Contains("Cong_Parm_Marking_Rate:..........0\n"));
}

TEST_CASE("ibccconfig sets port 35 at port 35, and infiniband-diags sets port 3") {
    if (!has_devices()) return;
    const std::string large = "sim:fattree2,radix=40,sm=1", LID = std::to_string(40 * 20 + 1);
    for (const std::string program : {"", "$IBTOOL "}) {
        CAPTURE(program);
        const std::string set =
            printed({program + "ibccconfig SP " + LID + " 35 1 0 12 8 77; $IBTOOL ibccquery SP " + LID + " --json"}, "",
                    large)
                .front();
        const auto object = nlohmann::json::parse(set);
        std::vector<int> valid;
        for (const auto& port : object["ports"])
            if (port["valid"] == 1) valid.push_back(port["port"]);
        CHECK(valid == std::vector<int>{program.empty() ? 3 : 35});
    }
}

TEST_CASE("ibccquery decodes the log of a CA as the IBA defines it, unlike libibmad") {
    if (!has_devices()) return;
    const std::string query = "ibccquery CL " + a_ca;
    const std::string theirs = printed({query}).front(), mine = printed({query}, ours).front();
    const std::size_t head = theirs.find("Local_QP");
    REQUIRE(head != theirs.npos);
    CHECK(without_times(mine.substr(0, head)) == without_times(theirs.substr(0, head)));
    CHECK(value_of(mine, "ThresholdEventCounter") == "4");
    for (const char* same : {"Local_QP_CN_Entry", "Remote_QP_Number_CN_Entry"})
        CHECK(value_of(mine, same) == value_of(theirs, same));
    // libibmad reads the local LID at the offset of the remote LID, and the service level from a reserved field.
    CHECK(value_of(mine, "Remote_LID_CN_Entry") == value_of(theirs, "Local_LID_CN"));
    CHECK(value_of(theirs, "Remote_LID_CN_Entry") == "0");
    CHECK(line_of(mine, "Local_LID_CN").empty());
    const unsigned long map = std::stoul(value_of(mine, "ThresholdCongestionEventMap"), nullptr, 16);
    const std::regex level("SL_CN_Entry:\\.*([0-9]+)");
    unsigned long levels = 0;
    for (std::sregex_iterator e(mine.begin(), mine.end(), level), end; e != end; ++e)
        levels |= 1ul << std::stoul((*e)[1]);
    CHECK(levels == map);
}

TEST_CASE("ibccquery --json prints all ports and all entries in one object") {
    const auto object = [](const words& command) {
        const process_result r = run(command + words{"--json", "--fabric", fabric + ",time=virtual"});
        check_success(r);
        CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 1);
        return nlohmann::json::parse(r.out);
    };
    const auto info = object({"ibccquery", "CI", a_switch});
    CHECK(info["congestionInfo"] == 1);
    CHECK(object({"ibccquery", "CK", a_switch})["CCKey"] == "0x0000000000000000");
    CHECK(object({"ibccquery", "SP", a_switch})["ports"].size() == 5);
    const auto one = object({"ibccquery", "SP", a_switch, "2"})["ports"];
    CHECK(one.size() == 1);
    CHECK(one[0]["port"] == 2);
    CHECK(one[0]["valid"] == 0);
    CHECK(object({"ibccquery", "CT", a_ca})["entries"].empty());
    CHECK(object({"ibccquery", "CL", a_ca})["thresholdEventCounter"] == 4);
    CHECK(object({"ibccquery", "CL", a_switch})["logEventsCounter"] == 4);
}

TEST_CASE("ibccquery and ibccconfig refuse invalid arguments before they send a MAD") {
    const auto fails = [](const words& command, int code, const std::string& what) {
        CAPTURE(command);
        check_failure(run(command + words{"--fabric", fabric + ",time=virtual"}), code, what);
    };
    fails({"ibccquery", "XX", "1"}, 2, "the nearest are ");
    fails({"ibccquery", "CI", "1", "2"}, 2, "unexpected argument '2': CongestionInfo takes no port");
    fails({"ibccquery", "SP", "1"}, 1, "is not a switch");
    fails({"ibccquery", "SP", "9", "5"}, 1, "has no port 5");
    fails({"ibccquery", "-c", "x", "CI", "1"}, 2, "CC_Key must be a 64-bit number");
    fails({"ibccquery", "SS", "1"}, 1, "SwitchCongestionSetting");
    fails({"ibccconfig", "CK", "1", "1", "2", "0", "0"}, 2, "the protect bit");
    fails({"ibccconfig", "CK", "1", "1", "1", "0"}, 2, "takes 4 values, but got 3");
    fails({"ibccconfig", "CK", "1", "1", "0", "65536", "0"}, 2, "the lease period");
    fails({"ibccconfig", "SS", "9", "1", "0x" + std::string(65, '1'), "0", "0", "0", "0", "0:0", "0"}, 2,
          "victim mask");
    fails({"ibccconfig", "SS", "9", "1", "g", "0", "0", "0", "0", "0:0", "0"}, 2, "victim mask");
    fails({"ibccconfig", "SS", "9", "1", "0", "0", "0", "0", "0", "4:0", "0"}, 2, "the shift");
    fails({"ibccconfig", "CT", "1", "3", "0", "0:0"}, 2, "the last given entry has the number 0");
    fails({"ibccconfig", "SP", "1", "1", "1", "0", "0", "0", "0"}, 1, "LID 1 is not a switch");
    fails({"ibccconfig", "SP", "9", "5", "1", "0", "0", "0", "0"}, 3,
          "the switch has no port 5; its highest port is 4");
    fails({"ibccconfig", "CS"}, 2, "name a port, or give --all");
}

TEST_CASE("ibccconfig --dry-run prints the changes and writes nothing") {
    if (!has_devices()) return;
    const words output =
        printed({"$IBTOOL ibccconfig --dry-run CS " + a_ca + " 0 0x3 150 0 0 0", "ibccquery CS " + a_ca,
                 "$IBTOOL ibccconfig -v CS " + a_ca + " 0 0x3 150 0 0 0 2>/dev/null",
                 "$IBTOOL ibccconfig --dry-run --json CS " + a_ca + " 0 0x3 150 0 0 0"});
    CHECK(output[0] == "Lid 1: CACongestionSetting: would change congestionEntry[0].CCTITimer 0 -> 150, "
                       "congestionEntry[1].CCTITimer 0 -> 150\n");
    CHECK_THAT(output[1], !Contains("150"));
    CHECK(output[2] == "Lid 1: CACongestionSetting: congestionEntry[0].CCTITimer 0 -> 150, "
                       "congestionEntry[1].CCTITimer 0 -> 150\n");
    const auto object = nlohmann::json::parse(output[3]);
    CHECK(object["changes"].empty());
    CHECK(object["dry_run"] == true);
}

TEST_CASE("ibccconfig --all changes all applicable nodes and reports the nodes that it cannot change") {
    if (!has_devices()) return;
    const std::string script = "$IBTOOL ibccconfig --all CS 1 1 150 0 0 0 || echo code $?\necho =====\n"
                               "for lid in 1 2 8; do ibccquery CS $lid; done\necho =====\n"
                               "$IBTOOL ibccconfig --all --json SS 4 0 0 15 8 0 0:0 0\necho =====\n"
                               "$IBTOOL ibccconfig --all CK 0x77 1 0 0 >/dev/null || echo code $?\necho =====\n"
                               "$IBTOOL ibccquery CK 9; $IBTOOL ibccquery -c 0x77 CK 9\necho =====\n";
    const process_result r = in_shell(fabric + ",cc=h-0003 HCA-1:none", script);
    INFO(r.err);
    const words output = parts_of(r.out);
    REQUIRE(output.size() == 5);
    const words lines = lines_in_order(output[0]);
    REQUIRE(lines.size() == 8); // a line for each of 7 hosts, and the exit code
    for (std::size_t i = 0; i < 7; ++i)
        CHECK_THAT(lines[i], EndsWith(" port 1: CACongestionSetting: portControl 0x0000 -> 0x0001, "
                                      "congestionEntry[0].CCTITimer 0 -> 150"));
    CHECK(lines[7] == "code 3");
    CHECK_THAT(r.err, Contains("h-0003 HCA-1") && Contains("not changed"));
    std::size_t timers = 0;
    for (const std::string& line : lines_in_order(output[1])) timers += line == "CCTI_Timer:......................150";
    CHECK(timers == 3);
    const words objects = lines_in_order(output[2]);
    CHECK(objects.size() == 6);
    for (const std::string& line : objects) {
        const auto object = nlohmann::json::parse(line);
        CHECK(object["nodeType"] == "Switch");
        CHECK(object["verified"] == true);
        CHECK(object["changes"] == nlohmann::json{{{"field", "threshold"}, {"before", "0"}, {"after", "15"}},
                                                  {{"field", "packetSize"}, {"before", "0"}, {"after", "8"}}});
    }
    CHECK(output[3] == "code 3\n"); // because of h-0003 again
    CHECK_THAT(output[4], Contains("0x0000000000000000") && Contains("0x0000000000000077"));
}

TEST_CASE("ibccconfig reports values that a node did not accept as not set") {
    if (!has_devices()) return;
    const process_result r = in_shell(
        fabric, "$IBTOOL ibccconfig CK 1 7 1 0 0\n"
                "$IBTOOL ibccconfig -t 50 --retries 0 CK 1 8 0 0 0 || echo code $?; $IBTOOL ibccquery -c 7 CK 1\n");
    CHECK_THAT(r.out, StartsWith("code 3\n") && Contains("CC_Key:..........................0x0000000000000007\n"));
    CHECK_THAT(r.err, Contains("not set: CCKey is <not displayed>"));
    const process_result silent =
        in_shell(fabric, "$IBTOOL ibccconfig CK 1 7 1 0 0\n"
                         "$IBTOOL ibccquery -t 50 --retries 0 CI 1 || echo code $?\n"
                         "$IBTOOL ibccconfig -t 50 --retries 0 CS 1 0 1 1 0 0 0 || echo code $?\n");
    CHECK(silent.out == "code 1\ncode 1\n");
    CHECK(lines_in_order(silent.err).size() == 2);
    for (const std::string& line : lines_in_order(silent.err))
        CHECK_THAT(line, Contains("another CC_Key, give it with -c"));
}

} // namespace ibtool_congestion_test
