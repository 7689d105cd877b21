// SPDX-License-Identifier: MIT
// samples.hpp - sampling of counters (IBA 16.1.3.2 to 16.1.3.4, 16.1.4.10).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Control --------------------------------------------------------------------------------------------------------

namespace pm {

/// Starts sampling of counters over an interval. The attribute modifier is the number of the sampling mechanism.
struct PortSamplesCtl {
    u8 opCode = 0;     ///< OpCode, for counters that count one OpCode
    u8 portSelect = 0; ///< port number; 255: all ports, if ClassPortInfo allows that
    u8 tick = 0;       ///< unit of sampleStart and sampleInterval, encoded (IBA 16.1.3.2)
    u8 reserved_24 = 0;
    u8 counterWidth = 0; ///< 3 bits: 16 + 4 * n bits
    u8 reserved_32 = 0;
    u8 counterMask0 = 0; ///< 3 bits: what counter 0 can sample; all masks have this format
    u8 counterMask1 = 0; ///< 3 bits
    u8 counterMask2 = 0; ///< 3 bits
    u8 counterMask3 = 0; ///< 3 bits
    u8 counterMask4 = 0; ///< 3 bits
    u8 counterMask5 = 0; ///< 3 bits
    u8 counterMask6 = 0; ///< 3 bits
    u8 counterMask7 = 0; ///< 3 bits
    u8 counterMask8 = 0; ///< 3 bits
    u8 counterMask9 = 0; ///< 3 bits
    u8 reserved_64 = 0;
    u8 counterMask10 = 0;    ///< 3 bits
    u8 counterMask11 = 0;    ///< 3 bits
    u8 counterMask12 = 0;    ///< 3 bits
    u8 counterMask13 = 0;    ///< 3 bits
    u8 counterMask14 = 0;    ///< 3 bits
    u8 sampleMechanisms = 0; ///< number of sampling mechanisms of the port, minus one
    u8 reserved_88 = 0;
    u8 sampleStatus = 0;    ///< 2 bits: 0 done, 1 start delayed, 2 running
    u64 optionMask = 0;     ///< set of the optional counters that can be sampled
    u64 vendorMask = 0;     ///< set of the vendor's counters that can be sampled
    u32 sampleStart = 0;    ///< ticks from the Set to the start
    u32 sampleInterval = 0; ///< ticks
    u16 tag = 0;            ///< number chosen by the program that starts sampling; the results contain it, too
    u16 counterSelect0 = 0; ///< what counter 0 samples; all selects have this format
    u16 counterSelect1 = 0;
    u16 counterSelect2 = 0;
    u16 counterSelect3 = 0;
    u16 counterSelect4 = 0;
    u16 counterSelect5 = 0;
    u16 counterSelect6 = 0;
    u16 counterSelect7 = 0;
    u16 counterSelect8 = 0;
    u16 counterSelect9 = 0;
    u16 counterSelect10 = 0;
    u16 counterSelect11 = 0;
    u16 counterSelect12 = 0;
    u16 counterSelect13 = 0;
    u16 counterSelect14 = 0;
    u32 reserved_544 = 0;
    u64 samplesOnlyOptionMask = 0;
    std::array<u8, 112> reserved_640{};

    friend bool operator==(const PortSamplesCtl&, const PortSamplesCtl&) = default;
};

} // namespace pm

