// SPDX-License-Identifier: MIT
// slurm_topology.cpp - a subnet as Slurm's topology plugins read it (topology.conf(5), topology.yaml(5)).
#include <comad/discovery/exports.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

namespace comad::discovery {
namespace {

/// A switch as Slurm sees it: it has hosts or other switches, never both.
struct slurm_switch {
    std::string name;
    std::vector<std::string> hosts;
    std::vector<std::string> switches;
    std::size_t merged = 1; ///< that many real ones
};
struct slurm_tree {
    std::vector<slurm_switch> switches; ///< children before their parents
    std::vector<std::string> roots;
    std::vector<std::string> notes;
};

bool is_slurm_name(std::string_view name) {
    // What a hostlist has a meaning for, or a line of the file, is not among them.
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

/// `n[1-3,7]` of n1 n2 n3 n7: each name with the digits that it ends with, as wide as they are.
std::string hostlist(const std::vector<std::string>& names) {
    constexpr std::size_t most_digits = 9; // of a number that fits
    struct numbered {
        unsigned number;
        std::string digits;
    };
    std::map<std::string, std::vector<numbered>> by_prefix;
    std::vector<std::string> parts;
    for (const std::string& name : names) {
        const std::size_t end = name.find_last_not_of("0123456789") + 1; // npos + 1: all are digits
        const std::string digits = name.substr(end);
        if (digits.empty() || digits.size() > most_digits || end == 0) {
            parts.push_back(name);
            continue;
        }
        unsigned number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        by_prefix[name.substr(0, end)].push_back({number, digits});
    }
    for (auto& [prefix, all] : by_prefix) {
        std::ranges::sort(all, {}, [](const numbered& n) { return std::pair(n.number, n.digits.size()); });
        std::string ranges;
        for (std::size_t i = 0, last; i < all.size(); i = last + 1) {
            const std::size_t width = all[i].digits.size();
            for (last = i; last + 1 < all.size(); ++last)
                if (all[last + 1].number != all[last].number + 1 ||
                    all[last + 1].digits != fmt::format("{:0{}}", all[last + 1].number, width))
                    break;
            if (!ranges.empty()) ranges += ',';
            ranges += all[i].digits;
            if (last > i) ranges += fmt::format("-{}", all[last].digits);
        }
        const bool is_one = ranges.find_first_of(",-") == std::string::npos;
        parts.push_back(fmt::format(fmt::runtime(is_one ? "{}{}" : "{}[{}]"), prefix, ranges));
    }
    return fmt::format("{}", fmt::join(parts, ","));
}

/// The names of switches, each its own: the name in `MF0;name:type/unit` of managed switches, else all of the name, else the ID.
std::vector<std::string> switch_names(const subnet& s, const node_names& names) {
    std::vector<std::string> all(s.nodes.size());
    std::map<std::string, unsigned> uses;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!s.nodes[n].is_switch()) continue;
        std::string name = names.of(s.nodes[n]);
        if (const std::size_t from = name.find(';'); from != std::string::npos)
            name = name.substr(from + 1, name.find(':', from) - from - 1);
        all[n] = is_slurm_name(name) ? name : topology_id(s.nodes[n]);
        ++uses[all[n]];
    }
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (s.nodes[n].is_switch() && uses[all[n]] > 1) all[n] = topology_id(s.nodes[n]);
    return all;
}

/// By index of their leaf. What cannot be said is noted.
std::map<u32, std::set<std::string>> hosts_of_leaves(const subnet& s, const node_names& names,
                                                     const std::vector<std::string>& called, slurm_tree& tree) {
    std::map<u32, std::set<std::string>> hosts;
    struct first_seen {
        u32 leaf;
        iba::guid system;
        std::string name; ///< all of it
    };
    std::map<std::string, first_seen> seen;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& host = s.nodes[n];
        if (host.info.nodeType != iba::NodeType::CA || is_aggregation_node(host)) continue;
        const std::string whole = names.of(host), name = first_word(whole);
        bool is_at_a_switch = false;
        for (const port& p : host.ports) {
            if (!p.peer || !s.nodes[p.peer.node].is_switch()) continue;
            is_at_a_switch = true;
            if (!is_slurm_name(name)) break;
            const u32 leaf = p.peer.node;
            const auto [first, is_new] = seen.try_emplace(name, first_seen{leaf, host.info.systemImageGUID, whole});
            if (is_new) hosts[leaf].insert(name);
            else if (first->second.leaf != leaf)
                tree.notes.push_back(fmt::format("{} is at {} and at {}: Slurm is told the first", name,
                                                 called[first->second.leaf], called[leaf]));
            else if (first->second.name == whole && first->second.system != host.info.systemImageGUID)
                tree.notes.push_back(
                    fmt::format("two hosts at {} are called {}: Slurm is told one", called[leaf], name));
        }
        if (!is_at_a_switch) tree.notes.push_back(fmt::format("{} is at no switch: left out", name_of(host)));
        else if (!is_slurm_name(name))
            tree.notes.push_back(fmt::format("{} has no name that Slurm takes: left out", name_of(host)));
    }
    return hosts;
}

