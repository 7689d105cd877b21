// SPDX-License-Identifier: MIT
// node_sequence.cpp - stores the nodes that a discovery has found until a task takes them.
#include <comad/discovery/walk/node_sequence.hpp>

#include <utility>

namespace comad::discovery {

coro::task<std::optional<node>> node_sequence::next() {
    while (waiting_.empty() && !has_ended_) {
        news_.reset();
        if (!co_await news_.wait()) co_return std::nullopt;
    }
    if (waiting_.empty()) co_return std::nullopt;
    std::optional<node> first(std::move(waiting_.front()));
    waiting_.pop_front();
    co_return first;
}

void node_sequence::put(const node& n) {
    if (!known_.insert(n.info.nodeGUID).second) return;
    for (port& p : waiting_.emplace_back(n).ports) p.peer = {};
    news_.set();
}

void node_sequence::end() noexcept {
    has_ended_ = true;
    news_.set();
}

} // namespace comad::discovery
