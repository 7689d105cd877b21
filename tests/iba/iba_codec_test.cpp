// SPDX-License-Identifier: MIT
// iba_codec_test.cpp - decode, encode, get, put and compare with a table that has every kind of row, compared with a
// bit-by-bit reader and writer.
#include "support/catch.hpp"
#include <comad/iba/detail/compare_structures.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/iba/smp.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::iba;

namespace {

struct nothing_at_all {};

struct pair_of_numbers {
    u8 small;
    u16 large;
};

struct header {
    u8 kind;
    u16 number;
    bool flag;
    u8 reserved_14;
    u16 reserved_16;
};

/// Every kind of row: a header, fields within a byte and across bytes, an array of three-bit elements that starts
/// inside a byte, a field of 56 bits, bytes, structures at odd addresses, and a size that is not a multiple of four.
struct everything {
    header head;
    u8 reserved_32;
    std::array<u8, 9> triples;
    guid id;
    u8 reserved_128;
    u64 wide;
    std::array<u8, 3> block;
    std::array<pair_of_numbers, 2> pairs;
    NodeType type;
    u64 reserved_256;
    u32 tail;
    gid place;
    std::array<u8, 9> reserved_472;
};

} // namespace

template <> struct comad::iba::described<nothing_at_all> : std::true_type {
    static constexpr auto layout = describe<0>("NothingAtAll", "0");
};

template <> struct comad::iba::described<pair_of_numbers> : std::true_type {
    using T = pair_of_numbers;
    // clang-format off
    static constexpr auto layout = describe<2>("Pair", "0",
        field<&T::small, at{0},     4>{"small"},
        field<&T::large, at{0, 4}, 12>{"large"});
    // clang-format on
};

template <> struct comad::iba::described<header> : std::true_type {
    using T = header;
    // clang-format off
    static constexpr auto layout = describe<4>("Header", "0",
        field<&T::kind,           at{0},     3>{"kind"},
        field<&T::number,         at{0, 3}, 10>{"number"},
        field<&T::flag,           at{1, 5},  1>{"flag"},
        reserved<&T::reserved_14, at{1, 6},  2>{},
        reserved<&T::reserved_16, at{2},    16>{});
    // clang-format on
};

template <> struct comad::iba::described<everything> : std::true_type {
    using T = everything;
    // clang-format off
    static constexpr auto layout = describe<68>("Everything", "0",
        inlined<&T::head,          at{0}>{},
        reserved<&T::reserved_32,  at{4},      5>{},
        field<&T::triples,         at{4, 5},  27>{"triples"},
        field<&T::id,              at{8},     64>{"id"},
        reserved<&T::reserved_128, at{16},     8>{},
        field<&T::wide,            at{17},    56>{"wide"},
        field<&T::block,           at{24},    24>{"block"},
        field<&T::pairs,           at{27},    32>{"pairs"},
        field<&T::type,            at{31},     8>{"type", show::name},
        reserved<&T::reserved_256, at{32},    64>{},
        field<&T::tail,            at{40},    24>{"tail"},
        field<&T::place,           at{43},   128>{"place"},
        reserved<&T::reserved_472, at{59},    72>{});
    // clang-format on
};

