// SPDX-License-Identifier: MIT
// main.cpp - ibtool: runs what the command line names, turns what is thrown into one line and an exit code.
#include "command_line.hpp"
#include "input/options.hpp"
#include "text/output.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace {

/// Where a stream is closed, what is opened first would take its number, and get what is written to it. Writing fails as before.
void keep_standard_streams() {
    for (int stream = 0; stream <= 2; ++stream)
        if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY); // the lowest number that is free
}

} // namespace

namespace {

/// An exception that nothing catches, or that leaves a function which must not throw.
[[noreturn]] void end_by_exception() {
    try {
        if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        ibtool::print_out_of_memory();
        ::_exit(ibtool::failed);
    } catch (...) { // a bug: let the core dump show where
    }
    std::abort();
}

/// As other tools end that write to a pipe which nobody reads any more: in silence, by the signal (a shell says 141).
int end_by_sigpipe() {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return 128 + SIGPIPE; // it is blocked
}

} // namespace

int main(int argc, char** argv) {
    keep_standard_streams();
    // Until what is open is closed; of other files than stdout it is an error like any other.
    std::signal(SIGPIPE, SIG_IGN);
    // A file that reaches the limit of its size (ulimit -f) is an error, too, and its temporary file goes away.
    std::signal(SIGXFSZ, SIG_IGN);
    std::set_terminate(&end_by_exception);
    try {
        return ibtool::run_command_line(argc, argv);
    } catch (const ibtool::closed_pipe&) {
        return end_by_sigpipe();
    } catch (const ibtool::usage_error& e) {
        ibtool::print_message("{}", e.what());
        return ibtool::usage;
    } catch (const std::bad_alloc&) {
        ibtool::print_out_of_memory();
        return ibtool::failed;
    } catch (const std::exception& e) {
        ibtool::print_message("{}", e.what());
        return ibtool::failed;
    }
}
