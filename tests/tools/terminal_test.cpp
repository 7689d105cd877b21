// SPDX-License-Identifier: MIT
// terminal_test.cpp - the width of texts on a terminal and their line breaks, checked by hand.
#include "support/catch.hpp"
#include "text/terminal.hpp"

#include <algorithm>
#include <sstream>

namespace terminal_test {

using namespace ibtool;

TEST_CASE("columns are counted as a terminal displays them, and no character is split") {
    CHECK(columns_of("") == 0);
    CHECK(columns_of("leaf-0001") == 9);
    CHECK(columns_of("Z\u00fcrich") == 6);
    CHECK(columns_of("\u7bc0\u70b9") == 4); // wide East Asian characters
    CHECK(columns_of("e\u0301") == 1);      // an accent above the previous letter
    CHECK(columns_of("\xff\xfe") == 2);     // invalid UTF-8
    CHECK(cut_to("leaf-0001", 4) == "leaf");
    CHECK(cut_to("leaf-0001", 9) == "leaf-0001");
    CHECK(cut_to("leaf-0001", 0).empty());
    CHECK(cut_to("Z\u00fcrich", 2) == "Z\u00fc");
    CHECK(cut_to("\u7bc0\u70b9", 3) == "\u7bc0");
    CHECK(cut_to("e\u0301x", 1) == "e\u0301");
    CHECK(padded("\u7bc0", 4) == "\u7bc0  ");
    CHECK(padded("abcd", 3) == "abcd");
}

TEST_CASE("help is wrapped at the terminal width and continues in the column of the description") {
    const std::string help = "sweep the ports of all nodes again\n"
                             "  --every TEXT      interval between sweeps: 1s, 500ms\n"
                             "  -x                short\n\n";
    CHECK(wrapped(help, 0) == help);
    CHECK(wrapped(help, 100) == help);
    CHECK(wrapped(help, 40) == "sweep the ports of all nodes again\n"
                               "  --every TEXT      interval between\n"
                               "                    sweeps: 1s, 500ms\n"
                               "  -x                short\n\n");
    CHECK(wrapped(help, 30) == "sweep the ports of all nodes\n"
                               "again\n"
                               "  --every TEXT      interval\n"
                               "    between sweeps: 1s, 500ms\n"
                               "  -x                short\n\n");
    CHECK(wrapped("no_space_in_a_word_that_is_longer_than_a_line but here", 20) ==
          "no_space_in_a_word_that_is_longer_than_a_line\nbut here");
}

} // namespace terminal_test
