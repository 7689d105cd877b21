// SPDX-License-Identifier: MIT
// counter_options.hpp - the options that choose attributes of performance management, for the commands that read any of them.
#pragma once
#include "input/arguments.hpp"
#include "text/counter_groups.hpp"

#include <deque>
#include <vector>

namespace ibtool {

class counter_options {
public:
    /// `has_T`: `-T` is free for the counters of extended speeds. This outlives `takes`.
    void declare(arguments& takes, bool has_T = true);
    /// Those that were asked for, in the order of the help.
    std::vector<const counter_group*> groups() const;

private:
    std::deque<bool> asked_for_; // each stays where it is
};

} // namespace ibtool
