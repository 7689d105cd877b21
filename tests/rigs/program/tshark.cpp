// SPDX-License-Identifier: MIT
// tshark.cpp - runs tshark and reads the fields from its JSON with raw values.
#include "program/tshark.hpp"

#include "program/process.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <stdexcept>
#include <string_view>

namespace {

using json = nlohmann::ordered_json;

/// Returns a text in lower case.
std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// Reads a field. `raw`: value, first byte, number of bytes, mask (0: all bits), type.
void add_field(tshark_packet& packet, const std::string& name, const json& raw) {
    const std::string value = in_lower_case(raw[0]);
    const unsigned first = raw[1], bytes = raw[2];
    const unsigned long long mask = raw[3];
    if (bytes == 0) return; // a generated field without bytes in the packet
    tshark_field field{name, first * 8, bytes * 8, value};
    if (mask != 0 && bytes <= 8) {
        field.width = static_cast<unsigned>(std::popcount(mask));
        field.off += bytes * 8 - static_cast<unsigned>(std::bit_width(mask));
        field.value =
            fmt::format("{:0{}x}", std::stoull(value.empty() ? "0" : value, nullptr, 16), (field.width + 3) / 4);
    }
    packet.fields.push_back(std::move(field));
}

/// Adds the fields of a layer and of the layers in it.
void add_fields(tshark_packet& packet, const json& layer) {
    for (const auto& [key, value] : layer.items()) {
        if (key.find("malformed") != key.npos) packet.is_malformed = true;
        if (value.is_object()) add_fields(packet, value);
        if (value.is_array() && key.ends_with("_tree"))
            for (const json& each : value) add_fields(packet, each);
        constexpr std::string_view suffix = "_raw";
        if (!key.starts_with("infiniband") || !key.ends_with(suffix)) continue;
        const std::string name = key.substr(0, key.size() - suffix.size());
        if (layer.contains(name + "_tree")) continue;
        if (value[0].is_array())
            for (const json& each : value) add_field(packet, name, each);
        else add_field(packet, name, value);
    }
}

} // namespace

std::vector<tshark_packet> dissect_with_tshark(const std::string& file) {
    const process_result r = run_process({"tshark", "-r", file, "-T", "jsonraw", "--no-duplicate-keys"});
    if (r.status != 0) throw std::runtime_error("tshark: " + r.err);
    std::vector<tshark_packet> packets;
    for (const json& packet : json::parse(r.out)) add_fields(packets.emplace_back(), packet["_source"]["layers"]);
    return packets;
}
