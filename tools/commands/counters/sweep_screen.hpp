// SPDX-License-Identifier: MIT
// sweep_screen.hpp - the screen of sweep --watch: the busiest ports, ordered and filtered as the user selects with keys. Does not depend
// on a schedule or a keyboard.
#pragma once
#include "text/terminal.hpp"
#include <comad/counters/formats.hpp>

#include <optional>
#include <string>

namespace ibtool {

/// The contents of the screen.
class sweep_screen {
public:
    explicit sweep_screen(comad::counters::row_selection first)
        : selection_(std::move(first)), most_rows_(selection_.top) {}

    /// Takes a sweep. Its subnet and names must stay valid until the next sweep.
    void take(const comad::counters::sweep_view&);
    /// Takes a line that is shown once at the bottom.
    void note(std::string line) { note_ = std::move(line); }
    /// Handles a key. Returns true if the key ends the program.
    bool press(char key);

    /// Returns all lines, to be printed over the previous ones. They fit into the terminal.
    std::string text(terminal_size) const;

private:
    std::string footer() const;

    /// A sweep_view with its own copies of the sweeps.
    struct kept_view {
        comad::counters::sweep_view of;
        comad::counters::sweep now;
        std::optional<comad::counters::sweep> before;
        comad::counters::sweep_view view() const;
    };
    std::optional<kept_view> last_;
    comad::counters::row_selection selection_;
    std::size_t most_rows_;
    bool is_typing_ = false; // the user edits the filter
    std::string note_;
};

} // namespace ibtool
