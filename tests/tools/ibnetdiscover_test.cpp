// SPDX-License-Identifier: MIT
// ibnetdiscover_test.cpp - the reports that the options of ibnetdiscover select, and the file that it writes.
#include "program/report_lines.hpp"

#include <algorithm>
#include <filesystem>

namespace ibnetdiscover_test {

using namespace ibtool_rig;

namespace {

const words small_tree{"--fabric", "sim:fattree2,radix=4,time=virtual"}; // 8 hosts, 6 switches and 16 links

} // namespace

TEST_CASE("ibnetdiscover's short options select the report") {
    const auto report = [](const words& letters) {
        const process_result r = run(small_tree + words{"ibnetdiscover"} + letters);
        INFO("stderr: " << r.err);
        CHECK(r.status == 0);
        return r;
    };
    const std::string plain = topology_of(report({}));
    CHECK(lines_starting(plain, "Ca\t") == 8);
    CHECK(lines_starting(plain, "Switch\t") == 6);
    for (const char* letter : {"-l", "--list"}) {
        const words lines = lines_of(report({letter}).out);
        CHECK(lines.size() == 14);
        CHECK(lines_starting(report({letter}).out, "Ca\t : 0x") == 8);
    }
    for (const char* letter : {"-H", "--Hca_list"}) {
        const std::string text = report({letter}).out;
        CHECK(lines_of(text).size() == 8);
        CHECK(lines_starting(text, "Ca\t : 0x") == 8);
    }
    for (const char* letter : {"-S", "--Switch_list"}) {
        const std::string text = report({letter}).out;
        CHECK(lines_of(text).size() == 6);
        CHECK(lines_starting(text, "Switch\t : 0x") == 6);
    }
    for (const char* letter : {"-R", "--Router_list"}) CHECK(report({letter}).out.empty());
    for (const char* letter : {"-p", "--ports"}) {
        const std::string text = report({letter}).out;
        CHECK(lines_starting(text, "CA ") == 8); // every cable, from both its ends
        CHECK(lines_starting(text, "SW ") == 24);
    }
    for (const char* letter : {"-f", "--full"})
        CHECK_THAT(report({letter}).out, Contains("4xEDR s=") && Contains(" w=2"));
    for (const char* letter : {"-s", "--show"}) {
        const std::string text = topology_of(report({letter}));
        CHECK(lines_starting(text, "DR path slid 65535; dlid 65535; 0") == 14);
        REQUIRE(text.size() > plain.size());
        CHECK(text.substr(text.size() - plain.size()) == plain);
    }
    for (const char* letter : {"-m", "--max_hops"}) {
        const process_result r = report({letter});
        CHECK(topology_of(r) == plain);
        CHECK_THAT(r.out, Contains("# Reported max hops discovered: 4\n")); // host, leaf, spine, leaf, host
    }
    for (const words& letter : {words{"-o", "3"}, words{"--outstanding_smps", "3"}, words{"-o3"}}) {
        const process_result r = report(letter + words{"-v"});
        CHECK(topology_of(r) == plain);
        CHECK_THAT(r.err, Contains(", window 3\n"));
    }
}

// dump_endnode() in ibnetdisc.c: `%s -> %s %s {%016x} portnum %d lid %d-%d "%s"`. infiniband-diags prints a line before it has read the
// LIDs and the description, and repeats known nodes.
TEST_CASE("ibnetdiscover -s prints each node as soon as it is found") {
    const words managed{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    const words lines = lines_in_order(run(managed + words{"ibnetdiscover", "-s"}).out);
    REQUIRE(lines.size() > 14);
    CHECK(lines[0] == "DR path slid 65535; dlid 65535; 0 -> new Channel Adapter {0002c90300000100} portnum 1 lid 1-1 "
                      "\"h-0001 HCA-1\"");
    CHECK(std::ranges::count_if(lines, [](const std::string& line) {
              return line.find(" -> new Switch {") != line.npos && line.find("} portnum 0 lid ") != line.npos;
          }) == 6);
    CHECK_THAT(run(managed + words{"ibnetdiscover", "-s", "--sa"}).out, !Contains(" -> new "));
    check_failure(run(managed + words{"ibnetdiscover", "-s", "--json"}), 2, "--json");
    // The options that select nodes apply to these lines, too.
    words spines;
    for (const std::string& line : lines_in_order(run(managed + words{"ibnetdiscover", "-s", "--name", "spine*"}).out))
        if (line.find(" -> new ") != line.npos) spines.push_back(line);
    CHECK(spines.size() == 2);
    for (const std::string& line : spines) CHECK_THAT(line, Contains("\"spine-000"));
}

// In ibnetdiscover.c, the options that print a list are tested before --diff.
TEST_CASE(
    "the list options of ibnetdiscover take precedence over --diff, whose notes name what matches neither subnet") {
    const directory files;
    const std::string before = files / "before.cache";
    check_success(run(small_tree + words{"ibnetdiscover", "--cache", before}));
    const words diff = small_tree + words{"ibnetdiscover", "--diff", before};
    for (const char* list : {"-l", "-H", "-S", "-p"}) {
        CAPTURE(list);
        CHECK(run(diff + words{list}).out == run(small_tree + words{"ibnetdiscover", list}).out);
        CHECK(!run(diff + words{list}).out.empty());
    }
    check_failure(run(diff + words{"--json"}), 2, "--json");

    const process_result both = run(diff + words{"--name", "spine*", "--name", "nobody*"});
    CHECK(both.status == 0);
    CHECK(both.out.empty());
    CHECK(both.err == "ibtool: --name 'nobody*' matches no node\n");
    // A node that is only in the file matches: it is part of the difference.
    const words cut{"--fabric", "sim:fattree2,radix=4,time=virtual,cut=h-0008 HCA-1/1@0s"};
    const process_result gone =
        run(cut + words{"ibnetdiscover", "--diff", before, "--name", "h-0008*", "--name", "h-1*"});
    CHECK_THAT(gone.out, Contains("h-0008"));
    CHECK(gone.err.find("h-0008*") == gone.err.npos);
}

TEST_CASE("ibnetdiscover writes to the given file and prints nothing to stdout") {
    const directory files;
    const std::string file = files / "tree.topo";
    const std::string plain = topology_of(run(small_tree + words{"ibnetdiscover"}));
    for (const words& arguments :
         {words{"ibnetdiscover", file} + small_tree, small_tree + words{"ibnetdiscover", "-o", "2", file, "-s"},
          words{"ibnetdiscover", "-e"} + small_tree + words{file}}) {
        CAPTURE(arguments);
        std::filesystem::remove(file);
        const process_result r = run(arguments);
        check_success(r);
        const bool shows_nodes = std::ranges::find(arguments, "-s") != arguments.end();
        CHECK(lines_of(r.out).size() == (shows_nodes ? 14 : 0));
        CHECK(topology_of({0, read_file(file), ""}) == plain);
    }
    check_failure(run(words{"ibnetdiscover", files / "no/such/directory"} + small_tree), 1,
                  "no/such/directory': No such file");
}

} // namespace ibnetdiscover_test
