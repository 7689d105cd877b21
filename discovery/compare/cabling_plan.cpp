// SPDX-License-Identifier: MIT
// cabling_plan.cpp - writes the links of a subnet as a cabling plan, which cabling.cpp compares with a subnet.
#include <comad/discovery/compare/detail/cabling.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace comad::discovery {
namespace {

/// The names of nodes in a plan.
class plan_names {
public:
    plan_names(const subnet& s, const node_names& names) : s_(s), names_(names) {
        for (const node& n : s.nodes) {
            const std::string name = names.of(n);
            ++bearers_[name];
            if (n.description != name) ++bearers_[n.description]; // a plan may use the description, too
        }
    }

    std::string of(port_ref r) const {
        const node& n = s_.nodes[r.node];
        const std::string& name = names_.raw(n);
        const auto found = bearers_.find(name);
        if (name.empty() || !std::ranges::all_of(name, is_printable) || found == bearers_.end() || found->second > 1)
            return fmt::format("0x{:016x}", value(n.info.nodeGUID));
        return quoted(name);
    }

private:
    static bool is_printable(char c) { return c >= ' ' && c <= '~'; }

    /// Quotes a field as RFC 4180 does, if a reader would split it, trim it, or take it for a comment.
    static std::string quoted(const std::string& name) {
        const bool is_plain =
            name.find_first_of(",\"") == name.npos && name.front() != ' ' && name.front() != '#' && name.back() != ' ';
        if (is_plain) return name;
        std::string field = "\"";
        for (const char c : name) field.append(c == '"' ? 2u : 1u, c);
        return field + '"';
    }

    const subnet& s_;
    const node_names& names_;
    std::unordered_map<std::string, unsigned> bearers_;
};

} // namespace

std::string format_cabling_plan(const subnet& s, const node_names& names) {
    const plan_names nodes(s, names);
    std::string text = "# node,port,node,port\n";
    for (const link_ends& l : links_of(s))
        fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", nodes.of(l.from), l.from.port, nodes.of(l.to),
                       l.to.port);
    return text;
}

} // namespace comad::discovery
