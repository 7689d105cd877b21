// SPDX-License-Identifier: MIT
// ibcacheedit_test.cpp - ibcacheedit compared with ibcacheedit of infiniband-diags: both write equal bytes, which both
// versions of ibnetdiscover read.
#include "program/ibtool_subnet.hpp"
#include <comad/discovery/formats/detail/cache_edit.hpp>

#include <regex>
#include <set>

namespace ibtool_cacheedit_test {

using namespace ibtool_rig;

namespace {

/// Returns the stanzas without the port GUIDs of switches. infiniband-diags prints the port GUID in NodeInfo, which no
/// edit changes.
std::set<std::string> stanzas_read(const std::string& text) {
    const std::regex port_guid("(switchguid=0x[0-9a-f]+)\\([0-9a-f]+\\)");
    std::set<std::string> all;
    std::string stanza;
    for (std::string line : lines_in_order(text)) {
        if (line.starts_with('#')) continue;
        line = std::regex_replace(line, port_guid, "$1");
        if (line.empty()) all.insert(std::exchange(stanza, {}));
        stanza += line + '\n';
    }
    all.insert(stanza);
    return all;
}

} // namespace

TEST_CASE("ibcacheedit writes the bytes that infiniband-diags writes, and both read each other's files") {
    subnet s;
    const std::string cache = s.files() / "cache", own = s.files() / "own";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    check_success(s.ours({"ibnetdiscover", "--cache", own}));
    const std::vector<words> edits{
        {},
        {"--switchguid", "0x5000:0x5999"},
        {"--caguid", "0xa000:0x123456789abcdef0"},
        {"--sysimgguid", "0x13000:0xfedcba9876543210"},
        {"--portguid", "0xa000:0xa001:0xaaaa"},
        {"--portguid", "0x6000:0x6000:0x6666"},
        {"--switchguid", "20480:0x5999", "--caguid", "0xa000:0xa0a0", "--sysimgguid", "0x33000:1", "--portguid",
         "0xa0a0:0xa001:0xaaaa"}, // 20480 = 0x5000
    };
    for (const std::string& from : {cache, own})
        for (const words& edit : edits) {
            CAPTURE(from, edit);
            const std::string theirs = s.files() / "theirs", ours = s.files() / "ours";
            REQUIRE(s.peer(words{"ibcacheedit"} + edit + words{from, theirs}).status == 0);
            check_success(run(words{"ibcacheedit"} + edit + words{from, ours}));
            CHECK_FALSE(read_file(theirs).empty());
            CHECK(read_file(ours) == read_file(theirs));
            const process_result read = run({"ibnetdiscover", "--load-cache", ours});
            CHECK(read.status == 0);
            CHECK(stanzas_read(read.out) == stanzas_read(s.peer({"ibnetdiscover", "--load-cache", ours}).out));
        }
}

TEST_CASE("ibcacheedit edits a damaged cache or refuses the cache with a one-line message") {
    subnet s(quiet_topology, manager::leaves);
    const std::string cache = s.files() / "cache";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    const std::string whole = read_file(cache);
    comad::discovery::cache_edits edits;
    edits.switch_guid = {comad::iba::guid{0x5000}, comad::iba::guid{0x5999}};
    const auto edit = [&](const std::string& bytes) {
        try {
            const auto* data = reinterpret_cast<const comad::u8*>(bytes.data());
            return comad::discovery::edited_diags_cache({data, bytes.size()}, edits).size();
        } catch (const std::runtime_error& e) {
            CHECK_THAT(e.what(), !Contains("\n"));
            return std::size_t{0};
        }
    };
    CHECK(edit(whole) == whole.size());
    unsigned refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x81);
        const std::size_t size = edit(changed);
        CHECK(size <= whole.size());
        refused += size == 0;
        CHECK(edit(whole.substr(0, at)) == 0);
    }
    CHECK(refused > 0);
    CHECK(refused < whole.size());
}

