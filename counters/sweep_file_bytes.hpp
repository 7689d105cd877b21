// SPDX-License-Identifier: MIT
// sweep_file_bytes.hpp - the numbers of a sweep file, and the constants of its format.
#pragma once
#include <comad/counters/detail/sweep_file.hpp>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace comad::counters::file_format {

inline constexpr std::string_view magic = "comadswp";
inline constexpr u32 version = 1;
inline constexpr std::size_t header_bytes = 16, head_bytes = 9;      // of a record: kind, size, checksum
inline constexpr std::size_t frame_bytes = head_bytes + 4;           // with the checksum of the whole record
inline constexpr std::size_t longest_padding = std::size_t{1} << 20; // zeros after the last record
inline constexpr char kind_ports = 'P', kind_sweep = 'S';
inline constexpr std::size_t largest_record = std::size_t{1} << 30;
inline constexpr u8 stopped = 1;                                            // flag of a sweep
inline constexpr u8 is_valid = 1, has_kinds = 2, has_mask = 4, all_row = 7; // flags of a port in a sweep
inline constexpr u32 all_counters = (1u << counter_count) - 1;
// In nanoseconds. Their sum does not overflow.
inline constexpr u64 latest_time = u64{1} << 62, longest_time = u64{1} << 61;

inline u32 checksum_of(std::string_view bytes) {
    boost::crc_32_type sum;
    sum.process_bytes(bytes.data(), bytes.size());
    return sum.checksum();
}

/// Appends a number in network byte order.
template <std::unsigned_integral N> void append(std::string& to, std::type_identity_t<N> value) {
    for (std::size_t i = sizeof(N); i-- > 0;) to.push_back(static_cast<char>(value >> 8 * i));
}
/// Appends a number with 7 bits in each byte, the lowest first. All bytes except the last one have bit 7.
inline void append_short(std::string& to, u64 value) {
    for (; value > 0x7f; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
    to.push_back(static_cast<char>(value));
}
/// Appends a difference: small if it is near 0, positive or negative.
inline void append_signed(std::string& to, u64 difference) {
    append_short(to, difference << 1 ^ (difference >> 63 ? ~u64{0} : 0));
}

/// A unicast counter grows by as much as all packets without the multicast packets, so a file contains only the deviation. Calls
/// f(counter, all packets, multicast packets) for the counters of both directions.
template <class F> void for_each_unicast(F&& f) {
    f(counter::portUnicastXmitPkts, counter::portXmitPkts, counter::portMulticastXmitPkts);
    f(counter::portUnicastRcvPkts, counter::portRcvPkts, counter::portMulticastRcvPkts);
}
constexpr unsigned index(counter c) noexcept { return static_cast<unsigned>(c); }

/// Reads the numbers of one record. Errors: throws sweep_file_error with the offset in the file.
class record_reader {
public:
    /// `begin`: the offset of the payload in the file.
    record_reader(std::string_view payload, u64 begin) : left_(payload), size_(payload.size()), begin_(begin) {}

    std::string_view bytes(std::size_t size, std::string_view what) {
        if (size > left_.size()) fail(fmt::format("{} does not fit into its record", what));
        const std::string_view found = left_.substr(0, size);
        left_.remove_prefix(size);
        return found;
    }
    template <std::unsigned_integral N> N number(std::string_view what) {
        u64 value = 0;
        for (const char c : bytes(sizeof(N), what)) value = value << 8 | static_cast<u8>(c);
        return static_cast<N>(value);
    }
    u64 short_number(std::string_view what, u64 most = ~u64{0}) {
        u64 value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const u64 byte = static_cast<u8>(bytes(1, what).front());
            const u64 part = byte & 0x7f;
            if (shift == 63 && byte > 1) fail(fmt::format("{} has more than 64 bits", what));
            value |= part << shift;
            if (byte < 0x80) break;
        }
        if (value > most) fail(fmt::format("{} is {}, but must be at most {}", what, value, most));
        return value;
    }
    u64 difference(std::string_view what) {
        const u64 folded = short_number(what);
        return folded >> 1 ^ (folded & 1 ? ~u64{0} : 0);
    }
    std::size_t left() const noexcept { return left_.size(); }
    [[noreturn]] void fail(const std::string& why) const {
        throw sweep_file_error(fmt::format("{}, at byte {}", why, begin_ + size_ - left_.size()), false);
    }

private:
    std::string_view left_;
    std::size_t size_;
    u64 begin_;
};

} // namespace comad::counters::file_format
