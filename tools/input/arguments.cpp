// SPDX-License-Identifier: MIT
// arguments.cpp - declares arguments that several commands share.
#include "input/arguments.hpp"

#include "input/split_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ibtool {

argument& argument::shows_default() {
    default_text_ = std::visit(
        [](const auto& where) -> std::optional<std::string> {
            if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(where)>>) {
                if constexpr (fmt::is_formattable<std::remove_pointer_t<std::remove_cvref_t<decltype(where)>>>::value)
                    return fmt::format("{}", *where);
            }
            return {};
        },
        destination_);
    return *this;
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
