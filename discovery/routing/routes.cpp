// SPDX-License-Identifier: MIT
// routes.cpp - follows the routes to each LID through all forwarding tables, and finds loops and missing routes.
#include "channels.hpp"
#include <comad/discovery/routing/routes.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace comad::discovery {

namespace {

/// Follows the routes to all unicast LIDs.
class route_walk {
public:
    route_walk(const subnet& s, const lid_index& index, const forwarding_tables& tables, const route_options& how)
        : subnet_(s), index_(index), tables_(tables), how_(how), all_(s), sources_(s.nodes.size()),
          met_(s.nodes.size()), state_(s.nodes.size()), next_(s.nodes.size()), flow_(s.nodes.size()),
          load_(all_.size()) {
        for (u32 n = 0; n < s.nodes.size(); ++n) {
            const node& here = s.nodes[n];
            if (here.is_switch()) {
                if (how.switches_too) add_source(n);
                continue;
            }
            for (unsigned p = 1; p < here.ports.size(); ++p) {
                const port_ref peer = here.ports[p].peer;
                if (!peer) continue;
                if (s.nodes[peer.node].is_switch()) add_source(peer.node);
                else direct_.push_back({{n, static_cast<u8>(p)}, peer});
            }
        }
    }

    route_check run() {
        for (const lid_index::end& e : index_.ends()) {
            const bool is_switch = subnet_.nodes[e.where.node].is_switch();
            if (is_switch ? !how_.switches_too : !subnet_.at(e.where).peer) continue;
            for (unsigned LID = e.first; LID < e.first + e.count; ++LID)
                if (index_.at(LID) == e.where) follow(LID, e.where);
        }
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            auto& of_node = found_.loads.emplace_back();
            if (!subnet_.nodes[n].is_switch()) continue;
            const auto begin = load_.begin() + all_.at(n, 0);
            of_node.assign(begin, begin + all_.ports(n));
        }
        std::erase_if(found_.faults, [](const route_fault& f) { return f.pairs == 0; });
        return std::move(found_);
    }

private:
    /// A port of a CA or router, and the port it is connected to, which is not a switch port.
    struct source_port {
        port_ref where, peer;
    };
    // The state of a switch for the current LID: links to the destination, or the reason why the LID does not arrive.
    using state = u32;
    static constexpr state first_fault = u32{1} << 16, on_the_way = ~u32{0}, not_known = on_the_way - 1;

    void add_source(u32 sw) {
        if (sources_[sw]++ == 0) starts_.push_back(sw);
    }

    void follow(unsigned LID, port_ref to) {
        ++epoch_;
        visited_.clear();
        for (const u32 sw : starts_) walk(sw, LID, to);
        // A port sends no packets to itself.
        const port_ref near = subnet_.nodes[to.node].is_switch() ? to : subnet_.at(to).peer;
        const bool is_direct = !subnet_.nodes[near.node].is_switch();
        for (const u32 sw : starts_) {
            const u64 pairs = sources_[sw] - (!is_direct && near.node == sw ? 1 : 0);
            flow_[sw] = static_cast<u32>(pairs);
            count(pairs, state_[sw], LID);
        }
        for (const source_port& from : direct_) {
            if (from.where == to) continue;
            if (from.peer == to) count(1, 0, LID);
            else count(1, fault(route_fault::kind::wrong_end, from.where), LID);
        }
        share_links();
    }

    /// Adds up the routes of one LID, starting with the farthest switches.
    void share_links() {
        std::size_t farthest = 0;
        for (const u32 sw : visited_) {
            if (state_[sw] >= first_fault) continue;
            farthest = std::max<std::size_t>(farthest, state_[sw]);
            if (by_links_.size() <= farthest) by_links_.resize(farthest + 1);
            by_links_[state_[sw]].push_back(sw);
        }
        for (std::size_t links = std::min(farthest + 1, by_links_.size()); links-- > 0;) {
            for (const u32 sw : by_links_[links]) {
                const u64 routes = flow_[sw];
                if (routes == 0 || next_[sw] == none) continue;
                ++load_[next_[sw]].lids;
                load_[next_[sw]].routes += routes;
                const channels::far_end& far = all_.far(next_[sw]);
                if (far.is_switch) flow_[far.node] += static_cast<u32>(routes);
            }
            by_links_[links].clear();
        }
        for (const u32 sw : visited_) flow_[sw] = 0;
    }

