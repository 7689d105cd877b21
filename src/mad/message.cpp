// SPDX-License-Identifier: MIT
// message.cpp - writes the MAD headers of requests and compares those of replies.
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/bm.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/cm.hpp>
#include <comad/iba/detail/dm.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/pm/counters.hpp>
#include <comad/iba/detail/pm/format.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/rmpp.hpp>
#include <comad/iba/detail/sa/format.hpp>
#include <comad/iba/detail/smp/format.hpp>
#include <comad/iba/detail/snmp.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstring>

namespace comad::mad {
namespace {

using iba::MADHeader;
using iba::Method;
using iba::MgmtClass;

// Returns the method of a reply: GetResp for Get and Set, GetTableResp for GetTable and GetTraceTable, and TrapRepress for Trap. The
// reply to any other method is the method with the response bit (IBA 13.4.5, 15.2.2).
constexpr Method response_to(Method method) noexcept {
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
    // GCC clears blocks of this size with vector instructions. For the whole MAD it would use a string instruction,
    // which takes longer.
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
        if (const auto* to_sa = std::get_if<IBPath>(&path)) iba::put<&iba::sa::Header::SMKey>(mad, to_sa->SMKey);
        iba::put<&iba::sa::Header::componentMask>(mad, component_mask);
    } else if (mgmt_class == MgmtClass::CongestionControl) {
        if (const auto* to = std::get_if<IBPath>(&path)) iba::put<&iba::cc::Format::CCKey>(mad, to->CCKey);
    } else if (iba::is_vendor_oui(mgmt_class)) {
        iba::put<&iba::vend::OUIFormat::OUI>(mad, kind.OUI);
    }
    return mad + payload_offset(mgmt_class, kind.attributeID);
}

u32 low_tid(const u8* mad) noexcept { return iba::load_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4); }
void set_low_tid(u8* mad, u32 tid) noexcept {
    iba::store_be<u32>(mad + iba::offset_of<&MADHeader::transactionID> + 4, tid);
}

namespace {

// The words are loaded from the MAD in memory order, and so are the masks.
static_assert(std::endian::native == std::endian::little);
constexpr u64 byte_mask(unsigned byte, u64 bits = 0xff) { return bits << 8 * byte; }
constexpr u64 version_mask = byte_mask(0), class_mask = byte_mask(1), method_mask = byte_mask(3);
constexpr u64 D_mask = byte_mask(4, 0x80), hop_count_mask = byte_mask(7);
constexpr u64 attribute_mask = byte_mask(0) | byte_mask(1), modifier_mask = ~u64{0} << 32;
constexpr u64 modifier_bit_0 = byte_mask(7, 1);

constexpr std::size_t attribute_at = iba::offset_of<&MADHeader::attributeID>;
constexpr std::size_t initial_path_at = iba::offset_of<&iba::smp::FormatDirected::initialPath>;

u64 word_at(const u8* mad, std::size_t offset) noexcept {
    u64 word;
    std::memcpy(&word, mad + offset, sizeof word);
    return word;
}
MgmtClass class_of(u64 header) noexcept { return MgmtClass{static_cast<u8>(header >> 8)}; }
bool is_directed(u64 header) noexcept { return class_of(header) == MgmtClass::SubnDirected; }

constexpr std::array<u8, 256> responses = [] {
    std::array<u8, 256> all{};
    for (unsigned m = 0; m < all.size(); ++m) all[m] = value(response_to(Method{static_cast<u8>(m)}));
    return all;
}();

/// Returns a mask of the hops in the first word of a route: hopCount bytes after the first byte, which is not a hop.
u64 hops_mask(u64 header) noexcept {
    const auto hopCount = static_cast<unsigned>(header >> 56);
    return (hopCount >= 7 ? ~u64{0} : ~(~u64{0} << 8 * (hopCount + 1))) & ~u64{0xff};
}

/// Returns 0 if the reply comes from the target. An unknown source, and the permissive LID, match every target.
u64 whence_differs(const reply_pattern& expected, const u8* reply, iba::lid SLID) noexcept {
    if (is_directed(expected.header))
        return (expected.whence ^ word_at(reply, initial_path_at)) & hops_mask(expected.header);
    const bool is_known = SLID != iba::lid{} && SLID != iba::permissive_lid;
    return is_known && expected.whence != value(iba::permissive_lid) ? expected.whence ^ value(SLID) : 0;
}

match difference(const reply_pattern& expected, const u8* reply, u64 header_differs, u64 attribute_differs,
                 u64 whence) noexcept {
    if ((header_differs & method_mask) && !iba::is_response(iba::get<&MADHeader::method>(reply)))
        return match::not_a_response;
    if (header_differs & version_mask) return match::wrong_version;
    if (header_differs & class_mask) return match::wrong_class;
    if (header_differs & method_mask) return match::wrong_method;
    if (header_differs & D_mask) return match::wrong_direction;
    if (header_differs || whence) return match::wrong_route;
    // In baseboard management a bit of the modifier is the response bit (IBA 16.2.1.1).
    if (class_of(expected.header) == MgmtClass::BM) attribute_differs &= ~modifier_bit_0;
    // The reply of a node that redirects requests contains a ClassPortInfo, whatever the request was (IBA 13.5.2).
    const bool is_redirect = iba::get<&MADHeader::attributeID>(reply) == iba::attribute_id<iba::ClassPortInfo> &&
                             (iba::get<&MADHeader::status>(reply) & iba::status_redirect) != 0;
    if (attribute_differs == 0 || is_redirect) return match::reply;
    return attribute_differs & attribute_mask ? match::wrong_attribute : match::wrong_modifier;
}

} // namespace

