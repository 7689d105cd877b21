// SPDX-License-Identifier: MIT
// read_subnet_lst.cpp - parses lines with the two ends of a link: `{ CA Ports:01 ... PN:01 } { SW ... PN:03 } PHY=4x LOG=ACT SPD=25`.
#include "read_subnet_lst.hpp"

#include "cursor.hpp"
#include "numbered_lines.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace comad::topology_file {
namespace {

/// The speeds of a lane in Gb/s, as OpenSM prints them.
constexpr std::array<std::pair<std::string_view, iba::lane_speeds>, 9> speed_words{{{"2.5", iba::lane_speed::SDR},
                                                                                    {"5", iba::lane_speed::DDR},
                                                                                    {"10", iba::lane_speed::QDR},
                                                                                    {"FDR10", iba::lane_speed::FDR10},
                                                                                    {"14", iba::lane_speed::FDR},
                                                                                    {"25", iba::lane_speed::EDR},
                                                                                    {"50", iba::lane_speed::HDR},
                                                                                    {"100", iba::lane_speed::NDR},
                                                                                    {"200", iba::lane_speed::XDR}}};

/// One end of a link, as a line describes it.
struct listed_end {
    iba::NodeType type{};
    unsigned num_ports = 0;
    u64 systemImageGUID = 0, nodeGUID = 0, portGUID = 0;
    u32 vendorID = 0;
    u16 deviceID = 0, LID = 0;
    u8 port = 0;
    std::string description;
};

/// A line.
struct listed_link {
    listed_end from, to;
    iba::LinkWidth width{};
    iba::lane_speeds speed = 0;
};

/// Parses ` KEY:HEX`.
std::optional<u64> hex_after(cursor& c, std::string_view key, u64 most = ~u64{0}) noexcept {
    c.skip_blanks();
    if (!c.eat(key)) return std::nullopt;
    const auto number = c.number(16);
    return number && *number <= most ? number : std::nullopt;
}

std::optional<iba::NodeType> type_of_word(std::string_view word) noexcept {
    word = word.substr(0, word.find('-')); // -SM: the port of the subnet manager
    if (word == "CA") return iba::NodeType::CA;
    if (word == "SW") return iba::NodeType::Switch;
    return word == "Rt" ? std::optional(iba::NodeType::Router) : std::nullopt;
}

std::optional<listed_end> end_in(cursor& c) {
    listed_end e;
    c.skip_blanks();
    if (!c.eat("{ ")) return std::nullopt;
    const auto type = type_of_word(c.word());
    const auto ports = hex_after(c, "Ports:", max_ports), system = hex_after(c, "SystemGUID:"),
               node = hex_after(c, "NodeGUID:"), port_guid = hex_after(c, "PortGUID:"),
               vendor = hex_after(c, "VenID:", 0xffffff), device = hex_after(c, "DevID:", 0xffffffff),
               revision = hex_after(c, "Rev:");
    c.skip_blanks();
    const bool has_name = c.rest.find("} LID:") != c.rest.npos;
    if (!type || !ports || !system || !node || !port_guid || !vendor || !device || !revision || !has_name ||
        !c.eat("{"))
        return std::nullopt;
    const auto name_end = c.rest.find("} LID:");
    e.description = c.rest.substr(0, name_end);
    c.rest.remove_prefix(name_end + 1);
    const auto LID = hex_after(c, "LID:", 0xffff), port = hex_after(c, "PN:", *ports);
    c.skip_blanks();
    if (!LID || !port || *port == 0 || *ports == 0 || *node == 0 || !c.eat("}")) return std::nullopt;
    e.type = *type;
    e.num_ports = static_cast<unsigned>(*ports);
    e.systemImageGUID = *system;
    e.nodeGUID = *node;
    e.portGUID = *port_guid;
    e.vendorID = static_cast<u32>(*vendor);
    e.deviceID = static_cast<u16>(*device > 0xffff ? *device >> 16 : *device); // OpenSM prints some as 32 bits
    e.LID = static_cast<u16>(*LID);
    e.port = static_cast<u8>(*port);
    return e;
}

std::optional<listed_link> link_in(std::string_view line) {
    cursor c{line};
    auto from = end_in(c);
    auto to = from ? end_in(c) : std::nullopt;
    if (!to) return std::nullopt;
    listed_link l{std::move(*from), std::move(*to)};
    for (std::string_view word = c.word(); !word.empty(); word = c.word()) {
        if (word.starts_with("PHY=")) l.width = iba::width_of_name(word.substr(4)).value_or(iba::LinkWidth{});
        if (!word.starts_with("SPD=")) continue;
        const auto known =
            std::ranges::find(speed_words, word.substr(4), &std::pair<std::string_view, iba::lane_speeds>::first);
        if (known != speed_words.end()) l.speed = known->second;
    }
    return l;
}

/// Collects the links of a list.
class lst_reader {
public:
    lst_reader(std::string_view name, reading how) : name_(name), how_(how) {}

