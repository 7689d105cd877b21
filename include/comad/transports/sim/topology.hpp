// SPDX-License-Identifier: MIT
// topology.hpp - a subnet as a graph: nodes, ports, cables, LIDs; read, written and generated.
// Knows no MAD, no time and no fault.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/link_words.hpp>
#include <comad/iba/types.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports::sim {

/// Widths and speeds, one bit each: a set in `enabled` and `supported`, a single bit in `active`.
struct link_codes {
    u8 width = 0;  ///< as PortInfo.linkWidth*: 1x 1, 4x 2, 8x 4, 12x 8, 2x 16
    u16 speed = 0; ///< iba::lane_speeds: SDR 1, DDR 2, QDR 4, FDR 8, EDR 16, HDR 32, NDR 64, XDR 128, FDR10 0x8000

    /// PortInfo.linkSpeed*: SDR 1, DDR 2, QDR 4. A link that runs at FDR10 reports QDR.
    constexpr u8 legacy_speed() const noexcept { return static_cast<u8>((speed | (has_fdr10() ? 4 : 0)) & 0x07); }
    /// PortInfo.linkSpeedExt*: FDR 1, EDR 2, HDR 4, NDR 8.
    constexpr u8 extended_speed() const noexcept { return static_cast<u8>(speed >> 3 & 0x0f); }
    /// PortInfo.linkSpeedExt*2: XDR 1.
    constexpr u8 extended_speed2() const noexcept { return static_cast<u8>(speed >> 7 & 0x03); }
    /// MlnxExtPortInfo.LinkSpeed*: FDR10 1.
    constexpr bool has_fdr10() const noexcept { return (speed & iba::lane_speed::FDR10) != 0; }
    constexpr bool has_extended_speed() const noexcept { return extended_speed() != 0 || extended_speed2() != 0; }

    friend bool operator==(const link_codes&, const link_codes&) = default;
};

/// `4x` and `EDR` as codes, and back (link_words.hpp); nullopt, `??` and `???` if there is no such width or speed.
std::optional<u8> width_code(std::string_view text) noexcept;
std::optional<u16> speed_code(std::string_view text) noexcept;
std::string_view width_name(u8 code) noexcept;
std::string_view speed_name(u16 code) noexcept;
/// All that a port of this active width and speed usually supports: the width, 1x, and 4x if the width is greater; the
/// speed and every slower speed. FDR10 is included only if it is the speed itself.
link_codes capable_of(link_codes active) noexcept;
struct port {
    static constexpr u32 nobody = ~u32{0};

    iba::guid GUID{};       ///< of a switch's ports the node's: only port 0 is an end port
    u32 peer_node = nobody; ///< index of the node at the other end of the cable
    u8 peer_port = 0;
    u8 LMC = 0;
    iba::lid LID{};                              ///< of a switch only at port 0
    iba::PortState state = iba::PortState::Down; ///< physically LinkUp unless it is Down
    link_codes active{}, enabled{}, supported{};

    bool linked() const noexcept { return peer_node != nobody; }
    /// False also for 0xffff, which devices have that no subnet manager has configured.
    bool has_lid() const noexcept { return iba::is_unicast(LID); }
    /// MADs can cross its cable.
    bool is_up() const noexcept { return linked() && state != iba::PortState::Down; }
};

/// A place in a chassis as HierarchyInfo tells it of a node's ports: the levels above the port, whose number is the last level.
struct hierarchy {
    iba::guid templateGUID{};
    std::vector<u32> levels; ///< at most 12
};

struct node {
    iba::NodeType type = iba::NodeType::CA;
    bool enhanced_port0 = false; ///< of a switch: port 0 carries data and has a LID mask
    bool hides_extended_speeds =
        false; ///< PortInfo tells them only to who asks with bit 31 of the modifier (IBA 14.2.5.6)
    u16 deviceID = 0;
    u32 vendorID = 0; ///< 24 bits
    iba::guid nodeGUID{}, systemImageGUID{};
    std::string id;                     ///< name within the topology file, `S-<GUID>` as ibnetdiscover forms it; unique
    std::string description;            ///< NodeDescription: the wire carries its first 64 bytes
    std::vector<port> ports;            ///< [0..num_ports()]; [0] is used by switches only
    std::vector<hierarchy> hierarchies; ///< of all its ports, by index; empty: it has no HierarchyInfo

    bool is_switch() const noexcept { return type == iba::NodeType::Switch; }
    unsigned num_ports() const noexcept { return static_cast<unsigned>(ports.size()) - 1; }
    /// First port that a cable can be in or that answers for the node: 0 of a switch, 1 otherwise.
    unsigned first_port() const noexcept { return is_switch() ? 0 : 1; }
};

