// SPDX-License-Identifier: MIT
// credit_loops.cpp - builds the channel dependency graph, and finds its strongly connected components and a cycle in each.
#include "channels.hpp"
#include <comad/discovery/routing/detail/credit_loops.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace comad::discovery {

namespace {

/// The dependency graph. Each lane of a channel to a switch has a bit for each lane of that switch's ports.
class dependency_graph {
public:
    dependency_graph(const channels& all, unsigned VLs) : all_(all), VLs_(VLs), first_(all.size() + 1) {
        std::size_t words = 0;
        for (u32 c = 0; c < all.size(); ++c) {
            first_[c] = words;
            if (all.far(c).is_switch) words += width(c) * VLs;
        }
        first_[all.size()] = words;
        bits_.resize(words);
    }

    u32 lanes() const noexcept { return all_.size() * VLs_; }
    u32 lane_of(u32 channel, unsigned VL) const noexcept { return channel * VLs_ + VL; }
    lane described(u32 l) const { return {all_.of(l / VLs_), static_cast<u8>(l % VLs_)}; }
    bool has_any(u32 l) const noexcept {
        const std::size_t begin = row(l);
        for (std::size_t i = 0; i < row_width(l); ++i)
            if (bits_[begin + i]) return true;
        return false;
    }

    /// Adds a dependency. Precondition: `from` leads to the switch that `to` leaves.
    void add(u32 from, u32 to) noexcept {
        const u32 bit = to - lane_of(all_.at(all_.far(from / VLs_).node, 0), 0);
        bits_[row(from) + bit / 64] |= u64{1} << bit % 64;
    }
    /// Returns the next lane after `last` that `from` depends on. `last` = lanes(): starts with the first one. Returns lanes() at the
    /// end.
    u32 next(u32 from, u32 last) const noexcept {
        const std::size_t begin = row(from), words = row_width(from);
        if (words == 0) return lanes();
        const u32 origin = lane_of(all_.at(all_.far(from / VLs_).node, 0), 0);
        std::size_t bit = last == lanes() ? 0 : last - origin + 1;
        for (std::size_t word = bit / 64; word < words; ++word, bit = word * 64) {
            const u64 left = bits_[begin + word] >> bit % 64;
            if (left) return origin + static_cast<u32>(bit) + static_cast<u32>(std::countr_zero(left));
        }
        return lanes();
    }
    std::size_t size() const noexcept {
        std::size_t count = 0;
        for (const u64 word : bits_) count += static_cast<std::size_t>(std::popcount(word));
        return count;
    }

private:
    std::size_t width(u32 channel) const noexcept {
        return (std::size_t{all_.ports(all_.far(channel).node)} * VLs_ + 63) / 64;
    }
    std::size_t row_width(u32 l) const noexcept {
        const u32 channel = l / VLs_;
        return (first_[channel + 1] - first_[channel]) / VLs_;
    }
    std::size_t row(u32 l) const noexcept { return first_[l / VLs_] + l % VLs_ * row_width(l); }

    const channels& all_;
    const u32 VLs_;
    std::vector<std::size_t> first_; // the word of a channel's lane 0
    std::vector<u64> bits_;
};

/// Adds the routes of all LIDs to the graph.
class route_dependencies {
public:
    route_dependencies(const subnet& s, const channels& all, const forwarding_tables& tables,
                       const virtual_lanes& lanes, dependency_graph& graph, const credit_options& how)
        : all_(all), tables_(tables), lanes_(lanes), graph_(graph),
          met_(std::size_t{graph.lanes()} * (lanes.is_single() ? 1 : virtual_lanes::sls)) {
        std::vector<bool> starts(s.nodes.size());
        const auto add = [&](port_ref source, u32 sw, u8 in) {
            if (lanes.is_single() && starts[sw]) return;
            starts[sw] = true;
            starts_.push_back({source, sw, in});
        };
        for (u32 n = 0; n < s.nodes.size(); ++n) {
            if (s.nodes[n].is_switch()) {
                if (how.switches_too) add({n, 0}, n, 0);
                continue;
            }
            for (u8 number = 0; const port& p : s.nodes[n].ports) {
                if (p.peer && s.nodes[p.peer.node].is_switch()) add({n, number}, p.peer.node, p.peer.port);
                ++number;
            }
        }
    }

