// SPDX-License-Identifier: MIT
// found_subnet.hpp - merges the replies of a discovery into a subnet, and rejects replies that contradict earlier ones.
#pragma once
#include "failure_list.hpp"
#include "limit_check.hpp"
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <cstddef>
#include <string>
#include <unordered_set>

namespace comad::discovery {

/// The node that the reply to a query_kind::neighbor describes.
struct probe_result {
    u32 node = port_ref::npos; ///< npos: the reply is a contradiction or beyond a limit; this was recorded
    bool is_new = false;
    bool is_other_port = false; ///< another port of a known node with several ports: it has its own PortInfo
    bool is_back =
        false; ///< the node was known before a rediscovery, and is reached for the first time now: it may have changed
};

/// The nodes, ports and links found so far. Node indices are valid until put_in_order_from().
class found_subnet {
public:
    /// Lifetime: all of these must outlive it.
    found_subnet(const discover_options& options, limit_check& limits, failure_list& failures)
        : options_(options), limits_(limits), failures_(failures) {}

    const subnet& get() const noexcept { return found_; }
    const node& at(u32 index) const { return found_.nodes[index]; }
    const port& at(port_ref r) const { return found_.at(r); }
    /// Returns whether two end ports have a LID in common.
    bool has_duplicate_lids() const noexcept { return !lids_.duplicates().empty(); }

    /// Starts with a subnet that was discovered before.
    void load(const subnet& known);
    /// Removes the link at this port. Returns the port at its other end.
    port_ref disconnect(port_ref);

    /// Adds the node of a local port. Several workers may start at one node, by the same port or by different ports.
    probe_result add_start(const iba::smp::NodeInfo&, const mad::IBDRPath& local);
    /// Adds the node on the other end of the link at `from`. `route` leads to that node.
    probe_result add_neighbor(port_ref from, const iba::smp::NodeInfo&, const mad::IBDRPath& route);
    void set(port_ref, const iba::smp::PortInfo&);
    void set(port_ref, const iba::smp::MlnxExtPortInfo&);
    void set(u32 index, const iba::smp::SwitchInfo&);
    void set(u32 index, const iba::smp::NodeDescription&);

    /// Sorts nodes breadth-first from this port, and sets their routes. Returns the number of nodes that links lead to (they are first).
    u32 put_in_order_from(iba::guid start, u8 start_port);
    /// Returns the result, with these failures.
    subnet finish(std::vector<failure>);

private:
    u32 add_node(const iba::smp::NodeInfo&, const mad::IBDRPath& route, unsigned hops);
    bool connect(port_ref a, port_ref b, iba::guid portGUID_b, const mad::IBDRPath& route);
    void reject_link(port_ref a, port_ref b, const mad::IBDRPath& route);
    void contradict(port_ref, const mad::IBDRPath& route, std::string text, iba::guid doubledGUID = {});
    void note_oddity(const iba::smp::NodeInfo&, const mad::IBDRPath& route, std::string text);

    const discover_options& options_;
    limit_check& limits_;
    failure_list& failures_;
    subnet found_;
    std::size_t ports_ = 0;                      // number of ports of all nodes
    lid_index lids_;                             // used if SMPs may be LID-routed
    std::unordered_set<iba::guid> known_before_; // known nodes that were not reached since the rediscovery started
};

} // namespace comad::discovery
