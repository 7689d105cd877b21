// SPDX-License-Identifier: MIT
// ibaddr.cpp - ibaddr: prints the GID and the LIDs of a port.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibaddr.
struct ibaddr_settings {
    std::string target, port;
    target_options kind;
    bool GID = false, lids = false, decimal = false, json = false;
};

query_task<std::string> query_addresses(session& in, command_target target, unsigned port, const ibaddr_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::PortInfo>(path, port));
    const iba::gid GID(info.GIDPrefix, node.portGUID);
    const unsigned first = value(info.LID), last = first + (1u << info.LMC) - 1;
    if (s.json)
        co_return json_line(
            {{"schema", "comad.address/1"}, {"GID", fmt::format("{}", GID)}, {"LID", first}, {"last_LID", last}});
    const bool both = !s.GID && !s.lids && !s.decimal;
    std::string text;
    if (s.GID || both) text += fmt::format("GID {} ", GID);
    if (s.decimal) text += fmt::format("LID start {} end {}", first, last);
    else if (s.lids || both) text += fmt::format("LID start {:#x} end {:#x}", first, last);
    co_return text + '\n';
}

int run_ibaddr(const ibaddr_settings& s, const global_options& options) {
    const command_target target = s.target.empty() ? this_node() : read_target(s.target, s.kind);
    const unsigned port = s.port.empty() ? 0 : read_number(s.port, "the port", 255);
    return run_query(options, s.target.empty() ? nullptr : &target,
                     [&](session& in) { return query_addresses(in, target, port, s); });
}

} // namespace

command ibaddr_command() {
    return {.name = "ibaddr", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibaddr_settings>();
                takes.option("target", s->target);
                takes.option("port", s->port);
                add_direct_option(takes, s->kind);
                add_guid_option(takes, s->kind);
                takes.flag("-g,--gid_show", s->GID);
                takes.flag("-l,--lid_show", s->lids);
                takes.flag("-L,--Lid_show", s->decimal);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibaddr(*s, options); };
            }};
}

} // namespace ibtool
