// SPDX-License-Identifier: MIT
// manual.cpp - descriptors as groff and as Markdown.
#include "manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

namespace ibtool {
namespace {

// ---- groff -----------------------------------------------------------------------------------------------------------

/// Text in a man page: hyphens that stay what was typed, and nothing that groff takes for a request.
std::string roff(std::string_view text) {
    std::string out;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        begins = c == '\n';
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else out += c;
    }
    return out;
}

/// The same in lines of a length that sources of man pages have. A line never begins with what groff takes for a request.
std::string paragraph(std::string_view text) {
    constexpr std::size_t longest = 78; // mandoc wants 80 at most
    std::string out = roff(text);
    std::size_t begin = 0, last_blank = std::string::npos;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == '\n') begin = i + 1, last_blank = std::string::npos;
        else if (out[i] == ' ' && i + 1 < out.size() && out[i + 1] != '.' && out[i + 1] != '\'') last_blank = i;
        if (i - begin < longest || last_blank == std::string::npos) continue;
        out[last_blank] = '\n';
        begin = last_blank + 1;
        last_blank = std::string::npos;
    }
    return out;
}

std::string head_of_page(std::string_view name, std::string_view summary) {
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(".\\\" SPDX-License-Identifier: MIT\n.TH {} 1 2026-11-23 \"comad {}\" \"InfiniBand\"\n"
                       ".SH NAME\n{}\n",
                       roff(upper), IBTOOL_VERSION, paragraph(fmt::format("{} - {}", name, summary)));
}

/// `.TP`, the names and the value, then what it means.
std::string entry(const argument& a) {
    std::string names;
    for (const std::string& n : a.all_names()) names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(n));
    const std::string value = a.value_text();
    if (a.is_option() && !value.empty()) names += fmt::format(" \\fI{}\\fR", roff(value));
    return fmt::format(".TP\n{}\n{}\n", names, paragraph(a.help()));
}

std::string entries(std::string_view heading, const arguments& all, bool options) {
    std::string text;
    for (const argument& a : all.all())
        if (!a.is_hidden() && a.is_option() == options) text += entry(a);
    return text.empty() ? text : fmt::format(".SH {}\n{}", heading, text);
}

/// An argument that is no option, in a synopsis.
std::string word_of(const argument& a, std::string_view name) {
    return fmt::format("{}{}{}{}", a.is_required() ? " " : " [", name, a.takes_several() ? " ..." : "",
                       a.is_required() ? "" : "]");
}

std::string synopsis(const command& c, const arguments& takes) {
    std::string text = fmt::format(".SH SYNOPSIS\n\\fBibtool {}\\fR", roff(c.name));
    const bool has_options =
        std::ranges::any_of(takes.all(), [](const argument& a) { return a.is_option() && !a.is_hidden(); });
    if (has_options) text += " [\\fIoptions\\fR]";
    for (const argument& a : takes.all()) {
        if (a.is_option()) continue;
        text += word_of(a, fmt::format("\\fI{}\\fR", roff(a.names())));
    }
    return text + '\n';
}

std::string examples(const command& c) {
    std::string text = ".SH EXAMPLES\n.nf\n";
    std::istringstream lines{std::string(c.examples)};
    for (std::string line; std::getline(lines, line);) text += fmt::format("ibtool {}\n", roff(line));
    return text + ".fi\n";
}

std::string exit_status() { return fmt::format(".SH \"EXIT STATUS\"\n{}\n", roff(exit_codes)); }

std::string sentence(std::string_view summary) {
    std::string text(summary);
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".\n";
}

arguments arguments_of(const command& c) {
    arguments takes;
    (void)c.declare(takes);
    return takes;
}

} // namespace

std::string man_page(const command& c) {
    const arguments takes = arguments_of(c);
    std::string text = head_of_page(fmt::format("ibtool-{}", c.name), c.summary) + synopsis(c, takes);
    text += ".SH DESCRIPTION\n" + paragraph(sentence(c.summary));
    for (const command_alias& other : command_aliases())
        if (other.command == c.name) text += fmt::format("It is also called \\fB{}\\fR.\n", roff(other.name));
    if (c.writes) text += "Operations and options that say so write to the fabric.\n";
    if (!c.no_SA.empty()) text += fmt::format("\\fB\\-\\-sa\\fR means nothing here:\n{}.\n", paragraph(c.no_SA));
    text += entries("ARGUMENTS", takes, false);
    if (takes.find("target") || takes.find("from")) text += fmt::format(".SH TARGETS\n{}.\n", paragraph(target_forms));
    text += entries("OPTIONS", takes, true) + examples(c) + exit_status();
    return text + ".SH \"SEE ALSO\"\n.BR ibtool (1),\nwhich has the options for all commands.\n";
}

std::string man_page() {
    std::string text = head_of_page("ibtool", "management datagrams for InfiniBand fabrics");
    text += ".SH SYNOPSIS\n\\fBibtool\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n";
    text += ".SH DESCRIPTION\nWithout \\fB\\-\\-fabric\\fR it uses the first InfiniBand port of this machine that\nis "
            "up.\n";
    text += "Nothing is written to a fabric by a command that is not named for it.\n.SH COMMANDS\n";
    for (const auto& [title, members] : commands_by_group()) {
        text += fmt::format(".SS {}\n", roff(title));
        for (const command* c : members)
            text += fmt::format(".TP\n.BR ibtool\\-{} (1)\n{}\n", roff(c->name), paragraph(c->summary));
    }
    global_options unused;
    arguments global;
    add_global_options(global, unused);
    return text + entries("OPTIONS", global, true) + exit_status();
}

std::string command_tables() {
    std::string text;
    for (const auto& [title, members] : commands_by_group()) {
        text += fmt::format("{}| {} | |\n|---|---|\n", text.empty() ? "" : "\n", title);
        for (const command* c : members) {
            std::string usage(c->name);
            const arguments takes = arguments_of(*c);
            for (const argument& a : takes.all())
                if (!a.is_option()) usage += word_of(a, a.names());
            text += fmt::format("| `{}` | {} |\n", usage, c->summary);
        }
    }
    text += "\n| Other names | |\n|---|---|\n";
    for (const command_alias& other : command_aliases())
        text += fmt::format("| `{}` | `{}` |\n", other.name, other.command);
    return text;
}

} // namespace ibtool