    void count(u64 pairs, state s, unsigned LID) {
        if (pairs == 0) return;
        found_.pairs += pairs;
        if (s == not_known) {
            found_.unknown += pairs;
        } else if (s >= first_fault) {
            found_.unreachable += pairs;
            route_fault& f = found_.faults[s - first_fault];
            f.pairs += pairs;
            if (f.lids.empty() || f.lids.back() != LID) f.lids.push_back(static_cast<u16>(LID));
        } else {
            if (found_.by_hops.size() <= s) found_.by_hops.resize(s + 1);
            found_.by_hops[s] += pairs;
        }
    }

    void walk(u32 from, unsigned LID, port_ref to) {
        path_.clear();
        u32 here = from;
        state end = on_the_way;
        while (end == on_the_way) {
            if (met_[here] == epoch_) {
                end = state_[here] == on_the_way ? loop_at(here) : state_[here];
                break;
            }
            met_[here] = epoch_;
            state_[here] = on_the_way;
            visited_.push_back(here);
            path_.push_back(here);
            end = step(here, LID, to);
        }
        for (; !path_.empty(); path_.pop_back()) {
            if (end < first_fault && next_[path_.back()] != none) ++end;
            state_[path_.back()] = end;
        }
    }

    /// Moves to the next switch (on_the_way), or ends the route: successfully with 0 links to go.
    state step(u32& here, unsigned LID, port_ref to) {
        using enum route_fault::kind;
        const switch_forwarding& table = tables_.of_node[here];
        next_[here] = none;
        const u8 out = table.out_port(LID);
        if (out == not_forwarded && !table.knows(LID)) return not_known;
        if (out >= all_.ports(here)) return fault(no_entry, {here, 0});
        if (out == 0) return to == port_ref{here, 0} ? 0 : fault(wrong_end, {here, 0});
        const u32 channel = all_.at(here, out);
        const channels::far_end& far = all_.far(channel);
        if (!far) return fault(no_link, {here, out});
        next_[here] = channel;
        if (far.is_switch) {
            here = far.node;
            return on_the_way;
        }
        return to == port_ref{far.node, far.port} ? 0 : fault(wrong_end, {here, out});
    }

    state fault(route_fault::kind what, port_ref where, std::vector<port_ref> circle = {}) {
        const auto key = std::tuple(what, where.node, where.port, circle_key(circle));
        const auto known = by_place_.find(key);
        if (known != by_place_.end()) return first_fault + known->second;
        if (found_.faults.size() >= how_.max_faults && what != route_fault::kind::others)
            return fault(route_fault::kind::others, {});
        const auto number = static_cast<u32>(found_.faults.size());
        by_place_.emplace(key, number);
        found_.faults.push_back({what, where, std::move(circle), {}, 0});
        return first_fault + number;
    }

    static std::vector<std::pair<u32, u8>> circle_key(const std::vector<port_ref>& circle) {
        std::vector<std::pair<u32, u8>> key;
        for (const port_ref r : circle) key.emplace_back(r.node, r.port);
        return key;
    }

    /// Returns the loop that the path closes here. It starts at its lowest node, wherever the path entered it.
    state loop_at(u32 here) {
        std::vector<port_ref> circle;
        for (auto at = std::ranges::find(path_, here); at != path_.end(); ++at) circle.push_back(all_.of(next_[*at]));
        std::ranges::rotate(circle, std::ranges::min_element(circle, {}, &port_ref::node));
        const port_ref first = circle.front();
        return fault(route_fault::kind::loop, first, std::move(circle));
    }