/// Which nodes are connected, by the lowest index of theirs.
class connected {
public:
    explicit connected(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }
    u32 of(u32 n) {
        while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
        return n;
    }
    void join(u32 a, u32 b) {
        a = of(a), b = of(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<u32> parent_;
};

/// Above the leaves, level by level, a switch for each set of switches up to that level that are connected, if it brings
/// several together.
slurm_tree tree_of(const subnet& s, const node_names& names) {
    slurm_tree tree;
    const std::vector<unsigned> levels = levels_of(s);
    const std::vector<std::string> called = switch_names(s, names);
    std::map<u32, std::string> tops; // by a switch below
    for (auto& [leaf, hosts] : hosts_of_leaves(s, names, called, tree)) {
        tree.switches.push_back({called[leaf], {hosts.begin(), hosts.end()}, {}});
        tops.emplace(leaf, called[leaf]);
    }
    if (tops.empty()) tree.notes.push_back("no host is at a switch: there is nothing that Slurm could use");
    connected sets(s.nodes.size());
    const unsigned highest = levels.empty() ? 0 : *std::ranges::max_element(levels);
    for (unsigned level = 1; level <= highest; ++level) {
        std::map<u32, std::vector<u32>> joined, members; // tops and switches of this level, by set
        for (u32 n = 0; n < s.nodes.size(); ++n)
            if (s.nodes[n].is_switch() && levels[n] == level)
                for (const port& p : s.nodes[n].ports)
                    if (p.peer && s.nodes[p.peer.node].is_switch() && levels[p.peer.node] <= level)
                        sets.join(n, p.peer.node);
        for (const auto& [below, name] : tops) joined[sets.of(below)].push_back(below);
        for (u32 n = 0; n < s.nodes.size(); ++n)
            if (s.nodes[n].is_switch() && levels[n] == level) members[sets.of(n)].push_back(n);
        for (const auto& [set, below] : joined) {
            if (below.size() < 2) continue;
            const auto& here = members[set];
            // Leaves that lead to each other have no switch above them: one is made up.
            const std::string name =
                level > 1 && !here.empty() ? called[here.front()] : fmt::format("all-of-{}", called[below.front()]);
            slurm_switch& group = tree.switches.emplace_back();
            group.name = name;
            group.merged = level > 1 ? here.size() : 0;
            for (const u32 b : below) {
                group.switches.push_back(tops.at(b));
                tops.erase(b);
            }
            tops.emplace(below.front(), name);
        }
    }
    for (const auto& [below, name] : tops) tree.roots.push_back(name);
    if (tree.roots.size() > 1)
        tree.notes.push_back(fmt::format("{} fabrics are not connected: {} are roots of their own, no job spans them",
                                         tree.roots.size(), hostlist(tree.roots)));
    return tree;
}

std::string comments_of(const slurm_tree& tree, std::string_view plugin) {
    std::string out = fmt::format("# Slurm's topology of an InfiniBand subnet, for {}\n", plugin);
    for (const std::string& note : tree.notes) out += fmt::format("# {}\n", note);
    return out;
}
std::string merged_text(const slurm_switch& w) {
    return w.merged > 1 ? fmt::format("# {} stands for {} switches\n", w.name, w.merged) : std::string();
}

} // namespace

export_text slurm_conf_text(const subnet& s, const node_names& names) {
    slurm_tree tree = tree_of(s, names);
    std::string out = comments_of(tree, "TopologyPlugin=topology/tree; not read where there is a topology.yaml");
    for (const slurm_switch& w : tree.switches)
        out += fmt::format("{}SwitchName={} {}={}\n", merged_text(w), w.name, w.hosts.empty() ? "Switches" : "Nodes",
                           hostlist(w.hosts.empty() ? w.switches : w.hosts));
    return {std::move(out), std::move(tree.notes)};
}

export_text slurm_yaml_text(const subnet& s, const node_names& names) {
    slurm_tree tree = tree_of(s, names);
    std::string out = comments_of(tree, "Slurm 25.05 and later, which then reads no topology.conf");
    out += "---\n- topology: infiniband\n  cluster_default: true\n  tree:\n    switches:";
    out += tree.switches.empty() ? " []\n" : "\n";
    for (const slurm_switch& w : tree.switches) {
        out += fmt::format("      {}- switch: \"{}\"\n",
                           w.merged > 1 ? fmt::format("{}      ", merged_text(w)) : std::string(), w.name);
        out += fmt::format("        {}: \"{}\"\n", w.hosts.empty() ? "children" : "nodes",
                           hostlist(w.hosts.empty() ? w.switches : w.hosts));
    }
    return {std::move(out), std::move(tree.notes)};
}

} // namespace comad::discovery
