// SPDX-License-Identifier: MIT
// health.hpp - rates ports by rules, from the difference between two sweeps. Sends nothing and does not depend on a text format.
//
//     const counters::health_rules rules = counters::read_health_rules("rules.toml");
//     for (const counters::health_finding& f : evaluate(rules, subnet, before, after))
//         fmt::print("{}: {} port {}: {}\n", name_of(f.how_bad), name_of(subnet.nodes[f.where.node]), f.where.port, name_of(f.why));
#pragma once
#include <comad/counters/port_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/text_formatter.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::counters {

enum class severity : u8 { ok, warning, error, critical };
/// `ok`, `warning`, `error`, `critical`.
/// How bad a finding is.
std::string_view name_of(severity) noexcept;

/// Limits of a measured value. A value has the severity of the worst limit that it exceeds; a value equal to a limit does not exceed it.
struct limits {
    std::optional<double> warning, error, critical;

    severity evaluate(double measured) const noexcept;
    /// The limit of that severity. Precondition: evaluate() returned the severity, and it is not ok.
    double exceeded(severity) const noexcept;
    bool empty() const noexcept { return !warning && !error && !critical; }
    friend bool operator==(const limits&, const limits&) = default;
};

/// How much a counter may grow in a time. `per` is a unit, not a duration: 2 per minute are 120 per hour.
struct growth_rule {
    mad::duration per = std::chrono::hours(1);
    limits most;
    friend bool operator==(const growth_rule&, const growth_rule&) = default;
};

/// The rules. docs/reference/health-rules.md explains the default of each.
struct health_rules {
    /// Growth of each counter, by index.
    std::array<growth_rule, counter_count> growth{};
    /// Bit errors per bit that the link carried between the sweeps: symbol errors, and blocks that error correction could not repair.
    /// The measured value is a lower bound of the bits that were wrong at the end of the link.
    limits bit_errors;
    /// The same for symbols or blocks that error correction repaired.
    limits raw_bit_errors;
    /// Utilization of each direction of a link, and congestion of a port, as shares (link_use). No limits by default: load is not a fault.
    limits utilization, congestion;
    /// Severity of a link with fewer lanes, or slower ones, than both of its ends support.
    severity width = severity::ok, speed = severity::ok;
    /// Severity of a counter of PortCounters that was saturated in both sweeps: it is unknown what it has counted since.
    severity pegged = severity::ok;

    growth_rule& of(counter c) noexcept { return growth[static_cast<unsigned>(c)]; }
    const growth_rule& of(counter c) const noexcept { return growth[static_cast<unsigned>(c)]; }
    friend bool operator==(const health_rules&, const health_rules&) = default;
};

/// Returns the default rules; docs/reference/health-rules.md explains them.
health_rules default_rules();

/// Reads rules from a TOML file; docs/reference/health-rules.md describes the format. The result is `otherwise`, with the rules of
/// the file in place of its own: a counter, or the limits of bit errors, that the file names has only the limits of the file.
/// Errors: throws std::runtime_error with one line (file, line, what is wrong, what is expected) if the file cannot be read or is wrong.
health_rules read_health_rules(const std::string& file, health_rules otherwise = default_rules());

/// A port that breaks a rule.
struct health_finding {
    enum class rule : u8 { growth, bit_errors, raw_bit_errors, width, speed, pegged, utilization, congestion };

    severity how_bad;
    discovery::port_ref where;
    rule why;
    /// The measured value and the limit, in the rule's unit: growth per `per`, errors per bit, lanes, bits per second of a lane, the
    /// value at which the counter is saturated, or a share.
    double measured, limit;
    std::string_view counter{}; ///< the counter's IBA name; empty for width and speed
    u64 counted = 0;            ///< the increase between the two sweeps
    mad::duration between{}, per{};
    bool is_at_least = false; ///< `measured` is a lower bound: the counter was cleared, or is saturated
    /// For width and speed: `limit` is the active value at the opposite end of the link, not what both ends support.
    bool is_of_other_end = false;
    friend bool operator==(const health_finding&, const health_finding&) = default;
};

/// `growth`, `bit_errors`, `raw_bit_errors`, `width`, `speed`, `pegged`, `utilization`, `congestion`.
std::string_view name_of(health_finding::rule) noexcept;

/// The attributes that evaluate() uses, for sweep_options::details. Limits of congestion also need sweep_options::reads_ticks.
port_detail_set health_details() noexcept;

/// Returns the findings of all ports that both sweeps read, in the order of the subnet; of one port, by counter, then its error
/// correction and its link. A port that breaks no rule has no finding.
/// Precondition: both sweeps are of the same sweeper, `before` is the earlier one, and `subnet` is the sweeper's.
std::vector<health_finding> evaluate(const health_rules&, const discovery::subnet& subnet, const sweep& before,
                                     const sweep& after);

/// The findings at both ends of one cable.
struct cable_findings {
    /// The ends, in the order of the subnet. If the neighbor of `a` is unknown, `b` is invalid and all findings are at `a`.
    discovery::port_ref a, b;
    severity how_bad = severity::ok;        ///< of the first finding
    std::vector<health_finding> findings{}; ///< worst first: by severity, then by excess_of()

    friend bool operator==(const cable_findings&, const cable_findings&) = default;
};

/// Returns how many times a measured value exceeds its limit: 5 if 50 were counted and 10 are allowed, 4 if one of four lanes is active.
/// Infinity if the limit is 0, and 1 for a saturated counter.
double excess_of(const health_finding&) noexcept;

/// Returns the findings of each cable, worst cable first: by the severity of its first finding, by excess_of() this finding, by the
/// number of findings, and in the order of the subnet. A pure function of findings: it takes those of evaluate(), or any others at ports
/// of the subnet.
std::vector<cable_findings> by_cable(const discovery::subnet&, std::vector<health_finding>);

} // namespace comad::counters

/// Formats the name; takes the format specification of a string.
template <> struct fmt::formatter<comad::counters::severity> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::counters::severity value, format_context& context) const {
        return format_text(name_of(value), context);
    }
};
/// Formats the name; takes the format specification of a string.
template <> struct fmt::formatter<comad::counters::health_finding::rule> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::counters::health_finding::rule value, format_context& context) const {
        return format_text(name_of(value), context);
    }
};
