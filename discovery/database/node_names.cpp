// SPDX-License-Identifier: MIT
// node_names.cpp - reads the node name map of infiniband-diags.
#include <comad/discovery/database/node_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <istream>

namespace comad::discovery {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Parses a line `0xGUID "name"` or `0xGUID name`. The name is empty if the line has another form.
std::pair<iba::guid, std::string_view> parse(std::string_view line) {
    if (!line.starts_with("0x") && !line.starts_with("0X")) return {};
    line.remove_prefix(2);
    u64 guid = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), guid, 16);
    std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
    if (error != std::errc{} || rest.find_first_of(blanks) != 0) return {};
    rest = trimmed(rest);
    if (!rest.starts_with('"')) return {iba::guid{guid}, trimmed(rest.substr(0, rest.find('#')))};
    rest.remove_prefix(1);
    const std::size_t stop = rest.find('"'); // a '#' before it belongs to the name
    if (stop == std::string_view::npos) return {};
    const std::string_view behind = trimmed(rest.substr(stop + 1));
    if (!behind.empty() && behind.front() != '#') return {};
    return {iba::guid{guid}, rest.substr(0, stop)};
}

} // namespace

node_names node_names::read(std::istream& in, std::string_view name, std::vector<std::string>& warnings) {
    node_names map;
    std::string text;
    for (unsigned number = 1; std::getline(in, text); ++number) {
        const std::string_view line = trimmed(text);
        if (line.empty() || line.front() == '#') continue;
        const auto [guid, called] = parse(line);
        if (called.empty())
            warnings.push_back(fmt::format("{}:{}: invalid line of a node name map; expected 0xGUID \"name\"",
                                           iba::escaped(name), number));
        else map.names_.emplace(guid, called);
    }
    return map;
}

const std::string& node_names::raw(const node& n) const {
    const auto found = names_.find(n.info.nodeGUID);
    return found == names_.end() ? n.description : found->second;
}

std::string node_names::of(const node& n) const { return iba::escaped(raw(n)); }

std::string node_names::with_id(const node& n) const { return fmt::format("{} \"{}\"", topology_id(n), of(n)); }

std::optional<iba::guid> node_names::find(std::string_view name) const {
    std::optional<iba::guid> found;
    for (const auto& [guid, called] : names_)
        if (called == name && (!found || value(guid) < value(*found))) found = guid;
    return found;
}

} // namespace comad::discovery