reply_pattern pattern_of_reply(const u8* request, const any_path& path) noexcept {
    const u64 first_word = word_at(request, 0);
    const u64 header = (first_word & ~method_mask) | u64{responses[request[3]]} << 24;
    const u64 attribute = word_at(request, attribute_at);
    if (is_directed(header)) return {header | D_mask, attribute, word_at(request, initial_path_at)};
    return {header, attribute, value(headers_of(path).DLID)};
}

match match_reply(const reply_pattern& expected, std::span<const u8> reply, iba::lid SLID, bool is_table) noexcept {
    constexpr std::size_t least_table = iba::wire_size<iba::rmpp::Header>;
    const bool has_any_length = is_table && !is_directed(expected.header);
    if (has_any_length ? reply.size() < least_table : reply.size() != mad_size) return match::wrong_size;
    constexpr u64 common = version_mask | class_mask | method_mask;
    const u64 mask = is_directed(expected.header) ? common | D_mask | hop_count_mask : common;
    const u64 header = (expected.header ^ word_at(reply.data(), 0)) & mask;
    const u64 attribute = (expected.attribute ^ word_at(reply.data(), attribute_at)) & (attribute_mask | modifier_mask);
    const u64 whence = whence_differs(expected, reply.data(), SLID);
    if ((header | attribute | whence) == 0) [[likely]]
        return match::reply;
    return difference(expected, reply.data(), header, attribute, whence);
}

bool return_path_matches(const IBDRPath& route, std::span<const u8> reply) noexcept {
    const u8* initialPath = reply.data() + initial_path_at;
    return std::equal(route.drPath.begin() + 1, route.drPath.begin() + 1 + route.hopCount, initialPath + 1);
}

namespace {

constexpr std::size_t PortSelect_at = iba::offset_of<&iba::pm::PortCounters::portSelect>;

/// Returns true for the performance management attributes that name their port in PortSelect, which is the same byte
/// in all of them.
bool has_PortSelect(u16 attributeID) {
    static const std::bitset<256> all = [] {
        std::bitset<256> found;
        for (const iba::structure& s : iba::structures()) {
            const auto is_counted = [](const iba::attribute_use& u) { return u.covers(MgmtClass::Performance); };
            if (s.attributeID >= found.size() || std::none_of(s.uses.begin(), s.uses.end(), is_counted)) continue;
            const auto field = iba::find_field(*s.info, "portSelect");
            found[s.attributeID] = field && field.value().off == 8 * PortSelect_at;
        }
        return found;
    }();
    return attributeID < all.size() && all[attributeID];
}

} // namespace

std::string broken_echo(std::span<const u8> request, std::span<const u8> reply) {
    const auto differs = [](const char* field, unsigned is, unsigned expected) {
        return fmt::format("its {} is {}, not {} as in the request", field, is, expected);
    };
    const u8 version = iba::get<&MADHeader::classVersion>(request.data());
    if (const u8 is = iba::get<&MADHeader::classVersion>(reply.data()); is != version)
        return differs("class version", is, version);
    const MgmtClass mgmt_class = iba::get<&MADHeader::mgmtClass>(request.data());
    if (iba::is_vendor_oui(mgmt_class) && reply.size() >= iba::wire_size<iba::vend::OUIFormat>) {
        const u32 OUI = iba::get<&iba::vend::OUIFormat::OUI>(request.data());
        if (const u32 is = iba::get<&iba::vend::OUIFormat::OUI>(reply.data()); is != OUI)
            return fmt::format("its OUI is 0x{:06x}, not 0x{:06x} as in the request", is, OUI);
    }
    const std::size_t at = payload_offset(mgmt_class) + PortSelect_at;
    if (mgmt_class == MgmtClass::Performance && reply.size() > at &&
        has_PortSelect(iba::get<&MADHeader::attributeID>(request.data()))) {
        const bool is_empty = reply[at] == 0 && iba::get<&MADHeader::method>(request.data()) == Method::Set;
        if (reply[at] != request[at] && !is_empty) return differs("PortSelect", reply[at], request[at]);
    }
    return {};
}

u16 status_of(const u8* mad) noexcept {
    if (iba::get<&MADHeader::mgmtClass>(mad) == MgmtClass::SubnDirected)
        return iba::get<&iba::MADHeaderDirected::status>(mad);
    return iba::get<&MADHeader::status>(mad);
}

std::optional<errc> evaluate(u16 status) noexcept {
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
