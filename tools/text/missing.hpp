// SPDX-License-Identifier: MIT
// missing.hpp - what a result lacks, told in a line for each cause. Knows no subnet.
#pragma once
#include <comad/iba/types.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// One thing that a result lacks. All texts are safe for a terminal.
struct missing_answer {
    enum class kind : comad::u8 { other, node, port };
    std::string place;       ///< `S-0002c90000000001 "leaf-0001"[3]`; empty: nowhere in particular
    std::string short_place; ///< `leaf-0001 port 3`; empty: `place`
    std::string text;        ///< why, with all that is known
    std::string cause{};     ///< the same in a user's words, equal wherever the cause is; empty: that is `text`
    kind of = kind::other;
    bool is_write = false; ///< about a change that was to be made: it has a line of its own, and is never forgiven
};

/// The same about a change.
inline missing_answer of_write(missing_answer m) {
    m.is_write = true;
    return m;
}

/// A line for each cause, in the order of their first places: `S-0002c90000000001 "leaf-0001"[3]: NodeInfo timed out`, of several
/// places `512 ports: NodeInfo timed out; first: leaf-0001 port 3`. With `each` a line for each place, with all that is known.
/// `loss`, as session::loss_text() has it, is one cause for all: the device was lost meanwhile. What is about a change has a line for
/// each place in any case, after all others.
std::vector<std::string> lines_about(const std::vector<missing_answer>& missing, bool each,
                                     const std::string& loss = {});
/// The same on stderr.
void tell_missing(const std::vector<missing_answer>& missing, bool each, const std::string& loss = {});

} // namespace ibtool
