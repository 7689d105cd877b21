// SPDX-License-Identifier: MIT
// install_links_test.cpp - ibtool under the names of infiniband-diags' programs, through links that install-links
// creates.
#include "program/without_date.hpp"
#include "wire/linked_names.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ibtool_rig;
namespace fs = std::filesystem;

TEST_CASE("a link with the name of a command runs the command with equal output") {
    const linked links;
    const words fabric{"--fabric", linked_fabric};
    for (const words& line :
         {words{"ibhosts"}, words{"sminfo"}, words{"smpquery", "nodeinfo", "1"}, words{"iblinkinfo", "-l"},
          words{"smpquery", "--json", "portinfo", "2", "1"}, words{"perfquery", "-x", "1", "1"}}) {
        CAPTURE(line);
        const process_result as_command = run(line + fabric);
        const process_result by_name = links.call(line.front(), words(line.begin() + 1, line.end()));
        check_success(by_name);
        CHECK_FALSE(by_name.out.empty());
        CHECK(by_name.out == as_command.out);
    }
    // Other names work as well, and so do abbreviated options, as with getopt.
    CHECK(links.call("ibprintca.pl", {"-l"}).out == run(words{"ibprintca", "-l"} + fabric).out);
    CHECK(links.call("ibnetdiscover", {"--vers"}).out == links.call("ibnetdiscover", {"--version"}).out);
    CHECK(links.call("ibnetdiscover", {"--por"}).out == run(words{"ibnetdiscover", "--ports"} + fabric).out);
}

TEST_CASE("error messages start with the name that was called") {
    const linked links;
    const process_result wrong = links.call("smpquery", {"nodeinf0", "1"});
    CHECK(wrong.status == 2);
    CHECK_THAT(wrong.err, StartsWith("smpquery: unknown operation 'nodeinf0'"));
    CHECK_THAT(links.call("smpquery", {"nodeinfo", "999"}).err, StartsWith("smpquery: "));
    CHECK_THAT(links.call("ibnetdiscover", {"--no-such"}).err, StartsWith("ibnetdiscover: "));
    CHECK(links.call("ibhosts", {"-v"}).err.empty()); // no counts under this name
    CHECK_THAT(links.call("smpquery", {"--help"}).out, Contains("Usage: smpquery "));
    CHECK_THAT(run({"smpquery", "nodeinf0", "1"}).err, StartsWith("ibtool: "));
}

// Unresponsive nodes are common, and infiniband-diags nevertheless exits with 0. With another exit code, scripts that
// check it would discard the whole output. If infiniband-diags reports a finding by an exit code, ibtool returns that
// code.
TEST_CASE("commands under infiniband-diags names report unresponsive nodes without a failure") {
    const linked links;
    const std::string lacking = linked_fabric + ",dead=0x0002c90300000500";
    for (const words& line :
         {words{"ibnetdiscover"}, words{"ibnetdiscover", "-p"}, words{"ibhosts"}, words{"ibswitches"}, words{"ibnodes"},
          words{"iblinkinfo", "-l"}, words{"ibqueryerrors"}, words{"dump_lfts"}, words{"ibidsverify"}}) {
        CAPTURE(line);
        const process_result by_name = links.call(line.front(), words(line.begin() + 1, line.end()), lacking);
        CHECK(by_name.status == 0);
        CHECK_THAT(by_name.err,
                   StartsWith(line.front() + ": ") && Contains("\"leaf-0003\"[1]: no reply from the neighbor"));
        const process_result as_command = run(line + words{"--fabric", lacking});
        CHECK(as_command.status == 3);
        CHECK(without_date(as_command.out) == without_date(by_name.out));
    }
    // Counters above their thresholds or duplicate LIDs cause exit status 1, with or without the unresponsive node. A
    // query without a result never exits with 0.
    CHECK(links.call("ibqueryerrors", {}, lacking + ",counters=3").status == 1);
    CHECK(run({"ibqueryerrors", "--fabric", lacking + ",counters=3"}).status == 3);
    CHECK(links.call("ibchecknet", {}, lacking).status != 0);
    CHECK(links.call("perfquery", {"-x", "5", "1"}, lacking).status == 1);
    CHECK(links.call("smpquery", {"nodeinfo", "5"}, lacking).status == 1);
}

