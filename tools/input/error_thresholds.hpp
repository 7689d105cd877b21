// SPDX-License-Identifier: MIT
// error_thresholds.hpp - how far counters of errors may go before they are reported, and the file that says so. Asks nobody.
#pragma once
#include <comad/counters/port_counters.hpp>

#include <array>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// What infiniband-diags call a counter: `SymbolErrorCounter`.
std::string label_of(comad::counters::counter);
/// The same for the IBA name of any counter: `PortVLXmitWait[3]`.
std::string label_of(std::string_view name);
/// A counter by either name, `symbolErrorCounter` or `SymbolErrorCounter`, in whatever case.
std::optional<comad::counters::counter> find_counter(std::string_view name) noexcept;
/// A counter by its former name in libibmad, `RcvSwRelayErrors`, which scripts and thresholds files still have; in whatever case.
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

    /// Reads lines `SymbolErrorCounter=10`, the number in decimal or after 0x; `#` starts a comment; of one counter the last line
    /// counts. Names are those of find_counter() and find_counter_of_old(). Returns the counters that are named, in that order.
    /// Messages use `name` for the file. A line with another name is skipped, and `unknown` gets a message about it, if there is such
    /// a function; infiniband-diags skip these lines, too. Without it the line is an error.
    /// Errors: std::runtime_error, one line `NAME:LINE: what is wrong`; then some are set.
    std::vector<comad::counters::counter> read(std::istream& in, std::string_view name,
                                               const std::function<void(const std::string&)>& unknown = {});

private:
    std::array<comad::u64, comad::counters::counter_count> highest_{};
};

} // namespace ibtool
