// SPDX-License-Identifier: MIT
// error_thresholds.hpp - thresholds for error counters, and the file format that contains them. Sends nothing.
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

/// Returns the name of a counter in infiniband-diags: `SymbolErrorCounter`.
std::string label_of(comad::counters::counter);
/// Returns the name in infiniband-diags for the IBA name of any counter: `PortVLXmitWait[3]`.
std::string label_of(std::string_view name);
/// Finds a counter by either name, `symbolErrorCounter` or `SymbolErrorCounter`, ignoring case.
std::optional<comad::counters::counter> find_counter(std::string_view name) noexcept;
/// Finds a counter by its old name in libibmad, such as `RcvSwRelayErrors`, ignoring case. Scripts and thresholds files still use them.
std::optional<comad::counters::counter> find_counter_of_old(std::string_view name) noexcept;

/// Returns whether a counter has a threshold: it counts errors, or it is portXmitWait.
constexpr bool has_threshold(comad::counters::counter c) noexcept {
    return is_error(c) || c == comad::counters::counter::portXmitWait;
}

/// A threshold for each counter; 0 unless it was set.
class error_thresholds {
public:
    comad::u64 operator[](comad::counters::counter c) const noexcept { return highest_[static_cast<unsigned>(c)]; }
    /// Precondition: has_threshold(c).
    void set(comad::counters::counter c, comad::u64 highest) noexcept { highest_[static_cast<unsigned>(c)] = highest; }

    /// Reads lines `SymbolErrorCounter=10` with a decimal or hexadecimal number. `#` starts a comment; if a counter appears several times,
    /// the last line is used. Names are those of find_counter() and find_counter_of_old(). Returns the counters in the order in which they
    /// appear. `name`: the file in messages. `unknown`: called with a message for each line with an unknown name, which is then skipped, as
    /// infiniband-diags does. Without this function, such a line is an error.
    /// Errors: throws std::runtime_error with one line `NAME:LINE: what is wrong`; then some thresholds are set.
    std::vector<comad::counters::counter> read(std::istream& in, std::string_view name,
                                               const std::function<void(const std::string&)>& unknown = {});

private:
    std::array<comad::u64, comad::counters::counter_count> highest_{};
};

} // namespace ibtool