TEST_CASE("unknown counters in a thresholds file are an error of ibtool and a warning of infiniband-diags names") {
    const linked links;
    const std::string file = links.files.write("thresholds", "SymbolErrors=4000000000\nSymbolErorCounter=1\n");
    const std::string warning = "thresholds:2: unknown error counter 'SymbolErorCounter'; similar: SymbolErrorCounter";
    const std::string counted = linked_fabric + ",counters=3";
    const process_result by_name = links.call("ibqueryerrors", {"--threshold-file", file}, counted);
    CHECK(by_name.status == 1); // other counters exceed 0
    CHECK_THAT(by_name.err, StartsWith("ibqueryerrors: ") && Contains(warning + "; line ignored\n"));
    CHECK(std::count(by_name.err.begin(), by_name.err.end(), '\n') == 1);
    CHECK_THAT(by_name.out, Contains("Thresholds: [SymbolErrorCounter = 4000000000]\n"));
    check_failure(run({"ibqueryerrors", "--threshold-file", file, "--fabric", counted}), 1, warning);
    CHECK_THAT(links.call("ibcheckerrs", {"-T", file, "-s"}).out, StartsWith("SymbolErrorCounter=4000000000\n"));
    check_failure(run({"ibcheckerrs", "-T", file, "-s"}), 1, warning);
}

TEST_CASE("commands under infiniband-diags names print no message about a given cache") {
    const linked links;
    const std::string cache = links.files / "cache";
    check_success(links.call("ibnetdiscover", {"--cache", cache}));
    check_success(links.call("iblinkinfo", {"--load-cache", cache}));
    CHECK_THAT(run({"iblinkinfo", "--load-cache", cache}).err, Contains("read the subnet from the cache '"));
}

TEST_CASE("install-links creates the names of infiniband-diags, overwrites nothing and can be undone") {
    const directory files;
    const std::string folder = files / "bin";
    fs::create_directory(folder);
    std::ofstream(folder + "/ibstat") << "somebody else's";
    const process_result made = run({"install-links", folder});
    CHECK(made.status == 1);
    CHECK_THAT(made.err, Contains("/ibstat' exists and is not a link to ibtool; left unchanged"));
    CHECK(fs::is_regular_file(folder + "/ibstat"));
    CHECK(fs::read_symlink(folder + "/ibhosts") == fs::canonical(ibtool_program()));

    words names;
    for (const fs::directory_entry& e : fs::directory_iterator(folder)) names.push_back(e.path().filename());
    std::sort(names.begin(), names.end());
    CHECK(names == lines_of(run({"install-links", "--list"}).out));
    const process_result debian = run_process({"dpkg", "-L", "infiniband-diags"});
    for (const std::string& file : lines_of(debian.out))
        if (file.find("/sbin/") != std::string::npos || file.find("/bin/") != std::string::npos) {
            CAPTURE(file);
            CHECK(std::ranges::count(names, fs::path(file).filename().string()) == 1);
        }
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(run({"help", name}).status == 0);
    }

    fs::remove(folder + "/ibstat");
    check_success(run({"install-links", folder, "--dry-run"}));
    CHECK_FALSE(fs::exists(folder + "/ibstat"));
    CHECK_THAT(run({"install-links", folder, "--dry-run", "--json"}).out,
               Catch::StartsWith("{\"schema\":\"comad.install_links/1\",\"made\":"));
    check_success(run({"install-links", folder})); // the links exist already
    CHECK(fs::is_symlink(folder + "/ibstat"));
    std::ofstream(folder + "/other") << "not ours";
    check_success(run({"install-links", "--remove", folder}));
    CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
    check_failure(run({"install-links", files / "nowhere"}), 1, "is not a directory");
    check_failure(run({"install-links"}), 2, "no directory given");
}
