// SPDX-License-Identifier: MIT
// raw_query.cpp - sends any class, method and attribute. Knows the fields of attributes that a table describes, and prints the data of all
// others in hexadecimal. Writes only with --write.
#include "commands/queries/raw_query.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "input/request.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/record_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace ibtool {
namespace {

using iba::Method;
using iba::MgmtClass;

constexpr std::size_t header_size = 24; // of a MAD (IBA 13.4.2)

/// A request without its destination.
struct raw_request {
    mad::rpc_kind kind{};
    const iba::record_info* info = nullptr; ///< null: no table describes the attribute
    std::size_t data_begin = header_size, data_size = mad::mad_size - header_size;
    std::vector<u8> data; ///< from data_begin on
    u64 component_mask = 0;
};

/// Parses a number or one of these names.
u32 read_word(const std::string& text, std::span<const iba::enum_name> words, const char* what, u32 highest) {
    std::vector<std::string_view> names;
    for (const iba::enum_name& w : words) {
        if (w.name == text) return static_cast<u32>(w.value);
        names.push_back(w.name);
    }
    if (iba::parse_number(text)) return read_number(text, what, highest);
    throw usage_error(fmt::format("{} {} is unknown; must be a number or a name; similar: {}", what,
                                  iba::as_given(text), iba::most_similar(text, names)));
}

MgmtClass read_class(const std::string& text) {
    const auto given =
        MgmtClass{static_cast<u8>(read_word(text, iba::names_of<MgmtClass>, "the management class", 0xff))};
    if (value(given) == 0) throw usage_error("the management class must be 1..0xff");
    return given == MgmtClass::SubnDirected ? MgmtClass::SubnLID : given; // the target determines the routing
}

Method read_method(const std::string& text) {
    const auto given = Method{static_cast<u8>(read_word(text, iba::names_of<Method>, "the method", 0xff))};
    if (value(given) == 0 || iba::is_response(given))
        throw usage_error(fmt::format("the method {} is not a request; must be 1..0x7f", iba::as_given(text)));
    return given;
}

/// Returns whether the method only reads: Get, and in SA requests the methods that return several records.
bool only_reads(MgmtClass mgmt_class, Method method) {
    return method == Method::Get || (mgmt_class == MgmtClass::SubnAdm && mad::is_table_method(method));
}

std::vector<u8> read_hex(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    std::vector<u8> bytes;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto byte = iba::parse_digits(text.substr(at, 2), 16);
        if (!byte || at + 2 > text.size())
            throw usage_error(
                fmt::format("--data: must be two hexadecimal digits for each byte, not {}", iba::as_given(text)));
        bytes.push_back(static_cast<u8>(byte->value));
    }
    return bytes;
}

/// Returns the use of a structure in the class; null if it is not an attribute of the class.
const iba::attribute_use* use_in(const iba::structure& s, const mad::rpc_kind& kind) {
    for (const iba::attribute_use& use : s.uses)
        if (use.covers(kind.mgmt_class)) return &use;
    return nullptr;
}

/// Finds the attribute by its name or number, and sets what follows from it.
void take_attribute(raw_request& r, const std::string& word, const raw_query_options& given) {
    const bool is_number = iba::parse_number(word).has_value();
    const iba::structure* const named = is_number ? nullptr : &attribute_named(word, r.kind.mgmt_class);
    if (named) {
        const iba::attribute_use* use = use_in(*named, r.kind);
        if (!use)
            throw usage_error(fmt::format("{} is not an attribute of class {:#04x}; give a number to send it anyway",
                                          word, value(r.kind.mgmt_class)));
        r.kind.attributeID = named->attributeID;
        if (!given.class_version) r.kind.class_version = use->class_version;
        if (given.OUI.empty()) r.kind.OUI = use->OUI;
    } else {
        r.kind.attributeID = static_cast<u16>(read_number(word, "the attribute", 0xffff));
        // Each class that the IBA defines has one version.
        if (!given.class_version && !iba::find_format(r.kind.mgmt_class, 1) && iba::find_format(r.kind.mgmt_class, 2))
            r.kind.class_version = 2;
    }
    r.info = named ? named->info
                   : iba::find_attribute(r.kind.mgmt_class, r.kind.class_version, r.kind.attributeID, r.kind.OUI);
    const auto* format = iba::find_format(r.kind.mgmt_class, r.kind.class_version, r.kind.attributeID);
    if (!format) return; // the data follow the MAD header
    for (const iba::row_info& row : format->rows) {
        if (row.how != iba::show::data) continue;
        r.data_begin = row.off / 8;
        r.data_size = row.count;
    }
}

