// SPDX-License-Identifier: MIT
// watch_test.cpp - watch on simulated subnets: it reports changes by notices and by polling.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ibtool_watch_test {

using namespace ibtool_rig;

namespace {

/// Returns the command line of watch on a tree with these events of the simulator.
words watched(const std::string& events, const words& options) {
    return words{"watch", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual" + events} + options;
}

/// Returns the lines without their times.
words lines_without_time(const std::string& text) {
    words all;
    for (const std::string& line : lines_in_order(text)) all.push_back(line.substr(line.find(" s ") + 3));
    return all;
}

} // namespace

TEST_CASE("watch reports a link between switches that goes down and comes back, within one polling interval") {
    const process_result r =
        run(watched(",cut=spine-0001/2@1500ms,restore=spine-0001/2@8500ms", {"--every", "1s", "-n", "2"}));
    CHECK(r.status == 0);
    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 2);
    CHECK_THAT(printed[0],
               StartsWith("2.0") && Contains("link ") && Contains("\"spine-0001\"[2]") && EndsWith(" removed"));
    CHECK_THAT(printed[1], StartsWith("9.0") && Contains("\"spine-0001\"[2]") && EndsWith(" added"));
    CHECK_THAT(r.err, Contains("watching 14 nodes and 16 links; the SA forwards notices; polling every 1s\n"));
}

TEST_CASE("watch prints a notice of the SA on arrival and queries only the location of the notice") {
    const process_result r = run(watched(",cut=leaf-0002/1@1500ms", {"--every", "1000s", "-n", "2", "-v"}));
    CHECK(r.status == 0);
    CHECK_THAT(r.out, StartsWith("1.5000"));
    const words printed = lines_without_time(r.out);
    REQUIRE(printed.size() == 3);
    CHECK(printed[0] ==
          "notice GIDOutOfService: GID fe80::2:c903:0:301 (\"h-0003 HCA-1\"[1]) is out of service; reported by "
          "LID 1 (\"h-0001 HCA-1\"[1])");
    CHECK_THAT(printed[1], StartsWith("node H-") && Contains("\"h-0003 HCA-1\"") && EndsWith(" removed"));
    CHECK_THAT(printed[2], StartsWith("link ") && Contains("\"leaf-0002\"[1]") && EndsWith(" removed"));
}

TEST_CASE("the JSON of a notice contains its subject and the node name at the time of the notice") {
    const process_result r = run(watched(",cut=leaf-0002/1@1500ms", {"--every", "1000s", "-n", "2", "--json"}));
    CHECK(r.status == 0);
    const auto printed = nlohmann::json::parse(lines_in_order(r.out).at(0));
    CHECK(printed.at("notice") == "GIDOutOfService");
    CHECK(printed.at("trap") == 65);
    CHECK(printed.at("about").at("GID") == "fe80::2:c903:0:301");
    CHECK(printed.at("about").at("name") == "h-0003 HCA-1");
    CHECK(printed.at("about").at("port") == 1);
    CHECK(printed.at("issuerLID") == 1);
    CHECK(printed.at("issuer").at("name") == "h-0001 HCA-1");
    CHECK(printed.at("seconds") < 1.501);
}

TEST_CASE("watch in virtual time ends with a message after the last planned change of the simulation") {
    const process_result r = run(watched(",cut=spine-0001/2@1500ms", {"--every", "1s", "-n", "9"}));
    CHECK(r.status == 3); // not all requested events happened
    CHECK(lines_in_order(r.out).size() == 1);
    CHECK_THAT(r.err,
               EndsWith("ibtool: ended after 1 event of 9 requested: the simulation has no planned changes left\n"));
    const process_result none = run(watched("", {"--no-subscription"}));
    CHECK(none.status == 0);
    CHECK(none.out.empty());
    CHECK_THAT(none.err, EndsWith("ibtool: ended after 0 events: the simulation has no planned changes left\n"));
}

