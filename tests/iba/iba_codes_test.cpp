// SPDX-License-Identifier: MIT
// iba_codes_test.cpp - encoded times, LIDs and rates, with numbers from the IBA and from the tests of python-rdma.
#include "support/catch.hpp"
#include <comad/iba/detail/value_codes.hpp>

#include <set>
#include <string>

using namespace comad;
using namespace comad::iba;
using namespace std::chrono_literals;

TEST_CASE("time codes are powers of two times 4.096 us, and times are rounded up to a code") {
    CHECK(time_of_code(0) == 4096ns);
    CHECK(time_of_code(18) == 1'073'741'824ns);
    const auto exact = 4096ns * (1 << 20);
    CHECK(to_time_code(exact) == 20);
    CHECK(to_time_code(exact + 1ns) == 21);
    CHECK(to_time_code(exact - 1ns) == 20);
    CHECK(to_time_code(0ns) == 0);
    CHECK(to_time_code(-1s) == 0);
    CHECK(to_time_code(std::chrono::hours(10)) == 31); // the longest is 2 h 26 min
    for (u8 code = 0; code < 32; ++code) CHECK(to_time_code(time_of_code(code)) == code);
}

TEST_CASE("lids_of returns all LIDs of a port for any of them") {
    CHECK(lids_of(lid{9}, 2) == lid_range{lid{8}, lid{11}});
    CHECK(lids_of(lid{8}, 2) == lid_range{lid{8}, lid{11}});
    CHECK(lids_of(lid{9}, 0) == lid_range{lid{9}, lid{9}});
    CHECK(lids_of(lid{0xbfff}, 7) == lid_range{lid{0xbf80}, lid{0xbfff}});
    CHECK(lids_of(lid{9}, 2).contains(lid{11}));
    CHECK_FALSE(lids_of(lid{9}, 2).contains(lid{12}));
    CHECK_FALSE(lids_of(lid{9}, 2).contains(lid{7}));
}

TEST_CASE("every rate converts to the bits per second in its name and back") {
    std::set<u64> all;
    for (const enum_name& named : names_of<Rate>) {
        const Rate code{static_cast<u8>(named.value)};
        const u64 bits = bits_per_second(code);
        CHECK(static_cast<double>(bits) == std::stod(std::string(named.name)) * 1e9);
        CHECK(to_rate(bits) == code);
        all.insert(bits);
    }
    CHECK(all.size() == 24); // codes 2 to 25
    CHECK(bits_per_second(Rate{0}) == 0);
    CHECK(bits_per_second(Rate{1}) == 0);
    CHECK(bits_per_second(Rate{26}) == 0);
    CHECK_FALSE(to_rate(0));
    CHECK_FALSE(to_rate(2'500'000'001));
    // Between two rates, below the slowest rate and above the fastest one.
    CHECK(rate_at_most(2'500'000'001) == Rate::r2_5);
    CHECK(rate_at_most(10'312'500'000) == Rate::r10);
    CHECK_FALSE(rate_at_most(2'499'999'999));
    CHECK(rate_at_most(2'400'000'000'000) == Rate::r1600);
}
