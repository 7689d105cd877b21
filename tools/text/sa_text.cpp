// SPDX-License-Identifier: MIT
// sa_text.cpp - formats SA records with the labels of saquery.
#include "text/sa_text.hpp"

#include "comad.hpp"
#include "text/diags_text.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <iterator>

namespace ibtool {
namespace {

namespace sa = iba::sa;

/// Formats lines with a label, dots up to the column of the values, and a value.
class dump {
public:
    dump(std::string_view title, unsigned column) : column_(column) { text_ = fmt::format("{}\n", title); }
    template <class... Args> dump& line(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), "\t\t{:.<{}}", label, column_);
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_ += '\n';
        return *this;
    }
    template <class... Args> dump& raw(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        return *this;
    }
    operator std::string() const { return text_; }

private:
    unsigned column_;
    std::string text_;
};

std::string format_gid(const iba::gid& g) { return fmt::format("{}", g); }

std::string format_key(keys which, std::string key) {
    return which == keys::shown ? std::move(key) : "<not displayed>";
}

/// Returns the bytes of a service key, which has the layout of a GID.
std::string format_bytes(const iba::gid& g) {
    return fmt::format("0x{:016x}{:016x}", g.prefix(), value(g.interface_id()));
}

std::string text_of(const std::array<u8, 64>& name) {
    const auto* begin = reinterpret_cast<const char*>(name.data());
    return iba::escaped(std::string_view(begin, strnlen(begin, name.size())));
}

} // namespace

std::string format_saquery(const sa::NodeRecord& r, std::string_view name) {
    const auto& n = r.nodeInfo;
    return dump("NodeRecord dump:", 24)
        .line("lid", "{}", value(r.LID))
        .line("reserved", "0x{:X}", r.reserved_16)
        .line("base_version", "0x{:X}", n.baseVersion)
        .line("class_version", "0x{:X}", n.classVersion)
        .line("node_type", "{}", format_node_type(n.nodeType))
        .line("num_ports", "{}", n.numPorts)
        .line("sys_guid", "{:#018x}", value(n.systemImageGUID))
        .line("node_guid", "{:#018x}", value(n.nodeGUID))
        .line("port_guid", "{:#018x}", value(n.portGUID))
        .line("partition_cap", "0x{:X}", n.partitionCap)
        .line("device_id", "0x{:X}", n.deviceID)
        .line("revision", "0x{:X}", n.revision)
        .line("port_num", "{}", n.localPortNum)
        .line("vendor_id", "0x{:X}", n.vendorID)
        .line("NodeDescription", "{}", name);
}

std::string format_saquery(const sa::PortInfoRecord& r, keys which) {
    return dump("PortInfoRecord dump:", 24)
        .raw("\tRID\n")
        .line("EndPortLid", "{}", value(r.endportLID))
        .line("PortNum", "{}", r.portNum)
        .line("Options", "{:#x}", r.reserved_24)
        .raw("\tPortInfo dump:\n{}", indented(format_diags(r.portInfo, which == keys::shown)));
}

std::string format_saquery_short(const sa::PortInfoRecord& r) {
    return dump("PortInfoRecord dump:", 24)
        .line("EndPortLid", "{}", value(r.endportLID))
        .line("PortNum", "{}", r.portNum)
        .line("base_lid", "{}", value(r.portInfo.LID))
        .line("master_sm_base_lid", "{}", value(r.portInfo.masterSMLID))
        .line("capability_mask", "0x{:X}", r.portInfo.capabilityMask);
}

std::string format_saquery(const sa::SwitchInfoRecord& r) {
    const auto& s = r.switchInfo;
    const auto bytes = iba::encode(s);
    return dump("SwitchInfoRecord dump:", 40)
        .raw("\t\tRID\n")
        .line("LID", "{}", value(r.LID))
        .raw("\t\tSwitchInfo dump:\n")
        .line("LinearFDBCap", "0x{:X}", s.linearFDBCap)
        .line("RandomFDBCap", "0x{:X}", s.randomFDBCap)
        .line("MulticastFDBCap", "0x{:X}", s.multicastFDBCap)
        .line("LinearFDBTop", "0x{:X}", s.linearFDBTop)
        .line("DefaultPort", "{}", s.defaultPort)
        .line("DefaultMulticastPrimaryPort", "{}", s.defaultMulticastPrimaryPort)
        .line("DefaultMulticastNotPrimaryPort", "{}", s.defaultMulticastNotPrimaryPort)
        .line("LifeTimeValue/PortStateChange/OpSL2VL", "0x{:X}", bytes[11])
        .line("LIDsPerPort", "0x{:X}", s.LIDsPerPort)
        .line("PartitionEnforcementCap", "0x{:X}", s.partitionEnforcementCap)
        .line("flags", "0x{:X}", bytes[16])
        .line("MulticastFDBTop", "0x{:X}", s.multicastFDBTop);
}

