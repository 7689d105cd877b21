// SPDX-License-Identifier: MIT
// equivalents.hpp - which SA record tells what an SMP would: how to ask for it, and where in it the attribute is
// (IBA 14.2.5, 15.2.5). Asks nobody.
#pragma once
#include <comad/iba/detail/sa/records.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/smp.hpp>

namespace comad::sa {

/// What an SMP is about: the node that answers it, and its attributeModifier.
struct smp_target {
    iba::lid LID{};         ///< of a switch its only one, of a CA that of the port
    bool is_switch = false; ///< the modifier may name a port; a CA's LID does
    u32 modifier = 0;
};

/// What NO_RECORDS means. SAs keep no record of a block that is empty, though the table has it.
enum class if_none : u8 {
    error,      ///< there is no such thing
    empty_block ///< zeros, as the SMP would say
};

/// Specialised for every attribute that the SA knows.
template <class T> struct equivalent;

template <class T>
concept known_to_sa = requires { typename equivalent<T>::record; };

/// What most equivalents are made of.
template <class Record, auto Attribute, if_none None = if_none::error> struct equivalent_in {
    using record = Record;
    static constexpr if_none none = None;
    static auto take(const Record& r) noexcept { return r.*Attribute; }
};

template <> struct equivalent<iba::smp::NodeInfo> : equivalent_in<iba::sa::NodeRecord, &iba::sa::NodeRecord::nodeInfo> {
    static iba::query<record> ask(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

template <>
struct equivalent<iba::smp::NodeDescription>
    : equivalent_in<iba::sa::NodeRecord, &iba::sa::NodeRecord::nodeDescription> {
    static iba::query<record> ask(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

/// Of a CA the modifier 0 means the port that is asked, and its LID tells which that is.
template <>
struct equivalent<iba::smp::PortInfo> : equivalent_in<iba::sa::PortInfoRecord, &iba::sa::PortInfoRecord::portInfo> {
    static iba::query<record> ask(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::endportLID>(t.LID);
        if (t.is_switch || t.modifier != 0) q.where<&record::portNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

template <>
struct equivalent<iba::smp::SwitchInfo>
    : equivalent_in<iba::sa::SwitchInfoRecord, &iba::sa::SwitchInfoRecord::switchInfo> {
    static iba::query<record> ask(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

template <>
struct equivalent<iba::smp::GUIDInfo> : equivalent_in<iba::sa::GUIDInfoRecord, &iba::sa::GUIDInfoRecord::GUIDInfo> {
    static iba::query<record> ask(const smp_target& t) {
        return iba::query<record>{}.where<&record::LID>(t.LID).where<&record::blockNum>(static_cast<u8>(t.modifier));
    }
};

/// Modifier: port of a switch << 16 | block of 32 keys.
template <>
struct equivalent<iba::smp::PKeyTable>
    : equivalent_in<iba::sa::PKeyTableRecord, &iba::sa::PKeyTableRecord::PKeyTable, if_none::empty_block> {
    static iba::query<record> ask(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::blockNum>(static_cast<u16>(t.modifier));
        if (t.is_switch) q.where<&record::portNum>(static_cast<u8>(t.modifier >> 16));
        return q;
    }
};

/// Modifier: input port << 8 | output port, of a switch.
template <>
struct equivalent<iba::smp::SLToVLMappingTable>
    : equivalent_in<iba::sa::SLToVLMappingTableRecord, &iba::sa::SLToVLMappingTableRecord::SLToVLMappingTable,
                    if_none::empty_block> {
    static iba::query<record> ask(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        if (!t.is_switch) return q;
        q.where<&record::inputPortNum>(static_cast<u8>(t.modifier >> 8));
        q.where<&record::outputPortNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

/// Modifier: block 1 to 4 << 16 | output port of a switch.
template <>
struct equivalent<iba::smp::VLArbitrationTable>
    : equivalent_in<iba::sa::VLArbitrationTableRecord, &iba::sa::VLArbitrationTableRecord::VLArbitrationTable,
                    if_none::empty_block> {
    static iba::query<record> ask(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::blockNum>(static_cast<u8>(t.modifier >> 16));
        if (t.is_switch) q.where<&record::outputPortNum>(static_cast<u8>(t.modifier));
        return q;
    }
};

/// A missing block is no record: zeros would say that port 0 leads everywhere.
template <>
struct equivalent<iba::smp::LinearForwardingTable>
    : equivalent_in<iba::sa::LinearForwardingTableRecord,
                    &iba::sa::LinearForwardingTableRecord::linearForwardingTable> {
    static iba::query<record> ask(const smp_target& t) {
        return iba::query<record>{}.where<&record::LID>(t.LID).where<&record::blockNum>(static_cast<u16>(t.modifier));
    }
};

/// Modifier: position of 16 ports << 28 | block of 32 LIDs (IBA 14.2.5.12).
template <>
struct equivalent<iba::smp::MulticastForwardingTable>
    : equivalent_in<iba::sa::MulticastForwardingTableRecord,
                    &iba::sa::MulticastForwardingTableRecord::multicastForwardingTable> {
    static iba::query<record> ask(const smp_target& t) {
        auto q = iba::query<record>{}.where<&record::LID>(t.LID);
        q.where<&record::position>(static_cast<u8>(t.modifier >> 28));
        q.where<&record::blockNum>(static_cast<u16>(t.modifier & 0x1ff));
        return q;
    }
};

template <> struct equivalent<iba::smp::SMInfo> : equivalent_in<iba::sa::SMInfoRecord, &iba::sa::SMInfoRecord::SMInfo> {
    static iba::query<record> ask(const smp_target& t) { return iba::query<record>{}.where<&record::LID>(t.LID); }
};

} // namespace comad::sa
