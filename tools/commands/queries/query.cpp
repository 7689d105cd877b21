// SPDX-License-Identifier: MIT
// query.cpp - query: sends any RPC of the IBA, and sets any field, by name. Writes only with the RPCs that write. Does not depend on
// particular attributes, except to verify writes.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/raw_query.hpp"
#include "commands/writing/port_write.hpp"
#include "input/field_changes.hpp"
#include "input/request.hpp"
#include "input/structure.hpp"
#include "session/counter_queries.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include "text/output.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/record_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

using iba::MgmtClass;

/// The command line of query.
struct query_settings {
    std::string method, attribute, target;
    std::vector<std::string> fields;
    u32 modifier = 0;
    target_options kind;
    bool raw = false, show_keys = false, json = false;
    raw_query_options by_class;
};

std::span<const u8> payload_in(const request& r, std::span<const u8> reply) {
    return reply.subspan(mad::payload_offset(r.kind.mgmt_class, r.kind.attributeID), r.attribute->info->bytes);
}

std::string format_reply(const request& r, std::span<const u8> reply, reply_style how) {
    const iba::record_info& info = *r.attribute->info;
    if (!mad::is_table_method(r.kind.method)) return format_reply(info, payload_in(r, reply), how);
    const auto table = mad::record_table::of_reply(reply, info.bytes);
    if (!table) throw std::runtime_error("the reply is not a table: " + table.error().text);
    std::string out;
    for (std::size_t i = 0; i < table.value().size(); ++i) {
        const std::string one = format_reply(info, table.value()[i], how);
        out += how.json ? one : fmt::format("Reply structure #{}\n{}", i, indented(one));
    }
    return out;
}

query_task<std::vector<u8>> send(session& in, mad::rpc_kind kind, mad::any_path path, u32 modifier, u64 component_mask,
                                 std::vector<u8> payload) {
    std::array<u8, mad::mad_size> bytes{};
    u8* data = mad::write_request(bytes.data(), kind, path, modifier, component_mask);
    std::copy(payload.begin(), payload.end(), data);
    const comad::coro::rpc_request rpc{kind, path, modifier, component_mask};
    auto reply = co_await in.schedule().call_raw(rpc, bytes);
    if (!reply) co_return std::move(reply.error());
    co_return std::move(reply.value().payload);
}

// ---- verification of writes ------------------------------------------------------------------------------------------

/// A write, its destination, and what is needed to verify it.
struct sent_write {
    const request& r;
    mad::any_path path;
    u32 modifier;
    std::vector<u8> before;                                ///< payload of a Get before the write; empty: none
    std::optional<iba::ClassPortInfo> PMA = {};            ///< for a Set that clears counters
    const mad::mad_error* failure = nullptr;               ///< error of the write; null: it got a reply
    std::vector<u8> reply = {};                            ///< payload of the reply
    std::optional<u8> downs_before = {}, downs_after = {}; ///< LinkDownedCounter, for a change of the link state

    std::string place() const { return format_place(path); }
    bool is_of_sa() const { return r.kind.mgmt_class == MgmtClass::SubnAdm; }
};

u64 number_in(const request& r, const char* field) {
    const auto row = iba::find_field(*r.attribute->info, field);
    return row ? iba::bits_at(r.payload.data(), row.value().off, row.value().width) : 0;
}

/// Returns the counters that a PerformanceSet clears; null if it is another request. A Set that only selects counters writes 0 to them.
const counter_group* group_to_clear(const request& r) {
    if (r.kind.mgmt_class != MgmtClass::Performance || r.kind.method != iba::Method::Set) return nullptr;
    const bool selects = std::ranges::all_of(r.fields, [](const std::string& field) {
        return field.starts_with("portSelect=") || field.starts_with("counterSelect");
    });
    return selects ? find_counter_group(r.kind.attributeID) : nullptr;
}
clearing_request clearing_of(const sent_write& w) {
    constexpr unsigned above = 16; // position of counterSelect2, as in all_counters()
    const auto port = static_cast<u8>(number_in(w.r, "portSelect"));
    const u64 select = number_in(w.r, "counterSelect") | number_in(w.r, "counterSelect2") << above;
    return {{*std::get_if<mad::IBPath>(&w.path), *w.PMA}, group_to_clear(w.r), port, {port}, select};
}

