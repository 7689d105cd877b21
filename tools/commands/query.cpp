// SPDX-License-Identifier: MIT
// query.cpp - query: any RPC of the IBA with any field, by name. It writes only by the RPCs that do. Knows no attribute.
#include "command.hpp"
#include "input/changes.hpp"
#include "input/request.hpp"
#include "input/structure.hpp"
#include "session/ask.hpp"
#include "text/output.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/print.hpp>
#include <comad/mad/record_table.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u32;
using comad::u64;
using comad::u8;
using iba::MgmtClass;

struct query_settings {
    std::string method, attribute, target;
    std::vector<std::string> fields;
    u32 modifier = 0;
    target_options kind;
    bool raw = false, show_keys = false, json = false;
};

std::span<const u8> payload_in(const request& r, std::span<const u8> reply) {
    return reply.subspan(mad::payload_offset(r.kind.mgmt_class, r.kind.attributeID), r.attribute->info->bytes);
}

struct reply_style {
    bool json, annotated;
    iba::key_display keys;
};

std::string one_text(const iba::record_info& info, std::span<const u8> bytes, reply_style how) {
    if (how.json) return iba::json(info, bytes, nullptr, iba::json_style::readable, how.keys) + '\n';
    const auto style = how.annotated ? structure_style::annotated : structure_style::IBA_names;
    return structure_text(style, info, {bytes.begin(), bytes.end()}, how.keys);
}

std::string reply_text(const request& r, std::span<const u8> reply, reply_style how) {
    const iba::record_info& info = *r.attribute->info;
    if (!mad::is_table_method(r.kind.method)) return one_text(info, payload_in(r, reply), how);
    const auto table = mad::record_table::of_reply(reply, info.bytes);
    if (!table) throw std::runtime_error("the reply is no table: " + table.error().text);
    std::string out;
    for (std::size_t i = 0; i < table.value().size(); ++i) {
        const std::string one = one_text(info, table.value()[i], how);
        out += how.json ? one : fmt::format("Reply structure #{}\n{}", i, indented(one));
    }
    return out;
}

asked<std::vector<u8>> send(session& in, mad::rpc_kind kind, mad::any_path path, u32 modifier, u64 component_mask,
                            std::vector<u8> payload) {
    std::array<u8, mad::mad_size> bytes{};
    u8* data = mad::write_request(bytes.data(), kind, path, modifier, component_mask);
    std::copy(payload.begin(), payload.end(), data);
    const comad::coro::rpc_request asked{kind, path, modifier, component_mask};
    auto reply = co_await in.schedule().call_raw(asked, bytes);
    if (!reply) co_return std::move(reply.error());
    co_return std::move(reply.value().payload);
}

/// With what the node holds now in the fields that are not named.
asked<std::vector<u8>> payload_over(session& in, const request& r, mad::any_path path, u32 modifier) {
    const mad::rpc_kind get = reading(r);
    auto now = co_await send(in, get, path, modifier, 0, {});
    if (!now) {
        now.error().message("nothing was written: what is there must be read first, unless --raw says otherwise");
        co_return std::move(now.error());
    }
    co_return changed(*r.attribute->info, payload_in(r, now.value()), r.fields);
}

answer ask_anything(session& in, std::optional<mad::address> target, request r, query_settings s) {
    mad::any_path path = in.schedule().sa_path();
    if (target) {
        auto resolved = co_await resolve(in, *target);
        if (!resolved) co_return std::move(resolved.error());
        path = resolved.value();
    } else if (r.kind.mgmt_class != MgmtClass::SubnAdm) {
        path = this_node().path;
    }
    const bool is_smp = r.kind.mgmt_class == MgmtClass::SubnLID;
    if (!is_smp && mad::directed(path)) throw usage_error("only subnet management has directed routes");

    if (writes_all_fields(r) && !s.raw) {
        BOOST_OUTCOME_CO_TRY(r.payload, co_await payload_over(in, r, path, s.modifier));
    }
    BOOST_OUTCOME_CO_TRY(const auto reply, co_await send(in, r.kind, path, s.modifier, r.component_mask, r.payload));
    const bool asks_for_key = r.attribute->info == &iba::info_of<iba::cc::CongestionKeyInfo>;
    const reply_style how{s.json, style_of(in.options()) == structure_style::annotated,
                          s.show_keys || asks_for_key ? iba::key_display::shown : iba::key_display::hidden};
    co_return reply_text(r, reply, how);
}

int run_query(const query_settings& s, const global_options& options) {
    const request r = make_request(s.method, s.attribute, s.fields);
    if (options.by_SA && r.kind.mgmt_class == MgmtClass::SubnLID)
        throw usage_error(fmt::format("there is no --sa for {}: it is an SMP; SubnAdmGet asks the SA", s.method));
    if (s.raw && !writes_all_fields(r))
        throw usage_error(
            fmt::format("--raw is for a Set that reads first, and {} {} does not", s.method, r.attribute->info->name));
    std::optional<mad::address> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return ask(options, target ? &*target : nullptr, [&](session& in) { return ask_anything(in, target, r, s); });
}

} // namespace

command query_command() {
    return {.name = "query",
            .group = command_group::queries,
            .summary = "make any RPC, with any field by name",
            .examples = "query SubnGet PortInfo 7 -a 1\nquery SubnAdmGetTable LinkRecord -f fromLID=3\nquery "
                        "PerformanceGet PortCounters 7 -f portSelect=1\nquery SubnSet PortInfo 7 -a 3 -f HOQLife=18",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<query_settings>();
                takes.option("rpc", s->method, "SubnGet, SubnAdmGetTable, PerformanceGet, ...").required();
                takes.option("attribute", s->attribute, "SMPNodeInfo, NodeInfo, ...: 'ibtool describe' lists them")
                    .such_as(structure_names())
                    .required();
                takes.option("target", s->target, "destination [SubnAdm: the SA; else the local node]");
                takes
                    .option("-f,--field", s->fields,
                            "NAME=VALUE, repeatable: a field of the request; in a query to the "
                            "SA records must have it")
                    .one_each();
                takes.option("-a,--modifier", s->modifier, "attributeModifier").shows_default();
                takes.flag("--raw", s->raw,
                           "of a Set: write 0 to the fields that are not named, instead of what is there");
                add_target_options(takes, s->kind);
                takes.flag("-K,--show_keys", s->show_keys,
                           "show M_Keys, SM_Keys and CC_Keys; CongestionKeyInfo's is, anyway");
                takes.flag("--json", s->json, "one JSON object per line");
                return [s](const global_options& options) { return run_query(*s, options); };
            }};
}

} // namespace ibtool
