// SPDX-License-Identifier: MIT
// cache_bytes.hpp - writes numbers and structures to a byte string, and reads them with every length checked. Used by all cache formats.
#pragma once
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/table.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace comad::discovery {

/// Returns a PortInfo without its M_Key. The key is a secret of the subnet, and other users may read a cache file.
inline iba::smp::PortInfo without_key(iba::smp::PortInfo info) noexcept {
    info.MKey = {};
    return info;
}

/// Appends numbers, bytes and structures to a string.
class byte_writer {
public:
    explicit byte_writer(std::endian order) : order_(order) {}

    template <std::unsigned_integral N> void number(std::type_identity_t<N> value) {
        for (std::size_t i = 0; i < sizeof(N); ++i) {
            const std::size_t byte = order_ == std::endian::big ? sizeof(N) - 1 - i : i;
            text_.push_back(static_cast<char>(value >> 8 * byte));
        }
    }
    void bytes(std::string_view raw) { text_ += raw; }
    /// Appends the wire format of a structure, padded with zeros to `room` bytes.
    template <iba::wire T> void structure(const T& value, std::size_t room = iba::info_of<T>.bytes) {
        std::array<u8, iba::info_of<T>.bytes> raw;
        iba::encode(value, raw.data());
        text_.append(reinterpret_cast<const char*>(raw.data()), raw.size());
        text_.append(room - raw.size(), '\0');
    }
    std::string& text() noexcept { return text_; }

private:
    std::endian order_;
    std::string text_;
};

/// Reads numbers, bytes and structures in sequence. `what` names the item in messages. A wrong length or value throws
/// std::runtime_error with the byte offset.
class byte_reader {
public:
    byte_reader(std::span<const u8> all, std::endian order) : all_(all), order_(order) {}

    std::size_t offset() const noexcept { return at_; }
    std::size_t left() const noexcept { return all_.size() - at_; }

    std::span<const u8> bytes(std::size_t size, std::string_view what) {
        if (size > left()) fail(fmt::format("the file is truncated within {}", what));
        at_ += size;
        return all_.subspan(at_ - size, size);
    }
    std::string text(std::size_t size, std::string_view what) {
        const auto raw = bytes(size, what);
        return {reinterpret_cast<const char*>(raw.data()), raw.size()};
    }
    template <std::unsigned_integral N> N number(std::string_view what) {
        const auto raw = bytes(sizeof(N), what);
        u64 value = 0;
        for (std::size_t i = 0; i < sizeof(N); ++i)
            value = value << 8 | raw[order_ == std::endian::big ? i : sizeof(N) - 1 - i];
        return static_cast<N>(value);
    }
    /// Reads a number that must not be greater than `most`.
    template <std::unsigned_integral N> N number(std::string_view what, u64 most) {
        const std::size_t begin = at_;
        const N value = number<N>(what);
        if (value > most) fail(fmt::format("{} is {}, but must be at most {}", what, value, most), begin);
        return value;
    }
    template <iba::wire T> T structure(std::string_view what, std::size_t room = iba::info_of<T>.bytes) {
        T value{};
        iba::decode(value, bytes(room, what).data());
        return value;
    }
    [[noreturn]] void fail(const std::string& why) const { fail(why, at_); }
    [[noreturn]] static void fail(const std::string& why, std::size_t where) {
        throw std::runtime_error(fmt::format("{}, at byte {}", why, where));
    }

private:
    std::span<const u8> all_;
    std::endian order_;
    std::size_t at_ = 0;
};

} // namespace comad::discovery