/// A subnet. Plain data: change what you like, and keep both ends of a cable consistent (link() and unlink() do).
/// 32 bytes a port and about 155 a node.
struct topology {
    static constexpr u32 nobody = port::nobody;
    /// As NodeInfo can say. One with 255 is for trying how programs take it: as a port number 255 means all ports in
    /// performance management (IBA 16.1.3) and none in forwarding tables.
    static constexpr unsigned max_ports = 255;

    std::vector<node> nodes;
    iba::lid sm_lid{}; ///< of the port where the subnet manager was; 0: there was none

    /// A node with its ports, none cabled, all capable of `link`; returns its index. Its port GUIDs are nodeGUID + port
    /// number, of a switch nodeGUID; its id the one ibnetdiscover would give it.
    /// Precondition: 1..max_ports ports.
    u32 add_node(iba::NodeType type, unsigned num_ports, iba::guid nodeGUID, std::string description, link_codes link);

    /// Puts a cable between two ports: both train to the widest and fastest they have in common and are Initialize.
    /// False, and nothing happens, where they have nothing in common.
    /// Precondition: both exist and are free; ports count from 1.
    bool link(u32 a, unsigned port_a, u32 b, unsigned port_b) noexcept;
    /// Both ends of a port's cable train anew, as link() does; where they have nothing in common they are Down.
    /// Precondition: linked.
    bool train(u32 a, unsigned port_a) noexcept;
    /// Both ends of a port's cable are Down, and it stays. Precondition: linked.
    void take_down(u32 a, unsigned port_a) noexcept;
    /// Takes the cable out of a port: both its ends are Down. Nothing happens to a free port.
    void unlink(u32 a, unsigned port_a) noexcept;

    /// The node of that id, description or node or port GUID (`0x...`), in this order.
    std::optional<u32> find(std::string_view name) const;
    /// Where a program runs unless somebody says otherwise: the first CA, or the first node when there is none.
    /// Precondition: there is a node.
    u32 default_node() const noexcept;

    std::size_t link_count() const noexcept;
    std::size_t count(iba::NodeType type) const noexcept;
};

/// What a subnet manager on a node, otherwise default_node(), leaves behind: LIDs counted up from 1 in the order of the
/// nodes, every cabled port Active. Throws std::runtime_error when the unicast LIDs (0xbfff) do not suffice.
void bring_up(topology& t, std::optional<u32> manager = std::nullopt);

/// Reads what ibnetdiscover prints, which is also what ibsim reads: the link comments (`# "name" lid 5 4xEDR`), its -f
/// and -g forms, ibsim's `w=`, `s=`, `e=` masks, `width=`, `speed=`, `extspeed=`, default GUIDs and `@[port] "alias"`.
/// A link may be told at one of its ends only. A file with LIDs gives a subnet that is up: its cabled ports are Active.
///
/// `name` stands for the file in messages. `skipped`: takes one line about what the file has that a subnet cannot be made
/// of (topology_file::read() says what that may be), links to nodes that are not in the file included; empty if there is
/// nothing. Null: all that is an error.
/// Errors: std::runtime_error, one line `NAME:LINE: what is wrong; what to do`.
/// Not understood, and said so: ibsim's `include`, `module`, `do`.
topology read_topology(std::istream& in, std::string_view name, std::string* skipped = nullptr);

/// Writes the same format, which read_topology() and ibsim (0.10: up to HDR) read. What it cannot hold: port 0's width,
/// masks of free ports, line breaks in descriptions.
void write_topology(std::ostream& out, const topology& t);

/// A regular subnet from a specification, hosts first, then leaves, spines, cores:
///
///     single                          two hosts and a cable
///     fattree2,radix=36               full bisection: k leaves, k/2 spines, k^2/2 hosts, k^2 links
///     fattree3,radix=16[,pods=16]     k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links; with p of the k pods p*k^2/4 hosts,
///                                     p*k switches below k^2/4 cores, 3p*k^2/4 links
///     torus,x=4,y=4[,z=4][,hosts=1]   one switch a place, `hosts` on each; a side of 2 has one cable, not two
///     ring,switches=64[,hosts=1]
///     line,switches=70[,hosts=1]
///
/// and for all `speed=EDR`, `width=4x`. No subnet manager ran: see bring_up().
/// Errors: std::runtime_error, one line that names what would be right.
topology make_topology(std::string_view specification);
/// The names that make_topology() knows, for messages: `fattree2, fattree3, ...`.
std::string_view topology_kinds() noexcept;
bool is_topology_kind(std::string_view name) noexcept;

} // namespace comad::transports::sim
