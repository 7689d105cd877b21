// SPDX-License-Identifier: MIT
// print.hpp - structures as text: dotted lines, JSON, annotated dump. Works over tables and bytes at run time, so that
// one compiled printer serves every structure; knows none of them.
//
// Bytes come from anywhere: a field that is not wholly within them is left out.
// `data` is the table of the attribute in a format's data area; null, or larger than the area: it is shown as bytes.
#pragma once
#include <comad/iba/format.hpp>
#include <comad/iba/wire.hpp>

#include <span>
#include <string>

namespace comad::iba {

/// One field per line, much as libibmad's printers look: `LID..............................7`. The first letter is a
/// capital; fields of nested structures have the path in front (`data.NodeType`). Numbers are decimal or, where the
/// table says so, 0x with all digits; enumerations by name; text quoted and escaped() for terminals. Reserved bits are
/// not shown.
std::string dotted(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr);

/// One JSON object in one line; keys are the names of the table, nested structures nest, arrays are arrays. Up to 32
/// bits are numbers, enumerations too; wider fields are strings, `0x` with all digits; a GUID is
/// `"0017:77ff:feb6:2ca4"`, text as json_quoted(), opaque bytes `0x` in wire order. Reserved bits are not shown.
std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr);

/// Every 32-bit word in a line: offset, eight hex digits, and the fields that begin in it with their decimal values.
/// Reserved bits are shown; zero words at the end in which nothing begins are not.
std::string dump(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr);

/// dump() of a MAD by its header, attribute included; if its class is unknown or it is too short for a header, only
/// words.
std::string dump_mad(std::span<const u8> mad);

template <wire T> std::string dotted(const T& value) { return dotted(info_of<T>, encode(value)); }
template <wire T> std::string json(const T& value) { return json(info_of<T>, encode(value)); }
template <wire T> std::string dump(const T& value) { return dump(info_of<T>, encode(value)); }

} // namespace comad::iba
