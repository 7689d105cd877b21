// SPDX-License-Identifier: MIT
// summary_facts.hpp - collects what a summary of a subnet prints, as text or as JSON. Sends nothing.
#pragma once
#include "text/summary_text.hpp"
#include <comad/discovery/formats/detail/port_counts.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Nodes with one type, vendor ID and device ID.
struct device_count {
    comad::iba::NodeType type;
    comad::u32 vendorID;
    comad::u16 deviceID;
    std::size_t nodes = 0;
    std::string example; ///< description of the first node: any bytes
};

/// The LIDs of the end ports.
struct lid_facts {
    std::size_t assigned = 0; ///< LIDs, with those that the LMC adds
    std::size_t without = 0;  ///< end ports in use without a LID
    unsigned first = 0, last = 0, most_lmc = 0;
};

/// A cable that runs below what is enabled at its ends, or in a way that is not enabled.
struct reduced_link {
    comad::discovery::link_ends ends;                  ///< `to` is invalid if the neighbor is unknown
    std::string_view width, speed;                     ///< active
    std::string_view enabled_width{}, enabled_speed{}; ///< best enabled values, if they are better; else empty
};

struct summary_facts {
    std::vector<device_count> devices; ///< most nodes first
    std::size_t chassis = 0;
    lid_facts LIDs;
    comad::discovery::port_counts ports;
    std::vector<reduced_link> reduced, unenabled;
    std::vector<std::string> problems; ///< one line each, safe for a terminal: subnet managers, LIDs of two ports
};
summary_facts facts_of(const summarized_subnet&);

/// Returns `1 switch` or `2 switches`.
std::string count_of(std::size_t n, std::string_view what);

/// Returns the name of the node with this LID, safe for a terminal; empty: unknown.
std::string name_at_lid(const summarized_subnet&, unsigned LID);

} // namespace ibtool