std::string format_saquery(const sa::SMInfoRecord& r, keys which) {
    const auto& s = r.SMInfo;
    return dump("SMInfoRecord dump:", 22)
        .raw("\t\tRID\n")
        .line("LID", "{}", value(r.LID))
        .raw("\t\tSMInfo dump:\n")
        .line("GUID", "{:#018x}", value(s.GUID))
        .line("SM_Key", "{}", format_key(which, fmt::format("{:#018x}", s.SMKey)))
        .line("ActCount", "{}", s.actCount)
        .line("Priority", "{}", s.priority)
        .line("SMState", "{}", value(s.SMState));
}

std::string format_saquery(const sa::LinkRecord& r) {
    return dump("LinkRecord dump:", 27)
        .line("FromLID", "{}", value(r.fromLID))
        .line("FromPort", "{}", r.fromPort)
        .line("ToPort", "{}", r.toPort)
        .line("ToLID", "{}", value(r.toLID));
}

std::string format_saquery(const sa::PathRecord& r) {
    const auto bytes = iba::encode(r);
    const u8* p = bytes.data();
    return dump("PathRecord dump:", 24)
        .line("service_id", "{:#018x}", r.serviceID)
        .line("dgid", "{}", format_gid(r.DGID))
        .line("sgid", "{}", format_gid(r.SGID))
        .line("dlid", "{}", value(r.DLID))
        .line("slid", "{}", value(r.SLID))
        .line("hop_flow_raw", "0x{:X}", iba::load_be<u32>(p + 44))
        .line("tclass", "0x{:X}", r.TClass)
        .line("num_path_revers", "0x{:X}", p[49])
        .line("pkey", "0x{:X}", r.PKey)
        .line("qos_class", "0x{:X}", r.QOSClass)
        .line("sl", "0x{:X}", r.SL)
        .line("mtu", "0x{:X}", p[54])
        .line("rate", "0x{:X}", p[55])
        .line("pkt_life", "0x{:X}", p[56])
        .line("preference", "0x{:X}", r.preference)
        .line("resv2", "0x{:012X}", iba::load_bytes<6>(p + 58));
}

std::string format_saquery(const sa::MCMemberRecord& r) {
    const auto bytes = iba::encode(r);
    const u8* p = bytes.data();
    return dump("MCMember Record dump:", 24)
        .line("MGID", "{}", format_gid(r.MGID))
        .line("PortGid", "{}", format_gid(r.portGID))
        .line("qkey", "{:#x}", r.QKey)
        .line("mlid", "{:#x}", value(r.MLID))
        .line("mtu", "{:#x}", p[38])
        .line("TClass", "{:#x}", r.TClass)
        .line("pkey", "{:#x}", r.PKey)
        .line("rate", "{:#x}", p[42])
        .line("pkt_life", "{:#x}", p[43])
        .line("SL", "{:#x}", r.SL)
        .line("FlowLabel", "{:#x}", r.flowLabel)
        .line("HopLimit", "{:#x}", r.hopLimit)
        .line("Scope", "{:#x}", r.scope)
        .line("JoinState", "{:#x}", r.joinState)
        .line("ProxyJoin", "{:#x}", static_cast<unsigned>(r.proxyJoin));
}

std::string format_saquery_group(const sa::MCMemberRecord& r) {
    const auto bytes = iba::encode(r);
    return dump("MCMemberRecord group dump:", 24)
        .line("MGID", "{}", format_gid(r.MGID))
        .line("Mlid", "0x{:X}", value(r.MLID))
        .line("Mtu", "0x{:X}", bytes[38])
        .line("pkey", "0x{:X}", r.PKey)
        .line("Rate", "0x{:X}", bytes[42])
        .line("SL", "0x{:X}", r.SL);
}

std::string format_saquery_member(const sa::MCMemberRecord& r, std::string_view name) {
    return dump("MCMemberRecord member dump:", 24)
        .line("MGID", "{}", format_gid(r.MGID))
        .line("Mlid", "0x{:X}", value(r.MLID))
        .line("PortGid", "{}", format_gid(r.portGID))
        .line("ScopeState", "0x{:X}", iba::encode(r)[48])
        .line("ProxyJoin", "0x{:X}", static_cast<unsigned>(r.proxyJoin))
        .line("NodeDescription", "{}", name);
}

