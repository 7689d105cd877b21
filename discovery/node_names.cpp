// SPDX-License-Identifier: MIT
// node_names.cpp - the node name map of infiniband-diags.
#include <comad/discovery/node_names.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <istream>
#include <stdexcept>

namespace comad::discovery {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// One line `0xGUID "name"`, trimmed; the second is empty where it is not of that form.
std::pair<iba::guid, std::string_view> parse(std::string_view line) {
    u64 guid = 0;
    if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), guid, 16);
    const std::string_view rest = trimmed(line.substr(static_cast<std::size_t>(end - line.data())));
    if (error != std::errc{} || rest.size() < 3 || rest.front() != '"' || rest.back() != '"') return {};
    return {iba::guid{guid}, rest.substr(1, rest.size() - 2)};
}

} // namespace

node_names node_names::read(std::istream& in, std::string_view name) {
    node_names map;
    std::string text;
    for (unsigned number = 1; std::getline(in, text); ++number) {
        std::string_view line = text;
        // A '#' inside the quotes belongs to the name.
        const std::size_t comment = line.find('#', line.find('"') == std::string_view::npos ? 0 : line.rfind('"'));
        line = trimmed(line.substr(0, comment));
        if (line.empty() || line.front() == '#') continue;
        const auto [guid, called] = parse(line);
        if (called.empty()) {
            throw std::runtime_error(
                fmt::format("{}:{}: not a line of a node name map; write 0xGUID \"name\"", name, number));
        }
        map.names_.insert_or_assign(guid, std::string(called));
    }
    return map;
}

std::string node_names::of(const node& n) const {
    const auto found = names_.find(n.info.nodeGUID);
    return iba::escaped(found == names_.end() ? n.description : found->second);
}

} // namespace comad::discovery
