// SPDX-License-Identifier: MIT
// rediscovery_cost_test.cpp - the cost of a rediscovery with a real OpenSM, in MADs that crossed the device. Each
// segment of a table counts as one MAD.
#include "ibsim/ibsim_server.hpp"
#include "kernel/virtual_device.hpp"
#include <comad/transports/sim/detail/topology.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

using namespace ibtool_rig;

namespace {

/// Script with OpenSM at the first device, which sweeps each second. The measured commands use the second device, and
/// the MADs of the second device are counted.
const std::string script = R"(
d=$(mktemp -d); trap 'kill -KILL $m; rm -rf $d' EXIT; mkfifo $d/log
await() { while read -r line <&3; do case "$line" in *"$1"*) return;; esac; done; exit 1; }
measured() { "$IBTOOL" --fabric umad:vib1/1 --subnet-cache $d/cache "$@"; kill -USR1 $PPID; }
opensm -s 1 --log_file stderr >/dev/null 2>$d/log & m=$!
exec 3<$d/log; await 'SUBNET UP'; echo 'the subnet is up' >&2
measured ibnetdiscover --list >/dev/null
measured watch --polls 1 --no-subscription
echo 'the cable may be cut' >&2
await 'SUBNET UP'
measured watch --polls 1 --no-subscription
)";

} // namespace

TEST_CASE("a rediscovery of 1344 nodes needs at most a tenth of the MADs, and after a cable cut an eighth") {
    if (!has_devices()) return;
    const auto graph = comad::transports::sim::make_topology("fattree3,radix=16");
    REQUIRE(graph.nodes.size() == 1344);
    std::ostringstream topology;
    write_topology(topology, graph);
    ibsim_server server(topology.str(), {"-S", "400", "-P", "16000"});
    comad::u32 spine = 0; // the last switch, which is at the top of the tree
    for (comad::u32 n = 0; n < graph.nodes.size(); ++n)
        if (graph.nodes[n].is_switch()) spine = n;
    const directory files;
    process running(words_beside_device(files, "ibsim:" + server.sockname(), {"sh", "-ec", script},
                                        {"--json", "--port", graph.nodes.back().id, "--port", graph.nodes[0].id}));
    running.await_error("the cable may be cut");
    CHECK_THAT(server.console("Unlink \"" + graph.nodes[spine].id + "\"[5]"), !StartsWith("#"));
    const process_result r = running.wait(std::chrono::seconds(300));
    INFO(r.out << r.err);
    REQUIRE(r.status == 0);

    std::vector<comad::u64> mads{0}; // MADs that crossed our device up to each report
    for (const std::string& line : lines_in_order(r.err)) {
        if (!line.starts_with("{\"umad\":\"umad1\"")) continue;
        const auto reported = nlohmann::json::parse(line);
        mads.push_back(reported.at("sent").get<comad::u64>() + reported.at("received").get<comad::u64>());
    }
    REQUIRE(mads.size() >= 4);
    const comad::u64 first = mads[1], unchanged = mads[2] - mads[1], cut = mads[3] - mads[2];
    WARN("first discovery " << first << " MADs, unchanged " << unchanged << ", one cable cut " << cut);
    CHECK(first > 2 * (1344 + 6144)); // NodeInfo and NodeDescription of each node, PortInfo of each end
    CHECK(unchanged * 10 <= first);
    CHECK(cut * 8 <= first);

    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 1);
    CHECK_THAT(printed[0],
               Contains(" link ") && Contains(graph.nodes[spine].description + "\"[5]") && EndsWith(" removed"));
}
