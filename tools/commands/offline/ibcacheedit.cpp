// SPDX-License-Identifier: MIT
// ibcacheedit.cpp - ibcacheedit: replaces GUIDs in a cache file of ibnetdiscover, with the same result as infiniband-diags.
#include "comad.hpp"
#include "command.hpp"
#include "input/mad_files.hpp"
#include "input/split_text.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/discovery/formats/detail/cache_edit.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

/// The command line of ibcacheedit.
struct ibcacheedit_settings {
    std::string from, to;
    discovery::cache_edits edits;
    bool json = false;
};

nlohmann::ordered_json edits_json(const ibcacheedit_settings& s) {
    nlohmann::ordered_json line{
        {"schema", "comad.cache_edit/1"}, {"cache", json_string(s.from)}, {"new", json_string(s.to)}};
    const auto add = [&line](const char* what, const std::optional<discovery::guid_change>& c) {
        if (c) line[what] = {{"before", fmt::format("{}", c->before)}, {"after", fmt::format("{}", c->after)}};
    };
    add("switch_nodeGUID", s.edits.switch_guid);
    add("CA_nodeGUID", s.edits.ca_guid);
    add("systemImageGUID", s.edits.system_image_guid);
    add("portGUID", s.edits.port_guid);
    if (s.edits.port_guid) line["portGUID"]["nodeGUID"] = fmt::format("{}", s.edits.node);
    return line;
}

/// Parses `count` GUIDs that are separated by colons.
std::vector<iba::guid> read_guids(const std::string& text, std::size_t count, const char* form) {
    std::vector<iba::guid> guids;
    for (const std::string& part : split(text, ':')) {
        const auto number = iba::parse_number(part);
        if (!number || number->is_larger) break;
        guids.push_back(iba::guid{number->value});
    }
    const std::size_t parts = split(text, ':').size();
    if (guids.size() != count || parts != count)
        throw usage_error(
            fmt::format("invalid value {}; expected {} with GUIDs such as 0x2c90300001491", iba::as_given(text), form));
    return guids;
}

/// Returns a function that parses `BEFORE:AFTER`.
argument::text_reader change_reader(std::optional<discovery::guid_change>& where) {
    return [&where](const std::string& text) {
        const auto guids = read_guids(text, 2, "BEFORE:AFTER");
        where.emplace(discovery::guid_change{guids[0], guids[1]});
    };
}

int run_ibcacheedit(const ibcacheedit_settings& s) {
    const std::string bytes = read_file(s.from);
    std::string edited;
    try {
        edited =
            discovery::edited_diags_cache({reinterpret_cast<const comad::u8*>(bytes.data()), bytes.size()}, s.edits);
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("{}: {}", iba::escaped(s.from), e.what()));
    }
    replace_file(edited, s.to);
    if (s.json) write_output(json_line(edits_json(s)));
    return complete;
}

} // namespace

command ibcacheedit_command() {
    return {.name = "ibcacheedit",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibcacheedit_settings>();
                takes.option("cache", s->from).file(file_use::read).required();
                takes.option("new", s->to).file(file_use::replaced).required();
                takes.option("--switchguid", change_reader(s->edits.switch_guid));
                takes.option("--caguid", change_reader(s->edits.ca_guid));
                takes.option("--sysimgguid", change_reader(s->edits.system_image_guid));
                takes.option("--portguid", [s = s.get()](const std::string& text) {
                    const auto guids = read_guids(text, 3, "NODE:BEFORE:AFTER");
                    s->edits.node = guids[0];
                    s->edits.port_guid.emplace(discovery::guid_change{guids[1], guids[2]});
                });
                takes.flag("--json", s->json);
                return [s](const global_options&) { return run_ibcacheedit(*s); };
            }};
}

} // namespace ibtool
