// SPDX-License-Identifier: MIT
// cabling.cpp - names looked up, then plan and subnet held against each other port by port.
#include <comad/discovery/cabling.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace comad::discovery {
namespace {

/// All nodes by all that they are called.
class called_nodes {
public:
    called_nodes(const subnet& s, const node_names& names) {
        for (u32 i = 0; i < s.nodes.size(); ++i) {
            const node& n = s.nodes[i];
            add(n.description, i);
            add(names.of(n), i);
            GUIDs_.emplace(n.info.nodeGUID, i);
            for (const port& p : n.ports)
                if (value(p.portGUID)) GUIDs_.emplace(p.portGUID, i);
        }
    }

    /// By index; `why` says why not.
    std::optional<u32> find(const std::string& name, std::string& why) const {
        if (const auto found = names_.find(name); found != names_.end()) {
            if (found->second.others == 0) return found->second.first;
            why = fmt::format("{} nodes are called {}: take a GUID", found->second.others + 1, iba::as_given(name));
            return std::nullopt;
        }
        if (const auto GUID = iba::parse_guid_number(name); GUID && !GUID->is_larger)
            if (const auto found = GUIDs_.find(iba::guid{GUID->value}); found != GUIDs_.end()) return found->second;
        why = fmt::format("there is no node {}", iba::as_given(name));
        return std::nullopt;
    }

private:
    struct bearers {
        u32 first;
        unsigned others = 0;
    };
    void add(const std::string& name, u32 i) {
        const auto [found, is_new] = names_.try_emplace(name, bearers{i});
        if (!is_new && found->second.first != i && last_ != std::pair(&found->second, i)) {
            ++found->second.others;
            last_ = {&found->second, i};
        }
    }

    std::unordered_map<std::string, bearers> names_;
    std::unordered_map<iba::guid, u32> GUIDs_;
    std::pair<bearers*, u32> last_{}; // a node whose two names are the same is one
};

class cabling_comparison {
public:
    cabling_comparison(std::span<const planned_cable> plan, const subnet& s, const node_names& names)
        : plan_(plan), s_(s), names_(names), cables_(plan.size()) {}

    cabling run() {
        look_up();
        for (const link_ends& l : links_of(s_)) take_link(l);
        for (std::size_t i = 0; i < unplanned_.size(); ++i) find_swap(i);
        for (std::size_t i = 0; i < unplanned_.size(); ++i) find_move(i);
        for (u32 c = 0; c < cables_.size(); ++c)
            if (!cables_[c].is_settled) add_missing(c);
        std::ranges::stable_sort(result_.faults, {}, [](const cabling_fault& f) { return f.cables.front(); });
        for (const unplanned& u : unplanned_)
            if (!u.is_settled) result_.faults.push_back({cabling_fault::kind::extra, {}, {u.link}, {}});
        return std::move(result_);
    }

private:
    /// A cable of the plan, by ports that are there.
    struct cable {
        port_ref a, b; // nothing: there is no such port
        std::string why;
        bool is_settled = false;

        port_ref other(port_ref end) const { return end == a ? b : a; }
    };
    struct unplanned {
        link_ends link;
        bool is_settled = false;
    };

    static u64 key(port_ref r) { return u64{r.node} << 8 | r.port; }

    void look_up() {
        const called_nodes nodes(s_, names_);
        for (u32 c = 0; c < plan_.size(); ++c) {
            cables_[c].a = port_of(nodes, c, plan_[c].a);
            cables_[c].b = port_of(nodes, c, plan_[c].b);
        }
    }

