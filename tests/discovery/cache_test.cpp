// SPDX-License-Identifier: MIT
// cache_test.cpp - subnets written as bytes and read again, in both formats; malformed bytes; differences between two
// subnets.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/formats/detail/cache_edit.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/iba/detail/bits.hpp>

#include <boost/crc.hpp>

#include <stdexcept>
#include <string>

using namespace comad;
using namespace comad::discovery;
using Catch::Contains;

namespace cache_test {
namespace {

constexpr std::chrono::sys_seconds some_time{std::chrono::seconds(1'700'000'000)};

cached_subnet read(const std::string& bytes) {
    return read_cache({reinterpret_cast<const u8*>(bytes.data()), bytes.size()});
}

/// Returns a subnet whose nodes were all entered by existing ports.
subnet whole_subnet() {
    subnet s = test::made_subnet();
    for (node& n : s.nodes) n.info.localPortNum = 1;
    return s;
}

subnet partial_subnet() {
    subnet s = whole_subnet();
    s.nodes[0].ports[2].info.reset();
    s.nodes[0].ports[3].fdr10 = true;
    s.nodes[1].ports[2].fdr10_supported = true;
    s.failures.push_back(
        {failure_kind::timeout, {s.nodes[0].info.nodeGUID, 2, s.nodes[1].route}, "no answer", "cause"});
    return s;
}

/// Returns the error for these bytes; empty if there is none.
std::string complaint(const std::string& bytes) {
    try {
        read(bytes);
        return {};
    } catch (const std::runtime_error& e) {
        return e.what();
    }
}

/// Appends the checksum of the bytes.
std::string with_checksum(std::string bytes) {
    boost::crc_32_type sum;
    sum.process_bytes(bytes.data(), bytes.size() - 4);
    iba::store_be<u32>(reinterpret_cast<u8*>(bytes.data()) + bytes.size() - 4, sum.checksum());
    return bytes;
}

} // namespace

TEST_CASE("writing and reading a cache preserves the subnet except for the M_Keys") {
    subnet s = partial_subnet();
    const cached_subnet c = read(cache_bytes(s, some_time));
    CHECK(c.discovered_at == some_time);
    CHECK(c.found.start_port == s.start_port);
    CHECK(c.found.by_guid == s.by_guid);
    CHECK(json_text(c.found) == json_text(s));
    REQUIRE(c.found.nodes.size() == s.nodes.size());
    for (std::size_t n = 0; n < s.nodes.size(); ++n) {
        const node &was = s.nodes[n], &is = c.found.nodes[n];
        CHECK(is.info == was.info);
        CHECK(is.switch_info == was.switch_info);
        CHECK(is.route == was.route);
        CHECK(is.hops == was.hops);
        REQUIRE(is.ports.size() == was.ports.size());
        for (std::size_t p = 0; p < was.ports.size(); ++p) {
            CAPTURE(n, p);
            auto info = was.ports[p].info;
            if (info) info->MKey = {};
            CHECK(is.ports[p].info == info);
            CHECK(is.ports[p].portGUID == was.ports[p].portGUID);
            CHECK(is.ports[p].peer == was.ports[p].peer);
            CHECK(is.ports[p].fdr10 == was.ports[p].fdr10);
            CHECK(is.ports[p].fdr10_supported == was.ports[p].fdr10_supported);
        }
    }
    REQUIRE(c.found.failures.size() == 1);
    CHECK(c.found.failures[0].kind == failure_kind::timeout);
    CHECK(c.found.failures[0].cause == "cause");
    CHECK_FALSE(c.found.complete());
    CHECK(read(cache_bytes({}, some_time)).found.nodes.empty());
}

TEST_CASE("the text of a cache is safe for a terminal, whichever program wrote the cache") {
    subnet s = partial_subnet();
    s.failures[0].text = "no \x1b[2J answer\x7f";
    s.failures[0].cause = " ~";
    const failure reported = read(cache_bytes(s, some_time)).found.failures.at(0);
    CHECK(reported.text == "no \\x1b[2J answer\\x7f");
    CHECK(reported.cause == " ~"); // the first and the last printable character
}

/// Returns true for an error of one line. The line must give the position if the file starts like a cache.
static bool is_refusal(const std::string& why) {
    return why == "the file is not a subnet cache" || (why.find("at byte ") != why.npos && why.find('\n') == why.npos);
}

TEST_CASE("a truncated or changed cache is rejected with one line that names the position") {
    const std::string whole = cache_bytes(partial_subnet(), some_time);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        REQUIRE(is_refusal(complaint(whole.substr(0, size))));
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        CAPTURE(at);
        std::string changed = whole;
        changed[at] ^= 1;
        REQUIRE(is_refusal(complaint(changed)));
    }
    CHECK_THAT(complaint(whole + "x"), Contains("checksum"));
}

TEST_CASE("a cache with a valid checksum and wrong contents is rejected or gives a consistent subnet") {
    const std::string whole = cache_bytes(partial_subnet(), some_time);
    std::size_t refused = 0;
    for (std::size_t at = 0; at + 4 < whole.size(); ++at) {
        for (const int change : {1, 0x80, 0xff}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ change);
            changed = with_checksum(changed);
            CAPTURE(at, change);
            const std::string wrong = complaint(changed);
            if (!wrong.empty()) {
                ++refused;
                REQUIRE(is_refusal(wrong));
                continue;
            }
            const subnet s = read(changed).found;
            for (const node& n : s.nodes)
                for (const port& p : n.ports) {
                    if (p.peer) REQUIRE(s.at(s.at(p.peer).peer).peer == p.peer);
                }
            REQUIRE_FALSE(json_text(s).empty());
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("a cache never contains an M_Key, even in a cache with edited keys") {
    constexpr u64 key = 0x1a2b3c4d5e6f7081;
    subnet s = whole_subnet();
    for (node& n : s.nodes)
        for (port& p : n.ports)
            if (p.info) p.info->MKey = key;
    std::string bytes(8, '\0');
    iba::store_be<u64>(reinterpret_cast<u8*>(bytes.data()), key);
    CHECK(cache_bytes(s, some_time).find(bytes) == std::string::npos);
    std::string diags = diags_cache_bytes(s);
    CHECK(diags.find(bytes) == std::string::npos);
    CHECK(diags.find(std::string(bytes.rbegin(), bytes.rend())) == std::string::npos);
    // Fields as infiniband-diags write them: the first 8 bytes of PortInfo follow GUID, port number, external port
    // number, LID and LMC of a port.
    for (std::size_t port = diags.size() - 8 * (31 + 64); port < diags.size(); port += 31 + 64)
        diags.replace(port + 8 + 1 + 1 + 2 + 1, 8, bytes);
    const std::string edited = edited_diags_cache({reinterpret_cast<const u8*>(diags.data()), diags.size()}, {});
    CHECK(edited.size() == diags.size());
    CHECK(edited.find(bytes) == std::string::npos);
}

TEST_CASE("the bytes of a libibnetdisc cache match the documented format") {
    const subnet s = whole_subnet();
    const std::string bytes = diags_cache_bytes(s);
    const auto at = [&](std::size_t i) { return static_cast<u8>(bytes[i]); };
    CHECK(at(0) == 0x2b); // 0x8fe7832b, least significant byte first
    CHECK(at(3) == 0x8f);
    CHECK(at(4) == 1);
    CHECK(at(8) == 3);          // nodes
    CHECK(at(12) == 5 + 2 + 1); // ports
    CHECK(at(24) == 1);         // hops
    // The position of numPorts: after LID, LMC, flag, SwitchInfo, GUID and type. The nodes come in reverse order: the
    // router, the host, the switch.
    const std::size_t record = 15 + 3 * 64;
    CHECK(at(28 + 76 + 1) == 1);
    CHECK(at(28 + 2 * record + (2 + 1) * 9 + 76 + 1) == 4);
    const std::size_t nodes = 3 * record + 8 * 9;
    CHECK(bytes.size() == 28 + nodes + 8 * (31 + 64));

    const subnet again = read(bytes).found;
    CHECK(again.nodes.size() == 3);
    CHECK(again.link_count() == 2);
    CHECK(differences(s, again).empty());
    for (std::size_t size = 0; size < bytes.size(); ++size) REQUIRE_FALSE(complaint(bytes.substr(0, size)).empty());
    for (std::size_t i = 0; i < bytes.size(); ++i) { // the result is an exception or a subnet, never a crash
        std::string changed = bytes;
        changed[i] ^= 0xff;
        complaint(changed);
    }
}

TEST_CASE("the difference of two subnets lists kind and location of each change") {
    using subject = difference::subject;
    const subnet was = whole_subnet();
    CHECK(differences(was, was).empty());

    subnet is = was;
    is.nodes[1].ports[2].peer = {};
    is.nodes[0].ports[3].peer = {}; // the link to the host is cut
    is.nodes[0].ports[1].info->linkWidthActive = iba::LinkWidth::w4x;
    is.nodes[2].ports[1].info->linkWidthActive = iba::LinkWidth::w4x;
    is.nodes[2].ports[1].info->LMC ^= 1;
    is.nodes[1].description = "another name";
    const auto all = differences(was, is);
    REQUIRE(all.size() == 4);
    CHECK(all[0].of == subject::link);
    CHECK(all[0].what == difference::kind::removed);
    CHECK_THAT(all[0].place, Contains("made switch\"[3]") && Contains("made host\"[2]"));
    CHECK(all[1].of == subject::rate);
    CHECK(all[1].was == "1x SDR");
    CHECK(all[1].is == "4x SDR");
    CHECK(all[2].of == subject::LID);
    CHECK(all[2].nodeGUID == was.nodes[2].info.nodeGUID);
    CHECK(all[3].of == subject::description);
    CHECK(all[3].is == "another name");

    const auto back = differences(is, was);
    REQUIRE(back.size() == 4);
    CHECK(back[0].what == difference::kind::added);

    subnet less = was; // the router, which is the last node
    less.nodes[0].ports[1].peer = {};
    less.by_guid.erase(less.nodes[2].info.nodeGUID);
    less.nodes.pop_back();
    const auto gone = differences(was, less);
    REQUIRE(gone.size() == 2);
    CHECK(gone[0].of == subject::node);
    CHECK(gone[1].of == subject::link);
}

} // namespace cache_test
