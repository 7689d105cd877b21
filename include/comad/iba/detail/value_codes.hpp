// SPDX-License-Identifier: MIT
// value_codes.hpp - converts codes of the IBA from and to values: times, the LIDs of a port, rates.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace comad::iba {

/// Returns 4.096 us * 2^code: respTimeValue, packetLifeTime, subnetTimeOut, HOQLife and all other times (IBA
/// 13.4.6.2). Codes have 5 or 6 bits. Precondition: code <= 50, because longer times overflow the type.
constexpr std::chrono::nanoseconds time_of_code(unsigned code) noexcept {
    return std::chrono::nanoseconds{std::chrono::nanoseconds::rep{4096} << code};
}
/// Returns the smallest 5-bit code whose time is not shorter; 31 if no code is long enough.
constexpr u8 to_time_code(std::chrono::nanoseconds length) noexcept {
    u8 code = 0;
    while (code < 31 && time_of_code(code) < length) ++code;
    return code;
}

/// A range of LIDs, both ends included.
struct lid_range {
    lid first, last;
    constexpr bool contains(lid l) const noexcept { return value(first) <= value(l) && value(l) <= value(last); }
    friend constexpr bool operator==(const lid_range&, const lid_range&) = default;
};
/// Returns the LIDs of a port with this LMC that has the LID `any`: 2^LMC LIDs, the first of which is a multiple of
/// 2^LMC (IBA 4.1.3). Precondition: LMC <= 7.
constexpr lid_range lids_of(lid any, unsigned LMC) noexcept {
    const unsigned others = (1u << LMC) - 1;
    const unsigned base = value(any) & ~others;
    return {lid{static_cast<u16>(base)}, lid{static_cast<u16>(base + others)}};
}

namespace detail {
/// All rates with their value in 0.1 Gb/s, as in their names, in ascending order.
inline constexpr std::array<std::pair<u32, Rate>, 24> rates{
    {{25, Rate::r2_5},   {50, Rate::r5},     {100, Rate::r10},     {140, Rate::r14},    {200, Rate::r20},
     {250, Rate::r25},   {280, Rate::r28},   {300, Rate::r30},     {400, Rate::r40},    {500, Rate::r50},
     {560, Rate::r56},   {600, Rate::r60},   {800, Rate::r80},     {1000, Rate::r100},  {1120, Rate::r112},
     {1200, Rate::r120}, {1680, Rate::r168}, {2000, Rate::r200},   {3000, Rate::r300},  {4000, Rate::r400},
     {6000, Rate::r600}, {8000, Rate::r800}, {12000, Rate::r1200}, {16000, Rate::r1600}}};
} // namespace detail

/// Returns a path rate or static rate (IBA 15.2.5.16) in bits per second, by its name: `r14`, which an FDR link has
/// four times, is 14 Gb/s although the link transmits 14.0625. 0 for an unknown code. The codes are not in the order
/// of the rates.
constexpr u64 bits_per_second(Rate code) noexcept {
    for (const auto& [tenths, r] : detail::rates)
        if (r == code) return tenths * u64{100'000'000};
    return 0;
}
/// Returns the code of exactly this rate; nullopt if there is no such code.
constexpr std::optional<Rate> to_rate(u64 bits_per_second) noexcept {
    for (const auto& [tenths, code] : detail::rates)
        if (tenths * u64{100'000'000} == bits_per_second) return code;
    return std::nullopt;
}
/// Returns the code of the fastest rate that is not faster than this one; nullopt below 2.5 Gb/s.
constexpr std::optional<Rate> rate_at_most(u64 bits_per_second) noexcept {
    std::optional<Rate> fastest;
    for (const auto& [tenths, code] : detail::rates)
        if (tenths * u64{100'000'000} <= bits_per_second) fastest = code;
    return fastest;
}

} // namespace comad::iba
