// SPDX-License-Identifier: MIT
// sweep_screen.hpp - sweep --watch: the busiest ports on a terminal, in an order and of nodes that keys choose. Knows no schedule
// and no keyboard.
#pragma once
#include "text/sweep_text.hpp"
#include "text/terminal.hpp"

#include <optional>
#include <string>

namespace ibtool {

class sweep_screen {
public:
    explicit sweep_screen(table_choice first) : choice_(std::move(first)), most_rows_(choice_.top) {}

    /// Takes the sweep. Its subnet and names must live until the next one is taken.
    void take(const sweep_view&);
    /// Takes a line to be shown at the bottom, once.
    void note(std::string line) { note_ = std::move(line); }
    /// What a key changes. True: it is the one that ends the program.
    bool press(char key);

    /// All lines, over what the terminal has shown before; none is longer than it is wide, and there are no more than it is
    /// high.
    std::string text(terminal_size) const;

private:
    std::string footer() const;

    /// A sweep_view whose sweeps are its own.
    struct kept_view {
        sweep_view of;
        comad::counters::sweep now;
        std::optional<comad::counters::sweep> before;
        sweep_view view() const;
    };
    std::optional<kept_view> last_;
    table_choice choice_;
    std::size_t most_rows_;
    bool is_typing_ = false; // the filter
    std::string note_;
};

} // namespace ibtool
