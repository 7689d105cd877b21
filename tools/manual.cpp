// SPDX-License-Identifier: MIT
// manual.cpp - converts command texts to man pages and reference pages.
#include "manual.hpp"

#include "help_text.hpp"
#include "markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ibtool {
namespace {

// ---- man pages -------------------------------------------------------------------------------------------------------

/// Returns the summary in the form of man pages: without the capital letter and the full stop.
std::string man_summary(std::string_view summary) {
    std::string text(summary.substr(0, summary.find_last_not_of('.') + 1));
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
        text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    return text;
}

std::string head_of_page(std::string_view name, std::string_view summary) {
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format("'\\\" t\n.\\\" SPDX-License-Identifier: MIT\n.TH {} 1 {} \"comad {}\" \"InfiniBand\"\n"
                       ".ad l\n.SH NAME\n{}",
                       man_escaped(upper), IBTOOL_DATE, IBTOOL_VERSION,
                       filled(fmt::format("{} \\- {}", man_escaped(name), man_escaped(man_summary(summary))), 0, 78));
}

std::string section(std::string_view title, std::string_view markdown) {
    if (markdown.empty()) return {};
    return fmt::format(".SH {}\n{}", title, markdown_as_man(markdown, false));
}

/// Returns `.TP`, the names with the placeholder, and the text.
std::string entry(const argument& a, const argument_text& text) {
    std::string names;
    for (const std::string& n : a.all_names())
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", man_escaped(n));
    if (!text.placeholder.empty()) names += fmt::format(" \\fI{}\\fR", man_escaped(text.placeholder));
    std::string all = fmt::format(".TP\n{}\n{}", names, markdown_as_man(text.brief, false));
    if (!text.details.empty()) all += fmt::format(".RS\n{}.RE\n", markdown_as_man(text.details, true));
    return all;
}

std::string entries(std::string_view heading, const arguments& taken, const command_text& text, bool options) {
    std::string all;
    for (const auto& [a, t] : described(taken, text, options)) all += entry(*a, *t);
    return all.empty() ? all : fmt::format(".SH {}\n{}", heading, all);
}

std::string in_italics(const std::string& word) { return fmt::format("\\fI{}\\fR", man_escaped(word)); }

std::string other_names(const command& c) {
    std::string names;
    for (const command_alias& other : command_aliases())
        if (other.command == c.name) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", other.name);
    return names.empty() ? names : fmt::format("This command is also called {}.", names);
}

// ---- reference pages -------------------------------------------------------------------------------------------------

std::string reference_section(std::string_view title, std::string_view markdown) {
    return markdown.empty() ? std::string() : fmt::format("## {}\n\n{}\n\n", title, markdown);
}

std::string reference_entries(std::string_view title, const arguments& taken, const command_text& text, bool options) {
    std::string all;
    for (const auto& [a, t] : described(taken, text, options)) {
        all += fmt::format("### `{}{}{}`\n\n{}\n\n", t->names, t->placeholder.empty() ? "" : " ", t->placeholder,
                           t->brief);
        if (!t->details.empty()) all += fmt::format("{}\n\n", t->details);
    }
    return all.empty() ? all : fmt::format("## {}\n\n{}", title, all);
}

constexpr std::string_view generated =
    "<!-- Generated from the texts in tools/commands/ by scripts/reference; do not edit. -->\n";

std::string without_last_newline(std::string text) {
    text.pop_back();
    return text;
}

} // namespace

std::string man_page(const command& c) {
    const arguments taken = arguments_of(c);
    const command_text& text = text_of_command(c.name);
    std::string page = head_of_page(fmt::format("ibtool-{}", c.name), text.summary);
    page += fmt::format(".SH SYNOPSIS\n\\fBibtool\\fR {}\n", usage_of(c, in_italics));
    page += section("DESCRIPTION", text.description);
    if (const std::string names = other_names(c); !names.empty()) page += markdown_as_man(names, true);
    page += entries("ARGUMENTS", taken, text, false);
    if (has_target(taken)) page += section("TARGETS", target_forms);
    page += entries("OPTIONS", taken, text, true);
    page += section("\"SENDS AND WRITES\"", text.traffic) + section("OUTPUT", text.output) +
            section("\"EXIT STATUS\"", text.exit_status);
    page += section("JSON", text.json) + section("EXAMPLES", text.examples);
    page += section("\"SEE ALSO\"", text.see_also);
    return page + ".PP\n\\fBibtool\\fR(1) describes the options for all commands.\n";
}

std::string man_page() {
    const command_text& text = text_of_command("ibtool");
    std::string page = head_of_page("ibtool", text.summary);
    page += ".SH SYNOPSIS\n\\fBibtool\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n";
    page += section("DESCRIPTION", text.description) + ".SH COMMANDS\n";
    for (const auto& [title, members] : commands_by_group()) {
        page += fmt::format(".SS {}\n", man_escaped(title));
        for (const command* c : members)
            page += fmt::format(".TP\n.BR ibtool\\-{} (1)\n{}", man_escaped(c->name),
                                markdown_as_man(text_of_command(c->name).summary, false));
    }
    page += entries("OPTIONS", global_arguments(), text, true) + section("\"EXIT STATUS\"", text.exit_status) +
            section("EXAMPLES", text.examples);
    return page + section("\"SEE ALSO\"", text.see_also);
}

std::string reference_page(const command& c) {
    const arguments taken = arguments_of(c);
    const command_text& text = text_of_command(c.name);
    std::string page(generated);
    page += fmt::format("# ibtool {}\n\n{}\n\n```sh\nibtool {}\n```\n\n{}\n\n", c.name, text.summary,
                        usage_of(c, as_declared), text.description);
    if (const std::string names = other_names(c); !names.empty()) page += names + "\n\n";
    page += reference_entries("Arguments", taken, text, false);
    if (has_target(taken)) page += reference_section("Targets", target_forms);
    page += reference_entries("Options", taken, text, true);
    page += "[Options for all commands](ibtool.md#options) are on the page of ibtool.\n\n";
    page += reference_section("Sends and writes", text.traffic) + reference_section("Output", text.output);
    page += reference_section("JSON", text.json);
    page += reference_section("Exit status", text.exit_status);
    page += reference_section("Examples", text.examples) + reference_section("See also", text.see_also);
    return without_last_newline(page);
}

std::string reference_page() {
    const command_text& text = text_of_command("ibtool");
    std::string page(generated);
    page += fmt::format("# ibtool\n\n{}\n\n```sh\nibtool [OPTIONS] COMMAND [ARGUMENTS]\n```\n\n{}\n\n## Commands\n\n",
                        text.summary, text.description);
    for (const auto& [title, members] : commands_by_group()) {
        page += fmt::format("| {} | |\n|---|---|\n", title);
        for (const command* c : members)
            page += fmt::format("| [`{}`]({}.md) | {} |\n", c->name, c->name, text_of_command(c->name).summary);
        page += '\n';
    }
    page += "| Other name | Command |\n|---|---|\n";
    for (const command_alias& other : command_aliases())
        page += fmt::format("| `{}` | [`{}`]({}.md) |\n", other.name, other.command, other.command);
    page += '\n' + reference_entries("Options", global_arguments(), text, true);
    page += reference_section("Exit status", text.exit_status);
    page += reference_section("Examples", text.examples) + reference_section("See also", text.see_also);
    return without_last_newline(page);
}

} // namespace ibtool
