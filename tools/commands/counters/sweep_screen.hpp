// SPDX-License-Identifier: MIT
// sweep_screen.hpp - the screen of sweep --watch: the busiest ports, ordered and filtered as the user selects with keys. Does not depend
// on a schedule or a keyboard.
#pragma once
#include "text/sweep_text.hpp"
#include "text/terminal.hpp"

#include <optional>
#include <string>

namespace ibtool {

/// The contents of the screen.
class sweep_screen {
public:
    explicit sweep_screen(table_choice first) : choice_(std::move(first)), most_rows_(choice_.top) {}

    /// Takes a sweep. Its subnet and names must stay valid until the next sweep.
    void take(const sweep_view&);
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
        sweep_view of;
        comad::counters::sweep now;
        std::optional<comad::counters::sweep> before;
        sweep_view view() const;
    };
    std::optional<kept_view> last_;
    table_choice choice_;
    std::size_t most_rows_;
    bool is_typing_ = false; // the user edits the filter
    std::string note_;
};

} // namespace ibtool