    static constexpr u32 none = ~u32{0};
    const subnet& subnet_;
    const lid_index& index_;
    const forwarding_tables& tables_;
    const route_options how_;
    const channels all_;
    std::vector<u32> sources_, starts_; // number of ports that send through a switch; the switches that have such ports
    std::vector<source_port> direct_;   // ports that are not connected to a switch
    std::vector<u32> met_;              // the epoch_ of the last LID that passed
    std::vector<state> state_;
    std::vector<u32> next_; // the channel by which the LID leaves a switch
    std::vector<u32> flow_; // routes through a switch
    std::vector<channel_load> load_;
    std::vector<u32> visited_, path_;
    std::vector<std::vector<u32>> by_links_; // switches by links to go
    std::map<std::tuple<route_fault::kind, u32, u8, std::vector<std::pair<u32, u8>>>, u32> by_place_;
    u32 epoch_ = 0;
    route_check found_;
};

/// Tracks which nodes are connected.
class joined_nodes {
public:
    explicit joined_nodes(std::size_t count) : root_(count) {
        for (u32 n = 0; n < count; ++n) root_[n] = n;
    }
    u32 root_of(u32 n) {
        while (root_[n] != n) n = root_[n] = root_[root_[n]];
        return n;
    }
    /// Connects two nodes. Returns false if they were connected before.
    bool join(u32 a, u32 b) {
        a = root_of(a);
        b = root_of(b);
        root_[a] = b;
        return a != b;
    }
    void part(u32 n) { root_[n] = n; }

private:
    std::vector<u32> root_;
};

/// Checks the trees of all multicast groups.
class group_walk {
public:
    group_walk(const subnet& s, const forwarding_tables& tables)
        : subnet_(s), tables_(tables), all_(s), joined_(s.nodes.size()) {
        for (u32 n = 0; n < s.nodes.size(); ++n) {
            if (!s.nodes[n].is_switch()) continue;
            switches_.push_back(n);
            const switch_forwarding& t = tables.of_node[n];
            last_ = std::max(last_, t.last_group);
            is_complete_ = is_complete_ && t.is_known && t.missing_multicast.empty();
        }
    }

    group_check run(std::span<const multicast_member> members) {
        for (const multicast_member& m : members) {
            end_ports_[m.MLID].push_back(m.where);
            last_ = std::max(last_, m.MLID);
        }
        for (unsigned MLID = first_mlid; MLID <= last_; ++MLID) follow(MLID);
        return std::move(found_);
    }

private:
    void follow(unsigned MLID) {
        using enum group_fault::kind;
        std::vector<u32> members;
        for (const u32 n : switches_)
            if (is_member(n, MLID)) members.push_back(n);
        const auto joined = end_ports_.find(MLID);
        // A single member needs no forwarding.
        const bool is_joined = joined != end_ports_.end() && joined->second.size() > 1;
        if (members.empty() && !is_joined) return;
        ++found_.groups;
        if (!is_complete_) { // a missing part would look like a tree in pieces
            ++found_.not_evaluated;
            return;
        }
        for (const u32 n : members) joined_.part(n);
        for (const u32 n : members) {
            for (unsigned p = 1; p < all_.ports(n); ++p) {
                const channels::far_end& far = all_.far(all_.at(n, p));
                if (!far.is_switch || !tables_.of_node[n].forwards(MLID, p)) continue;
                const port_ref out{n, static_cast<u8>(p)};
                const bool is_answered = tables_.of_node[far.node].forwards(MLID, far.port);
                if (!is_member(far.node, MLID)) add({dropped, MLID, out});
                else if (!is_answered || std::pair(n, p) < std::pair(far.node, unsigned{far.port})) {
                    if (!joined_.join(n, far.node)) add({loop, MLID, out});
                }
            }
        }
        if (!members.empty()) find_parts(MLID, members);
        if (is_joined) find_members(MLID, joined->second);
    }

