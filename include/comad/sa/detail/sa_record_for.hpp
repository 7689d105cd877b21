// SPDX-License-Identifier: MIT
// sa_record_for.hpp - maps attributes of SMPs to SA records: the query for the record, and the field that contains the attribute (IBA
// 14.2.5, 15.2.5). It sends nothing.
#pragma once
#include <comad/iba/detail/sa/records.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/smp.hpp>

namespace comad::sa {

/// The target of an SMP: the node that replies, and the attributeModifier.
struct smp_target {
    iba::lid LID{};         ///< the only LID of a switch, or the LID of the CA's port
    bool is_switch = false; ///< true: the modifier can select a port; the LID of a CA does so itself
    u32 modifier = 0;
};

/// How to handle ERR_NO_RECORDS. SAs keep no record of an empty block of a table.
enum class on_no_record : u8 {
    error,      ///< return the error
    empty_block ///< return zeros, as the reply to the SMP would contain
};

/// Describes the SA record that contains the attribute T. It is specialized for every attribute that the SA provides.
template <class T> struct sa_record_for;

/// True if the SA has a record with the attribute T.
template <class T>
concept known_to_sa = requires { typename sa_record_for<T>::record; };

/// The common part of most specializations of sa_record_for.
template <class Record, auto Attribute, on_no_record None = on_no_record::error> struct sa_record_with {
    using record = Record;
    static constexpr on_no_record if_no_record = None;
    static auto take(const Record& r) noexcept { return r.*Attribute; }
};

/// NodeInfo, in the NodeRecord of the LID.
template <>
struct sa_record_for<iba::smp::NodeInfo> : sa_record_with<iba::sa::NodeRecord, &iba::sa::NodeRecord::nodeInfo> {
    static iba::query<record> query_for(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

/// NodeDescription, in the NodeRecord of the LID.
template <>
struct sa_record_for<iba::smp::NodeDescription>
    : sa_record_with<iba::sa::NodeRecord, &iba::sa::NodeRecord::nodeDescription> {
    static iba::query<record> query_for(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

/// PortInfo. For a CA, the modifier 0 selects the port that receives the SMP, which the LID identifies.
template <>
struct sa_record_for<iba::smp::PortInfo> : sa_record_with<iba::sa::PortInfoRecord, &iba::sa::PortInfoRecord::portInfo> {
    static iba::query<record> query_for(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::endportLID>(t.LID);
        if (t.is_switch || t.modifier != 0) q.where<&record::portNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

/// SwitchInfo, in the SwitchInfoRecord of the LID.
template <>
struct sa_record_for<iba::smp::SwitchInfo>
    : sa_record_with<iba::sa::SwitchInfoRecord, &iba::sa::SwitchInfoRecord::switchInfo> {
    static iba::query<record> query_for(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

/// GUIDInfo. Modifier: block of 8 GUIDs.
template <>
struct sa_record_for<iba::smp::GUIDInfo> : sa_record_with<iba::sa::GUIDInfoRecord, &iba::sa::GUIDInfoRecord::GUIDInfo> {
    static iba::query<record> query_for(const smp_target& t) {
        return iba::query<record>{}.where<&record::LID>(t.LID).where<&record::blockNum>(static_cast<u8>(t.modifier));
    }
};

/// PKeyTable. Modifier: port of a switch << 16 | block of 32 P_Keys.
template <>
struct sa_record_for<iba::smp::PKeyTable>
    : sa_record_with<iba::sa::PKeyTableRecord, &iba::sa::PKeyTableRecord::PKeyTable, on_no_record::empty_block> {
    static iba::query<record> query_for(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::blockNum>(static_cast<u16>(t.modifier));
        if (t.is_switch) q.where<&record::portNum>(static_cast<u8>(t.modifier >> 16));
        return q;
    }
};

/// SLToVLMappingTable. Modifier, for a switch: input port << 8 | output port.
template <>
struct sa_record_for<iba::smp::SLToVLMappingTable>
    : sa_record_with<iba::sa::SLToVLMappingTableRecord, &iba::sa::SLToVLMappingTableRecord::SLToVLMappingTable,
                     on_no_record::empty_block> {
    static iba::query<record> query_for(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        if (!t.is_switch) return q;
        q.where<&record::inputPortNum>(static_cast<u8>(t.modifier >> 8));
        q.where<&record::outputPortNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

/// VLArbitrationTable. Modifier: block 1 to 4 << 16 | output port of a switch.
template <>
struct sa_record_for<iba::smp::VLArbitrationTable>
    : sa_record_with<iba::sa::VLArbitrationTableRecord, &iba::sa::VLArbitrationTableRecord::VLArbitrationTable,
                     on_no_record::empty_block> {
    static iba::query<record> query_for(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::blockNum>(static_cast<u8>(t.modifier >> 16));
        if (t.is_switch) q.where<&record::outputPortNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

/// LinearForwardingTable. Modifier: block of 64 LIDs. A missing block is an error: zeros would mean that all LIDs
/// leave through port 0.
template <>
struct sa_record_for<iba::smp::LinearForwardingTable>
    : sa_record_with<iba::sa::LinearForwardingTableRecord,
                     &iba::sa::LinearForwardingTableRecord::linearForwardingTable> {
    static iba::query<record> query_for(const smp_target& t) {
        return iba::query<record>{}.where<&record::LID>(t.LID).where<&record::blockNum>(static_cast<u16>(t.modifier));
    }
};

/// MulticastForwardingTable. Modifier: position of 16 ports << 28 | block of 32 LIDs (IBA 14.2.5.12).
template <>
struct sa_record_for<iba::smp::MulticastForwardingTable>
    : sa_record_with<iba::sa::MulticastForwardingTableRecord,
                     &iba::sa::MulticastForwardingTableRecord::multicastForwardingTable> {
    static iba::query<record> query_for(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::position>(static_cast<u8>(t.modifier >> 28));
        q.where<&record::blockNum>(static_cast<u16>(t.modifier & 0x1ff));
        return q;
    }
};

/// SMInfo, in the SMInfoRecord of the LID.
template <>
struct sa_record_for<iba::smp::SMInfo> : sa_record_with<iba::sa::SMInfoRecord, &iba::sa::SMInfoRecord::SMInfo> {
    static iba::query<record> query_for(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

} // namespace comad::sa
