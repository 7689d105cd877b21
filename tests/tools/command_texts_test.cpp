// SPDX-License-Identifier: MIT
// command_texts_test.cpp - every command and option has a complete text, from which help, man page and reference page
// are generated.
#include "command_text.hpp"
#include "help_text.hpp"
#include "manual.hpp"
#include "markdown.hpp"
#include "text/terminal.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

namespace command_texts_test {

using namespace ibtool;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;

/// Collects the missing parts of a command's text.
class text_check {
public:
    text_check(const arguments& taken, const command_text& text, bool writes) : taken_(taken), text_(text) {
        if (text.summary.empty() || text.summary.size() > 80 || !text.summary.ends_with('.'))
            add("the summary must be one sentence of at most 80 characters");
        check_sections();
        check_traffic(writes);
        for (const argument& a : taken.all()) check_argument(a);
        for (const argument_text& t : text.arguments)
            if (std::ranges::none_of(taken.all(), [&](const argument& a) { return text.find(a) == &t; }))
                add(fmt::format("'{}' is described, but not declared or described twice", t.names));
    }
    const strings& problems() const { return problems_; }

private:
    void add(std::string problem) { problems_.push_back(std::move(problem)); }
    void check_sections() {
        if (text_.description.empty()) add("no section Description");
        if (text_.output.empty()) add("no section Output");
        if (text_.see_also.empty()) add("no section See also");
        if (text_.example_commands().empty()) add("no example");
        const bool has_json =
            std::ranges::any_of(taken_.all(), [](const argument& a) { return a.is_called("--json"); });
        if (has_json && text_.json.empty()) add("--json without a section JSON");
    }
    void check_traffic(bool writes) {
        std::string traffic(text_.traffic);
        std::ranges::replace(traffic, '\n', ' ');
        if (traffic.find("Sends ") == traffic.npos) add("no sentence that states what the command sends");
        if (traffic.find("Writes ") == traffic.npos) add("no sentence that states what the command writes");
        const bool option_writes = std::ranges::any_of(
            text_.arguments, [](const argument_text& t) { return t.brief.find("(writes)") != t.brief.npos; });
        const bool mentions_nothing = traffic.find("Writes nothing") != traffic.npos;
        const bool writes_nothing = traffic.find("Writes nothing.") != traffic.npos ||
                                    traffic.find("Writes nothing to the fabric.") != traffic.npos;
        if (!writes && !option_writes && !mentions_nothing)
            add("a command that only reads must state that it writes nothing");
        if (writes && writes_nothing) add("a command that writes cannot state that it writes nothing");
    }
    void check_argument(const argument& a) {
        const argument_text* const text = text_.find(a);
        if (a.is_hidden()) return;
        if (!text) return add(fmt::format("'{}' has no text", a.names()));
        if (text->brief.empty() || text->brief.size() > 100 || !text->brief.ends_with('.'))
            add(fmt::format("the first paragraph of '{}' must be one sentence of at most 100 characters", a.names()));
        check_value(a, *text);
    }
    void check_value(const argument& a, const argument_text& text) {
        const bool takes_value = a.is_option() && !a.is_flag();
        if (takes_value == text.placeholder.empty())
            add(fmt::format("'{}': a value has a placeholder, a flag none", a.names()));
        if (text.placeholder == "TEXT") add(fmt::format("'{}': the placeholder must name the type", a.names()));
        const std::string all = fmt::format("{} {} {}", text.placeholder, text.brief, text.details);
        for (const std::string& choice : a.choices())
            if (all.find(choice) == all.npos)
                add(fmt::format("'{}' does not describe the choice {}", a.names(), choice));
        const auto shown = a.default_text();
        if (shown && text.brief.find(fmt::format("[{}", *shown)) == text.brief.npos)
            add(fmt::format("'{}' does not show the default [{}]", a.names(), *shown));
    }

