// SPDX-License-Identifier: MIT
// port_change.cpp - parses the operations of ibportstate with its limits (IBA 14.2.5.6), and compares a port with the requested change.
#include "commands/writing/port_change.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "input/options.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

namespace ibtool {
namespace {

using iba::smp::PortInfo;

/// What an operation affects.
enum class effect : u8 {
    none,
    link,    ///< takes the link down
    state,   ///< changes the state of a link that is up
    setting, ///< applies when the link trains, or to packets
    address,
    key,
};

/// An operation, the field that it writes, and its limits.
struct port_operation {
    std::string_view name;
    effect what;
    std::string_view field; ///< field of PortInfo
    std::string_view value; ///< new value; empty: the next argument
    u32 least = 0, most = 0;
};
constexpr port_operation port_operation_table[] = {
    {"query", effect::none, {}, {}},
    {"enable", effect::link, "portPhysicalState", "Polling"},
    {"on", effect::link, "portPhysicalState", "Polling"},
    {"reset", effect::link, "portPhysicalState", "Polling"},
    {"disable", effect::link, "portPhysicalState", "Disabled"},
    {"off", effect::link, "portPhysicalState", "Disabled"},
    {"down", effect::link, "portState", "Down"},
    {"arm", effect::state, "portState", "Armed"},
    {"active", effect::state, "portState", "Active"},
    {"speed", effect::setting, "linkSpeedEnabled", {}, 0, 15},
    {"espeed", effect::setting, "linkSpeedExtEnabled", {}, 0, 63}, // values from 32 also set linkSpeedExtEnabled2
    {"fdr10", effect::setting, {}, {}, 0, 1},
    {"width", effect::setting, "linkWidthEnabled", {}, 0, 255},
    {"vls", effect::setting, "operationalVLs", {}, 1, 5},
    {"mtu", effect::setting, "neighborMTU", {}, 1, 5},
    {"lid", effect::address, "LID", {}, 1, 0xbfff},
    {"smlid", effect::address, "masterSMLID", {}, 1, 0xbfff},
    {"lmc", effect::address, "LMC", {}, 0, 7},
    {"mkey", effect::key, "MKey", {}},
    {"mkeylease", effect::key, "MKeyLeasePeriod", {}, 0, 0xffff},
    {"mkeyprot", effect::key, "MKeyProtectBits", {}, 0, 3},
};

constexpr unsigned extended_bits = 5; // width of linkSpeedExtEnabled
constexpr u32 all_legacy_widths = 31, all_widths = 255;

bool has_value(const port_operation& o) { return o.what != effect::none && o.value.empty(); }

const port_operation& port_operation_named(const std::string& name) {
    std::vector<std::string_view> names;
    for (const port_operation& o : port_operation_table) {
        if (o.name == name) return o;
        names.push_back(o.name);
    }
    throw usage_error(fmt::format("unknown operation {}; the nearest are {} (see --help for all)", iba::as_given(name),
                                  iba::most_similar(name, names)));
}

u64 read_key(const std::string& text) {
    auto key = iba::parse_number(text);
    if (!key) { // visible neither on the terminal nor in a list of processes
        const char* typed = ::getpass("New M_Key: ");
        if (typed) key = iba::parse_number(typed);
    }
    if (!key || key->is_larger) throw usage_error("the M_Key must be a 64-bit number");
    return key->value;
}

/// Adds the field that an operation writes, with its value, to the change.
void take_value(port_change& c, const port_operation& o, const std::string& text) {
    if (o.field == "MKey") {
        c.fields.push_back(fmt::format("MKey={:#x}", read_key(text)));
        return;
    }
    const std::string what = fmt::format("the value of {}", o.name);
    const u32 value = read_number(text, what.c_str(), o.most);
    if (value < o.least) throw usage_error(fmt::format("{} must be {}..{}", what, o.least, o.most));
    if (o.name == "width" && value > all_legacy_widths && value != all_widths)
        throw usage_error(
            fmt::format("{} is {}, expected a sum of 1 (1x), 2 (4x), 4 (8x), 8 (12x), 16 (2x), or 255", what, value));
    if (o.name == "fdr10") {
        c.FDR10 = value;
    } else if (o.name == "espeed") {
        c.fields.push_back(fmt::format("{}={}", o.field, value & ((1u << extended_bits) - 1)));
        if (value >> extended_bits != 0) c.fields.push_back("linkSpeedExtEnabled2=1");
    } else {
        c.fields.push_back(fmt::format("{}={}", o.field, value));
    }
}

/// Returns the name of the field in an assignment.
std::string_view field_of(const std::string& assignment) { return iba::parse_assignment(assignment).value().name; }

bool is_state(std::string_view field) { return field == "portState" || field == "portPhysicalState"; }

} // namespace

void port_change::keep_state() {
    std::erase_if(fields, [](const std::string& f) { return is_state(field_of(f)); });
    cuts_link = false;
}

port_change read_port_change(const std::vector<std::string>& words) {
    port_change c;
    std::vector<std::string_view> seen;
    bool has_state = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const port_operation& o = port_operation_named(words[i]);
        if (std::ranges::find(seen, o.name) != seen.end()) throw usage_error(fmt::format("{} is given twice", o.name));
        seen.push_back(o.name);
        c.cuts_link |= o.what == effect::link;
        c.moves |= o.name == "lid" || o.name == "lmc";
        c.is_of_end_port |= o.what == effect::address || o.what == effect::key;
        if (has_value(o)) {
            if (i + 1 == words.size()) throw usage_error(fmt::format("{} requires a value", o.name));
            take_value(c, o, words[++i]);
            continue;
        }
        if (has_state)
            throw usage_error(fmt::format("{} and {} exclude each other: a port has only one state", c.state, o.name));
        has_state = true;
        c.state = o.name;
        if (!o.field.empty()) c.fields.push_back(fmt::format("{}={}", o.field, o.value));
    }
    if (has_state && c.state == "query" && c.writes())
        throw usage_error("query cannot be combined with operations that write");
    return c;
}

