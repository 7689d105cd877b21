// SPDX-License-Identifier: MIT
// table_range.hpp - reads the range of LIDs of a forwarding table from the command line.
#pragma once
#include "input/arguments.hpp"

#include <string>

namespace ibtool {

/// The range of LIDs to show.
struct table_range {
    std::string first_word, last_word;
    unsigned first = 0, last = 0; ///< 0: that of the table

    /// Declares `first` and `last` as arguments.
    void declare(arguments& takes);
    /// Reads the words. Prints a message for LIDs outside of the multicast range, and cuts the range. Throws usage_error.
    void read(bool multicast);
};

} // namespace ibtool
