// SPDX-License-Identifier: MIT
// ibtool_fabrics_test.cpp - commands that run for several fabrics in turn, and discoveries through several local ports. The expected results
// are those of runs with one fabric or one port, and of a topology that is known by its construction.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_fabrics_test {

using namespace ibtool_rig;
using nlohmann::json;

namespace {

const std::string small = "sim:fattree2,radix=4,sm=1,time=virtual", ring = "sim:ring,switches=3,sm=1,time=virtual";
const words both{"--fabric", small, "--fabric", ring};

process_result of(const std::string& fabric, const words& arguments) {
    return run(words{"--fabric", fabric} + arguments);
}

/// Returns the JSON objects of an output, each with the name of the fabric.
words labelled(const process_result& r, const std::string& fabric) {
    words lines;
    for (const std::string& line : lines_in_order(r.out)) {
        json o = json::parse(line);
        o["fabric"] = fabric;
        lines.push_back(o.dump());
    }
    return lines;
}

} // namespace

TEST_CASE("a command for several fabrics prints what it prints for each of them, with their names") {
    for (const words& command :
         {words{"ibhosts"}, words{"ibnodes"}, words{"iblinkinfo"}, words{"ibqueryerrors"}, words{"health"}}) {
        CAPTURE(command.front());
        const words as_json = command + words{"--json"};
        words expected = labelled(of(small, as_json), small) + labelled(of(ring, as_json), ring);
        const process_result r = run(both + as_json);
        check_success(r);
        words printed;
        for (const std::string& line : lines_in_order(r.out)) printed.push_back(json::parse(line).dump());
        CHECK(printed == expected);
        CHECK(run(both + command).out ==
              "# fabric " + small + "\n" + of(small, command).out + "# fabric " + ring + "\n" + of(ring, command).out);
    }
    const process_result documents = run(both + words{"ibnetdiscover", "--json"});
    check_success(documents);
    const words lines = lines_in_order(documents.out);
    REQUIRE(lines.size() == 2);
    json whole = json::parse(of(ring, {"ibnetdiscover", "--json"}).out);
    whole["fabric"] = ring;
    CHECK(json::parse(lines[1]) == whole);
    json summary = json::parse(of(ring, {"summary", "--json"}).out);
    summary["fabric"] = ring;
    CHECK(json::parse(lines_in_order(run(both + words{"summary", "--json"}).out).at(1)) == summary);
}

TEST_CASE("CSV of several fabrics has one first line and the fabric in the first column") {
    const process_result r = run(both + words{"ibhosts", "--csv"});
    check_success(r);
    const words lines = lines_in_order(r.out), first = lines_in_order(of(small, {"ibhosts", "--csv"}).out),
                second = lines_in_order(of(ring, {"ibhosts", "--csv"}).out);
    REQUIRE(lines.size() == first.size() + second.size() - 1);
    CHECK(lines[0] == "fabric," + first[0]);
    CHECK(lines[1] == "\"" + small + "\"," + first[1]);
    CHECK(lines.back() == "\"" + ring + "\"," + second.back());
    const words links = lines_in_order(run(both + words{"export", "--format", "csv"}).out);
    CHECK(links.front().starts_with("fabric,nodeGUID,"));
    CHECK(links.back().starts_with("\"" + ring + "\","));
}

TEST_CASE("the names that the user gives to fabrics are those in JSON, CSV, text and messages") {
    const words named{"--fabric", "a=" + small, "--fabric", "b=" + ring};
    const process_result as_json = run(named + words{"ibhosts", "--json"});
    check_success(as_json);
    words printed;
    for (const std::string& line : lines_in_order(as_json.out)) printed.push_back(json::parse(line).dump());
    CHECK(printed == labelled(of(small, {"ibhosts", "--json"}), "a") + labelled(of(ring, {"ibhosts", "--json"}), "b"));
    const process_result csv = run(named + words{"ibhosts", "--csv"});
    CHECK(lines_in_order(csv.out).back() == "\"b\"," + lines_in_order(of(ring, {"ibhosts", "--csv"}).out).back());
    CHECK(run(named + words{"ibhosts"}).out ==
          "# fabric a\n" + of(small, {"ibhosts"}).out + "# fabric b\n" + of(ring, {"ibhosts"}).out);
    const process_result failed = run({"--fabric", "a=ibsim:no-such-server", "--fabric", "b=" + ring, "ibhosts"});
    CHECK_THAT(failed.err, StartsWith("ibtool: a: "));
}

TEST_CASE("a fabric that fails does not prevent the output of the others") {
    const process_result r = run({"--fabric", "ibsim:no-such-server", "--fabric", ring, "ibswitches"});
    CHECK(r.status == 3);
    CHECK_THAT(r.err, StartsWith("ibtool: ibsim:no-such-server: "));
    CHECK(r.out == "# fabric " + ring + "\n" + of(ring, {"ibswitches"}).out);
    CHECK(run({"--fabric", "ibsim:no-such-server", "--fabric", "ibsim:nor-this", "ibswitches"}).status == 1);
    const process_result csv = run({"--fabric", "ibsim:no-such-server", "--fabric", ring, "ibswitches", "--csv"});
    CHECK(lines_in_order(csv.out).front() == "fabric," + lines_in_order(of(ring, {"ibswitches", "--csv"}).out).front());
}

