// SPDX-License-Identifier: MIT
// hierarchy_test.cpp - HierarchyInfo of ports that support it: which ports are queried, the results, and failures.
#include "library/discovery_rig.hpp"
#include <comad/discovery/chassis/detail/hierarchy.hpp>

#include <nlohmann/json.hpp>

namespace hierarchy_test {

using namespace comad::test;
using namespace comad;
using discovery::hierarchies;
using discovery::port_ref;

namespace {

/// The first switch is in two hierarchies.
topology with_hierarchies() {
    topology t = managed("fattree2,radix=4");
    for (auto& n : t.nodes) {
        if (!n.is_switch()) continue;
        n.hierarchies = {{iba::guid{3}, {1, 7}}, {iba::guid{0x1234567800000004}, {}}};
        break;
    }
    return t;
}

hierarchies read(world& w, const subnet& s) {
    return coro::sync_wait(w.schedule, discovery::read_hierarchies(w.schedule, s));
}

} // namespace

TEST_CASE("ports with HierarchyInfo are queried for each index in use, and other ports are not queried") {
    world w(with_hierarchies());
    const subnet s = w.discover();
    REQUIRE(s.complete());
    const u64 before = w.sent();
    const hierarchies found = read(w, s);
    CHECK(found.failures.empty());
    REQUIRE(found.entries.size() == 2 * (4 + 1)); // ports 0 to 4, both indices
    CHECK(w.sent() - before == found.entries.size());
    const u32 sw = found.entries.front().where.node;
    CHECK(s.nodes[sw].is_switch());
    const auto all = found.of({sw, 3});
    REQUIRE(all.size() == 2);
    CHECK(all[0].info.templateGUID == iba::guid{3});
    CHECK(all[0].info.activeLevels == 3);
    CHECK(all[0].info.levelData[0] == 1);
    CHECK(all[0].info.levelData[1] == 7);
    CHECK(all[0].info.levelData[2] == 3);
    CHECK(all[1].index == 1);
    CHECK(all[1].info.activeLevels == 1);
    CHECK(found.of({sw + 1, 3}).empty());

    const auto ports = nlohmann::json::parse(json_text(s, {.places = &found})).at("nodes").at(sw).at("ports");
    CHECK(ports.at(3).at("port") == 3);
    CHECK(ports.at(3).at("hierarchies").at(0) ==
          nlohmann::json::parse(R"({"index": 0, "templateGUID": "0000:0000:0000:0003", "levelData": [1, 7, 3]})"));
    CHECK(ports.at(3).at("hierarchies").size() == 2);
    CHECK_FALSE(nlohmann::json::parse(json_text(s)).at("nodes").at(sw).at("ports").at(3).contains("hierarchies"));
}

TEST_CASE("a subnet without HierarchyInfo gets no HierarchyInfo query") {
    world w(managed("fattree2,radix=4"));
    const subnet s = w.discover();
    const u64 before = w.sent();
    CHECK(read(w, s).entries.empty());
    CHECK(w.sent() == before);
}

TEST_CASE("a port that announces HierarchyInfo and rejects it is reported once") {
    world w(managed("fattree2,radix=4"));
    subnet s = w.discover();
    const port_ref here{1, 0};
    REQUIRE(s.nodes[1].is_switch());
    s.nodes[1].ports[0].info->capabilityMask |= 0x80000000; // IsHierarchyInfoSupported, bit 31
    const hierarchies found = read(w, s);
    CHECK(found.entries.empty());
    REQUIRE(found.failures.size() == 4 + 1);
    CHECK(s.find(found.failures[0].where) == here);
    CHECK_THAT(found.failures[0].text, Catch::Contains("HierarchyInfo not read"));
}

} // namespace hierarchy_test
