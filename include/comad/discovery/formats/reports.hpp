// SPDX-License-Identifier: MIT
// reports.hpp - a subnet as the text that ibnetdiscover and its wrappers print (formats: rdma-core, infiniband-diags/ibnetdiscover.c),
// and as JSON. Does not depend on command-line options.
//
// Order of nodes: switches, then CAs, then routers, each breadth-first from the node where the discovery started, by port number; ports
// ascending. In infiniband-diags the order depends on the timing of replies.
#pragma once
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace comad::discovery {

struct hierarchies;   // of chassis/detail/hierarchy.hpp
struct subnet_tables; // of database/detail/subnet_tables.hpp

/// Options of format_topology(). The letters come from ibnetdiscover's options.
struct topology_options {
    bool full = false;               ///< ` s=<speed> w=<width> v=<vlcap>` after each link (-f)
    std::optional<u64> mads_used;    ///< if set, the file starts with the longest route and this number of MADs (-m)
    bool grouping = false;           ///< chassis first, with their boards and external ports as far as known (-g)
    std::string_view generated_on{}; ///< the time of the run, formatted as by ctime() but without the line break
};
/// Returns a topology file: one stanza per node, in the format that ibnetdiscover prints, and that ibsim and this project's simulator
/// read.
std::string format_topology(const subnet&, const node_names&, const topology_options&);

/// Returns the stanza of one node in a topology file, without the empty line before it.
std::string node_stanza(const subnet&, u32 index, const node_names&);

/// Returns one line per node of the given types (-l, -H, -S, -R): `Ca	 : 0x... ports 1 devid 0x.. vendid 0x.. "name"`.
std::string node_list(const subnet&, const node_names&, std::initializer_list<iba::NodeType>);

/// Returns one line per port with its link (-p), ports descending.
std::string ports_report(const subnet&, const node_names&);

/// Return what ibhosts, ibswitches and ibrouters print: `Ca	: 0x... ports 1 "name"`; for switches with the kind, LID and LMC of port 0.
std::string format_hosts(const subnet&, const node_names&);
std::string format_switches(const subnet&, const node_names&);
std::string format_routers(const subnet&, const node_names&);

/// Data of ports that a discovery does not read; null: not read. Failures of these reads are not included.
struct more_of_ports {
    const hierarchies* places = nullptr;
    const subnet_tables* facts = nullptr; ///< P_Keys, SL to VL and VL arbitration
};

/// Returns the whole database as one JSON object with the schema `comad.subnet/1`. Names come from the IBA structures. The object
/// includes systems (chassis.hpp), failures, and the additional data of ports in `more`.
std::string json_text(const subnet&, const more_of_ports& more = {});
/// Returns one node as JSON, on one line.
std::string node_json(const subnet&, u32 index);

using iba::speed_name, iba::width_name; // `EDR` and `4x` (iba/link_words.hpp)
/// The width and speed of a link in the words of ibnetdiscover. The capability mask of a switch's port 0, or of the port itself on other
/// nodes, decides whether extended speeds are valid.
std::string_view format_link_width(const port&);
std::string_view format_link_speed(const subnet&, port_ref);

} // namespace comad::discovery