    const arguments& taken_;
    const command_text& text_;
    strings problems_;
};

/// Returns the problems of a command text with the options `--every` and `--json`, with one part replaced.
strings problems_of(const std::string& from = {}, const std::string& to = {}) {
    std::string markdown =
        "# demo\n\nShow a demonstration.\n\n## Description\n\nText.\n\n## Options\n\n### `--every DURATION`\n\n"
        "Repeat every DURATION [1s].\n\n### `--json`\n\n## Sends and writes\n\nSends one MAD. Writes nothing.\n\n"
        "## Output\n\nText.\n\n## JSON\n\nText.\n\n## Examples\n\n```console\n$ ibtool demo\n```\n\n"
        "## See also\n\n[x](x.md)\n";
    if (!from.empty()) {
        const std::size_t at = markdown.find(from);
        REQUIRE(at != markdown.npos);
        markdown.replace(at, from.size(), to);
    }

    static std::deque<std::string> texts;
    texts.push_back(markdown);
    std::string every = "1s";
    bool json = false;
    arguments taken;
    taken.option("--every", every).shows_default();
    taken.flag("--json", json);
    const std::vector<argument_text> common = read_argument_texts("### `--json`\n\nPrint JSON.\n");
    return text_check(taken, read_command_text(texts.back(), common), false).problems();
}

} // namespace command_texts_test

using namespace command_texts_test;

TEST_CASE("every command has a complete text, and the command declares every option in the text") {
    for (const command& c : all_commands()) {
        const text_check check(arguments_of(c), text_of_command(c.name), c.writes);
        CAPTURE(c.name, check.problems());
        CHECK(check.problems().empty());
        CHECK(text_of_command(c.name).name == c.name);
    }
}

TEST_CASE("every global option has a text") {
    const arguments taken = global_arguments();
    for (const argument& a : taken.all()) {
        CAPTURE(a.names());
        const argument_text* const text = text_of_command("ibtool").find(a);
        if (a.is_hidden()) continue;
        REQUIRE(text);
        CHECK((text->brief.size() > 10 && text->brief.size() <= 100 && text->brief.ends_with('.')));
        CHECK((a.is_flag() || !text->placeholder.empty()));
        if (const auto shown = a.default_text()) CHECK_THAT(text->brief, Contains("[" + *shown));
    }
}

TEST_CASE("an incomplete command text is refused") {
    CHECK(problems_of() == strings{});
    CHECK(problems_of("Show a demonstration.", "Show a demonstration") != strings{});
    CHECK(problems_of("## Description\n\nText.", "## Description") == strings{"no section Description"});
    CHECK(problems_of("## Output\n\nText.", "## Output") == strings{"no section Output"});
    CHECK(problems_of("## JSON\n\nText.", "## JSON") == strings{"--json without a section JSON"});
    CHECK(problems_of("[x](x.md)", "") == strings{"no section See also"});
    CHECK(problems_of("$ ibtool demo", "ibtool demo") == strings{"no example"});
    CHECK(problems_of("Sends one MAD.", "") == strings{"no sentence that states what the command sends"});
    CHECK(problems_of("Writes nothing.", "").size() == 2);
    CHECK(problems_of("Writes nothing.", "Writes PortInfo.").size() == 1);
    CHECK(problems_of("### `--json`\n", "") == strings{"'--json' has no text"});
    CHECK(problems_of("### `--json`\n", "### `--yaml`\n\nPrint YAML.\n").size() == 2);
    CHECK(problems_of("[1s]", "") == strings{"'--every' does not show the default [1s]"});
    CHECK(problems_of(" DURATION`", " TEXT`") == strings{"'--every': the placeholder must name the type"});
    CHECK(problems_of(" DURATION`", "`") == strings{"'--every': a value has a placeholder, a flag none"});
    CHECK_THROWS_WITH(problems_of("## Output", "## Outputs"), "demo: unknown section 'Outputs'");
}

