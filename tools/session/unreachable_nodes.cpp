// SPDX-License-Identifier: MIT
// unreachable_nodes.cpp - counts the nodes of a topology that no cable leads to.
#include "session/unreachable_nodes.hpp"

#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/transports/detail/discovery_bound.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace ibtool {

void warn_of_unreachable_nodes(const comad::transports::sim::topology& graph, std::span<const sim_place> places) {
    std::vector<bool> reached(graph.nodes.size());
    std::string names;
    for (const sim_place& place : places) {
        const std::vector<bool> more = comad::transports::sim::reached_nodes(graph, place.node, place.port);
        std::transform(reached.begin(), reached.end(), more.begin(), reached.begin(), std::logical_or<>());
        names += fmt::format("{}{} port {}", names.empty() ? "" : " or ",
                             comad::iba::as_given(graph.nodes[place.node].description), place.port);
    }
    const auto unreachable = std::count(reached.begin(), reached.end(), false);
    if (unreachable == 0) return;
    const auto first = static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
    print_message("{} of {} nodes have no cable connection to {}, such as {}; to start from another node, use {}",
                  unreachable, reached.size(), names, comad::iba::as_given(graph.nodes[first].description),
                  places.size() == 1 ? "at=NODE,port=N" : "--port NODE/PORT");
}

} // namespace ibtool
