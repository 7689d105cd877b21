// SPDX-License-Identifier: MIT
// message.cpp - the MAD header as requests write it and replies answer it.
#include <comad/iba/bm.hpp>
#include <comad/iba/cc.hpp>
#include <comad/iba/class_port_info.hpp>
#include <comad/iba/cm.hpp>
#include <comad/iba/dm.hpp>
#include <comad/iba/enums.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/pm/format.hpp>
#include <comad/iba/rmpp.hpp>
#include <comad/iba/sa/format.hpp>
#include <comad/iba/smp/format.hpp>
#include <comad/iba/snmp.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/mad/message.hpp>
#include <comad/mad/transport.hpp>

#include <fmt/format.h>

#include <cstring>

namespace comad::mad {
namespace {

using iba::MADHeader;
using iba::Method;
using iba::MgmtClass;

// GetResp answers Get and Set, a table every question for one but GetMulti, TrapRepress a Trap; every other method is
// answered by itself with the response bit (IBA 13.4.5, 15.2.2).
Method response_to(Method method) noexcept {
    if (method == Method::Set) return Method::GetResp;
    if (method == Method::GetTraceTable) return Method::GetTableResp;
    if (method == Method::Trap) return Method::TrapRepress;
    return Method{static_cast<u8>(static_cast<u8>(method) | iba::response_bit)};
}

} // namespace

namespace {

template <auto Data> constexpr bool is_at(MgmtClass mgmt_class, u16 attributeID = 0) {
    return payload_offset(mgmt_class, attributeID) == iba::offset_of<Data>;
}
static_assert(is_at<&iba::smp::Format::data>(MgmtClass::SubnLID));
static_assert(is_at<&iba::smp::FormatDirected::data>(MgmtClass::SubnDirected));
static_assert(is_at<&iba::sa::Format::data>(MgmtClass::SubnAdm));
static_assert(is_at<&iba::pm::Format::data>(MgmtClass::Performance));
static_assert(is_at<&iba::bm::Format::data>(MgmtClass::BM));
static_assert(is_at<&iba::dm::Format::data>(MgmtClass::DevMgt));
static_assert(is_at<&iba::cm::Format::data>(MgmtClass::CommMgt));
static_assert(is_at<&iba::snmp::Format::data>(MgmtClass::SNMP));
static_assert(is_at<&iba::vend::Format::data>(MgmtClass::Vend));
static_assert(is_at<&iba::vend::OUIFormat::data>(MgmtClass::VendOUI));
static_assert(is_at<&iba::cc::Format::data>(MgmtClass::CongestionControl, iba::attribute_id<iba::cc::CongestionInfo>));
static_assert(is_at<&iba::cc::LogFormat::data>(MgmtClass::CongestionControl,
                                               iba::attribute_id<iba::cc::CongestionLogSwitch>));

} // namespace

std::optional<Method> response_method(Method method) noexcept {
    if (iba::is_response(method) || method == Method::Send || method == Method::TrapRepress) return std::nullopt;
    return response_to(method);
}

bool is_response(std::span<const u8> mad) noexcept {
    if (mad.size() < iba::wire_size<MADHeader>) return false;
    const Method method = iba::get<&MADHeader::method>(mad.data());
    if (iba::is_response(method) || method == Method::TrapRepress) return true;
    return iba::get<&MADHeader::mgmtClass>(mad.data()) == MgmtClass::BM &&
           (iba::get<&MADHeader::attributeModifier>(mad.data()) & 1) != 0;
}

bool is_rmpp(std::span<const u8> message) noexcept {
    if (message.size() < iba::wire_size<MADHeader>) return false;
    const MgmtClass mgmt_class = iba::get<&MADHeader::mgmtClass>(message.data());
    return has_rmpp(mgmt_class) && message.size() >= payload_offset(mgmt_class) &&
           (iba::get<&iba::rmpp::Header::RMPPFlags>(message.data()) & value(iba::RMPPFlag::Active)) != 0;
}

MgmtClass class_on(const rpc_kind& kind, const any_path& path) noexcept {
    return kind.mgmt_class == MgmtClass::SubnLID && directed(path) ? MgmtClass::SubnDirected : kind.mgmt_class;
}

u8* write_request(u8* mad, const rpc_kind& kind, const any_path& path, u32 attributeModifier,
                  u64 component_mask) noexcept {
    // In blocks that GCC clears with vectors: of the whole it would make a string instruction, which takes longer.
    for (u8* block = mad; block != mad + mad_size; block += 64) std::memset(block, 0, 64);
    const MgmtClass mgmt_class = class_on(kind, path);
    iba::put<&MADHeader::baseVersion>(mad, 1);
    iba::put<&MADHeader::mgmtClass>(mad, mgmt_class);
    iba::put<&MADHeader::classVersion>(mad, kind.class_version);
    iba::put<&MADHeader::method>(mad, kind.method);
    iba::put<&MADHeader::attributeID>(mad, kind.attributeID);
    iba::put<&MADHeader::attributeModifier>(mad, attributeModifier);
    if (mgmt_class == MgmtClass::SubnLID) {
        iba::put<&iba::smp::Format::MKey>(mad, headers_of(path).MKey);
    } else if (mgmt_class == MgmtClass::SubnDirected) {
        const IBDRPath& route = *directed(path);
        iba::put<&iba::MADHeaderDirected::hopCount>(mad, route.hopCount);
        iba::put<&iba::smp::FormatDirected::MKey>(mad, route.MKey);
        iba::put<&iba::smp::FormatDirected::drSLID>(mad, route.drSLID);
        iba::put<&iba::smp::FormatDirected::drDLID>(mad, route.drDLID);
        u8* initialPath = mad + iba::offset_of<&iba::smp::FormatDirected::initialPath>;
        for (unsigned at = 0; at <= route.hopCount; at += 8) {
            const u64 hops = route_word(route, at);
            std::memcpy(initialPath + at, &hops, sizeof hops);
        }
    } else if (mgmt_class == MgmtClass::SubnAdm) {
        if (const auto* to_SA = std::get_if<IBPath>(&path)) iba::put<&iba::sa::Header::SMKey>(mad, to_SA->SMKey);
        iba::put<&iba::sa::Header::componentMask>(mad, component_mask);
    } else if (mgmt_class == MgmtClass::CongestionControl) {
        if (const auto* to = std::get_if<IBPath>(&path)) iba::put<&iba::cc::Format::CCKey>(mad, to->CCKey);
    } else if (iba::is_vendor_OUI(mgmt_class)) {
        iba::put<&iba::vend::OUIFormat::OUI>(mad, kind.OUI);
    }
    return mad + payload_offset(mgmt_class, kind.attributeID);
}

u32 low_tid(const u8* mad) noexcept { return iba::load_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4); }
void set_low_tid(u8* mad, u32 tid) noexcept {
    iba::store_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4, tid);
}

