// SPDX-License-Identifier: MIT
// check_cabling_text.cpp - formats cabling faults as lines and JSON.
#include "text/check_cabling_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace ibtool {

using discovery::cabling_fault;
using discovery::planned_cable;

namespace {

std::string_view word_of(cabling_fault::kind k) {
    switch (k) {
    case cabling_fault::kind::missing: return "missing";
    case cabling_fault::kind::swapped: return "swapped";
    case cabling_fault::kind::moved: return "moved";
    case cabling_fault::kind::extra: return "extra";
    }
    return "?";
}

std::string text_of(const discovery::planned_end& e) {
    return e.words.empty() ? fmt::format("{}[{}]", iba::escaped(e.node), e.port)
                           : fmt::format("{}[{}]", iba::escaped(e.node), iba::escaped(e.words));
}

nlohmann::ordered_json json_of(const discovery::planned_end& e) {
    nlohmann::ordered_json end{{"node", json_string(e.node)}, {"port", e.port}};
    if (!e.words.empty()) end["port_text"] = json_string(e.words);
    return end;
}

/// Formats the cables and ports of a plan and a subnet.
class cabling_words {
public:
    cabling_words(std::span<const planned_cable> plan, const discovery::subnet& s, const discovery::node_names& names)
        : plan_(plan), s_(s), names_(names) {}

    std::string planned(comad::u32 c) const {
        return fmt::format("{} <=> {} (line {})", text_of(plan_[c].a), text_of(plan_[c].b), plan_[c].line);
    }
    std::string planned(const cabling_fault& f) const {
        std::string text;
        for (const auto c : f.cables) text += (text.empty() ? "" : ", ") + planned(c);
        return text;
    }
    std::string found(const cabling_fault& f) const {
        std::string text;
        for (const auto& l : f.links)
            text += fmt::format("{}{} <=> {}", text.empty() ? "" : ", ", place(l.from), place(l.to));
        return text;
    }

    nlohmann::ordered_json planned_json(const cabling_fault& f) const {
        auto all = nlohmann::ordered_json::array();
        for (const auto c : f.cables) {
            const planned_cable& p = plan_[c];
            nlohmann::ordered_json cable{{"line", p.line}};
            cable.update(json_of(p.a));
            cable["peer"] = json_of(p.b);
            all.push_back(std::move(cable));
        }
        return all;
    }
    nlohmann::ordered_json found_json(const cabling_fault& f) const {
        auto all = nlohmann::ordered_json::array();
        for (const auto& l : f.links) {
            nlohmann::ordered_json link = place_json(s_, l.from, names_);
            link["peer"] = place_json(s_, l.to, names_);
            all.push_back(std::move(link));
        }
        return all;
    }

private:
    std::string place(discovery::port_ref r) const {
        return fmt::format("{}[{}]", names_.of(s_.nodes[r.node]), r.port);
    }

    std::span<const planned_cable> plan_;
    const discovery::subnet& s_;
    const discovery::node_names& names_;
};

} // namespace

std::string format_cabling(std::span<const planned_cable> plan, const discovery::cabling& is,
                           const discovery::subnet& s, const discovery::node_names& names) {
    const cabling_words words(plan, s, names);
    std::string text;
    for (const cabling_fault& f : is.faults) {
        text += fmt::format("{}: {}", word_of(f.what), words.planned(f));
        if (!f.links.empty()) text += fmt::format("{}{}", f.cables.empty() ? "" : ": found ", words.found(f));
        if (!f.why.empty()) text += fmt::format(": {}", f.why);
        text += '\n';
    }
    for (const comad::u32 c : is.unknown) text += fmt::format("unknown: {}\n", words.planned(c));
    text += fmt::format("{} cables planned, {} of them connected as planned; {} links in the subnet\n", is.planned,
                        is.as_planned, is.links);
    return text;
}

std::string cabling_json(std::span<const planned_cable> plan, const discovery::cabling& is, const discovery::subnet& s,
                         const discovery::node_names& names) {
    const cabling_words words(plan, s, names);
    auto faults = nlohmann::ordered_json::array();
    for (const cabling_fault& f : is.faults) {
        nlohmann::ordered_json one{{"kind", word_of(f.what)}};
        if (!f.cables.empty()) one["planned"] = words.planned_json(f);
        if (!f.links.empty()) one["found"] = words.found_json(f);
        if (!f.why.empty()) one["why"] = f.why;
        faults.push_back(std::move(one));
    }
    nlohmann::ordered_json out{{"schema", "comad.cabling/1"}, {"complete", s.complete()},
                               {"planned", is.planned},       {"as_planned", is.as_planned},
                               {"links", is.links},           {"faults", std::move(faults)}};
    if (!is.unknown.empty()) out["unknown"] = is.unknown.size();
    return json_document(out);
}

} // namespace ibtool
