// SPDX-License-Identifier: MIT
// saquery_kinds.cpp - the table of record types, in the order and with the abbreviations of infiniband-diags.
#include "commands/queries/saquery_kinds.hpp"

#include "comad.hpp"
#include "input/split_text.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include "text/sa_text.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <type_traits>

namespace ibtool {

namespace sa = iba::sa;

namespace {

/// Corrects blockNum of PKeyTableRecords. OpenSM sends it in the byte order of its host (osm_sa_pkey_record.c), mostly little-endian.
/// Valid block numbers are below 256, because no port has 8192 P_Keys, so swapped numbers are recognizable.
template <class R> R repaired(R record) {
    if constexpr (std::is_same_v<R, sa::PKeyTableRecord>)
        if (record.blockNum % 256 == 0) record.blockNum /= 256;
    return record;
}

/// Adds required components to a path query (IBA 15.2.5.16). Without any component, it selects one path from the local port to each other
/// port instead of all paths of the subnet. A table query requires numbPath; its default is the largest number.
void fill_in(session& in, iba::query<sa::PathRecord>& q) {
    using sa::PathRecord;
    const bool is_bare = q.component_mask() == 0;
    if (is_bare && in.local_port().GID != iba::gid{}) q.where<&PathRecord::SGID>(in.local_port().GID);
    else if (is_bare) q.where<&PathRecord::SLID>(in.local_port().LID);
    if ((q.component_mask() & iba::mask_of<&PathRecord::numbPath>) == 0)
        q.where<&PathRecord::numbPath>(static_cast<u8>(is_bare ? 1 : 127));
}

/// Returns the components that the query compares: `LID=3, nodeInfo.nodeType=Switch`.
std::string format_compared(const iba::record_info& info, std::span<const u8> bytes, u64 mask) {
    std::string text;
    for (const iba::field_info& field : iba::fields_of(info)) {
        const auto bits = iba::component_mask(info, field.name);
        if (field.row.nested || !bits || bits.value() == 0 || (mask & bits.value()) != bits.value()) continue;
        if (const auto value = iba::get_field(info, bytes, field.name))
            text += fmt::format("{}{}={}", text.empty() ? "" : ", ", field.name, iba::escaped(value.value()));
    }
    return text;
}

template <class R> std::string format_record(const R& record, structure_style style, const record_style& how) {
    return format_structure(style, record, how.which, [&](const R& r) {
        if constexpr (std::is_same_v<R, sa::NodeRecord>) return format_saquery(r, name_of(how.names, r));
        else if constexpr (requires { format_saquery(r, how.which); }) return format_saquery(r, how.which);
        else return format_saquery(r);
    });
}

template <class R> query_task<std::string> query_for(session& in, components wanted, record_style how) {
    require_sa(in);
    auto query = query_of<R>(wanted);
    constexpr bool is_of_paths = std::is_same_v<R, sa::PathRecord>;
    const bool fills_in = is_of_paths && how.fills_in && !how.is_single;
    // Under the name `saquery`, a query without components returns all paths of the subnet, if the SA supports that.
    const bool requests_all = fills_in && query.component_mask() == 0 && is_called_by_link();
    if constexpr (is_of_paths)
        if (fills_in && !requests_all) fill_in(in, query);
    if (in.options().verbosity)
        print_message("querying {} with component mask {:#x}: {}", iba::info_of<R>.name, query.component_mask(),
                      format_compared(iba::info_of<R>, iba::encode(query.value()), query.component_mask()));
    auto found = co_await records<R>(in, query, how.is_single);
    if constexpr (is_of_paths)
        if (requests_all && !found && found.error().code == mad::errc::class_status) {
            fill_in(in, query);
            found = co_await records<R>(in, query, how.is_single);
        }
    if (!found) co_return std::move(found.error());
    const structure_style style = style_of(in.options());
    std::string out;
    for (const R& given : found.value()) {
        const R record = repaired(given);
        out += how.json ? json_line(structure_json(record, how.which)) : format_record(record, style, how);
    }
    co_return out;
}

query_task<std::string> query_class_port_info(session& in, components wanted, record_style how) {
    if (!wanted.empty()) throw usage_error("ClassPortInfo takes no NAME=VALUE");
    require_sa(in);
    auto info = co_await in.schedule().SubnAdmGet<iba::ClassPortInfo>();
    if (!info) co_return std::move(info.error());
    if (how.json) co_return json_line(structure_json(info.value()));
    co_return format_record(info.value(), style_of(in.options()), how);
}

template <class R>
record_kind row_of(std::string_view name, std::string_view abbreviation, std::string_view arguments = {}) {
    return {name, abbreviation, &iba::info_of<R>, query_for<R>, arguments};
}

const std::vector<record_kind>& kinds() {
    static const std::vector<record_kind> all{
        {"ClassPortInfo", "CPI", &iba::info_of<iba::ClassPortInfo>, query_class_port_info, {}},
        row_of<sa::NodeRecord>("NodeRecord", "NR", "LID"),
        row_of<sa::PortInfoRecord>("PortInfoRecord", "PIR", "endportLID/portNum/reserved_24"),
        row_of<sa::SLToVLMappingTableRecord>("SL2VLTableRecord", "SL2VL", "LID/inputPortNum/outputPortNum"),
        row_of<sa::PKeyTableRecord>("PKeyTableRecord", "PKTR", "LID/portNum/blockNum"),
        row_of<sa::VLArbitrationTableRecord>("VLArbitrationTableRecord", "VLAR", "LID/outputPortNum/blockNum"),
        row_of<sa::InformInfoRecord>("InformInfoRecord", "IIR", "subscriberGID"),
        row_of<sa::LinkRecord>("LinkRecord", "LR", "fromLID/fromPort toLID/toPort"),
        row_of<sa::ServiceRecord>("ServiceRecord", "SR"),
        row_of<sa::PathRecord>("PathRecord", "PR"),
        row_of<sa::MCMemberRecord>("MCMemberRecord", "MCMR", "MLID"),
        row_of<sa::LinearForwardingTableRecord>("LFTRecord", "LFTR", "LID/blockNum"),
        row_of<sa::MulticastForwardingTableRecord>("MFTRecord", "MFTR", "LID/position/blockNum"),
        row_of<sa::GUIDInfoRecord>("GUIDInfoRecord", "GIR", "LID/blockNum"),
        row_of<sa::SwitchInfoRecord>("SwitchInfoRecord", "SWIR", "LID"),
        row_of<sa::SMInfoRecord>("SMInfoRecord", "SMIR", "LID"),
        row_of<sa::RandomForwardingTableRecord>("RFTRecord", "RFTR", "LID/blockNum"),
        row_of<sa::ServiceAssociationRecord>("ServiceAssociationRecord", "SAR"),
    };
    return all;
}

/// Returns all names of a record type, including the name of its structure with and without the prefix.
std::vector<std::string_view> names_of(const record_kind& k) {
    const std::string_view structure = k.info->name;
    return {k.name, k.abbreviation, structure, structure.substr(structure.starts_with("SA") ? 2 : 3)};
}

bool is_name(const std::string& text) { return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])); }

