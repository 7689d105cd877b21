// SPDX-License-Identifier: MIT
// selection.cpp - reads the options that select nodes and ports, and applies them to a subnet.
#include "session/selection.hpp"

#include "input/line_file.hpp"
#include "input/options.hpp"
#include "input/split_text.hpp"
#include <comad/discovery/database/detail/first_word.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fnmatch.h>
#include <stdexcept>
#include <utility>

namespace ibtool {

using discovery::node;
using discovery::node_names;
using discovery::port_ref;
using discovery::subnet;

namespace {

/// Returns the words of a list such as `1x, 2x, 4x`.
std::vector<std::string> words_in(std::string_view list) {
    std::vector<std::string> words = split(list, ',');
    for (std::string& word : words) word = trimmed(word);
    return words;
}

} // namespace

void add_selection_options(arguments& takes, selection_options& o) {
    const auto add = [&](const char* name, std::vector<std::string>& values) -> argument& {
        return takes.option(name, values).one_each().yields();
    };
    add("--name", o.names);
    add("--type", o.types).such_as({"switch", "ca", "router"});
    add("--guid", o.guids);
    add("--guid-file", o.guid_files).file(file_use::read);
    add("--exclude", o.excluded);
    add("--port-state", o.port_states).such_as({"down", "init", "armed", "active"});
    add("--speed", o.speeds).such_as(words_in(iba::all_speed_names()));
    add("--width", o.widths).such_as(words_in(iba::all_width_names()));
}

// ---- values ----------------------------------------------------------------------------------------------------------

namespace {

/// Calls `take` for each element of the values, which are lists with commas.
template <class F> void for_each_listed(const std::vector<std::string>& values, F&& take) {
    for (const std::string& value : values)
        for (const std::string& word : split(value, ',')) take(word);
}

std::optional<iba::guid> guid_of(std::string_view text) {
    if (const auto GUID = iba::parse_guid(text)) return GUID;
    const auto number = iba::parse_guid_number(text);
    if (!number || number->is_larger) return std::nullopt;
    return iba::guid{number->value};
}

iba::guid read_guid(const std::string& word) {
    if (const auto GUID = guid_of(word)) return *GUID;
    throw usage_error(
        fmt::format("--guid: invalid GUID {}; expected 0002:c903:0000:1491 or 0x2c90300001491", iba::as_given(word)));
}

[[noreturn]] void refuse_word(const char* option, const std::string& word, std::string_view known) {
    throw usage_error(fmt::format("{}: expected a list of {}, not {}", option, known, iba::as_given(word)));
}

iba::NodeType read_type(const std::string& word) {
    constexpr std::string_view known = "switch, ca, router";
    const std::string name = to_lower(word);
    const iba::NodeType type = discovery::node_type_named(name);
    if (discovery::names_of_type(type).lower != name) refuse_word("--type", word, known);
    return type;
}

iba::PortState read_state(const std::string& word) {
    const std::pair<std::string_view, iba::PortState> known[] = {{"down", iba::PortState::Down},
                                                                 {"init", iba::PortState::Initialize},
                                                                 {"initialize", iba::PortState::Initialize},
                                                                 {"armed", iba::PortState::Armed},
                                                                 {"active", iba::PortState::Active}};
    const auto found = std::ranges::find(known, to_lower(word), &std::pair<std::string_view, iba::PortState>::first);
    if (found == std::end(known)) refuse_word("--port-state", word, "down, init, armed, active");
    return found->second;
}

/// Returns whether a name matches a shell pattern as a whole, or with its first word, which is the host name of most adapters.
bool matches_name(const std::string& glob, const std::string& name) {
    const auto matches = [&](const std::string& text) {
        return ::fnmatch(glob.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
    };
    return matches(name) || matches(std::string(discovery::first_word(name)));
}

/// Returns whether this is the GUID of the node, or of one of its ports.
bool has_guid(const node& n, const auto& is_wanted) {
    return is_wanted(n.info.nodeGUID) || std::ranges::any_of(n.ports, [&](const discovery::port& p) {
               return p.portGUID != iba::guid{} && is_wanted(p.portGUID);
           });
}

/// Returns the GUIDs in a file. The input of the program is read only once, although the command may run for several fabrics.
std::vector<iba::guid> guids_in(const std::string& file) {
    static std::map<std::string, std::vector<iba::guid>> known;
    if (const auto found = known.find(file); found != known.end()) return found->second;
    std::vector<iba::guid> all;
    read_lines(file, "a GUID, such as 0x0002c90300001491", [&](std::string_view line) {
        const auto GUID = guid_of(line.substr(0, line.find_first_of(" \t,;#")));
        if (GUID) all.push_back(*GUID);
        return GUID.has_value();
    });
    return known.emplace(file, std::move(all)).first->second;
}

} // namespace

subnet_selection::subnet_selection(const selection_options& o) {
    for (const std::string& text : o.names) names_.push_back({"--name", text, std::nullopt});
    for (const std::string& text : o.excluded) excluded_.push_back({"--exclude", text, iba::parse_guid(text)});
    for (pattern& p : excluded_)
        if (iba::begins_hex(p.text)) p.GUID = guid_of(p.text);
    for_each_listed(o.types, [&](const std::string& word) { types_.push_back(read_type(word)); });
    read_guids(o.guids, o.guid_files);
    for_each_listed(o.port_states, [&](const std::string& word) { states_.insert(read_state(word)); });
    for_each_listed(o.speeds, [&](const std::string& word) {
        const auto speed = iba::speed_of_name(word);
        if (!speed) refuse_word("--speed", word, iba::all_speed_names());
        speeds_ |= *speed;
    });
    for_each_listed(o.widths, [&](const std::string& word) {
        const auto width = iba::width_of_name(word);
        if (!width) refuse_word("--width", word, iba::all_width_names());
        widths_.insert(*width);
    });
}

void subnet_selection::read_guids(const std::vector<std::string>& words, const std::vector<std::string>& files) {
    for_each_listed(words, [&](const std::string& word) {
        guid_lists_.push_back({fmt::format("--guid {}", iba::as_given(word)), {read_guid(word)}});
    });
    for (const std::string& file : files) {
        guid_list list{fmt::format("--guid-file {}", iba::as_given(file)), {}, true};
        list.GUIDs = guids_in(file == "-" ? "/dev/stdin" : file);
        if (list.GUIDs.empty()) throw std::runtime_error(fmt::format("{}: the file contains no GUID", list.option));
        guid_lists_.push_back(std::move(list));
    }
    for (const guid_list& list : guid_lists_) guids_.insert(list.GUIDs.begin(), list.GUIDs.end());
}

// ---- nodes and ports -------------------------------------------------------------------------------------------------

bool subnet_selection::pattern::matches(const node& n, const std::string& name) const {
    if (GUID && has_guid(n, [&](iba::guid g) { return g == *GUID; })) return true;
    return matches_name(text, name);
}

bool subnet_selection::has_guid_of(const node& n) const {
    return has_guid(n, [&](iba::guid g) { return guids_.contains(g); });
}

bool subnet_selection::wants(const node& n, const node_names& names) const {
    if (!types_.empty() && std::ranges::find(types_, n.info.nodeType) == types_.end()) return false;
    if (!guid_lists_.empty() && !has_guid_of(n)) return false;
    const std::string name = names_.empty() && excluded_.empty() ? std::string() : names.of(n);
    const auto fits = [&](const pattern& p) { return p.matches(n, name); };
    return (names_.empty() || std::ranges::any_of(names_, fits)) && std::ranges::none_of(excluded_, fits);
}

bool subnet_selection::excludes(const node& n, const node_names& names) const {
    if (excluded_.empty()) return false;
    const std::string name = names.of(n);
    return std::ranges::any_of(excluded_, [&](const pattern& p) { return p.matches(n, name); });
}

bool subnet_selection::wants_port(const subnet& s, port_ref r) const {
    if (!has_port_rules()) return true;
    const auto& info = s.at(r).info;
    if (!info || (r.port == 0 && s.nodes[r.node].is_switch())) return false;
    if (!states_.empty() && !states_.contains(info->portState)) return false;
    if (speeds_ == 0 && widths_.empty()) return true;
    if (info->portState == iba::PortState::Down) return false; // has neither speed nor width
    const iba::lane_speeds speed = discovery::is_fdr10(s, r) ? iba::lane_speed::FDR10 : discovery::active_speed(s, r);
    return (speeds_ == 0 || (speed & speeds_) != 0) &&
           (widths_.empty() || widths_.contains(discovery::active_width(s, r)));
}

std::vector<std::string> subnet_selection::unmatched(const subnet& s, const node_names& names) const {
    std::vector<std::string> lines;
    for (const auto* patterns : {&names_, &excluded_})
        for (const pattern& p : *patterns)
            if (std::ranges::none_of(s.nodes, [&](const node& n) { return p.matches(n, names.of(n)); }))
                lines.push_back(fmt::format("{} {} matches no node", p.option, iba::as_given(p.text)));
    if (guid_lists_.empty()) return lines;
    std::unordered_set<iba::guid> present;
    for (const node& n : s.nodes) {
        present.insert(n.info.nodeGUID);
        for (const discovery::port& p : n.ports) present.insert(p.portGUID);
    }
    for (const guid_list& list : guid_lists_) {
        const auto absent = std::ranges::count_if(list.GUIDs, [&](iba::guid g) { return !present.contains(g); });
        if (absent == 0) continue;
        lines.push_back(list.is_file
                            ? fmt::format("{}: {} of {} GUIDs match no node", list.option, absent, list.GUIDs.size())
                            : fmt::format("{} matches no node", list.option));
    }
    return lines;
}

selected_parts::selected_parts(const subnet_selection& what, const subnet& s, const node_names& names)
    : selection_(what), notes_(what.is_all() ? std::vector<std::string>() : what.unmatched(s, names)) {
    wanted_.assign(s.nodes.size(), true);
    excluded_.assign(s.nodes.size(), false);
    nodes_ = wanted_;
    if (what.is_all()) return;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        wanted_[n] = what.wants(s.nodes[n], names);
        excluded_[n] = what.excludes(s.nodes[n], names);
    }
    has_nodes_ = std::ranges::find(wanted_, true) != wanted_.end();
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        bool has_port = false;
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p)
            has_port = has_port || what.wants_port(s, {n, static_cast<u8>(p)});
        nodes_[n] = wanted_[n] && (has_port || !what.has_port_rules());
    }
}

void selected_parts::require_nodes() const {
    if (!has_nodes_) refuse_empty_selection(notes_);
}

bool selected_parts::port(const subnet& s, port_ref r) const { return wanted_[r.node] && selection_.wants_port(s, r); }

bool selected_parts::link_end(const subnet& s, port_ref r) const {
    const port_ref peer = s.at(r).peer;
    return port(s, r) && !(peer && excluded_[peer.node]);
}

bool selected_parts::link(const subnet& s, port_ref r) const {
    const port_ref peer = s.at(r).peer;
    if (excluded_[r.node] || (peer && excluded_[peer.node])) return false;
    return port(s, r) || (peer && port(s, peer));
}

void refuse_empty_selection(const std::vector<std::string>& notes) {
    throw std::runtime_error("the options select no node of the subnet" +
                             (notes.empty() ? std::string() : ": " + notes.front()));
}

void refuse_excluded_target(const std::string& name) {
    throw std::runtime_error(fmt::format("the options that select nodes exclude \"{}\"", name));
}

} // namespace ibtool
