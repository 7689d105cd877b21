// SPDX-License-Identifier: MIT
// ibidsverify_text_test.cpp - zero and duplicate LIDs and GUIDs in a constructed subnet. The lines are those of
// infiniband-diags' ibidsverify.
#include "support/catch.hpp"
#include "text/ibidsverify_text.hpp"

#include <string>
#include <vector>

namespace identities_test {

using namespace comad;
using iba::NodeType;

namespace {

/// An end port of a node. `is_read`: whether the discovery read its PortInfo.
struct end {
    unsigned LID = 0;
    u64 GUID = 0;
    u8 LMC = 0;
    bool is_read = true;
};

/// Adds a node with its ends: port 0 of a switch, or cabled ports from 1 of another node.
void add(discovery::subnet& s, NodeType type, u64 GUID, const std::vector<end>& ends) {
    discovery::node& n = s.nodes.emplace_back();
    n.info.nodeType = type;
    n.info.nodeGUID = iba::guid{GUID};
    n.ports.resize(2 + ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
        discovery::port& p = n.ports[n.is_switch() ? i : i + 1];
        p.portGUID = iba::guid{ends[i].GUID};
        p.peer = {0, 1};
        if (!ends[i].is_read) continue;
        p.info.emplace().LID = iba::lid(ends[i].LID);
        p.info->LMC = ends[i].LMC;
    }
}

/// Returns the findings of ibidsverify with their kinds.
std::vector<std::string> lines_of(const discovery::subnet& s) {
    std::vector<std::string> all;
    for (const ibtool::identity_finding& f : ibtool::check_identities(s))
        all.push_back(std::string(word_of(f.what)) + ": " + f.text);
    return all;
}
using lines = std::vector<std::string>;

} // namespace

TEST_CASE("ibidsverify reports nothing if all LIDs and GUIDs differ") {
    discovery::subnet s;
    add(s, NodeType::Switch, 0x10, {{1, 0x10}});
    add(s, NodeType::CA, 0x20, {{2, 0x21}, {3, 0x22}}); // one node with two ports
    add(s, NodeType::Router, 0x30, {{4, 0x30, 2}});     // LIDs 4 to 7
    add(s, NodeType::CA, 0x40, {{8, 0x41}});
    CHECK(lines_of(s) == lines{});
}

TEST_CASE("ibidsverify reports duplicate LIDs and GUIDs at the second location, switches first") {
    discovery::subnet s;
    add(s, NodeType::CA, 0x20, {{9, 0x21}});
    add(s, NodeType::CA, 0x20, {{10, 0x21}});       // a second node with this GUID
    add(s, NodeType::CA, 0x30, {{5, 0x10}});        // a port with the GUID of another node
    add(s, NodeType::Switch, 0x10, {{4, 0x11, 1}}); // LIDs 4 and 5
    add(s, NodeType::CA, 0x40, {{4, 0x41, 1}});     // both LIDs are duplicates, reported in one line
    CHECK(lines_of(s) == lines{"duplicate_nodeGUID: NodeGUID 0x20 already defined for LID 9",
                               "duplicate_portGUID: PortGUID 0x21 already defined for LID 9",
                               "duplicate_LID: LID 5 already defined for NodeGUID 0x10",
                               "portGUID_of_other_node: PortGUID 0x10 is an invalid duplicate of a NodeGUID",
                               "duplicate_LID: LID 4 already defined for NodeGUID 0x10"});
}

TEST_CASE("ibidsverify reports a LID or GUID of zero, and no LID of an unread port") {
    discovery::subnet s;
    add(s, NodeType::Switch, 0x10, {{0, 0x10}});
    add(s, NodeType::CA, 0, {{2, 0}});
    add(s, NodeType::CA, 0, {{1, 0}}); // reported as zero and not as a duplicate
    add(s, NodeType::CA, 0x30, {{0, 0x31, 0, false}});
    add(s, NodeType::CA, 0x40, {{3, 0x31}});
    CHECK(lines_of(s) == lines{"no_LID: LID 0 found for switch NodeGUID 0x10", "no_GUID: ca GUID 0x0 found with LID 2",
                               "no_GUID: ca GUID 0x0 found with LID 2", "no_GUID: ca GUID 0x0 found with LID 1",
                               "no_GUID: ca GUID 0x0 found with LID 1",
                               "duplicate_portGUID: PortGUID 0x31 already defined for LID 0"});
}

} // namespace identities_test