/// Returns whether a Get returns what this Set writes.
bool can_be_compared(const request& r) {
    if (r.kind.method != iba::Method::Set || r.fields.empty() || r.kind.mgmt_class == MgmtClass::Performance)
        return false;
    return std::ranges::any_of(r.attribute->uses, [&](const auto& use) {
        return use.covers(r.kind.mgmt_class) && use.allows(iba::Method::Get);
    });
}

/// Returns one line for each written field that now has another value. Lines about keys do not contain the values.
std::vector<std::string> other_values(const sent_write& w, std::span<const u8> now) {
    const iba::record_info& info = *w.r.attribute->info;
    if (&info == &iba::info_of<iba::smp::PortInfo>) {
        port_evidence seen;
        iba::decode(seen.after, now.data());
        seen.before = seen.after; // --raw does not read it
        if (!w.before.empty()) iba::decode(seen.before, w.before.data());
        if (!w.reply.empty())
            seen.reply = iba::decode<iba::smp::PortInfo>(
                std::span<const u8>(w.reply).first<iba::wire_size<iba::smp::PortInfo>>());
        seen.downs_before = w.downs_before;
        seen.downs_after = w.downs_after;
        port_change change;
        change.fields = w.r.fields;
        change_verdict found = evaluate(change, seen);
        if (!found.uncertainty.empty()) found.differences.push_back(found.uncertainty);
        return found.differences;
    }
    std::vector<std::string> lines;
    for (const std::string& field : w.r.fields) {
        std::vector<u8> wanted(now.begin(), now.end());
        assign(info, wanted, field);
        if (std::ranges::equal(wanted, now)) continue;
        const std::string_view name = iba::parse_assignment(field).value().name;
        const bool is_key = iba::is_key(iba::find_field(info, name).value());
        lines.push_back(is_key ? fmt::format("{} differs from the value that was written", name)
                               : fmt::format("{} is {}, but {} was requested", name,
                                             iba::get_field(info, now, name).value(),
                                             iba::get_field(info, wanted, name).value()));
    }
    return lines;
}

query_task<std::vector<u8>> read_written(session& in, const sent_write& w, mad::any_path path) {
    const mad::rpc_kind get = reading(w.r);
    const std::function<query_task<std::vector<u8>>()> reads = [&] {
        return send(in, get, path, w.modifier, w.r.component_mask,
                    w.is_of_sa() || w.before.empty() ? w.r.payload : std::vector<u8>());
    };
    auto reading_again = read_back<std::vector<u8>>(in, reads);
    co_return co_await std::move(reading_again);
}

/// Returns the path to the port after its M_Key or CC_Key was set.
mad::any_path path_after(const sent_write& w) {
    mad::any_path path = w.path;
    const iba::record_info& info = *w.r.attribute->info;
    const auto named = [&](const char* key) {
        return std::ranges::any_of(w.r.fields,
                                   [&](const std::string& f) { return iba::parse_assignment(f).value().name == key; });
    };
    if (&info == &iba::info_of<iba::smp::PortInfo> && named("MKey"))
        std::visit(
            [&](mad::path_headers& h) {
                h.MKey = iba::decode<iba::smp::PortInfo>(
                             std::span<const u8>(w.r.payload).first<iba::wire_size<iba::smp::PortInfo>>())
                             .MKey;
            },
            path);
    if (auto* to = std::get_if<mad::IBPath>(&path);
        to && &info == &iba::info_of<iba::cc::CongestionKeyInfo> && named("CCKey"))
        to->CCKey = iba::decode<iba::cc::CongestionKeyInfo>(
                        std::span<const u8>(w.r.payload).first<iba::wire_size<iba::cc::CongestionKeyInfo>>())
                        .CCKey;
    return path;
}

