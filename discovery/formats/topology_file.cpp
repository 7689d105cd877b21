// SPDX-License-Identifier: MIT
// topology_file.cpp - builds IBA structures from the lines of a topology file.
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/subnet_file.hpp>

#include <algorithm>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::PortInfo;
namespace file = topology_file;
namespace lane_speed = iba::lane_speed;

constexpr u32 extended_speeds = ~(lane_speed::SDR | lane_speed::DDR | lane_speed::QDR | lane_speed::FDR10);

/// Sets the LID and LMC of an end port.
void take_lid(port& made, std::optional<iba::lid> LID, std::optional<u8> LMC) noexcept {
    if (LID) made.info->LID = *LID;
    else made.assumed |= assumed_lid;
    if (LMC) made.info->LMC = *LMC;
    else made.assumed |= assumed_lmc;
}

void take_speed(port& made, iba::lane_speeds speed) noexcept {
    PortInfo& i = *made.info;
    made.fdr10 = speed == lane_speed::FDR10;
    if (made.fdr10) speed = lane_speed::QDR;
    made.fdr10_supported = made.fdr10;
    const auto extended = static_cast<u8>(speed >> extended_speed_bit & 0xf);
    const auto extended2 = static_cast<u8>(speed >> extended_speed2_bit);
    // A device with an extended speed reports the fastest legacy speed in the old field.
    const u8 legacy = extended || extended2 ? u8{lane_speed::QDR} : static_cast<u8>(speed & 7);
    i.linkSpeedActive = iba::LinkSpeed{legacy};
    i.linkSpeedSupported = i.linkSpeedEnabled = legacy;
    i.linkSpeedExtActive = iba::LinkSpeedExt{extended};
    i.linkSpeedExtSupported = i.linkSpeedExtEnabled = extended;
    i.linkSpeedExtActive2 = iba::LinkSpeedExt2{extended2};
    i.linkSpeedExtSupported2 = i.linkSpeedExtEnabled2 = extended2;
}

/// Builds a subnet from a parsed topology file.
class subnet_maker {
public:
    explicit subnet_maker(file::contents from) : from_(std::move(from)) {}

    described_subnet make(described_order order) {
        is_managed_ = has_any_lid();
        for (u32 n = 0; n < from_.nodes.size(); ++n) add_node(n);
        made_.may_lack_nodes = from_.may_lack_nodes;
        if (order == described_order::discovery) order_from_start();
        return {std::move(made_), from_.skipped.text()};
    }

private:
    bool has_any_lid() const noexcept {
        const auto has_one = [](const std::optional<iba::lid>& LID) { return LID && iba::is_unicast(*LID); };
        return std::ranges::any_of(from_.nodes, [&](const file::node& n) {
            return has_one(n.LID) || std::ranges::any_of(n.ports, [&](const file::port& p) { return has_one(p.LID); });
        });
    }

    void add_node(u32 index) {
        file::node& from = from_.nodes[index];
        node& n = made_.nodes.emplace_back();
        n.info.nodeType = from.type;
        n.info.numPorts = static_cast<u8>(from.num_ports);
        n.info.nodeGUID = from.nodeGUID;
        n.info.systemImageGUID = from.systemImageGUID;
        n.info.deviceID = from.deviceID;
        n.info.vendorID = from.vendorID;
        n.description = from.description;
        n.known = from.known;
        n.ports.resize(from.num_ports + 1);
        made_.by_guid.emplace(from.nodeGUID, index);
        if (from.is_switch()) add_port0(n, from);
        for (const file::port& p : from.ports) add_port(n, from, p);
        n.info.portGUID = from.portGUID;
        const auto cabled = std::ranges::find_if(n.ports, [](const port& p) { return static_cast<bool>(p.peer); });
        if (cabled == n.ports.end()) return;
        n.info.localPortNum = static_cast<u8>(cabled - n.ports.begin());
        n.info.portGUID = cabled->portGUID;
    }

