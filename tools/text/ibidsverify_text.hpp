// SPDX-License-Identifier: MIT
// ibidsverify_text.hpp - LIDs and GUIDs of a subnet that are zero, or that two have: what ibidsverify prints of them. Asks nobody.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

struct identity_finding {
    enum class kind : comad::u8 { zero_lid, zero_guid, doubled_lid, doubled_nodeGUID, doubled_portGUID, of_other_node };
    kind what;
    comad::discovery::port_ref where; ///< who has it; port 0: a node, or a switch
    std::string text;                 ///< infiniband-diags' line, without its end
};

/// In the order of a topology file. LIDs of a port are all that its LMC gives it.
std::vector<identity_finding> check_identities(const comad::discovery::subnet&);

/// `no_lid`, `duplicate_lid`, `duplicate_nodeGUID`: a word for programs.
std::string_view word_of(identity_finding::kind);

} // namespace ibtool
