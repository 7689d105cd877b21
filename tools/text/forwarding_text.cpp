// SPDX-License-Identifier: MIT
// forwarding_text.cpp - formats rows, headings and last lines of forwarding tables.
#include "text/forwarding_text.hpp"

#include "comad.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ibtool {

std::string format_scanned_place(const comad::mad::IBDRPath& route) {
    return fmt::format("DR path slid 0; dlid 0; {}",
                       fmt::join(route.drPath.begin(), route.drPath.begin() + route.hopCount + 1, ","));
}

bool multicast_row::leads_nowhere() const noexcept {
    return std::ranges::all_of(masks, [](u16 mask) { return mask == 0; });
}

namespace {

constexpr unsigned ports_per_mask = 16;

std::string heading(const char* what, const table_heading& h) {
    return fmt::format("{} [{:#x}-{:#x}] of switch {} guid 0x{:016x} ({}):\n", what, h.first, h.last, h.where,
                       value(h.nodeGUID), iba::escaped(h.name));
}

std::string tail(std::size_t count, const table_style& style, const char* what) {
    return fmt::format("{} {}{} dumped \n", count, style.everything ? "" : "valid ", what);
}

/// Formats the text at the end of a row. LIDs of a port after its first LID are numbered: `path #2 out of 4`.
class destination_words {
public:
    explicit destination_words(std::string_view unknown) : unknown_(unknown) {}
    std::string of(const unicast_row& e) {
        if (e.LID <= last_) {
            if (!e.valid) return fmt::format(": (path #{} - illegal port)", e.LID - base_);
            const std::string path = fmt::format("path #{} out of {}", e.LID - base_ + 1, last_ - base_ + 1);
            return GUID_ ? fmt::format(": ({}: portguid 0x{:016x})", path, GUID_) : fmt::format(": ({})", path);
        }
        if (!e.valid) return ": (illegal port)";
        GUID_ = 0;
        if (!e.to.known) return fmt::format(": {}", unknown_);
        GUID_ = value(e.to.portGUID);
        base_ = e.to.base_lid;
        last_ = base_ + (1u << e.to.LMC) - 1;
        return fmt::format(": ({} portguid 0x{:016x}: '{}')", format_node_type(e.to.nodeType), GUID_,
                           iba::escaped(e.to.name));
    }

private:
    std::string_view unknown_;
    unsigned base_ = 0, last_ = 0;
    comad::u64 GUID_ = 0;
};

std::string heading_json(const table_heading& h, const char* name_of_top, unsigned top) {
    return json_compact({{"schema", "comad.forwarding/1"},
                         {"nodeGUID", fmt::format("{}", h.nodeGUID)},
                         {"description", json_string(h.name)},
                         {name_of_top, top}});
}

nlohmann::ordered_json row_json(const unicast_row& e, bool brief) {
    nlohmann::ordered_json row{{"LID", e.LID}, {"port", e.port}};
    if (!brief && e.to.known) {
        row["nodeType"] = iba::name_or_number(e.to.nodeType);
        row["portGUID"] = fmt::format("{}", e.to.portGUID);
        row["description"] = json_string(e.to.name);
    }
    return row;
}

} // namespace

std::string format_unicast(const table_heading& h, const std::vector<unicast_row>& rows, const table_style& style) {
    std::string text = heading("Unicast lids", h);
    text += "  Lid  Out   Destination\n       Port     Info \n";
    destination_words words(style.unknown);
    for (const unicast_row& e : rows)
        text += fmt::format("0x{:04x} {:03} {}\n", e.LID, e.port, style.brief ? "" : words.of(e));
    return text + tail(rows.size(), style, "lids");
}

std::string unicast_json(const table_heading& h, const std::vector<unicast_row>& rows, const table_style& style,
                         unsigned top) {
    std::string text = heading_json(h, "linearFDBTop", top);
    add_json_list(text, "entries", rows.size(), [&](std::size_t i) { return row_json(rows[i], style.brief); });
    return text + '\n';
}

namespace {

bool has_port(const std::vector<u16>& masks, unsigned port) {
    return masks[port / ports_per_mask] >> port % ports_per_mask & 1;
}

std::string port_heading(unsigned num_ports) {
    std::string tens, ones;
    for (unsigned port = 0; port <= num_ports; ++port) {
        tens += fmt::format("{} ", port % 10 ? " " : fmt::to_string(port / 10));
        ones += fmt::format("{} ", port % 10);
    }
    return (num_ports > 9 ? fmt::format("            {}\n", tens) : "") + fmt::format("     Ports: {}\n MLid\n", ones);
}

std::string format_row(unsigned MLID, const std::vector<u16>& masks, unsigned num_ports, bool brief) {
    std::string ports;
    if (brief) ports = fmt::format("{:04x}", fmt::join(masks, ""));
    for (unsigned port = 0; !brief && port <= num_ports; ++port) ports += has_port(masks, port) ? "x " : "  ";
    return fmt::format("0x{:04x}      {}\n", MLID, ports);
}

nlohmann::ordered_json row_json(const multicast_row& r, unsigned num_ports) {
    auto ports = nlohmann::ordered_json::array();
    for (unsigned port = 0; port <= num_ports; ++port)
        if (has_port(r.masks, port)) ports.push_back(port);
    return {{"MLID", r.MLID}, {"ports", std::move(ports)}};
}

} // namespace

std::string format_multicast(const table_heading& h, const std::vector<multicast_row>& rows, const table_style& style) {
    std::string text =
        heading("Multicast mlids", h) + (style.brief ? " MLid       Port Mask\n" : port_heading(h.num_ports));
    for (const multicast_row& r : rows) text += format_row(r.MLID, r.masks, h.num_ports, style.brief);
    return text + tail(rows.size(), style, "mlids");
}

std::string multicast_json(const table_heading& h, const std::vector<multicast_row>& rows, unsigned top) {
    std::string text = heading_json(h, "multicastFDBTop", top);
    add_json_list(text, "entries", rows.size(), [&](std::size_t i) { return row_json(rows[i], h.num_ports); });
    return text + '\n';
}

} // namespace ibtool