TEST_CASE("JSON of several fabrics has one line with the message of each fabric that fails") {
    const words fabrics{"--fabric", "a=ibsim:no-such-server", "--fabric", ring, "--fabric", "ibsim:nor-\x1bthis"};
    for (const words& command : {words{"ibhosts", "--json"}, words{"ibnetdiscover", "--json"},
                                 words{"export", "--format", "json"}, words{"health", "--json"}}) {
        CAPTURE(command.front());
        const process_result r = run(fabrics + command);
        CHECK(r.status == 3);
        const words printed = lines_in_order(r.out), messages = lines_in_order(r.err);
        REQUIRE(printed.size() == lines_in_order(of(ring, words{"--all-fabrics"} + command).out).size() + 2);
        REQUIRE(messages.size() == 2);
        const json first = json::parse(printed.front()), last = json::parse(printed.back());
        CHECK(first.size() == 2);
        CHECK(first.at("fabric") == "a");
        CHECK(messages[0] == "ibtool: a: " + first.at("error").get<std::string>());
        CHECK(last.at("fabric") == "ibsim:nor-\x1bthis");
        CHECK_THAT(last.at("error").get<std::string>(), Contains("nor-\\x1bthis"));
        for (std::size_t i = 1; i + 1 < printed.size(); ++i) CHECK(json::parse(printed[i]).size() > 2);
    }
    // Other formats have no line for it, and all fabrics can fail.
    CHECK(run(fabrics + words{"ibhosts", "--csv"}).out.find("nor-") == std::string::npos);
    const process_result none = run({"--fabric", "ibsim:no-such-server", "--all-fabrics", "ibhosts", "--json"});
    CHECK(none.status == 1);
    CHECK(lines_in_order(none.out).size() == 1);
}

TEST_CASE("commands refuse several fabrics if they write one file or do not support them") {
    const directory files;
    check_failure(run(both + words{"ibnetdiscover", files / "out.topo"}), 2,
                  "several fabrics do not fit into one file");
    check_failure(run(both + words{"ibnetdiscover", "--cache", files / "cache"}), 2,
                  "--cache: several fabrics do not fit");
    check_failure(run(both + words{"--subnet-cache", files / "cache", "ibhosts"}), 2,
                  "--subnet-cache: each fabric needs a file of its own");
    check_failure(run(both + words{"iblinkinfo", "--load-cache", files.write("cache", "")}), 2,
                  "--load-cache: the file contains one subnet");
    for (const char* format :
         {"dot", "graphml", "lst", "slurm", "slurm-yaml", "topograph", "flux", "svg", "html", "cables"})
        check_failure(run(both + words{"export", "--format", format}), 2,
                      fmt::format("--format {} describes only one fabric", format));
    for (const char* format : {"json", "csv", "topology"})
        check_success(run(both + words{"export", "--format", format}));
    check_failure(run(both + words{"export", "--format", "csv", "--json"}), 2, "--json excludes --format csv");
    check_failure(run({"--fabric", "a=", "ibhosts"}), 2, "--fabric: the fabric is missing in 'a='");
    check_failure(run(both + words{"ibqueryerrors", "--save", files / "sweeps"}), 2,
                  "--save: several fabrics do not fit");
    check_failure(run(both + words{"sminfo"}), 2, "sminfo accepts only one fabric, but 2 are given");
    check_failure(run({"--fabric", ring, "--all-fabrics", "sminfo"}), 2, "--all-fabrics is not supported by sminfo");
    const process_result named = run({"--fabric", ring, "--all-fabrics", "ibswitches"});
    check_success(named);
    CHECK(named.out == "# fabric " + ring + "\n" + of(ring, {"ibswitches"}).out);
}

TEST_CASE("a discovery through several local ports equals the discovery through the first one") {
    // Without a subnet manager, which would run at the local port of each simulation.
    const std::string here = "sim:fattree2,radix=4,time=virtual,at=h-0001 HCA-1",
                      there = "sim:fattree2,radix=4,time=virtual,at=h-0008 HCA-1";
    const words ports{"--local-ports", here, "--ports", there};
    for (const words& command : {words{"ibnetdiscover", "--json"}, words{"iblinkinfo", "-l"}, words{"ibhosts"}}) {
        CAPTURE(command.front());
        const process_result one = of(here, command), several = run(ports + command);
        check_success(several);
        CHECK(several.out == one.out);
    }
}

TEST_CASE("another local port finds the nodes that the first one does not reach") {
    // The host of the first port is cut off; the other port reaches all nodes except this host.
    const std::string alone = small + ",at=h-0001 HCA-1,dead=leaf-0001", there = small + ",at=h-0008 HCA-1";
    const process_result r = run({"--local-ports", alone, "--local-ports", there, "ibswitches"});
    CHECK(lines_in_order(r.out).size() == 6);
    CHECK(lines_in_order(of(alone, {"ibswitches"}).out).empty());
    const process_result missing = run({"--local-ports", there, "--local-ports", "ibsim:no-such-server", "ibhosts"});
    CHECK(missing.status == 3);
    CHECK_THAT(missing.err, Contains("ibsim:no-such-server"));
    CHECK(missing.out == of(there, {"ibhosts"}).out);
}

TEST_CASE("the option --local-ports refuses options that select another port or another kind of discovery") {
    const words port{"--local-ports", small};
    check_failure(run(port + words{"-C", "mlx5_0", "ibhosts"}), 2, "--local-ports excludes -C, -P and --all-fabrics");
    check_failure(run(port + words{"--fabric", ring, "ibhosts"}), 2, "--local-ports excludes --fabric");
    check_failure(run(port + words{"--sa", "ibhosts"}), 2, "--local-ports excludes --sa");
    check_failure(run({"--local-ports", "mlx5_0/1,", "ibhosts"}), 2, "--local-ports: a port is missing");
    check_failure(run({"--local-ports", "mlx5_0/1,mlx5_0/1", "ibhosts"}), 2, "is given twice");
}

} // namespace ibtool_fabrics_test
