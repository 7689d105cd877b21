// SPDX-License-Identifier: MIT
// describe.cpp - describe: prints the field tables of structures as text, as JSON, or as the reference page.
#include "comad.hpp"
#include "command.hpp"
#include "input/structure.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/fields.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace ibtool {
namespace {

using nlohmann::ordered_json;

/// The command line of describe.
struct describe_settings {
    std::string structure;
    bool json = false, markdown = false;
};

/// Returns the RPCs of an attribute, for example SubnGet and SubnSet for Get and Set of SubnLID.
std::vector<std::string> rpc_names_of(const iba::structure& s) {
    std::vector<std::string> names;
    for (const iba::attribute_use& use : s.uses) {
        // RPC names use `Subn` for both LID-routed and directed-route SMPs, and `Vend` for all vendor classes.
        const bool is_vendors = iba::is_vendor(use.mgmt_class) || iba::is_vendor_oui(use.mgmt_class);
        const std::string mgmt_class = use.mgmt_class == iba::MgmtClass::SubnLID ? "Subn"
                                       : is_vendors                              ? "Vend"
                                                                                 : iba::name_or_number(use.mgmt_class);
        for (const iba::enum_name& method : iba::names_of<iba::Method>)
            if (use.allows(iba::Method{static_cast<u8>(method.value)}))
                names.push_back(fmt::format("{}{}", mgmt_class, method.name));
    }
    return names;
}

std::string rpcs_of(const iba::structure& s) { return fmt::to_string(fmt::join(rpc_names_of(s), " ")); }

std::string attribute_id(const iba::structure& s) {
    return s.uses.empty() ? "" : fmt::format("{:#06x}", s.attributeID);
}

std::string position(const iba::row_info& row) {
    return row.off % 8 == 0 ? fmt::format("{}", row.off / 8) : fmt::format("{}.{}", row.off / 8, row.off % 8);
}

std::string size(const iba::row_info& row) {
    return row.count == 1 ? fmt::format("{}", row.width) : fmt::format("{} x {}", row.count, row.width);
}

/// Describes the type of a field and its named values.
std::string meaning(const iba::row_info& row) {
    std::string text(row.nested ? row.nested->name : iba::kind_of(row));
    const char* separator = ": ";
    for (const iba::enum_name& n : row.names)
        text += fmt::format("{}{} {}", std::exchange(separator, ", "), n.value, n.name);
    return text;
}

std::string format_list() {
    std::string text =
        fmt::format("{:<34} {:>5}  {:<9} {:<10} {}\n", "structure", "bytes", "attribute", "section", "RPCs");
    for (const iba::structure& s : iba::structures()) {
        std::string line = fmt::format("{:<34} {:>5}  {:<9} {:<10} {}", s.info->name, s.info->bytes, attribute_id(s),
                                       s.info->section, rpcs_of(s));
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

/// Returns `IBA 14.2.5.6`, or the source of a structure that the IBA does not define.
std::string source_of(const iba::structure& s) {
    const std::string_view section = s.info->section;
    const std::string_view number = section.substr(section.starts_with('A') ? 1 : 0); // of an annex: A10.4
    const bool is_of_iba = !number.empty() && number.front() >= '0' && number.front() <= '9';
    return fmt::format("{}{}", is_of_iba ? "IBA " : "", section);
}

std::string format_rows(const iba::structure& s) {
    std::string text = fmt::format("{}, {} bytes, {}\n", s.info->name, s.info->bytes, source_of(s));
    if (!s.uses.empty()) text += fmt::format("attribute {}: {}\n", attribute_id(s), rpcs_of(s));
    text += fmt::format("{:>8} {:>9}  {:<34} {}\n", "byte.bit", "bits", "field", "kind");
    for (const iba::row_info& row : s.info->rows)
        text += fmt::format("{:>8} {:>9}  {:<34} {}\n", position(row), size(row), row.name, meaning(row));
    return text;
}

ordered_json json_of(const iba::structure& s) {
    ordered_json fields = ordered_json::array();
    for (const iba::row_info& row : s.info->rows) {
        ordered_json field{{"name", row.name}, {"bit_offset", row.off}, {"bit_width", row.width}, {"count", row.count}};
        field["kind"] = row.nested ? row.nested->name : iba::kind_of(row);
        if (row.is_reserved) field["reserved"] = true;
        for (const iba::enum_name& n : row.names) field["names"][std::string(n.name)] = n.value;
        fields.push_back(std::move(field));
    }
    ordered_json object{{"struct", s.info->name}, {"size_bytes", s.info->bytes}, {"section", s.info->section}};
    if (!s.uses.empty()) {
        object["attributeID"] = s.attributeID;
        object["rpcs"] = rpc_names_of(s);
    }
    object["fields"] = std::move(fields);
    return object;
}

std::string markdown_of(const iba::structure& s) {
    std::string text = fmt::format("\n## {}\n\n{} bytes; {}", s.info->name, s.info->bytes, s.info->section);
    if (!s.uses.empty()) text += fmt::format("; attribute `{}`: {}", attribute_id(s), rpcs_of(s));
    text += "\n";
    if (s.info->rows.empty()) return text;
    text += "\n| byte.bit | bits | field | kind |\n|---|---|---|---|\n";
    for (const iba::row_info& row : s.info->rows)
        text += fmt::format("| {} | {} | `{}` | {} |\n", position(row), size(row), row.name, meaning(row));
    return text;
}

constexpr std::string_view page_head = R"(# Structures

This page lists every structure that comad can encode and decode. The build generates it from the field tables of the library.
A position is a byte, or a byte and a bit with a point between them. Bits are counted from the most significant. Sizes are in bits.
Section numbers refer to the InfiniBand Architecture Specification, volume 1. Structures without a section there are marked as `vendor`.

| structure | bytes | attribute | RPCs |
|---|---|---|---|
)";

std::string reference_page() {
    std::string text(page_head);
    for (const iba::structure& s : iba::structures()) {
        std::string anchor(s.info->name);
        for (char& c : anchor) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        text += fmt::format("| [{}](#{}) | {} | {} | {} |\n", s.info->name, anchor, s.info->bytes, attribute_id(s),
                            rpcs_of(s));
    }
    for (const iba::structure& s : iba::structures()) text += markdown_of(s);
    return text;
}

std::string text_of(const describe_settings& s) {
    if (s.markdown) return reference_page();
    if (!s.structure.empty()) {
        const iba::structure& one = structure_named(s.structure);
        return s.json ? json_line(json_of(one)) : format_rows(one);
    }
    if (!s.json) return format_list();
    std::string text;
    for (const iba::structure& one : iba::structures()) text += json_line(json_of(one));
    return text;
}

} // namespace

command describe_command() {
    return {.name = "describe",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<describe_settings>();
                const argument& one = takes.option("structure", s->structure).such_as(structure_names());
                const argument& json_flag = takes.flag("--json", s->json);
                takes.flag("--markdown", s->markdown).excludes(one).excludes(json_flag);
                return [s](const global_options&) {
                    write_output(text_of(*s));
                    return complete;
                };
            }};
}

} // namespace ibtool
