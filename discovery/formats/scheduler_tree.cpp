// SPDX-License-Identifier: MIT
// scheduler_tree.cpp - reduces a subnet to a tree of switches and hosts.
#include "scheduler_tree.hpp"

#include "../database/descriptions.hpp"
#include "export_words.hpp"
#include "levels_above_edge.hpp"
#include <comad/discovery/database/detail/first_word.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace comad::discovery {

std::string hostlist(const std::vector<std::string>& names) {
    constexpr std::size_t most_digits = 9; // a number that fits into the type
    struct numbered {
        unsigned number;
        std::string digits;
    };
    std::map<std::string, std::vector<numbered>> by_prefix;
    std::vector<std::string> parts;
    for (const std::string& name : names) {
        const std::size_t end = name.find_last_not_of("0123456789") + 1; // npos + 1: only digits
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

namespace {

/// Returns the names of switches, by node: `core1` for `MF0;core1:TYPE/U1`, `core1-L01-U1` for a chip in a chassis, and the whole name
/// for other switches. If the name is not valid for schedulers or is not unique, the name is the ID.
std::vector<std::string> switch_names(const subnet& s, const node_names& names) {
    std::vector<std::string> all(s.nodes.size());
    const auto rename_repeated = [&](auto other_name) {
        std::map<std::string_view, unsigned> uses;
        for (const std::string& name : all) ++uses[name];
        std::vector<u32> repeated;
        for (u32 n = 0; n < all.size(); ++n)
            if (s.nodes[n].is_switch() && (uses[all[n]] > 1 || !is_plain_name(all[n]))) repeated.push_back(n);
        for (const u32 n : repeated) all[n] = other_name(n);
    };
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!s.nodes[n].is_switch()) continue;
        all[n] = names.of(s.nodes[n]);
        if (const auto m = parse_managed_switch(all[n]))
            all[n] = m->slot.empty() ? std::string(m->system) : chip_name(*m);
        else if (const std::size_t from = all[n].find(';'); from != std::string::npos)
            all[n] = all[n].substr(from + 1, all[n].find(':', from) - from - 1);
    }
    rename_repeated([&](u32 n) { // chips of one system without slots
        const std::string name = names.of(s.nodes[n]);
        const auto m = parse_managed_switch(name);
        return m ? chip_name(*m) : topology_id(s.nodes[n]);
    });
    rename_repeated([&](u32 n) { return topology_id(s.nodes[n]); });
    return all;
}

/// The selected nodes in the order of the topology. A node is identified by its rank: its position by name, then by GUID. The rank does
/// not depend on the start of the discovery.
class ranked_nodes {
public:
    ranked_nodes(const subnet& s, const node_names& names, const node_selection& selected)
        : s_(s), selected_(selected), names_(switch_names(s, names)), order_(s.nodes.size()), ranks_(s.nodes.size()) {
        for (u32 n = 0; n < s.nodes.size(); ++n)
            if (!s.nodes[n].is_switch()) names_[n] = names.of(s.nodes[n]);
        std::iota(order_.begin(), order_.end(), 0u);
        std::ranges::sort(order_, [&](u32 a, u32 b) {
            const int by_name = ::strverscmp(names_[a].c_str(), names_[b].c_str()); // n2 before n10
            return by_name != 0 ? by_name < 0 : value(s.nodes[a].info.nodeGUID) < value(s.nodes[b].info.nodeGUID);
        });
        for (u32 rank = 0; rank < order_.size(); ++rank) ranks_[order_[rank]] = rank;
        choose();
    }

    u32 size() const { return static_cast<u32>(order_.size()); }
    const node& at(u32 rank) const { return s_.nodes[order_[rank]]; }
    /// Returns the name of a switch in the export, or the whole name of another node.
    const std::string& name(u32 rank) const { return names_[order_[rank]]; }
    bool is_left_out(u32 rank) const { return left_out_[order_[rank]]; }
    unsigned level(u32 rank) const { return levels_[order_[rank]]; }
    unsigned highest_level() const { return levels_.empty() ? 0 : *std::ranges::max_element(levels_); }

    /// Returns whether a cable leads to a switch, selected or not.
    bool is_connected(u32 rank) const {
        return std::ranges::any_of(at(rank).ports,
                                   [&](const port& p) { return p.peer && s_.nodes[p.peer.node].is_switch(); });
    }
    /// Returns the selected switches that a node is connected to, by rank.
    std::vector<u32> switches_at(u32 rank) const {
        std::vector<u32> found;
        for (const port& p : at(rank).ports)
            if (p.peer && s_.nodes[p.peer.node].is_switch() && !left_out_[p.peer.node])
                found.push_back(ranks_[p.peer.node]);
        return found;
    }

private:
    /// Sets the levels, which count from the selected hosts: a switch with storage can be a spine for compute nodes.
    void choose() {
        left_out_.resize(order_.size());
        if (selected_.without)
            for (u32 n = 0; n < order_.size(); ++n) left_out_[n] = selected_.without(s_.nodes[n]);
        if (selected_.only)
            for (u32 n = 0; n < order_.size(); ++n)
                if (!s_.nodes[n].is_switch() && !left_out_[n]) left_out_[n] = !is_wanted(n);
        levels_ = levels_above_edge(s_, left_out_);
    }

    bool is_wanted(u32 n) const {
        return selected_.only(s_.nodes[n]) || std::ranges::any_of(s_.nodes[n].ports, [&](const port& p) {
                   return p.peer && s_.nodes[p.peer.node].is_switch() && selected_.only(s_.nodes[p.peer.node]);
               });
    }

    const subnet& s_;
    const node_selection& selected_;
    std::vector<std::string> names_;
    std::vector<u32> order_, ranks_;
    std::vector<bool> left_out_;
    std::vector<unsigned> levels_;
};

/// Collects what a topology cannot express: one line for each reason, with the number of nodes and the first of them.
class reasons {
public:
    explicit reasons(std::string one, std::string several) : one_(std::move(one)), several_(std::move(several)) {}
    void add(std::string example) {
        constexpr std::size_t most_examples = 3;
        ++count_;
        if (examples_.size() < most_examples && std::ranges::find(examples_, example) == examples_.end())
            examples_.push_back(std::move(example));
    }
    void note(std::vector<std::string>& notes) const {
        if (count_ == 0) return;
        notes.push_back(fmt::format("{} {}: {}{}", count_, count_ == 1 ? one_ : several_, fmt::join(examples_, ", "),
                                    count_ > examples_.size() ? ", ..." : ""));
    }

private:
    std::string one_, several_;
    std::vector<std::string> examples_;
    std::size_t count_ = 0;
};

/// Returns the hosts, by the rank of their leaf.
std::map<u32, std::set<std::string>> hosts_of_leaves(const ranked_nodes& nodes, scheduler_tree& tree) {
    reasons unnamed("adapter left out because its description contains no host name",
                    "adapters left out because their descriptions contain no host name");
    reasons unfit("adapter left out because schedulers do not accept its name",
                  "adapters left out because schedulers do not accept their names");
    reasons unconnected("adapter left out because it is not connected to a switch",
                        "adapters left out because they are not connected to a switch");
    reasons elsewhere("host is connected to several switches and exported only at the first one; to choose, select the "
                      "adapters of one rail",
                      "hosts are connected to several switches and exported only at the first one; to choose, select "
                      "the adapters of one rail");
    reasons repeated("host left out because another host at the same switch has the same name",
                     "hosts left out because other hosts at the same switch have the same names");
    std::map<u32, std::set<std::string>> hosts;
    struct first_seen {
        u32 leaf;
        iba::guid system;
        std::string name; ///< the whole name
        bool is_noted = false;
    };
    std::map<std::string, first_seen> seen;
    for (u32 rank = 0; rank < nodes.size(); ++rank) {
        const node& host = nodes.at(rank);
        if (host.info.nodeType != iba::NodeType::CA || is_aggregation_node(host) || nodes.is_left_out(rank)) continue;
        const std::string& whole = nodes.name(rank);
        const std::string name(first_word(whole));
        const std::vector<u32> leaves = nodes.switches_at(rank);
        if (is_factory_name(whole)) unnamed.add(fmt::format("\"{}\"", whole));
        else if (leaves.empty()) {
            if (!nodes.is_connected(rank)) unconnected.add(fmt::format("\"{}\"", whole));
        } else if (!is_plain_name(name)) unfit.add(fmt::format("\"{}\"", whole));
        else
            for (const u32 leaf : leaves) {
                const auto [found, is_new] = seen.try_emplace(name, first_seen{leaf, host.info.systemImageGUID, whole});
                first_seen& first = found->second;
                if (is_new) hosts[leaf].insert(name);
                else if (first.leaf != leaf && !std::exchange(first.is_noted, true))
                    elsewhere.add(fmt::format("{} ({}, {})", name, nodes.name(first.leaf), nodes.name(leaf)));
                else if (first.leaf == leaf && first.name == whole && first.system != host.info.systemImageGUID)
                    repeated.add(fmt::format("{} ({})", name, nodes.name(leaf)));
            }
    }
    tree.hosts = seen.size();
    for (const reasons& r : {unnamed, unfit, unconnected, elsewhere, repeated}) r.note(tree.notes);
    return hosts;
}

/// Sets of connected nodes. The lowest index in a set identifies it.
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

} // namespace

