// SPDX-License-Identifier: MIT
// arguments.cpp - what is declared in the same way by several commands.
#include "input/arguments.hpp"

#include "input/options.hpp"

#include <algorithm>

namespace ibtool {

void arguments::missing(std::initializer_list<const char*> names) {
    for (const char* name : names)
        option(
            name, [](const std::string&) { throw usage_error("is not there yet"); }, "")
            .value_optional()
            .hidden();
}

const argument* arguments::find(const std::string& name) const {
    const auto found = std::ranges::find(all_, name, &argument::names);
    return found == all_.end() ? nullptr : &*found;
}

} // namespace ibtool
