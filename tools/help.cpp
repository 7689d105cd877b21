// SPDX-License-Identifier: MIT
// help.cpp - help: the commands, and what there is to know of one.
#include "command.hpp"
#include "command_line.hpp"
#include "text/output.hpp"
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

namespace iba = comad::iba;

struct help_settings {
    std::string command;
    bool json = false;
};

std::string json_of(const command& c) {
    return fmt::format("{{\"command\":{},\"description\":{},\"group\":{},\"writes\":{}}}\n", iba::json_quoted(c.name),
                       iba::json_quoted(c.summary), iba::json_quoted(title_of(c.group)), c.writes);
}

/// By groups, in the order in which these begin.
std::string list_of_commands() {
    std::string text;
    std::vector<command_group> told;
    for (const command& first : all_commands()) {
        if (std::ranges::find(told, first.group) != told.end()) continue;
        told.push_back(first.group);
        text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", title_of(first.group));
        for (const command& c : all_commands())
            if (c.group == first.group) text += fmt::format("  {:<17} {}\n", c.name, c.summary);
    }
    return text;
}

std::string list_of(const help_settings& s) {
    if (!s.json) return list_of_commands();
    std::string lines;
    for (const command& c : all_commands()) lines += json_of(c);
    return lines;
}

std::string text_of(const help_settings& s) {
    if (s.command.empty()) return list_of(s);
    const command* const c = find_command(s.command);
    if (!c)
        throw usage_error(
            fmt::format("unknown command {}; similar: {}", iba::as_given(s.command), commands_like(s.command)));
    const std::string text = help_of(*c);
    return s.json ? fmt::format("{{\"command\":{},\"help\":{}}}\n", iba::json_quoted(s.command), iba::json_quoted(text))
                  : text;
}

} // namespace

command help_command() {
    return {.name = "help",
            .group = command_group::offline,
            .summary = "list the commands, or show the help of one",
            .examples = "help smpquery",
            .no_SA = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<help_settings>();
                takes.option("command", s->command, "the command");
                takes.flag("--json", s->json, "one JSON object per line");
                return [s](const global_options&) {
                    write_output(text_of(*s));
                    return complete;
                };
            }};
}

} // namespace ibtool
