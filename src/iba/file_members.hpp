// SPDX-License-Identifier: MIT
// file_members.hpp - reads the members of one table of a file, and reports wrong ones with their line.
#pragma once
#include "file_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace comad::iba::detail {

/// The members of a table. Every function throws std::runtime_error with one line, `FILE:LINE: TABLE: ...`, if a member is wrong.
class file_members {
public:
    /// `what`: the table in messages, such as `MlxFoo.uptime`. Members that `known` does not contain are errors.
    file_members(const std::string& file, const file_value& table, std::string what,
                 std::vector<std::string_view> known);

    void rename(std::string what) { what_ = std::move(what); }
    unsigned line() const noexcept { return table_.line; }

    /// Returns a member; null if the table lacks it.
    const file_value* find(std::string_view name) const noexcept;
    /// Returns a member. `rule`: what the user must add if it is missing.
    const file_value& required(std::string_view name, std::string_view rule) const;

    std::string text(const file_value&, std::string_view name) const;
    /// Returns a required name of letters, digits and underscores.
    std::string identifier(std::string_view name) const;
    /// Returns a number, which can also be a text, such as "0x17": JSON has no hexadecimal numbers.
    u64 number(const file_value&, std::string_view name, u64 least, u64 most) const;
    /// Returns a truth value; false if it is missing.
    bool truth(std::string_view name) const;

    [[noreturn]] void fail(const file_value& at, std::string_view problem) const { fail(at.line, problem); }
    [[noreturn]] void fail(unsigned line, std::string_view problem) const;

private:
    const std::string& file_;
    const file_value& table_;
    std::string what_;
};

} // namespace comad::iba::detail
