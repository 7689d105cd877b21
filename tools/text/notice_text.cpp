// SPDX-License-Identifier: MIT
// notice_text.cpp - formats notices: one sentence and one JSON object for each trap.
#include "text/notice_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace ibtool {

using iba::TrapNumber;
using json = nlohmann::ordered_json;

/// The fields of a packet with a wrong key.
struct notice_text::packet {
    bool is_pkey;
    u32 key;
    u8 SL;
    iba::lid SLID, DLID;
    u32 source_qp, destination_qp;
    iba::gid SGID, DGID; // zero: the packet had no GRH
};

namespace {

template <class Details> Details details_of(const iba::Notice& n) {
    Details d;
    iba::decode(d, n.dataDetails.data());
    return d;
}

template <class E> std::string name_or_plain_number(E e) {
    const std::string_view known = iba::find_name(iba::names_of<E>, value(e));
    return known.empty() ? fmt::format("{}", value(e)) : std::string(known);
}

std::string title_of(const iba::Notice& n) {
    if (n.isGeneric) return name_or_plain_number(n.trapNumber);
    return fmt::format("{} of device 0x{:x} of vendor 0x{:06x}", name_or_plain_number(n.noticeType),
                       static_cast<u16>(n.trapNumber), value(n.nodeType));
}

std::string_view format_threshold(TrapNumber trap) {
    switch (trap) {
    case TrapNumber::LinkIntegrityThreshold: return "reached the threshold of local link integrity errors";
    case TrapNumber::BufferOverrunThreshold: return "reached the threshold of excessive buffer overruns";
    default: return "received no flow control update in time (watchdog)";
    }
}

/// A change that trap 144 reports. Two of the bits, and capabilityMask2, are newer than the table of the structure, which has them as
/// reserved (OpenSM's ib_types.h: TRAP_144_MASK_...).
struct local_change {
    std::string_view name; // name in JSON
    std::string_view text;
};
std::vector<local_change> changes_of(const iba::NoticeTrap144& d) {
    constexpr u8 hierarchy_info = 1, capability_mask_2 = 2;
    if (!d.otherLocalChanges) return {{"CapabilityMask", "the capability mask"}};
    const std::array<std::pair<bool, local_change>, 6> all{{
        {d.nodeDescriptionChange, {"NodeDescription", "the node description"}},
        {d.linkWidthEnabledChange, {"LinkWidthEnabled", "the enabled link widths"}},
        {d.linkSpeedEnabledChange, {"LinkSpeedEnabled", "the enabled link speeds"}},
        {d.smPriorityChange, {"SMPriority", "the SM priority"}},
        {(d.reserved_88 & hierarchy_info) != 0, {"HierarchyInfo", "the hierarchy information"}},
        {(d.reserved_88 & capability_mask_2) != 0, {"CapabilityMask2", "the capability mask 2"}},
    }};
    std::vector<local_change> changed;
    for (const auto& [is_set, what] : all)
        if (is_set) changed.push_back(what);
    return changed;
}

std::string format_changes(const iba::NoticeTrap144& d) {
    std::vector<std::string_view> texts;
    for (const local_change& c : changes_of(d)) texts.push_back(c.text);
    if (!d.otherLocalChanges) return fmt::format("the capability mask changed to 0x{:08x}", d.capabilityMask);
    if (texts.empty()) return "the notice does not specify what changed";
    return fmt::format("{} changed", fmt::join(texts, ", "));
}

/// Returns the ports of the return path, nearest first.
std::vector<unsigned> return_path_of(const iba::Notice& n, const iba::NoticeTrap256& d) {
    constexpr std::size_t path_at = 24, most = 30;
    const std::size_t hops = std::min<std::size_t>(d.drHopCount, most);
    return {n.dataDetails.begin() + path_at, n.dataDetails.begin() + static_cast<std::ptrdiff_t>(path_at + hops)};
}

iba::MgmtClass class_of(const iba::NoticeTrap256& d) {
    return d.drNotice ? iba::MgmtClass::SubnDirected : iba::MgmtClass::SubnLID;
}

std::string format_attribute(const iba::NoticeTrap256& d) {
    const iba::record_info* found = iba::find_attribute(class_of(d), 1, d.attributeID);
    if (!found) return fmt::format("attribute 0x{:04x}", d.attributeID);
    std::string_view name = found->name;
    if (name.starts_with("SMP")) name.remove_prefix(3); // the IBA's name of the attribute
    return std::string(name);
}

std::string format_method(const iba::NoticeTrap256& d) { return name_or_plain_number(iba::Method{d.method}); }

std::string format_key(bool is_pkey, u32 key) {
    return is_pkey ? fmt::format("P_Key 0x{:04x}", key) : fmt::format("Q_Key 0x{:08x}", key);
}

} // namespace

notice_text::notice_text(const discovery::subnet& s, const discovery::node_names& names)
    : subnet_(s), names_(names), lids_(s) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p)
            if (const iba::guid GUID = s.nodes[n].ports[p].portGUID; GUID != iba::guid{})
                ports_.try_emplace(GUID, port_ref{n, static_cast<u8>(p)});
}

