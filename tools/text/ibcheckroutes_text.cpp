// SPDX-License-Identifier: MIT
// ibcheckroutes_text.cpp - formats findings about the routes of a subnet.
#include "text/ibcheckroutes_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace ibtool {

using discovery::port_ref;
using discovery::subnet;
using json = nlohmann::ordered_json;

std::string lid_ranges(const std::vector<u16>& lids) {
    constexpr unsigned most = 8;
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < lids.size();) {
        std::size_t end = i + 1;
        while (end < lids.size() && lids[end] == lids[end - 1] + 1) ++end;
        if (ranges.size() == most) return fmt::format("{} and {} more", fmt::join(ranges, ", "), lids.size() - i);
        ranges.push_back(end == i + 1 ? fmt::format("{}", lids[i]) : fmt::format("{}-{}", lids[i], lids[end - 1]));
        i = end;
    }
    return fmt::to_string(fmt::join(ranges, ", "));
}

namespace {

std::string name_at(const subnet& s, port_ref r) {
    const std::string name = discovery::name_of(s.nodes[r.node]);
    return r.port ? fmt::format("{}[{}]", name, r.port) : name;
}

json place_at(const subnet& s, port_ref r) {
    const discovery::node& n = s.nodes[r.node];
    return {{"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", json_string(n.description)},
            {"port", r.port}};
}

/// Formats a circle of ports. Only the start of a long circle is shown.
std::string format_circle(const subnet& s, const std::vector<port_ref>& circle) {
    constexpr std::size_t most = 12;
    std::vector<std::string> names;
    for (const port_ref r : circle) {
        if (names.size() == most) {
            names.push_back(fmt::format("{} more", circle.size() - most));
            break;
        }
        names.push_back(name_at(s, r));
    }
    return fmt::format("{} -> {}", fmt::join(names, " -> "), name_at(s, circle.front()));
}

std::string format_fault(const subnet& s, const discovery::lid_index&, const discovery::route_fault& f) {
    using enum discovery::route_fault::kind;
    const std::string lids = fmt::format("LID{} {}", f.lids.size() == 1 ? "" : "s", lid_ranges(f.lids));
    switch (f.what) {
    case no_entry: return fmt::format("{}: no output port for {}", name_at(s, f.where), lids);
    case no_link: return fmt::format("{}: no link, but it is the output port for {}", name_at(s, f.where), lids);
    case wrong_end:
        if (f.where.port == 0)
            return fmt::format("{}: keeps packets for {}, which it does not have", name_at(s, f.where), lids);
        return fmt::format("{}: leads to {}, which does not have {}", name_at(s, f.where),
                           name_at(s, s.at(f.where).peer), lids);
    case loop: return fmt::format("loop: packets for {} circulate: {}", lids, format_circle(s, f.circle));
    case others: break;
    }
    return fmt::format("more faults, not listed individually: {}", lids);
}

std::string_view word_of(discovery::route_fault::kind what) {
    using enum discovery::route_fault::kind;
    switch (what) {
    case no_entry: return "no_entry";
    case no_link: return "no_link";
    case wrong_end: return "wrong_end";
    case loop: return "loop";
    case others: break;
    }
    return "others";
}

} // namespace

std::vector<route_finding> findings_of(const subnet& s, const discovery::lid_index& index) {
    std::vector<route_finding> all;
    for (const discovery::lid_index::shared& d : index.duplicates())
        all.push_back(
            {fmt::format("LID {}: assigned to both {} and {}", d.LID, name_at(s, d.first), name_at(s, d.second)),
             json_line({{"finding", "duplicate_LID"},
                        {"LID", value(d.LID)},
                        {"locations", json::array({place_at(s, d.first), place_at(s, d.second)})}})});
    for (const discovery::lid_index::end& e : index.ends()) {
        const bool is_cabled = s.nodes[e.where.node].is_switch() || s.at(e.where).peer;
        if (e.count || !is_cabled) continue;
        all.push_back({fmt::format("{}: no LID", name_at(s, e.where)),
                       json_line({{"finding", "no_LID"}, {"location", place_at(s, e.where)}})});
    }
    return all;
}

std::vector<route_finding> findings_of(const subnet& s, const discovery::lid_index& index,
                                       const discovery::route_check& check) {
    std::vector<route_finding> all;
    for (const discovery::route_fault& f : check.faults) {
        json line{{"finding", word_of(f.what)}, {"LIDs", f.lids}, {"cut", f.pairs}};
        if (f.where) line["location"] = place_at(s, f.where);
        for (const port_ref r : f.circle) line["circle"].push_back(place_at(s, r));
        all.push_back(
            {fmt::format("{}: {} route{} broken", format_fault(s, index, f), f.pairs, f.pairs == 1 ? "" : "s"),
             json_line(line)});
    }
    return all;
}

namespace {

std::string text_of_apart(const subnet& s, const discovery::group_fault& f) {
    const std::string from = name_at(s, f.from);
    if (!f.is_reached && !f.reaches) return fmt::format("is cut off from {}", from);
    return f.is_reached ? fmt::format("its packets do not reach {}", from)
                        : fmt::format("packets from {} do not reach it", from);
}

} // namespace

std::vector<route_finding> findings_of(const subnet& s, const discovery::group_check& check) {
    using enum discovery::group_fault::kind;
    std::vector<route_finding> all;
    for (const discovery::group_fault& f : check.faults) {
        const auto [word, text] =
            f.what == loop    ? std::pair("multicast_loop", std::string("closes a loop of links"))
            : f.what == apart ? std::pair("multicast_apart", text_of_apart(s, f))
                              : std::pair("multicast_dropped", std::string("leads to a switch that drops the packets"));
        json finding{{"finding", word}, {"MLID", f.MLID}, {"location", place_at(s, f.where)}};
        if (f.what == apart) {
            finding["from"] = place_at(s, f.from);
            finding["is_reached"] = f.is_reached;
            finding["reaches"] = f.reaches;
        }
        all.push_back(
            {fmt::format("multicast LID {:#x}: {}: {}", f.MLID, name_at(s, f.where), text), json_line(finding)});
    }
    return all;
}

std::vector<route_finding> findings_of(const subnet& s, const discovery::credit_check& check) {
    std::vector<route_finding> all;
    for (const discovery::credit_loop& loop : check.loops) {
        std::vector<port_ref> circle;
        json line{{"finding", "credit_loop"}, {"lanes", loop.lanes}, {"circle", json::array()}};
        for (const discovery::lane& l : loop.cycle) {
            circle.push_back(l.out);
            json place = place_at(s, l.out);
            place["VL"] = l.VL;
            line["circle"].push_back(std::move(place));
        }
        const std::string VL = check.VLs > 1 ? fmt::format(" of VL {}", loop.cycle.front().VL) : "";
        all.push_back({fmt::format("credit loop among {} channels{}: {}", loop.lanes, VL, format_circle(s, circle)),
                       json_line(line)});
    }
    return all;
}

} // namespace ibtool
