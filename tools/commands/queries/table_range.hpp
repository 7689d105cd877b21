// SPDX-License-Identifier: MIT
// table_range.hpp - the range of LIDs of a forwarding table, from the command line.
#pragma once
#include "input/arguments.hpp"

#include <string>

namespace ibtool {

/// The range of LIDs to print.
struct table_range {
    std::string first_word, last_word;
    unsigned first = 0, last = 0; ///< 0: limit of the table

    /// Declares the arguments `first` and `last`.
    void declare(arguments& takes);
    /// Parses the arguments. Cuts the range to multicast LIDs if `multicast` is true, and prints a message if that removed LIDs. Throws
    /// usage_error.
    void read(bool multicast);
};

} // namespace ibtool
