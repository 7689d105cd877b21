// SPDX-License-Identifier: MIT
// traps.cpp - makes the notices of traps 256 to 258, which report wrong keys.
#include "traps.hpp"

#include <comad/iba/detail/smp/format.hpp>

#include <algorithm>

namespace comad::transports::sim {
namespace {

using directed_header = iba::MADHeaderDirected;
using iba::smp::FormatDirected;

iba::Notice security_notice(iba::TrapNumber number) noexcept {
    iba::Notice n;
    n.isGeneric = true;
    n.noticeType = iba::NoticeType::Security;
    n.trapNumber = number;
    return n;
}

iba::Notice bad_key(iba::TrapNumber number, const mad::IBPath& headers, u32 key) noexcept {
    iba::NoticeTrap257 details;
    details.lidAddr1 = headers.SLID;
    details.lidAddr2 = headers.DLID;
    details.key = key;
    details.SL = headers.SL;
    details.qp1 = headers.sqpn;
    details.qp2 = headers.dqpn;
    if (headers.has_grh) {
        details.gidAddr1 = headers.SGID;
        details.gidAddr2 = headers.DGID;
    }
    iba::Notice n = security_notice(number);
    iba::encode(details, n.dataDetails.data());
    return n;
}

} // namespace

iba::Notice bad_mkey(std::span<const u8, mad::mad_size> smp, iba::lid SLID) noexcept {
    const u8* m = smp.data();
    iba::NoticeTrap256 details;
    details.lidAddr = SLID;
    details.method = value(iba::get<&iba::MADHeader::method>(m));
    details.attributeID = iba::get<&iba::MADHeader::attributeID>(m);
    details.attributeModifier = iba::get<&iba::MADHeader::attributeModifier>(m);
    details.MKey = iba::get<&iba::smp::Format::MKey>(m);
    iba::Notice n = security_notice(iba::TrapNumber::BadMKey);
    if (iba::get<&iba::MADHeader::mgmtClass>(m) != iba::MgmtClass::SubnDirected) {
        iba::encode(details, n.dataDetails.data());
        return n;
    }
    constexpr std::size_t room =
        iba::wire_size<iba::NoticeTrap256> - iba::offset_of<&iba::NoticeTrap256::drNoticeReturnPath0>;
    const std::size_t hops = iba::get<&directed_header::hopCount>(m), kept = std::min(hops, room);
    details.drSLID = iba::get<&FormatDirected::drSLID>(m);
    details.drNotice = true;
    details.drPathTruncated = hops > room;
    details.drHopCount = static_cast<u8>(kept);
    iba::encode(details, n.dataDetails.data());
    const u8* const path = m + iba::offset_of<&FormatDirected::returnPath> + 1;
    std::copy_n(path, kept, n.dataDetails.end() - static_cast<std::ptrdiff_t>(room));
    return n;
}

iba::Notice bad_pkey(const mad::IBPath& headers) noexcept {
    return bad_key(iba::TrapNumber::BadPKey, headers, headers.pkey);
}
iba::Notice bad_qkey(const mad::IBPath& headers) noexcept {
    return bad_key(iba::TrapNumber::BadQKey, headers, headers.qkey);
}

} // namespace comad::transports::sim
