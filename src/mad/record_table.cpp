// SPDX-License-Identifier: MIT
// record_table.cpp - where the records of an SA reply begin and end.
#include <comad/iba/sa/format.hpp>
#include <comad/mad/record_table.hpp>

#include <fmt/format.h>

#include <cassert>

namespace comad::mad {

iba::result<record_table> record_table::of(std::span<const u8> message, std::size_t record_size) {
    assert(record_size != 0);
    constexpr std::size_t header_size = iba::wire_size<iba::sa::Header>;
    const auto too_short = [](std::string text) { return iba::error{iba::errc::too_short, std::move(text)}; };
    if (message.size() < header_size)
        return too_short(fmt::format("an SA message has {} bytes or more, there are {}", header_size, message.size()));

    const std::span<const u8> data = message.subspan(header_size);
    const std::size_t stride = std::size_t{iba::get<&iba::sa::Header::attributeOffset>(message.data())} * 8;
    if (stride == 0) return record_table(data, record_size, 0, 0);
    if (stride < record_size)
        return too_short(fmt::format("records of {} bytes stand {} bytes apart", record_size, stride));

    std::size_t size = data.size() / stride;
    if (const std::size_t rest = data.size() % stride; rest != 0) {
        ++size;
        if (rest < record_size)
            return too_short(fmt::format("the last of {} records has {} of {} bytes", size, rest, record_size));
    }
    return record_table(data, record_size, stride, size);
}

} // namespace comad::mad
