// SPDX-License-Identifier: MIT
// known_fabric.cpp - keeps sorted lists of nodes and links, and merges those of the last discovery with those that were known before.
#include <comad/discovery/compare/known_fabric.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace comad::discovery {

namespace {

known_end known_end_of(const subnet& s, port_ref r) { return {s.nodes[r.node].info.nodeGUID, r.port}; }

known_link known_link_of(known_end a, known_end b) { return a < b ? known_link{a, b} : known_link{b, a}; }

known_node known_node_of(const node& n) { return {n.info.nodeGUID, n.info.nodeType, n.description}; }

constexpr auto guid_of = [](const known_node& n) { return n.nodeGUID; };

/// Returns a node of a sorted list, or null.
const known_node* node_in(const std::vector<known_node>& all, iba::guid nodeGUID) {
    const auto found = std::ranges::lower_bound(all, nodeGUID, {}, guid_of);
    return found == all.end() || found->nodeGUID != nodeGUID ? nullptr : &*found;
}

/// Returns whether a failure means that the discovery did not query everything.
bool ended_early(const subnet& s) {
    return std::ranges::any_of(s.failures, [](const failure& p) {
        return p.kind == failure_kind::cancelled || p.kind == failure_kind::limit;
    });
}

bool is_link_down(const subnet& s, known_end e) {
    const node* const n = s.find(e.nodeGUID);
    if (!n || e.port >= n->ports.size() || !n->ports[e.port].info) return false;
    const iba::PortPhysicalState state = n->ports[e.port].info->portPhysicalState;
    return state != iba::PortPhysicalState::LinkUp && state != iba::PortPhysicalState::LinkErrorRecovery;
}

/// Keeps only the `most` entries that have been missing for the shortest time. Returns false if nothing was removed.
template <class T> bool leave_last(std::vector<T>& all, std::size_t most) {
    std::vector<mad::time_point> times;
    for (const T& one : all)
        if (one.missing_since) times.push_back(*one.missing_since);
    if (times.size() <= most) return false;
    const std::size_t surplus = times.size() - most;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(surplus));
    const mad::time_point limit = times[surplus];
    std::erase_if(all, [&](const T& one) { return one.missing_since && *one.missing_since < limit; });
    std::size_t left = 0;
    std::erase_if(all, [&](const T& one) { return one.missing_since && ++left > most; });
    return true;
}

} // namespace

// ---- missing parts ---------------------------------------------------------------------------------------------------

const known_node* missing_parts::find(iba::guid nodeGUID) const { return node_in(ends, nodeGUID); }

std::optional<known_end> missing_parts::far_end(known_end here) const {
    const auto found = std::ranges::lower_bound(far_ends, here, {}, [](const auto& l) { return l.first; });
    if (found == far_ends.end() || found->first != here) return std::nullopt;
    return found->second;
}

std::optional<known_end> missing_parts::only_far_end(iba::guid nodeGUID) const {
    const auto its_own =
        std::ranges::equal_range(far_ends, nodeGUID, {}, [](const auto& l) { return l.first.nodeGUID; });
    if (its_own.size() != 1) return std::nullopt;
    return its_own.front().second;
}

std::size_t missing_parts::links_down() const {
    return static_cast<std::size_t>(std::ranges::count_if(links, [](const link& l) { return l.why != cause::node; }));
}

std::string_view name_of(missing_parts::cause c) noexcept {
    switch (c) {
    case missing_parts::cause::node: return {};
    case missing_parts::cause::down: return "down";
    case missing_parts::cause::no_answer: return "timeout";
    case missing_parts::cause::moved: return "moved";
    }
    return {};
}

// ---- known parts -----------------------------------------------------------------------------------------------------