    void follow(unsigned LID) {
        ++epoch_;
        for (const start& from : starts_) walk(from, LID, lanes_.SL(from.source, LID));
    }

private:
    struct start {
        port_ref source;
        u32 sw;
        u8 in;
    };

    /// Follows a route until it ends, or until its rest was followed before with this SL.
    void walk(const start& from, unsigned LID, u8 SL) {
        u32 here = from.sw, before = none;
        u8 in = from.in;
        for (;;) {
            const u8 out = tables_.of_node[here].out_port(LID);
            if (out == 0 || out >= all_.ports(here)) return;
            const u32 channel = all_.at(here, out);
            const channels::far_end& far = all_.far(channel);
            if (!far.is_switch) return; // a CA accepts every packet
            const u8 VL = lanes_.is_single() ? u8{0} : lanes_.VL(here, in, out, SL);
            if (VL >= virtual_lanes::dropped) return;
            const u32 now = graph_.lane_of(channel, VL);
            if (before != none) graph_.add(before, now);
            u32& met = met_[lanes_.is_single() ? now : std::size_t{now} * virtual_lanes::sls + SL];
            if (met == epoch_) return;
            met = epoch_;
            before = now;
            here = far.node;
            in = far.port;
        }
    }

    static constexpr u32 none = ~u32{0};
    const channels& all_;
    const forwarding_tables& tables_;
    const virtual_lanes& lanes_;
    dependency_graph& graph_;
    std::vector<start> starts_;
    std::vector<u32> met_; // epoch_ of the last LID that passed, by lane (and SL)
    u32 epoch_ = 0;
};

void add_groups(const subnet& s, const channels& all, const forwarding_tables& tables, const virtual_lanes& lanes,
                dependency_graph& graph) {
    const auto lane_by = [&](u32 sw, u8 in, unsigned out) {
        const u8 VL = lanes.is_single() ? u8{0} : lanes.VL(sw, in, static_cast<u8>(out), 0);
        return std::pair(graph.lane_of(all.at(sw, out), VL), VL < virtual_lanes::dropped);
    };
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!s.nodes[n].is_switch()) continue;
        const switch_forwarding& t = tables.of_node[n];
        for (unsigned MLID = first_mlid; MLID <= t.last_group; ++MLID) {
            for (unsigned in = 1; in < all.ports(n); ++in) {
                const channels::far_end& before = all.far(all.at(n, in));
                if (!before.is_switch || !tables.of_node[before.node].forwards(MLID, before.port)) continue;
                for (unsigned out = 1; out < all.ports(n); ++out) {
                    if (out == in || !t.forwards(MLID, out) || !all.far(all.at(n, out)).is_switch) continue;
                    // In a tree, the port by which a packet entered the previous switch is unknown: port 0 is assumed.
                    const auto [from, is_sent] = lane_by(before.node, 0, before.port);
                    const auto [to, is_sent_on] = lane_by(n, static_cast<u8>(in), out);
                    if (is_sent && is_sent_on) graph.add(from, to);
                }
            }
        }
    }
}

/// Finds components with Tarjan's algorithm. Not recursive, because a route may be thousands of links long.
class component_search {
public:
    explicit component_search(const dependency_graph& graph)
        : graph_(graph), index_(graph.lanes()), low_(graph.lanes()), is_open_(graph.lanes()) {}

    /// Returns the components that contain a cycle, each in the order of its lanes.
    std::vector<std::vector<u32>> run() {
        for (u32 l = 0; l < graph_.lanes(); ++l)
            if (index_[l] == 0 && graph_.has_any(l)) visit(l);
        std::ranges::sort(found_);
        return std::move(found_);
    }

private:
    struct frame {
        u32 lane, last;
    };

    void open(u32 l) {
        index_[l] = low_[l] = ++count_;
        is_open_[l] = true;
        members_.push_back(l);
        frames_.push_back({l, graph_.lanes()});
    }

