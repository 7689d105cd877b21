// SPDX-License-Identifier: MIT
// cable_findings.cpp - groups findings by cable, and sorts them by how bad they are.
#include <comad/counters/health.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace comad::counters {
namespace {

using discovery::port_ref;

std::pair<u32, u8> order_of(port_ref r) noexcept { return {r.node, r.port}; }

double ratio(double larger, double smaller) noexcept {
    return smaller > 0 ? larger / smaller : std::numeric_limits<double>::infinity();
}

/// The key by which findings are sorted; the worst finding has the largest key.
std::pair<severity, double> badness_of(const health_finding& f) noexcept { return {f.how_bad, excess_of(f)}; }

} // namespace

double excess_of(const health_finding& f) noexcept {
    using rule = health_finding::rule;
    switch (f.why) {
    case rule::width:
    case rule::speed: return f.limit > f.measured ? ratio(f.limit, f.measured) : ratio(f.measured, f.limit);
    case rule::pegged: return 1;
    default: return ratio(f.measured, f.limit);
    }
}

std::vector<cable_findings> by_cable(const discovery::subnet& s, std::vector<health_finding> findings) {
    std::ranges::stable_sort(findings, std::ranges::greater{}, badness_of);
    std::vector<cable_findings> cables;
    std::map<std::pair<u32, u8>, std::size_t> known; // index into cables, by the first end
    for (health_finding& f : findings) {
        port_ref a = f.where, b = s.at(f.where).peer;
        if (b && order_of(b) < order_of(a)) std::swap(a, b);
        const auto [found, is_new] = known.emplace(order_of(a), cables.size());
        if (is_new) cables.push_back({.a = a, .b = b, .how_bad = f.how_bad});
        cables[found->second].findings.push_back(std::move(f));
    }
    std::ranges::sort(cables, [](const cable_findings& x, const cable_findings& y) {
        const auto of = [](const cable_findings& c) {
            return std::tuple(badness_of(c.findings.front()), c.findings.size());
        };
        if (of(x) != of(y)) return of(y) < of(x);
        return order_of(x.a) < order_of(y.a);
    });
    return cables;
}

} // namespace comad::counters
