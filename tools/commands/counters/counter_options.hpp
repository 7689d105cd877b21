// SPDX-License-Identifier: MIT
// counter_options.hpp - the options that select counter groups, used by several commands.
#pragma once
#include "input/arguments.hpp"
#include "text/counter_groups.hpp"

#include <deque>
#include <vector>

namespace ibtool {

/// The options that select counter groups, and which of them were given.
class counter_options {
public:
    /// Declares the options. `has_T`: whether `-T` selects the extended speeds counters. The object must outlive `takes`.
    void declare(arguments& takes, bool has_T = true);
    /// Returns the selected groups in the order of the help text.
    std::vector<const counter_group*> groups() const;

private:
    std::deque<bool> is_chosen_; // a deque, because `takes` keeps references to the elements
};

} // namespace ibtool
