// SPDX-License-Identifier: MIT
// table_range.cpp - parses and checks the range of LIDs of a forwarding table.
#include "commands/queries/table_range.hpp"

#include "input/options.hpp"
#include "text/output.hpp"
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

namespace ibtool {

using comad::discovery::first_mlid, comad::discovery::last_mlid;

void table_range::declare(arguments& takes) {
    takes.option("first", first_word);
    takes.option("last", last_word);
}

void table_range::read(bool multicast) {
    const unsigned highest = multicast ? last_mlid : comad::discovery::lid_index::last_unicast_lid;
    if (!first_word.empty()) first = read_number(first_word, "the first LID", highest);
    if (!last_word.empty()) last = read_number(last_word, "the last LID", multicast ? 0xffff : highest);
    if (!multicast) return;
    const auto clamp = [](unsigned& LID, unsigned bound) {
        print_message("{:#x} is not a multicast LID; the output {} {:#x}", LID,
                      bound == first_mlid ? "starts at" : "ends at", bound);
        LID = bound;
    };
    if (first && first < first_mlid) clamp(first, first_mlid);
    if (last > last_mlid) clamp(last, last_mlid);
}

} // namespace ibtool
