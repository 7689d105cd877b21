// SPDX-License-Identifier: MIT
// format.hpp - guid, gid and lid for fmt. Knows no structure.
#pragma once
#include <comad/iba/types.hpp>

#include <fmt/format.h>

#include <arpa/inet.h>
#include <string_view>

/// `0017:77ff:feb6:2ca4`; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::guid> : fmt::formatter<std::string_view> {
    template <class Context> auto format(comad::iba::guid g, Context& context) const {
        const comad::u64 v = value(g);
        char text[20] = {};
        fmt::format_to(text, "{:04x}:{:04x}:{:04x}:{:04x}", v >> 48, v >> 32 & 0xffff, v >> 16 & 0xffff, v & 0xffff);
        return fmt::formatter<std::string_view>::format(text, context);
    }
};

/// `fe80::17:77ff:feb6:2ca4`; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::gid> : fmt::formatter<std::string_view> {
    template <class Context> auto format(const comad::iba::gid& g, Context& context) const {
        char text[INET6_ADDRSTRLEN] = {};
        ::inet_ntop(AF_INET6, g.bytes.data(), text, sizeof text);
        return fmt::formatter<std::string_view>::format(text, context);
    }
};

/// Decimal; takes the format specification of an integer.
template <> struct fmt::formatter<comad::iba::lid> : fmt::formatter<comad::u16> {
    template <class Context> auto format(comad::iba::lid l, Context& context) const {
        return fmt::formatter<comad::u16>::format(value(l), context);
    }
};
