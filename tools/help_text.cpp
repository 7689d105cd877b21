// SPDX-License-Identifier: MIT
// help_text.cpp - formats the help of a command for a terminal.
#include "help_text.hpp"

#include "markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ibtool {
namespace {

constexpr std::size_t short_lines = 24, short_columns = 80;

std::size_t count_lines(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// Returns `-c, --count COUNT`.
std::string heading_of(const argument& a, const argument_text& text) {
    std::string names = fmt::format("{}", fmt::join(a.all_names(), ", "));
    if (!text.placeholder.empty()) names.append(" ").append(text.placeholder);
    return names;
}

/// Returns one argument of the short help: the names, and the short text next to or below them.
std::string short_entry(const argument& a, const argument_text& text) {
    constexpr std::size_t names_end = 30;
    std::string line = heading_of(a, text);
    line.insert(0, a.is_option() && line.starts_with("--") ? "      " : "  ");
    const std::string brief = filled(text.brief, names_end, short_columns);
    if (line.size() + 2 > names_end) return line + '\n' + brief;
    return line.append(names_end - line.size(), ' ') + brief.substr(names_end);
}

/// Returns the first two examples that fit.
std::string short_examples(const command_text& text) {
    std::string lines = "\nExamples:\n";
    unsigned count = 0;
    for (const std::string_view example : text.example_commands()) {
        if (example.size() + 2 > short_columns || count == 2) continue;
        lines += fmt::format("  {}\n", example);
        ++count;
    }
    return lines;
}

/// Returns the last line of a short help. `left_out`: the number of options that are not shown.
std::string footer(std::string_view command, std::size_t left_out) {
    const std::string rest = left_out == 0 ? "everything about this command"
                                           : fmt::format("{} more option{}", left_out, left_out == 1 ? "" : "s");
    return fmt::format("\nibtool {} --help describes {}.\n", command, rest);
}

std::string section(std::string_view title, const std::string& body) {
    return body.empty() ? body : fmt::format("\n{}:\n{}", title, body);
}

std::string full_entries(std::string_view title, const arguments& taken, const command_text& text, bool options,
                         std::size_t columns) {
    std::string body;
    for (const auto& [a, t] : described(taken, text, options)) {
        if (!body.empty()) body += '\n';
        body += fmt::format("  {}\n{}", heading_of(*a, *t), filled(t->brief, 6, columns));
        if (!t->details.empty()) body += '\n' + markdown_as_text(t->details, 6, columns);
    }
    return section(title, body);
}

} // namespace

arguments arguments_of(const command& c) {
    arguments taken;
    (void)c.declare(taken);
    return taken;
}

arguments global_arguments() {
    global_options unused;
    arguments taken;
    add_global_options(taken, unused);
    return taken;
}

std::vector<std::pair<const argument*, const argument_text*>> described(const arguments& taken,
                                                                        const command_text& text, bool options) {
    std::vector<std::pair<const argument*, const argument_text*>> found;
    for (const argument_text& t : text.arguments)
        for (const argument& a : taken.all())
            if (!a.is_hidden() && a.is_option() == options && text.find(a) == &t) found.emplace_back(&a, &t);
    return found;
}

bool has_target(const arguments& taken) { return taken.find("target") || taken.find("from"); }

std::string as_declared(const std::string& name) { return name; }

std::string usage_of(const command& c, std::string (*mark)(const std::string&)) {
    const arguments taken = arguments_of(c);
    std::string text(c.name);
    if (std::ranges::any_of(taken.all(), [](const argument& a) { return a.is_option() && !a.is_hidden(); }))
        text += " [" + mark("OPTIONS") + "]";
    for (const argument& a : taken.all()) {
        if (a.is_option() || a.is_hidden()) continue;
        const std::string word = mark(a.names()) + (a.takes_several() ? " ..." : "");
        text += a.is_required() ? " " + word : " [" + word + "]";
    }
    return text;
}

std::string short_help(const command& c) {
    const command_text& text = text_of_command(c.name);
    const arguments taken = arguments_of(c);
    std::string head =
        fmt::format("{}\n\n{}", text.summary, filled("Usage: ibtool " + usage_of(c, as_declared), 0, short_columns));
    const std::string examples = short_examples(text);
    const std::size_t taken_lines = count_lines(head) + count_lines(examples) + count_lines(footer(c.name, 1)) + 1;
    std::size_t free_lines = short_lines - std::min(short_lines, taken_lines), left_out = 0;
    std::string entries;
    for (const bool options : {false, true}) {
        for (const auto& [a, t] : described(taken, text, options)) {
            const std::string entry = short_entry(*a, *t);
            if (left_out == 0 && count_lines(entry) <= free_lines) {
                entries += entry;
                free_lines -= count_lines(entry);
            } else {
                ++left_out;
            }
        }
    }
    if (!entries.empty()) entries.insert(0, "\n");
    return head + entries + examples + footer(c.name, left_out);
}

std::string full_help(const command& c, std::size_t columns) {
    const command_text& text = text_of_command(c.name);
    const arguments taken = arguments_of(c);
    std::string all =
        fmt::format("{}\n\n{}", text.summary, filled("Usage: ibtool " + usage_of(c, as_declared), 0, columns));
    for (const command_alias& other : command_aliases())
        if (other.command == c.name) all += fmt::format("Also called {}.\n", other.name);
    all += '\n' + markdown_as_text(text.description, 0, columns);
    all += full_entries("Arguments", taken, text, false, columns);
    if (has_target(taken)) all += section("Targets", markdown_as_text(target_forms, 2, columns));
    all += full_entries("Options", taken, text, true, columns);
    all += section("Sends and writes", markdown_as_text(text.traffic, 2, columns));
    all += section("Output", markdown_as_text(text.output, 2, columns));
    all += section("JSON", markdown_as_text(text.json, 2, columns));
    all += section("Exit status", markdown_as_text(text.exit_status, 2, columns));
    all += section("Examples", markdown_as_text(text.examples, 2, columns));
    all += section("See also", markdown_as_text(text.see_also, 2, columns));
    return all + "\nibtool --help describes the options for all commands.\n";
}

std::string short_help() {
    std::string text = fmt::format("{}\n\nUsage: ibtool [OPTIONS] COMMAND [ARGUMENTS]\n\nCommands:\n",
                                   text_of_command("ibtool").summary);
    for (const auto& [title, members] : commands_by_group()) {
        std::vector<std::string_view> names;
        for (const command* c : members) names.push_back(c->name);
        text += filled(fmt::format("{}: {}", title, fmt::join(names, " ")), 2, short_columns);
    }
    return text + "\n\"ibtool help\" describes each command in one line, \"ibtool --help\" all options.\n";
}

std::string full_help(std::size_t columns) {
    const command_text& text = text_of_command("ibtool");
    std::string all = fmt::format("{}\n\nUsage: ibtool [OPTIONS] COMMAND [ARGUMENTS]\n\n{}", text.summary,
                                  markdown_as_text(text.description, 0, columns));
    all += "\n\"ibtool help\" lists the commands.\n";
    all += full_entries("Options", global_arguments(), text, true, columns);
    all += section("Exit status", markdown_as_text(text.exit_status, 2, columns));
    all += section("Examples", markdown_as_text(text.examples, 2, columns));
    return all + section("See also", markdown_as_text(text.see_also, 2, columns));
}

} // namespace ibtool
