// SPDX-License-Identifier: MIT
// vendstat.cpp - vendstat -N: hardware and firmware of a Mellanox device. Neither reads nor writes its configuration space.
#include "ask.hpp"
#include "commands.hpp"
#include "diags_text.hpp"
#include <comad/iba/print.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace ibtool {
namespace {

namespace mad = comad::mad;
using comad::iba::vend::MlxGeneralInfo;

struct settings {
    std::string target;
    target_options kind;
    bool general = false, json = false;
};

answer ask_general_info(session& in, std::optional<mad::address> target, bool json) {
    if (!target) {
        mad::IBPath self;
        self.DLID = in.local_port().LID;
        target = mad::address{self, std::nullopt};
    }
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, *target));
    const auto* to = std::get_if<mad::IBPath>(&path);
    if (!to) throw usage_error("vendor MADs do not take directed routes: give a LID, a GUID or a GID");
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().VendGet<MlxGeneralInfo>(*to));
    co_return json ? comad::iba::json(info) + '\n' : diags_text(info);
}

int run_command(const settings& s, const global_options& options) {
    if (!s.general) throw usage_error("vendstat knows the general information only: -N");
    std::optional<mad::address> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return ask(options, target ? &*target : nullptr, [&](session& in) { return ask_general_info(in, target, s.json); });
}

} // namespace

void add_vendstat(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("vendstat", "print hardware and firmware of a Mellanox device");
    command.add_option("target", s->target, "a port of the device [the local one]");
    command.add_flag("-N", s->general, "general information");
    add_lid_option(command, s->kind);
    add_guid_option(command, s->kind);
    command.add_flag("--json", s->json, "as JSON, one line");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