namespace {

constexpr unsigned size_of_everything = wire_size<everything>;
using image = std::array<u8, size_of_everything>;

/// Writes `width` bits of `value` at bit `off`, one at a time.
void write_bits(u8* p, unsigned off, unsigned width, u64 value) {
    for (unsigned i = 0; i < width; ++i) {
        const u8 mask = static_cast<u8>(0x80 >> (off + i) % 8);
        const bool is_set = value >> (width - 1 - i) & 1;
        p[(off + i) / 8] = static_cast<u8>(is_set ? p[(off + i) / 8] | mask : p[(off + i) / 8] & ~mask);
    }
}

/// Returns the bytes that encode() should write. The positions were counted by hand from the table.
image expected_bytes(const everything& v) {
    image out{};
    write_bits(out.data(), 0, 3, v.head.kind);
    write_bits(out.data(), 3, 10, v.head.number);
    write_bits(out.data(), 13, 1, v.head.flag);
    write_bits(out.data(), 14, 2, v.head.reserved_14);
    write_bits(out.data(), 16, 16, v.head.reserved_16);
    write_bits(out.data(), 32, 5, v.reserved_32);
    for (unsigned i = 0; i < 9; ++i) write_bits(out.data(), 37 + 3 * i, 3, v.triples[i]);
    write_bits(out.data(), 64, 64, value(v.id));
    write_bits(out.data(), 128, 8, v.reserved_128);
    write_bits(out.data(), 136, 56, v.wide);
    for (unsigned i = 0; i < 3; ++i) out[24 + i] = v.block[i];
    for (unsigned i = 0; i < 2; ++i) {
        write_bits(out.data(), 216 + 16 * i, 4, v.pairs[i].small);
        write_bits(out.data(), 220 + 16 * i, 12, v.pairs[i].large);
    }
    write_bits(out.data(), 248, 8, static_cast<u64>(v.type));
    write_bits(out.data(), 256, 64, v.reserved_256);
    write_bits(out.data(), 320, 24, v.tail);
    for (unsigned i = 0; i < 16; ++i) out[43 + i] = v.place.bytes[i];
    for (unsigned i = 0; i < 9; ++i) out[59 + i] = v.reserved_472[i];
    return out;
}

/// Returns random values in all bits of the members, also in those that do not fit into the fields.
everything random_value(std::mt19937_64& random) {
    everything v{};
    v.head = {static_cast<u8>(random()), static_cast<u16>(random()), random() % 2 == 1, static_cast<u8>(random()),
              static_cast<u16>(random())};
    v.reserved_32 = static_cast<u8>(random());
    v.reserved_128 = static_cast<u8>(random());
    v.reserved_256 = random();
    v.place = gid(random(), guid{random()});
    for (u8& b : v.reserved_472) b = static_cast<u8>(random());
    for (u8& t : v.triples) t = static_cast<u8>(random());
    v.id = guid{random()};
    v.wide = random();
    for (u8& b : v.block) b = static_cast<u8>(random());
    for (pair_of_numbers& p : v.pairs) p = {static_cast<u8>(random()), static_cast<u16>(random())};
    v.type = static_cast<NodeType>(random());
    v.tail = static_cast<u32>(random());
    return v;
}

image random_bytes(std::mt19937_64& random) {
    image out;
    for (u8& byte : out) byte = static_cast<u8>(random());
    return out;
}

} // namespace

TEST_CASE("encode writes the low bits of each value to its field, and nothing else") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        const everything v = random_value(random);
        image out = random_bytes(random); // the previous contents do not matter
        encode(v, out.data());
        REQUIRE(out == expected_bytes(v));
    }
}

TEST_CASE("decode returns the values that encode to the input bytes") {
    std::mt19937_64 random(2);
    for (int round = 0; round < 500; ++round) {
        const image encoded = expected_bytes(random_value(random));
        const auto v = decode<everything>(encoded);
        REQUIRE(expected_bytes(v) == encoded);
        CHECK(v.head.kind < 8);
        CHECK(v.head.number < 1024);
        CHECK(v.wide < u64{1} << 56);
        CHECK(v.tail < 1u << 24);
    }
}

TEST_CASE("decoding and encoding preserves every bit, including reserved bits") {
    std::mt19937_64 random(8);
    for (int round = 0; round < 500; ++round) {
        const image raw = random_bytes(random);
        REQUIRE(encode(decode<everything>(raw)) == raw);
    }
}

TEST_CASE("a reserved row is named after its bit offset, and differences ignores its value") {
    CHECK(info_of<header>.rows[3].name == "reserved_14");
    CHECK(info_of<everything>.rows[5].name == "reserved_32");
    CHECK(info_of<everything>.rows[5].is_reserved);
    CHECK_FALSE(info_of<everything>.rows[6].is_reserved);
}

TEST_CASE("a structure can be empty") {
    CHECK(wire_size<nothing_at_all> == 0);
    CHECK(info_of<nothing_at_all>.rows.empty());
    CHECK(encode(nothing_at_all{}).empty());
}

TEST_CASE("encode and decode work at any address and touch no byte outside the structure") {
    std::mt19937_64 random(3);
    for (unsigned shift = 0; shift < 8; ++shift) {
        const everything v = random_value(random);
        // The exact size lets AddressSanitizer detect a read or write beyond the end.
        const auto memory = std::make_unique<u8[]>(shift + size_of_everything);
        std::fill_n(memory.get(), shift, u8{0xee});
        encode(v, memory.get() + shift);
        CHECK(std::all_of(memory.get(), memory.get() + shift, [](u8 byte) { return byte == 0xee; }));
        CHECK(std::memcmp(memory.get() + shift, expected_bytes(v).data(), size_of_everything) == 0);

        everything back;
        decode(back, memory.get() + shift);
        CHECK(expected_bytes(back) == expected_bytes(v));
        CHECK(get<&everything::tail>(memory.get() + shift) == back.tail);
    }
}

