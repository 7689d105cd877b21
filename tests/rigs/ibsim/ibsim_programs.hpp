// SPDX-License-Identifier: MIT
// ibsim_programs.hpp - a subnet that an ibsim server simulates, as discovery, ibnetdiscover and OpenSM see it.
#pragma once
#include "ibsim/ibsim_server.hpp"
#include "library/discovery_rig.hpp"
#include <comad/transports/ibsim.hpp>

#include <string>
#include <string_view>

namespace comad::test {

/// The topology file of a specification: what ibsim reads.
std::string topology_file_of(std::string_view specification);

transports::ibsim_options at(const ibsim_server& server);

/// What discovery finds there, complete or not. Fails the test when the local port does not answer.
subnet discover(const ibsim_server& server, unsigned outstanding, mad::duration timeout = std::chrono::seconds(1));

/// Runs a program of infiniband-diags or OpenSM on the server's subnet, in a directory that exists only for it, and
/// gives what it printed. Fails the test when its exit status is not 0.
std::string run_beside(const ibsim_server& server, const std::string& command);
/// The same, of whoever serves at that base name of sockets.
std::string run_beside(const std::string& sockname, const std::string& command);

/// Lets OpenSM configure the subnet, once.
void configure(const ibsim_server& server);

/// Checks that two topologies have the same stanzas, in whatever order.
void check_same_topology(const std::string& one, const std::string& other);

/// Checks that ibnetdiscover prints the stanzas that we print of `found`, in whatever order, without -f and with it.
void compare_topology(const ibsim_server& server, const subnet& found);
/// The same, and its list and ports report, and what ibhosts and ibswitches print.
void compare_reports(const ibsim_server& server, const subnet& found);

/// Every end port that was read has a LID.
bool has_lids(const subnet& found);

} // namespace comad::test