std::string format_saquery(const sa::ServiceRecord& r, keys which) {
    dump d("ServiceRecord dump:", 24);
    d.line("ServiceID", "{:#018x}", r.serviceID)
        .line("ServiceGID", "{}", format_gid(r.serviceGID))
        .line("ServiceP_Key", "0x{:X}", r.servicePKey)
        .line("ServiceLease", "0x{:X}", r.serviceLease)
        .line("ServiceKey", "{}", format_key(which, format_bytes(r.serviceKey)))
        .line("ServiceName", "{}", text_of(r.serviceName));
    const auto add = [&](unsigned bits, const auto& list, unsigned digits) {
        for (std::size_t i = 0; i < list.size(); ++i)
            d.line(fmt::format("ServiceData{}.{}", bits, i + 1), "0x{:0{}X}", list[i], digits);
    };
    add(8, r.serviceData8, 1);
    add(16, r.serviceData16, 1);
    add(32, r.serviceData32, 1);
    for (std::size_t i = 0; i < r.serviceData64.size(); ++i)
        d.line(fmt::format("ServiceData64.{}", i + 1), "{:#018x}", r.serviceData64[i]);
    return d;
}

std::string format_saquery(const sa::InformInfoRecord& r, keys which) {
    const auto& i = r.informInfo;
    return dump("InformInfoRecord dump:", 24)
        .raw("\t\tRID\n")
        .line("SubscriberGID", "{}", format_gid(r.subscriberGID))
        .line("SubscriberEnum", "0x{:X}", r.enumeration)
        .raw("\t\tInformInfo dump:\n")
        .line("gid", "{}", format_gid(i.GID))
        .line("lid_range_begin", "{}", value(i.LIDRangeBegin))
        .line("lid_range_end", "{}", value(i.LIDRangeEnd))
        .line("is_generic", "0x{:X}", i.isGeneric)
        .line("subscribe", "0x{:X}", i.subscribe)
        .line("trap_type", "0x{:X}", i.type)
        .line(i.isGeneric ? "trap_num" : "dev_id", "{}",
              i.isGeneric ? fmt::format("{}", i.trapNumber) : fmt::format("0x{:X}", i.trapNumber))
        .line("qpn", "{}", format_key(which, fmt::format("0x{:06X}", i.QPN)))
        .line("resp_time_val", "0x{:X}", i.respTimeValue)
        .line(i.isGeneric ? "node_type" : "vendor_id", "0x{:06X}", i.producerType);
}

std::string format_saquery(const sa::LinearForwardingTableRecord& r) {
    dump d("LFT Record dump:", 27);
    d.line("LID", "{}", value(r.LID)).line("Block", "{}", r.blockNum).raw("\t\tLFT:\n\t\tLID\tPort Number\n");
    const auto bytes = iba::encode(r.linearForwardingTable);
    for (std::size_t i = 0; i < bytes.size(); ++i) d.raw("\t\t{}\t{}\n", r.blockNum * bytes.size() + i, bytes[i]);
    return d.raw("\n");
}

std::string format_saquery(const sa::MulticastForwardingTableRecord& r) {
    dump d("MFT Record dump:", 27);
    d.line("LID", "{}", value(r.LID)).line("Position", "{}", r.position).line("Block", "{}", r.blockNum);
    d.raw("\t\tMFT:\n\t\tMLID\tPort Mask\n");
    const auto bytes = iba::encode(r.multicastForwardingTable);
    for (std::size_t i = 0; i < bytes.size() / 2; ++i)
        d.raw("\t\t0x{:04x}\t0x{:04x}\n", 0xc000 + r.blockNum * 32u + i, iba::load_be<u16>(bytes.data() + 2 * i));
    return d.raw("\n");
}

std::string format_saquery(const sa::SLToVLMappingTableRecord& r) {
    dump d("SL2VLTableRecord dump:", 27);
    d.line("LID", "{}", value(r.LID)).line("InPort", "{}", r.inputPortNum).line("OutPort", "{}", r.outputPortNum);
    const auto bytes = iba::encode(r.SLToVLMappingTable);
    d.raw("\t\tSL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|\n\t\tVL:");
    for (unsigned sl = 0; sl < 16; ++sl) d.raw("{:2}|", iba::bits_at(bytes.data(), sl * 4, 4));
    return d.raw("\n");
}

