// SPDX-License-Identifier: MIT
// host_ranges_test.cpp - ranges that combine several host names.
#include "support/catch.hpp"
#include "text/host_ranges.hpp"

#include <string>
#include <vector>

TEST_CASE("names that end in consecutive numbers are printed as a range") {
    using ibtool::host_ranges;
    using lines = std::vector<std::string>;
    CHECK(host_ranges({}) == lines{});
    CHECK(host_ranges({"node-03", "node-01", "node-02"}) == lines{"node-01-03"});
    CHECK(host_ranges({"b2", "a", "b1", "b4", "b9", "b10"}) == lines{"a", "b1-2", "b4", "b9-10"});
    CHECK(host_ranges({"n099", "n100", "n102"}) == lines{"n099-100", "n102"});
    CHECK(host_ranges({"7", "8", "x", "x"}) == lines{"7-8", "x", "x"});
}
