// SPDX-License-Identifier: MIT
// made_records.hpp - builds structures from the field tables, with a different value in each field, so that a printed
// value identifies its field.
#pragma once
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/table.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace comad::test {

/// Bits of a structure: a field without subfields, an array element, or single bytes of a byte array.
struct made_field {
    unsigned off;
    unsigned width; ///< number of bits, at most 64; a GID is two fields
    bool is_text;
};

/// Adds the fields of a structure, including nested structures, to `all`. `base`: offset of the structure in bits.
inline void add_made_fields(std::vector<made_field>& all, const iba::record_info& info, unsigned base) {
    for (const iba::row_info& row : info.rows) {
        for (unsigned i = 0; i < row.count; ++i) {
            const unsigned begin = base + row.off + i * row.width;
            if (row.nested) {
                add_made_fields(all, *row.nested, begin);
                continue;
            }
            for (unsigned bit = 0; bit < row.width; bit += 64)
                all.push_back({begin + bit, std::min(row.width - bit, 64u), row.how == iba::show::text});
        }
    }
}
/// Returns the fields of a structure in the order of the field tables.
inline std::vector<made_field> made_fields_of(const iba::record_info& info) {
    std::vector<made_field> all;
    add_made_fields(all, info, 0);
    return all;
}

/// Returns a structure with random bits in all fields, including reserved fields, and letters in texts. `pattern`:
/// selects the values. Two single-bit fields are equal in half of the patterns. Only several patterns together
/// distinguish all fields; see are_distinguishable().
inline std::vector<u8> made_bytes(const iba::record_info& info, unsigned pattern) {
    std::vector<u8> bytes(info.bytes);
    std::mt19937_64 random(pattern);
    for (const made_field& f : made_fields_of(info)) {
        const u64 bits = random();
        iba::put_bits_at(bytes.data(), f.off, f.width, f.is_text ? 'a' + bits % 26 : bits & iba::low_bits(f.width));
    }
    return bytes;
}
/// Returns a decoded structure with the values of a pattern.
template <class T> T made(unsigned pattern) {
    T value;
    iba::decode(value, made_bytes(iba::info_of<T>, pattern).data());
    return value;
}

/// Returns true if the first patterns distinguish all fields: no two fields are equal in all patterns, and no field is
/// always 0.
inline bool are_distinguishable(const iba::record_info& info, unsigned patterns) {
    const std::vector<made_field> fields = made_fields_of(info);
    std::vector<std::vector<u64>> values(fields.size());
    for (unsigned p = 0; p < patterns; ++p) {
        const std::vector<u8> bytes = made_bytes(info, p);
        for (std::size_t i = 0; i < fields.size(); ++i)
            values[i].push_back(iba::bits_at(bytes.data(), fields[i].off, fields[i].width));
    }
    values.emplace_back(patterns, 0);
    std::ranges::sort(values);
    return std::ranges::adjacent_find(values) == values.end();
}

} // namespace comad::test
