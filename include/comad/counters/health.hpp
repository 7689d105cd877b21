// SPDX-License-Identifier: MIT
// health.hpp - what two sweeps say of the health of ports, by rules. Knows no file, no MAD and no text form.
#pragma once
#include <comad/counters/port_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace comad::counters {

enum class severity : u8 { ok, warning, error, critical };
/// `ok`, `warning`, `error`, `critical`.
std::string_view name_of(severity) noexcept;

/// What is too much, and how bad: a measured value is as bad as the worst limit that it exceeds. One that it equals is kept.
struct limits {
    std::optional<double> warning, error, critical;

    severity judge(double measured) const noexcept;
    /// The limit of that severity. Precondition: judge() gave it, and it is not ok.
    double exceeded(severity) const noexcept;
    bool empty() const noexcept { return !warning && !error && !critical; }
    friend bool operator==(const limits&, const limits&) = default;
};

/// How much a counter may grow in a time. `per` is a unit, not a duration: 2 in a minute are 120 an hour.
struct growth_rule {
    mad::duration per = std::chrono::hours(1);
    limits most;
    friend bool operator==(const growth_rule&, const growth_rule&) = default;
};

/// docs/reference/health-rules.md says where each comes from.
struct health_rules {
    /// Of each counter, by index.
    std::array<growth_rule, counter_count> growth{};
    /// For each bit that was signalled meanwhile: symbol errors, and blocks that error correction could not mend. Of the bits
    /// that were wrong at the end of the link there were at least so many.
    limits bit_errors;
    /// For each bit likewise: symbols or blocks that error correction had to mend.
    limits raw_bit_errors;
    /// A link with fewer lanes, or slower ones, than both its ends support.
    severity width = severity::ok, speed = severity::ok;
    /// A narrow counter that stood at its end already in the first sweep: nobody knows what happened since.
    severity pegged = severity::ok;

    growth_rule& of(counter c) noexcept { return growth[static_cast<unsigned>(c)]; }
    const growth_rule& of(counter c) const noexcept { return growth[static_cast<unsigned>(c)]; }
    friend bool operator==(const health_rules&, const health_rules&) = default;
};

health_rules default_rules();

/// Something that is not as it should be.
struct health_finding {
    enum class rule : u8 { growth, bit_errors, raw_bit_errors, width, speed, pegged };

    severity how_bad;
    discovery::port_ref where;
    rule why;
    /// As the rule counts: of growth in `per`, of bit errors for each bit, lanes, signalled bits of a lane in a second, the number
    /// at which the counter stands.
    double measured, limit;
    std::string_view counter{}; ///< its name in the structures of the IBA; none of width and speed
    u64 counted = 0;            ///< so many more between the two sweeps
    mad::duration between{}, per{};
    bool is_at_least = false; ///< there may have been more: the counter was cleared, or stands at its end
    /// Of width and speed: `limit` is what is active at the other end, not what both ends support.
    bool is_of_other_end = false;
    friend bool operator==(const health_finding&, const health_finding&) = default;
};

/// `growth`, `bit_errors`, `raw_bit_errors`, `width`, `speed`, `pegged`.
std::string_view name_of(health_finding::rule) noexcept;

/// What judge() can make use of, for sweep_options::details.
port_detail_set health_details() noexcept;

/// Judges every port that was read in both sweeps, in their order; of one port, by counter, then its error correction and its
/// link. A port that is not wrong has no finding.
/// Precondition: both are of the same sweeper, `before` the earlier one, `subnet` the sweeper's.
std::vector<health_finding> judge(const health_rules&, const discovery::subnet& subnet, const sweep& before,
                                  const sweep& after);

} // namespace comad::counters