// Builds the tree level by level above the leaves. Each set of connected switches up to a level gets one switch, if that joins several
// switches.
scheduler_tree scheduler_tree_of(const subnet& s, const node_names& names, const node_selection& selected) {
    scheduler_tree tree;
    const ranked_nodes nodes(s, names, selected);
    std::map<u32, std::string> tops; // name of the top, by a switch below it
    for (auto& [leaf, hosts] : hosts_of_leaves(nodes, tree)) {
        tree.switches.push_back({nodes.name(leaf), {hosts.begin(), hosts.end()}, {}});
        tops.emplace(leaf, nodes.name(leaf));
    }
    if (tops.empty()) tree.notes.push_back("no host is connected to a switch, so the topology is empty");
    connected sets(nodes.size());
    const auto is_at = [&](u32 rank, unsigned level) {
        return nodes.at(rank).is_switch() && !nodes.is_left_out(rank) && nodes.level(rank) == level;
    };
    for (unsigned level = 1; level <= nodes.highest_level(); ++level) {
        std::map<u32, std::vector<u32>> joined, members; // tops, and switches of this level, by set
        for (u32 rank = 0; rank < nodes.size(); ++rank)
            if (is_at(rank, level))
                for (const u32 other : nodes.switches_at(rank))
                    if (nodes.level(other) <= level) sets.join(rank, other);
        for (const auto& [below, name] : tops) joined[sets.of(below)].push_back(below);
        for (u32 rank = 0; rank < nodes.size(); ++rank)
            if (is_at(rank, level)) members[sets.of(rank)].push_back(rank);
        for (const auto& [set, below] : joined) {
            if (below.size() < 2) continue;
            const auto& here = members[set];
            // Leaves that are connected directly have no real switch above them, so a virtual one is added.
            const std::string name = level > 1 && !here.empty() ? nodes.name(here.front())
                                                                : fmt::format("all-of-{}", nodes.name(below.front()));
            tree_switch& group = tree.switches.emplace_back();
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
        tree.notes.push_back(
            fmt::format("{} fabrics are not connected to each other: {} are separate roots, and no job can span them",
                        tree.roots.size(), hostlist(tree.roots)));
    return tree;
}

} // namespace comad::discovery