    static void add_port0(node& n, const file::node& from) {
        for (port& p : n.ports) p.portGUID = from.portGUID;
        if (from.known != file::extent::links_only) n.switch_info.emplace().enhancedPort0 = from.has_enhanced_port0;
        port& p = n.ports[0];
        p.info.emplace();
        take_lid(p, from.LID, from.LMC);
        p.info->portState = iba::PortState::Active;
        p.info->portPhysicalState = iba::PortPhysicalState::LinkUp;
        p.assumed |= assumed_state;
    }

    void add_port(node& n, const file::node& from, const file::port& file_port) {
        port& p = n.ports[file_port.number];
        PortInfo& i = p.info.emplace();
        if (!from.is_switch()) {
            const bool is_usual = !file_port.GUID && from.known != file::extent::links_only;
            p.portGUID = is_usual ? iba::guid{value(from.nodeGUID) + file_port.number}
                                  : file_port.GUID.value_or(iba::guid{}); // ibsim does this, too
            take_lid(p, file_port.LID, file_port.LMC);
        }
        const file::port* const other =
            file_port.peer_port != 0 ? from_.nodes[file_port.peer_node].find(file_port.peer_port) : nullptr;
        i.linkWidthActive = value(file_port.width) == 0 && other ? other->width : file_port.width;
        i.linkWidthSupported = i.linkWidthEnabled = value(i.linkWidthActive);
        const iba::lane_speeds speed = file_port.speed == 0 && other ? other->speed : file_port.speed;
        take_speed(p, speed);
        if (speed & extended_speeds)
            (from.is_switch() ? *n.ports[0].info : i).capabilityMask |=
                value(iba::CapabilityMask::IsExtendedSpeedsSupported);
        if (file_port.VLCap) i.VLCap = iba::VLCap{*file_port.VLCap};
        p.assumed |= assumed_state;
        i.portState = iba::PortState::Down;
        if (!other) return; // the line with its cable could not be used
        p.peer = {file_port.peer_node, file_port.peer_port};
        i.portPhysicalState = iba::PortPhysicalState::LinkUp;
        i.portState = is_configured(from, file_port) && is_configured(from_.nodes[file_port.peer_node], *other)
                          ? iba::PortState::Active
                          : iba::PortState::Initialize;
    }

    bool is_configured(const file::node& n, const file::port& p) const noexcept {
        const std::optional<iba::lid>& LID = n.is_switch() ? n.LID : p.LID;
        return is_managed_ && (!LID || iba::is_unicast(*LID));
    }

    void order_from_start() {
        if (made_.nodes.empty()) return;
        const port_ref start = start_of_file().value_or(first_ca());
        put_in_order(made_, start.node, start.port);
    }

    std::optional<port_ref> start_of_file() const {
        const auto found = made_.by_guid.find(from_.start_nodeGUID);
        if (value(from_.start_nodeGUID) == 0 || found == made_.by_guid.end()) return std::nullopt;
        const node& n = made_.nodes[found->second];
        if (n.is_switch()) return port_ref{found->second, 0};
        for (unsigned p = 1; p < n.ports.size(); ++p)
            if (n.ports[p].portGUID == from_.start_portGUID && n.ports[p].peer)
                return port_ref{found->second, static_cast<u8>(p)};
        return port_ref{found->second, std::max(n.info.localPortNum, u8{1})};
    }

    /// Returns the first CA that has a cable; otherwise the first node.
    port_ref first_ca() const {
        for (u32 i = 0; i < made_.nodes.size(); ++i) {
            const node& n = made_.nodes[i];
            if (n.info.nodeType == iba::NodeType::CA && n.info.localPortNum != 0) return {i, n.info.localPortNum};
        }
        return {0, made_.nodes[0].is_switch() ? u8{0} : std::max(made_.nodes[0].info.localPortNum, u8{1})};
    }

    file::contents from_;
    subnet made_;
    bool is_managed_ = false;
};

} // namespace

described_subnet read_topology_file(std::string_view text, std::string_view name, file::reading how,
                                    described_order order) {
    return subnet_maker(file::read(text, name, how)).make(order);
}

} // namespace comad::discovery
