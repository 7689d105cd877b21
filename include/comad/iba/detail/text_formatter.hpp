// SPDX-License-Identifier: MIT
// text_formatter.hpp - the base class of our fmt formatters, which format a value as text. Includes only fmt/core.h,
// which is small.
#pragma once
#include <fmt/core.h>

#include <string_view>

namespace comad::iba::detail {

/// Parses the format specification of a string, and formats texts with it. Derive a fmt::formatter from it and add
/// format().
class text_formatter {
public:
    constexpr auto parse(fmt::format_parse_context& context) { return specification_.parse(context); }

protected:
    fmt::format_context::iterator format_text(std::string_view text, fmt::format_context& context) const;

private:
    fmt::formatter<fmt::string_view> specification_;
};

} // namespace comad::iba::detail
