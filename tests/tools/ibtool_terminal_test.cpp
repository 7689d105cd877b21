// SPDX-License-Identifier: MIT
// ibtool_terminal_test.cpp - ibtool on a terminal: colors, wrapped help, and a screen that keys control.
#include "program/ibtool_rig.hpp"
#include "program/on_terminal.hpp"

#include <signal.h>
#include <string_view>

namespace ibtool_terminal_test {

using namespace ibtool_rig;

namespace {

/// Returns the lines of a screen without control sequences that clear a line and without carriage returns.
words rows_of(std::string text) {
    for (const std::string_view control : {"\033[H", "\033[K", "\033[J", "\r"})
        for (std::size_t at; (at = text.find(control)) != text.npos;) text.erase(at, control.size());
    return lines_in_order(text);
}

/// Returns true if no row is wider than the terminal.
bool all_fit(const words& rows, std::size_t columns) {
    return std::all_of(rows.begin(), rows.end(), [&](const std::string& row) { return row.size() <= columns; });
}

const words watch{"sweep", "--watch",  "--every",
                  "50ms",  "--fabric", "sim:fattree2,radix=4,sm=1,traffic=1000,counters=1"};

} // namespace

TEST_CASE("the help is as wide as the terminal, and 132 columns wide without a terminal") {
    const auto prose = [](const process_result& r) { return r.out.substr(0, r.out.find("Arguments:")); };
    const process_result plain = run({"help", "ibroute"});
    CHECK_FALSE(all_fit(rows_of(prose(plain)), 60));
    CHECK(all_fit(rows_of(prose(plain)), 132));
    for (const words& command : {words{"help", "ibroute"}, words{"ibroute", "--help"}}) {
        const process_result narrow = on_terminal(ibtool(command), 60, 40).wait();
        CHECK(narrow.status == 0);
        CHECK(all_fit(rows_of(prose(narrow)), 60));
        // The wrapped help contains the same words in the same order.
        std::istringstream ours(prose(narrow)), theirs(prose(plain));
        const auto words_in = [](std::istream& in) { return words{std::istream_iterator<std::string>(in), {}}; };
        CHECK(words_in(ours) == words_in(theirs));
    }
    CHECK_FALSE(all_fit(rows_of(prose(on_terminal(ibtool({"help", "ibroute"}), 200, 40).wait())), 132));
}

TEST_CASE("colors are used only on terminals and not with NO_COLOR") {
    const words check{"ibcheckportstate", "-v", "2", "1", "--fabric", "sim:single,sm=1"};
    const auto shown = [&](const words& settings) { return on_terminal(settings + ibtool(check), 80, 24).wait().out; };
    CHECK_THAT(shown({"NO_COLOR="}), Contains("\033[1;32mOK\033[0m")); // empty counts as unset, https://no-color.org
    CHECK_THAT(shown({"NO_COLOR=1"}), Contains(" OK") && !Contains("\033"));
    CHECK_THAT(run(check).out, Contains(" OK") && !Contains("\033"));
}

TEST_CASE("sweep --watch fits its terminal, handles resizes, and has keys to sort, filter and quit") {
    on_terminal screen(ibtool(watch), 70, 10);
    screen.await("\033[H# sweep 2 at ");
    CHECK_FALSE(screen.is_as_before());
    const std::string whole = screen.await("sort: by portXmitData\033[J");
    CHECK(rows_of(whole).size() == 10);
    CHECK(all_fit(rows_of(whole), 70));
    CHECK(whole.find("\n\033[J") == whole.npos); // the screen does not scroll

    screen.press("u");
    screen.await("sort: by utilization\033[J");
    screen.press("c");
    screen.await("sort: by congestion\033[J");
    screen.press("e");
    screen.await("sort: by errors\033[J");
    screen.press("/spinX\x7f");
    screen.await("only names with: spin_\033[J");
    screen.press("q"); // here the key is a letter of the filter
    screen.await("only names with: spinq_\033[J");
    screen.press("\x7f");
    screen.press("e-0002\n");
    screen.await("(spine-0002; Esc: all), xrXRwucen sort: by errors\033[J");
    screen.await("\033[H# sweep ");
    const words rows = rows_of(screen.await("\033[J"));
    REQUIRE(rows.size() == 2 + 4 + 1); // two heading lines, the four ports, and the line of keys
    for (std::size_t i = 2; i < 6; ++i) CHECK_THAT(rows[i], StartsWith("spine-0002 "));

    screen.resize(30, 5);
    screen.await("\033[H");
    screen.await("\033[J"); // this one may still have the old size
    screen.await("\033[H");
    const words small = rows_of(screen.await("\033[J"));
    CHECK(small.size() == 5);
    CHECK(all_fit(small, 30));

    screen.press("q");
    const process_result end = screen.wait();
    CHECK(end.status == 0);
    CHECK(screen.is_as_before());
    CHECK_THAT(end.out, !Contains("ibtool:"));
}

TEST_CASE("a signal ends sweep --watch, and stopping sweep --watch restores the terminal meanwhile") {
    on_terminal screen(ibtool(watch), 80, 24);
    screen.await("# sweep 2 at ");
    screen.signal(SIGTSTP);
    await([&] { return screen.is_as_before(); });
    screen.signal(SIGCONT);
    await([&] { return !screen.is_as_before(); });
    screen.await("# sweep ");
    screen.signal(SIGTERM);
    const int status = screen.wait().status;
    CHECK((status == 0 || status == 3)); // 3 if the signal arrived during a sweep
    CHECK(screen.is_as_before());
}

TEST_CASE("sweep --watch prints what is missing on stderr after it leaves the screen") {
    on_terminal screen(
        ibtool({"sweep", "--watch", "--every", "50ms", "--fabric", "sim:fattree2,radix=4,sm=1,dead=h-0003 HCA-1"}), 80,
        24);
    screen.await("# sweep 2 at ");
    screen.press("q");
    const process_result end = screen.wait();
    CHECK(end.status == 3);
    CHECK_THAT(
        end.out,
        Contains("\nibtool: S-") &&
            Contains("\"leaf-0002\"[1]: no reply from the neighbor (in the SA's records: \"h-0003 HCA-1\")\r\n"));
}

} // namespace ibtool_terminal_test
