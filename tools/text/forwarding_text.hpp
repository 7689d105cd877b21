// SPDX-License-Identifier: MIT
// forwarding_text.hpp - forwarding tables as infiniband-diags prints them, and as JSON. Asks nobody.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The switch whose table it is, and which part of it is shown.
struct table_heading {
    std::string where; ///< place_text(), or scanned_place_text()
    comad::iba::guid nodeGUID;
    std::string name; ///< as it is
    unsigned num_ports;
    unsigned first, last; ///< LIDs or MLIDs
};
/// `DR path slid 0; dlid 0; 0,1`, as dump_fts says where a switch is.
std::string scanned_place_text(const comad::mad::IBDRPath&);

struct table_style {
    bool everything = false;                              ///< also rows that lead nowhere were asked for
    bool brief = false;                                   ///< no destinations; masks instead of ports
    std::string_view unknown = "(unknown node and type)"; ///< of a LID of which nobody is known
};

/// What is at a LID.
struct destination {
    bool known = false;
    comad::iba::NodeType nodeType{};
    comad::iba::guid portGUID{};
    unsigned base_lid = 0, LMC = 0;
    std::string name{}; ///< as it is
};

struct unicast_row {
    unsigned LID;
    comad::u8 port;
    bool valid;     ///< the switch has that port
    destination to; ///< not known in brief
};
std::string unicast_text(const table_heading&, const std::vector<unicast_row>&, const table_style&);
/// One line; `top`: linearFDBTop.
std::string unicast_json(const table_heading&, const std::vector<unicast_row>&, const table_style&, unsigned top);

struct multicast_row {
    unsigned MLID;
    std::vector<comad::u16> masks; ///< 16 ports each

    bool leads_nowhere() const noexcept;
};
std::string multicast_text(const table_heading&, const std::vector<multicast_row>&, const table_style&);
/// One line; `top`: multicastFDBTop.
std::string multicast_json(const table_heading&, const std::vector<multicast_row>&, unsigned top);

} // namespace ibtool
