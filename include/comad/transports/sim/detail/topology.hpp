// SPDX-License-Identifier: MIT
// topology.hpp - a subnet as a graph of nodes, ports and cables with LIDs: generated, read from a file, and written.
// It does not depend on MADs, time or faults.
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

/// Link widths and speeds, one bit each: a set in `enabled` and `supported`, a single bit in `active`.
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

/// Converts `4x` and `EDR` to codes, and codes to text (link_words.hpp). Returns nullopt, `??` or `???` for an unknown width or speed.
std::optional<u8> width_code(std::string_view text) noexcept;
std::optional<u16> speed_code(std::string_view text) noexcept;
std::string_view width_name(u8 code) noexcept;
std::string_view speed_name(u16 code) noexcept;
/// Returns what a port with this active width and speed usually supports: the width, 1x, and 4x if the width is greater; the
/// speed and every slower speed. FDR10 is included only if it is the speed itself.
link_codes capable_of(link_codes active) noexcept;

/// A port of a node in a topology, and the cable in it.
struct port {
    static constexpr u32 no_node = ~u32{0};

    iba::guid GUID{};        ///< a switch has its node GUID at all ports, because only port 0 is an end port
    u32 peer_node = no_node; ///< index of the node at the opposite end of the cable
    u8 peer_port = 0;
    u8 LMC = 0;
    iba::lid LID{};                              ///< a switch has one only at port 0
    iba::PortState state = iba::PortState::Down; ///< physically LinkUp unless it is Down
    link_codes active{}, enabled{}, supported{};

    bool linked() const noexcept { return peer_node != no_node; }
    /// False also for 0xffff, the LID of devices that no subnet manager has configured.
    bool has_lid() const noexcept { return iba::is_unicast(LID); }
    /// True if MADs can cross the cable.
    bool is_up() const noexcept { return linked() && state != iba::PortState::Down; }
};

/// The location of a node's ports, as HierarchyInfo reports it: the levels above the port, whose number is the last level.
struct hierarchy {
    iba::guid templateGUID{};
    std::vector<u32> levels; ///< at most 12
};

/// A node of a topology: a channel adapter, switch or router.
struct node {
    iba::NodeType type = iba::NodeType::CA;
    bool enhanced_port0 = false; ///< a switch whose port 0 carries data and has a LID mask
    /// PortInfo reports extended speeds only to requests with bit 31 of the modifier (IBA 14.2.5.6).
    bool hides_extended_speeds = false;
    /// PortInfo never reports extended speeds, although the device supports them, as with the devices of ibsim.
    bool never_reports_extended_speeds = false;
    u16 deviceID = 0;
    u32 vendorID = 0; ///< 24 bits
    iba::guid nodeGUID{}, systemImageGUID{};
    std::string id;                     ///< unique name in the topology file, such as ibnetdiscover's `S-<GUID>`
    std::string description;            ///< NodeDescription: the wire carries its first 64 bytes
    std::vector<port> ports;            ///< [0..num_ports()]; [0] is used by switches only
    std::vector<hierarchy> hierarchies; ///< for all ports, by index; empty: the node has no HierarchyInfo

    bool is_switch() const noexcept { return type == iba::NodeType::Switch; }
    unsigned num_ports() const noexcept { return static_cast<unsigned>(ports.size()) - 1; }
    /// The first port that has a cable or responds for the node: 0 of a switch, 1 of another node.
    unsigned first_port() const noexcept { return is_switch() ? 0 : 1; }
};

/// A subnet as plain data. You can change all members; keep both ends of a cable consistent, as link() and unlink() do.
/// It needs 32 bytes for each port and about 155 for each node.
///
///     auto graph = transports::sim::make_topology("fattree2,radix=8");
///     transports::sim::bring_up(graph); // LIDs, Active ports
///     graph.unlink(*graph.find("leaf-0001"), 5);
///
/// Threads: several threads can read one topology.
struct topology {
    static constexpr u32 no_node = port::no_node;
    /// The limit of NodeInfo. Nodes with 255 ports are useful to test programs: as a port number, 255 means all ports in performance
    /// management (IBA 16.1.3), and no port in forwarding tables.
    static constexpr unsigned max_ports = 255;

