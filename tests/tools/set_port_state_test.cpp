// SPDX-License-Identifier: MIT
// set_port_state_test.cpp - set_port_state and init_all_ports on an ibsim subnet: changes and refused changes.
#include "subnet/two_switches.hpp"

#include <map>
#include <string>

namespace set_port_state_test {

using namespace ibtool_rig;

namespace {

/// Returns true if infiniband-diags reports the port as disabled.
bool is_disabled(const subnet& s, const std::string& route, const std::string& port) {
    return s.peer({"smpquery", "-D", "PortInfo", route, port}).out.find("PhysLinkState:...................Disabled") !=
           std::string::npos;
}

} // namespace

TEST_CASE("set_port_state changes all ports or none, by directed routes around them, and reads them back") {
    const subnet s(two_switches, manager::leaves);
    // The port through which a route enters the second switch, and a port that leads to a host.
    const words both{"second@3", "0,5@1"};
    const process_result dry = s.ours(words{"set_port_state", "--disable", "--dry-run", "-d"} + both);
    CHECK(dry.status == 0);
    const std::string second = "Switch 0x0000000000006000 \"second switch\" port ";
    const std::string would = ": Active/LinkUp; without --dry-run portPhysicalState=Disabled would be set\n";
    CHECK(dry.out == second + "3" + would + second + "1" + would);
    CHECK_THAT(dry.err, !Contains("MAD_METHOD_SET"));
    CHECK_FALSE(is_disabled(s, "0,6", "3"));

    const process_result done = s.ours(words{"set_port_state", "--disable"} + both);
    check_success(done);
    CHECK_THAT(done.out, StartsWith(second + "3: Active/LinkUp -> Active/Disabled\n")); // ibsim keeps portState
    CHECK(is_disabled(s, "0,6", "3"));
    CHECK(is_disabled(s, "0,6", "1"));
    CHECK(s.ours({"set_port_state", "--disable", "second@3"}).out == second + "3: Active/Disabled: nothing to do\n");

    // Now only one cable connects the switches.
    check_failure(s.ours({"set_port_state", "--disable", "second@6"}), 1,
                  "'second@6' not disabled: it can be reached only through links that this command would disable");
    CHECK_FALSE(is_disabled(s, "0,6", "6"));

    const process_result on = s.ours({"set_port_state", "--enable", "--json", "second@3", "second@1"});
    CHECK(on.status == 3); // ibsim keeps disabled ports Active: a discovery misses nodes after them
    const auto enabled = objects_of(on.out);
    REQUIRE(enabled.size() == 2);
    CHECK(enabled[0]["set"] == nlohmann::json{"portPhysicalState=Polling"});
    CHECK_FALSE(is_disabled(s, "0,6", "3"));
    CHECK_FALSE(is_disabled(s, "0,6", "1"));

    check_failure(s.ours({"set_port_state", "second@3"}), 2, "one of --disable, --enable and --init");
    check_failure(s.ours({"set_port_state", "--init", "second"}), 2, "invalid port 'second'; expected NODE@PORT");
    check_failure(s.ours({"set_port_state", "--init", "second@7"}), 1, "valid ports: 1..6");
    check_failure(run({"set_port_state", "--disable", "0,@1", "--fabric", "sim:fattree2,radix=4,sm=1"}), 1,
                  "the subnet manager would be disconnected");
}

TEST_CASE("init_all_ports brings each link to Initialize, and continues past unresponsive nodes") {
    const subnet s(two_switches, manager::leaves);
    const auto states = [&] {
        std::map<std::string, unsigned> count;
        for (const auto& link : objects_of(s.ours({"iblinkinfo", "--json"}).out)) ++count[link["portState"]];
        return count;
    };
    CHECK(states()["Active"] == 14);
    const process_result dry = s.ours({"init_all_ports", "--dry-run"});
    check_success(dry);
    CHECK(lines_of(dry.out).size() == 7); // a line for each link
    CHECK(states()["Active"] == 14);
    const process_result done = s.ours({"init_all_ports"});
    check_success(done);
    CHECK(lines_of(done.out).size() == 7);
    CHECK(states()["Active"] == 0);
    CHECK(s.ours({"init_all_ports"}).out.empty());
    const process_result silent =
        run({"init_all_ports", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(silent.status == 3);
    CHECK(lines_of(silent.out).size() ==
          8 + 4 + 4); // cables to hosts, to the other spine, and to the unresponsive spine
}

} // namespace set_port_state_test
