// SPDX-License-Identifier: MIT
// lid_index.cpp - LIDs of all end ports in one array.
#include <comad/discovery/lid_index.hpp>

#include <algorithm>

namespace comad::discovery {

LID_index::LID_index(const subnet& s) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (s.nodes[n].is_switch()) add(s, {n, 0});
        else
            for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) add(s, {n, static_cast<u8>(p)});
    }
}

void LID_index::add(const subnet& s, port_ref where) {
    if (where.port >= s.nodes[where.node].ports.size()) return;
    const auto& info = s.at(where).info;
    if (!info) return;
    end e{where, value(info->LID), 1u << info->LMC};
    if (e.first == 0 || e.first > last_unicast_LID) e.first = e.count = 0;
    e.count = std::min(e.count, last_unicast_LID + 1 - e.first);
    ends_.push_back(e);
    if (e.first + e.count > by_LID_.size()) by_LID_.resize(e.first + e.count);
    for (unsigned LID = e.first; LID < e.first + e.count; ++LID) {
        if (by_LID_[LID]) conflicts_.push_back({LID, by_LID_[LID], where});
        else by_LID_[LID] = where;
    }
}

} // namespace comad::discovery
