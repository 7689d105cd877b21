// SPDX-License-Identifier: MIT
// structure.cpp - finds structures by name, and reads words and lines for a command.
#include "input/structure.hpp"

#include "comad.hpp"
#include "input/mad_files.hpp"
#include "input/options.hpp"
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace ibtool {

const iba::structure& structure_named(const std::string& name) {
    if (const auto* found = iba::find_structure(name)) return *found;
    std::vector<std::string_view> names;
    for (const auto& s : iba::structures()) names.push_back(s.info->name);
    throw usage_error(fmt::format("unknown structure {}; similar: {}; ibtool describe lists all", iba::as_given(name),
                                  iba::most_similar(name, names)));
}

void for_each_word(const std::vector<std::string>& words,
                   const std::function<void(const std::string& where, const std::string& word)>& use) {
    for (const std::string& word : words)
        use("'" + iba::escaped(word.substr(0, 24)) + (word.size() > 24 ? "...'" : "'"), word);
    if (!words.empty()) return;
    const std::string input = read_file("-");
    unsigned number = 1;
    for (std::size_t at = 0; at < input.size(); ++number) {
        const std::size_t end = std::min(input.find('\n', at), input.size());
        const std::string line = input.substr(at, end - at);
        at = end + 1;
        if (line.find_first_not_of(" \t\r") != line.npos) use(fmt::format("line {}", number), line);
    }
}

std::vector<std::string> structure_names() {
    std::vector<std::string> all;
    for (const comad::iba::structure& s : comad::iba::structures()) all.emplace_back(s.info->name);
    return all;
}

} // namespace ibtool