// ---- locations -------------------------------------------------------------------------------------------------------

notice_text::port_ref notice_text::port_of(const iba::gid& GID) const {
    const auto found = ports_.find(iba::guid{GID.interface_id()});
    return found == ports_.end() ? port_ref{} : found->second;
}

std::string notice_text::name(port_ref r) const {
    const std::string of_node = fmt::format("\"{}\"", names_.of(subnet_.nodes[r.node]));
    return r.port ? fmt::format("{}[{}]", of_node, r.port) : of_node;
}

std::string notice_text::with_name(iba::lid LID) const {
    const port_ref where = lids_.at(LID);
    return where ? fmt::format("LID {} ({})", LID, name(where)) : fmt::format("LID {}", LID);
}

std::string notice_text::with_name(const iba::gid& GID) const {
    const port_ref where = port_of(GID);
    return where ? fmt::format("GID {} ({})", GID, name(where)) : fmt::format("GID {}", GID);
}

json notice_text::place(port_ref r) const {
    json one = json::object();
    if (!r) return one;
    const discovery::node& node = subnet_.nodes[r.node];
    one["nodeGUID"] = fmt::format("{}", node.info.nodeGUID);
    one["name"] = json_string(names_.raw(node));
    if (r.port) one["port"] = r.port;
    return one;
}

json notice_text::end(iba::lid LID) const {
    json one{{"LID", value(LID)}};
    one.update(place(lids_.at(LID)));
    return one;
}

json notice_text::end(const packet& p, bool is_source) const {
    json one = end(is_source ? p.SLID : p.DLID);
    one["QP"] = is_source ? p.source_qp : p.destination_qp;
    const iba::gid& GID = is_source ? p.SGID : p.DGID;
    if (GID != iba::gid{}) one["GID"] = fmt::format("{}", GID);
    return one;
}

std::string notice_text::packet_text(const packet& p) const {
    const auto format_end = [&](iba::lid LID, u32 QP, const iba::gid& GID) {
        std::string text = fmt::format("{} QP 0x{:x}", with_name(LID), QP);
        if (GID != iba::gid{}) text += fmt::format(" GID {}", GID);
        return text;
    };
    return fmt::format("{} in a packet from {} to {}, SL {}", format_key(p.is_pkey, p.key),
                       format_end(p.SLID, p.source_qp, p.SGID), format_end(p.DLID, p.destination_qp, p.DGID), p.SL);
}

void notice_text::add_packet(json& about, const packet& p) const {
    about[p.is_pkey ? "PKey" : "QKey"] = p.key;
    about["SL"] = p.SL;
    about["source"] = end(p, true);
    about["destination"] = end(p, false);
}

// ---- traps -----------------------------------------------------------------------------------------------------------

namespace {

template <class Packet> Packet packet_of(const iba::NoticeTrap257& d, bool is_pkey) {
    return {is_pkey,   is_pkey ? d.key & 0xffff : d.key, d.SL, d.lidAddr1, d.lidAddr2, d.qp1, d.qp2, d.gidAddr1,
            d.gidAddr2};
}
template <class Packet> Packet packet_of(const iba::NoticeTrap259& d) {
    return {true, d.PKey, d.SL, d.lidAddr1, d.lidAddr2, d.qp1, d.qp2, d.gidAddr1, d.gidAddr2};
}

} // namespace

std::string notice_text::about(const iba::Notice& n) const {
    switch (n.trapNumber) {
    case TrapNumber::GIDInService: return with_name(details_of<iba::NoticeTrap64>(n).gidAddr) + " is in service";
    case TrapNumber::GIDOutOfService: return with_name(details_of<iba::NoticeTrap64>(n).gidAddr) + " is out of service";
    case TrapNumber::MulticastGroupCreated:
        return fmt::format("multicast group {} was created", details_of<iba::NoticeTrap64>(n).gidAddr);
    case TrapNumber::MulticastGroupDeleted:
        return fmt::format("multicast group {} was deleted", details_of<iba::NoticeTrap64>(n).gidAddr);
    case TrapNumber::LinkStateChange:
        return fmt::format("the state of a link changed at the switch with {}",
                           with_name(details_of<iba::NoticeTrap128>(n).lidAddr));
    case TrapNumber::LinkIntegrityThreshold:
    case TrapNumber::BufferOverrunThreshold:
    case TrapNumber::FlowControlWatchdog: {
        const auto d = details_of<iba::NoticeTrap129>(n);
        return fmt::format("port {} of {} {}", d.portNum, with_name(d.lidAddr), format_threshold(n.trapNumber));
    }
    case TrapNumber::LocalChange: {
        const auto d = details_of<iba::NoticeTrap144>(n);
        return fmt::format("{}: {}", with_name(d.lidAddr), format_changes(d));
    }
    case TrapNumber::SystemImageGUIDChange: {
        const auto d = details_of<iba::NoticeTrap145>(n);
        return fmt::format("{}: the system image GUID changed to {}", with_name(d.lidAddr), d.systemImageGUID);
    }
    case TrapNumber::BadMKey: {
        const auto d = details_of<iba::NoticeTrap256>(n);
        std::string text = fmt::format("wrong M_Key in {} of {}, modifier 0x{:x}, from {}", format_method(d),
                                       format_attribute(d), d.attributeModifier, with_name(d.lidAddr));
        if (d.drNotice)
            text += fmt::format(" by directed route, drSLID {}, {} hops, return path {}{}", d.drSLID, d.drHopCount,
                                fmt::join(return_path_of(n, d), ","), d.drPathTruncated ? " (truncated)" : "");
        return text;
    }
    case TrapNumber::BadPKey:
    case TrapNumber::BadQKey:
        return "wrong " +
               packet_text(packet_of<packet>(details_of<iba::NoticeTrap257>(n), n.trapNumber == TrapNumber::BadPKey));
    case TrapNumber::BadPKeyAtSwitch: {
        const auto d = details_of<iba::NoticeTrap259>(n);
        return fmt::format("wrong {}; received at port {} of the switch with {}", packet_text(packet_of<packet>(d)),
                           d.portNum, with_name(d.swLidAddr));
    }
    default: return {};
    }
}

