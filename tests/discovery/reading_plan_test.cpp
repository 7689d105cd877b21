// SPDX-License-Identifier: MIT
// reading_plan_test.cpp - how many readers a worker starts at a node, by the steps that are left.
#include "../../discovery/walk/reading_plan.hpp"
#include "support/catch.hpp"

namespace reading_plan_test {

using namespace comad;
using discovery::query_origin;

TEST_CASE("a worker starts at most one reader for each step that is left at a node") {
    discovery::node with_two_ports;
    with_two_ports.info.nodeType = iba::NodeType::Switch;
    with_two_ports.info.numPorts = 2; // five steps: two ports, port 0, SwitchInfo and NodeDescription
    const mad::IBDRPath route;
    const query_origin first{.worker = 0, .most_readers = 2, .is_idle = true, .start = {}};
    const query_origin busy{.worker = 1, .most_readers = 4, .is_idle = false, .start = {}};
    const query_origin idle{.worker = 1, .most_readers = 4, .is_idle = true, .start = {}};

    discovery::reading_plan plan({});
    CHECK(plan.add(with_two_ports, first) == 2);
    for (int step = 0; step < 3; ++step) plan.next_step(0, with_two_ports, route);
    CHECK(plan.add_readers(0, with_two_ports, busy) == 0);
    CHECK(plan.add_readers(0, with_two_ports, first) == 0); // it is reading the node
    CHECK(plan.add_readers(0, with_two_ports, idle) == 2);

    for (int step = 0; step < 2; ++step) {
        REQUIRE(plan.has_step(0, with_two_ports));
        plan.next_step(0, with_two_ports, route);
    }
    CHECK_FALSE(plan.has_step(0, with_two_ports));
    for (int reader = 0; reader < 3; ++reader) CHECK_FALSE(plan.end_reader(0));
    CHECK(plan.end_reader(0)); // the last of four
}

} // namespace reading_plan_test