TEST_CASE("watch without a subscription only polls and prints one JSON line per event") {
    const process_result r =
        run(watched(",cut=leaf-0002/1@1500ms", {"--every", "1s", "-n", "2", "--json", "--no-subscription"}));
    CHECK(r.status == 0);
    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 2);
    const auto node = nlohmann::json::parse(printed[0]), link = nlohmann::json::parse(printed[1]);
    CHECK(node.at("kind") == "removed");
    CHECK(node.at("subject") == "node");
    CHECK(node.at("nodeGUID") == "0002:c903:0000:0300");
    CHECK(link.at("subject") == "link");
    CHECK(link.at("peer").at("port") == 1);
    CHECK_THAT(r.err, Contains("links; polling every 1s\n"));
}

TEST_CASE("an unresponsive node in a rediscovery makes watch's result partial") {
    const process_result r = run(watched(",kill=spine-0002@1500ms,cut=spine-0002/1@20s",
                                         {"--every", "30s", "-n", "1", "--no-subscription", "-t", "10"}));
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("spine-0002"));
}

TEST_CASE("watch reports a dead switch with links up within ten polls, although the SA sends no notice") {
    const process_result r = run(
        watched(",kill=spine-0002@1500ms", {"--every", "1s", "-n", "5", "--no-subscription", "--json", "-t", "10"}));
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("no reply from the neighbor"));
    words printed;
    for (const std::string& line : lines_in_order(r.out)) {
        const auto event = nlohmann::json::parse(line);
        CHECK(event.at("kind") == "removed");
        CHECK(event.at("location").get<std::string>().find("spine-0002") != std::string::npos);
        CHECK(event.at("seconds") < 12.5);
        CHECK_FALSE(event.contains("time")); // absent in virtual time
        printed.push_back(event.at("subject"));
    }
    CHECK(printed == words{"node", "link", "link", "link", "link"});
}

TEST_CASE("watch starts from a cache file, reports the changes since then and updates the file") {
    const directory files;
    const words cache{"--subnet-cache", files / "cache"};
    const std::string fabric = "sim:fattree2,radix=4,sm=1,time=virtual";
    check_success(run(words{"ibnetdiscover", "--fabric", fabric} + cache));
    const process_result nothing = run(watched("", cache + words{"--polls", "1"}));
    CHECK(nothing.status == 0);
    CHECK(nothing.out.empty());
    const std::string cut = ",cut=spine-0001/2@0ms";
    const process_result r = run(watched(cut, cache + words{"--polls", "1"}));
    CHECK(r.status == 0);
    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 1);
    CHECK_THAT(printed[0], StartsWith("0.0") && Contains("\"spine-0001\"[2]") && EndsWith(" removed"));
    CHECK(run({"subnet_diff", files / "cache", "--fabric", fabric + cut}).status == 0);
    CHECK(run({"subnet_diff", files / "cache", "--fabric", fabric}).status == 1);
}

TEST_CASE("watch and subnet_diff print node names from the node name map") {
    const directory files;
    const std::string map = files.write("map", "0x0002c90300000300 \"rack 7\"\n");
    const std::string fabric = "sim:fattree2,radix=4,sm=1,time=virtual", cut = ",cut=leaf-0002/1@0ms";
    const process_result r =
        run(watched(",cut=leaf-0002/1@1500ms", {"--every", "1s", "-n", "2", "--node-name-map", map}));
    CHECK_THAT(r.out, Contains("node H-0002c90300000300 \"rack 7\" removed\n"));
    CHECK_THAT(r.out,
               Contains("link H-0002c90300000300 \"rack 7\"[1] <=> S-") && Contains("\"leaf-0002\"[1] removed\n"));
    CHECK_THAT(r.out, !Contains("h-0003 HCA-1"));
    check_success(run({"ibnetdiscover", "--fabric", fabric, "--subnet-cache", files / "cache"}));
    const process_result d = run({"subnet_diff", files / "cache", "--fabric", fabric + cut, "--node-name-map", map});
    CHECK(d.status == 1);
    CHECK_THAT(d.out, Contains("removed: H-0002c90300000300 \"rack 7\"\n") && !Contains("h-0003 HCA-1"));
}

TEST_CASE("the option --refresh-cache without a cache is refused") {
    check_failure(run({"ibnetdiscover", "--fabric", "sim:single", "--refresh-cache"}), 2, "--subnet-cache");
}

TEST_CASE("watch requires a polling interval") {
    check_failure(run(watched("", {"--every", "0s"})), 2, "invalid duration '0s'");
}

} // namespace ibtool_watch_test
