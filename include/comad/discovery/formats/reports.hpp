// SPDX-License-Identifier: MIT
// reports.hpp - a subnet as text: what ibnetdiscover and its wrappers print (formats: rdma-core,
// infiniband-diags/ibnetdiscover.c), and as JSON. Knows no command line.
//
// Order, where infiniband-diags' depends on the timing of replies: switches, then CAs, then routers, each breadth-first
// from the node where discovery started, by port number; ports ascending.
#pragma once
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace comad::discovery {

struct hierarchies;   // hierarchy.hpp
struct subnet_tables; // facts.hpp

struct topology_options {
    bool full = false;               ///< ` s=<speed> w=<width> v=<vlcap>` after each link (-f)
    std::optional<u64> mads_used;    ///< with it the head says the longest route and this number (-m)
    bool grouping = false;           ///< chassis first, with what is known of boards and external ports (-g)
    std::string_view generated_on{}; ///< the time of the run, as ctime() has it, without the line break
};
/// The topology file: one stanza per node, readable by ibnetdiscover's users, by ibsim and by this project's simulator.
std::string topology_text(const subnet&, const node_names&, const topology_options&);

/// The stanza of one node in such a file, without the empty line before it.
std::string node_stanza(const subnet&, u32 index, const node_names&);

/// One line per node of the given types (-l, -H, -S, -R): `Ca	 : 0x... ports 1 devid 0x.. vendid 0x.. "name"`.
std::string node_list(const subnet&, const node_names&, std::initializer_list<iba::NodeType>);

/// One line per port with its link (-p), ports descending.
std::string ports_report(const subnet&, const node_names&);

/// What ibhosts, ibswitches and ibrouters print: `Ca	: 0x... ports 1 "name"`; of switches with port 0's kind, LID and LMC.
std::string hosts_text(const subnet&, const node_names&);
std::string switches_text(const subnet&, const node_names&);
std::string routers_text(const subnet&, const node_names&);

/// What can be told of ports beside what a discovery reads; null: it was not read. Their failures are not told.
struct more_of_ports {
    const hierarchies* places = nullptr;
    const subnet_tables* facts = nullptr; ///< P_Keys, SL to VL and VL arbitration
};

/// The whole database as one JSON object, schema `comad.subnet/1`; names as in the IBA structures; systems (chassis.hpp) and
/// failures included, and of the ports where it was read what there is more.
std::string json_text(const subnet&, const more_of_ports& more = {});
/// One of its nodes alone, on a line.
std::string node_json(const subnet&, u32 index);

using iba::speed_name, iba::width_name; // `EDR` and `4x` (iba/link_words.hpp)
/// These names of the link, as ibnetdiscover has them. Whether extended speeds
/// count is said by the capability mask of port 0 of a switch, else of the port itself.
std::string_view link_width_text(const port&);
std::string_view link_speed_text(const subnet&, port_ref);

} // namespace comad::discovery
