// SPDX-License-Identifier: MIT
// exports.hpp - a subnet in the formats of other programs: GraphViz, GraphML, CSV, Slurm, topograph, Flux and SVG, and the positions of nodes in a drawing. Names from
// the network are escaped for each format. JSON and topology files are in reports.hpp.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::discovery {

/// A link, listed once. `from` is the end with the lower node index and port. If only one end knows its peer, `from` is that end.
struct link_ends {
    port_ref from, to;
};
/// Returns all links of a subnet, each once.
std::vector<link_ends> links_of(const subnet&);

/// The level of each node, by index: how far it is from the edge of the fabric. CAs and routers have 0, a switch one more than the
/// nearest node that it is connected to. So the leaves of a tree have 1, and the spines the highest level. Aggregation nodes, which are
/// inside of switches, do not count as an edge. A switch without a connection to the edge has 1.
std::vector<unsigned> levels_above_edge(const subnet&);

/// Returns whether a node is a CA inside a switch that aggregates data for hosts (Mellanox SHARP). It is not a host.
bool is_aggregation_node(const node&);

/// Where each node is drawn, by index. `width` and `height` apply to the whole drawing. The highest level is at the top, and hosts
/// are in a block below their switch. Connected nodes of adjacent rows are close to each other, as far as one pass can achieve that.
struct drawing {
    struct spot {
        double x = 0, y = 0;
    };
    std::vector<spot> spots;
    std::vector<unsigned> levels;
    double width = 0, height = 0;
};
drawing draw(const subnet&);

/// The state of a link, at an end whose PortInfo is known. Together with the speed it decides the color of the link.
enum class link_condition : u8 { active, not_active, unknown };
/// The state of a link, from an end whose PortInfo is known.
link_condition condition_of(const subnet&, const link_ends&);
/// The color of a link as `#rrggbb`, the same in DOT, SVG and HTML: gray if unknown, red if not active, else by speed.
std::string_view color_of(const subnet&, const link_ends&);

/// Returns GraphViz DOT: an undirected graph with one rank for each level, and port numbers at both ends of each edge.
std::string format_dot(const subnet&, const node_names&);

/// Returns GraphML (graphml.graphdrawing.org): an undirected graph whose nodes have name, type, GUID, LID, number of ports and level, and
/// whose edges have the ports at both ends, width, speed and state. Parallel links are parallel edges.
std::string format_graphml(const subnet&, const node_names&);

/// Returns CSV (RFC 4180) with a header and one line for each link: both ends, then the state, the active width and speed, and a better
/// width and speed that both ends support. Fields that are not known are empty; a LID that is not known is 0.
std::string format_link_csv(const subnet&, const node_names&);

/// Returns the links as OpenSM writes them to opensm-subnet.lst, with two lines for each, sorted by nodeGUID. ibtopodiff, ibdmchk and
/// other programs of ibutils read them. The node with the LID of the local port's subnet manager is `CA-SM` or `SW-SM`.
std::string format_subnet_lst(const subnet&, const node_names&);

/// A topology file of ibutils, and the definitions of its systems, with their file names: ibutils finds them by IBDM_IBNL_PATH.
struct ibutils_files {
    struct definition {
        std::string file, text;
    };
    std::string topology;
    std::vector<definition> definitions;
};
/// Returns the subnet for ibtopodiff, ibdmchk and other programs of ibutils. Each node is a system with one chip `U1`, whose type is its
/// kind and number of ports (`SW36`, `CA1`) and whose ports are P1, P2, ... The name of a system is the name of the switch, or the host name;
/// if it is not unique, or if ibutils does not accept it, the node ID. ibutils knows only SDR, DDR and QDR: other links have no speed.
ibutils_files format_ibutils_topology(const subnet&, const node_names&);

/// Returns a picture (SVG 1.1) with a title, tooltips for nodes and links, and a legend.
std::string format_svg(const subnet&, const node_names&);

/// An export in a format that cannot express everything. `notes` has a line for each kind of omission, safe for a terminal.
struct export_text {
    std::string text;
    std::vector<std::string> notes;
    std::size_t hosts = 0; ///< number of hosts in the topology of a scheduler
};
/// Which adapters and switches an export has. Empty functions select everything.
struct node_selection {
    /// Only adapters for which it is true, or for which it is true of a switch that they are connected to.
    std::function<bool(const node&)> only;
    /// Adapters and switches for which it is true are left out.
    std::function<bool(const node&)> without;
};
/// Slurm's topology.conf of the plugin topology/tree: leaf switches with their hosts, above them one switch for all switches that
/// are connected below the next level, so that the topology is a tree even if the fabric is not. Fabrics that are not connected have roots
/// of their own. A host is the first word of an adapter's name, as in slurmibtopology. An adapter that no host has named
/// (`MT4129 ConnectX7   Mellanox Technologies`, `localhost mlx5_0`) is left out. A managed switch `MF0;core1:TYPE/U1` is `core1`, a chip
/// in a chassis `core1-L01-U1`; a switch whose name is not unique has its ID. Levels count from the selected adapters. The text
/// does not depend on the order in which the discovery found the nodes.
export_text format_slurm_conf(const subnet&, const node_names&, const node_selection& = {});
/// Returns the same tree as a model of NVIDIA topograph (YAML), which its providers `test` and `...-sim` load. A file is valid both for
/// models with `blocks` (2026) and for earlier ones with `nodes`.
export_text format_topograph(const subnet&, const node_names&, const node_selection& = {});
/// Returns the same tree as a resource graph of Flux: JGF, which the scheduler Fluxion loads with `load-format=jgf`, or as `scheduling` of
/// an R. Hosts have the type `node` and ranks from 0 in the order of their names; switches have the type `switch`. A fabric does not show
/// the cores and devices of a host, so the graph ends at the hosts.
export_text format_flux(const subnet&, const node_names&, const node_selection& = {});
/// Returns topology.yaml with the same contents (Slurm 25.05 and later, which ignores topology.conf if topology.yaml exists).
export_text format_slurm_yaml(const subnet&, const node_names&, const node_selection& = {});

} // namespace comad::discovery
