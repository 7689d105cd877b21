// SPDX-License-Identifier: MIT
// ibtool_subnet_cache_test.cpp - subnet caches in the format of infiniband-diags, compared with infiniband-diags on
// ibsim; differences after a cable was cut; and the tool's own format.
#include "program/ibtool_subnet.hpp"

#include <set>
#include <sys/stat.h>

namespace ibtool_subnet_cache_test {

using namespace ibtool_rig;

namespace {

/// Returns the bytes of a file.
std::string contents_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the head of a file in libibnetdisc's format, and then the records of nodes and ports in any order.
std::set<std::string> records_of(const std::string& bytes) {
    std::set<std::string> all;
    std::size_t at = 28;
    const auto take = [&](std::size_t size) { return at += size, bytes.substr(at - size, size); };
    all.insert(bytes.substr(0, at));
    const auto nodes = static_cast<unsigned char>(bytes.at(8)), ports = static_cast<unsigned char>(bytes.at(12));
    for (unsigned n = 0; n < nodes; ++n) {
        std::string node = take(207);
        node += take(9u * static_cast<unsigned char>(node.back()));
        all.insert(node);
    }
    for (unsigned p = 0; p < ports; ++p) all.insert(take(95));
    CHECK(at == bytes.size());
    return all;
}

/// Returns the stanzas of a topology file in any order.
std::set<std::string> stanzas_of(const std::string& text) {
    std::set<std::string> all;
    std::string stanza;
    for (const std::string& line : lines_in_order(text)) {
        if (line.starts_with('#')) continue;
        if (line.empty()) all.insert(std::exchange(stanza, {}));
        stanza += line + '\n';
    }
    all.insert(stanza);
    return all;
}

} // namespace

TEST_CASE("ibnetdiscover and infiniband-diags write equal caches, read each other's and report equal changes") {
    subnet s;
    const std::string theirs = s.files() / "theirs", ours = s.files() / "ours", kept = s.files() / "kept";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", theirs}).status == 0);
    check_success(s.ours({"ibnetdiscover", "--cache", ours}));
    CHECK(records_of(contents_of(ours)) == records_of(contents_of(theirs)));

    // Each program reads the file of the other program.
    const auto live = stanzas_of(s.peer({"ibnetdiscover"}).out);
    CHECK(live.size() > 5);
    CHECK(stanzas_of(s.peer({"ibnetdiscover", "--load-cache", ours}).out) == live);
    const auto loaded = run({"ibnetdiscover", "--load-cache", theirs});
    CHECK(loaded.status == 0);
    CHECK_THAT(loaded.err, Contains("from the cache"));
    CHECK(stanzas_of(loaded.out) == live);
    const auto links = run({"iblinkinfo", "-l", "--load-cache", theirs});
    CHECK(lines_of(links.out) == lines_of(s.peer({"iblinkinfo", "-l", "--load-cache", ours}).out));

    // The tool's own format: ibtool writes the file once, and only its owner may read it. Later runs send no MAD.
    const auto first = s.ours({"ibnetdiscover", "--subnet-cache", kept});
    struct stat file {};
    REQUIRE(::stat(kept.c_str(), &file) == 0);
    CHECK((file.st_mode & 0777) == 0600);
    const auto same = run({"subnet_diff", kept, theirs});
    CHECK(same.status == 0);
    CHECK_THAT(same.out, Contains("links (5 and 5): no difference"));

    // The test cuts a cable.
    s.console("Unlink \"S2\"[4]");
    const auto stale = s.ours({"ibnetdiscover", "--subnet-cache", kept});
    CHECK(stanzas_of(stale.out) == live);
    CHECK_THAT(stale.err, Contains(" s old; use --refresh-cache"));
    const auto differing = s.ours({"subnet_diff", kept, "--json"});
    CHECK(differing.status == 1);
    const auto list = nlohmann::json::parse(differing.out).at("differences");
    REQUIRE(list.size() == 1);
    CHECK(list[0].at("subject") == "link");
    CHECK(list[0].at("kind") == "removed");

    const std::vector<words> comparisons{{"ibnetdiscover", "--diff", theirs},
                                         {"ibnetdiscover", "--diff", theirs, "--diffcheck", "sw,port,lid,nodedesc"},
                                         {"iblinkinfo", "--diff", theirs},
                                         {"iblinkinfo", "-l", "--diff", theirs, "--diffcheck", "port"},
                                         {"iblinkinfo", "--filterdownports", theirs}};
    for (const words& command : comparisons) {
        CAPTURE(command);
        const auto expected = s.peer(command), r = s.ours(command);
        CHECK(expected.status == 0);
        CHECK_FALSE(expected.out.empty());
        CHECK(r.status == 0);
        CHECK(lines_of(r.out) == lines_of(expected.out));
    }

    check_success(s.ours({"ibnetdiscover", "--subnet-cache", kept, "--refresh-cache"}));
    CHECK(s.ours({"subnet_diff", kept}).status == 0);
    CHECK(s.ours({"ibqueryerrors", "--load-cache", kept}).status == s.ours({"ibqueryerrors"}).status);
}

TEST_CASE("an invalid cache file is refused with a one-line message") {
    const directory files;
    const std::string file = files / "no cache";
    std::ofstream(file) << "something else";
    check_failure(run({"ibnetdiscover", "--load-cache", file}), 1,
                  "no cache:1: the file contains no nodes; expected a topology file");
    check_failure(run({"ibnetdiscover", "--load-cache", "/dev/null"}), 1, "it is not a regular file");
    check_failure(run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=4", "--subnet-cache", files / "$X"}), 2, "$X");
}

} // namespace ibtool_subnet_cache_test
