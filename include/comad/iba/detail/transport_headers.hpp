// SPDX-License-Identifier: MIT
// transport_headers.hpp - the headers before the payload of a packet (IBA chapters 5, 7, 8 and 9). packet.hpp parses
// packets and computes their checksums.
#pragma once
#include <comad/iba/detail/wire.hpp>

namespace comad::iba {

// ---- Local route and flow control -----------------------------------------------------------------------------------

namespace hdr {

/// Local route header: the first header of every packet inside a subnet.
struct LRH {
    u8 VL = 0;   ///< 4 bits, virtual lane
    u8 LVer = 0; ///< 4 bits, link version: 0
    u8 SL = 0;   ///< 4 bits, service level
    u8 reserved_12 = 0;
    u8 LNH = 0; ///< 2 bits, next header: 0 raw, 1 GRH without IBA transport, 2 BTH, 3 GRH
    lid DLID{};
    u8 reserved_32 = 0;
    u16 pktLen = 0; ///< 11 bits: 4-byte words from the start of this header to the last word before the VCRC
    lid SLID{};

    friend bool operator==(const LRH&, const LRH&) = default;
};

/// Raw header: for packets that carry another protocol (LRH.LNH 0).
struct RWH {
    u16 reserved_0 = 0;
    u16 etherType = 0; ///< the protocol, as an Ethernet type

    friend bool operator==(const RWH&, const RWH&) = default;
};

/// Flow control packet: the credits of one virtual lane between the two ends of a link. A block is 64 bytes.
struct FlowControl {
    u8 op = 0;     ///< 4 bits: 0 normal, 1 initialization
    u16 FCTBS = 0; ///< 12 bits: blocks sent on the virtual lane since initialization
    u8 VL = 0;     ///< 4 bits
    u16 FCCL = 0;  ///< 12 bits: value of FCTBS up to which the receiver accepts blocks

    friend bool operator==(const FlowControl&, const FlowControl&) = default;
};

} // namespace hdr

template <> struct described<hdr::LRH> : std::true_type {
    using T = hdr::LRH;
    // clang-format off
    static constexpr auto layout = describe<8>("HdrLRH", "7.7",
        field<&T::VL,             at{0, 0},  4>{"VL"},
        field<&T::LVer,           at{0, 4},  4>{"LVer"},
        field<&T::SL,             at{1, 0},  4>{"SL"},
        reserved<&T::reserved_12, at{1, 4},  2>{},
        field<&T::LNH,            at{1, 6},  2>{"LNH"},
        field<&T::DLID,           at{2},    16>{"DLID"},
        reserved<&T::reserved_32, at{4, 0},  5>{},
        field<&T::pktLen,         at{4, 5}, 11>{"pktLen"},
        field<&T::SLID,           at{6},    16>{"SLID"});
    // clang-format on
};

template <> struct described<hdr::RWH> : std::true_type {
    using T = hdr::RWH;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrRWH", "5.3",
        reserved<&T::reserved_0, at{0}, 16>{},
        field<&T::etherType,     at{2}, 16>{"etherType"});
    // clang-format on
};

template <> struct described<hdr::FlowControl> : std::true_type {
    using T = hdr::FlowControl;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrFlowControl", "7.9.4",
        field<&T::op,    at{0, 0},  4>{"op"},
        field<&T::FCTBS, at{0, 4}, 12>{"FCTBS"},
        field<&T::VL,    at{2, 0},  4>{"VL"},
        field<&T::FCCL,  at{2, 4}, 12>{"FCCL"});
    // clang-format on
};

// ---- Global route ---------------------------------------------------------------------------------------------------

namespace hdr {

/// Global route header: an IPv6 header (LRH.LNH 1 or 3).
struct GRH {
    u8 IPVer = 6; ///< 4 bits
    u8 TClass = 0;
    u32 flowLabel = 0; ///< 20 bits
    u16 payLen = 0;    ///< bytes after this header, including the ICRC
    u8 nxtHdr = 0x1b;  ///< 0x1b: an IBA transport header follows
    u8 hopLmt = 0;     ///< number of routers that may still forward the packet
    gid SGID;
    gid DGID;