/// The nodes and links that a discovery found, sorted.
struct known_fabric::found_parts {
    found_parts(const subnet& s, const known_fabric& all) : is_cut_short(ended_early(s)) {
        std::vector<bool> is_wanted(s.nodes.size());
        for (u32 n = 0; n < s.nodes.size(); ++n) {
            is_wanted[n] = all.wants(s.nodes[n]);
            nodes.push_back({known_node_of(s.nodes[n]), is_wanted[n], {}});
        }
        std::ranges::sort(nodes, {}, [](const learned_node& n) { return n.node.nodeGUID; });
        for (u32 n = 0; n < s.nodes.size(); ++n)
            for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
                const port_ref peer = s.nodes[n].ports[p].peer;
                if (!peer) continue;
                const known_end here = known_end_of(s, {n, static_cast<u8>(p)});
                used.push_back(here);
                if (is_wanted[n] || is_wanted[peer.node])
                    links.push_back({known_link_of(here, known_end_of(s, peer)), {}});
            }
        std::ranges::sort(used);
        const auto link_of = [](const learned_link& l) -> const known_link& { return l.link; };
        std::ranges::sort(links, {}, link_of);
        const auto twice = std::ranges::unique(links, {}, link_of); // each link is found from both ends
        links.erase(twice.begin(), twice.end());
    }
    bool is_used(known_end e) const { return std::ranges::binary_search(used, e); }

    bool is_cut_short;
    std::vector<learned_node> nodes;
    std::vector<learned_link> links;
    std::vector<known_end> used; // ports with a cable
};

void known_fabric::expect(const subnet& s) {
    expected_nodes_.clear();
    is_expected_.clear();
    expected_links_.clear();
    std::vector<std::pair<known_node, bool>> nodes;
    for (const node& n : s.nodes) nodes.emplace_back(known_node_of(n), wants(n));
    std::ranges::sort(nodes, {}, [](const auto& n) { return n.first.nodeGUID; });
    for (auto& [known, is_wanted] : nodes) {
        expected_nodes_.push_back(std::move(known));
        is_expected_.push_back(is_wanted);
    }
    expected_ends_.clear();
    for (const learned_link& l : found_parts(s, *this).links) {
        expected_links_.push_back(l.link);
        expected_ends_.push_back(l.link.a);
        expected_ends_.push_back(l.link.b);
    }
    std::ranges::sort(expected_ends_);
}

std::size_t known_fabric::forget_missing() {
    const auto is_missing = [](const auto& one) { return one.missing_since.has_value(); };
    const auto wanted = [](const learned_node& n) { return n.missing_since && n.is_wanted; };
    const auto nodes = static_cast<std::size_t>(std::ranges::count_if(learned_nodes_, wanted));
    std::erase_if(learned_nodes_, is_missing);
    return nodes + std::erase_if(learned_links_, is_missing);
}

void known_fabric::take(const subnet& s, mad::time_point now) {
    found_parts found(s, *this);
    learn(found, now);
    forget_old(now);
    find_missing(s, found);
}

// Keeps nodes and links that were known before and are missing now, unless their ports have another cable.
void known_fabric::learn(found_parts& found, mad::time_point now) {
    const auto went = [&](since before) { return before || found.is_cut_short ? before : since(now); };
    const auto GUID = [](const learned_node& n) { return n.node.nodeGUID; };
    const auto link = [](const learned_link& l) -> const known_link& { return l.link; };

    std::vector<learned_node> gone_nodes;
    std::ranges::set_difference(learned_nodes_, found.nodes, std::back_inserter(gone_nodes), {}, GUID, GUID);
    std::vector<learned_link> gone_links;
    std::ranges::set_difference(learned_links_, found.links, std::back_inserter(gone_links), {}, link, link);
    const auto is_replaced = [&](known_end e) {
        return found.is_used(e) || std::ranges::binary_search(expected_ends_, e);
    };
    std::erase_if(gone_links, [&](const learned_link& l) { return is_replaced(l.link.a) || is_replaced(l.link.b); });
    for (learned_node& n : gone_nodes) n.missing_since = went(n.missing_since);
    for (learned_link& l : gone_links) l.missing_since = went(l.missing_since);

    learned_nodes_.clear();
    std::ranges::merge(gone_nodes, found.nodes, std::back_inserter(learned_nodes_), {}, GUID, GUID);
    learned_links_.clear();
    std::ranges::merge(gone_links, found.links, std::back_inserter(learned_links_), {}, link, link);
    is_full_ |= leave_last(learned_nodes_, most_missing_nodes);
    is_full_ |= leave_last(learned_links_, most_missing_links);
}

