// SPDX-License-Identifier: MIT
// ibtool_manual_test.cpp - the man pages as groff renders them, and shell completion.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <sstream>

using namespace ibtool_rig;

namespace {

using words_list = std::vector<std::string>;

/// Returns the names of all commands.
std::vector<std::string> command_names() {
    std::istringstream lines(run({"help", "--json"}).out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) names.push_back(nlohmann::json::parse(line).at("command"));
    return names;
}

/// Returns a page as text without overstriking. groff reports invalid input on stderr, and mandoc also reports bad
/// style.
std::string rendered(const std::string& page) {
    const directory files;
    std::ofstream(files / "page.1") << page;
    const words_list groff{"groff", "-t", "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-o", "-P-u"};
    const process_result r = run_process(groff + words_list{files / "page.1"});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    CHECK(run_process(groff + words_list{"-rLL=120n", files / "page.1"}).err == ""); // the width that lintian uses
    const process_result style = run_process({"mandoc", "-T", "lint", files / "page.1"});
    CHECK(style.out + style.err == "");
    return r.out;
}

/// Returns the words that ibtool offers as completions of a command line.
std::vector<std::string> suggested(const std::string& line) {
    const process_result r = run({"help", "--complete", line});
    check_success(r);
    std::vector<std::string> words;
    std::istringstream lines(r.out);
    for (std::string one; std::getline(lines, one);) words.push_back(one.substr(0, one.find('\t')));
    return words;
}

/// Returns true if ibtool offers a word as a completion.
bool offers(const std::string& line, const std::string& word) {
    const std::vector<std::string> all = suggested(line);
    return std::ranges::find(all, word) != all.end();
}

/// An environment in which a shell finds ibtool and its other names.
struct shell_rig {
    explicit shell_rig(const std::string& shell) {
        std::ofstream(script) << run({"help", "--completion", shell}).out;
        for (const char* name : {"ibtool", "smpquery"})
            std::filesystem::create_symlink(std::filesystem::absolute(ibtool_program()), files / name);
    }
    directory files;
    std::string script = files / "completion", path = "PATH=" + (files / "") + ":" + std::getenv("PATH");
};

/// Returns the completions that bash inserts at the end of a line.
std::string offered_by_bash(const shell_rig& here, const std::string& line) {
    const std::string program = R"(
source "$1"; COMP_LINE=$2 COMP_POINT=${#2}
# as readline takes words apart
mapfile -t COMP_WORDS < <(printf '%s' "$2" | sed -E 's/[[:space:]]+/\n/g; s/([:=])/\n\1\n/g')
[[ $2 == *[[:space:]] ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ibtool; printf '%s\n' "${COMPREPLY[@]}")";
    const process_result r = run_process({"env", here.path, "bash", "-c", program, "bash", here.script, line});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    return r.out;
}

} // namespace

TEST_CASE("groff and mandoc accept every command's man page, which has all sections and options") {
    std::map<std::string, words_list> options;
    for (const std::string& line : lines_in_order(run({"help", "--arguments"}).out)) {
        const nlohmann::json a = nlohmann::json::parse(line);
        const std::string names = a.at("argument");
        if (!a.at("hidden")) options[a.at("command")].push_back(names.substr(names.rfind(',') + 1));
    }
    sampled sample;
    for (const std::string& name : command_names()) {
        if (sample.skips()) continue;
        INFO(name);
        const std::string page = rendered(run({"help", "--man", name}).out);
        CHECK_THAT(page, Contains("ibtool-" + name));
        for (const char* section :
             {"SYNOPSIS", "DESCRIPTION", "SENDS AND WRITES", "OUTPUT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"})
            CHECK_THAT(page, Contains(std::string("\n") + section + "\n"));
        for (const std::string& option : options[name]) CHECK_THAT(page, Contains(option));
    }
    const std::string all = rendered(run({"help", "--man"}).out);
    for (const std::string& name : command_names()) CHECK_THAT(all, Contains("ibtool-" + name + "(1)"));
    CHECK_THAT(all, Contains("--fabric"));
}

TEST_CASE("shell completion offers what the command accepts at the end of the command line") {
    CHECK(suggested("ibtool ibh") == words_list{"ibhosts"});
    CHECK(suggested("ibtool help sminf") == words_list{"sminfo"});
    CHECK(offers("ibtool ", "perfquery"));
    CHECK(offers("ibtool ", "sweep"));
    CHECK(suggested("ibtool sweep --prom") == words_list{"--prometheus"});
    CHECK(offers("ibtool sweep --p", "--pcap")); // an option of all commands
    CHECK(suggested("ibtool sweep --type s") == words_list{"switch"});
    CHECK(suggested("ibtool sweep --type=s") == words_list{"--type=switch"});
    CHECK(suggested("ibtool --timeout 5 sweep --refresh-by ") == words_list{"smp", "sa"});
    CHECK(suggested("ibtool ibhosts fab").empty()); // the argument is a file
    // The next words exist only in the descriptors: operations, records and attributes.
    CHECK(suggested("ibtool smpquery NodeD") == words_list{"NodeDesc"});
    CHECK(suggested("ibtool smpquery --timeout 5 -x NodeD") == words_list{"NodeDesc"});
    CHECK(suggested("ibtool smpquery NodeDesc NodeD").empty()); // the next argument is the target
    CHECK(suggested("ibtool saquery MCM") == words_list{"MCMemberRecord"});
    CHECK(suggested("ibtool query SubnGet SMPPortInfoE") == words_list{"SMPPortInfoExtended"});
    CHECK(suggested("ibtool decode --struct SMPPortInfoE") == words_list{"SMPPortInfoExtended"});
    CHECK(suggested("ibtool ibportstate 7 1 dis") == words_list{"disable"});
    // A link with the name of a command runs that command from any directory.
    CHECK(suggested("/usr/sbin/smpquery NodeD") == words_list{"NodeDesc"});
    CHECK(suggested("ibswportwatch.pl --js") == words_list{"--json"});
    check_failure(run({"help", "--completion", "tcsh"}), 2, "tcsh");
}

TEST_CASE("shell completion offers targets from the subnet cache that the command line names") {
    const directory files;
    const std::string cache = files / "a cache";
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1"};
    check_success(run(words{"ibnodes", "--subnet-cache", cache} + fabric));
    const std::string line = "ibtool smpquery --subnet-cache '" + cache + "' NodeInfo ";
    CHECK(offers(line, "1"));
    CHECK_FALSE(offers(line, "leaf-0001")); // a target of smpquery cannot be a name
    const std::string by_name = "ibtool iblinkinfo --subnet-cache=" + (files / "a\\ cache") + " lea";
    CHECK(suggested(by_name) == words_list{"leaf-0001", "leaf-0002", "leaf-0003", "leaf-0004"});
    const std::vector<std::string> guids = suggested(line + "0002:c9");
    CHECK(guids.size() == 14); // one port of each node
    CHECK(suggested("ibtool smpquery --subnet-cache " + (files / "nothing") + " NodeInfo ").empty());
}

TEST_CASE("bash, fish and zsh complete ibtool and its links with ibtool's candidates") {
    SECTION("bash") {
        const shell_rig here("bash");
        CHECK(offered_by_bash(here, "ibtool ibh") == "ibhosts\n");
        CHECK(offered_by_bash(here, "ibtool sweep --type=s") == "switch\n"); // bash inserts only the part after `=`
        CHECK(offered_by_bash(here, "smpquery NodeD") == "NodeDesc\n");
        CHECK(offered_by_bash(here, "ibtool ibhosts fab") == "\n"); // bash then completes file names
        const process_result listed = run_process({"bash", "-c", "source " + here.script + "; complete -p smpquery"});
        CHECK(listed.out == "complete -o default -F _ibtool smpquery\n");
    }
    SECTION("fish") {
        const shell_rig here("fish");
        const auto offered = [&](const std::string& line) {
            const process_result r = run_process({"env", here.path, "HOME=" + (here.files / ""), "fish", "-c",
                                                  "source " + here.script + "; complete -C '" + line + "'"});
            CHECK(r.status == 0);
            CHECK(r.err.empty());
            return r.out;
        };
        CHECK_THAT(offered("ibtool ibh"), StartsWith("ibhosts\t"));
        CHECK_THAT(offered("ibtool sweep --type s"), Contains("switch\n"));
        CHECK_THAT(offered("smpquery NodeD"), StartsWith("NodeDesc"));
    }
    SECTION("zsh") {
        const shell_rig here("zsh");
        // Runs the shell on its own pseudo-terminal and presses the tab key.
        const auto typed = [&](const std::string& line, const std::string& awaited) {
            const std::string program = R"(zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='ready> '; autoload -Uz compinit; compinit -D; source $1; echo so''urced"
zpty -r -m shell out '*sourced*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell out "*$3*"
print -r -- "$out"
zpty -d shell)";
            return run_process({"env", here.path, "TERM=dumb", "timeout", "20", "zsh", "-f", "-c", program, "zsh",
                                here.script, line, awaited})
                .status;
        };
        CHECK(typed("ibtool ibho", "ibhosts ") == 0);
        CHECK(typed("ibtool sweep --type sw", "switch ") == 0);
        CHECK(typed("smpquery NodeD", "NodeDesc ") == 0);
    }
}
