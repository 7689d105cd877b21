// SPDX-License-Identifier: MIT
// ibtool_remedies_test.cpp - the possible fixes that doctor prints, each executed on the virtual device. Also the port
// changes that ibportstate and set_port_state refuse, compared with the effect of infiniband-diags' ibportstate.
#include "kernel/virtual_device.hpp"
#include "text/doctor_remedies.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace ibtool_remedies_test {

using namespace ibtool_rig;
using ibtool::remedy;
using ibtool::remedy_id;
using ibtool::remedy_row;

namespace {

/// Commands that create the problem for which doctor suggests a fix, on a virtual device with a subnet manager. A fix without an
/// entry is executed without preparation.
const std::map<remedy_id, std::string> conditions{
    {remedy_id::enable_port, "ibportstate -C vib0 -P 1 -D 0 1 disable >/dev/null"},
    {remedy_id::reset_port,
     "ibportstate -t 50 -D 0,1 1 disable >/dev/null 2>&1 || true\n" // otherwise the peer brings the port up
     "$IBTOOL -C vib0 -P 1 query SubnSet PortInfo 0, -f portPhysicalState=Sleep >/dev/null"},
};

/// Returns a fix with the values that doctor inserts.
remedy filled(remedy_id id) {
    return {id,
            {{"at", "-C vib0 -P 1"},
             {"device", "vib0"},
             {"port", "1"},
             {"module", "ib_umad"},
             {"group", "rdma"},
             {"user", "root"},
             {"advice", "udev"},
             {"send", "128"},
             {"receive", "512"},
             {"outstanding", "32"},
             {"most", "16"},
             {"file", "map"}}};
}

/// Returns the command with the ibtool of this build.
std::string runnable(const std::string& command) {
    REQUIRE_THAT(command, StartsWith("ibtool "));
    return "$IBTOOL" + command.substr(std::string("ibtool").size());
}

} // namespace

TEST_CASE("each possible fix of doctor names an ibtool command that succeeds, or no ibtool command") {
    unsigned commands = 0;
    for (const remedy_row& row : ibtool::remedy_table()) {
        const remedy advice = filled(row.id);
        CAPTURE(advice.text());
        CHECK_THAT(advice.text(), !Contains("{") && !Contains("  "));
        if (advice.command().empty()) {
            CHECK_THAT(advice.text(), !Contains("ibtool "));
            continue;
        }
        ++commands;
        CHECK_THAT(advice.text(), Contains(advice.command()));
        if (!has_devices()) continue;
        const auto condition = conditions.find(row.id);
        const bool is_met = condition != conditions.end();
        const process_result r = in_shell("sim:fattree2,radix=4,sm=1", (is_met ? condition->second : "true") +
                                                                           "\n$IBTOOL doctor --json || true\n" +
                                                                           "echo =====\n" + runnable(advice.command()));
        CAPTURE(r.out, r.err);
        CHECK(r.status == 0);
        CHECK(r.err.empty());
        // In this situation, doctor prints the command.
        const std::string in_json = nlohmann::json(advice.command()).dump();
        if (is_met) CHECK_THAT(r.out.substr(0, r.out.find("=====")), Contains("\"command\":" + in_json + "}\n"));
    }
    CHECK(commands >= conditions.size());
}

TEST_CASE("doctor's fix for a disabled local port enables the port, also on the subnet manager's host") {
    if (!has_devices()) return;
    for (const char* fabric : {"sim:fattree2,radix=4,sm=1", "sim:fattree2,radix=4,sm=h-0003 HCA-1"}) {
        const process_result r = in_shell(fabric, "ibportstate -C vib0 -P 1 -D 0 1 disable >/dev/null\n"
                                                  "grep . /sys/class/infiniband/vib0/ports/1/phys_state\n"
                                                  "$IBTOOL -C vib0 -P 1 ibportstate -D 0 1 enable >/dev/null\n"
                                                  "grep . /sys/class/infiniband/vib0/ports/1/phys_state");
        CAPTURE(fabric, r.err);
        CHECK(r.status == 0);
        CHECK(r.out == "3: Disabled\n5: LinkUp\n");
    }
}

namespace {

/// An operation on a port and its expected result.
struct change {
    const char* what;
    std::string target, operation; ///< arguments of ibportstate
    std::string query;             ///< arguments of a later query of the port; empty: `target`
    std::string why;               ///< text of ibtool's refusal; empty: no refusal
    std::string before = "true";   ///< shell command that runs before the operation
    bool is_about_manager = false; ///< whether the refusal protects the subnet manager
};

/// A fabric whose subnet manager runs on another host. 0,1 is the switch of the local host. Ports 3 and 4 of this
/// switch lead to spines, which have a port for each leaf.
const std::string managed_elsewhere = "sim:fattree2,radix=4,sm=h-0003 HCA-1";

} // namespace