template <> struct described<pm::PortSamplesCtl> : std::true_type {
    using T = pm::PortSamplesCtl;
    // clang-format off
    static constexpr auto layout = describe<192>("PMPortSamplesCtl", "16.1.3.2",
        field<&T::opCode,                at{0},       8>{"opCode"},
        field<&T::portSelect,            at{1},       8>{"portSelect"},
        field<&T::tick,                  at{2},       8>{"tick"},
        reserved<&T::reserved_24,        at{3, 0},    5>{},
        field<&T::counterWidth,          at{3, 5},    3>{"counterWidth"},
        reserved<&T::reserved_32,        at{4, 0},    2>{},
        field<&T::counterMask0,          at{4, 2},    3>{"counterMask0"},
        field<&T::counterMask1,          at{4, 5},    3>{"counterMask1"},
        field<&T::counterMask2,          at{5, 0},    3>{"counterMask2"},
        field<&T::counterMask3,          at{5, 3},    3>{"counterMask3"},
        field<&T::counterMask4,          at{5, 6},    3>{"counterMask4"},
        field<&T::counterMask5,          at{6, 1},    3>{"counterMask5"},
        field<&T::counterMask6,          at{6, 4},    3>{"counterMask6"},
        field<&T::counterMask7,          at{6, 7},    3>{"counterMask7"},
        field<&T::counterMask8,          at{7, 2},    3>{"counterMask8"},
        field<&T::counterMask9,          at{7, 5},    3>{"counterMask9"},
        reserved<&T::reserved_64,        at{8, 0},    1>{},
        field<&T::counterMask10,         at{8, 1},    3>{"counterMask10"},
        field<&T::counterMask11,         at{8, 4},    3>{"counterMask11"},
        field<&T::counterMask12,         at{8, 7},    3>{"counterMask12"},
        field<&T::counterMask13,         at{9, 2},    3>{"counterMask13"},
        field<&T::counterMask14,         at{9, 5},    3>{"counterMask14"},
        field<&T::sampleMechanisms,      at{10},      8>{"sampleMechanisms"},
        reserved<&T::reserved_88,        at{11, 0},   6>{},
        field<&T::sampleStatus,          at{11, 6},   2>{"sampleStatus"},
        field<&T::optionMask,            at{12},     64>{"optionMask"},
        field<&T::vendorMask,            at{20},     64>{"vendorMask"},
        field<&T::sampleStart,           at{28},     32>{"sampleStart"},
        field<&T::sampleInterval,        at{32},     32>{"sampleInterval"},
        field<&T::tag,                   at{36},     16>{"tag"},
        field<&T::counterSelect0,        at{38},     16>{"counterSelect0", show::hex},
        field<&T::counterSelect1,        at{40},     16>{"counterSelect1", show::hex},
        field<&T::counterSelect2,        at{42},     16>{"counterSelect2", show::hex},
        field<&T::counterSelect3,        at{44},     16>{"counterSelect3", show::hex},
        field<&T::counterSelect4,        at{46},     16>{"counterSelect4", show::hex},
        field<&T::counterSelect5,        at{48},     16>{"counterSelect5", show::hex},
        field<&T::counterSelect6,        at{50},     16>{"counterSelect6", show::hex},
        field<&T::counterSelect7,        at{52},     16>{"counterSelect7", show::hex},
        field<&T::counterSelect8,        at{54},     16>{"counterSelect8", show::hex},
        field<&T::counterSelect9,        at{56},     16>{"counterSelect9", show::hex},
        field<&T::counterSelect10,       at{58},     16>{"counterSelect10", show::hex},
        field<&T::counterSelect11,       at{60},     16>{"counterSelect11", show::hex},
        field<&T::counterSelect12,       at{62},     16>{"counterSelect12", show::hex},
        field<&T::counterSelect13,       at{64},     16>{"counterSelect13", show::hex},
        field<&T::counterSelect14,       at{66},     16>{"counterSelect14", show::hex},
        reserved<&T::reserved_544,       at{68},     32>{},
        field<&T::samplesOnlyOptionMask, at{72},     64>{"samplesOnlyOptionMask"},
        reserved<&T::reserved_640,       at{80},    896>{});
    // clang-format on
};
template <>
struct attribute_of<pm::PortSamplesCtl>
    : attribute_traits<0x0010, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

// ---- Results --------------------------------------------------------------------------------------------------------

namespace pm {

/// The results of sampling.
struct PortSamplesRes {
    u16 tag = 0; ///< tag of the PortSamplesCtl
    u16 reserved_16 = 0;
    u8 sampleStatus = 0; ///< 2 bits: as in PortSamplesCtl
    std::array<u32, 15> counter{};

    friend bool operator==(const PortSamplesRes&, const PortSamplesRes&) = default;
};

/// The results of sampling with counters of up to 64 bits.
struct PortSamplesResExt {
    u16 tag = 0; ///< tag of the PortSamplesCtl
    u16 reserved_16 = 0;
    u8 sampleStatus = 0;  ///< 2 bits: as in PortSamplesCtl
    u8 extendedWidth = 0; ///< 2 bits: 1: 48 bits, 2: 64 bits
    u32 reserved_34 = 0;
    std::array<u64, 15> counter{};

    friend bool operator==(const PortSamplesResExt&, const PortSamplesResExt&) = default;
};

} // namespace pm

template <> struct described<pm::PortSamplesRes> : std::true_type {
    using T = pm::PortSamplesRes;
    // clang-format off
    static constexpr auto layout = describe<64>("PMPortSamplesRes", "16.1.3.4",
        field<&T::tag,            at{0},     16>{"tag"},
        reserved<&T::reserved_16, at{2, 0},  14>{},
        field<&T::sampleStatus,   at{3, 6},   2>{"sampleStatus"},
        field<&T::counter,        at{4},    480>{"counter"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortSamplesRes> : attribute_traits<0x0011, in_class<MgmtClass::Performance, 1, Method::Get>> {};

template <> struct described<pm::PortSamplesResExt> : std::true_type {
    using T = pm::PortSamplesResExt;
    // clang-format off
    static constexpr auto layout = describe<128>("PMPortSamplesResExt", "16.1.4.10",
        field<&T::tag,            at{0},     16>{"tag"},
        reserved<&T::reserved_16, at{2, 0},  14>{},
        field<&T::sampleStatus,   at{3, 6},   2>{"sampleStatus"},
        field<&T::extendedWidth,  at{4, 0},   2>{"extendedWidth"},
        reserved<&T::reserved_34, at{4, 2},  30>{},
        field<&T::counter,        at{8},    960>{"counter"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortSamplesResExt>
    : attribute_traits<0x001e, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
