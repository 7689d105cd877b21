// SPDX-License-Identifier: MIT
// counter_options.hpp - the options that select performance attributes, shared by several commands.
#pragma once
#include "input/arguments.hpp"
#include "text/counter_groups.hpp"

#include <deque>
#include <vector>

namespace ibtool {

/// The options, and which of them were given.
class counter_options {
public:
    /// Declares the options. `has_T`: `-T` is available for the extended speeds counters. The object must outlive `takes`.
    void declare(arguments& takes, bool has_T = true);
    /// Returns the selected groups, in the order of the help.
    std::vector<const counter_group*> groups() const;

private:
    std::deque<bool> asked_for_; // a deque, because addresses must not change
};

} // namespace ibtool
