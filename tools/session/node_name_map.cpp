// SPDX-License-Identifier: MIT
// node_name_map.cpp - selects the node name map, and reports errors in it.
#include "session/node_name_map.hpp"

#include "comad.hpp"
#include "text/doctor_machine.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <unistd.h>

namespace ibtool {
namespace {

using comad::discovery::node_names;

constexpr std::size_t most_warnings = 5;

void print_warnings(const std::vector<std::string>& warnings) {
    const std::size_t printed = std::min(warnings.size(), most_warnings);
    for (std::size_t i = 0; i < printed; ++i) print_message("{}; line ignored", warnings[i]);
    if (warnings.size() > printed) print_message("... and {} more lines ignored", warnings.size() - printed);
}

} // namespace

void add_name_map_option(arguments& takes, std::string& file, file_use use) {
    takes.option("--node-name-map", file).file(use);
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
    print_warnings(warnings);
    return names;
}

name_map_facts search_name_map(const std::string& file, const std::vector<std::string>& usual) {
    name_map_facts found;
    found.is_named = !file.empty();
    for (const std::string& place : found.is_named ? std::vector{file} : usual) {
        found.examined.push_back({place, ::access(place.c_str(), R_OK) == 0 ? 0 : errno});
        if (found.examined.back().error == 0) break;
    }
    const bool is_there = !found.examined.empty() && found.examined.back().error == 0;
    if (!is_there && !found.is_named) return found;
    try {
        std::istringstream in = iba::open_text_file(found.examined.back().file);
        found.names = node_names::read(in, found.examined.back().file, found.warnings).size();
    } catch (const std::runtime_error& e) {
        found.problem = e.what();
    }
    return found;
}

} // namespace ibtool
