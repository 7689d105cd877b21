// SPDX-License-Identifier: MIT
// iba_data.hpp - readers of the files in tests/data.
#pragma once
#include <comad/iba/types.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Opens a file in tests/data. Throws std::runtime_error if the file cannot be read.
inline std::ifstream open_data(const std::string& file) {
    const auto path = std::filesystem::path(COMAD_SOURCE_DIR) / "tests/data" / file;
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return in;
}

/// Returns the objects of a file with one JSON object per line.
/// iba_layout.jsonl: size of each structure, offset, width and count of each field, and the attribute ID if the structure
/// is an attribute.
/// iba_vectors.jsonl: random bytes of a structure in hex and each value: a number up to 32 bits, otherwise hex.
/// Both files come from machine-readable field descriptions of the IBA, decoded by independent programs.
inline std::vector<nlohmann::json> load_data(const std::string& file) {
    std::ifstream in = open_data(file);
    std::vector<nlohmann::json> objects;
    for (std::string line; std::getline(in, line);) objects.push_back(nlohmann::json::parse(line));
    return objects;
}

/// Returns the columns of each line of a tab-separated file, without its heading.
/// iba_ibmad_map.tsv: structure, libibmad's field, its name, its first bit and width, our field, remarks.
inline std::vector<std::vector<std::string>> load_columns(const std::string& file) {
    std::ifstream in = open_data(file);
    std::vector<std::vector<std::string>> lines;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream columns(line);
        std::vector<std::string>& cells = lines.emplace_back();
        for (std::string cell; std::getline(columns, cell, '\t');) cells.push_back(cell);
    }
    return lines;
}

/// Returns the MADs of a file with a name and a MAD in hex on each line, by name.
/// mellanox_mads.txt: mstflint 4.36.0 sent general_info_request (register MGIR of a device by LID). mstreg of mstflint read
/// general_info_reply from a model of a Quantum-2 as device 0xd2f2, firmware 31.2012.1068.
inline std::map<std::string, std::string> load_mads(const std::string& file) {
    std::ifstream in = open_data(file);
    std::map<std::string, std::string> mads;
    for (std::string name, hex; in >> name >> hex;) mads[name] = hex;
    return mads;
}

/// Returns the bytes of a hex text.
inline std::vector<comad::u8> from_hex(const std::string& hex) {
    std::vector<comad::u8> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<comad::u8>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}