raw_request make_raw_request(const raw_query& q) {
    raw_request r;
    r.kind.mgmt_class = read_class(q.by_class.mgmt_class);
    r.kind.method = read_method(q.method);
    r.kind.class_version = static_cast<u8>(q.by_class.class_version.value_or(1));
    r.kind.expects_reply = mad::response_method(r.kind.method).has_value();
    if (!q.by_class.OUI.empty()) {
        if (!iba::is_vendor_oui(r.kind.mgmt_class))
            throw usage_error("--oui is for the vendor classes 0x30..0x4f; other classes have no OUI");
        r.kind.OUI = read_number(q.by_class.OUI, "the OUI", 0xffffff);
    }
    take_attribute(r, q.attribute, q.by_class);
    if (!only_reads(r.kind.mgmt_class, r.kind.method) && !q.by_class.writes)
        throw usage_error(
            fmt::format("the method {} may change the target; add --write to send it", iba::as_given(q.method)));
    r.data = read_hex(q.by_class.data);
    if (r.data.size() > r.data_size)
        throw usage_error(fmt::format("--data: has {} bytes, but a MAD of this class has {} bytes of data",
                                      r.data.size(), r.data_size));
    if (!q.fields.empty() && !r.info)
        throw usage_error(
            fmt::format("-f: the fields of attribute {:#06x} are unknown; use --data, or describe the attribute "
                        "with --structures",
                        r.kind.attributeID));
    r.data.resize(r.data_size);
    if (!q.by_class.component_mask.empty()) {
        if (r.kind.mgmt_class != MgmtClass::SubnAdm)
            throw usage_error("--component-mask requires the class SubnAdm; other classes have no component mask");
        const auto mask = iba::parse_number(q.by_class.component_mask);
        if (!mask || mask->is_larger)
            throw usage_error(fmt::format("--component-mask: expected a 64-bit number, such as 0x1, not {}",
                                          iba::as_given(q.by_class.component_mask)));
        r.component_mask = mask->value;
    }
    for (const std::string& field : q.fields) {
        assign(*r.info, r.data, field);
        if (r.kind.mgmt_class != MgmtClass::SubnAdm) continue;
        const auto mask = iba::component_mask(*r.info, iba::parse_assignment(field).value().name);
        if (!mask) throw usage_error(mask.error().text);
        r.component_mask |= mask.value();
    }
    return r;
}

/// Returns the text of a reply. `reply`: the whole MAD, or the whole message of a table.
std::string text_of(const raw_request& r, std::vector<u8> reply, reply_style how) {
    if (mad::is_table_method(r.kind.method) && r.info) {
        const auto table = mad::record_table::of_reply(reply, r.info->bytes);
        if (!table) throw std::runtime_error("the reply is not a table: " + table.error().text);
        std::string out;
        for (std::size_t i = 0; i < table.value().size(); ++i) {
            const std::string one = format_reply(*r.info, table.value()[i], how);
            out += how.json ? one : fmt::format("Reply structure #{}\n{}", i, indented(one));
        }
        return out;
    }
    if (how.which == keys::hidden) iba::hide_keys(reply);
    const std::size_t begin = std::min(r.data_begin, reply.size());
    const std::span<const u8> data = std::span<const u8>(reply).subspan(begin);
    if (r.info && r.info->bytes <= data.size()) return format_reply(*r.info, data.first(r.info->bytes), how);
    return how.json ? json_line({{"data", json_bytes(data)}}) : format_hex(data);
}

mad::any_path default_path(session& in, MgmtClass mgmt_class) {
    if (mgmt_class == MgmtClass::SubnLID) return this_node().path;
    if (mgmt_class == MgmtClass::SubnAdm) return in.schedule().sa_path();
    return this_port(in).path;
}

query_task<report> send_raw(session& in, std::optional<command_target> target, const raw_request& r,
                            const raw_query& q) {
    mad::any_path path;
    if (target) {
        BOOST_OUTCOME_CO_TRY(path, co_await resolve(in, *target));
    } else {
        path = default_path(in, r.kind.mgmt_class);
    }
    const bool is_smp = r.kind.mgmt_class == MgmtClass::SubnLID;
    if (!is_smp && target && target->is_named()) {
        BOOST_OUTCOME_CO_TRY(path, co_await lid_routed(in, path));
    }
    if (!is_smp && mad::directed(path))
        throw usage_error("directed routes are only supported by SMPs; give a LID or a GUID");

    std::array<u8, mad::mad_size> bytes{};
    mad::write_request(bytes.data(), r.kind, path, q.modifier, r.component_mask);
    std::ranges::copy(r.data, bytes.begin() + static_cast<std::ptrdiff_t>(r.data_begin));
    const coro::rpc_request rpc{r.kind, path, q.modifier, r.component_mask};
    auto reply = co_await in.schedule().call_raw(rpc, bytes, coro::reply_size::any_length);
    const bool is_write = !only_reads(r.kind.mgmt_class, r.kind.method);
    report done;
    if (!reply) {
        if (!is_write || !mad::may_have_acted(reply.error())) co_return std::move(reply.error());
        done.missing.push_back(unknown_change(format_place(path), reply.error()));
    } else if (!r.kind.expects_reply) {
        done.notes.push_back("sent; this method has no reply");
    } else {
        const bool is_annotated = style_of(in.options()) == structure_style::annotated;
        const reply_style how{q.json, is_annotated, q.show_keys ? keys::shown : keys::hidden};
        done.text = text_of(r, std::move(reply.value().payload), how);
        if (is_write) done.notes.push_back("only the reply confirms the write: query does not read the attribute back");
    }
    co_return done;
}

} // namespace

void add_raw_query_options(arguments& takes, raw_query_options& o, const argument& raw) {
    const argument& mgmt_class = takes.option("--class", o.mgmt_class).excludes(raw);
    takes.option("--class-version", o.class_version).range(1, 255).needs(mgmt_class);
    takes.option("--oui", o.OUI).needs(mgmt_class);
    takes.option("--data", o.data).needs(mgmt_class);
    takes.option("--component-mask", o.component_mask).needs(mgmt_class);
    takes.flag("--write", o.writes).needs(mgmt_class);
}

int run_raw_query(const raw_query& q, const global_options& options) {
    const raw_request r = make_raw_request(q);
    if (options.by_sa && r.kind.mgmt_class == MgmtClass::SubnLID)
        throw usage_error("--sa is not supported by class SubnLID: it sends SMPs; use SubnAdmGet to query the SA");
    std::optional<command_target> target;
    if (!q.target.empty()) target = read_target(q.target, q.kind);
    return run_query(options, target ? &*target : nullptr, [&](session& in) { return send_raw(in, target, r, q); });
}

} // namespace ibtool
