// SPDX-License-Identifier: MIT
// lid_index.hpp - which port has which LID, with the LMC taken into account. Knows no forwarding table.
#pragma once
#include <comad/discovery/subnet.hpp>

#include <vector>

namespace comad::discovery {

/// Made once of a subnet; says nothing of what changes in it afterwards.
class LID_index {
public:
    static constexpr unsigned last_unicast_LID = 0xbfff; ///< IBA 4.1.3

    /// An end port and its LIDs: port 0 of a switch, each port of another node that was read.
    struct end {
        port_ref where;
        unsigned first = 0, count = 0; ///< 2^LMC LIDs; the first is 0, and there are none, where it has no unicast LID
    };
    /// Two ports have it: the first in the order of the subnet keeps it.
    struct doubled {
        unsigned LID;
        port_ref kept, other;
    };

    explicit LID_index(const subnet&);

    /// Nobody, if no port has it.
    port_ref at(unsigned LID) const noexcept { return LID < by_LID_.size() ? by_LID_[LID] : port_ref{}; }
    /// In the order of the subnet.
    const std::vector<end>& ends() const noexcept { return ends_; }
    const std::vector<doubled>& conflicts() const noexcept { return conflicts_; }
    /// Behind the highest LID that somebody has.
    unsigned size() const noexcept { return static_cast<unsigned>(by_LID_.size()); }

private:
    void add(const subnet&, port_ref);

    std::vector<port_ref> by_LID_;
    std::vector<end> ends_;
    std::vector<doubled> conflicts_;
};

} // namespace comad::discovery
