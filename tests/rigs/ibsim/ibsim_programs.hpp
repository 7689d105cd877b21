// SPDX-License-Identifier: MIT
// ibsim_programs.hpp - runs discoveries, infiniband-diags and OpenSM on the subnet of an ibsim server, and compares the
// results.
#pragma once
#include "ibsim/ibsim_server.hpp"
#include "library/discovery_rig.hpp"
#include <comad/transports/ibsim.hpp>

#include <string>
#include <string_view>

namespace comad::test {

/// Returns the topology file of a subnet specification, in the format that ibsim reads.
std::string topology_file_of(std::string_view specification);

/// Returns the options of a transport to the server.
transports::ibsim_options at(const ibsim_server& server);

/// Returns the result of a discovery of the server's subnet, which may be partial. Fails the test if the local port
/// does not reply.
subnet discover(const ibsim_server& server, unsigned outstanding, mad::duration timeout = std::chrono::seconds(1));

/// Runs a program of infiniband-diags or OpenSM on the server's subnet, in a temporary directory, and returns its
/// output. Fails the test if the exit status is not 0.
std::string run_beside(const ibsim_server& server, const std::string& command);
/// Runs a program in the same way with the server or relay whose sockets have this base name.
std::string run_beside(const std::string& sockname, const std::string& command);

/// Runs OpenSM once to configure the subnet.
void configure(const ibsim_server& server);

/// Checks that two topology files have equal stanzas in any order.
void check_same_topology(const std::string& one, const std::string& other);

/// Checks that ibnetdiscover, without and with -f, prints the stanzas that we print for `found`, in any order.
void compare_topology(const ibsim_server& server, const subnet& found);
/// Checks the stanzas like compare_topology(). Also checks the list and ports reports of ibnetdiscover and the output
/// of ibhosts and ibswitches.
void compare_reports(const ibsim_server& server, const subnet& found);

/// Checks that every end port that the discovery read has a LID.
bool has_lids(const subnet& found);

} // namespace comad::test
