// SPDX-License-Identifier: MIT
// lane_files.cpp - parses the tables of service levels and lanes: lines of numbers, and the headings between them in OpenSM's dump.
#include "input/lane_files.hpp"

#include "comad.hpp"
#include "input/line_file.hpp"
#include "input/split_text.hpp"
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ibtool {

namespace {

std::optional<u64> number_in(std::string_view word) {
    const auto n = comad::iba::parse_number(word);
    return n && !n->is_larger ? std::optional(n->value) : std::nullopt;
}

using line_words = std::vector<std::string>;

/// Returns the numbers; nullopt unless all words are numbers and there are `count` of them.
std::optional<std::vector<u64>> numbers_in(std::span<const std::string> words, std::size_t count) {
    std::vector<u64> numbers;
    for (const std::string& word : words)
        if (const auto n = number_in(word)) numbers.push_back(*n);
    if (words.size() != count || numbers.size() != count) return std::nullopt;
    return numbers;
}

std::optional<u32> node_with(const discovery::subnet& s, u64 GUID) {
    const auto found = s.by_guid.find(comad::iba::guid{GUID});
    return found == s.by_guid.end() ? std::nullopt : std::optional(found->second);
}

constexpr unsigned most_ports = 254;

/// Reads SL-to-VL tables, line by line.
class sl_to_vl_reader {
public:
    sl_to_vl_reader(const discovery::subnet& s, discovery::virtual_lanes& lanes) : subnet_(s), lanes_(lanes) {}

    bool take(const line_words& words) { return take_table(words) || take_dumped(words) || take_heading(words); }

private:
    using sl_to_vl = discovery::virtual_lanes::sl_to_vl;

    /// Parses a GUID, two ports and 8 bytes.
    bool take_table(const line_words& words) {
        constexpr std::size_t bytes = 8;
        const auto n = numbers_in(words, 3 + bytes);
        if (!n) return false;
        sl_to_vl map;
        for (std::size_t i = 0; i < bytes; ++i) {
            const u64 pair = (*n)[3 + i];
            if (pair > 0xff) return false;
            map[2 * i] = static_cast<u8>(pair >> 4);
            map[2 * i + 1] = pair & 0xf;
        }
        return set(node_with(subnet_, (*n)[0]), (*n)[1], (*n)[2], map);
    }

    /// Parses `Switch 0x0002c90200405010, base LID 13, "name"`. The heading of a CA starts with `Channel Adapter`; its table is ignored.
    bool take_heading(const line_words& words) {
        const auto base = std::ranges::find(words, "base");
        if (base == words.end() || base - words.begin() < 2) return false;
        std::string_view word = *(base - 1);
        if (!word.ends_with(',')) return false;
        word.remove_suffix(1);
        const auto portGUID = number_in(word);
        if (!portGUID) return false;
        is_dump_ = true;
        dumped_ = words.front() == "Switch" ? switch_with(*portGUID) : std::nullopt;
        return true;
    }

    std::optional<u32> switch_with(u64 portGUID) const {
        for (u32 n = 0; n < subnet_.nodes.size(); ++n)
            if (subnet_.nodes[n].is_switch() && value(subnet_.nodes[n].info.portGUID) == portGUID) return n;
        return std::nullopt;
    }

    /// Parses a line after a heading: `14 11 : 0 1 2 ...`, with two ports and a VL for each SL.
    bool take_dumped(const line_words& words) {
        if (!is_dump_ || words.size() < 3 || words[2] != ":") return false;
        const auto ports = numbers_in(std::span(words).first(2), 2);
        const auto VLs = numbers_in(std::span(words).subspan(3), discovery::virtual_lanes::sls);
        if (!ports || !VLs || std::ranges::max(*VLs) > discovery::virtual_lanes::dropped) return false;
        sl_to_vl map;
        std::ranges::transform(*VLs, map.begin(), [](u64 VL) { return static_cast<u8>(VL); });
        return set(dumped_, (*ports)[0], (*ports)[1], map);
    }

    bool set(std::optional<u32> node, u64 in, u64 out, const sl_to_vl& map) {
        if (in > most_ports || out > most_ports) return false;
        if (node && subnet_.nodes[*node].is_switch())
            lanes_.set_map(*node, static_cast<u8>(in), static_cast<u8>(out), map);
        return true;
    }

    const discovery::subnet& subnet_;
    discovery::virtual_lanes& lanes_;
    bool is_dump_ = false;      // there was a heading
    std::optional<u32> dumped_; // the switch of the latest heading; nullopt: not in the subnet
};

} // namespace

void read_path_sls(const std::string& file, const discovery::subnet& s, discovery::virtual_lanes& lanes) {
    read_lines(file, "a node GUID, a DLID and an SL", [&](std::string_view line) {
        const auto n = numbers_in(uncommented_words(line), 3);
        if (!n || (*n)[1] > discovery::lid_index::last_unicast_lid || (*n)[2] >= discovery::virtual_lanes::sls)
            return false;
        const auto node = node_with(s, (*n)[0]);
        for (u8 port = 0; node && port < s.nodes[*node].ports.size(); ++port)
            lanes.set_sl({*node, port}, static_cast<unsigned>((*n)[1]), static_cast<u8>((*n)[2]));
        return true;
    });
}

void read_sl_to_vl(const std::string& file, const discovery::subnet& s, discovery::virtual_lanes& lanes) {
    sl_to_vl_reader reader(s, lanes);
    read_lines(file, "a switch GUID, two ports and 8 bytes with two VLs each",
               [&](std::string_view line) { return reader.take(uncommented_words(line)); });
}

} // namespace ibtool
