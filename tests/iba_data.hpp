// SPDX-License-Identifier: MIT
// iba_data.hpp - the files in tests/data: one JSON object per line. Knows no structure.
#pragma once
#include <comad/iba/types.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// iba_layout.jsonl: a structure's size and the offset, width and count of each field.
/// iba_vectors.jsonl: random bytes of a structure in hex, and each value: a number up to 32 bits, else hex.
/// Both come from machine-readable field descriptions of the IBA and were decoded by independent programs.
inline std::vector<nlohmann::json> load_data(const std::string& file) {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "data" / file;
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    std::vector<nlohmann::json> objects;
    for (std::string line; std::getline(in, line);) objects.push_back(nlohmann::json::parse(line));
    return objects;
}

inline std::vector<comad::u8> from_hex(const std::string& hex) {
    std::vector<comad::u8> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<comad::u8>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}
