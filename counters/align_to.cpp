// SPDX-License-Identifier: MIT
// align_to.cpp - sorts the ports of an earlier sweep in the order of a later sweep.
#include <comad/counters/sweep.hpp>

#include <unordered_map>

namespace comad::counters {

sweep align_to(const sweep& now, const discovery::subnet& subnet_now, const sweep& then,
               const discovery::subnet& subnet_then) {
    // The readings of one node are adjacent.
    std::unordered_map<u32, std::size_t> first; // index in then.ports, by node
    for (std::size_t i = 0; i < then.ports.size(); ++i) first.try_emplace(then.ports[i].where.node, i);

    const auto find = [&](discovery::port_ref where) -> const reading* {
        const auto node = subnet_then.by_guid.find(subnet_now.nodes[where.node].info.nodeGUID);
        if (node == subnet_then.by_guid.end()) return nullptr;
        const auto begin = first.find(node->second);
        if (begin == first.end()) return nullptr;
        for (std::size_t i = begin->second; i < then.ports.size() && then.ports[i].where.node == node->second; ++i)
            if (then.ports[i].where.port == where.port) return &then.ports[i];
        return nullptr;
    };
    sweep aligned;
    aligned.begin = then.begin;
    aligned.end = then.end;
    aligned.mads = then.mads;
    aligned.is_stopped = then.is_stopped;
    aligned.ports.reserve(now.ports.size());
    for (const reading& port : now.ports) {
        const reading* const found = find(port.where);
        aligned.ports.push_back(found ? *found : reading{});
        aligned.ports.back().where = port.where;
    }
    return aligned;
}

} // namespace comad::counters
