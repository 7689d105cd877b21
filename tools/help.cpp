// SPDX-License-Identifier: MIT
// help.cpp - help: the commands, and what there is to know of one.
#include "command.hpp"
#include "command_line.hpp"
#include "completion.hpp"
#include "manual.hpp"
#include "text/output.hpp"
#include "text/terminal.hpp"
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

namespace ibtool {
namespace {

namespace iba = comad::iba;

struct help_settings {
    std::string command;
    bool json = false, as_man_page = false, as_tables = false, lists_values = false;
    std::string shell;
    std::optional<std::string> line; ///< that is being typed

    bool is_for_people() const {
        return !json && !as_man_page && !as_tables && !lists_values && shell.empty() && !line;
    }
};

std::string json_of(const command& c) {
    return fmt::format("{{\"command\":{},\"summary\":{},\"group\":{},\"writes\":{}}}\n", iba::json_quoted(c.name),
                       iba::json_quoted(c.summary), iba::json_quoted(title_of(c.group)), c.writes);
}

std::string list_of_commands() {
    std::string text;
    for (const auto& [title, members] : commands_by_group()) {
        text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", title);
        for (const command* c : members) text += fmt::format("  {:<17} {}\n", c->name, c->summary);
    }
    return text;
}

std::string list_of(const help_settings& s) {
    if (!s.json) return list_of_commands();
    std::string lines;
    for (const command& c : all_commands()) lines += json_of(c);
    return lines;
}

/// A line each: the word and, behind a tab, what it means.
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

/// A line of JSON for each argument that has a value.
std::string lines_of_values(std::string_view command, const arguments& taken) {
    std::string lines;
    for (const argument& a : taken.all()) {
        if (a.is_flag()) continue;
        lines += fmt::format("{{\"command\":{},\"argument\":{},\"file\":\"{}\",\"value\":{},\"help\":{}}}\n",
                             iba::json_quoted(command), iba::json_quoted(a.names()), name_of(a.use_of_file()),
                             iba::json_quoted(a.value_text()), iba::json_quoted(a.help()));
    }
    return lines;
}

std::string list_of_values() {
    global_options options;
    arguments global;
    add_global_options(global, options);
    std::string lines = lines_of_values({}, global);
    for (const command& c : all_commands()) {
        arguments taken;
        const action keeps_the_places = c.declare(taken);
        lines += lines_of_values(c.name, taken);
    }
    return lines;
}

std::string text_of(const help_settings& s) {
    if (s.lists_values) return list_of_values();
    if (s.line) return text_of(suggestions_for(words_of_line(*s.line)));
    if (!s.shell.empty()) return completion_script(s.shell);
    if (s.as_tables) {
        if (!s.command.empty()) throw usage_error("--markdown lists all commands: name none");
        return command_tables();
    }
    if (s.command.empty()) return s.as_man_page ? man_page() : list_of(s);
    const command* const c = find_command(s.command);
    if (!c)
        throw usage_error(
            fmt::format("unknown command {}; similar: {}", iba::as_given(s.command), commands_like(s.command)));
    if (s.as_man_page) return man_page(*c);
    const std::string text = help_of(*c);
    return s.json ? fmt::format("{{\"command\":{},\"help\":{}}}\n", iba::json_quoted(s.command), iba::json_quoted(text))
                  : text;
}

} // namespace

command help_command() {
    return {.name = "help",
            .group = command_group::offline,
            .summary = "list the commands, or show the help of one",
            .examples = "help smpquery\nhelp --man smpquery\nhelp --completion bash",
            .no_SA = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<help_settings>();
                takes.option("command", s->command, "the command").such_as_commands();
                const argument& json = takes.flag("--json", s->json, "one JSON object per line");
                const argument& man = takes.flag("--man", s->as_man_page, "as a man page, in groff").excludes(json);
                takes.option("--completion", s->shell, "print what completes command lines in this shell")
                    .one_of({"bash", "zsh", "fish"})
                    .excludes(json)
                    .excludes(man);
                takes
                    .option(
                        "--complete", [s](const std::string& line) { s->line = line; },
                        "print what can stand at the end of this command line, for shells")
                    .value_name("LINE");
                takes.flag("--markdown", s->as_tables, "the list as tables in Markdown").excludes(json).excludes(man);
                takes
                    .flag("--values", s->lists_values,
                          "all arguments with a value, and which of them name a file, as JSON")
                    .hidden();
                return [s](const global_options&) {
                    write_output(s->is_for_people() ? wrapped(text_of(*s), help_columns()) : text_of(*s));
                    return complete;
                };
            }};
}

} // namespace ibtool