TEST_CASE("ibcacheedit drops ports that no node contains and refuses ports that two nodes contain") {
    subnet s(quiet_topology, manager::leaves);
    const std::string cache = s.files() / "cache", theirs = s.files() / "theirs", ours = s.files() / "ours";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    const std::string whole = read_file(cache);
    constexpr std::size_t count_at = 28 + 206, key = 9; // in the record of the first node
    const unsigned char count = static_cast<unsigned char>(whole.at(count_at));
    REQUIRE(count >= 2);
    std::string less = whole;
    less[count_at] = static_cast<char>(count - 1);
    less.erase(count_at + 1 + key * (count - 1u), key);
    const std::string with_less = s.files().write("less", less);
    REQUIRE(s.peer({"ibcacheedit", "--caguid", "0xa000:1", with_less, theirs}).status == 0);
    check_success(run({"ibcacheedit", "--caguid", "0xa000:1", with_less, ours}));
    CHECK(read_file(ours) == read_file(theirs));
    CHECK(read_file(ours).size() == less.size() - 95);

    std::string twice = whole;
    twice.replace(count_at + 1 + key, key, whole, count_at + 1, key);
    const std::string with_twice = s.files().write("twice", twice);
    CHECK(s.peer({"ibcacheedit", with_twice, theirs}).status == 255);
    check_failure(run({"ibcacheedit", with_twice, ours}), 1, "a port belongs to two nodes");
}

TEST_CASE("ibcacheedit --json reports the changes") {
    subnet s(quiet_topology, manager::leaves);
    const std::string cache = s.files() / "cache", to = s.files() / "to";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    const process_result r = run({"ibcacheedit", "--json", "--portguid", "0xa000:0xa001:0xaaaa", cache, to});
    check_success(r);
    const auto object = nlohmann::json::parse(r.out);
    CHECK(object["new"] == to);
    CHECK(object["portGUID"] == nlohmann::json{{"before", "0000:0000:0000:a001"},
                                               {"after", "0000:0000:0000:aaaa"},
                                               {"nodeGUID", "0000:0000:0000:a000"}});
    CHECK_FALSE(object.contains("CA_nodeGUID"));
}

TEST_CASE("ibcacheedit reports a missing entry and writes no file") {
    subnet s(quiet_topology, manager::leaves);
    const std::string cache = s.files() / "cache", to = s.files() / "to";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    const auto fails = [&](const words& edit, const std::string& what) {
        CAPTURE(edit);
        const process_result theirs = s.peer(words{"ibcacheedit"} + edit + words{cache, to});
        CHECK(theirs.status == 255);
        CHECK_THAT(theirs.out, Contains(what));
        check_failure(run(words{"ibcacheedit"} + edit + words{cache, to}), 1, what);
        CHECK_FALSE(std::filesystem::exists(to));
    };
    fails({"--switchguid", "0xa000:1"}, "switchguid = a000 not found");
    fails({"--caguid", "0x5000:1"}, "caguid = 5000 not found");
    fails({"--sysimgguid", "0xff:1"}, "sysimgguid = ff not found");
    fails({"--portguid", "0xff:0xa001:1"}, "nodeguid = ff not found");
    fails({"--portguid", "0xa000:0xff:1"}, "portguid = ff not found");
    for (const words& edit :
         {words{"--switchguid", "0x5000"}, {"--caguid", "x:1"}, {"--portguid", "1:2"}, {"--sysimgguid", "1:2:3"}})
        check_failure(run(words{"ibcacheedit"} + edit + words{cache, to}), 2, "with GUIDs such as");
    check_failure(run({"ibcacheedit", s.files().write("text", "x"), to}), 1, "the file is not a libibnetdisc cache");
    const std::string whole = read_file(cache);
    const std::string part = s.files().write("part", whole.substr(0, whole.size() - 1));
    check_failure(run({"ibcacheedit", part, to}), 1, "part: the file is truncated within a port");
}

} // namespace ibtool_cacheedit_test
