// SPDX-License-Identifier: MIT
// reduced_subnet.cpp - the part of a subnet that a selection contains, as a subnet of its own.
#include "session/selection.hpp"

#include <utility>

namespace ibtool {

using discovery::node;
using discovery::port_ref;
using discovery::subnet;

namespace {

/// A subnet, and the parts of it that the options select.
struct selected_subnet {
    const subnet& whole;
    const selected_parts& parts;
};

/// What the options select in a subnet, or in another subnet of the same fabric if there is one.
class part_choice {
public:
    explicit part_choice(const selected_subnet& one, const selected_subnet* other = nullptr)
        : one_(one), other_(other) {}

    bool node(u32 n) const {
        const u32 there = in_other(n);
        return one_.parts.node(n) || (there != port_ref::npos && other_->parts.node(there));
    }
    bool link(port_ref r) const { return has(r, &selected_parts::link); }
    bool link_end(port_ref r) const { return has(r, &selected_parts::link_end); }

private:
    /// Returns the index of the node in the other subnet; npos if it is not there.
    u32 in_other(u32 n) const {
        if (!other_) return port_ref::npos;
        const auto found = other_->whole.by_guid.find(one_.whole.nodes[n].info.nodeGUID);
        return found == other_->whole.by_guid.end() ? port_ref::npos : found->second;
    }
    bool has(port_ref r, bool (selected_parts::*is_in)(const subnet&, port_ref) const) const {
        if ((one_.parts.*is_in)(one_.whole, r)) return true;
        const port_ref there{in_other(r.node), r.port};
        return there && there.port < other_->whole.nodes[there.node].ports.size() &&
               (other_->parts.*is_in)(other_->whole, there);
    }

    const selected_subnet& one_;
    const selected_subnet* other_;
};

/// Copies the selected part of a subnet.
class subnet_reduction {
public:
    subnet_reduction(const subnet& whole, const part_choice& parts) : whole_(whole), parts_(parts) {}

    subnet run(bool keeps_start) {
        number_nodes(keeps_start);
        subnet part;
        for (u32 n = 0; n < whole_.nodes.size(); ++n)
            if (numbers_[n] != port_ref::npos) part.nodes.push_back(copy_of(n));
        for (u32 n = 0; n < part.nodes.size(); ++n) part.by_guid.emplace(part.nodes[n].info.nodeGUID, n);
        if (!numbers_.empty() && numbers_[0] == 0) part.start_port = whole_.start_port;
        part.failures = whole_.failures;
        part.may_lack_nodes = whole_.may_lack_nodes;
        return part;
    }

private:
    /// Numbers the nodes of the part: selected nodes, and the neighbors at the other end of their links.
    void number_nodes(bool keeps_start) {
        std::vector<bool> is_in(whole_.nodes.size());
        for (u32 n = 0; n < whole_.nodes.size(); ++n) {
            if (parts_.node(n)) is_in[n] = true;
            for (u8 p = 0; const discovery::port& here : whole_.nodes[n].ports) {
                const port_ref r{n, p++};
                if (here.peer && parts_.link(r)) is_in[n] = is_in[here.peer.node] = true;
            }
        }
        if (keeps_start && !is_in.empty()) is_in[0] = true;
        numbers_.assign(whole_.nodes.size(), port_ref::npos);
        for (u32 n = 0, next = 0; n < whole_.nodes.size(); ++n)
            if (is_in[n]) numbers_[n] = next++;
    }

    node copy_of(u32 n) const {
        node copy = whole_.nodes[n];
        const bool is_selected = parts_.node(n);
        if (!is_selected) copy.known = topology_file::extent::links_only;
        for (u8 p = 0; discovery::port & here : copy.ports) {
            const port_ref r{n, p++};
            const bool has_link = here.peer && parts_.link(r);
            const bool is_of_node = r.port == 0 && copy.is_switch();
            if (has_link) here.peer.node = numbers_[here.peer.node];
            else here.peer = {};
            if (!has_link && !is_of_node && !(is_selected && parts_.link_end(r))) here.info.reset();
        }
        return copy;
    }

    const subnet& whole_;
    const part_choice& parts_;
    std::vector<u32> numbers_; // new index of each node; npos: it is not in the part
};

} // namespace

subnet reduced(const subnet& whole, const selected_parts& parts, bool keeps_start) {
    const selected_subnet one{whole, parts};
    return subnet_reduction(whole, part_choice(one)).run(keeps_start);
}

std::pair<subnet, subnet> reduced_for_comparison(const subnet& before, const selected_parts& old_parts,
                                                 const subnet& now, const selected_parts& new_parts) {
    const selected_subnet was{before, old_parts}, is{now, new_parts};
    return {subnet_reduction(before, part_choice(was, &is)).run(true),
            subnet_reduction(now, part_choice(is, &was)).run(true)};
}

subnet reduced(subnet whole, const subnet_selection& what, const discovery::node_names& names,
               std::vector<std::string>* notes, bool keeps_start) {
    if (what.is_all()) return whole;
    const selected_parts parts(what, whole, names);
    parts.require_nodes();
    if (notes) notes->insert(notes->end(), parts.notes().begin(), parts.notes().end());
    return reduced(whole, parts, keeps_start);
}

} // namespace ibtool
