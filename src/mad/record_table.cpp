// SPDX-License-Identifier: MIT
// record_table.cpp - finds the start and the end of the records of an SA reply.
#include <comad/iba/detail/sa/format.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/mad/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace comad::mad {

namespace {

constexpr std::size_t padding = 8; // a record has less padding than this

/// Returns the distance of the records. Precondition: the header is complete.
std::size_t stride_of(std::span<const u8> message) noexcept {
    return std::size_t{iba::get<&iba::sa::Header::attributeOffset>(message.data())} * 8;
}

iba::error too_short(std::string text) { return {iba::errc::too_short, std::move(text)}; }

} // namespace

iba::result<record_table> record_table::of(std::span<const u8> message, std::size_t record_size) {
    assert(record_size != 0);
    constexpr std::size_t header_size = iba::wire_size<iba::sa::Header>;
    if (message.size() < header_size)
        return too_short(
            fmt::format("an SA message must have at least {} bytes, but has {}", header_size, message.size()));

    const std::span<const u8> data = message.subspan(header_size);
    const std::size_t stride = stride_of(message);
    if (stride == 0) { // no records
        if (std::ranges::any_of(data, [](u8 byte) { return byte != 0; }))
            return too_short(fmt::format("AttributeOffset is 0, but {} bytes of records follow", data.size()));
        return record_table(data, record_size, 0, 0);
    }
    if (stride < record_size)
        return too_short(fmt::format("AttributeOffset is {} bytes, but a record has {} bytes", stride, record_size));

    std::size_t size = data.size() / stride;
    if (const std::size_t rest = data.size() % stride; rest != 0) {
        ++size;
        if (rest < record_size)
            return too_short(
                fmt::format("the last of {} records is truncated: it has {} of {} bytes", size, rest, record_size));
        if (rest + padding <= stride)
            return too_short(fmt::format("the last of {} records has {} bytes, but AttributeOffset is {} bytes", size,
                                         rest, stride));
    }
    return record_table(data, record_size, stride, size);
}

iba::result<record_table> record_table::of_reply(std::span<const u8> reply, std::size_t record_size) {
    constexpr std::size_t header_size = iba::wire_size<iba::sa::Header>, rmpp_size = iba::wire_size<iba::rmpp::Header>;
    if (reply.size() >= header_size && !is_rmpp(reply)) return too_short("the table was not sent as an RMPP transfer");
    if (reply.size() < header_size || reply.size() != mad_size) return of(reply, record_size);
    const auto rmpp = iba::decode<iba::rmpp::Header>(reply.first<rmpp_size>());
    if ((rmpp.RMPPFlags & value(iba::RMPPFlag::Last)) == 0)
        return too_short("the RMPP transfer ended after the first segment, which is not the last one");
    const std::size_t end = rmpp_size + std::max<std::size_t>(rmpp.data2, header_size - rmpp_size);
    return of(reply.first(std::min(reply.size(), end)), record_size);
}

} // namespace comad::mad
