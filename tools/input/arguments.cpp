// SPDX-License-Identifier: MIT
// arguments.cpp - what is declared in the same way by several commands.
#include "input/arguments.hpp"

#include "input/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ibtool {

std::string argument::value_text() const {
    if (is_flag_) return {};
    if (!value_name_.empty()) return value_name_;
    if (range_) return fmt::format("{}..{}", range_->first, range_->second);
    if (!choices_.empty()) return fmt::format("{}", fmt::join(choices_, "|"));
    const bool is_text =
        std::holds_alternative<std::string*>(place_) || std::holds_alternative<text_reader>(place_) || takes_several();
    return is_text ? "TEXT" : "NUMBER";
}

std::vector<std::string> argument::all_names() const { return split(names_, ','); }

bool argument::is_called(std::string_view name) const {
    const std::vector<std::string> all = all_names();
    return std::ranges::find(all, name) != all.end();
}

const argument* arguments::find(const std::string& name) const {
    const auto found = std::ranges::find(all_, name, &argument::names);
    return found == all_.end() ? nullptr : &*found;
}

} // namespace ibtool
