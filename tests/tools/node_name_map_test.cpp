// SPDX-License-Identifier: MIT
// node_name_map_test.cpp - the default node name map.
#include "session/node_name_map.hpp"
#include "support/catch.hpp"
#include "support/directory.hpp"

#include <cstdlib>
#include <fstream>

namespace node_name_map_test {

using namespace comad;
using ibtool::read_node_names;

TEST_CASE("the first existing default node name map is used, and a missing default map is not an error") {
    // libibnetdisc of infiniband-diags 44 contains the path of rdma-core. OpenSM's libraries contain the other path.
    CHECK(ibtool::usual_name_maps ==
          std::vector<std::string>{"/etc/rdma/ib-node-name-map", "/etc/opensm/ib-node-name-map"});

    const test::directory files;
    const std::string first = files / "first", second = files / "second";
    discovery::node n;
    n.info.nodeGUID = iba::guid{1};
    n.description = "by itself";
    CHECK(read_node_names("", {first, second}).of(n) == "by itself");
    std::ofstream(second) << "0x1 \"second\"\n";
    CHECK(read_node_names("", {first, second}).of(n) == "second");
    std::ofstream(first) << "0x1 \"first\"\n";
    CHECK(read_node_names("", {first, second}).of(n) == "first");
    CHECK(read_node_names(second, {first}).of(n) == "second");
    CHECK_THROWS_AS(read_node_names(files / "third", {first}), std::runtime_error);
}

} // namespace node_name_map_test
