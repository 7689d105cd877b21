// SPDX-License-Identifier: MIT
// message.cpp - the MAD header as requests write it and replies answer it.
#include <comad/iba/enums.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/message.hpp>
#include <comad/mad/transport.hpp>

#include <fmt/format.h>

#include <cstring>

namespace comad::mad {
namespace {

using iba::MADHeader;
using iba::Method;
using iba::MgmtClass;

// GetResp answers Get and Set; every other method is answered by itself with the response bit (IBA 13.4.5).
Method response_to(Method method) noexcept {
    if (method == Method::Set) return Method::GetResp;
    return Method{static_cast<u8>(static_cast<u8>(method) | iba::response_bit)};
}

} // namespace

MgmtClass class_on(const rpc_kind& kind, const any_path& path) noexcept {
    return kind.mgmt_class == MgmtClass::SubnLID && directed(path) ? MgmtClass::SubnDirected : kind.mgmt_class;
}

std::size_t payload_offset(MgmtClass) noexcept { return iba::offset_of<&iba::smp::Format::data>; }

u8* write_request(u8* mad, const rpc_kind& kind, const any_path& path, u32 attributeModifier) noexcept {
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
    }
    return mad + payload_offset(mgmt_class);
}

u32 low_tid(const u8* mad) noexcept { return iba::load_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4); }
void set_low_tid(u8* mad, u32 tid) noexcept {
    iba::store_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4, tid);
}

match match_reply(const u8* request, std::span<const u8> reply) noexcept {
    if (reply.size() != mad_size) return match::wrong_size;
    const u8* r = reply.data();
    const Method method = iba::get<&MADHeader::method>(r);
    if (!iba::is_response(method)) return match::not_a_response;
    if (iba::get<&MADHeader::baseVersion>(r) != 1) return match::wrong_version;
    if (iba::get<&MADHeader::mgmtClass>(r) != iba::get<&MADHeader::mgmtClass>(request)) return match::wrong_class;
    if (method != response_to(iba::get<&MADHeader::method>(request))) return match::wrong_method;
    if (iba::get<&MADHeader::attributeID>(r) != iba::get<&MADHeader::attributeID>(request))
        return match::wrong_attribute;
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
