// SPDX-License-Identifier: MIT
// forwarding_text.hpp - formats forwarding tables as infiniband-diags do, and as JSON. Sends nothing.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The switch of a table, and the range that is shown.
struct table_heading {
    std::string where; ///< format_place(), or format_scanned_place()
    comad::iba::guid nodeGUID;
    std::string name; ///< raw bytes
    unsigned num_ports;
    unsigned first, last; ///< LIDs or MLIDs
};
/// Returns `DR path slid 0; dlid 0; 0,1`, the location of a switch as dump_fts prints it.
std::string format_scanned_place(const comad::mad::IBDRPath&);

/// The layout of a table.
struct table_style {
    bool everything = false;                              ///< include requested rows without a valid port
    bool brief = false;                                   ///< without destinations; masks instead of ports
    std::string_view unknown = "(unknown node and type)"; ///< text for a LID of an unknown node
};

/// The node at a LID.
struct destination {
    bool known = false;
    comad::iba::NodeType nodeType{};
    comad::iba::guid portGUID{};
    unsigned base_lid = 0, LMC = 0;
    std::string name{}; ///< raw bytes
};

/// A row of a unicast table.
struct unicast_row {
    unsigned LID;
    comad::u8 port;
    bool valid;     ///< the switch has that port
    destination to; ///< unknown in brief tables
};
/// Returns the unicast table of a switch as text.
std::string format_unicast(const table_heading&, const std::vector<unicast_row>&, const table_style&);
/// Returns one line; `top`: linearFDBTop.
std::string unicast_json(const table_heading&, const std::vector<unicast_row>&, const table_style&, unsigned top);

/// A row of a multicast table.
struct multicast_row {
    unsigned MLID;
    std::vector<comad::u16> masks; ///< 16 ports each

    bool leads_nowhere() const noexcept;
};
/// Returns the multicast table of a switch as text.
std::string format_multicast(const table_heading&, const std::vector<multicast_row>&, const table_style&);
/// Returns one line; `top`: multicastFDBTop.
std::string multicast_json(const table_heading&, const std::vector<multicast_row>&, unsigned top);

} // namespace ibtool