    port_ref port_of(const called_nodes& nodes, u32 c, const planned_end& end) {
        std::string why;
        const auto node = nodes.find(end.node, why);
        port_ref found;
        if (node && (end.port == 0 || end.port >= s_.nodes[*node].ports.size()))
            why = fmt::format("{} has no port {}", iba::as_given(end.node), end.port);
        else if (node) found = {*node, end.port};
        if (!why.empty()) explain(c, why);
        if (!found) return {};
        const auto [other, is_new] = planned_.emplace(key(found), c);
        if (!is_new)
            throw std::runtime_error(fmt::format("line {} of the plan: port {} of {} has a cable in line {} already",
                                                 plan_[c].line, end.port, iba::as_given(end.node),
                                                 plan_[other->second].line));
        return found;
    }

    void explain(u32 c, const std::string& why) {
        std::string& all = cables_[c].why;
        all += (all.empty() ? "" : "; ") + why;
    }

    /// Null: no cable is planned there.
    const u32* planned_at(port_ref r) const {
        const auto found = planned_.find(key(r));
        return found == planned_.end() ? nullptr : &found->second;
    }

    void take_link(const link_ends& l) {
        ++result_.links;
        const u32 *from = planned_at(l.from), *to = planned_at(l.to);
        if (from && to && *from == *to) {
            ++result_.as_planned;
            cables_[*from].is_settled = true;
        } else {
            unplanned_at_.emplace(key(l.from), unplanned_.size());
            unplanned_.push_back({l});
        }
    }

    void find_swap(std::size_t i) {
        const link_ends l = unplanned_[i].link;
        const u32 *from = planned_at(l.from), *to = planned_at(l.to);
        if (unplanned_[i].is_settled || !from || !to) return;
        const port_ref here = cables_[*from].other(l.from), there = cables_[*to].other(l.to);
        if (!here || !there || s_.at(here).peer != there) return;
        auto second = unplanned_at_.find(key(here));
        if (second == unplanned_at_.end()) second = unplanned_at_.find(key(there));
        if (second == unplanned_at_.end() || unplanned_[second->second].is_settled) return;
        settle(cabling_fault::kind::swapped, {std::min(*from, *to), std::max(*from, *to)}, {i, second->second});
    }

    void find_move(std::size_t i) {
        const link_ends l = unplanned_[i].link;
        const u32 *from = planned_at(l.from), *to = planned_at(l.to);
        if (unplanned_[i].is_settled || (from != nullptr) == (to != nullptr)) return;
        const u32 c = from ? *from : *to;
        const port_ref own = cables_[c].other(from ? l.from : l.to);
        if (own && !s_.at(own).peer) settle(cabling_fault::kind::moved, {c}, {i});
    }

    void settle(cabling_fault::kind what, std::vector<u32> cables, std::initializer_list<std::size_t> links) {
        cabling_fault f{what, std::move(cables), {}, {}};
        for (const u32 c : f.cables) cables_[c].is_settled = true;
        for (const std::size_t i : links) {
            unplanned_[i].is_settled = true;
            f.links.push_back(unplanned_[i].link);
        }
        result_.faults.push_back(std::move(f));
    }

    void add_missing(u32 c) {
        for (const port_ref end : {cables_[c].a, cables_[c].b}) {
            if (!end || !s_.at(end).peer) continue;
            const port_ref peer = s_.at(end).peer;
            explain(c, fmt::format("{}[{}] leads to {}[{}]", names_.of(s_.nodes[end.node]), end.port,
                                   names_.of(s_.nodes[peer.node]), peer.port));
        }
        result_.faults.push_back({cabling_fault::kind::missing, {c}, {}, cables_[c].why});
    }

    std::span<const planned_cable> plan_;
    const subnet& s_;
    const node_names& names_;
    std::vector<cable> cables_;
    std::unordered_map<u64, u32> planned_; ///< cable by port
    std::vector<unplanned> unplanned_;
    std::unordered_map<u64, std::size_t> unplanned_at_; ///< by its first end
    cabling result_;
};

} // namespace

cabling compare_cabling(std::span<const planned_cable> plan, const subnet& s, const node_names& names) {
    return cabling_comparison(plan, s, names).run();
}

} // namespace comad::discovery
