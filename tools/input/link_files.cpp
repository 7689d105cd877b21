// SPDX-License-Identifier: MIT
// link_files.cpp - parses the files of ibdiscover.pl, whose lines have fields separated by `|`.
#include "input/link_files.hpp"

#include "comad.hpp"
#include "input/line_file.hpp"
#include "input/split_text.hpp"
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

namespace ibtool {

namespace {

std::optional<iba::guid> guid_in(const std::string& part) {
    const auto n = iba::parse_digits(trimmed(part), 16);
    return n && !n->is_larger ? std::optional(iba::guid{n->value}) : std::nullopt;
}

std::optional<unsigned> port_in(const std::string& part) {
    const auto n = iba::parse_digits(trimmed(part), 10);
    return n && n->value < 255 ? std::optional(static_cast<unsigned>(n->value)) : std::nullopt;
}

} // namespace

std::map<iba::guid, std::string> read_places(const std::string& file) {
    std::map<iba::guid, std::string> places;
    read_lines(file, "NODEGUID|NUMBER|LOCATION", [&](std::string_view line) {
        const std::vector<std::string> parts = split(line, '|');
        const auto GUID = guid_in(parts[0]);
        if (!GUID || parts.size() < 3) return false;
        places[*GUID] = trimmed(parts[2]);
        return true;
    });
    return places;
}

std::set<link_end> read_links(const std::string& file) {
    std::set<link_end> links;
    read_lines(file, "PORT|NODEGUID|PEER_PORT|PEER_NODEGUID", [&](std::string_view line) {
        const std::vector<std::string> parts = split(line, '|');
        if (parts.size() != 4) return false;
        const auto port = port_in(parts[0]), peer_port = port_in(parts[2]);
        const auto GUID = guid_in(parts[1]), peer_guid = guid_in(parts[3]);
        if (!port || !GUID || !peer_port || !peer_guid) return false;
        links.insert({*GUID, *port, *peer_port, *peer_guid});
        return true;
    });
    return links;
}

std::string format_links(const std::set<link_end>& links) {
    std::string text;
    for (const link_end& l : links)
        text += fmt::format("{}|{:x}|{}|{:x}\n", l.port, value(l.nodeGUID), l.peer_port, value(l.peer_nodeGUID));
    return text;
}

} // namespace ibtool
