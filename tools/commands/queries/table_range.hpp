// SPDX-License-Identifier: MIT
// table_range.hpp - which LIDs of a forwarding table are shown, as users write it.
#pragma once
#include "input/arguments.hpp"

#include <string>

namespace ibtool {

struct table_range {
    std::string first_word, last_word;
    unsigned first = 0, last = 0; ///< 0: the table's

    /// Takes `first` and `last` by their place.
    void declare(arguments& takes);
    /// Reads the words. What of them is outside of the multicast LIDs is told, and cut. Throws usage_error.
    void read(bool multicast);
};

} // namespace ibtool
