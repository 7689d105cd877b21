// SPDX-License-Identifier: MIT
// read.hpp - parses the topology files of ibnetdiscover and ibsim. The simulator and the subnet database use the
// result; the parser does not depend on them.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/link_words.hpp>
#include <comad/iba/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::topology_file {

/// Limits of a file. Larger files are rejected.
inline constexpr std::size_t max_nodes = 200'000, max_file_ports = 2'000'000;
/// The highest port number (NodeInfo.numPorts).
inline constexpr unsigned max_ports = 255;

/// The index of a node that the file does not name.
inline constexpr u32 no_node = ~u32{0};

/// A port that at least one line names. Members without a value in the file are 0 or nullopt.
struct port {
    u8 number = 0;
    bool has_line = false;         ///< the port has a line in the stanza of its own node
    u8 peer_port = 0;              ///< port number of the neighbor; 0: no line names it
    u32 peer_node = no_node;       ///< index into contents::nodes
    unsigned line = 0;             ///< line that names the link, for messages
    std::optional<iba::guid> GUID; ///< port GUID; not for ports of a switch
    std::optional<iba::lid> LID;   ///< LID; not for ports of a switch; 0xffff: no subnet manager has configured the
                                   ///< port
    std::optional<u8> LMC;         ///< LMC; not for ports of a switch
    iba::LinkWidth width{};        ///< `4xEDR`: active width; 0: unknown
    iba::lane_speeds speed = 0;    ///< `4xEDR`: active speed, one bit; 0: unknown
    std::optional<u8> width_mask;  ///< ` w=3`: enabled widths (ibsim), or active width (ibnetdiscover -f)
    std::optional<u8> speed_mask;  ///< ` s=7`: speeds, as for width_mask
    std::optional<u8> extended_speed_mask;  ///< ` e=3`: extended speeds, as for width_mask
    std::optional<u8> extended_speed2_mask; ///< ` x=1`: LinkSpeedExt2, only in files of this project
    std::optional<u8> fdr10_mask;           ///< ` f=1`: FDR10 bit of MlnxExtPortInfo, only in files of this project
    std::optional<u8> VLCap;                ///< ` v=4` (ibnetdiscover -f)
};

/// How complete the description of a node is.
enum class extent : u8 {
    all,        ///< its stanza is complete
    some,       ///< lines of its stanza are missing or damaged, so the node may have more links
    links_only, ///< it has no stanza, and only the links of other nodes name it: type, GUIDs, name. num_ports is the
                ///< highest port named
};

/// A node of a topology file.
struct node {
    iba::NodeType type = iba::NodeType::CA;
    extent known = extent::all;
    bool has_enhanced_port0 = false;
    u16 deviceID = 0;
    u32 vendorID = 0;
    unsigned num_ports = 0;
    unsigned line = 0;                                   ///< line of its `Switch`, `Ca` or `Rt`; 0: no such line
    iba::guid nodeGUID{}, portGUID{}, systemImageGUID{}; ///< portGUID: for a switch that of port 0
    std::optional<iba::lid> LID;                         ///< LID of port 0 of a switch
    std::optional<u8> LMC;                               ///< LMC of port 0 of a switch
    u8 width_mask = 2, speed_mask = 1,
       extended_speed_mask = 0; ///< enabled values, unless a port has its own (settings of ibsim)
    std::string id;             ///< `S-0002c90300000900`; unique
    std::string description;    ///< the NodeDescription, any bytes; the id if the file has none
    std::vector<port> ports;    ///< ports with lines, ascending by number

    bool is_switch() const noexcept { return type == iba::NodeType::Switch; }
    const port* find(unsigned number) const noexcept;
};

/// The parts of a file that the parser skipped.
struct skipped {
    std::size_t lines = 0;         ///< lines that are not part of a topology file, or are damaged
    unsigned first_line = 0;       ///< number of the first skipped line, counted from 1
    std::string first_reason;      ///< reason for skipping that line, safe for a terminal
    std::size_t marks = 0;         ///< byte-order marks, which some editors write at the start of a file
    unsigned first_mark = 0;       ///< line of the first byte-order mark
    std::size_t stanzas = 0;       ///< stanzas whose node is unknown
    std::size_t lost_links = 0;    ///< links to nodes that have no stanza
    unsigned first_lost_link = 0;  ///< line of the first lost link
    std::string first_lost_id;     ///< id of the node that the link leads to, safe for a terminal
    std::size_t missing_nodes = 0; ///< number of nodes without a stanza that links lead to

    bool any() const noexcept { return lines != 0 || marks != 0 || stanzas != 0 || lost_links != 0; }
    /// Returns one line for users, without the name of the file; empty if nothing was skipped.
    std::string text() const;
};

/// The contents of a topology file.
struct contents {
    std::vector<node> nodes;                      ///< in the order of the file; nodes without a stanza come last
    iba::guid start_nodeGUID{}, start_portGUID{}; ///< `# Initiated from node ... port ...`; 0: not in the file
    topology_file::skipped skipped;
    bool may_lack_nodes = false; ///< a node that is not in the file may exist in the subnet
};

/// How strictly to parse.
enum class reading : u8 {
    tolerant, ///< skip lines and stanzas that cannot be used, and count them in contents::skipped
    strict,   ///< the first line that cannot be used is an error
};

/// Comments that mark a file as made from a damaged file: one for the whole file, and one below the line of a node.
inline constexpr std::string_view lacks_nodes_remark = "# Incomplete: nodes may be missing",
                                  lacks_ports_remark = "# Incomplete: ports of this node may be missing";

/// Parses the output of ibnetdiscover (including -f and -g) and the input files of ibsim: masks `w=`, `s=`, `e=`,
/// settings `width=`, `speed=`, `extspeed=`, default GUIDs and `@[port] "alias"`. A link may be named at one end only.
/// CRLF, spaces instead of tabs, lost tabs and missing or additional blank lines do not count as damage.
///
/// Tolerant parsing also accepts text that was pasted: byte-order marks, lines of other programs, terminal logs with escape
/// sequences, damaged or truncated lines, stanzas without their start or end, duplicate stanzas, links to nodes without a
/// stanza.
///
/// `name` is the name of the file in messages. The result takes at most about 100 times the memory of the text.
/// Errors: std::runtime_error, one line `NAME:LINE: what is wrong; what to do`: no node at all, more than max_nodes or
///         max_file_ports; with reading::strict also everything that tolerant parsing skips.
contents read(std::string_view text, std::string_view name, reading how = reading::tolerant);

} // namespace comad::topology_file