    /// Finds switches and end ports that are cut off in one or both directions.
    void find_parts(unsigned MLID, const std::vector<u32>& members) {
        const auto has_ends = [&](u32 n) { return !ends_of(n, MLID).empty(); };
        const auto with_ends = std::ranges::find_if(members, has_ends);
        u32 first = with_ends != members.end() ? *with_ends : members.front();
        for (const u32 n : members)
            if (has_ends(n) && subnet_.nodes[n].info.nodeGUID < subnet_.nodes[first].info.nodeGUID) first = n;
        const std::vector<bool> reached = reachable(first, MLID, true), reaching = reachable(first, MLID, false);
        for (const u32 n : members) {
            const bool is_apart = has_ends(n) ? !reached[n] || !reaching[n] : !reached[n] && !reaching[n];
            if (!is_apart) continue;
            add_part(MLID, {n, 0}, first, reached[n], reaching[n]);
            for (const port_ref end : ends_of(n, MLID))
                if (end.node != n) add_part(MLID, end, first, reached[n], reaching[n]);
        }
    }

    /// Finds members to which their own switch does not forward.
    void find_members(unsigned MLID, const std::vector<port_ref>& joined) {
        for (const port_ref end : joined) {
            const port_ref by = subnet_.nodes[end.node].is_switch() ? port_ref{end.node, 0} : subnet_.at(end).peer;
            const bool is_at_switch = by && subnet_.nodes[by.node].is_switch();
            if (is_at_switch && !forwards(by.node, MLID, by.port))
                add_part(MLID, end, by.node, false, is_member(by.node, MLID));
        }
    }

    void add_part(unsigned MLID, port_ref where, u32 from, bool is_reached, bool reaches) {
        add({group_fault::kind::apart, MLID, where, {from, 0}, is_reached, reaches});
    }
    void add(const group_fault& f) {
        if (found_.faults.size() < max_group_faults) found_.faults.push_back(f);
        else ++found_.more_faults;
    }

    bool forwards(u32 n, unsigned MLID, unsigned port) const { return tables_.of_node[n].forwards(MLID, port); }

    /// Returns the ports to which a switch delivers packets of the group: CAs, routers and its own port 0.
    std::vector<port_ref> ends_of(u32 n, unsigned MLID) const {
        std::vector<port_ref> ends;
        if (forwards(n, MLID, 0)) ends.push_back({n, 0});
        for (unsigned p = 1; p < all_.ports(n); ++p) {
            const channels::far_end& far = all_.far(all_.at(n, p));
            if (far && !far.is_switch && forwards(n, MLID, p)) ends.push_back({far.node, far.port});
        }
        return ends;
    }

    /// Returns the switches that packets from `start` reach; or, if not is_forward, the switches whose packets reach `start`.
    std::vector<bool> reachable(u32 start, unsigned MLID, bool is_forward) const {
        std::vector<bool> met(subnet_.nodes.size());
        std::vector<u32> next{start};
        met[start] = true;
        while (!next.empty()) {
            const u32 n = next.back();
            next.pop_back();
            for (unsigned p = 1; p < all_.ports(n); ++p) {
                const channels::far_end& far = all_.far(all_.at(n, p));
                if (!far.is_switch || met[far.node] || !is_member(far.node, MLID)) continue;
                if (!(is_forward ? forwards(n, MLID, p) : forwards(far.node, MLID, far.port))) continue;
                met[far.node] = true;
                next.push_back(far.node);
            }
        }
        return met;
    }

    bool is_member(u32 n, unsigned MLID) const {
        const switch_forwarding& t = tables_.of_node[n];
        for (unsigned position = 0; position < t.positions; ++position)
            if (t.mask(MLID, position)) return true;
        return false;
    }

    const subnet& subnet_;
    const forwarding_tables& tables_;
    const channels all_;
    joined_nodes joined_;
    std::vector<u32> switches_;
    std::map<unsigned, std::vector<port_ref>> end_ports_; // members by multicast LID
    unsigned last_ = 0;
    bool is_complete_ = true;
    group_check found_;
};

} // namespace

group_check check_groups(const subnet& s, const forwarding_tables& tables, std::span<const multicast_member> members) {
    return group_walk(s, tables).run(members);
}

route_check check_routes(const subnet& s, const lid_index& index, const forwarding_tables& tables, route_options how) {
    return route_walk(s, index, tables, how).run();
}

} // namespace comad::discovery
