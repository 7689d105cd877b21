// SPDX-License-Identifier: MIT
// discovery_scale_test.cpp - discoveries of fat trees with 1344 and 13284 nodes that a real ibsim simulates, compared
// with ibnetdiscover, also after OpenSM configured them.
#include "ibsim/ibsim_programs.hpp"
#include "ibsim/ibsim_server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>

using namespace comad;
using namespace comad::test;

namespace {

/// Runs the work and prints how long it took.
template <class Work> auto timed(const char* what, Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = work();
    const auto took = std::chrono::steady_clock::now() - begin;
    WARN(what << ": " << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms");
    return result;
}

} // namespace

TEST_CASE("discovery and ibnetdiscover agree on a fat tree of 1344 nodes, before and after OpenSM") {
    const ibsim_server server(topology_file_of("fattree3,radix=16"), {"-S", "400", "-P", "16000"});
    for (unsigned outstanding : {1u, 64u, 256u}) {
        CAPTURE(outstanding);
        const subnet found = timed("discovery", [&] { return discover(server, outstanding); });
        CHECK(found.nodes.size() == 1344);
        CHECK(found.link_count() == 3072);
        if (outstanding == 64) compare_reports(server, found);
    }
    timed("OpenSM", [&] { return configure(server), 0; });
    const subnet managed = discover(server, 64);
    compare_reports(server, managed);
    CHECK(has_lids(managed));
}

TEST_CASE("discovery and ibnetdiscover agree on a fat tree of 13284 nodes, before and after OpenSM") {
    const ibsim_server server(topology_file_of("fattree3,radix=36"), {"-N", "14000", "-S", "1700", "-P", "90000"});
    const subnet found = timed("discovery", [&] { return discover(server, 64); });
    CHECK(found.nodes.size() == 13284);
    CHECK(found.link_count() == 34992);
    timed("ibnetdiscover, twice", [&] { return compare_topology(server, found), 0; });
    timed("OpenSM", [&] { return configure(server), 0; });
    const subnet managed = discover(server, 256);
    compare_topology(server, managed);
    CHECK(has_lids(managed));
}
