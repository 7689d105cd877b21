// SPDX-License-Identifier: MIT
// difference_text.cpp - formats differences as headings, lines and JSON.
#include "text/difference_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ibtool {

using discovery::difference;
using discovery::subnet;
using nlohmann::ordered_json;

namespace {

using subject = difference::subject;

std::size_t end_ports_in(const subnet& s) {
    std::size_t all = 0;
    for (const discovery::node& n : s.nodes) {
        if (n.is_switch()) ++all;
        else
            all += static_cast<std::size_t>(
                std::ranges::count_if(n.ports, [](const auto& p) { return p.info.has_value(); }));
    }
    return all;
}

/// Returns the counts in both subnets, for subjects whose number is informative; else an empty text.
std::string format_counts(const subnet& was, const subnet& is, subject of) {
    switch (of) {
    case subject::node: return fmt::format(" ({} and {})", was.nodes.size(), is.nodes.size());
    case subject::end_port: return fmt::format(" ({} and {})", end_ports_in(was), end_ports_in(is));
    case subject::link: return fmt::format(" ({} and {})", was.link_count(), is.link_count());
    default: return {};
    }
}

} // namespace

std::string format_difference(const subnet& was, const subnet& is, const std::vector<difference>& all) {
    std::string text;
    for (const subject of : {subject::node, subject::end_port, subject::link, subject::rate, subject::LID,
                             subject::description, subject::state}) {
        const auto found = std::ranges::count(all, of, &difference::of);
        text += fmt::format("{}s{}: {}\n", discovery::text_of(of), format_counts(was, is, of),
                            found ? fmt::format("{} difference{}", found, found == 1 ? "" : "s") : "no difference");
        for (const difference& d : all) {
            if (d.of != of) continue;
            text += fmt::format("  {}: {}", discovery::text_of(d.what), d.place);
            if (d.what == difference::kind::changed)
                text += fmt::format(": {}, was {}", iba::as_given(d.is), iba::as_given(d.was));
            text += '\n';
        }
    }
    return text;
}

std::string format_difference(const difference& d) {
    const std::string begin = fmt::format("{} {} {}", discovery::text_of(d.of), d.place, discovery::text_of(d.what));
    if (d.what != difference::kind::changed) return begin;
    return fmt::format("{}: is {}, was {}", begin, iba::escaped(d.is), iba::escaped(d.was));
}

ordered_json difference_item_json(const difference& d) {
    ordered_json one{{"subject", discovery::text_of(d.of)},
                     {"kind", discovery::text_of(d.what)},
                     {"nodeGUID", fmt::format("{}", d.nodeGUID)}};
    if (d.of != subject::node && d.of != subject::description) one["port"] = d.port;
    if (d.of == subject::link || d.of == subject::rate)
        one["peer"] = {{"nodeGUID", fmt::format("{}", d.peer_nodeGUID)}, {"port", d.peer_port}};
    one["location"] = d.place;
    if (d.what == difference::kind::changed) {
        one["was"] = json_string(d.was);
        one["is"] = json_string(d.is);
    }
    return one;
}

std::string difference_json(const subnet& was, const subnet& is, const std::vector<difference>& all) {
    const auto counts = [](const subnet& s) {
        return ordered_json{{"complete", s.complete()},
                            {"nodes", s.nodes.size()},
                            {"end_ports", end_ports_in(s)},
                            {"links", s.link_count()}};
    };
    ordered_json list = ordered_json::array();
    for (const difference& d : all) list.push_back(difference_item_json(d));
    const ordered_json out{{"schema", "comad.subnet_diff/1"},
                           {"reference", counts(was)},
                           {"current", counts(is)},
                           {"differences", std::move(list)}};
    return json_document(out);
}

} // namespace ibtool
