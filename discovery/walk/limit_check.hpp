// SPDX-License-Identifier: MIT
// limit_check.hpp - the limits of a discovery: time, memory, nodes and ports.
#pragma once
#include <comad/discovery/walk/discover.hpp>
#include <comad/mad/detail/time.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace comad::discovery {

/// Compares a discovery with its limits, and describes the first one that was reached: the later ones follow from it.
class limit_check {
public:
    /// `end`: when the time is over, if that was decided before. Lifetime: the options must outlive it.
    limit_check(const discover_options& options, std::optional<mad::time_point> end) : options_(options), end_(end) {}

    /// From the first call on, max_time counts.
    void start_clock(mad::time_point now);
    /// When the time is over; empty: it is not limited.
    std::optional<mad::time_point> end() const noexcept { return end_; }
    /// duration::max(): it is not limited.
    mad::duration time_left(mad::time_point now) const noexcept;
    void note_time_over();

    /// True: memory is short, and nothing more may be queried.
    bool is_memory_short(std::size_t nodes);
    /// True: no further node may be added. Links between known nodes are still queried.
    bool is_full(std::size_t nodes, std::size_t ports);

    /// Which limit was reached, for a message; empty: none.
    const std::string& reached() const noexcept { return reached_; }

private:
    void note(std::string text);

    const discover_options& options_;
    std::optional<mad::time_point> end_;
    std::string reached_;
};

} // namespace comad::discovery
