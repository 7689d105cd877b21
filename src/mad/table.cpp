// SPDX-License-Identifier: MIT
// table.cpp - records in a reply.
#include <comad/iba/sa/format.hpp>
#include <comad/mad/table.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>

namespace comad::mad {

std::optional<table_reply> read_table(std::span<const u8> reply, std::size_t record_size) noexcept {
    constexpr std::size_t begin = iba::wire_size<iba::sa::Header>;
    constexpr std::size_t class_header = begin - iba::wire_size<iba::rmpp::Header>;
    if (reply.size() < begin) return std::nullopt;
    const auto header = iba::decode<iba::sa::Header>(reply.first<begin>());
    const iba::rmpp::Header& rmpp = header.rmpp;
    const auto has = [&](iba::RMPPFlag flag) { return (rmpp.RMPPFlags & value(flag)) != 0; };
    table_reply table{reply.data() + begin, 0, header.attributeOffset * std::size_t{8}};
    std::size_t bytes = reply.size() - begin;
    if (!has(iba::RMPPFlag::Active)) {
        if (bytes < record_size) return std::nullopt;
        table.count = 1;
        return table;
    }
    if (reply.size() <= mad_size) { // who puts segments together tells their length; a single one is padded
        if (!has(iba::RMPPFlag::Last)) return std::nullopt;
        const std::size_t payload = rmpp.data2; // class header included
        bytes = std::min(bytes, payload > class_header ? payload - class_header : 0);
    }
    if (table.stride == 0 || bytes < std::min(record_size, table.stride)) return table; // an empty table
    if (table.stride < record_size) return std::nullopt;
    table.count = (bytes - record_size) / table.stride + 1; // the last one may lack its padding
    return table;
}

} // namespace comad::mad