TEST_CASE("get reads one member like decode") {
    std::mt19937_64 random(4);
    for (int round = 0; round < 100; ++round) {
        const image raw = random_bytes(random);
        const auto v = decode<everything>(raw);
        CHECK(get<&header::kind>(raw.data()) == v.head.kind);
        CHECK(get<&header::number>(raw.data()) == v.head.number);
        CHECK(get<&header::flag>(raw.data()) == v.head.flag);
        CHECK(get<&everything::head>(raw.data()).number == v.head.number);
        CHECK(get<&everything::triples>(raw.data()) == v.triples);
        CHECK(get<&everything::id>(raw.data()) == v.id);
        CHECK(get<&everything::wide>(raw.data()) == v.wide);
        CHECK(get<&everything::block>(raw.data()) == v.block);
        CHECK(get<&everything::pairs>(raw.data())[1].large == v.pairs[1].large);
        CHECK(get<&everything::type>(raw.data()) == v.type);
        CHECK(get<&everything::tail>(raw.data()) == v.tail);
        CHECK(get<&everything::place>(raw.data()) == v.place);
    }
}

TEST_CASE("put changes only the bits of its member") {
    std::mt19937_64 random(5);
    for (int round = 0; round < 200; ++round) {
        const image before = random_bytes(random);
        const everything v = random_value(random);
        const auto check = [&](const auto& put_member, unsigned off, unsigned width, u64 value) {
            image changed = before;
            put_member(changed.data());
            image expected = before;
            write_bits(expected.data(), off, width, value);
            CHECK(changed == expected);
        };
        check([&](u8* p) { put<&header::kind>(p, v.head.kind); }, 0, 3, v.head.kind);
        check([&](u8* p) { put<&header::number>(p, v.head.number); }, 3, 10, v.head.number);
        check([&](u8* p) { put<&header::flag>(p, v.head.flag); }, 13, 1, v.head.flag);
        check([&](u8* p) { put<&everything::id>(p, v.id); }, 64, 64, value(v.id));
        check([&](u8* p) { put<&everything::wide>(p, v.wide); }, 136, 56, v.wide);
        check([&](u8* p) { put<&everything::type>(p, v.type); }, 248, 8, static_cast<u64>(v.type));
        check([&](u8* p) { put<&everything::tail>(p, v.tail); }, 320, 24, v.tail);

        u64 triples = 0;
        for (u8 t : v.triples) triples = triples << 3 | (t & 7u);
        check([&](u8* p) { put<&everything::triples>(p, v.triples); }, 37, 27, triples);
        u64 pairs = 0;
        for (const pair_of_numbers& p : v.pairs) pairs = pairs << 16 | (p.small & 0xfu) << 12 | (p.large & 0xfffu);
        check([&](u8* p) { put<&everything::pairs>(p, v.pairs); }, 216, 32, pairs);
    }
}

TEST_CASE("compare orders structures like memcmp on their bytes") {
    std::mt19937_64 random(6);
    int equal_pairs = 0;
    for (int round = 0; round < 2000; ++round) {
        const image a = expected_bytes(random_value(random));
        image b = a;
        // Most pairs differ in one bit, which can be a reserved one.
        if (round % 4 == 0) b = expected_bytes(random_value(random));
        else write_bits(b.data(), static_cast<unsigned>(random() % (size_of_everything * 8)), 1, random());
        const auto x = decode<everything>(a);
        const auto y = decode<everything>(b);
        const int order = std::memcmp(a.data(), expected_bytes(y).data(), size_of_everything);
        CHECK((compare(x, y) < 0) == (order < 0));
        CHECK((compare(x, y) > 0) == (order > 0));
        CHECK(equal(x, y) == (order == 0));
        equal_pairs += order == 0;
    }
    CHECK(equal_pairs > 100);
}

TEST_CASE("compare uses only the bits of a value that fit its field") {
    smp::PortInfo a;
    smp::PortInfo b;
    a.LMC = 0b0001;
    b.LMC = 0b1001; // only three of the bits are transmitted
    CHECK(equal(a, b));
    b.LMC = 0b1010;
    CHECK((compare(a, b) < 0));
}

TEST_CASE("differences names the members that differ") {
    std::mt19937_64 random(7);
    const everything a = random_value(random);
    CHECK(differences(a, a).empty());

    everything b = a;
    b.head.number ^= 1;
    b.triples[8] ^= 4;
    b.id = guid{value(a.id) ^ 1};
    b.block[0] ^= 0x80;
    b.pairs[1].small ^= 1;
    b.tail ^= 1u << 24; // not transmitted
    CHECK(differences(a, b) == std::vector<std::string>{"number", "triples[8]", "id", "block[0]", "pairs[1].small"});

    image reserved_bits{};
    write_bits(reserved_bits.data(), 14, 2, 3);
    CHECK(differences(info_of<everything>, reserved_bits.data(), image{}.data()).empty());
}

