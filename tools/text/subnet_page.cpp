// SPDX-License-Identifier: MIT
// subnet_page.cpp - creates the data for the page of tools/page/: rows in the order that page.js expects.
#include "text/subnet_page.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using comad::u32, comad::u64, comad::u8;
using discovery::port_ref;

// The string is longer than the standard requires compilers to accept; GCC and Clang accept it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
constexpr std::string_view page =
#include IBTOOL_PAGE
    ;
#pragma GCC diagnostic pop
constexpr std::string_view place_of_data = "<!--DATA-->";

/// Escapes JSON for a script element: replaces every `<`, because `</script>` or `<!--` in a name would end the element.
std::string for_script(std::string_view json) {
    std::string out;
    for (const char c : json) {
        if (c == '<') out += "\\u003c";
        else out += c;
    }
    return out;
}

/// Rounds a coordinate or size of the drawing.
nlohmann::ordered_json drawn(double length) { return json_number(length, 1); }

nlohmann::ordered_json node_row(const discovery::subnet& s, const discovery::node_names& names,
                                const discovery::drawing& d, u32 index) {
    const discovery::node& n = s.nodes[index];
    nlohmann::ordered_json LID; // the first known LID of a CA
    for (const discovery::port& p : n.ports) {
        if (!p.info || value(p.info->LID) == 0) continue;
        LID = value(p.info->LID);
        break;
    }
    return {discovery::names_of_type(n.info.nodeType).name,
            fmt::format("{}", n.info.nodeGUID),
            json_string(names.raw(n)),
            std::move(LID),
            n.info.numPorts,
            d.levels[index],
            drawn(d.spots[index].x),
            drawn(d.spots[index].y)};
}

using port_errors = std::map<std::pair<u32, u8>, u64>;

port_errors errors_of(const counters::sweep& sweep) {
    port_errors all;
    for (const counters::reading& r : sweep.ports) {
        if (!r.valid) continue;
        u64& sum = all[{r.where.node, r.where.port}];
        counters::for_each_counter([&](counters::counter c) {
            if (counters::is_error(c)) sum += r.counters.counters[c];
        });
    }
    return all;
}

nlohmann::ordered_json link_row(const discovery::subnet& s, const discovery::link_ends& l, const port_errors& errors) {
    std::optional<u64> sum; // sum of the counters that were read
    for (const port_ref end : {l.from, l.to}) {
        const auto found = errors.find({end.node, end.port});
        if (found != errors.end()) sum = sum.value_or(0) + found->second;
        if (l.from == l.to) break;
    }
    const port_ref end_with_info = s.at(l.from).info ? l.from : l.to;
    const bool is_known = condition_of(s, l) != discovery::link_condition::unknown;
    std::string state, speed;
    if (is_known) {
        for (const port_ref end : {l.to, l.from})
            if (const auto& info = s.at(end).info; info && value(info->portState) != 0)
                state = iba::name_or_number(info->portState);
        speed = fmt::format("{}{}", format_link_width(s.at(end_with_info)), format_link_speed(s, end_with_info));
    }
    return {l.from.node, l.from.port, l.to.node,      l.to.port,
            state,       speed,       color_of(s, l), sum ? nlohmann::ordered_json(*sum) : nullptr};
}

} // namespace

std::string subnet_page(const discovery::subnet& s, const discovery::node_names& names, const counters::sweep* errors) {
    const discovery::drawing d = discovery::draw(s);
    const port_errors read = errors ? errors_of(*errors) : port_errors();
    std::string data = json_compact({{"complete", s.complete() && (!errors || errors->complete())},
                                     {"has_errors", errors != nullptr},
                                     {"width", drawn(d.width)},
                                     {"height", drawn(d.height)}});
    add_json_list(data, "nodes", s.nodes.size(),
                  [&](std::size_t n) { return node_row(s, names, d, static_cast<u32>(n)); });
    const std::vector<discovery::link_ends> links = links_of(s);
    add_json_list(data, "links", links.size(), [&](std::size_t i) { return link_row(s, links[i], read); });
    const std::size_t at = page.find(place_of_data);
    return fmt::format(R"({}<script id="data" type="application/json">{}</script>{})", page.substr(0, at),
                       for_script(data), page.substr(at + place_of_data.size()));
}

} // namespace ibtool
