// SPDX-License-Identifier: MIT
// failure_list.cpp - collects the failures of a discovery, and sorts them in the order of the subnet.
#include "failure_list.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace comad::discovery {

void failure_list::add(failure f, bool is_beyond_port) {
    failures_.push_back(std::move(f));
    is_beyond_port_.push_back(is_beyond_port);
    if (progress_) progress_->failures.store(failures_.size(), std::memory_order_relaxed);
}

void failure_list::add_contradiction(iba::guid nodeGUID, u8 port, const mad::IBDRPath& route, std::string text,
                                     iba::guid doubledGUID) {
    add({failure_kind::contradiction, {nodeGUID, port, route}, std::move(text), {}, doubledGUID}, true);
}

std::vector<failure> failure_list::take_sorted(const subnet& found) {
    std::vector<std::size_t> order(failures_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {
        const failure& p = failures_[i];
        const auto known = found.by_guid.find(p.where.nodeGUID);
        const u32 node = known == found.by_guid.end() ? port_ref::npos : known->second;
        return std::tuple(node, p.where.port, p.kind, std::string_view(p.text));
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    std::vector<failure> sorted;
    for (const std::size_t i : order) {
        failure& p = sorted.emplace_back(failures_[i]);
        const node* const n = found.find(p.where.nodeGUID);
        if (!n) continue;
        p.where.route = n->route;
        if (is_beyond_port_[i] && p.where.route.can_extend()) p.where.route = p.where.route.extended(p.where.port);
    }
    return sorted;
}

} // namespace comad::discovery