TEST_CASE("the short help has at most 24 lines of 80 columns") {
    strings helps{short_help()};
    for (const command& c : all_commands()) helps.push_back(short_help(c));
    for (const std::string& help : helps) {
        CAPTURE(help);
        CHECK(std::ranges::count(help, '\n') <= 24);
        std::istringstream lines(help);
        for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 80);
    }
}

TEST_CASE("help, man page and reference page of a command contain each section and option") {
    for (const command& c : all_commands()) {
        CAPTURE(c.name);
        const command_text& text = text_of_command(c.name);
        const std::string help = full_help(c, 0), page = reference_page(c), man = man_page(c);
        for (const argument_text& a : text.arguments) {
            CAPTURE(a.names);
            CHECK_THAT(help, Contains(std::string(a.names)));
            CHECK_THAT(page, Contains(fmt::format("### `{}", a.names)));
            CHECK_THAT(man, Contains(man_escaped(a.names.substr(a.names.rfind(' ') + 1))));
        }
        for (const std::string_view part :
             {text.description, text.traffic, text.output, text.json, text.examples, text.see_also})
            CHECK_THAT(page, Contains(std::string(part)));
        for (const auto& [title, body] : {std::pair("Sends and writes", text.traffic),
                                          {"Output", text.output},
                                          {"JSON", text.json},
                                          {"Examples", text.examples},
                                          {"See also", text.see_also}}) {
            CAPTURE(title);
            std::string upper(title);
            std::ranges::transform(upper, upper.begin(),
                                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
            const bool quoted = upper.find(' ') != upper.npos;
            CHECK((help.find(fmt::format("\n{}:\n", title)) != help.npos) == !body.empty());
            CHECK((man.find(quoted ? fmt::format("\n.SH \"{}\"\n", upper) : fmt::format("\n.SH {}\n", upper)) !=
                   man.npos) == !body.empty());
        }
    }
}

TEST_CASE("Markdown becomes indented text with lists, tables and code") {
    CHECK(
        markdown_as_text(
            "One two three\nfour `five`, **six**.\n\n- a b c d e f g h i j k l m n\n- o\n\n1. first\n2. second\n", 2,
            24) ==
        "  One two three four\n  five, six.\n\n  - a b c d e f g h i j\n    k l m n\n  - o\n  1. first\n  2. second\n");
    CHECK(markdown_as_text("```console\n$ a  b\n\nc\n```", 2, 10) == "    $ a  b\n\n    c\n");
    CHECK(markdown_as_text("| name | meaning |\n|---|---|\n| `x` | one |\n| yy | two |\n", 0, 40) ==
          "name  meaning\nx     one\nyy    two\n");
    CHECK(markdown_as_text("See [sweep](sweep.md), [Page](../../howto/a.md#b) and [site](https://example.org).", 0,
                           200) == "See sweep, Page (docs/howto/a.md) and site (https://example.org).\n");
    CHECK(markdown_as_text("One two three four five six seven eight nine ten.\n", 2, 0) ==
          "  One two three four five six seven eight nine ten.\n");
}

TEST_CASE("Markdown becomes man macros, and no text is mistaken for a roff request") {
    CHECK(markdown_as_man("A-b `c`.\n\n.SH is text", false) == "A\\-b \\fBc\\fR.\n.PP\n\\&.SH is text\n");
    CHECK(markdown_as_man("- one\n- two", false) == ".IP \\(bu 2\none\n.IP \\(bu 2\ntwo\n");
    CHECK(markdown_as_man("```\n.x \\\n```", true) == ".PP\n.RS 4\n.nf\n\\&.x \\e\n.fi\n.RE\n");
    CHECK(markdown_as_man("[sweep](sweep.md), [ibtool](ibtool.md)", false) ==
          "\\fBibtool\\-sweep\\fR(1), \\fBibtool\\fR(1)\n");
    CHECK(markdown_as_man("| a | b |\n|---|---|\n| c | d |", false) ==
          ".TS\nnokeep;\nl lx.\na\tT{\nb\nT}\nc\tT{\nd\nT}\n.TE\n");
}