/// Checks whether the SA has the record after a Set, or no longer after a Delete. Returns an error if the SA's reply does not show it.
query_task<std::vector<std::string>> check_record(session& in, const sent_write& w) {
    const bool is_deleted = w.r.kind.method == iba::Method::Delete;
    auto found = co_await read_written(in, w, w.path);
    constexpr u8 no_records = 3, too_many_records = 4; // IBA 15.2.4
    const u8 code =
        found || found.error().code != mad::errc::class_status ? u8{0} : iba::class_status(found.error().status);
    if (!found && code != no_records && code != too_many_records) co_return std::move(found.error());
    const bool is_there = code != no_records;
    std::vector<std::string> lines;
    if (is_there && is_deleted) lines.emplace_back("the SA still has the record");
    if (!is_there && !is_deleted) lines.emplace_back("the SA does not have the record that was written");
    co_return lines;
}

bool is_of_port(const request& r) { return r.attribute->info == &iba::info_of<iba::smp::PortInfo>; }

/// Returns LinkDownedCounter before or after a change of the link state; nullopt for other requests.
coro::task<std::optional<u8>> downs_of(session& in, const sent_write& w) {
    const bool is_order = is_of_port(w.r) && std::ranges::any_of(w.r.fields, [](const std::string& f) {
                              const auto name = iba::parse_assignment(f).value().name;
                              return name == "portState" || name == "portPhysicalState";
                          });
    const auto* to = std::get_if<mad::IBPath>(&w.path);
    if (!is_order || w.before.empty()) co_return std::nullopt;
    const iba::lid LID =
        iba::decode<iba::smp::PortInfo>(std::span<const u8>(w.before).first<iba::wire_size<iba::smp::PortInfo>>()).LID;
    auto counting = link_downs(in, to ? to->DLID : LID, static_cast<u8>(w.modifier));
    co_return co_await std::move(counting);
}

query_task<std::vector<std::string>> check_fields(session& in, sent_write w) {
    const mad::any_path after = path_after(w);
    auto now = co_await read_written(in, w, after);
    if (!now && w.failure && after != w.path) now = co_await read_written(in, w, w.path);
    if (!now) co_return std::move(now.error());
    if (w.downs_before) w.downs_after = co_await downs_of(in, w);
    co_return other_values(w, payload_in(w.r, now.value()));
}

query_task<std::vector<std::string>> check_counters(session& in, const sent_write& w) {
    const clearing_request what = clearing_of(w);
    BOOST_OUTCOME_CO_TRY(auto left, co_await kept_counters(in, what, what.port, w.before));
    std::vector<std::string> lines;
    if (!left.names.empty()) lines.push_back(std::move(left.names));
    co_return lines;
}

/// Returns whether the write can be verified: the SA or the node supports a Get of the attribute.
bool is_checked(const sent_write& w) {
    if (w.PMA) return true;
    if (!w.is_of_sa()) return can_be_compared(w.r);
    return std::ranges::any_of(w.r.attribute->uses, [&](const auto& use) {
        return use.covers(MgmtClass::SubnAdm) && use.allows(iba::Method::Get);
    });
}

query_task<std::vector<std::string>> check_write(session& in, const sent_write& w) {
    if (w.PMA) return check_counters(in, w);
    return w.is_of_sa() ? check_record(in, w) : check_fields(in, w);
}

coro::task<void> add_check(session& in, const sent_write& w, report& done) {
    if (!is_checked(w)) {
        if (w.failure) done.missing.push_back(unknown_change(w.place(), *w.failure));
        else done.notes.push_back("only the reply confirms the write: this attribute cannot be read back");
        co_return;
    }
    auto checking = check_write(in, w);
    const auto lines = co_await std::move(checking);
    if (!lines) done.missing.push_back(unknown_change(w.place(), decisive(w.failure, lines.error())));
    else
        for (const std::string& line : lines.value()) done.missing.push_back(not_set(w.place(), line, w.failure));
}

