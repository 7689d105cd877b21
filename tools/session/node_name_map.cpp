// SPDX-License-Identifier: MIT
// node_name_map.cpp - which file, and what is wrong with it.
#include "session/node_name_map.hpp"

#include "text/output.hpp"
#include <comad/iba/text_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unistd.h>

namespace ibtool {
namespace {

namespace iba = comad::iba;
using comad::discovery::node_names;

constexpr std::size_t most_warnings = 5;

void tell_warnings(const std::vector<std::string>& warnings) {
    const std::size_t told = std::min(warnings.size(), most_warnings);
    for (std::size_t i = 0; i < told; ++i) print_message("{}; line ignored", warnings[i]);
    if (warnings.size() > told) print_message("... and {} more lines like that", warnings.size() - told);
}

} // namespace

void add_name_map_option(arguments& takes, std::string& file) {
    takes
        .option("--node-name-map", file,
                fmt::format("file of lines 0xGUID \"name\" [{}]", fmt::join(usual_name_maps, " or ")))
        .value_name("FILE");
}

node_names read_node_names(const std::string& file, const std::vector<std::string>& usual) {
    std::string name = file;
    if (name.empty()) {
        const auto found = std::ranges::find_if(usual, [](const auto& f) { return ::access(f.c_str(), R_OK) == 0; });
        if (found == usual.end()) return {};
        name = *found;
    }
    std::istringstream in = iba::open_text_file(name);
    std::vector<std::string> warnings;
    node_names names = node_names::read(in, name, warnings);
    tell_warnings(warnings);
    return names;
}

} // namespace ibtool
