// SPDX-License-Identifier: MIT
// subnet_missing.cpp - places by name and number.
#include "text/subnet_missing.hpp"

#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <utility>

namespace ibtool {

namespace discovery = comad::discovery;
namespace counters = comad::counters;
using discovery::port_ref;
using discovery::subnet;

missing_answer missing_at(const subnet& s, port_ref where, std::string text, std::string cause) {
    const discovery::node& n = s.nodes[where.node];
    const std::string name = n.description.empty() ? discovery::topology_id(n) : comad::iba::escaped(n.description);
    missing_answer m{discovery::name_of(n), name, std::move(text), std::move(cause), missing_answer::kind::node};
    if (where.port == 0) return m;
    m.place += fmt::format("[{}]", where.port);
    m.short_place += fmt::format(" port {}", where.port);
    m.of = missing_answer::kind::port;
    return m;
}

missing_answer missing_of(const subnet& s, const discovery::problem& p) {
    const auto known = s.by_guid.find(p.nodeGUID);
    if (known == s.by_guid.end()) return {{}, {}, p.text, p.cause};
    return missing_at(s, {known->second, p.port}, p.text, p.cause);
}

missing_answer missing_of(const subnet& s, const counters::gap& g) {
    missing_answer m = missing_at(s, g.where, g.text, g.cause);
    m.is_write = g.what == counters::gap::kind::not_cleared;
    return m;
}

std::vector<missing_answer> all_missing(const subnet& s, const std::vector<counters::gap>& gaps) {
    std::vector<missing_answer> all;
    for (const auto& problem : s.problems) all.push_back(missing_of(s, problem));
    for (const counters::gap& g : gaps) all.push_back(missing_of(s, g));
    return all;
}

std::vector<missing_answer> missing_of(const comad::discovery::subnet& s,
                                       const comad::discovery::forwarding_tables& tables) {
    std::vector<missing_answer> all;
    for (const comad::discovery::forwarding_gap& g : tables.gaps)
        all.push_back(missing_at(s, {g.node, 0}, g.text, g.cause));
    return all;
}

} // namespace ibtool
