// SPDX-License-Identifier: MIT
// sminfo.cpp - sminfo: what a subnet manager says of itself. Does not tell it to be in another state.
#include "command.hpp"
#include "session/ask.hpp"
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

namespace mad = comad::mad;
using comad::iba::smp::SMInfo;

struct sminfo_settings {
    std::string target, modifier, state, priority, activity;
    target_options kind;
    bool json = false;
};

std::string_view state_text(comad::iba::SMState state) {
    constexpr std::string_view words[] = {"SMINFO_NOTACT", "SMINFO_DISCOVER", "SMINFO_STANDBY", "SMINFO_MASTER"};
    return value(state) < std::size(words) ? words[value(state)] : "???";
}

answer ask_manager(session& in, std::optional<mad::address> target, bool json) {
    if (!target) {
        require_SA(in);
        target = mad::address{in.local_port().sa_path, std::nullopt};
    }
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, *target));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<SMInfo>(path));
    if (json) co_return comad::iba::json(info) + '\n';
    // A directed route has no LID that could be said, as infiniband-diags has it.
    const unsigned LID = mad::directed(path) ? 0 : value(mad::headers_of(path).DLID);
    co_return fmt::format("sminfo: sm lid {} sm guid 0x{:x}, activity count {} priority {} state {} {}\n", LID,
                          static_cast<comad::u64>(info.GUID), info.actCount, info.priority, value(info.SMState),
                          state_text(info.SMState));
}

int run_sminfo(const sminfo_settings& s, const global_options& options) {
    if (!s.modifier.empty() || !s.state.empty() || !s.priority.empty() || !s.activity.empty())
        throw usage_error("a modifier would change the state of the subnet manager: sminfo only asks");
    std::optional<mad::address> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return ask(options, target ? &*target : nullptr, [&](session& in) { return ask_manager(in, target, s.json); });
}

} // namespace

command sminfo_command() {
    return {.name = "sminfo",
            .group = command_group::queries,
            .summary = "print the SMInfo of a subnet manager",
            .examples = "sminfo\nsminfo --json 1",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<sminfo_settings>();
                takes.option("target", s->target, "the port where it runs [the local port's master]");
                // What makes infiniband-diags' sminfo write.
                takes.option("modifier", s->modifier, "refused").hidden();
                takes.option("-s,--state", s->state, "refused").hidden();
                takes.option("-p,--priority", s->priority, "refused").hidden();
                takes.option("-a,--activity", s->activity, "refused").hidden();
                add_target_options(takes, s->kind);
                takes.flag("--json", s->json, "one JSON object, on one line");
                return [s](const global_options& options) { return run_sminfo(*s, options); };
            }};
}

} // namespace ibtool
