// SPDX-License-Identifier: MIT
// main.cpp - the main function of ibtool: runs the command line, and converts exceptions to one line and an exit code.
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

/// Opens closed standard streams for reading. Otherwise the next file would get the number of a standard stream, and with it the text for
/// this stream. Writing to such a stream still fails.
void keep_standard_streams() {
    for (int stream = 0; stream <= 2; ++stream)
        if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY); // gets the lowest free number
}

} // namespace

namespace {

/// Called for an exception that nothing catches, or that leaves a noexcept function.
[[noreturn]] void end_by_exception() {
    try {
        if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        ibtool::print_out_of_memory();
        ::_exit(ibtool::failed);
    } catch (...) { // a bug: the core dump shows the location
    }
    std::abort();
}

/// Ends like other programs that write to a closed pipe: without a message, by the signal (the shell reports 141).
int end_by_sigpipe() {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return 128 + SIGPIPE; // the signal is blocked
}

} // namespace

int main(int argc, char** argv) {
    keep_standard_streams();
    // Blocked until all files are closed; for files other than stdout, a closed pipe is an ordinary error.
    std::signal(SIGPIPE, SIG_IGN);
    // Reaching the file size limit (ulimit -f) is also an ordinary error, after which the temporary file is removed.
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
