// SPDX-License-Identifier: MIT
// sminfo.cpp - sminfo: prints SMInfo of a subnet manager. set_sminfo: changes the state of a subnet manager.
#include "comad.hpp"
#include "command.hpp"
#include "session/manager_survey.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

using comad::iba::smp::SMInfo;

/// The command line of sminfo.
struct sminfo_settings {
    std::string target, modifier, state, priority, activity;
    target_options kind;
    bool json = false;
};

/// The command line of set_sminfo.
struct set_sminfo_settings {
    std::string target, transition, state, priority, activity;
    target_options kind;
    bool json = false;
};

/// A transition that a Set requests by its attribute modifier (IBA 14.4.1).
struct transition {
    std::string_view name;
    u32 modifier;
};
constexpr transition transitions[] = {
    {"handover", 1}, {"acknowledge", 2}, {"disable", 3}, {"standby", 4}, {"discover", 5}};

std::string_view format_sm_state(comad::iba::SMState state) {
    constexpr std::string_view words[] = {"SMINFO_NOTACT", "SMINFO_DISCOVER", "SMINFO_STANDBY", "SMINFO_MASTER"};
    return value(state) < std::size(words) ? words[value(state)] : "???";
}

std::string format_manager(const SMInfo& info, const mad::any_path& path, bool json) {
    if (json) return iba::json(info, iba::json_style::readable, iba::key_display::hidden) + '\n';
    // infiniband-diags prints LID 0 for a directed route.
    const unsigned LID = mad::directed(path) ? 0 : value(mad::headers_of(path).DLID);
    return fmt::format("sminfo: sm lid {} sm guid 0x{:x}, activity count {} priority {} state {} {}\n", LID,
                       static_cast<comad::u64>(info.GUID), info.actCount, info.priority, value(info.SMState),
                       format_sm_state(info.SMState));
}

query_task<std::string> query_manager(session& in, std::optional<command_target> target, bool json) {
    if (!target) {
        require_sa(in);
        target = command_target({in.local_port().sa_path, std::nullopt});
    }
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, *target));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<SMInfo>(path));
    co_return format_manager(info, path, json);
}

/// Prints SMInfo of one subnet manager, and problems of all subnet managers on stderr.
query_task<report> report_manager(session& in, std::optional<command_target> target, bool json) {
    report result;
    BOOST_OUTCOME_CO_TRY(result.text, co_await query_manager(in, std::move(target), json));
    result.notes = co_await manager_notes(in);
    co_return result;
}

query_task<SMInfo> sm_info_at(session& in, mad::any_path path) {
    co_return co_await in.schedule().SubnGet<SMInfo>(path);
}

/// Returns whether this state shows that the transition was made or is in progress (IBA 14.4.1).
bool has_made(u32 modifier, iba::SMState state) {
    using enum iba::SMState;
    switch (modifier) {
    case 1: return state == Master || state == Discovering;
    case 3: return state == NotActive;
    case 5: return state == Discovering || state == Master;
    default: return state == Standby;
    }
}

query_task<report> set_manager(session& in, command_target target, SMInfo wanted, u32 modifier, bool json) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    wanted.SMKey = in.schedule().sa_path().SMKey;
    auto reply = co_await in.schedule().SubnSet<SMInfo>(wanted, path, modifier);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    report done;
    if (reply) done.text = format_manager(reply.value(), path, json);
    const std::function<query_task<SMInfo>()> reads = [&] { return sm_info_at(in, path); };
    auto reading = read_back<SMInfo>(in, reads);
    const auto now = co_await std::move(reading);
    if (!now) {
        done.missing.push_back(unknown_change(format_place(path), decisive(failure, now.error())));
        co_return done;
    }
    if (!reply) done.text = format_manager(now.value(), path, json);
    const iba::SMState state = now.value().SMState;
    if (!has_made(modifier, state))
        done.missing.push_back(not_set(
            format_place(path),
            fmt::format("SMState is {}; the requested transition was not made", iba::name_or_number(state)), failure));
    co_return done;
}

int run_sminfo(const sminfo_settings& s, const global_options& options) {
    if (!s.modifier.empty() || !s.state.empty() || !s.priority.empty() || !s.activity.empty())
        throw usage_error("sminfo only reads the state of the subnet manager; use set_sminfo to change it");
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return run_query(options, target ? &*target : nullptr,
                     [&](session& in) { return report_manager(in, target, s.json); });
}

u32 modifier_of(const std::string& word) {
    std::vector<std::string_view> names;
    for (const transition& t : transitions) {
        if (word == t.name || word == fmt::to_string(t.modifier)) return t.modifier;
        names.push_back(t.name);
    }
    throw usage_error(fmt::format("unknown transition {}; expected {}", comad::iba::as_given(word),
                                  comad::iba::most_similar_first(word, names)));
}

int run_set_sminfo(const set_sminfo_settings& s, const global_options& options) {
    const command_target target = read_target(s.target, s.kind);
    const u32 modifier = modifier_of(s.transition);
    SMInfo wanted;
    wanted.SMState = comad::iba::SMState::Standby; // as in infiniband-diags; ibtool is not an SM either
    if (!s.state.empty()) wanted.SMState = comad::iba::SMState(read_number(s.state, "the state", 3));
    if (!s.priority.empty()) wanted.priority = static_cast<comad::u8>(read_number(s.priority, "the priority", 15));
    if (!s.activity.empty()) wanted.actCount = read_number(s.activity, "the activity count", 0xffffffff);
    return run_query(options, &target, [&](session& in) { return set_manager(in, target, wanted, modifier, s.json); });
}

} // namespace

command sminfo_command() {
    return {.name = "sminfo", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<sminfo_settings>();
                takes.option("target", s->target);
                // With these options, sminfo of infiniband-diags writes. In ibtool, set_sminfo writes.
                takes.option("modifier", s->modifier).hidden();
                takes.option("-s,--state", s->state).hidden();
                takes.option("-p,--priority", s->priority).hidden();
                takes.option("-a,--activity", s->activity).hidden();
                add_target_options(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_sminfo(*s, options); };
            }};
}

command set_sminfo_command() {
    return {.name = "set_sminfo",
            .group = command_group::writing,
            .no_sa_reason = "it writes by SMP",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<set_sminfo_settings>();
                takes.option("target", s->target).required();
                takes.option("transition", s->transition).required();
                takes.option("-s,--state", s->state);
                takes.option("-p,--priority", s->priority);
                takes.option("-a,--activity", s->activity);
                add_target_options(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_set_sminfo(*s, options); };
            }};
}

} // namespace ibtool
