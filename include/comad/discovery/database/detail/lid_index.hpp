// SPDX-License-Identifier: MIT
// lid_index.hpp - maps each LID of a subnet to its end port, and finds duplicate LIDs. Sends nothing.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace comad::discovery {

/// Maps LIDs to end ports, including the LIDs that the LMC adds. The end ports are port 0 of each switch, and of other nodes each
/// port that was read. The index contains node indices of the subnet; its nodes must not be reordered.
class lid_index {
public:
    static constexpr unsigned last_unicast_lid = 0xbfff; ///< IBA 4.1.3

    lid_index() = default;
    explicit lid_index(const subnet&);

    /// Assigns 2^LMC LIDs from the base LID to an end port. An end port without a unicast LID gets none. A LID that was assigned before
    /// keeps its first end port.
    void add(port_ref end_port, iba::lid base, unsigned LMC);
    /// The end port of this LID (port 0 of a switch); invalid if no end port has the LID.
    port_ref at(iba::lid LID) const noexcept { return value(LID) < ports_.size() ? ports_[value(LID)] : port_ref{}; }

    port_ref at(unsigned LID) const noexcept { return LID < ports_.size() ? ports_[LID] : port_ref{}; }

    /// An end port and its LIDs.
    struct end {
        port_ref where;
        unsigned first = 0, count = 0; ///< 2^LMC LIDs; both 0 if the end port has no unicast LID
    };
    /// All end ports, in the order of the calls of add().
    const std::vector<end>& ends() const noexcept { return ends_; }

    /// Two end ports with at least one LID in common.
    struct shared {
        iba::lid LID{}; ///< the first LID that both have
        port_ref first, second;
        friend bool operator==(const shared&, const shared&) = default;
    };
    /// One entry for each pair of end ports with a common LID, in the order of the calls of add().
    const std::vector<shared>& duplicates() const noexcept { return duplicates_; }

private:
    std::vector<port_ref> ports_; // by LID, up to the highest one
    std::vector<end> ends_;
    std::vector<shared> duplicates_;
};

/// `LID 7 is that of both S-0002c90300000001 "spine 1" and H-... "host 3"[1]`, safe for a terminal.
std::string describe(const subnet&, const lid_index::shared&);

} // namespace comad::discovery
