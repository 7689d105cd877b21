// SPDX-License-Identifier: MIT
// main.cpp - ibtool: runs what the command line names, turns what is thrown into one line and an exit code.
#include "command_line.hpp"
#include "text/output.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>

namespace {

/// As other tools end that write to a pipe which nobody reads any more: in silence, by the signal (a shell says 141).
int end_by_SIGPIPE() {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return 128 + SIGPIPE; // it is blocked
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE,
                SIG_IGN); // until what is open is closed; of other files than stdout it is an error like any other
    try {
        return ibtool::run_command_line(argc, argv);
    } catch (const ibtool::closed_pipe&) {
        return end_by_SIGPIPE();
    } catch (const ibtool::usage_error& e) {
        ibtool::print_error("ibtool: {}\n", e.what());
        return ibtool::usage;
    } catch (const std::exception& e) {
        ibtool::print_error("ibtool: {}\n", e.what());
        return ibtool::failed;
    }
}