    friend bool operator==(const GRH&, const GRH&) = default;
};

} // namespace hdr

template <> struct described<hdr::GRH> : std::true_type {
    using T = hdr::GRH;
    // clang-format off
    static constexpr auto layout = describe<40>("HdrGRH", "8.3",
        field<&T::IPVer,     at{0, 0},   4>{"IPVer"},
        field<&T::TClass,    at{0, 4},   8>{"TClass"},
        field<&T::flowLabel, at{1, 4},  20>{"flowLabel"},
        field<&T::payLen,    at{4},     16>{"payLen"},
        field<&T::nxtHdr,    at{6},      8>{"nxtHdr"},
        field<&T::hopLmt,    at{7},      8>{"hopLmt"},
        field<&T::SGID,      at{8},    128>{"SGID"},
        field<&T::DGID,      at{24},   128>{"DGID"});
    // clang-format on
};

// ---- Base transport -------------------------------------------------------------------------------------------------

namespace hdr {

/// Base transport header. Service and function are together the OpCode, which determines the extended headers that
/// follow.
struct BTH {
    u8 service = 0;      ///< 3 bits: 0 RC, 1 UC, 2 RD, 3 UD, 4 CNP, 5 XRC
    u8 function = 0;     ///< 5 bits: part of the packet in a send, an RDMA operation, and so on
    bool SE = false;     ///< solicited event
    bool migReq = false; ///< migration state
    u8 padCnt = 0;       ///< 2 bits: number of bytes that pad the payload to a word
    u8 TVer = 0;         ///< 4 bits, transport version: 0
    u16 PKey = 0;
    u8 reserved_32 = 0; ///< FECN and BECN are the upper two bits (IBA A10)
    u32 destQP = 0;     ///< 24 bits
    bool ackReq = false;
    u8 reserved_65 = 0;
    u32 PSN = 0; ///< 24 bits, packet sequence number

    friend bool operator==(const BTH&, const BTH&) = default;
};

} // namespace hdr

template <> struct described<hdr::BTH> : std::true_type {
    using T = hdr::BTH;
    // clang-format off
    static constexpr auto layout = describe<12>("HdrBTH", "9.2",
        field<&T::service,        at{0, 0},  3>{"service"},
        field<&T::function,       at{0, 3},  5>{"function"},
        field<&T::SE,             at{1, 0},  1>{"SE"},
        field<&T::migReq,         at{1, 1},  1>{"migReq"},
        field<&T::padCnt,         at{1, 2},  2>{"padCnt"},
        field<&T::TVer,           at{1, 4},  4>{"TVer"},
        field<&T::PKey,           at{2},    16>{"PKey", show::hex},
        reserved<&T::reserved_32, at{4},     8>{},
        field<&T::destQP,         at{5},    24>{"destQP"},
        field<&T::ackReq,         at{8, 0},  1>{"ackReq"},
        reserved<&T::reserved_65, at{8, 1},  7>{},
        field<&T::PSN,            at{9},    24>{"PSN"});
    // clang-format on
};

// ---- Extended transport ---------------------------------------------------------------------------------------------

namespace hdr {

/// Reliable datagram extended transport header.
struct RDETH {
    u8 reserved_0 = 0;
    u32 EEC = 0; ///< 24 bits, end-to-end context

    friend bool operator==(const RDETH&, const RDETH&) = default;
};

/// Datagram extended transport header: in every packet with a MAD.
struct DETH {
    u32 QKey = 0; ///< 0x80010000 for QP1
    u8 reserved_32 = 0;
    u32 srcQP = 0; ///< 24 bits

    friend bool operator==(const DETH&, const DETH&) = default;
};

/// RDMA extended transport header.
struct RETH {
    u64 VA = 0; ///< virtual address at the responder
    u32 RKey = 0;
    u32 DMALen = 0; ///< bytes

