// SPDX-License-Identifier: MIT
// ibtool_manual_test.cpp - man pages as groff reads them, and completion as bash does.
#include "ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace ibtool_rig;

namespace {

std::vector<std::string> command_names() {
    std::istringstream lines(run({"help", "--json"}).out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) names.push_back(nlohmann::json::parse(line).at("command"));
    return names;
}

/// A page as text, without overstriking. groff says on stderr what it does not understand.
std::string rendered(const std::string& page) {
    const directory files;
    std::ofstream(files / "page.1") << page;
    const process_result r =
        run_process({"groff", "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-o", "-P-u", files / "page.1"});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    return r.out;
}

/// What bash offers for the last of these words.
std::string offered(const std::string& script, const std::string& words) {
    const process_result r =
        run_process({"bash", "-c",
                     "source " + script + "; COMP_WORDS=(" + words +
                         "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ibtool; echo \"${COMPREPLY[*]}\""});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    return r.out;
}

} // namespace

TEST_CASE("every command has a man page that groff reads without a warning, with all that its help has") {
    sampled sample;
    for (const std::string& name : command_names()) {
        if (sample.skips()) continue;
        INFO(name);
        const std::string page = rendered(run({"help", "--man", name}).out);
        CHECK_THAT(page, Contains("ibtool-" + name));
        CHECK_THAT(page, Contains("EXIT STATUS"));
        const std::string help = run({"help", name}).out;
        std::istringstream lines(help.substr(help.find("Options:")));
        for (std::string line; std::getline(lines, line) && !line.starts_with("Examples:");) {
            const std::size_t dash = line.find("--");
            if (!line.starts_with("  -") || dash == line.npos) continue;
            const std::string option = line.substr(dash, line.find_first_of(" ,", dash) - dash);
            if (option != "--help") CHECK_THAT(page, Contains(option));
        }
    }
    const std::string all = rendered(run({"help", "--man"}).out);
    for (const std::string& name : command_names()) CHECK_THAT(all, Contains("ibtool-" + name + "(1)"));
    CHECK_THAT(all, Contains("--fabric"));
}

TEST_CASE("bash completes commands, options and the words that an option has") {
    const directory files;
    const std::string script = files / "completion";
    std::ofstream(script) << run({"help", "--completion", "bash"}).out;
    CHECK(offered(script, "ibtool ibh") == "ibhosts\n");
    CHECK(offered(script, "ibtool help sminf") == "sminfo\n");
    CHECK_THAT(offered(script, "ibtool ''"), Contains("perfquery") && Contains("sweep"));
    CHECK(offered(script, "ibtool sweep --prom") == "--prometheus\n");
    CHECK_THAT(offered(script, "ibtool sweep --p"), Contains("--pcap")); // one for all commands
    CHECK(offered(script, "ibtool sweep --type s") == "switch\n");
    CHECK(offered(script, "ibtool --timeout 5 sweep --refresh-by ''") == "smp sa\n");
    CHECK(offered(script, "ibtool ibhosts fab") == "\n"); // bash goes on with files
    check_failure(run({"help", "--completion", "tcsh"}), 2, "tcsh");
    check_failure(run({"help", "--markdown", "sweep"}), 2, "--markdown lists all commands");
}