    contents read(std::string_view text) {
        line_reader lines(text);
        while (lines.next()) {
            number_ = lines.number();
            if (lines.line().empty() || lines.line().starts_with('#')) continue;
            const auto link = link_in(lines.line());
            if (!link) skip("not a link; expected { CA|SW|Rt Ports:.. NodeGUID:.. ... PN:.. } { ... }");
            else take(*link);
        }
        if (contents_.nodes.empty()) fail("the file contains no nodes; expected a list of links");
        contents_.may_lack_nodes = contents_.skipped.lines != 0;
        return std::move(contents_);
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", iba::escaped(name_), number_, what));
    }
    void skip(const std::string& why) {
        if (how_ == reading::strict) fail(why);
        skipped& s = contents_.skipped;
        if (s.lines++ != 0) return;
        s.first_line = number_;
        s.first_reason = why;
    }

    u32 node_of(const listed_end& e) {
        const auto [found, is_new] = by_guid_.try_emplace(e.nodeGUID, static_cast<u32>(contents_.nodes.size()));
        if (!is_new) return found->second;
        if (contents_.nodes.size() == max_nodes) fail(fmt::format("more than {} nodes", max_nodes));
        node& n = contents_.nodes.emplace_back();
        n.type = e.type;
        n.deviceID = e.deviceID;
        n.vendorID = e.vendorID;
        n.num_ports = e.num_ports;
        n.line = number_;
        n.nodeGUID = iba::guid{e.nodeGUID};
        n.portGUID = iba::guid{e.portGUID};
        n.systemImageGUID = iba::guid{e.systemImageGUID};
        const char letter = n.is_switch() ? 'S' : n.type == iba::NodeType::CA ? 'H' : 'R';
        n.id = fmt::format("{}-{:016x}", letter, e.nodeGUID);
        n.description = e.description;
        if (n.is_switch()) n.LID = iba::lid{e.LID};
        return found->second;
    }

    port& port_of(u32 index, const listed_end& e) {
        node& n = contents_.nodes[index];
        const auto at = std::ranges::lower_bound(n.ports, e.port, {}, &port::number);
        if (at != n.ports.end() && at->number == e.port) return *at;
        if (++ports_ > max_file_ports) fail(fmt::format("more than {} ports", max_file_ports));
        port& p = *n.ports.insert(at, port());
        p.number = e.port;
        p.has_line = true;
        p.line = number_;
        if (n.is_switch()) return p;
        p.GUID = iba::guid{e.portGUID};
        p.LID = iba::lid{e.LID};
        return p;
    }

    void take(const listed_link& l) {
        const u32 from = node_of(l.from), to = node_of(l.to);
        for (const auto& [index, e] : {std::pair(from, &l.from), {to, &l.to}}) {
            const node& n = contents_.nodes[index];
            if (n.type != e->type || e->port > n.num_ports)
                return skip(
                    fmt::format("node {:016x} has another type or fewer ports in line {}", e->nodeGUID, n.line));
        }
        if (from == to && l.from.port == l.to.port) return skip("the link connects a port to itself");
        port_of(from, l.from);
        port_of(to, l.to);
        port &here = port_of(from, l.from), &there = port_of(to, l.to);
        const bool is_known = here.peer_node == to && here.peer_port == l.to.port;
        if (!is_known && (here.peer_port != 0 || there.peer_port != 0))
            return skip(fmt::format("a port of the link is already connected in line {}",
                                    here.peer_port != 0 ? here.line : there.line));
        here.peer_node = to;
        here.peer_port = l.to.port;
        there.peer_node = from;
        there.peer_port = l.from.port;
        for (port* p : {&here, &there}) {
            if (value(p->width) == 0) p->width = l.width;
            if (p->speed == 0) p->speed = l.speed;
        }
    }

    std::string_view name_;
    reading how_;
    contents contents_;
    unsigned number_ = 0;
    std::size_t ports_ = 0;
    std::unordered_map<u64, u32> by_guid_;
};

} // namespace

bool is_subnet_lst(std::string_view text) noexcept {
    constexpr unsigned most_lines = 100; // before the first link: comments, and output of other programs
    for (unsigned i = 0; i < most_lines && !text.empty(); ++i) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (line.starts_with("{ ") && line.find("NodeGUID:") != line.npos && line.find(" PN:") != line.npos)
            return true;
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return false;
}

contents read_subnet_lst(std::string_view text, std::string_view name, reading how) {
    return lst_reader(name, how).read(text);
}

} // namespace comad::topology_file