json notice_text::about_json(const iba::Notice& n) const {
    json about = json::object();
    switch (n.trapNumber) {
    case TrapNumber::GIDInService:
    case TrapNumber::GIDOutOfService: {
        const iba::gid GID = details_of<iba::NoticeTrap64>(n).gidAddr;
        about["GID"] = fmt::format("{}", GID);
        about.update(place(port_of(GID)));
        break;
    }
    case TrapNumber::MulticastGroupCreated:
    case TrapNumber::MulticastGroupDeleted:
        about["MGID"] = fmt::format("{}", details_of<iba::NoticeTrap64>(n).gidAddr);
        break;
    case TrapNumber::LinkStateChange: about = end(details_of<iba::NoticeTrap128>(n).lidAddr); break;
    case TrapNumber::LinkIntegrityThreshold:
    case TrapNumber::BufferOverrunThreshold:
    case TrapNumber::FlowControlWatchdog: {
        const auto d = details_of<iba::NoticeTrap129>(n);
        about = end(d.lidAddr);
        about["port"] = d.portNum;
        break;
    }
    case TrapNumber::LocalChange: {
        const auto d = details_of<iba::NoticeTrap144>(n);
        about = end(d.lidAddr);
        about["changed"] = json::array();
        for (const local_change& c : changes_of(d)) about["changed"].push_back(c.name);
        about["capabilityMask"] = d.capabilityMask;
        break;
    }
    case TrapNumber::SystemImageGUIDChange: {
        const auto d = details_of<iba::NoticeTrap145>(n);
        about = end(d.lidAddr);
        about["systemImageGUID"] = fmt::format("{}", d.systemImageGUID);
        break;
    }
    case TrapNumber::BadMKey: {
        const auto d = details_of<iba::NoticeTrap256>(n);
        about["source"] = end(d.lidAddr);
        about["method"] = format_method(d);
        about["attribute"] = format_attribute(d);
        about["attributeID"] = d.attributeID;
        about["attributeModifier"] = d.attributeModifier;
        if (d.drNotice)
            about["directed_route"] = {{"drSLID", value(d.drSLID)},
                                       {"hops", d.drHopCount},
                                       {"return_path", return_path_of(n, d)},
                                       {"truncated", d.drPathTruncated}};
        break;
    }
    case TrapNumber::BadPKey:
    case TrapNumber::BadQKey:
        add_packet(about, packet_of<packet>(details_of<iba::NoticeTrap257>(n), n.trapNumber == TrapNumber::BadPKey));
        break;
    case TrapNumber::BadPKeyAtSwitch: {
        const auto d = details_of<iba::NoticeTrap259>(n);
        add_packet(about, packet_of<packet>(d));
        about["switch"] = end(d.swLidAddr);
        about["switch"]["port"] = d.portNum;
        about["dataValid"] = d.dataValid;
        break;
    }
    default: break;
    }
    return about;
}

std::string notice_text::text(const iba::Notice& n) const {
    const std::string what = n.isGeneric ? about(n) : std::string();
    return fmt::format("notice {}{}{}; reported by {}", title_of(n), what.empty() ? "" : ": ", what,
                       with_name(n.issuerLID));
}

json notice_text::to_json(const iba::Notice& n) const {
    json line{{"notice", title_of(n)}, {"issuerLID", value(n.issuerLID)}};
    if (json issuer = place(lids_.at(n.issuerLID)); !issuer.empty()) line["issuer"] = std::move(issuer);
    line["type"] = name_or_plain_number(n.noticeType);
    if (!n.isGeneric) {
        line["vendorID"] = value(n.nodeType);
        line["deviceID"] = static_cast<u16>(n.trapNumber);
        return line;
    }
    line["trap"] = static_cast<u16>(n.trapNumber);
    if (json what = about_json(n); !what.empty()) line["about"] = std::move(what);
    return line;
}

} // namespace ibtool