match match_reply(const u8* request, std::span<const u8> reply, bool is_table) noexcept {
    constexpr std::size_t least_table = iba::wire_size<iba::rmpp::Header>;
    if (is_table ? reply.size() < least_table : reply.size() != mad_size) return match::wrong_size;
    const u8* r = reply.data();
    const Method method = iba::get<&MADHeader::method>(r);
    const Method expected = response_to(iba::get<&MADHeader::method>(request));
    if (!iba::is_response(method) && method != expected) return match::not_a_response;
    if (iba::get<&MADHeader::baseVersion>(r) != 1) return match::wrong_version;
    if (iba::get<&MADHeader::mgmtClass>(r) != iba::get<&MADHeader::mgmtClass>(request)) return match::wrong_class;
    if (method != expected) return match::wrong_method;
    const u16 attributeID = iba::get<&MADHeader::attributeID>(r);
    // Who redirects answers with a ClassPortInfo, whatever was asked for (IBA 13.5.2).
    const bool is_redirect = attributeID == iba::attribute_id<iba::ClassPortInfo> &&
                             (iba::get<&MADHeader::status>(r) & iba::status_redirect) != 0;
    if (attributeID != iba::get<&MADHeader::attributeID>(request) && !is_redirect) return match::wrong_attribute;
    return match::reply;
}

u16 status_of(const u8* mad) noexcept {
    if (iba::get<&MADHeader::mgmtClass>(mad) == MgmtClass::SubnDirected)
        return iba::get<&iba::MADHeaderDirected::status>(mad);
    return iba::get<&MADHeader::status>(mad);
}

std::optional<errc> judge(u16 status) noexcept {
    if (status & 0x1f) return errc::status;
    if (status) return errc::class_status;
    return std::nullopt;
}

std::string status_text(u16 status) {
    std::string text;
    const auto add = [&](std::string_view part) { text.append(text.empty() ? "" : ", ").append(part); };
    if (status & iba::status_busy) add("busy");
    if (status & iba::status_redirect) add("redirect");
    const iba::StatusCode code = iba::status_code(status);
    if (code != iba::StatusCode::None) add(iba::name_or_number(code));
    if (iba::class_status(status)) add(fmt::format("class specific {}", iba::class_status(status)));
    return text;
}

} // namespace comad::mad
