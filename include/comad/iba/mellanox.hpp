// SPDX-License-Identifier: MIT
// mellanox.hpp - what Mellanox' switches let read and write in their vendor class, 0x0a (infiniband-diags' vendstat.c). Knows
// no device.
#pragma once
#include <comad/iba/attribute.hpp>
#include <comad/iba/wire.hpp>

#include <array>

namespace comad::iba {

namespace vend {

inline constexpr MgmtClass mellanox_class{0x0a};

/// A word of a device's configuration space.
struct MlxConfigRecord {
    u32 address = 0;
    u32 data = 0;
    u32 mask = 0; ///< bits that count

    friend bool operator==(const MlxConfigRecord&, const MlxConfigRecord&) = default;
};

/// Up to 18 words of a device's configuration space. The attribute modifier says how many: config_space_modifier().
struct MlxConfigSpace {
    u64 reserved_0 = 0;
    std::array<MlxConfigRecord, 18> record{};

    friend bool operator==(const MlxConfigSpace&, const MlxConfigSpace&) = default;
};

constexpr u32 config_space_modifier(unsigned records) noexcept { return 2u << 22 | records << 16; }

/// Groups of counters that a port has. The attribute modifier is the port.
struct MlxCounterGroupInfo {
    u64 reserved_0 = 0;
    std::array<u8, 3> reserved_64{};
    u8 groupCount = 0;
    std::array<u32, 2> groupMask{};

    friend bool operator==(const MlxCounterGroupInfo&, const MlxCounterGroupInfo&) = default;
};

/// Which counters the two groups of a port count. The attribute modifier is the port.
struct MlxCounterGroupConfig {
    u64 reserved_0 = 0;
    u32 reserved_64 = 0;
    std::array<u32, 2> groupSelect{}; ///< 8 bits each

    friend bool operator==(const MlxCounterGroupConfig&, const MlxCounterGroupConfig&) = default;
};

} // namespace vend

template <> struct described<vend::MlxConfigRecord> : std::true_type {
    using T = vend::MlxConfigRecord;
    // clang-format off
    static constexpr auto layout = describe<12>("MlxConfigRecord", "vendor attribute 0x50",
        field<&T::address, at{0}, 32>{"address", show::hex},
        field<&T::data,    at{4}, 32>{"data", show::hex},
        field<&T::mask,    at{8}, 32>{"mask", show::hex});
    // clang-format on
};

template <> struct described<vend::MlxConfigSpace> : std::true_type {
    using T = vend::MlxConfigSpace;
    // clang-format off
    static constexpr auto layout = describe<224>("MlxConfigSpace", "vendor attribute 0x50",
        reserved<&T::reserved_0, at{0},   64>{},
        field<&T::record,        at{8}, 1728>{"record"});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxConfigSpace>
    : attribute_traits<0x0050, in_class<vend::mellanox_class, 1, Method::Get, Method::Set>> {};

template <> struct described<vend::MlxCounterGroupInfo> : std::true_type {
    using T = vend::MlxCounterGroupInfo;
    // clang-format off
    static constexpr auto layout = describe<20>("MlxCounterGroupInfo", "vendor attribute 0x90",
        reserved<&T::reserved_0,  at{0},  64>{},
        reserved<&T::reserved_64, at{8},  24>{},
        field<&T::groupCount,     at{11},  8>{"groupCount"},
        field<&T::groupMask,      at{12}, 64>{"groupMask", show::hex});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxCounterGroupInfo>
    : attribute_traits<0x0090, in_class<vend::mellanox_class, 1, Method::Get>> {};

template <> struct described<vend::MlxCounterGroupConfig> : std::true_type {
    using T = vend::MlxCounterGroupConfig;
    // clang-format off
    static constexpr auto layout = describe<20>("MlxCounterGroupConfig", "vendor attribute 0x91",
        reserved<&T::reserved_0,  at{0},  64>{},
        reserved<&T::reserved_64, at{8},  32>{},
        field<&T::groupSelect,    at{12}, 64>{"groupSelect"});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxCounterGroupConfig>
    : attribute_traits<0x0091, in_class<vend::mellanox_class, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
