// SPDX-License-Identifier: MIT
// ibcheck_text.cpp - the rules of the ibcheck commands, and the texts of the ibcheck scripts.
#include "text/ibcheck_text.hpp"

#include "comad.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include "text/link_text.hpp"
#include "text/output.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ibtool {

using counters::counter;
using counters::for_each_counter;
using discovery::port_ref;
using discovery::subnet;
using iba::smp::PortInfo;

namespace {

using enum complaint::severity;

void check_state(const PortInfo& info, std::vector<complaint>& all) {
    if (info.portPhysicalState != iba::PortPhysicalState::LinkUp) {
        const std::string is = format_physical_link_state(info.portPhysicalState);
        all.push_back({error, fmt::format("Physical link state is {} ", is), "portPhysicalState", is, "LinkUp"});
    } else if (info.portState != iba::PortState::Active) {
        const std::string is = format_link_state(info.portState);
        all.push_back({warning, fmt::format("Logical link state is {} ", is), "portState", is, "Active"});
    }
}

void check_width(const subnet& s, port_ref r, std::vector<complaint>& all) {
    const std::string is = width_of(s, r), better = better_width(s, r);
    if (!better.empty()) {
        all.push_back(
            {warning, fmt::format("Link configured as {}, could be {} ", is, better), "linkWidthActive", is, better});
    } else if (!is_comparable(s, r) && is_degraded_to_1x(s, r)) {
        all.push_back({warning, fmt::format("Link configured as {} ", is), "linkWidthActive", is, "more"});
    }
}

void check_speed(const subnet& s, port_ref r, std::vector<complaint>& all) {
    const std::string is = speed_of(s, r), better = better_speed(s, r);
    if (better.empty()) return;
    all.push_back({warning, fmt::format("Link runs at {}, could be {} ", is, better), "linkSpeedActive", is, better});
}

void check_addresses(const PortInfo& info, std::vector<complaint>& all) {
    if (info.LID == iba::lid{}) all.push_back({warning, "Lid is not configured", "LID", "0", "a LID"});
    if (info.masterSMLID == iba::lid{})
        all.push_back({warning, "SM Lid is not configured", "masterSMLID", "0", "a LID"});
}

} // namespace

std::vector<complaint> check_port(const subnet& s, port_ref r, port_checks which) {
    std::vector<complaint> all;
    const PortInfo& info = *s.at(r).info;
    const bool is_switch = s.nodes[r.node].is_switch();
    if (!is_switch || r.port != 0) {
        const bool is_up = info.portState != iba::PortState::Down;
        if (which.state) check_state(info, all);
        if (which.width && is_up) check_width(s, r, all);
        if (which.speed && is_up) check_speed(s, r, all);
    }
    if (which.addresses && (!is_switch || r.port == 0)) check_addresses(info, all);
    return all;
}

bool is_comparable(const subnet& s, port_ref r) {
    const discovery::port& here = s.at(r);
    const bool has_link = here.info && here.info->portState != iba::PortState::Down;
    const bool is_port_0 = s.nodes[r.node].is_switch() && r.port == 0;
    return is_port_0 || !has_link || (here.peer && s.at(here.peer).info);
}

// ---- counters --------------------------------------------------------------------------------------------------------

std::vector<complaint> check_counters(const counters::counter_values& values, const error_thresholds& thresholds) {
    std::vector<complaint> all;
    for_each_counter([&](counter c) {
        const u64 highest = thresholds[c];
        if (!values.has(c) || highest == 0 || (values[c] <= highest && !values.is_pegged(c))) return;
        all.push_back({warning, fmt::format("counter {} = {} \t(threshold {})", label_of(c), values[c], highest),
                       name_of(c), fmt::to_string(values[c]), fmt::to_string(highest)});
    });
    return all;
}

