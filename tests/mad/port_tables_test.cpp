// SPDX-License-Identifier: MIT
// port_tables_test.cpp - indices of P_Keys and GIDs. Rules for matching P_Keys: IBA 10.9.3 and Linux'
// ib_find_cached_pkey() (drivers/infiniband/core/cache.c).
#include "support/catch.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/mad/detail/port_tables.hpp>

#include <fmt/format.h>

namespace port_tables_test {

using namespace comad;
using Catch::Contains;
using mad::any_path;
using mad::IBPath;
using mad::port_tables;
using mad::table_entries;
using mad::table_miss;

namespace {

IBPath with_pkey(u16 pkey) {
    IBPath path;
    path.pkey = pkey;
    return path;
}
IBPath with_index(u16 index) {
    IBPath path;
    path.pkey_index = index;
    return path;
}
IBPath with_grh(const iba::gid& SGID) {
    IBPath path;
    path.has_grh = true;
    path.SGID = SGID;
    return path;
}
/// Returns `index=P_Key`, or what is missing.
std::string found(const port_tables& tables, const IBPath& path) {
    const table_entries e = tables.find(path);
    return e.miss == table_miss::none ? fmt::format("{}={:#06x}", e.pkey_index, e.pkey) : tables.text_of_miss(path);
}
const iba::gid first{iba::link_local_prefix, iba::guid{1}}, second{0xfec0'0000'0000'0001, iba::guid{1}};

} // namespace

TEST_CASE("a path without a P_Key uses the index of 0xffff, else of 0x7fff, else 0") {
    CHECK(found({{0x8001, 0xffff, 0x7fff}, {}}, {}) == "1=0xffff");
    CHECK(found({{0x7fff, 0x8001}, {}}, {}) == "0=0x7fff");
    CHECK(found({{0x8001, 0x7fff}, {}}, {}) == "1=0x7fff");
    CHECK(found({{0x7fff, 0xffff}, {}}, {}) == "1=0xffff");
    CHECK(found({{0x8001, 0x8002}, {}}, {}) == "0=0x8001");
    CHECK(found({{0, 0}, {}}, {}) == "0=0xffff");
    CHECK(found({}, {}) == "0=0xffff");
}

TEST_CASE("the index of a P_Key is the index of its partition, full membership before limited") {
    const port_tables tables({0x7fff, 0x0001, 0x0002, 0, 0x8001, 0x8003}, {});
    CHECK(found(tables, with_pkey(0x8001)) == "4=0x8001");
    CHECK(found(tables, with_pkey(0x0001)) == "4=0x8001");
    CHECK(found(tables, with_pkey(0x8002)) == "2=0x0002");
    CHECK(found(tables, with_pkey(0x0003)) == "5=0x8003");
    CHECK(found(tables, with_pkey(0x7fff)) == "0=0x7fff");
}

TEST_CASE("a P_Key that is not in the table of the port is rejected with a list of the available P_Keys") {
    const port_tables tables({0x7fff, 0, 0x8002}, {});
    CHECK(tables.find(with_pkey(0x8001)).miss == table_miss::pkey);
    CHECK(found(tables, with_pkey(0x8001)) ==
          "the local port does not have P_Key 0x8001; its P_Keys: 0x7fff (index 0), 0x8002 (index 2)");
    CHECK(found(tables, with_pkey(0x8000)) == "invalid P_Key 0x8000; its lower 15 bits must not be 0");
    CHECK(found(tables, with_pkey(0)) == "invalid P_Key 0x0000; its lower 15 bits must not be 0");
    CHECK_THAT(found({}, with_pkey(0x8001)), Contains("P_Key table of the local port is unknown"));
    std::vector<u16> many(40);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<u16>(0x8010 + i);
    CHECK_THAT(found({many, {}}, with_pkey(0x8001)), Catch::EndsWith("0x8017 (index 7) and 32 more"));
}

TEST_CASE("an explicit P_Key index takes precedence and must be a used entry") {
    port_tables tables({0x7fff, 0x8001, 0}, {});
    IBPath both = with_index(0);
    both.pkey = 0x8001;
    CHECK(found(tables, both) == "0=0x7fff");
    tables.use_pkey(0x8001);
    CHECK(found(tables, both) == "0=0x7fff");
    for (const u16 index : {2, 3, 0xfffe})
        CHECK(found(tables, with_index(index)) ==
              fmt::format("the local port has no P_Key at index {}; its P_Keys: 0x7fff (index 0), 0x8001 (index 1)",
                          index));
    CHECK(found({}, with_index(5)) == "5=0xffff");
}

TEST_CASE("a P_Key rule for all paths overrides the P_Key of a path, also after a table update") {
    port_tables tables({0x7fff, 0x8001}, {});
    SECTION("rule by index") {
        tables.use_pkey_index(1);
        CHECK(found(tables, {}) == "1=0x8001");
        CHECK(found(tables, with_pkey(0x9999)) == "1=0x8001");
        tables.update({0x7fff}, {});
        CHECK_THAT(found(tables, {}), Contains("no P_Key at index 1; its P_Keys: 0x7fff"));
    }
    SECTION("rule by value") {
        tables.use_pkey(0x8001);
        CHECK(found(tables, with_pkey(0x9999)) == "1=0x8001");
        tables.update({0x8001, 0x7fff}, {});
        CHECK(found(tables, {}) == "0=0x8001");
        tables.update({0x7fff}, {});
        CHECK_THAT(found(tables, {}), Contains("does not have P_Key 0x8001; its P_Keys: 0x7fff"));
    }
}

TEST_CASE("a transport with one P_Key rejects paths that need another P_Key") {
    port_tables tables({0x7fff, 0x8001, 0x8002}, {});
    tables.only_pkey_index(1, 2);
    CHECK(found(tables, {}) == "1=0x8001");
    CHECK(found(tables, with_pkey(0x0001)) == "1=0x8001");
    CHECK(found(tables, with_index(1)) == "1=0x8001");
    CHECK(found(tables, with_index(2)) == "1=0x8001");
    CHECK(found(tables, with_pkey(0x8002)) == "the local queue pair can use only P_Key 0x8001 (index 1), not 0x8002");
    CHECK_THAT(found(tables, with_index(0)),
               Catch::EndsWith("can use only P_Key 0x8001 (index 1), not the P_Key at index 0"));
    tables.use_pkey_index(1);
    CHECK(found(tables, with_pkey(0x8002)) == "1=0x8001");
}

TEST_CASE("a GRH path uses the GID index of its SGID unless the path has an explicit index") {
    const port_tables tables({0xffff}, {first, {}, second});
    CHECK(tables.find(with_grh(first)).SGID_index == 0);
    CHECK(tables.find(with_grh(second)).SGID_index == 2);
    CHECK(tables.find(with_grh({})).SGID_index == 0);
    IBPath path = with_grh(first);
    path.SGID_index = 2;
    CHECK(tables.find(path).SGID_index == 2);
    const iba::gid other{0xfec0'0000'0000'0001, iba::guid{2}};
    CHECK(
        found(tables, with_grh(other)) ==
        fmt::format("the local port does not have GID {}; its GIDs: {} (index 0), {} (index 2)", other, first, second));
    for (const u16 index : {1, 3, 0x101}) {
        path.SGID_index = index;
        CHECK_THAT(found(tables, path), Contains(fmt::format("no GID at index {}; its GIDs:", index)));
    }
    path.has_grh = false;
    CHECK(tables.find(path).miss == table_miss::none);
}

TEST_CASE("put_into sets the P_Key and SGID of a path, and find uses the tables after an update") {
    port_tables tables({0x7fff, 0x0001}, {first, second});
    any_path path = with_pkey(0x8001);
    CHECK(tables.put_into(path) == table_miss::none);
    CHECK(std::get<IBPath>(path).pkey == 0x0001);
    tables.update({0x7fff, 0x8002, 0x8001}, {first});
    CHECK(tables.find(path).pkey_index == 2);

    path = IBPath{};
    CHECK(tables.put_into(path) == table_miss::none);
    CHECK(std::get<IBPath>(path).pkey == 0x7fff);
    IBPath global = with_grh({});
    global.SGID_index = 0;
    path = global;
    CHECK(tables.put_into(path) == table_miss::none);
    CHECK(std::get<IBPath>(path).SGID == first);
    path = with_grh(second);
    CHECK(tables.put_into(path) == table_miss::SGID);
    CHECK(std::get<IBPath>(path) == with_grh(second));
}

} // namespace port_tables_test
