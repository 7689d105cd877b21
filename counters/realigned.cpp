// SPDX-License-Identifier: MIT
// realigned.cpp - ports found again.
#include <comad/counters/detail/realigned.hpp>

#include <unordered_map>

namespace comad::counters {

sweep realigned(const sweep& was, const discovery::subnet& then, const sweep& now, const discovery::subnet& today) {
    // The readings of one node stand together.
    std::unordered_map<u32, std::size_t> first; // of a node of then, in was.ports
    for (std::size_t i = 0; i < was.ports.size(); ++i) first.try_emplace(was.ports[i].where.node, i);

    const auto find = [&](discovery::port_ref where) -> const reading* {
        const auto node = then.by_guid.find(today.nodes[where.node].info.nodeGUID);
        if (node == then.by_guid.end()) return nullptr;
        const auto begin = first.find(node->second);
        if (begin == first.end()) return nullptr;
        for (std::size_t i = begin->second; i < was.ports.size() && was.ports[i].where.node == node->second; ++i)
            if (was.ports[i].where.port == where.port) return &was.ports[i];
        return nullptr;
    };
    sweep same;
    same.begin = was.begin;
    same.end = was.end;
    same.mads = was.mads;
    same.is_stopped = was.is_stopped;
    same.ports.reserve(now.ports.size());
    for (const reading& l : now.ports) {
        const reading* const found = find(l.where);
        same.ports.push_back(found ? *found : reading{});
        same.ports.back().where = l.where;
    }
    return same;
}

} // namespace comad::counters
