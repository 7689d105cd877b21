// SPDX-License-Identifier: MIT
// dotted_lines.hpp - lines with a label, dots and a value, as libibmad prints them. Does not depend on an attribute.
#pragma once
#include <comad/iba/types.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace ibtool {

/// Collects lines with a label, dots up to column 33, and a value.
class dotted_lines {
public:
    template <class T> dotted_lines& number(std::string_view label, T value) {
        return text(label, fmt::to_string(static_cast<comad::u64>(value)));
    }
    /// Adds a line for each element, with the index at the end of the label.
    template <class Array> dotted_lines& numbers(std::string_view label, const Array& values) {
        for (std::size_t i = 0; i < values.size(); ++i) number(fmt::format("{}{}", label, i), values[i]);
        return *this;
    }
    /// Adds 0x and all digits of a number with this many bytes.
    template <class T> dotted_lines& hex(std::string_view label, T value, unsigned bytes) {
        return text(label, fmt::format("0x{:0{}x}", static_cast<comad::u64>(value), 2 * bytes));
    }
    dotted_lines& text(std::string_view label, std::string_view value) {
        text_ += fmt::format("{:.<33}{}\n", fmt::format("{}:", label), value);
        return *this;
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

} // namespace ibtool
