// SPDX-License-Identifier: MIT
// smpdump.cpp - smpdump: sends any SubnGet by attribute number, and prints the raw reply.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of smpdump.
struct smpdump_settings {
    std::string target, attribute, modifier;
    target_options kind;
    bool as_text = false, decoded = false, show_keys = false, json = false;
};

/// Returns the reply with any status.
coro::task<mad::result<std::vector<u8>>> query_raw(session& in, mad::any_path path, u16 attributeID, u32 modifier) {
    const mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Get, attributeID, true};
    std::array<u8, mad::mad_size> request{};
    mad::write_request(request.data(), kind, path, modifier);
    const coro::rpc_request what{kind, path, modifier};
    auto reply = co_await in.schedule().call_raw(what, request);
    if (reply) co_return std::move(reply.value().payload);
    mad::mad_error error = std::move(reply.error());
    const bool answered = error.code == mad::errc::status || error.code == mad::errc::class_status;
    if (answered && error.detail && error.detail->reply.size() >= mad::mad_size)
        co_return std::move(error.detail->reply);
    co_return std::move(error);
}

/// Returns the reply as JSON. The member `decoded` is missing if the attribute is unknown.
nlohmann::ordered_json smp_json(u16 attributeID, unsigned status, std::span<const u8> data, bool is_decoded) {
    nlohmann::ordered_json all{{"schema", "comad.smp/1"}, {"status", status}, {"data", json_bytes(data)}};
    const iba::record_info* found = iba::find_attribute(iba::MgmtClass::SubnLID, 1, attributeID);
    if (is_decoded && found) all["decoded"] = json_object(*found, data);
    return all;
}

query_task<std::string> dump(session& in, command_target target, u16 attributeID, u32 modifier,
                             const smpdump_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(auto reply, co_await query_raw(in, path, attributeID, modifier));
    if (!s.show_keys) iba::hide_keys(reply);
    const unsigned status = reply[4] << 8 | reply[5]; // with the D bit of a directed-route SMP
    const std::span<const u8> data(reply.data() + 64, 64);
    if (s.decoded && !s.json) co_return iba::dump_mad(std::span<const u8>(reply).first(mad::mad_size));
    if (s.json) co_return json_line(smp_json(attributeID, status, data, s.decoded));
    const std::string_view characters(reinterpret_cast<const char*>(data.data()), data.size());
    std::string text = s.as_text ? iba::escaped(characters.substr(0, characters.find('\0'))) + '\n' : format_hex(data);
    if (status) text += fmt::format("SMP status: {:#x}\n", status);
    co_return text;
}

int run_smpdump(const smpdump_settings& s, const global_options& options) {
    const command_target target = read_target(s.target, s.kind);
    const auto attributeID = static_cast<u16>(read_number(s.attribute, "the attribute", 0xffff));
    const u32 modifier = s.modifier.empty() ? 0 : read_number(s.modifier, "the modifier", 0xffffffff);
    return run_query(options, &target, [&](session& in) { return dump(in, target, attributeID, modifier, s); });
}

} // namespace

command smpdump_command() {
    return {.name = "smpdump",
            .group = command_group::queries,
            .no_sa_reason = "it prints SMPs",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<smpdump_settings>();
                takes.option("target", s->target).required();
                takes.option("attribute", s->attribute).required();
                takes.option("modifier", s->modifier);
                add_direct_option(takes, s->kind);
                add_lid_option(takes, s->kind);
                const argument& text = takes.flag("-s,--string", s->as_text);
                takes.flag("-p,--decode", s->decoded).excludes(text);
                takes.flag("-K,--show_keys", s->show_keys);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    return run_smpdump(*s, options.with_trace_keys(s->show_keys));
                };
            }};
}

} // namespace ibtool
