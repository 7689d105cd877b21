// SPDX-License-Identifier: MIT
// difference.hpp - what differs between two subnets, or one subnet at two times. Knows no text form but one line for each.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace comad::discovery {

/// One thing that is not the same in both.
struct difference {
    enum class subject : u8 {
        node,        ///< by nodeGUID
        end_port,    ///< by port GUID, of nodes that both have: port 0 of a switch, a port of another node
        link,        ///< by nodeGUID and port number of both ends
        rate,        ///< width and speed of a link that both have
        LID,         ///< LID and LMC of an end port that both have
        description, ///< of a node that both have
        state,       ///< of a port that has the same link in both, or none
    };
    enum class kind : u8 { removed, added, changed };
    subject of;
    kind what;
    iba::guid nodeGUID{};
    u8 port = 0; ///< of end_port, link, rate and LID
    iba::guid peer_nodeGUID{};
    u8 peer_port = 0;        ///< of link and rate, the end with the larger GUID and port number
    std::string place;       ///< what it is about, safe for a terminal: `S-... "spine 1"[7] <=> H-... "host"[1]`
    std::string was{}, is{}; ///< of what changed: `4x EDR`, `LID 7 LMC 0`, a description as received
};

/// Whether two descriptions of a node differ: not if a terminal shows the same, which is what topology files have.
bool descriptions_differ(const node& was, const node& is);
/// Whether the LIDs differ by which two places are reached. False if a topology file does not have one of them.
bool lids_differ(const subnet& was, port_ref was_at, const subnet& is, port_ref is_at);
/// Whether a node was read from a topology file, which has its ports with cables only, and no states.
bool is_of_file(const node&);
/// Whether a topology file says that nothing is in that port: all lines about its node were read, and none names it.
bool has_no_cable_by_file(const subnet&, port_ref);
/// Whether a port without a peer may have one: lines of a topology file that are about its node were not read.
bool may_have_peer(const subnet&, port_ref);

/// `node`, `end port`, `link`, `rate`, `LID`, `description`, `state`.
std::string_view text_of(difference::subject) noexcept;
/// `removed`, `added` or `changed`.
std::string_view text_of(difference::kind) noexcept;

/// Of `is` against `was`, by subject, then in the order of the subnets. What a failure of a partial subnet hides counts as not
/// there: see subnet::complete(). What a topology file cannot say, or lines of it that were not read, is no difference. `names`: what places call the nodes.
std::vector<difference> differences(const subnet& was, const subnet& is, const node_names& names = {});

} // namespace comad::discovery
