// SPDX-License-Identifier: MIT
// difference.cpp - compares the nodes, ports and links of two subnets.
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace comad::discovery {
namespace {

using subject = difference::subject;
using what_kind = difference::kind;

/// Returns the same port in another subnet, by nodeGUID and port number; invalid if the other subnet does not have it.
port_ref same_in(const subnet& other, const subnet& s, port_ref r) {
    const auto found = other.by_guid.find(s.nodes[r.node].info.nodeGUID);
    if (found == other.by_guid.end() || r.port >= other.nodes[found->second].ports.size()) return {};
    return {found->second, r.port};
}

/// Returns whether the port has its own LID.

using topology_file::extent;

/// Returns whether the port was read from a topology file, which contains only ports with a cable.
bool is_described(const port& p) { return p.assumed != 0; }

template <class F> void for_each_port(const subnet& s, F&& f) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p) f(port_ref{n, static_cast<u8>(p)});
}

/// Compares the nodes, ports and links of two subnets.
class comparison {
public:
    comparison(const subnet& was, const subnet& is, const node_names& names) : was_(was), is_(is), names_(names) {}

    std::vector<difference> run() {
        for_both([&](const subnet& one, const subnet& other, what_kind k) { compare_nodes(one, other, k); });
        for_both([&](const subnet& one, const subnet& other, what_kind k) { compare_end_ports(one, other, k); });
        for_both([&](const subnet& one, const subnet& other, what_kind k) { compare_links(one, other, k); });
        for_each_port(was_, [&](port_ref r) { compare_rate(r); });
        for_each_port(was_, [&](port_ref r) { compare_lid(r); });
        for (const node& n : was_.nodes) compare_description(n);
        for_each_port(was_, [&](port_ref r) { compare_state(r); });
        return std::move(found_);
    }

private:
    std::string place_of(const subnet& s, port_ref r) const {
        return fmt::format("{}[{}]", names_.with_id(s.nodes[r.node]), r.port);
    }

    template <class F> void for_both(F&& f) {
        f(was_, is_, what_kind::removed);
        f(is_, was_, what_kind::added);
    }

    void compare_nodes(const subnet& one, const subnet& other, what_kind k) {
        if (other.may_lack_nodes) return;
        for (const node& n : one.nodes)
            if (!other.find(n.info.nodeGUID))
                found_.push_back({subject::node, k, n.info.nodeGUID, 0, {}, 0, names_.with_id(n)});
    }

    void compare_end_ports(const subnet& one, const subnet& other, what_kind k) {
        for_each_port(one, [&](port_ref r) {
            const node& n = one.nodes[r.node];
            const node* there = other.find(n.info.nodeGUID);
            // A removed node is reported once, without its ports.
            if (!is_end_port(n, r.port) || !one.at(r).info || !there) return;
            if (n.known != extent::all || there->known != extent::all) return;
            const port_ref same = same_in(other, one, r);
            if (!n.is_switch() && !one.at(r).peer && is_of_file(*there)) return;
            if (!same || !other.at(same).info || other.at(same).portGUID != one.at(r).portGUID)
                found_.push_back({subject::end_port,
                                  k,
                                  n.info.nodeGUID,
                                  r.port,
                                  {},
                                  0,
                                  fmt::format("{} port GUID {}", place_of(one, r), one.at(r).portGUID)});
        });
    }

    /// Selects each link once, at the end with the smaller GUID and port number.
    static bool is_first_end(const subnet& s, port_ref r) {
        const port_ref peer = s.at(r).peer;
        if (!peer) return false;
        return std::tuple(s.nodes[r.node].info.nodeGUID, r.port) <=
               std::tuple(s.nodes[peer.node].info.nodeGUID, peer.port);
    }

    difference link_at(subject of, what_kind k, const subnet& s, port_ref r) const {
        const port_ref peer = s.at(r).peer;
        return {of,
                k,
                s.nodes[r.node].info.nodeGUID,
                r.port,
                s.nodes[peer.node].info.nodeGUID,
                peer.port,
                fmt::format("{} <=> {}", place_of(s, r), place_of(s, peer))};
    }

    /// Returns whether the other subnet may have the link. A topology file with missing or damaged nodes does not prove that a cable is
    /// absent.
    static bool may_have_link(const subnet& other, const subnet& s, port_ref r) {
        const port_ref peer = s.at(r).peer;
        const auto hides_it = [&](port_ref end) {
            const port_ref same = same_in(other, s, end);
            if (same && other.at(same).peer) return false; // it has another cable
            const node* there = other.find(s.nodes[end.node].info.nodeGUID);
            return there ? there->known != extent::all : other.may_lack_nodes;
        };
        return hides_it(r) && hides_it(peer);
    }

    static bool has_link(const subnet& other, const subnet& s, port_ref r) {
        const port_ref same = same_in(other, s, r), peer = same_in(other, s, s.at(r).peer);
        return same && peer && other.at(same).peer == peer;
    }

    void compare_links(const subnet& one, const subnet& other, what_kind k) {
        for_each_port(one, [&](port_ref r) {
            if (is_first_end(one, r) && !has_link(other, one, r) && !may_have_link(other, one, r))
                found_.push_back(link_at(subject::link, k, one, r));
        });
    }

