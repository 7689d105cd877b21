// SPDX-License-Identifier: MIT
// toml_bounds.cpp - limits the size and the nesting of a settings file before it is parsed.
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/toml_bounds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace comad::iba {

void require_toml_bounds(std::string_view text, const std::string& file, std::string_view what) {
    constexpr std::size_t largest = std::size_t{1} << 20;
    constexpr std::ptrdiff_t most_dots = 64;
    if (text.size() > largest)
        throw std::runtime_error(
            fmt::format("{}: {} is too large; must be at most {} bytes", escaped(file), what, largest));
    std::size_t number = 1;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        if (std::ranges::count(line, '.') > most_dots)
            throw std::runtime_error(fmt::format("{}:{}: keys are nested too deeply; a line must have at most {} dots",
                                                 escaped(file), number, most_dots));
        begin = end + 1;
    }
}

} // namespace comad::iba