std::vector<std::string> port_operation_names() {
    std::vector<std::string> all;
    for (const port_operation& o : port_operation_table) all.emplace_back(o.name);
    return all;
}

namespace {

/// Returns whether a subnet manager has configured the link.
bool is_configured(iba::PortState s) { return s == iba::PortState::Armed || s == iba::PortState::Active; }

/// Returns whether a value that differs from the written one is acceptable. The port moves on from transient states by itself. Some
/// values are orders, or stand for a set of values, such as all supported speeds.
bool is_as_ordered(std::string_view field, const PortInfo& wanted, const PortInfo& before, const PortInfo& now) {
    constexpr u8 all_speeds = 15, no_extended = 30, all_extended = 31;
    if (field == "portState")
        return wanted.portState == iba::PortState::Down || wanted.portState == now.portState ||
               (wanted.portState == iba::PortState::Armed && now.portState == iba::PortState::Active &&
                before.portState != iba::PortState::Active);
    if (field == "portPhysicalState") return wanted.portPhysicalState != iba::PortPhysicalState::Disabled;
    if (field == "linkWidthEnabled") return wanted.linkWidthEnabled == 0 || wanted.linkWidthEnabled == all_widths;
    if (field == "linkSpeedEnabled") return wanted.linkSpeedEnabled == 0 || wanted.linkSpeedEnabled == all_speeds;
    if (field == "linkSpeedExtEnabled")
        return wanted.linkSpeedExtEnabled == 0 || wanted.linkSpeedExtEnabled == no_extended ||
               wanted.linkSpeedExtEnabled == all_extended;
    return false;
}

std::vector<std::string> differences(const port_change& c, const PortInfo& before, const PortInfo& read_back) {
    const iba::record_info& info = iba::info_of<PortInfo>;
    const auto now = iba::encode(read_back);
    std::vector<std::string> lines;
    for (const std::string& field : c.fields) {
        auto requested_bytes = now;
        assign(info, requested_bytes, field);
        PortInfo wanted;
        iba::decode(wanted, requested_bytes.data());
        const std::string_view name = field_of(field);
        if (requested_bytes == now || is_as_ordered(name, wanted, before, read_back)) continue;
        const bool is_secret = name == "MKey";
        lines.push_back(is_secret ? std::string("MKey differs from the value that was written")
                                  : fmt::format("{} is {}, but {} was requested", name,
                                                iba::get_field(info, now, name).value(),
                                                iba::get_field(info, requested_bytes, name).value()));
    }
    return lines;
}

/// An order that is over as soon as the port has followed it: the link goes down, or it goes down and trains.
enum class link_order : u8 { none, down, polling };

/// Returns the order that a change contains.
link_order order_of(const port_change& c) {
    std::vector<u8> bytes(iba::info_of<PortInfo>.bytes);
    for (const std::string& field : c.fields) assign(iba::info_of<PortInfo>, bytes, field);
    PortInfo wanted;
    iba::decode(wanted, bytes.data());
    if (wanted.portState == iba::PortState::Down) return link_order::down;
    return wanted.portPhysicalState == iba::PortPhysicalState::Polling ? link_order::polling : link_order::none;
}

/// Returns whether the order was executed, if the states show it. Nullopt: the states could be the same in both cases.
std::optional<bool> shown_by_states(link_order order, const PortInfo& before, const PortInfo& after) {
    using enum iba::PortPhysicalState;
    if (order == link_order::polling) {
        if (before.portPhysicalState == Polling || after.portPhysicalState != before.portPhysicalState) return true;
        if (before.portPhysicalState != LinkUp) return false;
    }
    if (before.portState == iba::PortState::Down || after.portState == iba::PortState::Down) return true;
    if (is_configured(before.portState) && !is_configured(after.portState)) return true;
    return std::nullopt;
}

bool has_same_states(const PortInfo& a, const PortInfo& b) {
    return a.portState == b.portState && a.portPhysicalState == b.portPhysicalState;
}

std::string state_line(link_order order, const PortInfo& after) {
    if (order == link_order::down)
        return fmt::format("portState is {} instead of Down", iba::name_or_number(after.portState));
    return fmt::format("portPhysicalState is {} instead of Polling", iba::name_or_number(after.portPhysicalState));
}

/// Judges whether an order was executed, from states, LinkDownedCounter and the reply to the Set, in this order.
void judge_link(link_order order, const port_evidence& e, change_verdict& v) {
    const std::optional<bool> is_shown = shown_by_states(order, e.before, e.after);
    if (is_shown == true) return;
    const std::string line = state_line(order, e.after);
    const bool is_counted = e.downs_before && e.downs_after && *e.downs_after >= *e.downs_before;
    if (is_shown == false) {
        v.differences.push_back(line);
    } else if (is_counted && *e.downs_after > *e.downs_before) {
        if (is_configured(e.after.portState))
            v.note = fmt::format("the link went down and is {} again: LinkDownedCounter increased from {} to {}",
                                 iba::name_or_number(e.after.portState), *e.downs_before, *e.downs_after);
    } else if (is_counted) {
        v.differences.push_back(fmt::format("{}, and LinkDownedCounter is still {}", line, *e.downs_after));
    } else if (e.reply && is_configured(e.before.portState) && has_same_states(*e.reply, e.before)) {
        v.differences.push_back(line + ", also in the reply to the Set");
    } else {
        v.uncertainty = fmt::format("portState is {}{}, and LinkDownedCounter could not be read",
                                    iba::name_or_number(e.after.portState),
                                    e.after.portState == e.before.portState ? " as before" : "");
    }
}

} // namespace

change_verdict evaluate(const port_change& c, const port_evidence& e) {
    change_verdict v;
    v.differences = differences(c, e.before, e.after);
    const link_order order = order_of(c);
    if (order != link_order::none) judge_link(order, e, v);
    return v;
}

} // namespace ibtool
