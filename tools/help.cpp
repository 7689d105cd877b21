// SPDX-License-Identifier: MIT
// help.cpp - the command `help`: prints the list of commands, or the text of one command.
#include "comad.hpp"
#include "command.hpp"
#include "command_text.hpp"
#include "completion.hpp"
#include "help_text.hpp"
#include "manual.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include "text/terminal.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

namespace ibtool {
namespace {

/// The values of the options of `help`.
struct help_settings {
    std::string command;
    bool json = false, as_man_page = false, as_page = false, lists_arguments = false;
    std::string shell;
    std::optional<std::string> line; ///< the line that is being typed

    /// Returns whether the output is formatted for the width of the terminal.
    bool is_for_people() const {
        return !json && !as_man_page && !as_page && !lists_arguments && shell.empty() && !line;
    }
};

nlohmann::ordered_json command_json(const command& c) {
    return {{"command", c.name},
            {"summary", text_of_command(c.name).summary},
            {"group", title_of(c.group)},
            {"writes", c.writes}};
}

std::string list_of_commands() {
    std::string text;
    for (const auto& [title, members] : commands_by_group()) {
        text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", title);
        for (const command* c : members)
            text += fmt::format("  {:<17} {}\n", c->name, text_of_command(c->name).summary);
    }
    return text;
}

std::string list_of(const help_settings& s) {
    if (!s.json) return list_of_commands();
    std::string lines;
    for (const command& c : all_commands()) lines += json_line(command_json(c));
    return lines;
}

/// Prints one line for each suggestion: the word, a tab, and its meaning.
std::string text_of(const std::vector<suggestion>& all) {
    std::string lines;
    for (const suggestion& s : all)
        lines += fmt::format("{}{}{}\n", s.word, s.meaning.empty() ? "" : "\t", iba::escaped(s.meaning));
    return lines;
}

std::string_view name_of(file_use use) {
    switch (use) {
    case file_use::none: break;
    case file_use::read: return "read";
    case file_use::read_regular: return "read_regular";
    case file_use::read_again: return "read_again";
    case file_use::written: return "written";
    case file_use::replaced: return "replaced";
    case file_use::streamed: return "streamed";
    case file_use::cached: return "cached";
    }
    return "none";
}

nlohmann::ordered_json argument_json(std::string_view command, const argument& a) {
    const argument_text* const text = text_of_command(command.empty() ? "ibtool" : command).find(a);
    return {{"command", command},
            {"argument", a.names()},
            {"flag", a.is_flag()},
            {"hidden", a.is_hidden()},
            {"choices", a.choices()},
            {"file", name_of(a.use_of_file())},
            {"placeholder", text ? text->placeholder : ""},
            {"help", text ? text->brief : ""}};
}

std::string lines_of_arguments(std::string_view command, const arguments& taken) {
    std::string lines;
    for (const argument& a : taken.all()) lines += json_line(argument_json(command, a));
    return lines;
}

std::string list_of_arguments() {
    std::string lines = lines_of_arguments({}, global_arguments());
    for (const command& c : all_commands()) lines += lines_of_arguments(c.name, arguments_of(c));
    return lines;
}

std::string text_of_program(const help_settings& s) {
    if (s.as_man_page) return man_page();
    return s.as_page ? reference_page() : list_of(s);
}

std::string text_of(const help_settings& s) {
    if (s.lists_arguments) return list_of_arguments();
    if (s.line) return text_of(suggestions_for(words_of_line(*s.line)));
    if (!s.shell.empty()) return completion_script(s.shell);
    if (s.command.empty()) return text_of_program(s);
    const command* const c = find_command(s.command);
    if (!c)
        throw usage_error(
            fmt::format("unknown command {}; similar: {}", iba::as_given(s.command), commands_like(s.command)));
    if (s.as_man_page) return man_page(*c);
    if (s.as_page) return reference_page(*c);
    const std::string text = full_help(*c, s.json ? 0 : help_columns());
    return s.json ? json_line({{"command", s.command}, {"help", text}}) : text;
}

} // namespace

command help_command() {
    return {.name = "help",
            .group = command_group::offline,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<help_settings>();
                takes.option("command", s->command).such_as_commands();
                const argument& json = takes.flag("--json", s->json);
                const argument& man = takes.flag("--man", s->as_man_page).excludes(json);
                takes.option("--completion", s->shell).one_of({"bash", "zsh", "fish"}).excludes(json).excludes(man);
                takes.option("--complete", [s](const std::string& line) { s->line = line; });
                takes.flag("--markdown", s->as_page).excludes(json).excludes(man);
                takes.flag("--arguments", s->lists_arguments).hidden();
                return [s](const global_options&) {
                    write_output(s->is_for_people() && s->command.empty() ? wrapped(text_of(*s), help_columns())
                                                                          : text_of(*s));
                    return complete;
                };
            }};
}

} // namespace ibtool
