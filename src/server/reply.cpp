// SPDX-License-Identifier: MIT
// reply.cpp - makes the replies of a server from their requests.
#include <comad/iba/detail/sa/format.hpp>
#include <comad/iba/detail/smp/format.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/server/detail/reply.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace comad::server {
namespace {

using iba::MADHeader;
using iba::MADHeaderDirected;
using iba::Method;
using iba::MgmtClass;
using rmpp_header = iba::rmpp::Header;

MgmtClass class_of(std::span<const u8> mad) noexcept { return iba::get<&MADHeader::mgmtClass>(mad.data()); }
u16 whole_status(u16 status, u8 class_status) noexcept { return static_cast<u16>(status | class_status << 8); }

/// Returns the first MAD of a request. A shorter request is padded with zeros.
mad_bytes copy_of(std::span<const u8> request) noexcept {
    mad_bytes mad{};
    std::copy_n(request.begin(), std::min(request.size(), mad.size()), mad.begin());
    return mad;
}

std::size_t payload_begin(std::span<const u8> mad) noexcept {
    return mad::payload_offset(class_of(mad), iba::get<&MADHeader::attributeID>(mad.data()));
}
/// Returns the end of the payload. In directed-route SMPs, the paths follow the payload.
std::size_t payload_end(std::span<const u8> mad) noexcept {
    return class_of(mad) == MgmtClass::SubnDirected ? iba::offset_of<&iba::smp::FormatDirected::initialPath>
                                                    : mad::mad_size;
}

} // namespace

bool turn_into_reply(std::span<u8, mad::mad_size> mad, u16 status) noexcept {
    u8* m = mad.data();
    const Method request_method = iba::get<&MADHeader::method>(m);
    const auto method = mad::response_method(request_method);
    if (!method || mad::is_response(mad) || (request_method == Method::Trap && status != 0)) return false;
    const MgmtClass mgmt_class = class_of(mad);
    iba::put<&MADHeader::baseVersion>(m, 1);
    iba::put<&MADHeader::method>(m, *method);
    if (mgmt_class == MgmtClass::SubnDirected) {
        iba::put<&MADHeaderDirected::D>(m, true);
        iba::put<&MADHeaderDirected::status>(m, static_cast<u16>(status & 0x7fff));
        iba::put<&MADHeaderDirected::hopPointer>(m, static_cast<u8>(iba::get<&MADHeaderDirected::hopCount>(m) + 1));
        iba::put<&iba::smp::FormatDirected::MKey>(m, 0);
    } else {
        iba::put<&MADHeader::status>(m, status);
        if (mgmt_class == MgmtClass::SubnLID) iba::put<&iba::smp::Format::MKey>(m, 0);
    }
    if (mad::has_rmpp(mgmt_class)) {
        iba::put<&rmpp_header::RMPPType>(m, iba::RMPPType::None);
        iba::put<&rmpp_header::RMPPFlags>(m, 0);
        iba::put<&rmpp_header::RMPPStatus>(m, 0);
        iba::put<&rmpp_header::data1>(m, 0);
        iba::put<&rmpp_header::data2>(m, 0);
    }
    if (mgmt_class == MgmtClass::SubnAdm) {
        iba::put<&iba::sa::Header::SMKey>(m, 0); // C15-0.1.5
        iba::put<&iba::sa::Header::attributeOffset>(m, 0);
    }
    return true;
}

std::optional<mad_bytes> make_reply(std::span<const u8> request, std::span<const u8> payload, u32 attributeModifier,
                                    u16 status, u8 class_status) noexcept {
    mad_bytes mad = copy_of(request);
    if (!turn_into_reply(mad, whole_status(status, class_status))) return std::nullopt;
    iba::put<&MADHeader::attributeModifier>(mad.data(), attributeModifier);
    if (class_of(mad) == MgmtClass::SubnAdm)
        iba::put<&iba::sa::Header::attributeOffset>(mad.data(), mad::attribute_offset_of(payload.size()));
    const std::size_t begin = payload_begin(mad), end = payload_end(mad);
    assert(payload.size() <= end - begin);
    const auto rest = std::copy(payload.begin(), payload.end(), mad.begin() + static_cast<std::ptrdiff_t>(begin));
    std::fill(rest, mad.begin() + static_cast<std::ptrdiff_t>(end), u8{0});
    return mad;
}