void known_fabric::forget_old(mad::time_point now) {
    forget_at_.reset();
    if (!forget_after_) return;
    const auto is_old = [&](const auto& one) {
        return one.missing_since && now - *one.missing_since >= *forget_after_;
    };
    std::erase_if(learned_nodes_, is_old);
    std::erase_if(learned_links_, is_old);
    const auto remind = [&](const auto& one) {
        if (!one.missing_since) return;
        const mad::time_point then = *one.missing_since + *forget_after_;
        forget_at_ = forget_at_ ? std::min(*forget_at_, then) : then;
    };
    for (const learned_node& n : learned_nodes_) remind(n);
    for (const learned_link& l : learned_links_) remind(l);
}

void known_fabric::find_missing(const subnet& s, const found_parts& found) {
    auto made = std::make_shared<missing_parts>();
    const auto is_learned = [&](iba::guid nodeGUID) {
        return std::ranges::binary_search(learned_nodes_, nodeGUID, {},
                                          [](const learned_node& n) { return n.node.nodeGUID; });
    };
    for (const learned_node& n : learned_nodes_) {
        made->known_nodes += n.is_wanted;
        if (n.is_wanted && n.missing_since) made->nodes.push_back(n.node);
    }
    const auto of_file = static_cast<std::ptrdiff_t>(made->nodes.size());
    for (std::size_t i = 0; i < expected_nodes_.size(); ++i) {
        const known_node& n = expected_nodes_[i];
        if (!is_expected_[i] || is_learned(n.nodeGUID)) continue;
        ++made->known_nodes;
        const bool was_missing = missing_ && std::ranges::binary_search(missing_->nodes, n.nodeGUID, {}, guid_of);
        if (!found.is_cut_short || was_missing) made->nodes.push_back(n); // found nodes are learned nodes
    }
    std::ranges::inplace_merge(made->nodes, made->nodes.begin() + of_file, {}, guid_of);

    std::vector<known_link> links;
    for (const learned_link& l : learned_links_)
        if (l.missing_since) links.push_back(l.link);
    // A discovery that ended early does not prove that anything is missing.
    const auto was_missing = [&](const known_link& l) { return missing_ && missing_->far_end(l.a) == l.b; };
    for (const known_link& l : expected_links_)
        if (!std::ranges::binary_search(found.links, l, {}, [](const learned_link& f) { return f.link; }) &&
            (!found.is_cut_short || was_missing(l)))
            links.push_back(l);
    std::ranges::sort(links);
    const auto twice = std::ranges::unique(links);
    links.erase(twice.begin(), twice.end());
    made->known_links = found.links.size() + links.size();
    using cause = missing_parts::cause;
    for (const known_link& l : links) {
        cause why = cause::node;
        if (found.is_used(l.a) || found.is_used(l.b)) why = cause::moved;
        else if (is_link_down(s, l.a) || is_link_down(s, l.b)) why = cause::down;
        else if (s.find(l.a.nodeGUID) && s.find(l.b.nodeGUID)) why = cause::no_answer;
        made->links.push_back({l, why});
        made->far_ends.emplace_back(l.a, l.b);
        made->far_ends.emplace_back(l.b, l.a);
    }
    std::ranges::sort(made->far_ends);

    std::vector<iba::guid> named;
    for (const known_link& l : links) {
        named.push_back(l.a.nodeGUID);
        named.push_back(l.b.nodeGUID);
    }
    std::ranges::sort(named);
    const auto again = std::ranges::unique(named);
    named.erase(again.begin(), again.end());
    for (const iba::guid nodeGUID : named) {
        const auto learned = std::ranges::lower_bound(learned_nodes_, nodeGUID, {},
                                                      [](const learned_node& n) { return n.node.nodeGUID; });
        if (learned != learned_nodes_.end() && learned->node.nodeGUID == nodeGUID) made->ends.push_back(learned->node);
        else if (const known_node* expected = node_in(expected_nodes_, nodeGUID)) made->ends.push_back(*expected);
    }
    missing_ = std::move(made);
}

} // namespace comad::discovery
