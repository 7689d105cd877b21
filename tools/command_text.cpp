// SPDX-License-Identifier: MIT
// command_text.cpp - splits the Markdown file of a command into its sections and arguments.
#include "command_text.hpp"

#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace ibtool {
namespace {

/// A Markdown file that is compiled into the program.
struct text_file {
    /// Takes the lengths from the types: to count all characters takes more steps than clang allows in a constant expression.
    template <std::size_t N, std::size_t M>
    constexpr text_file(const char (&name_)[N], const char (&markdown_)[M])
        : name(name_, N - 1), markdown(markdown_, M - 1) {}
    std::string_view name, markdown;
};

constexpr text_file text_files[] = {
#include IBTOOL_COMMAND_TEXTS
};

std::string_view trimmed_view(std::string_view text) {
    constexpr std::string_view blanks = " \n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// A heading and the text below it.
struct section {
    std::string_view title, body;
};

/// Returns the parts of a text that start with a heading of this level, such as `## `. Headings in code blocks do not count.
std::vector<section> sections_of(std::string_view text, std::string_view mark) {
    std::vector<section> found;
    bool in_code = false;
    std::size_t start_of_body = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.starts_with("```")) in_code = !in_code;
        if (!in_code && line.starts_with(mark)) {
            if (!found.empty()) found.back().body = trimmed_view(text.substr(start_of_body, at - start_of_body));
            found.push_back({line.substr(mark.size()), {}});
            start_of_body = end;
        }
        at = end + 1;
    }
    if (!found.empty()) found.back().body = trimmed_view(text.substr(start_of_body));
    return found;
}

/// Returns the first paragraph on one line, and the rest of the text.
std::pair<std::string, std::string_view> split_brief(std::string_view body) {
    const std::size_t end = std::min(body.find("\n\n"), body.size());
    std::string brief(body.substr(0, end));
    std::ranges::replace(brief, '\n', ' ');
    return {std::move(brief), trimmed_view(body.substr(end))};
}

/// Splits `-c, --count COUNT` in backquotes into the names `-c,--count` and the placeholder COUNT.
argument_text read_argument_text(const section& s) {
    std::string_view title = s.title;
    if (title.size() < 2 || !title.starts_with('`') || !title.ends_with('`'))
        throw std::logic_error(fmt::format("the heading '{}' must be in backquotes", title));
    title = title.substr(1, title.size() - 2);
    argument_text text;
    text.names = title;
    if (title.starts_with('-')) {
        const std::size_t last = title.rfind(", ") == title.npos ? 0 : title.rfind(", ") + 2;
        if (const std::size_t blank = title.find(' ', last); blank != title.npos) {
            text.names = title.substr(0, blank);
            text.placeholder = title.substr(blank + 1);
        }
    }
    std::tie(text.brief, text.details) = split_brief(s.body);
    return text;
}

/// Returns whether the names in a heading are those of the declaration, which has no blanks.
bool same_names(std::string_view heading, std::string_view declared) {
    std::string names(heading);
    std::erase(names, ' ');
    return names == declared;
}

void add_arguments(command_text& text, std::string_view markdown, const std::vector<argument_text>& common) {
    for (argument_text& a : read_argument_texts(markdown)) {
        if (a.brief.empty()) {
            const auto shared = std::ranges::find(common, a.names, &argument_text::names);
            if (shared != common.end()) a.brief = shared->brief, a.details = shared->details;
        }
        text.arguments.push_back(std::move(a));
    }
}

void add_section(command_text& text, const section& s, const std::vector<argument_text>& common) {
    if (s.title == "Description") text.description = s.body;
    else if (s.title == "Arguments" || s.title == "Options") add_arguments(text, s.body, common);
    else if (s.title == "Sends and writes") text.traffic = s.body;
    else if (s.title == "Output") text.output = s.body;
    else if (s.title == "JSON") text.json = s.body;
    else if (s.title == "Exit status") text.exit_status = s.body;
    else if (s.title == "Examples") text.examples = s.body;
    else if (s.title == "See also") text.see_also = s.body;
    else throw std::logic_error(fmt::format("{}: unknown section '{}'", text.name, s.title));
}

std::map<std::string_view, command_text> read_all() {
    std::map<std::string_view, command_text> all;
    const auto common = std::ranges::find(text_files, "common", &text_file::name);
    const std::vector<argument_text> shared = read_argument_texts(common->markdown);
    for (const text_file& f : text_files)
        if (f.name != "common") all.emplace(f.name, read_command_text(f.markdown, shared));
    return all;
}

} // namespace

const argument_text* command_text::find(const argument& a) const {
    const auto found =
        std::ranges::find_if(arguments, [&](const argument_text& t) { return same_names(t.names, a.names()); });
    return found == arguments.end() ? nullptr : &*found;
}

std::vector<std::string_view> command_text::example_commands() const {
    std::vector<std::string_view> found;
    std::string_view language; // language of the code block that contains the line
    for (std::size_t at = 0; at < examples.size();) {
        const std::size_t end = std::min(examples.find('\n', at), examples.size());
        const std::string_view line = examples.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("```")) language = line.substr(3);
        else if (language == "console" && line.starts_with("$ ")) found.push_back(line.substr(2));
        else if (language == "sh" && !line.empty() && !line.starts_with('#')) found.push_back(line);
    }
    return found;
}

std::vector<argument_text> read_argument_texts(std::string_view markdown) {
    std::vector<argument_text> all;
    for (const section& s : sections_of(markdown, "### ")) all.push_back(read_argument_text(s));
    return all;
}

command_text read_command_text(std::string_view markdown, const std::vector<argument_text>& common) {
    const std::vector<section> title = sections_of(markdown, "# ");
    if (title.size() != 1) throw std::logic_error("a command text must start with '# ' and the command's name");
    command_text text;
    text.name = title.front().title;
    text.exit_status = exit_codes;
    const std::string_view body = title.front().body;
    text.summary = trimmed_view(body.substr(0, body.find('\n')));
    for (const section& s : sections_of(body, "## ")) add_section(text, s, common);
    return text;
}

const command_text& text_of_command(std::string_view name) {
    static const std::map<std::string_view, command_text> all = read_all();
    return all.at(name);
}

} // namespace ibtool