std::optional<mad_bytes> make_error(std::span<const u8> request, u16 status, u8 class_status) noexcept {
    mad_bytes mad = copy_of(request);
    if (!turn_into_reply(mad, whole_status(status & 0x1f, class_status))) return std::nullopt;
    return mad;
}

std::vector<u8> make_long_reply(std::span<const u8> request, std::span<const u8> data) {
    mad_bytes mad = copy_of(request);
    if (!turn_into_reply(mad)) return {};
    assert(mad::has_rmpp(class_of(mad)));
    const std::size_t begin = payload_begin(mad);
    const std::size_t class_header = begin - iba::wire_size<rmpp_header>;
    const std::size_t segment = mad::mad_size - begin;
    const std::size_t segments = std::max<std::size_t>(1, (data.size() + segment - 1) / segment);
    const u8 flags = value(iba::RMPPFlag::Active) | value(iba::RMPPFlag::First);
    iba::put<&rmpp_header::RMPPVersion>(mad.data(), 1);
    iba::put<&rmpp_header::RMPPType>(mad.data(), iba::RMPPType::DATA);
    iba::put<&rmpp_header::RMPPFlags>(mad.data(), segments == 1 ? flags | value(iba::RMPPFlag::Last) : flags);
    iba::put<&rmpp_header::data1>(mad.data(), 1);
    iba::put<&rmpp_header::data2>(mad.data(), static_cast<u32>(data.size() + segments * class_header));

    std::vector<u8> message(begin + data.size());
    std::copy_n(mad.begin(), begin, message.begin());
    std::copy(data.begin(), data.end(), message.begin() + static_cast<std::ptrdiff_t>(begin));
    return message;
}

std::vector<u8> make_table_reply(std::span<const u8> request, std::span<const u8> records, std::size_t record_size) {
    assert(record_size != 0 && records.size() % record_size == 0);
    const u16 offset = mad::attribute_offset_of(record_size);
    const std::size_t stride = offset * std::size_t{8};
    std::vector<u8> data;
    if (stride != record_size) {
        data.resize(records.size() / record_size * stride);
        for (std::size_t from = 0, to = 0; from < records.size(); from += record_size, to += stride)
            std::memcpy(data.data() + to, records.data() + from, record_size);
        records = data;
    }
    std::vector<u8> message = make_long_reply(request, records);
    if (!message.empty() && !records.empty()) iba::put<&iba::sa::Header::attributeOffset>(message.data(), offset);
    return message;
}

mad::any_path reply_path(std::span<const u8> request, const mad::source_address& source) noexcept {
    if (request.size() == mad::mad_size && class_of(request) == MgmtClass::SubnDirected) {
        mad::IBDRPath came;
        came.SLID = source.SLID;
        came.SL = source.SL;
        came.pkey = source.pkey;
        came.pkey_index = source.pkey_index;
        came.sqpn = source.sqpn;
        came.drSLID = iba::get<&iba::smp::FormatDirected::drSLID>(request.data());
        came.drDLID = iba::get<&iba::smp::FormatDirected::drDLID>(request.data());
        came.hopCount = std::min<u8>(iba::get<&MADHeaderDirected::hopCount>(request.data()), mad::IBDRPath::max_hops);
        std::copy_n(request.begin() + iba::offset_of<&iba::smp::FormatDirected::initialPath>, came.drPath.size(),
                    came.drPath.begin());
        return mad::reverse(came);
    }
    return mad::path_back(source);
}

} // namespace comad::server