    friend bool operator==(const RETH&, const RETH&) = default;
};

/// Atomic extended transport header.
struct AtomicETH {
    u64 VA = 0; ///< virtual address at the responder
    u32 RKey = 0;
    u64 swapData = 0; ///< value to swap in or to add
    u64 cmpData = 0;  ///< value that CmpSwap compares

    friend bool operator==(const AtomicETH&, const AtomicETH&) = default;
};

/// ACK extended transport header.
struct AETH {
    u8 syndrome = 0; ///< ACK, RNR NAK or NAK, with credits, timer or code (IBA 9.7.5.2.4)
    u32 MSN = 0;     ///< 24 bits, message sequence number

    friend bool operator==(const AETH&, const AETH&) = default;
};

/// Atomic acknowledge extended transport header.
struct AtomicAckETH {
    u64 origRData = 0; ///< value at the address before the operation

    friend bool operator==(const AtomicAckETH&, const AtomicAckETH&) = default;
};

/// Immediate data, for the receiver's completion.
struct ImmDt {
    u32 immediateData = 0;

    friend bool operator==(const ImmDt&, const ImmDt&) = default;
};

/// Invalidate extended transport header.
struct IETH {
    u32 RKey = 0;

    friend bool operator==(const IETH&, const IETH&) = default;
};

} // namespace hdr

template <> struct described<hdr::RDETH> : std::true_type {
    using T = hdr::RDETH;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrRDETH", "9.3.1",
        reserved<&T::reserved_0, at{0},  8>{},
        field<&T::EEC,           at{1}, 24>{"EEC"});
    // clang-format on
};

template <> struct described<hdr::DETH> : std::true_type {
    using T = hdr::DETH;
    // clang-format off
    static constexpr auto layout = describe<8>("HdrDETH", "9.3.2",
        field<&T::QKey,           at{0}, 32>{"QKey", show::hex},
        reserved<&T::reserved_32, at{4},  8>{},
        field<&T::srcQP,          at{5}, 24>{"srcQP"});
    // clang-format on
};

template <> struct described<hdr::RETH> : std::true_type {
    using T = hdr::RETH;
    // clang-format off
    static constexpr auto layout = describe<16>("HdrRETH", "9.3.3",
        field<&T::VA,     at{0},  64>{"VA"},
        field<&T::RKey,   at{8},  32>{"RKey"},
        field<&T::DMALen, at{12}, 32>{"DMALen"});
    // clang-format on
};

template <> struct described<hdr::AtomicETH> : std::true_type {
    using T = hdr::AtomicETH;
    // clang-format off
    static constexpr auto layout = describe<28>("HdrAtomicETH", "9.3.4",
        field<&T::VA,       at{0},  64>{"VA"},
        field<&T::RKey,     at{8},  32>{"RKey"},
        field<&T::swapData, at{12}, 64>{"swapData"},
        field<&T::cmpData,  at{20}, 64>{"cmpData"});
    // clang-format on
};

template <> struct described<hdr::AETH> : std::true_type {
    using T = hdr::AETH;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrAETH", "9.3.5",
        field<&T::syndrome, at{0},  8>{"syndrome"},
        field<&T::MSN,      at{1}, 24>{"MSN"});
    // clang-format on
};

template <> struct described<hdr::AtomicAckETH> : std::true_type {
    using T = hdr::AtomicAckETH;
    // clang-format off
    static constexpr auto layout = describe<8>("HdrAtomicAckETH", "9.5.3",
        field<&T::origRData, at{0}, 64>{"origRData"});
    // clang-format on
};

template <> struct described<hdr::ImmDt> : std::true_type {
    using T = hdr::ImmDt;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrImmDt", "9.3.6",
        field<&T::immediateData, at{0}, 32>{"immediateData"});
    // clang-format on
};

template <> struct described<hdr::IETH> : std::true_type {
    using T = hdr::IETH;
    // clang-format off
    static constexpr auto layout = describe<4>("HdrIETH", "9.3.7",
        field<&T::RKey, at{0}, 32>{"RKey"});
    // clang-format on
};

} // namespace comad::iba
