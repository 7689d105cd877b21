// SPDX-License-Identifier: MIT
// error_thresholds.hpp - how far counters of errors may go before they are reported, and the file that says so. Asks nobody.
#pragma once
#include <comad/counters/port_counters.hpp>

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// What infiniband-diags call a counter: `SymbolErrorCounter`.
std::string label_of(comad::counters::counter);
/// A counter by either name, `symbolErrorCounter` or `SymbolErrorCounter`, in whatever case.
std::optional<comad::counters::counter> find_counter(std::string_view name) noexcept;
/// A counter by the name that libibmad had for it once, `RcvSwRelayErrors`, which scripts still have.
std::optional<comad::counters::counter> find_counter_of_old(std::string_view name) noexcept;

/// It has a threshold: it counts errors, or it is portXmitWait.
constexpr bool has_threshold(comad::counters::counter c) noexcept {
    return is_error(c) || c == comad::counters::counter::portXmitWait;
}

/// A threshold for each counter, 0 where nothing else was said.
class error_thresholds {
public:
    comad::u64 operator[](comad::counters::counter c) const noexcept { return highest_[static_cast<unsigned>(c)]; }
    /// Precondition: has_threshold(c).
    void set(comad::counters::counter c, comad::u64 highest) noexcept { highest_[static_cast<unsigned>(c)] = highest; }

    /// Reads lines `SymbolErrorCounter=10`, the number in decimal or behind 0x; `#` begins a comment; of one counter the last
    /// line counts. Returns the counters that are named, in that order. `name` stands for the file in messages.
    /// Errors: std::runtime_error, one line `NAME:LINE: what is wrong`; then some are set.
    std::vector<comad::counters::counter> read(std::istream& in, std::string_view name);

private:
    std::array<comad::u64, comad::counters::counter_count> highest_{};
};

} // namespace ibtool
