// SPDX-License-Identifier: MIT
// cursor.hpp - parses a line of a topology file from its start: words, numbers and quoted text. It does not depend on
// keywords.
#pragma once
#include <comad/iba/types.hpp>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace comad::topology_file {

/// The characters that separate words.
inline constexpr std::string_view blanks = " \t\r\v\f";

/// The rest of a line. Each function removes what it parses from the start.
struct cursor {
    std::string_view rest;

    void skip_blanks() noexcept {
        const auto start = rest.find_first_not_of(blanks);
        /// Removes the text from the start; returns false if the line does not start with it.
        rest.remove_prefix(start == rest.npos ? rest.size() : start);
    }
    bool eat(std::string_view text) noexcept {
        if (!rest.starts_with(text)) return false;
        rest.remove_prefix(text.size());
        return true;
    }
    /// Parses a number with the prefix 0x, or with this base.
    std::optional<u64> number(int base = 10) noexcept {
        if (eat("0x") || eat("0X")) base = 16;
        u64 value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
        if (error != std::errc{}) return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return value;
    }
    std::optional<std::string_view> quoted() noexcept {
        if (rest.empty() || rest.front() != '"') return std::nullopt;
        const auto end = rest.find('"', 1);
        if (end == rest.npos) return std::nullopt;
        const auto text = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        return text;
    }
    /// Returns the next word, which ends at a blank.
    std::string_view word() noexcept {
        skip_blanks();
        const auto text = rest.substr(0, rest.find_first_of(blanks));
        rest.remove_prefix(text.size());
        return text;
    }
};

/// A comment after a node or link: quoted text, and the text before and after it. Only the quoted text may contain
/// quotes, so it extends to the last quote of the line.
struct comment {
    std::string_view before, text, after;
    bool has_text = false;

    explicit comment(std::string_view all) noexcept : before(all) {
        const auto first = all.find('"');
        const auto last = all.rfind('"');
        if (first == last) return; // also true for a line without a quote
        before = all.substr(0, first);
        text = all.substr(first + 1, last - first - 1);
        after = all.substr(last + 1);
        has_text = true;
    }
};

} // namespace comad::topology_file
