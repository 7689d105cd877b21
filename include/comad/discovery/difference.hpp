// SPDX-License-Identifier: MIT
// difference.hpp - what differs between two subnets, or one subnet at two times. Knows no text form but one line for each.
#pragma once
#include <comad/discovery/node_names.hpp>
#include <comad/discovery/subnet.hpp>

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
    enum class kind : u8 { gone, is_new, changed };
    subject of;
    kind what;
    iba::guid nodeGUID{};
    u8 port = 0; ///< of end_port, link, rate and LID
    iba::guid peer_nodeGUID{};
    u8 peer_port = 0;        ///< of link and rate, the end with the larger GUID and port number
    std::string place;       ///< what it is about, safe for a terminal: `S-... "spine 1"[7] <=> H-... "host"[1]`
    std::string was{}, is{}; ///< of what changed: `4x EDR`, `LID 7 LMC 0`, a description as received
};

/// `node`, `end port`, `link`, `rate`, `LID`, `description`, `state`.
std::string_view text_of(difference::subject) noexcept;

/// Of `is` against `was`, by subject, then in the order of the subnets. What a problem of a partial subnet hides counts as not
/// there: see subnet::complete(). `names`: what places call the nodes.
std::vector<difference> differences(const subnet& was, const subnet& is, const node_names& names = {});

} // namespace comad::discovery
