// SPDX-License-Identifier: MIT
// iba_wrong_tables.cpp - tables that compile; with COMAD_WRONG=n, one of them breaks rule n. No code here uses the
// wrong table (except for rule 18): its description must fail to compile.
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

#ifndef COMAD_WRONG
#define COMAD_WRONG 0
#endif

using namespace comad;
using namespace comad::iba;

struct inner {
    u16 number;
    u16 without_row;
};

struct example {
    u8 byte;
    u16 number;
    bool flag;
    NodeType type;
    std::array<u8, 4> list;
    inner nested;
    int with_sign;
    u64 rest;
};

enum class unnamed : u8 {};
struct example_of_unnamed {
    unnamed value;
};

template <> struct comad::iba::described<inner> : std::true_type {
    static constexpr auto layout = describe<2>("Inner", "0", field<&inner::number, at{0}, 16>{"number"});
};

#if COMAD_WRONG == 18 // only a use can show this: the member has no row
constexpr unsigned where = offset_of<&inner::without_row>;
#endif

// clang-format off
template <> struct comad::iba::described<example> : std::true_type {
    using T = example;
    static constexpr auto layout = describe<8>("Example", "0",
#if COMAD_WRONG == 0
        field<&T::byte,   at{0},    8>{"byte"},
        field<&T::flag,   at{1, 0}, 1>{"flag"},
        reserved<&T::rest, at{1, 1}, 7>{},
        field<&T::nested, at{2},   16>{"nested"},
        field<&T::list,   at{4},   32>{"list"}
#elif COMAD_WRONG == 1 // rows overlap
        field<&T::byte,   at{0},    8>{"byte"},
        field<&T::number, at{0, 4}, 12>{"number"},
        reserved<&T::rest, at{2},   48>{}
#elif COMAD_WRONG == 2 // rows leave a gap in the middle
        field<&T::byte,   at{0},    8>{"byte"},
        field<&T::number, at{1, 1}, 15>{"number"},
        reserved<&T::rest, at{3},   40>{}
#elif COMAD_WRONG == 3 // rows leave a gap at the end
        field<&T::number, at{0},   16>{"number"},
        reserved<&T::rest, at{2},   40>{}
#elif COMAD_WRONG == 4 // rows leave a gap at the start
        field<&T::byte,   at{1},    8>{"byte"},
        reserved<&T::rest, at{2},   48>{}
#elif COMAD_WRONG == 5 // a row lies outside the record
        reserved<&T::rest, at{0},   64>{},
        field<&T::number, at{8},   16>{"number"}
#elif COMAD_WRONG == 6 // rows are not in wire order
        field<&T::number, at{1},   16>{"number"},
        field<&T::byte,   at{0},    8>{"byte"},
        reserved<&T::rest, at{3},   40>{}
#elif COMAD_WRONG == 7 // a field straddles its 32-bit word
        reserved<&T::rest, at{0},   24>{},
        field<&T::number, at{3},   16>{"number"},
        reserved<&T::rest, at{5},   24>{}
#elif COMAD_WRONG == 8 // a reserved range straddles a word, and is not whole bytes
        reserved<&T::rest, at{0},   28>{},
        reserved<&T::rest, at{3, 4}, 8>{},
        reserved<&T::rest, at{4, 4}, 28>{}
#elif COMAD_WRONG == 9 // the member type is narrower than the wire field
        field<&T::byte,   at{0},   16>{"byte"},
        reserved<&T::rest, at{2},   48>{}
#elif COMAD_WRONG == 10 // a bool is narrower than the field: it holds one bit
        field<&T::flag,   at{0},    2>{"flag"},
        reserved<&T::rest, at{0, 2}, 6>{},
        reserved<&T::rest, at{1},   56>{}
#elif COMAD_WRONG == 11 // the elements of an array are narrower than the field
        field<&T::list,   at{0},   64>{"list"}
#elif COMAD_WRONG == 12 // an enumeration is narrower than the field
        field<&T::type,   at{0},    9>{"type"},
        reserved<&T::rest, at{1, 1}, 7>{},
        reserved<&T::rest, at{2},   48>{}
#elif COMAD_WRONG == 13 // the field size is not a multiple of the number of elements
        field<&T::list,   at{0},   30>{"list"},
        reserved<&T::rest, at{3, 6}, 2>{},
        reserved<&T::rest, at{4},   32>{}
#elif COMAD_WRONG == 14 // the nested structure has another size
        field<&T::nested, at{0},   32>{"nested"},
        reserved<&T::rest, at{4},   32>{}
#elif COMAD_WRONG == 15 // the member type has no wire format
        field<&T::with_sign, at{0}, 32>{"with_sign"},
        reserved<&T::rest, at{4},   32>{}
#elif COMAD_WRONG == 16 // displayed as text, but not bytes
        field<&T::number, at{0},   16>{"number", show::text},
        reserved<&T::rest, at{2},   48>{}
#else
        reserved<&T::rest, at{0},   64>{}
#endif
    );
};

template <> struct comad::iba::described<example_of_unnamed> : std::true_type {
    using T = example_of_unnamed;
    static constexpr auto layout = describe<1>("Unnamed", "0",
#if COMAD_WRONG == 17 // displayed by name, but the values have no names
        field<&T::value, at{0}, 8>{"value", show::name}
#else
        field<&T::value, at{0}, 8>{"value"}
#endif
    );
};
// clang-format on
