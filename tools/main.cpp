// SPDX-License-Identifier: MIT
// main.cpp - ibtool: reads the command line, runs the command, turns what is thrown into one line and an exit code.
#include "commands.hpp"
#include "help.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    using namespace ibtool;
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of writing, and said like any other
    CLI::App app{"Management datagrams for InfiniBand fabrics", "ibtool"};
    app.set_version_flag("-V,--version", "ibtool " IBTOOL_VERSION);
    app.fallthrough(); // global options are accepted after the command, too
    app.require_subcommand(1);
    app.footer("Exit codes: 0 complete, 1 failed or could not start, 2 usage, 3 partial result.");
    global_options options;
    action run;
    try {
        add_global_options(app, options);
        for (const add_command add : all_commands) add(app, run);
        complete_help(app);
        app.parse(argc, argv);
        check_SA(app, options);
        return run(options);
    } catch (const CLI::Success& e) {
        return app.exit(e); // help, version
    } catch (const CLI::RequiredError& e) {
        const auto words = app.remaining();
        const std::string problem = !app.get_subcommands().empty() ? e.what()
                                    : words.empty()                ? "which command?"
                                                    : fmt::format("'{}' is no command, but there are {}", words.front(),
                                                                  commands_like(app, words.front()));
        fmt::print(stderr, "ibtool: {}; see ibtool help\n", problem);
        return usage;
    } catch (const CLI::ParseError& e) {
        fmt::print(stderr, "ibtool: {}; see ibtool help\n", e.what());
        return usage;
    } catch (const usage_error& e) {
        fmt::print(stderr, "ibtool: {}\n", e.what());
        return usage;
    } catch (const std::exception& e) {
        fmt::print(stderr, "ibtool: {}\n", e.what());
        return failed;
    }
}
