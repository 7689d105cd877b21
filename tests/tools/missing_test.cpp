// SPDX-License-Identifier: MIT
// missing_test.cpp - failures as lines for users: each with its location, or one line for all locations with one cause.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/subnet_missing.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

namespace missing_test {

using namespace comad;
using namespace ibtool;

TEST_CASE("a failure is printed with its location, in the short or the complete form") {
    discovery::subnet s = test::made_subnet();
    std::vector<discovery::failure> of_sweep = {
        {discovery::failure_kind::error_reply, s.location_of({2, 1}), "what is wrong"}};
    s.failures = {{discovery::failure_kind::timeout, {s.nodes[0].info.nodeGUID, 4}, "RPC silent", "silent"}};
    const auto id = [&](u32 node) { return fmt::format("{:016x}", value(s.nodes[node].info.nodeGUID)); };
    CHECK(format_missing(all_missing(s, of_sweep), true) ==
          std::vector{"S-" + id(0) + " \"made switch\"[4]: RPC silent",
                      "R-" + id(2) + " \"made router\"[1]: what is wrong"});
    CHECK(
        format_missing(all_missing(s, of_sweep), false) ==
        std::vector{"S-" + id(0) + " \"made switch\"[4]: silent", "R-" + id(2) + " \"made router\"[1]: what is wrong"});
    of_sweep[0].where.port = 0;
    CHECK(format_missing({missing_of(s, of_sweep[0])}, true).at(0) == "R-" + id(2) + " \"made router\": what is wrong");
}

TEST_CASE("failures with one cause are one line for any number of locations") {
    std::vector<discovery::failure> all;
    const auto add = [&](u64 GUID, u8 port, std::string name, std::string short_name, std::string text,
                         std::string cause = {}) {
        all.push_back({discovery::failure_kind::timeout,
                       {iba::guid{GUID}, port, {}, std::move(name), std::move(short_name)},
                       std::move(text),
                       std::move(cause)});
    };
    for (int p = 3; p < 515; ++p)
        add(1, static_cast<u8>(p % 256 ? p % 256 : 1), "S-1 \"leaf-0001\"[" + std::to_string(p) + "]",
            "leaf-0001 port " + std::to_string(p), "RPC timed out to " + std::to_string(p),
            "PortExtendedSpeedsCounters timed out");
    add(2, 0, "S-2 \"leaf-0002\"", "leaf-0002", "no LID");
    add(3, 0, "S-3 \"leaf-0003\"", "leaf-0003", "no LID");
    add(4, 1, "S-4 \"leaf-0004\"[1]", "leaf-0004 port 1", "RPC refused", "PortCounters refused");
    add(5, 1, "S-5 \"leaf-0005\"[1]", "leaf-0005 port 1", "no LID");
    add(0, 0, {}, {}, "stopped before all nodes were queried");
    CHECK(format_missing(all, false) ==
          std::vector<std::string>{"512 ports: PortExtendedSpeedsCounters timed out; first: leaf-0001 port 3",
                                   "2 nodes and 1 port: no LID; first: leaf-0002",
                                   "S-4 \"leaf-0004\"[1]: PortCounters refused",
                                   "stopped before all nodes were queried"});
    const auto each = format_missing(all, true);
    REQUIRE(each.size() == all.size());
    CHECK(each[0] == "S-1 \"leaf-0001\"[3]: RPC timed out to 3");
    CHECK(each[511] == "S-1 \"leaf-0001\"[514]: RPC timed out to 514");
    CHECK(format_missing(all, false, "lost mlx5_0/1: gone") ==
          std::vector<std::string>{"lost mlx5_0/1: gone; 517 replies are missing"});
    CHECK(format_missing({}, false, "lost mlx5_0/1: gone").empty());
}

TEST_CASE("each kind of failure has a name") {
    using enum discovery::failure_kind;
    const std::pair<discovery::failure_kind, const char*> kinds[] = {
        {timeout, "timeout"},         {unresponsive, "unresponsive"}, {error_reply, "error_reply"},
        {send_failed, "send_failed"}, {no_address, "no_address"},     {cancelled, "cancelled"}};
    for (const auto& [kind, name] : kinds) CHECK(name_of(kind) == name);
}

} // namespace missing_test