    std::vector<node> nodes;
    iba::lid sm_lid{}; ///< of the port at which the subnet manager ran; 0: there was none

    /// Adds a node whose ports have no cables and support `link`; returns its index. Its port GUIDs are nodeGUID + port
    /// number, or nodeGUID for a switch. Its id is the one that ibnetdiscover would print.
    /// Precondition: 1..max_ports ports.
    u32 add_node(iba::NodeType type, unsigned num_ports, iba::guid nodeGUID, std::string description, link_codes link);

    /// Connects two ports: both train to the greatest common width and speed, and are Initialize. Returns false, and changes
    /// nothing, if they have none in common.
    /// Precondition: both exist and are free; ports count from 1.
    bool link(u32 a, unsigned port_a, u32 b, unsigned port_b) noexcept;
    /// Trains both ends of a port's cable again, as link() does; if they have no width or speed in common, they are Down.
    /// Precondition: linked.
    bool train(u32 a, unsigned port_a) noexcept;
    /// Sets both ends of a port's cable to Down; the cable stays. Precondition: linked.
    void take_down(u32 a, unsigned port_a) noexcept;
    /// Removes the cable of a port: both ends are Down. A port without a cable does not change.
    void unlink(u32 a, unsigned port_a) noexcept;

    /// Finds a node by its id, description, node GUID or port GUID (`0x...`), in this order.
    std::optional<u32> find(std::string_view name) const;
    /// The node at which a program runs by default: the first CA, or the first node if there is no CA.
    /// Precondition: there is a node.
    u32 default_node() const noexcept;

    std::size_t link_count() const noexcept;
    std::size_t count(iba::NodeType type) const noexcept;
};

/// Configures a subnet as a subnet manager on the node `manager` [default_node()] does: LIDs from 1 in the order of the
/// nodes, and every connected port Active.
/// Errors: throws std::runtime_error if there are more ports than unicast LIDs (0xbfff).
void bring_up(topology& t, std::optional<u32> manager = std::nullopt);

/// Reads the format that ibnetdiscover prints and ibsim reads: link comments (`# "name" lid 5 4xEDR`), the -f and -g
/// forms, ibsim's `w=`, `s=`, `e=` masks, `width=`, `speed=`, `extspeed=`, default GUIDs and `@[port] "alias"`. A link can be
/// listed at one of its ends only. If the file has LIDs, the subnet is configured: its connected ports are Active.
///
/// `name` is the name of the file in messages. `skipped` gets one line about parts of the file that the subnet does not contain
/// (topology_file::read() lists them), including links to nodes that are not in the file; empty if there are none. Null:
/// such parts are errors.
/// Errors: throws std::runtime_error with one line `NAME:LINE: what is wrong; what to do`, also for ibsim's `include`, `module`
/// and `do`, which are not supported.
topology read_topology(std::istream& in, std::string_view name, std::string* skipped = nullptr);

/// Writes the same format for read_topology() and ibsim (0.10: up to HDR). The format cannot contain the width of port 0, masks
/// of free ports, or line breaks in descriptions.
void write_topology(std::ostream& out, const topology& t);

/// Makes a regular subnet from a specification. Nodes are in this order: hosts, leaves, spines, cores.
///
///     single                          two hosts and a cable
///     fattree2,radix=36               full bisection: k leaves, k/2 spines, k^2/2 hosts, k^2 links
///     fattree3,radix=16[,pods=16]     k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links; with p of the k pods p*k^2/4 hosts,
///                                     p*k switches below k^2/4 cores, 3p*k^2/4 links
///     torus,x=4,y=4[,z=4][,hosts=1]   one switch at each coordinate, with `hosts` hosts; a side of 2 has one cable, not two
///     ring,switches=64[,hosts=1]
///     line,switches=70[,hosts=1]
///
/// All accept `speed=EDR` and `width=4x`. The subnet is not configured; use bring_up().
/// Errors: throws std::runtime_error with one line that lists the valid values.
topology make_topology(std::string_view specification);
/// The kinds that make_topology() supports, for messages: `fattree2, fattree3, ...`.
std::string_view topology_kinds() noexcept;
/// Whether make_topology() supports a kind with this name.
bool is_topology_kind(std::string_view name) noexcept;

} // namespace comad::transports::sim
