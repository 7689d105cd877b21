// SPDX-License-Identifier: MIT
// lane_files.cpp - lines of numbers.
#include "input/lane_files.hpp"

#include <comad/discovery/lid_index.hpp>
#include <comad/iba/text_file.hpp>

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ibtool {

using comad::u64;
using comad::u8;

namespace {

/// Decimal, or hexadecimal with 0x.
std::optional<u64> number_in(std::string_view word) {
    const bool is_hex = word.starts_with("0x");
    if (is_hex) word.remove_prefix(2);
    u64 value = 0;
    const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), value, is_hex ? 16 : 10);
    if (wrong != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// Gives `take` the numbers of each line; `#` begins a comment. It returns false of what is wrong.
void read_lines(const std::string& file, std::size_t count, const char* form,
                const std::function<bool(const std::vector<u64>&)>& take) {
    std::istringstream in = comad::iba::open_text_file(file);
    std::string line;
    for (unsigned number = 1; std::getline(in, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::vector<u64> numbers;
        bool is_good = true;
        for (std::string word; words >> word;) {
            const auto n = number_in(word);
            is_good = is_good && n;
            numbers.push_back(n.value_or(0));
        }
        if (numbers.empty()) continue;
        if (!is_good || numbers.size() != count || !take(numbers))
            throw std::runtime_error(fmt::format("{}:{}: expected {}", file, number, form));
    }
}

std::optional<comad::u32> node_with(const comad::discovery::subnet& s, u64 GUID) {
    const auto found = s.by_guid.find(comad::iba::guid{GUID});
    return found == s.by_guid.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

void read_path_SLs(const std::string& file, const comad::discovery::subnet& s, comad::discovery::virtual_lanes& lanes) {
    read_lines(file, 3, "a node GUID, a DLID and an SL", [&](const std::vector<u64>& n) {
        if (n[1] > comad::discovery::lid_index::last_unicast_LID || n[2] >= comad::discovery::virtual_lanes::SLs)
            return false;
        if (const auto node = node_with(s, n[0]))
            lanes.set_SL(*node, static_cast<unsigned>(n[1]), static_cast<u8>(n[2]));
        return true;
    });
}

void read_SL_to_VL(const std::string& file, const comad::discovery::subnet& s, comad::discovery::virtual_lanes& lanes) {
    constexpr std::size_t bytes = 8;
    read_lines(file, 3 + bytes, "a switch's GUID, two ports and 8 bytes with two VLs each",
               [&](const std::vector<u64>& n) {
                   comad::discovery::virtual_lanes::SL_to_VL map;
                   for (std::size_t i = 0; i < bytes; ++i) {
                       if (n[3 + i] > 0xff) return false;
                       map[2 * i] = static_cast<u8>(n[3 + i] >> 4);
                       map[2 * i + 1] = n[3 + i] & 0xf;
                   }
                   if (n[1] > 254 || n[2] > 254) return false;
                   if (const auto node = node_with(s, n[0]))
                       lanes.set_map(*node, static_cast<u8>(n[1]), static_cast<u8>(n[2]), map);
                   return true;
               });
}

} // namespace ibtool