    static std::string format_rate(const subnet& s, port_ref r) {
        return fmt::format("{} {}", format_link_width(s.at(r)), format_link_speed(s, r));
    }

    /// Returns false if the link is from a topology file that does not contain its rate.
    static bool has_rate(const subnet& s, port_ref r) {
        return !is_described(s.at(r)) || (value(active_width(s, r)) != 0 && active_speed(s, r) != 0);
    }

    void compare_rate(port_ref r) {
        if (!is_first_end(was_, r) || !has_link(is_, was_, r)) return;
        const port_ref now = same_in(is_, was_, r);
        if (!was_.at(r).info || !is_.at(now).info) return;
        if (!has_rate(was_, r) || !has_rate(is_, now)) return;
        std::string before = format_rate(was_, r), after = format_rate(is_, now);
        if (before == after) return;
        difference d = link_at(subject::rate, what_kind::changed, was_, r);
        d.was = std::move(before);
        d.is = std::move(after);
        found_.push_back(std::move(d));
    }

    void compare_lid(port_ref r) {
        const node& n = was_.nodes[r.node];
        const port_ref now = same_in(is_, was_, r);
        if (!is_end_port(n, r.port) || !now || !was_.at(r).info || !is_.at(now).info) return;
        const auto &before = *was_.at(r).info, &after = *is_.at(now).info;
        const unsigned assumed = was_.at(r).assumed | is_.at(now).assumed;
        const bool has_same_lid = (assumed & assumed_lid) || before.LID == after.LID;
        const bool has_same_lmc = (assumed & assumed_lmc) || before.LMC == after.LMC;
        if (has_same_lid && has_same_lmc) return;
        const auto text = [](const iba::smp::PortInfo& i) { return fmt::format("LID {} LMC {}", i.LID, i.LMC); };
        found_.push_back({subject::LID,
                          what_kind::changed,
                          n.info.nodeGUID,
                          r.port,
                          {},
                          0,
                          place_of(was_, r),
                          text(before),
                          text(after)});
    }

    void compare_description(const node& n) {
        const node* now = is_.find(n.info.nodeGUID);
        if (now && descriptions_differ(n, *now))
            found_.push_back({subject::description,
                              what_kind::changed,
                              n.info.nodeGUID,
                              0,
                              {},
                              0,
                              topology_id(n),
                              n.description,
                              now->description});
    }

    // Compares the states of a port. If a link was added or removed, the states of its ends follow from that and are not reported.
    void compare_state(port_ref r) {
        const port_ref now = same_in(is_, was_, r);
        if (!now || !was_.at(r).info || !is_.at(now).info) return;
        if ((was_.at(r).assumed | is_.at(now).assumed) & assumed_state) return;
        const bool has_same_link = was_.at(r).peer ? has_link(is_, was_, r) : !is_.at(now).peer;
        const auto before = was_.at(r).info->portState, after = is_.at(now).info->portState;
        if (!has_same_link || before == after) return;
        difference d{subject::state,   what_kind::changed, was_.nodes[r.node].info.nodeGUID, r.port, {}, 0,
                     place_of(was_, r)};
        d.was = iba::name_or_number(before);
        d.is = iba::name_or_number(after);
        found_.push_back(std::move(d));
    }

    const subnet& was_;
    const subnet& is_;
    const node_names& names_;
    std::vector<difference> found_;
};

} // namespace

bool descriptions_differ(const node& was, const node& is) {
    return was.description != is.description && iba::escaped(was.description) != iba::escaped(is.description);
}

bool lids_differ(const subnet& was, port_ref was_at, const subnet& is, port_ref is_at) {
    const port &before = was.end_port(was_at), &now = is.end_port(is_at);
    if ((before.assumed | now.assumed) & assumed_lid) return false;
    const auto lid_of = [](const port& p) { return p.info ? p.info->LID : iba::lid{}; };
    return lid_of(before) != lid_of(now);
}

bool is_of_file(const node& n) {
    return std::ranges::any_of(n.ports, [](const port& p) { return is_described(p); });
}

bool has_no_cable_by_file(const subnet& s, port_ref r) {
    const node& n = s.nodes[r.node];
    return is_of_file(n) && n.known == extent::all && !s.at(r).info && !s.at(r).peer;
}

bool may_have_peer(const subnet& s, port_ref r) {
    return !s.at(r).peer && s.nodes[r.node].known != topology_file::extent::all;
}

std::string_view text_of(difference::kind k) noexcept {
    switch (k) {
    case difference::kind::removed: return "removed";
    case difference::kind::added: return "added";
    case difference::kind::changed: return "changed";
    }
    return "?";
}

std::string_view text_of(difference::subject of) noexcept {
    switch (of) {
    case subject::node: return "node";
    case subject::end_port: return "end port";
    case subject::link: return "link";
    case subject::rate: return "rate";
    case subject::LID: return "LID";
    case subject::description: return "description";
    case subject::state: return "state";
    }
    return "?";
}

std::vector<difference> differences(const subnet& was, const subnet& is, const node_names& names) {
    return comparison(was, is, names).run();
}

} // namespace comad::discovery
