// SPDX-License-Identifier: MIT
// read.hpp - the topology file of ibnetdiscover and ibsim, parsed. Simulator and subnet database are both made from this.
// Knows neither of the two.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/link_words.hpp>
#include <comad/iba/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::topology_file {

/// Limits of a file: a larger one is refused.
inline constexpr std::size_t max_nodes = 200'000, max_file_ports = 2'000'000;
/// The highest port number (NodeInfo.numPorts).
inline constexpr unsigned max_ports = 255;

inline constexpr u32 nobody = ~u32{0};

/// A port that at least one line names. What no line says is 0 or nullopt.
struct port {
    u8 number = 0;
    bool has_line = false;         ///< in the stanza of its own node
    u8 peer_port = 0;              ///< 0: no line names the other end of the cable
    u32 peer_node = nobody;        ///< index into contents::nodes
    unsigned line = 0;             ///< where the cable is named, for messages
    std::optional<iba::guid> GUID; ///< not of a switch's port
    std::optional<iba::lid> LID;   ///< not of a switch's port; 0xffff: no subnet manager has configured the port
    std::optional<u8> LMC;         ///< likewise
    iba::LinkWidth width{};        ///< `4xEDR`: active; 0: unknown
    iba::lane_speeds speed = 0;    ///< likewise: one bit
    std::optional<u8> width_mask;  ///< ` w=3`: enabled (ibsim), or active (ibnetdiscover -f)
    std::optional<u8> speed_mask;  ///< ` s=7`
    std::optional<u8> extended_speed_mask;  ///< ` e=3`
    std::optional<u8> extended_speed2_mask; ///< ` x=1`: LinkSpeedExt2, of this project only
    std::optional<u8> fdr10_mask;           ///< ` f=1`: of MlnxExtPortInfo, of this project only
    std::optional<u8> VLCap;                ///< ` v=4` (ibnetdiscover -f)
};

/// How much of a node a file says.
enum class extent : u8 {
    all,        ///< its stanza is complete
    some,       ///< lines of its stanza are missing or damaged: it may have more cables
    links_only, ///< it has no stanza. Links of other nodes name it: type, GUIDs, name. num_ports is the highest port named
};

struct node {
    iba::NodeType type = iba::NodeType::CA;
    extent known = extent::all;
    bool has_enhanced_port0 = false;
    u16 deviceID = 0;
    u32 vendorID = 0;
    unsigned num_ports = 0;
    unsigned line = 0;                                   ///< of its `Switch`, `Ca` or `Rt`; 0: it has none
    iba::guid nodeGUID{}, portGUID{}, systemImageGUID{}; ///< portGUID: of a switch's port 0
    std::optional<iba::lid> LID;                         ///< of a switch's port 0
    std::optional<u8> LMC;                               ///< likewise
    u8 width_mask = 2, speed_mask = 1,
       extended_speed_mask = 0; ///< enabled unless a port says otherwise (ibsim's settings)
    std::string id;             ///< `S-0002c90300000900`; unique
    std::string description;    ///< as NodeDescription: any bytes; the id if there is none
    std::vector<port> ports;    ///< those with lines, ascending by number

    bool is_switch() const noexcept { return type == iba::NodeType::Switch; }
    const port* find(unsigned number) const noexcept;
};

/// What of a file could not be used.
struct skipped {
    std::size_t lines = 0;         ///< lines that are no part of a topology file, or are damaged
    unsigned first_line = 0;       ///< the first of them, counted from 1
    std::string first_reason;      ///< what is wrong there, safe for a terminal
    std::size_t marks = 0;         ///< byte-order marks, which editors put in front of a file
    unsigned first_mark = 0;       ///< the line of the first of them
    std::size_t stanzas = 0;       ///< stanzas of which not even the node is known
    std::size_t lost_links = 0;    ///< links to nodes that have no stanza
    unsigned first_lost_link = 0;  ///< the line of the first of them
    std::string first_lost_id;     ///< where that leads, safe for a terminal
    std::size_t missing_nodes = 0; ///< how many such nodes there are

    bool any() const noexcept { return lines != 0 || marks != 0 || stanzas != 0 || lost_links != 0; }
    /// One line for a user, without the name of the file; empty if nothing was skipped.
    std::string text() const;
};

struct contents {
    std::vector<node> nodes;                      ///< in the order of the file; those without a stanza come last
    iba::guid start_nodeGUID{}, start_portGUID{}; ///< `# Initiated from node ... port ...`; 0: not said
    topology_file::skipped skipped;
    bool may_lack_nodes = false; ///< a node that is not in the file may exist in the subnet
};

enum class reading : u8 {
    tolerant, ///< lines and stanzas that cannot be used are skipped, and contents::skipped says so
    strict,   ///< the first such line is an error
};

/// Comments by which a file that was made from a damaged one says so: of the file, and below the line of a node.
inline constexpr std::string_view lacks_nodes_remark = "# Incomplete: nodes may be missing",
                                  lacks_ports_remark = "# Incomplete: ports of this node may be missing";

/// Reads what ibnetdiscover prints (also its -f and -g forms) and what ibsim reads: masks `w=`, `s=`, `e=`, settings
/// `width=`, `speed=`, `extspeed=`, default GUIDs and `@[port] "alias"`. A link may be named at one end only. CRLF, spaces for tabs, lost tabs and missing or additional blank lines do not count as damage.
///
/// Tolerant reading also takes what people paste: byte-order marks, lines of other programs, terminal logs with escape sequences, damaged
/// or cut lines, stanzas without their beginning or end, the same stanza twice, links to nodes without a stanza.
///
/// `name` stands for the file in messages. Memory is at most some 100 times the text.
/// Errors: std::runtime_error, one line `NAME:LINE: what is wrong; what to do`: no node at all, more than max_nodes or
/// max_file_ports; with reading::strict everything that would be skipped.
contents read(std::string_view text, std::string_view name, reading how = reading::tolerant);

} // namespace comad::topology_file
