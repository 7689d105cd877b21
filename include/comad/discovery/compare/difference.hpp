// SPDX-License-Identifier: MIT
// difference.hpp - the differences between two subnets, or between two states of one subnet, with one line of text for each.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace comad::discovery {

/// One difference between two subnets.
struct difference {
    enum class subject : u8 {
        node,        ///< by nodeGUID
        end_port,    ///< by port GUID, of nodes in both subnets: port 0 of a switch, or a port of another node
        link,        ///< by nodeGUID and port number of both ends
        rate,        ///< width and speed of a link that both subnets have
        LID,         ///< LID and LMC of an end port that both subnets have
        description, ///< of a node that both subnets have
        state,       ///< of a port that has the same link in both subnets, or no link in both
    };
    enum class kind : u8 { removed, added, changed };
    subject of;
    kind what;
    iba::guid nodeGUID{};
    u8 port = 0; ///< for end_port, link, rate and LID
    iba::guid peer_nodeGUID{};
    u8 peer_port = 0;        ///< for link and rate: the end with the larger GUID and port number
    std::string place;       ///< the node, port or link, safe for a terminal: `S-... "spine 1"[7] <=> H-... "host"[1]`
    std::string was{}, is{}; ///< old and new value of a change: `4x EDR`, `LID 7 LMC 0`, a description as received
};

/// Returns whether two descriptions differ. They do not if they look equal on a terminal, because topology files contain that form.
bool descriptions_differ(const node& was, const node& is);
/// Returns whether the LIDs of two ports differ. False if a topology file lacks one of the LIDs.
bool lids_differ(const subnet& was, port_ref was_at, const subnet& is, port_ref is_at);
/// Returns whether a node was read from a topology file, which has only ports with cables, and no states.
bool is_of_file(const node&);
/// Returns whether a topology file shows that a port has no cable: all lines of its node were read, and no line names the port.
bool has_no_cable_by_file(const subnet&, port_ref);
/// Returns whether a port without a peer may still have one, because some lines of its node in a topology file were not read.
bool may_have_peer(const subnet&, port_ref);

/// `node`, `end port`, `link`, `rate`, `LID`, `description`, `state`.
std::string_view text_of(difference::subject) noexcept;
/// `removed`, `added` or `changed`.
std::string_view text_of(difference::kind) noexcept;

/// Returns the changes from `was` to `is`, by subject, then in the order of the subnets. A node or link that is hidden by a failure of a
/// partial subnet counts as absent: see subnet::complete(). Data that a topology file cannot express, and lines of it that were
/// not read, are not differences. `names`: the names of nodes in `place`.
std::vector<difference> differences(const subnet& was, const subnet& is, const node_names& names = {});

} // namespace comad::discovery
