// SPDX-License-Identifier: MIT
// text_formatter.cpp - the fmt formatters of GUIDs, GIDs, LIDs and enumerators.
#include <comad/iba/detail/enums/names.hpp>
#include <comad/iba/detail/text_formatter.hpp>
#include <comad/iba/types.hpp>

#include <fmt/format.h>

#include <arpa/inet.h>
#include <string>

namespace iba = comad::iba;

fmt::format_context::iterator iba::detail::text_formatter::format_text(std::string_view text,
                                                                       fmt::format_context& context) const {
    return specification_.format(fmt::string_view(text.data(), text.size()), context);
}

fmt::format_context::iterator iba::detail::name_formatter::format_name(std::span<const enum_name> names, u64 number,
                                                                       fmt::format_context& context) const {
    return format_text(name_or_number(names, number), context);
}

fmt::format_context::iterator fmt::formatter<iba::guid>::format(iba::guid g, format_context& context) const {
    const comad::u64 v = value(g);
    return format_text(
        fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", v >> 48, v >> 32 & 0xffff, v >> 16 & 0xffff, v & 0xffff), context);
}

fmt::format_context::iterator fmt::formatter<iba::gid>::format(const iba::gid& g, format_context& context) const {
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET6, g.bytes.data(), text, sizeof text);
    return format_text(text, context);
}

fmt::format_context::iterator fmt::formatter<iba::lid>::format(iba::lid l, format_context& context) const {
    return specification_.format(value(l), context);
}
