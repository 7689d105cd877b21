// SPDX-License-Identifier: MIT
// ibsysstat.cpp - ibsysstat: prints the name and the processors of a host. Also contains the server that reports them.
#include "comad.hpp"
#include "command.hpp"
#include "session/host_service.hpp"
#include "session/queries.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>
#include <comad/server/diags.hpp>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibsysstat.
struct ibsysstat_settings : host_service_options {
    std::string operation = "ping";
};

/// Returns the attribute that an operation queries.
comad::u16 attribute_of(const std::string& operation) {
    if (operation == "cpi") return iba::attribute_id<iba::ClassPortInfo>;
    if (operation == "host") return server::sysstat::host;
    return operation == "cpu" ? server::sysstat::cpu : server::sysstat::ping;
}

/// Escapes control characters, but keeps line breaks.
std::string escaped_lines(std::string_view raw) {
    std::string text;
    for (std::size_t at = 0; at <= raw.size();) {
        const std::size_t end = std::min(raw.find('\n', at), raw.size());
        text += iba::escaped(raw.substr(at, end - at)) + '\n';
        at = end + 1;
    }
    return text;
}

query_task<std::string> query_status(session& in, command_target target, const ibsysstat_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto to, co_await resolve_host(in, target));
    const host_query query{server::sysstat_class, attribute_of(s.operation), s.OUI()};
    if (s.operation == "cpi") {
        BOOST_OUTCOME_CO_TRY(const auto bytes, co_await query_host_raw(in, to, query));
        const iba::record_info& info = iba::info_of<iba::ClassPortInfo>;
        co_return s.json ? iba::json(info, bytes) + '\n' : iba::dotted(info, bytes);
    }
    BOOST_OUTCOME_CO_TRY(const auto text, co_await query_host(in, to, query));
    const bool is_ping = s.operation == "ping";
    if (s.json) {
        nlohmann::ordered_json all{{"schema", "comad.sysstat/1"}, {"LID", value(to.DLID)}};
        all[s.operation] = is_ping ? nlohmann::ordered_json(true) : json_string(text);
        co_return json_line(all);
    }
    if (is_ping) co_return "sysstat ping succeeded\n";
    co_return escaped_lines(text);
}

int run_ibsysstat(const ibsysstat_settings& s, const global_options& options) {
    const comad::u32 OUI = s.OUI();
    if (s.serves)
        return serve(options, s, [&](server::responder& to) { server::add_sysstat(to, server::this_host(), OUI); });
    const command_target target = read_host(s);
    return run_query(options, &target, [&](session& in) { return query_status(in, target, s); });
}

} // namespace

command ibsysstat_command() {
    return {.name = "ibsysstat", .group = command_group::hosts, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibsysstat_settings>();
                add_host_service_options(takes, *s);
                takes.option("operation", s->operation).one_of({"ping", "host", "cpu", "cpi"}).shows_default();
                return [s](const global_options& options) { return run_ibsysstat(*s, options); };
            }};
}

} // namespace ibtool