/// Returns whether the component contains the LID of a node.
bool is_lid(std::string_view component) { return component.ends_with("LID") && component != "MLID"; }

} // namespace

const record_kind* kind_named(std::string_view word) {
    const std::string small = to_lower(word);
    for (const record_kind& k : kinds())
        for (const std::string_view name : names_of(k))
            if (to_lower(name) == small) return &k;
    return nullptr;
}

const record_kind* kind_that_begins(std::string_view word) {
    const record_kind* found = nullptr;
    std::vector<std::string_view> all;
    for (const record_kind& k : kinds()) {
        const auto names = names_of(k);
        if (std::ranges::none_of(names, [&](std::string_view name) { return name.starts_with(word); })) continue;
        all.push_back(k.name);
        found = found ? found : &k;
    }
    if (all.size() > 1)
        throw usage_error(
            fmt::format("{} is ambiguous; the nearest record types are {} (see --help for all); for the node "
                        "of that name, use saquery NR {}",
                        iba::as_given(word), iba::most_similar(word, all), iba::escaped(word.substr(0, 60))));
    return found;
}

std::vector<std::string> kind_names() {
    std::vector<std::string> all;
    for (const record_kind& k : kinds()) all.emplace_back(k.name);
    return all;
}

void add_argument(const record_kind& k, std::size_t which, const std::string& text, components& wanted) {
    const auto words = split(k.arguments, ' ');
    const auto names = which < words.size() ? split(words[which], '/') : std::vector<std::string>{};
    const auto parts = split(text, '/');
    if (k.arguments.empty() || parts.size() > names.size())
        throw usage_error(fmt::format("{} takes {}, not {}", k.name,
                                      k.arguments.empty() ? "only NAME=VALUE" : k.arguments, iba::as_given(text)));
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!parts[i].empty()) wanted.push_back({names[i], parts[i]});
}

component node_named(const discovery::node_names& names, const std::string& name) {
    if (const auto guid = names.find(name)) return {"nodeInfo.nodeGUID", fmt::format("{}", *guid)};
    return {"nodeDescription.nodeString", name};
}

void refuse_name(const std::string& name) {
    throw std::runtime_error(fmt::format("no node is named '{}'", iba::escaped(name)));
}

comad::coro::task<mad::result<components>> with_lids(session& in, components wanted, discovery::node_names names) {
    for (component& c : wanted) {
        if (!is_lid(c.name) || !is_name(c.text)) continue;
        require_sa(in);
        const components of_node{node_named(names, c.text)};
        const auto query = query_of<sa::NodeRecord>(of_node);
        auto found = co_await records<sa::NodeRecord>(in, query);
        if (!found) co_return std::move(found.error());
        if (found.value().empty()) refuse_name(c.text);
        c.text = fmt::format("{}", value(found.value().front().LID));
    }
    co_return wanted;
}

} // namespace ibtool
