// SPDX-License-Identifier: MIT
// exports.hpp - a subnet for other programs: GraphViz, Slurm, a picture, and the positions of a drawing by level. All texts from
// the network are escaped as the form wants it. Knows no command line. JSON and the topology file are in reports.hpp.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::discovery {

/// A link, each once: the end of the lower node and port first, unless `to` does not know it.
struct link_ends {
    port_ref from, to;
};
std::vector<link_ends> links_of(const subnet&);

/// The level of each node, by index: how far it is from the edge of the fabric. CAs and routers have 0, a switch one more than the
/// nearest node that it is connected to. So the leaves of a tree have 1, and the spines the highest level. Aggregation nodes, which are
/// inside of switches, do not count as an edge. A switch without a connection to the edge has 1.
std::vector<unsigned> levels_above_edge(const subnet&);

/// A CA inside of a switch that adds up data of hosts (Mellanox SHARP): not a host.
bool is_aggregation_node(const node&);

/// Where each node is drawn, by index. `width` and `height` are those of the whole drawing. The highest level is at the top, and hosts
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

/// What the color of a link depends on, besides its speed: the state at the end that is known.
enum class link_condition : u8 { active, not_active, unknown };
link_condition condition_of(const subnet&, const link_ends&);
/// `#rrggbb`, in DOT, SVG and page the same: grey of what is unknown, red of what is not active, else by speed.
std::string_view color_of(const subnet&, const link_ends&);

/// GraphViz DOT: an undirected graph, one rank for each level, port numbers at both ends of an edge.
std::string dot_text(const subnet&, const node_names&);

/// A picture (SVG 1.1) with title, tooltips of nodes and links, and a legend.
std::string svg_text(const subnet&, const node_names&);

/// A form that cannot say everything. `notes` has a line for each kind of thing that is missing, safe for a terminal.
struct export_text {
    std::string text;
    std::vector<std::string> notes;
    std::size_t hosts = 0; ///< of a Slurm topology: how many it has
};
/// Which adapters and switches an export has, by name (node_names::of()). Patterns that are empty functions select everything.
struct name_selection {
    /// Only adapters for which it is true, or for which it is true of a switch that they are connected to.
    std::function<bool(const std::string&)> only;
    /// Adapters and switches for which it is true are left out.
    std::function<bool(const std::string&)> without;
};
/// Slurm's topology.conf of the plugin topology/tree: leaf switches with their hosts, above them one switch for all that are
/// connected below the next level, so that the topology is a tree even if the fabric is not. Fabrics that are not connected have roots
/// of their own. A host is the first word of an adapter's name, as in slurmibtopology. An adapter that no host has named
/// (`MT4129 ConnectX7   Mellanox Technologies`, `localhost mlx5_0`) is left out. A managed switch `MF0;core1:TYPE/U1` is `core1`, a chip
/// in a chassis `core1-L01-U1`; a switch whose name is not unique has its ID. Levels count from the selected adapters. The text
/// does not depend on the order of the nodes, which is that of the discovery.
export_text slurm_conf_text(const subnet&, const node_names&, const name_selection& = {});
/// The same as topology.yaml (Slurm 25.05 and later, which does not read topology.conf where there is one).
export_text slurm_yaml_text(const subnet&, const node_names&, const name_selection& = {});

} // namespace comad::discovery