TEST_CASE("ibportstate refuses a change only if infiniband-diags' ibportstate loses the port by the change") {
    if (!has_devices()) return;
    const change all[] = {
        {"the own port, disabled", "-D 0 1", "disable", {}, {}},
        {"the own port, reset", "-D 0 1", "reset", {}, {}},
        {"the own port, down", "-D 0 1", "down", {}, {}},
        {"the own port by its LID, reset", "1 1", "reset", {}, {}},
        {"the entry of the switch, disabled", "-D 0,1 1", "disable", {}, "would stay down"},
        {"the entry of the switch, off", "-D 0,1 1", "off", {}, "would stay down"},
        {"the entry of the switch, reset", "-D 0,1 1", "reset", {}, {}},
        {"the entry of the switch, enabled", "-D 0,1 1", "enable", {}, {}},
        {"the entry of the switch, down", "-D 0,1 1", "down", {}, {}},
        {"another port of the switch", "-D 0,1 3", "disable", {}, {}},
        {"a port that the route crossed before", "-D 0,1,3,1 1", "disable", {}, "would stay down"},
        {"a port that the route does not cross", "-D 0,1,3,1 4", "disable", {}, {}},
        {"by LID the port that answers leave by", "9 1", "disable", {}, "would stay down"},
        {"by LID another port", "9 2", "disable", {}, {}},
        {"a LID to which no table leads", "2 1", "lid 99", "2 1", "no route leads"},
        {"the LID that it has", "2 1", "lid 2", {}, {}},
        {"no width in common",
         "-D 0,1 1",
         "width 1 reset",
         {},
         "no common width or speed",
         "ibportstate -C vib0 -P 1 -D 0 1 width 2 >/dev/null"},
        {"a width in common", "-D 0,1 1", "width 1 reset", {}, {}},
        {"the switch's port of the subnet manager",
         "-D 0,1,3,2 1",
         "disable",
         {},
         "on the neighbor of this port",
         "true",
         true},
        {"the same, reset", "-D 0,1,3,2 1", "reset", {}, {}},
    };
    for (const change& c : all) {
        CAPTURE(c.what);
        const std::string after = c.query.empty() ? c.target : c.query;
        const process_result r = in_shell(
            managed_elsewhere, "set +e; " + c.before + "; $IBTOOL ibportstate " + c.target + " " + c.operation +
                                   " >/dev/null; echo $?\n"
                                   "ibportstate -C vib0 -P 1 -t 50 " +
                                   c.target + " " + c.operation +
                                   " >/dev/null 2>&1\n"
                                   "ibportstate -C vib0 -P 1 -t 50 " +
                                   after + " >/dev/null 2>&1; test $? = 0; echo $?\n" +
                                   (c.is_about_manager ? "sminfo -t 50 >/dev/null 2>&1; test $? = 0; echo $?\n" : ""));
        CAPTURE(r.err);
        const words lines = lines_in_order(r.out);
        REQUIRE(lines.size() == (c.is_about_manager ? 3 : 2));
        const bool is_refused = !c.why.empty();
        CHECK(lines[0] == (is_refused ? "1" : "0"));
        CHECK(lines[1] == (is_refused && !c.is_about_manager ? "1" : "0"));
        if (c.is_about_manager) CHECK(lines[2] == "1");
        if (is_refused) CHECK_THAT(r.err, Contains(c.why) && Contains("--force"));
    }
}

TEST_CASE("set_port_state disables the local port, and refuses to disconnect the subnet manager") {
    const auto on = [](const std::string& manager, const words& ports) {
        return run(words{"set_port_state", "--disable"} + ports +
                   words{"--fabric", "sim:fattree2,radix=4,time=virtual,sm=" + manager});
    };
    const process_result own = on("h-0003 HCA-1", {"h-0001 HCA-1@1"});
    check_success(own);
    CHECK_THAT(own.out, EndsWith("-> Down/Disabled\n"));
    check_failure(on("1", {"h-0001 HCA-1@1"}), 1, "the subnet manager would be disconnected");
    check_failure(on("h-0003 HCA-1", {"leaf-0002@1"}), 1, "the subnet manager would be disconnected");
    check_failure(on("h-0003 HCA-1", {"leaf-0001@1"}), 1,
                  "it can be reached only through links that this command would disable");
}

} // namespace ibtool_remedies_test