TEST_CASE("tables can be used in constant expressions") {
    constexpr auto encoded = [] {
        smp::PortInfo info;
        info.LID = lid{0x1234};
        info.portState = PortState::Active;
        info.LMC = 0xff;
        info.clientReregister = true;
        info.linkRoundTripLatency = 0x00abcdef;
        auto out = encode(info);
        put<&smp::PortInfo::linkSpeedExtActive>(out.data(), LinkSpeedExt::NDR);
        return out;
    }();
    STATIC_REQUIRE(encoded[16] == 0x12);
    STATIC_REQUIRE(encoded[32] == 0x04);
    STATIC_REQUIRE(encoded[34] == 0x07);
    STATIC_REQUIRE(encoded[51] == 0x80);
    STATIC_REQUIRE(encoded[56] == 0x00);
    STATIC_REQUIRE(encoded[57] == 0xab);
    STATIC_REQUIRE(encoded[62] == 0x80);
    STATIC_REQUIRE(get<&smp::PortInfo::LID>(encoded.data()) == lid{0x1234});
    STATIC_REQUIRE(decode<smp::PortInfo>(encoded).LMC == 7);
    STATIC_REQUIRE((compare(decode<smp::PortInfo>(encoded), smp::PortInfo{}) > 0));
    STATIC_REQUIRE(offset_of<&smp::Format::data> == 64);
    STATIC_REQUIRE(offset_of<&smp::FormatDirected::initialPath> == 128);
    STATIC_REQUIRE(wire_size<smp::FormatDirected> == 256);
}

TEST_CASE("rows of an inlined header are rows of the format without a prefix") {
    const auto rows = info_of<everything>.rows;
    REQUIRE(rows.size() == 5 + 12);
    CHECK(rows[1].name == "number");
    CHECK(rows[1].off == 3);
    CHECK(rows[6].name == "triples");
    CHECK(rows[6].count == 9);
    CHECK(rows[6].width == 3);
}

TEST_CASE("a GID is 16 bytes, and its halves are numbers") {
    const gid g(0xfe80000000000000, guid{0x0002c90300a0b1c2});
    CHECK(g.bytes[0] == 0xfe);
    CHECK(g.bytes[8] == 0x00);
    CHECK(g.bytes[15] == 0xc2);
    CHECK(g.prefix() == 0xfe80000000000000);
    CHECK(g.interface_id() == guid{0x0002c90300a0b1c2});
    CHECK(info_of<everything>.rows[15].how == show::gid);
}

TEST_CASE("the default format of a guid row is GUID and of a lid row a decimal number") {
    CHECK(info_of<everything>.rows[7].how == show::guid);
    CHECK(info_of<smp::PortInfo>.rows[2].name == "LID");
    CHECK(info_of<smp::PortInfo>.rows[2].how == show::dec);
}

TEST_CASE("a default-constructed SMP has valid header values") {
    const auto routed = encode(smp::Format{});
    CHECK(routed[0] == 1); // base version, class, class version
    CHECK(routed[1] == 0x01);
    CHECK(routed[2] == 1);
    const auto directed = encode(smp::FormatDirected{});
    CHECK(directed[1] == 0x81);
    CHECK(load_be<u32>(directed.data() + 32) == 0xffffffff); // both LIDs permissive
    CHECK(std::all_of(directed.begin() + 36, directed.end(), [](u8 byte) { return byte == 0; }));
}

TEST_CASE("the D bit is separate from the 15 status bits") {
    auto mad = encode(smp::FormatDirected{});
    put<&MADHeaderDirected::status>(mad.data(), 0xffff);
    CHECK_FALSE(get<&MADHeaderDirected::D>(mad.data()));
    put<&MADHeaderDirected::D>(mad.data(), true);
    put<&MADHeaderDirected::status>(mad.data(), 0x001c);
    CHECK(get<&MADHeaderDirected::D>(mad.data()));
    CHECK(get<&MADHeaderDirected::status>(mad.data()) == 0x1c);
    CHECK(get<&MADHeader::status>(mad.data()) == 0x801c);
}

TEST_CASE("load_be and store_be are big-endian at any address") {
    u8 raw[] = {0xee, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xee};
    CHECK(load_be<u8>(raw + 1) == 0x01);
    CHECK(load_be<u16>(raw + 1) == 0x0123);
    CHECK(load_be<u32>(raw + 1) == 0x01234567);
    CHECK(load_be<u64>(raw + 1) == 0x0123456789abcdef);
    store_be<u32>(raw + 3, 0xa0b0c0d0);
    const u8 expected[] = {0xee, 0x01, 0x23, 0xa0, 0xb0, 0xc0, 0xd0, 0xcd, 0xef, 0xee};
    CHECK(std::equal(std::begin(raw), std::end(raw), expected));
}
