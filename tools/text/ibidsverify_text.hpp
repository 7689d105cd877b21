// SPDX-License-Identifier: MIT
// ibidsverify_text.hpp - finds LIDs and GUIDs of a subnet that are zero or duplicate, as ibidsverify prints them. Sends nothing.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// One LID or GUID that is zero or duplicate.
struct identity_finding {
    enum class kind : comad::u8 { zero_lid, zero_guid, doubled_lid, doubled_nodeGUID, doubled_portGUID, of_other_node };
    kind what;
    comad::discovery::port_ref where; ///< port 0: a node, or a switch
    std::string text;                 ///< line of infiniband-diags, without the line break
};

/// Returns the findings in the order of a topology file. A port has all LIDs that its LMC gives it.
std::vector<identity_finding> check_identities(const comad::discovery::subnet&);

/// Returns a word for programs: `no_LID`, `duplicate_LID`, `duplicate_nodeGUID`.
std::string_view word_of(identity_finding::kind);

} // namespace ibtool