query_task<report> query_anything(session& in, std::optional<command_target> target, request r, query_settings s) {
    mad::any_path path = in.schedule().sa_path();
    if (target) {
        auto resolved = co_await resolve(in, *target);
        if (!resolved) co_return std::move(resolved.error());
        path = resolved.value();
    } else if (r.kind.mgmt_class != MgmtClass::SubnAdm) {
        path = this_node().path;
    }
    const bool is_smp = r.kind.mgmt_class == MgmtClass::SubnLID;
    if (!is_smp && target && target->is_named()) {
        BOOST_OUTCOME_CO_TRY(path, co_await lid_routed(in, path));
    }
    if (!is_smp && mad::directed(path))
        throw usage_error("directed routes are only supported by SMPs; give a LID or a GUID");
    const bool is_write = r.kind.method == iba::Method::Set || r.kind.method == iba::Method::Delete;

    sent_write w{r, path, s.modifier, {}};
    if (writes_all_fields(r) && !s.raw) {
        const mad::rpc_kind get = reading(r);
        auto now = co_await send(in, get, path, s.modifier, 0, {});
        if (!now) {
            now.error().message(
                "nothing was written: cannot read the present values; --raw writes without reading them");
            co_return std::move(now.error());
        }
        const auto bytes = payload_in(r, now.value());
        w.before.assign(bytes.begin(), bytes.end());
        r.payload = changed(*r.attribute->info, bytes, r.fields);
    } else if (const counter_group* g = group_to_clear(r)) {
        const mad::IBPath to = *std::get_if<mad::IBPath>(&path);
        const auto info = co_await in.schedule().PerformanceGet<iba::ClassPortInfo>(to);
        auto before = co_await get_counters(in.schedule(), to, *g, static_cast<u8>(number_in(r, "portSelect")));
        if (info && before) {
            w.PMA = info.value();
            w.before = std::move(before).value();
        }
    }
    if (is_write) w.downs_before = co_await downs_of(in, w);
    auto reply = co_await send(in, r.kind, path, s.modifier, r.component_mask, r.payload);
    if (!reply && !(is_write && mad::may_have_acted(reply.error()))) co_return std::move(reply.error());
    const bool requests_key = r.attribute->info == &iba::info_of<iba::cc::CongestionKeyInfo>;
    const reply_style how{s.json, style_of(in.options()) == structure_style::annotated,
                          s.show_keys || requests_key ? keys::shown : keys::hidden};
    report done;
    if (reply) {
        done.text = format_reply(r, reply.value(), how);
        if (!mad::is_table_method(r.kind.method)) {
            const auto bytes = payload_in(r, reply.value());
            w.reply.assign(bytes.begin(), bytes.end());
        }
    } else {
        w.failure = &reply.error();
    }
    if (is_write) {
        auto checking = add_check(in, w, done);
        co_await std::move(checking);
    }
    co_return done;
}

int run_query(const query_settings& s, const global_options& options) {
    if (!s.by_class.mgmt_class.empty())
        return run_raw_query(
            {s.by_class, s.method, s.attribute, s.target, s.fields, s.modifier, s.kind, s.show_keys, s.json}, options);
    const request r = make_request(s.method, s.attribute, s.fields);
    if (options.by_sa && r.kind.mgmt_class == MgmtClass::SubnLID)
        throw usage_error(
            fmt::format("--sa is not supported by {}: it sends SMPs; use SubnAdmGet to query the SA", s.method));
    if (s.raw && !writes_all_fields(r))
        throw usage_error(
            fmt::format("--raw requires a Set that first reads the present values; {} {} does not read them", s.method,
                        r.attribute->info->name));
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return ibtool::run_query(options, target ? &*target : nullptr,
                             [&](session& in) { return query_anything(in, target, r, s); });
}

} // namespace

command query_command() {
    return {
        .name = "query", .group = command_group::queries, .writes = true, .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<query_settings>();
            takes.option("rpc", s->method).required();
            takes.option("attribute", s->attribute).such_as(structure_names()).required();
            takes.option("target", s->target);
            takes.option("-f,--field", s->fields).one_each();
            takes.option("-a,--modifier,--attribute-id", s->modifier).shows_default();
            add_raw_query_options(takes, s->by_class, takes.flag("--raw", s->raw));
            add_target_options(takes, s->kind);
            takes.flag("-K,--show_keys", s->show_keys);
            takes.flag("--json", s->json);
            return [s](const global_options& options) { return run_query(*s, options.with_trace_keys(s->show_keys)); };
        }};
}

} // namespace ibtool