    void visit(u32 root) {
        open(root);
        while (!frames_.empty()) {
            frame& f = frames_.back();
            const u32 here = f.lane;
            f.last = graph_.next(here, f.last);
            if (const u32 to = f.last; to != graph_.lanes()) {
                if (index_[to] == 0) open(to);
                else if (is_open_[to]) low_[here] = std::min(low_[here], index_[to]);
                continue;
            }
            frames_.pop_back();
            if (!frames_.empty()) low_[frames_.back().lane] = std::min(low_[frames_.back().lane], low_[here]);
            if (low_[here] == index_[here]) close(here);
        }
    }

    void close(u32 root) {
        const auto begin = std::ranges::find(members_.rbegin(), members_.rend(), root).base() - 1;
        std::vector<u32> component(begin, members_.end());
        members_.erase(begin, members_.end());
        for (const u32 l : component) is_open_[l] = false;
        if (component.size() == 1 && !waits_for_itself(root)) return;
        std::ranges::sort(component);
        found_.push_back(std::move(component));
    }

    /// Returns whether a cable leads back into its own port.
    bool waits_for_itself(u32 l) const {
        u32 to = graph_.next(l, graph_.lanes());
        while (to != graph_.lanes() && to != l) to = graph_.next(l, to);
        return to == l;
    }

    const dependency_graph& graph_;
    std::vector<u32> index_, low_;
    std::vector<bool> is_open_;
    std::vector<u32> members_;
    std::vector<frame> frames_;
    u32 count_ = 0;
    std::vector<std::vector<u32>> found_;
};

/// Returns a shortest cycle through the first lane. Precondition: there is one.
std::vector<u32> cycle_in(const dependency_graph& graph, const std::vector<u32>& component) {
    const auto place = [&](u32 l) {
        const auto at = std::ranges::lower_bound(component, l);
        return at != component.end() && *at == l ? at - component.begin() : std::ptrdiff_t{-1};
    };
    std::vector<std::ptrdiff_t> from(component.size(), -1);
    std::vector<std::ptrdiff_t> order{0};
    for (std::size_t next = 0;; ++next) {
        const std::ptrdiff_t here = order[next];
        const u32 l = component[static_cast<std::size_t>(here)];
        for (u32 to = graph.next(l, graph.lanes()); to != graph.lanes(); to = graph.next(l, to)) {
            const std::ptrdiff_t at = place(to);
            if (at < 0) continue;
            if (at == 0) {
                std::vector<u32> cycle;
                for (std::ptrdiff_t back = here; back != 0; back = from[static_cast<std::size_t>(back)])
                    cycle.push_back(component[static_cast<std::size_t>(back)]);
                cycle.push_back(component[0]);
                std::ranges::reverse(cycle);
                return cycle;
            }
            if (from[static_cast<std::size_t>(at)] >= 0) continue;
            from[static_cast<std::size_t>(at)] = here;
            order.push_back(at);
        }
    }
}

} // namespace

credit_check find_credit_loops(const subnet& s, const lid_index& index, const forwarding_tables& tables,
                               const virtual_lanes& lanes, credit_options how) {
    const channels all(s);
    credit_check found;
    found.VLs = lanes.is_single() ? 1 : lanes.VLs();
    dependency_graph graph(all, found.VLs);
    route_dependencies routes(s, all, tables, lanes, graph, how);
    for (const lid_index::end& e : index.ends()) {
        if (s.nodes[e.where.node].is_switch() && !how.switches_too) continue;
        for (unsigned LID = e.first; LID < e.first + e.count; ++LID) routes.follow(LID);
    }
    if (how.multicast) add_groups(s, all, tables, lanes, graph);
    found.dependencies = graph.size();
    for (const std::vector<u32>& component : component_search(graph).run()) {
        credit_loop& loop = found.loops.emplace_back();
        loop.lanes = component.size();
        for (const u32 l : cycle_in(graph, component)) loop.cycle.push_back(graph.described(l));
    }
    return found;
}

} // namespace comad::discovery
