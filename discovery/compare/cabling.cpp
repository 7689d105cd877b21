// SPDX-License-Identifier: MIT
// cabling.cpp - resolves the names of a cabling plan, then compares plan and subnet port by port.
#include "../database/descriptions.hpp"
#include <comad/discovery/compare/detail/cabling.hpp>
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/detail/first_word.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace comad::discovery {
namespace {

/// Finds nodes by their names.
class named_nodes {
public:
    named_nodes(const subnet& s, const node_names& names) : s_(s) {
        for (u32 i = 0; i < s.nodes.size(); ++i) {
            const node& n = s.nodes[i];
            for (const std::string& name : {n.description, names.of(n)}) {
                add(exact_, name, i);
                add(loose_, lower_case(iba::trimmed(name)), i);
                add_parts(name, i);
            }
            guids_.emplace(n.info.nodeGUID, i);
            ids_.emplace(lower_case(topology_id(n)), i);
            for (const port& p : n.ports)
                if (value(p.portGUID)) guids_.emplace(p.portGUID, i);
        }
    }

    /// Returns the port that a plan names. If it is invalid, `why` contains the reason.
    port_ref find(const planned_end& end, std::string& why) const {
        if (end.blade != 0) return on_blade(end, why);
        if (end.port == 0) return of_adapter(end, why);
        const auto node = find_node(end.node, why);
        return node ? checked({*node, end.port}, end, why) : port_ref{};
    }

private:
    /// The nodes with one name: the first one, and the number of others.
    struct bearers {
        u32 first, last;
        unsigned others = 0;
    };
    using index = std::unordered_map<std::string, bearers>;

    static void add(index& names, std::string name, u32 i) {
        bearers& found = names.try_emplace(std::move(name), bearers{i, i}).first->second;
        if (found.last == i) return; // nodes are added one after the other
        found.last = i;
        ++found.others;
    }

    void add_parts(const std::string& name, u32 i) {
        if (s_.nodes[i].info.nodeType == iba::NodeType::CA) add(loose_, lower_case(first_word(name)), i);
        const auto m = parse_managed_switch(name);
        if (!m) return;
        add(loose_, lower_case(m->system), i);
        add(loose_, lower_case(chip_name(*m)), i);
        add(loose_, lower_case(fmt::format("{}{}{}/U{}", m->system, m->slot.empty() ? "" : "/", m->slot, m->chip)), i);
        const auto line = m->slot.starts_with('L') ? iba::parse_digits(m->slot.substr(1), 10) : std::nullopt;
        if (line) add(blades_, blade_key(m->system, line->value, m->chip), i);
    }

    static std::string blade_key(std::string_view system, u64 blade, unsigned chip) {
        return fmt::format("{}/{}/{}", lower_case(system), blade, chip);
    }

    /// Returns the only node with this name. If several nodes have it, `wanted` is the form that the message suggests.
    static std::optional<u32> one_of(const index& names, const std::string& key, const std::string& given,
                                     std::string_view wanted, std::string& why) {
        const auto found = names.find(key);
        if (found == names.end()) return std::nullopt;
        if (found->second.others == 0) return found->second.first;
        why = fmt::format("{} nodes are named {}; {}", found->second.others + 1, iba::as_given(given), wanted);
        return std::nullopt;
    }

    std::optional<u32> find_node(const std::string& name, std::string& why) const {
        if (const auto found = one_of(exact_, name, name, "use a GUID", why); found || !why.empty()) return found;
        if (const auto GUID = iba::parse_guid_number(name); GUID && !GUID->is_larger)
            if (const auto found = guids_.find(iba::guid{GUID->value}); found != guids_.end()) return found->second;
        const std::string key = lower_case(iba::trimmed(name));
        if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
        const auto found = one_of(loose_, key, name, "use the full description or a GUID", why);
        if (!found && why.empty()) why = fmt::format("unknown node {}", iba::as_given(name));
        return found;
    }

    /// Resolves `Blade 16_Port 2/20`: port 20 of chip U2 on board L16.
    port_ref on_blade(const planned_end& end, std::string& why) const {
        std::string system = lower_case(iba::trimmed(end.node));
        if (!blades_.contains(blade_key(system, end.blade, end.chip))) { // any node of the chassis identifies it
            std::string unknown;
            const auto node = find_node(end.node, unknown);
            const auto m = node ? parse_managed_switch(s_.nodes[*node].description) : std::nullopt;
            if (m) system = m->system;
            else if (!node && !loose_.contains(system)) return why = std::move(unknown), port_ref{};
        }
        const auto found =
            one_of(blades_, blade_key(system, end.blade, end.chip), end.node, "use the GUID of the chip", why);
        if (!found && why.empty())
            why = fmt::format("{} has no blade {} with a chip {}", iba::as_given(end.node), end.blade, end.chip);
        return found ? checked({*found, end.port}, end, why) : port_ref{};
    }

    /// Resolves words that name the adapter: `node17 mlx5_0`, or `mlx5_0` of the node node17.
    port_ref of_adapter(const planned_end& end, std::string& why) const {
        const std::string host = lower_case(iba::trimmed(end.node)), adapter = lower_case(end.words);
        for (const std::string& name : {adapter, fmt::format("{} {}", host, adapter)}) {
            if (!name.starts_with(host)) continue;
            const auto node = one_of(loose_, name, name, "use a GUID and a port number", why);
            if (!why.empty()) return {};
            if (!node || s_.nodes[*node].is_switch()) continue;
            const unsigned ports = s_.nodes[*node].info.numPorts;
            if (ports == 1) return checked({*node, 1}, end, why);
            why = fmt::format("adapter {} has {} ports; use a port number", iba::as_given(end.words), ports);
            return {};
        }
        why = exact_.contains(end.node) || loose_.contains(host)
                  ? fmt::format("{} has no port or adapter {}", iba::as_given(end.node), iba::as_given(end.words))
                  : fmt::format("unknown node {}", iba::as_given(end.node));
        return {};
    }

    port_ref checked(port_ref found, const planned_end& end, std::string& why) const {
        if (found.port != 0 && found.port < s_.nodes[found.node].ports.size()) return found;
        why = fmt::format("{} has no port {}", iba::as_given(end.node), found.port);
        return {};
    }

    const subnet& s_;
    index exact_, loose_, blades_;
    std::unordered_map<iba::guid, u32> guids_;
    /// By ID in lower case, such as s-0002c90300000100. Exports write these IDs in place of names.
    std::unordered_map<std::string, u32> ids_;
};

/// Compares a cabling plan with a subnet.
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
    /// A cable of the plan, with the ports of the subnet.
    struct cable {
        port_ref a, b; // invalid: the port does not exist
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
        const named_nodes nodes(s_, names_);
        for (u32 c = 0; c < plan_.size(); ++c) {
            cables_[c].a = port_of(nodes, c, plan_[c].a);
            cables_[c].b = port_of(nodes, c, plan_[c].b);
            if (is_repeated(c)) {
                cables_[c].is_settled = true; // settled by its first line in the plan
                continue;
            }
            ++result_.planned;
            claim(c, cables_[c].a, plan_[c].a);
            claim(c, cables_[c].b, plan_[c].b);
        }
    }

    port_ref port_of(const named_nodes& nodes, u32 c, const planned_end& end) {
        std::string why;
        const port_ref found = nodes.find(end, why);
        if (!why.empty()) explain(c, why);
        return found;
    }

    /// Plans made for switches list a cable once for each of its ends.
    bool is_repeated(u32 c) {
        const cable& here = cables_[c];
        if (here.a && here.b) {
            const u32* earlier = planned_at(here.a);
            return earlier && cables_[*earlier].other(here.a) == here.b;
        }
        std::string a = text_key(plan_[c].a), b = text_key(plan_[c].b);
        if (b < a) std::swap(a, b);
        return !unknown_.insert(a + '\n' + b).second;
    }

    static std::string text_key(const planned_end& end) {
        return lower_case(fmt::format("{}\n{}\n{}\n{}\n{}", end.node, end.port, end.blade, end.chip,
                                      end.blade == 0 && end.port == 0 ? end.words : std::string()));
    }

    void claim(u32 c, port_ref at, const planned_end& end) {
        if (!at) return;
        const auto [other, is_new] = planned_.emplace(key(at), c);
        if (!is_new)
            throw std::runtime_error(fmt::format(
                "line {} of the plan: port {} of {} already has a cable in line {}; a port can have only one",
                plan_[c].line, at.port, iba::as_given(end.node), plan_[other->second].line));
    }

    void explain(u32 c, const std::string& why) {
        std::string& all = cables_[c].why;
        all += (all.empty() ? "" : "; ") + why;
    }

    /// Returns the planned cable at a port; null: none.
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

    /// Returns whether the subnet may contain a cable at that port that the topology file does not show.
    bool is_unknown(port_ref end) const { return end ? may_have_peer(s_, end) : s_.may_lack_nodes; }

    void add_missing(u32 c) {
        if (is_unknown(cables_[c].a) && is_unknown(cables_[c].b)) return result_.unknown.push_back(c);
        for (const port_ref end : {cables_[c].a, cables_[c].b}) {
            if (!end || !s_.at(end).peer) continue;
            const port_ref peer = s_.at(end).peer;
            explain(c, fmt::format("{}[{}] is connected to {}[{}]", names_.of(s_.nodes[end.node]), end.port,
                                   names_.of(s_.nodes[peer.node]), peer.port));
        }
        result_.faults.push_back({cabling_fault::kind::missing, {c}, {}, cables_[c].why});
    }

    std::span<const planned_cable> plan_;
    const subnet& s_;
    const node_names& names_;
    std::vector<cable> cables_;
    std::unordered_map<u64, u32> planned_;    ///< index of the cable, by port
    std::unordered_set<std::string> unknown_; ///< cables with an end that is not in the subnet
    std::vector<unplanned> unplanned_;
    std::unordered_map<u64, std::size_t> unplanned_at_; ///< index in unplanned_, by the first end of the link
    cabling result_;
};

} // namespace

cabling compare_cabling(std::span<const planned_cable> plan, const subnet& s, const node_names& names) {
    return cabling_comparison(plan, s, names).run();
}

} // namespace comad::discovery
