// SPDX-License-Identifier: MIT
// ibidsverify_text.cpp - compares each LID and GUID with the previous ones. The lines are those of infiniband-diags' ibidsverify.
#include "text/ibidsverify_text.hpp"

#include "comad.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace ibtool {
namespace {

using discovery::port_ref;
using kind = identity_finding::kind;

/// Compares all LIDs and GUIDs of a subnet.
class identity_check {
public:
    explicit identity_check(const discovery::subnet& s) : subnet_(s) {
        for (const discovery::node& n : s.nodes) nodes_.insert(value(n.info.nodeGUID));
    }

    std::vector<identity_finding> run() {
        for (const discovery::failure& p : subnet_.failures) check_failure(p);
        for (const iba::NodeType type : {iba::NodeType::Switch, iba::NodeType::CA, iba::NodeType::Router})
            for (u32 n = 0; n < subnet_.nodes.size(); ++n)
                if (subnet_.nodes[n].info.nodeType == type) check_node(n);
        return std::move(found_);
    }

private:
    void check_node(u32 index) {
        const discovery::node& n = subnet_.nodes[index];
        bool is_first = true;
        for (unsigned number = n.is_switch() ? 0 : 1; number < (n.is_switch() ? 1 : n.ports.size()); ++number) {
            const port_ref r{index, static_cast<u8>(number)};
            if (!n.is_switch() && !subnet_.at(r).peer) continue;
            check_lid(r);
            if (std::exchange(is_first, false)) check_nodeGUID(r);
            check_portGUID(r);
        }
    }

    /// Reports a duplicate node GUID. The subnet contains only one of the two nodes; the failure of the discovery names the other one.
    void check_failure(const discovery::failure& p) {
        const auto known = subnet_.by_guid.find(p.doubledGUID);
        if (p.doubledGUID == iba::guid{} || known == subnet_.by_guid.end()) return;
        const discovery::node& n = subnet_.nodes[known->second];
        const port_ref r{known->second, n.is_switch() ? u8{0} : n.info.localPortNum};
        const auto behind = subnet_.by_guid.find(p.where.nodeGUID);
        const std::string place =
            behind == subnet_.by_guid.end()
                ? "at an unknown location"
                : fmt::format("connected to {}[{}]", name_of(subnet_.nodes[behind->second]), p.where.port);
        add(kind::doubled_nodeGUID, r, "NodeGUID {:#x} already defined for LID {}: the other node is {}",
            value(p.doubledGUID), lid_of(r), place);
    }

    void check_lid(port_ref r) {
        const auto& info = subnet_.at(r).info;
        if (!info) return; // no reply; the discovery has reported this failure
        const unsigned first = value(info->LID);
        // Several ports that no subnet manager has configured may have LID 65535, which is not a duplicate.
        if (!iba::is_unicast(info->LID)) {
            add(kind::zero_lid, r, "LID {} found for {} NodeGUID {:#x}", first, type_at(r), nodeGUID_at(r));
            return;
        }
        bool is_reported = false;
        for (unsigned LID = first; LID < first + (1u << info->LMC); ++LID) {
            const auto [before, is_new] = lids_.emplace(LID, nodeGUID_at(r));
            if (!is_new && !std::exchange(is_reported, true))
                add(kind::doubled_lid, r, "LID {} already defined for NodeGUID {:#x}", LID, before->second);
        }
    }

    void check_nodeGUID(port_ref r) {
        const u64 GUID = nodeGUID_at(r);
        if (is_zero(GUID, r)) return;
        const auto [before, is_new] = nodeGUIDs_.emplace(GUID, lid_of(r));
        if (!is_new) add(kind::doubled_nodeGUID, r, "NodeGUID {:#x} already defined for LID {}", GUID, before->second);
    }

    void check_portGUID(port_ref r) {
        const u64 GUID = value(subnet_.at(r).portGUID);
        if (is_zero(GUID, r)) return;
        const auto [before, is_new] = portGUIDs_.emplace(GUID, lid_of(r));
        if (!is_new) {
            add(kind::doubled_portGUID, r, "PortGUID {:#x} already defined for LID {}", GUID, before->second);
        } else if (GUID != nodeGUID_at(r) && nodes_.contains(GUID)) {
            add(kind::of_other_node, r, "PortGUID {:#x} is an invalid duplicate of a NodeGUID", GUID);
        }
    }

    bool is_zero(u64 GUID, port_ref r) {
        if (GUID == 0) add(kind::zero_guid, r, "{} GUID 0x0 found with LID {}", type_at(r), lid_of(r));
        return GUID == 0;
    }

    u64 nodeGUID_at(port_ref r) const { return value(subnet_.nodes[r.node].info.nodeGUID); }
    unsigned lid_of(port_ref r) const { return subnet_.at(r).info ? value(subnet_.at(r).info->LID) : 0; }
    std::string_view type_at(port_ref r) const {
        return discovery::names_of_type(subnet_.nodes[r.node].info.nodeType).lower;
    }
    template <class... Values> void add(kind what, port_ref r, fmt::format_string<Values...> text, Values&&... values) {
        found_.push_back({what, r, fmt::format(text, std::forward<Values>(values)...)});
    }

    const discovery::subnet& subnet_;
    std::unordered_set<u64> nodes_;
    std::unordered_map<unsigned, u64> lids_;                  // from a LID to its node's GUID
    std::unordered_map<u64, unsigned> nodeGUIDs_, portGUIDs_; // from a GUID to a LID
    std::vector<identity_finding> found_;
};

} // namespace

std::vector<identity_finding> check_identities(const discovery::subnet& s) { return identity_check(s).run(); }

std::string_view word_of(identity_finding::kind k) {
    switch (k) {
    case kind::zero_lid: return "no_LID";
    case kind::zero_guid: return "no_GUID";
    case kind::doubled_lid: return "duplicate_LID";
    case kind::doubled_nodeGUID: return "duplicate_nodeGUID";
    case kind::doubled_portGUID: return "duplicate_portGUID";
    case kind::of_other_node: return "portGUID_of_other_node";
    }
    return {};
}

} // namespace ibtool
