// SPDX-License-Identifier: MIT
// topology_difference.cpp - prints differences as ibnetdiscover --diff does (rdma-core, infiniband-diags/ibnetdiscover.c).
#include "../formats/topology_parts.hpp"
#include <comad/discovery/compare/detail/topology_difference.hpp>
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <initializer_list>
#include <utility>

namespace comad::discovery {
namespace {

using iba::NodeType;

constexpr std::string_view prefix_of_old = "< ", prefix_of_new = "> ";

/// Formats the differences between two subnets.
class topology_comparison {
public:
    topology_comparison(const subnet& was, const subnet& is, const node_names& names, const topology_checks& checks,
                        bool full)
        : was_(was), is_(is), names_(names), checks_(checks), full_(full) {}

    std::string run() {
        for (const auto& [type, wanted] : {std::pair{NodeType::Switch, checks_.switches},
                                           {NodeType::CA, checks_.cas},
                                           {NodeType::Router, checks_.routers}}) {
            if (!wanted) continue;
            for_each(was_, type, [&](u32 n, const node&) { compare_node(n); });
            for_each(is_, type, [&](u32 n, const node& one) {
                if (!was_.may_lack_nodes && !was_.find(one.info.nodeGUID)) print_whole(is_, n, prefix_of_new);
            });
        }
        return std::move(out_);
    }

private:
    bool checks_more() const { return checks_.links || checks_.lids || checks_.descriptions; }

    void print_whole(const subnet& s, u32 n, std::string_view prefix) {
        print_head(out_, s.nodes[n], names_, {}, prefix, prefix);
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) print_port(s, {n, static_cast<u8>(p)}, prefix);
    }

    void print_port(const subnet& s, port_ref r, std::string_view prefix) {
        if (s.at(r).peer) print_port_line(out_, s, r, names_, full_, prefix);
    }

    void compare_node(u32 n) {
        const node& before = was_.nodes[n];
        const auto found = is_.by_guid.find(before.info.nodeGUID);
        if (found == is_.by_guid.end()) {
            if (!is_.may_lack_nodes) print_whole(was_, n, prefix_of_old);
            return;
        }
        const node& now = is_.nodes[found->second];
        if (!checks_more() || now.known == topology_file::extent::links_only) return;
        has_head_ = false;
        if ((checks_.lids && before.is_switch() && now.is_switch() && lid_differs({n, 0}, {found->second, 0})) ||
            (checks_.descriptions && descriptions_differ(before, now))) {
            print_head(out_, before, names_, {}, {}, prefix_of_old);
            print_node_line(out_, now, names_, prefix_of_new);
            has_head_ = true;
        }
        if (before.info.numPorts != now.info.numPorts) {
            need_head(before);
            return print(out_, "{}numports = {}\n{}numports = {}\n", prefix_of_old, before.info.numPorts, prefix_of_new,
                         now.info.numPorts);
        }
        if (!checks_.links && !checks_.lids) return;
        for (unsigned p = 1; p < before.ports.size() && p < now.ports.size(); ++p)
            compare_port({n, static_cast<u8>(p)}, {found->second, static_cast<u8>(p)});
    }

    void need_head(const node& n) {
        if (!std::exchange(has_head_, true)) print_head(out_, n, names_);
    }

    void compare_port(port_ref before, port_ref now) {
        const port &b = was_.at(before), &n = is_.at(now);
        bool differs = false;
        if (checks_.links) {
            differs = static_cast<bool>(b.peer) != static_cast<bool>(n.peer) && !may_have_peer(was_, before) &&
                      !may_have_peer(is_, now);
            if (b.info && n.info) differs |= b.portGUID != n.portGUID;
            if (b.peer && n.peer) differs |= peer_differs(b.peer, n.peer);
        }
        if (checks_.lids && b.info && n.info) differs |= lid_differs(before, now);
        if (!differs || (!b.peer && !n.peer)) return;
        need_head(was_.nodes[before.node]);
        print_port(was_, before, prefix_of_old);
        print_port(is_, now, prefix_of_new);
    }

    bool lid_differs(port_ref before, port_ref now) const { return lids_differ(was_, before, is_, now); }

    bool peer_differs(port_ref before, port_ref now) const {
        const port &b = was_.at(before), &n = is_.at(now);
        return b.portGUID != n.portGUID || (checks_.lids && lid_differs(before, now)) ||
               (checks_.descriptions && descriptions_differ(was_.nodes[before.node], is_.nodes[now.node]));
    }

    const subnet& was_;
    const subnet& is_;
    const node_names& names_;
    const topology_checks& checks_;
    bool full_;
    bool has_head_ = false; // the head of the current node was printed
    std::string out_;
};

} // namespace

std::string topology_difference(const subnet& was, const subnet& is, const node_names& names,
                                const topology_checks& checks, bool full) {
    return topology_comparison(was, is, names, checks, full).run();
}

} // namespace comad::discovery
