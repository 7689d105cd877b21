// SPDX-License-Identifier: MIT
// limit_check.hpp - checks the limits of a discovery: time, memory, nodes and ports.
#pragma once
#include <comad/discovery/walk/discover.hpp>
#include <comad/mad/detail/time.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace comad::discovery {

/// Compares a discovery with its limits. Describes only the first limit that was reached, because later ones follow from it.
class limit_check {
public:
    /// `end`: the end of the time limit, if it is already known. Lifetime: the options must outlive the object.
    limit_check(const discover_options& options, std::optional<mad::time_point> end) : options_(options), end_(end) {}

    /// Starts max_time at the first call; further calls have no effect.
    void start_clock(mad::time_point now);
    /// Returns the end of the time limit; nullopt: unlimited.
    std::optional<mad::time_point> end() const noexcept { return end_; }
    /// Returns the time until end(); duration::max() if it is unlimited.
    mad::duration time_left(mad::time_point now) const noexcept;
    /// Records that the time limit was reached.
    void note_time_over();

    /// Returns whether memory is short, so that nothing more may be queried.
    bool is_memory_short(std::size_t nodes);
    /// Returns whether no further node may be added. Links between known nodes are still queried.
    bool is_full(std::size_t nodes, std::size_t ports);

    /// Returns the limit that was reached, for a message; empty: none.
    const std::string& reached() const noexcept { return reached_; }

private:
    void note(std::string text);

    const discover_options& options_;
    std::optional<mad::time_point> end_;
    std::string reached_;
};

} // namespace comad::discovery
