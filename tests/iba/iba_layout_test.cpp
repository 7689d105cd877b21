// SPDX-License-Identifier: MIT
// iba_layout_test.cpp - all tables compared with machine-readable descriptions of the IBA.
#include "iba_components.hpp"
#include "iba_disputes.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/registry.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace comad;
using namespace comad::iba;
using nlohmann::json;

namespace {

// A structure as lines of text. Equal structures have equal lines.
using lines = std::vector<std::string>;

std::string method_line(std::string_view mgmt_class, std::string_view method) {
    return fmt::format("{} {}", mgmt_class, method);
}

/// Returns a row as text: `LMC 277/3` or `SLtoVL 16 x 0/4`, and its display format. Lists of bytes count as one field.
std::string row_line(std::string_view name, unsigned off, unsigned width, unsigned count, std::string_view kind) {
    const bool is_list = count > 1 && kind != "bytes" && kind != "text" && kind != "data" && kind != "reserved";
    const std::string place =
        is_list ? fmt::format("{} x {}/{}", count, off, width) : fmt::format("{}/{}", off, width * count);
    return fmt::format("{} {} {}", name, place, kind);
}

lines lines_of(const json& facts) {
    lines out{fmt::format("{} bytes", facts["size_bytes"].get<unsigned>())};
    if (!facts["section"].is_null()) out.push_back("section " + facts["section"].get<std::string>());
    if (!facts["attribute_id"].is_null())
        out.push_back(fmt::format("attribute {:#06x}", facts["attribute_id"].get<unsigned>()));
    for (const json& method : facts["methods"]) {
        const Method number{method["method"].get<u8>()};
        out.push_back(method_line(method["class"].get<std::string>(), name_or_number(number)));
    }
    for (const json& field : facts["fields"]) {
        if (field.value("zero_width", false)) continue; // only a placeholder for a bit of the component mask
        const std::string type = field["type"];
        const std::string display = field.value("display", "");
        std::string kind = field.contains("nested") ? type : "dec";
        if (type == "GUID") kind = "guid";
        if (type == "GID") kind = "gid";
        if (type == "bytes") kind = "bytes";
        if (display == "hex" || display == "data") kind = display;
        if (display == "string") kind = "text";
        if (display == "gid_prefix") kind = "prefix";
        if (field.value("reserved", false)) kind = "reserved";
        out.push_back(
            row_line(field["name"].get<std::string>(), field["bit_offset"], field["bit_width"], field["count"], kind));
    }
    return out;
}

std::string_view kind_name(const row_info& row) {
    if (row.is_reserved) return "reserved";
    if (row.nested) return row.nested->name;
    switch (row.how) {
    case show::dec: return row.count > 1 && row.width == 8 ? "bytes" : "dec";
    case show::name: return "dec"; // comad decides which enumerations have names
    case show::hex: return "hex";
    case show::guid: return "guid";
    case show::gid: return "gid";
    case show::prefix: return "prefix";
    case show::text: return "text";
    case show::bytes: return "bytes";
    case show::details: return "bytes";
    case show::data: return "data";
    }
    return "";
}

std::string class_name(MgmtClass mgmt_class) {
    if (mgmt_class == MgmtClass::SubnLID) return "Subn";
    if (is_vendor(mgmt_class) || is_vendor_oui(mgmt_class)) return "Vend";
    return name_or_number(mgmt_class);
}

lines lines_of(const structure& s) {
    lines out{fmt::format("{} bytes", s.info->bytes)};
    // For structures that the IBA does not have, the text is not a section number.
    if (!s.info->section.starts_with("vendor")) out.push_back(fmt::format("section {}", s.info->section));
    if (!s.uses.empty()) out.push_back(fmt::format("attribute {:#06x}", s.attributeID));
    for (const attribute_use& use : s.uses) {
        for (const enum_name& method : names_of<Method>)
            if (use.allows(Method{static_cast<u8>(method.value)}))
                out.push_back(method_line(class_name(use.mgmt_class), method.name));
    }
    for (const row_info& row : s.info->rows)
        out.push_back(row_line(row.name, row.off, row.width, row.count, kind_name(row)));
    return out;
}

/// Returns rows that only the data file has with a minus, and rows that only the table has with a plus.
lines differences(lines facts, lines table) {
    std::sort(facts.begin(), facts.end());
    std::sort(table.begin(), table.end());
    lines out;
    lines only;
    std::set_difference(facts.begin(), facts.end(), table.begin(), table.end(), std::back_inserter(only));
    for (const std::string& line : only) out.push_back("- " + line);
    only.clear();
    std::set_difference(table.begin(), table.end(), facts.begin(), facts.end(), std::back_inserter(only));
    for (const std::string& line : only) out.push_back("+ " + line);
    return out;
}

lines known_differences(const disputes& all, const std::string& structure) {
    const auto found = all.find(structure);
    return found == all.end() ? lines{} : found->second.differences;
}

} // namespace

TEST_CASE("the table of every IBA structure equals the independent layout data, except for documented disputes") {
    unsigned disputed = 0;
    for (const json& facts : load_data("iba_layout.jsonl")) {
        const std::string name = facts["struct"];
        INFO(name);
        const structure* found = find_structure(name);
        REQUIRE(found);
        CHECK(differences(lines_of(facts), lines_of(*found)) == known_differences(layout_disputes(), name));
        disputed += layout_disputes().contains(name);
    }
    CHECK(disputed == layout_disputes().size());
}

TEST_CASE("an attribute is found in every class whose formats carry it") {
    for (const json& facts : load_data("iba_layout.jsonl")) {
        if (!facts.contains("mgmt_classes")) continue;
        const structure* found = find_structure(facts["struct"].get<std::string>());
        REQUIRE(found);
        for (const json& mgmt_class : facts["mgmt_classes"]) {
            INFO(facts["struct"] << " in " << mgmt_class);
            CHECK(std::any_of(found->uses.begin(), found->uses.end(),
                              [&](const attribute_use& use) { return use.covers(MgmtClass{mgmt_class.get<u8>()}); }));
        }
    }
}

namespace {

/// Returns `nodeInfo.nodeGUID 7` for every bit of the component mask of a structure in the data file.
lines mask_lines(const json& facts) {
    lines out;
    for (const auto& [name, bit] : facts["component_mask"].items())
        out.push_back(fmt::format("{} {}", name, bit.get<unsigned>()));
    return out;
}

/// Returns these lines for a table.
lines mask_lines(const record_info& info) {
    lines out;
    for (const component& c : components_of(info)) out.push_back(fmt::format("{} {}", c.name, c.bit));
    return out;
}

} // namespace

TEST_CASE("component mask bits equal the independent layout data, except for documented disputes") {
    unsigned masks = 0;
    unsigned disputed = 0;
    for (const json& facts : load_data("iba_layout.jsonl")) {
        if (!facts.contains("component_mask")) continue;
        ++masks;
        const std::string name = facts["struct"];
        INFO(name);
        CHECK(differences(mask_lines(facts), mask_lines(*find_structure(name)->info)) ==
              known_differences(mask_disputes(), name));
        disputed += mask_disputes().contains(name);
    }
    CHECK(masks == 21);
    CHECK(disputed == mask_disputes().size());
}
