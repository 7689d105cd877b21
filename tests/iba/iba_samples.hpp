// SPDX-License-Identifier: MIT
// iba_samples.hpp - structures that no standard defines, with every feature of tables, for tests of code that uses
// tables at run time.
#pragma once
#include <comad/iba/detail/wire.hpp>
#include <comad/iba/smp.hpp>

#include <array>

namespace comad::test {

/// 16 elements of two bits.
struct quarter_bytes {
    std::array<u8, 16> value;
};
/// 16 elements of four bits.
struct half_bytes {
    std::array<u8, 16> SLtoVL;
};
/// Fields and a reserved range inside bytes.
struct block {
    u16 port;
    u16 reserved_16;
    u8 LMC;
};
/// Arrays, nested structures and arrays of structures. Its size is five bytes more than a multiple of eight.
struct mixture {
    u16 QOSClass;
    u32 reserved_12;
    std::array<u32, 2> counter;
    std::array<block, 2> blocks;
    iba::smp::NodeInfo nodeInfo;
    u8 last;
};

/// A structure of two bytes: several of them share a 32-bit word.
struct pair {
    u8 shift;
    u16 multiplier;
};
/// A structure with an array of structures.
struct table {
    u16 limit;
    std::array<pair, 3> entries;
};
/// Every field type that is not a number of at most 64 bits, two levels of arrays of structures, and a structure that
/// starts inside a 32-bit word.
struct wide {
    iba::gid one;
    std::array<iba::gid, 2> gids;
    std::array<iba::guid, 2> guids;
    std::array<u64, 2> longs;
    u64 prefix;
    iba::NodeType kind;
    std::array<u8, 3> name;
    std::array<u8, 3> blob;
    std::array<u8, 3> list;
    u16 number;
    std::array<table, 2> tables;
    u64 reserved_928;
    std::array<u8, 12> reserved_992;
};
/// A structure without rows, like three attributes of the IBA.
struct nothing {};

} // namespace comad::test

// clang-format off
template <> struct comad::iba::described<comad::test::quarter_bytes> : std::true_type {
    using T = test::quarter_bytes;
    static constexpr auto layout = describe<4>("QuarterBytes", "0",
        field<&T::value, at{0}, 32>{"value"});
};
template <> struct comad::iba::described<comad::test::half_bytes> : std::true_type {
    using T = test::half_bytes;
    static constexpr auto layout = describe<8>("HalfBytes", "0",
        field<&T::SLtoVL, at{0}, 64>{"SLtoVL"});
};
template <> struct comad::iba::described<comad::test::block> : std::true_type {
    using T = test::block;
    static constexpr auto layout = describe<4>("Block", "0",
        field<&T::port,           at{0},    16>{"port"},
        reserved<&T::reserved_16, at{2},    13>{},
        field<&T::LMC,            at{3, 5},  3>{"LMC"});
};
template <> struct comad::iba::described<comad::test::mixture> : std::true_type {
    using T = test::mixture;
    static constexpr auto layout = describe<61>("Mixture", "0",
        field<&T::QOSClass,       at{0},     12>{"QOSClass", show::hex},
        reserved<&T::reserved_12, at{1, 4},  20>{},
        field<&T::counter,        at{4},     64>{"counter"},
        field<&T::blocks,         at{12},    64>{"blocks"},
        field<&T::nodeInfo,       at{20},   320>{"nodeInfo"},
        field<&T::last,           at{60},     8>{"last"});
};
template <> struct comad::iba::described<comad::test::pair> : std::true_type {
    using T = test::pair;
    static constexpr auto layout = describe<2>("Pair", "0",
        field<&T::shift,      at{0},     2>{"shift"},
        field<&T::multiplier, at{0, 2}, 14>{"multiplier"});
};
template <> struct comad::iba::described<comad::test::table> : std::true_type {
    using T = test::table;
    static constexpr auto layout = describe<8>("Table", "0",
        field<&T::limit,   at{0}, 16>{"limit"},
        field<&T::entries, at{2}, 48>{"entries"});
};
template <> struct comad::iba::described<comad::test::wide> : std::true_type {
    using T = test::wide;
    static constexpr auto layout = describe<136>("Wide", "0",
        field<&T::one,             at{0},   128>{"one"},
        field<&T::gids,            at{16},  256>{"GIDs"},
        field<&T::guids,           at{48},  128>{"GUIDs"},
        field<&T::longs,           at{64},  128>{"longs", show::hex},
        field<&T::prefix,          at{80},   64>{"prefix", show::prefix},
        field<&T::kind,            at{88},    8>{"kind", show::name},
        field<&T::name,            at{89},   24>{"name", show::text},
        field<&T::blob,            at{92},   24>{"blob", show::bytes},
        field<&T::list,            at{95},   24>{"list"},
        field<&T::number,          at{98},   16>{"number"},
        field<&T::tables,          at{100}, 128>{"tables"},
        reserved<&T::reserved_928, at{116},  64>{},
        reserved<&T::reserved_992, at{124},  96>{});
};
template <> struct comad::iba::described<comad::test::nothing> : std::true_type {
    static constexpr auto layout = describe<0>("Nothing", "0");
};
// clang-format on