error_thresholds default_thresholds() {
    error_thresholds t;
    for (const counter c :
         {counter::symbolErrorCounter, counter::linkErrorRecoveryCounter, counter::linkDownedCounter,
          counter::portRcvErrors, counter::localLinkIntegrityErrors, counter::excessiveBufferOverrunErrors})
        t.set(c, 10);
    for (const counter c :
         {counter::portRcvRemotePhysicalErrors, counter::portRcvSwitchRelayErrors, counter::portXmitDiscards,
          counter::portXmitConstraintErrors, counter::portRcvConstraintErrors, counter::VL15Dropped})
        t.set(c, 100);
    return t;
}

std::string format_thresholds(const error_thresholds& thresholds, bool json) {
    std::string text;
    nlohmann::ordered_json object;
    for_each_counter([&](counter c) {
        if (thresholds[c] == 0) return;
        text += fmt::format("{}={}\n", label_of(c), thresholds[c]);
        object[std::string(name_of(c))] = thresholds[c];
    });
    return json ? json_line(object) : text;
}

error_thresholds read_thresholds(const std::string& file) {
    error_thresholds t = default_thresholds();
    if (!file.empty()) read_thresholds(t, file);
    return t;
}

std::vector<counter> read_thresholds(error_thresholds& thresholds, const std::string& file) {
    std::istringstream in = iba::open_text_file(file);
    if (!is_called_by_link()) return thresholds.read(in, file);
    return thresholds.read(in, file, [](const std::string& warning) { print_message("{}", warning); });
}

// ---- text ------------------------------------------------------------------------------------------------------------

namespace {

enum class colour : comad::u8 { red = 31, green = 32, blue = 34 };

std::string coloured(const text_style& style, colour c, std::string text) {
    if (!style.has_colours) return text;
    return fmt::format("\033[1;{}m{}\033[0m", static_cast<unsigned>(c), text);
}

std::string place_of(const check_result& v) {
    return v.of == check_result::subject::node ? fmt::format("lid {}", v.LID)
                                               : fmt::format("lid {} port {}", v.LID, v.port);
}

std::string title_of(const check_result& v) {
    switch (v.of) {
    case check_result::subject::node: return "Node check " + place_of(v);
    case check_result::subject::port: return "Port check " + place_of(v);
    case check_result::subject::errors: break;
    }
    return fmt::format("Error check on lid {} ({}) port {}", v.LID, iba::escaped(v.name),
                       v.port == 255 ? "all" : fmt::to_string(v.port));
}

} // namespace

std::string text_of(const check_result& v, const text_style& style) {
    std::string text;
    for (const complaint& c : v.complaints) {
        if (!style.with_complaints) break;
        const char* head = c.how_bad == error ? "error" : "warn";
        text += coloured(style, colour::blue, fmt::format("#{}: {} {}", head, c.text, place_of(v))) + '\n';
    }
    if (v.is_good() && !style.with_good) return text;
    const std::string word =
        v.is_good() ? coloured(style, colour::green, "OK") : coloured(style, colour::red, "FAILED");
    return text + fmt::format("{}: {}\n", title_of(v), word);
}

nlohmann::ordered_json json_of(const check_result& v) {
    constexpr const char* subjects[] = {"node", "port", "errors"};
    nlohmann::ordered_json line{{"check", subjects[static_cast<unsigned>(v.of)]}};
    if (value(v.nodeGUID) != 0) line["nodeGUID"] = fmt::format("{}", v.nodeGUID);
    if (!v.name.empty()) line["description"] = json_string(v.name);
    line["LID"] = v.LID;
    if (v.of != check_result::subject::node) line["port"] = v.port;
    line["ok"] = v.is_good();
    auto& list = line["findings"] = nlohmann::ordered_json::array();
    for (const complaint& c : v.complaints)
        list.push_back({{"severity", c.how_bad == error ? "error" : "warning"},
                        {"attribute", c.about},
                        {"is", c.is},
                        {"expected", c.expected}});
    return line;
}

} // namespace ibtool