std::string format_saquery(const sa::PKeyTableRecord& r) {
    dump d("PKeyTableRecord dump:", 27);
    d.line("LID", "{}", value(r.LID))
        .line("Port", "{}", r.portNum)
        .line("Block", "{}", r.blockNum)
        .raw("\t\tPKey Table:\n");
    const auto bytes = iba::encode(r.PKeyTable);
    for (std::size_t i = 0; i < bytes.size() / 2; ++i)
        d.raw("{}0x{:04x}{}", i % 8 == 0 ? "\t\t" : " ", iba::load_be<u16>(bytes.data() + 2 * i),
              i % 8 == 7 ? "\n" : "");
    return d.raw("\n");
}

std::string format_saquery(const sa::VLArbitrationTableRecord& r) {
    dump d("VLArbTableRecord dump:", 27);
    d.line("LID", "{}", value(r.LID)).line("Port", "{}", r.outputPortNum).line("Block", "{}", r.blockNum);
    const auto bytes = iba::encode(r.VLArbitrationTable);
    for (unsigned row = 0; row < 2; ++row) {
        d.raw("\t\tVL    :");
        for (unsigned i = 0; i < 16; ++i) d.raw("{:2}|", bytes[row * 32 + i * 2] & 0xf);
        d.raw("\n\t\tWeight:");
        for (unsigned i = 0; i < 16; ++i) d.raw("{:2}|", bytes[row * 32 + i * 2 + 1]);
        d.raw("\n");
    }
    return d;
}

std::string format_saquery(const sa::GUIDInfoRecord& r) {
    dump d("GUIDInfo Record dump:", 27);
    d.line("LID", "{}", value(r.LID)).line("Block", "{}", r.blockNum);
    const auto bytes = iba::encode(r.GUIDInfo);
    for (unsigned i = 0; i < 8; ++i)
        d.line(fmt::format("GUID {}", i), "{:#018x}", iba::load_be<u64>(bytes.data() + 8 * i));
    return d;
}

std::string format_saquery(const sa::RandomForwardingTableRecord& r) {
    dump d("RFT Record dump:", 27);
    d.line("LID", "{}", value(r.LID))
        .line("Block", "{}", r.blockNum)
        .raw("\t\tRFT:\n\t\tLID\tLMC\tValid\tPort Number\n");
    for (const auto& e : r.randomForwardingTable.LIDPortBlock)
        d.raw("\t\t{}\t{}\t{}\t{}\n", value(e.LID), e.LMC, e.valid ? 1 : 0, e.port);
    return d.raw("\n");
}

std::string format_saquery(const sa::ServiceAssociationRecord& r, keys which) {
    return dump("ServiceAssociationRecord dump:", 24)
        .line("ServiceKey", "{}", format_key(which, format_bytes(r.serviceKey)))
        .line("ServiceName", "{}", text_of(r.serviceName));
}

std::string format_saquery(const iba::ClassPortInfo& c) {
    const auto bytes = iba::encode(c);
    const u8* p = bytes.data();
    const auto hex = [](u32 word) { return fmt::format("0x{:08X}", word); };
    return dump("SA ClassPortInfo:", 25)
        .line("Base version", "{}", c.baseVersion)
        .line("Class version", "{}", c.classVersion)
        .line("Capability mask", "0x{:04X}", c.capabilityMask)
        .line("Capability mask 2", "0x{:08X}", c.capabilityMask2)
        .line("Response time value", "0x{:02X}", c.respTimeValue)
        .line("Redirect GID", "{}", format_gid(c.redirectGID))
        .line("Redirect TC/SL/FL", "{}", hex(iba::load_be<u32>(p + 24)))
        .line("Redirect LID", "{}", value(c.redirectLID))
        .line("Redirect PKey", "0x{:04X}", c.redirectPKey)
        .line("Redirect QP", "0x{:08X}", c.redirectQP)
        .line("Redirect QKey", "0x{:08X}", c.redirectQKey)
        .line("Trap GID", "{}", format_gid(c.trapGID))
        .line("Trap TC/SL/FL", "{}", hex(iba::load_be<u32>(p + 56)))
        .line("Trap LID", "{}", value(c.trapLID))
        .line("Trap PKey", "0x{:04X}", c.trapPKey)
        .line("Trap HL/QP", "{}", hex(iba::load_be<u32>(p + 64)))
        .line("Trap QKey", "0x{:08X}", c.trapQKey);
}

} // namespace ibtool
