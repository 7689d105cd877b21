// SPDX-License-Identifier: MIT
// ibtool_rig.hpp - helpers for the ibtool tests: they run the built program as a user runs it, and check the result.
#pragma once
#include "program/process.hpp"
#include "support/catch.hpp"
#include "support/directory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ibtool_rig {

using words = std::vector<std::string>;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using comad::test::directory;
using comad::test::read_file;

/// Returns the words of both lists.
inline words operator+(words a, const words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Returns the path of another build of ibtool to test, such as a build with sanitizers; null if no path is set.
inline const char* other_program() { return std::getenv("COMAD_IBTOOL"); }
/// Returns the path of the ibtool to test.
inline std::string ibtool_program() { return other_program() ? other_program() : IBTOOL; }
/// Selects the cases of a test that starts the program for each case. Selects every fifth case if COMAD_IBTOOL names a
/// slow program (with sanitizers), and otherwise all cases.
class sampled {
public:
    bool skips() { return other_program() && seen_++ % 5 != 0; }

private:
    unsigned seen_ = 0;
};
/// Returns the command line of ibtool with `arguments`. It ignores the fabric in the environment of the tests.
inline words ibtool(const words& arguments) { return words{"IBTOOL_FABRIC=", ibtool_program()} + arguments; }

/// Runs ibtool to its end.
inline process_result run(const words& arguments) { return run_process(ibtool(arguments)); }

/// Returns true if a program is installed. Otherwise prints a warning that the test is skipped.
inline bool is_installed(const std::string& program) {
    if (run_process({"sh", "-c", "command -v " + program}).status == 0) return true;
    WARN("skipped: there is no " << program);
    return false;
}

/// Polls until `holds` returns true. Throws std::runtime_error after 60 seconds.
template <class Condition> void await(Condition&& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never happens");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Returns the lines of a text in sorted order.
inline words lines_of(const std::string& text) {
    words lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// Returns the lines of a text in their original order.
inline words lines_in_order(const std::string& text) {
    words all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

/// Checks that ibtool exited with `code`, printed one line that contains `what` on stderr, and printed nothing on
/// stdout.
inline void check_failure(const process_result& r, int code, const std::string& what) {
    INFO("stderr: " << r.err);
    CHECK(r.status == code);
    CHECK(r.out.empty());
    CHECK_THAT(r.err, StartsWith("ibtool: ") && Contains(what) && EndsWith("\n"));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
}

/// Checks that ibtool exited with 0 and printed nothing on stderr.
inline void check_success(const process_result& r) {
    INFO("stderr: " << r.err);
    CHECK(r.status == 0);
    CHECK(r.err.empty());
}

} // namespace ibtool_rig
