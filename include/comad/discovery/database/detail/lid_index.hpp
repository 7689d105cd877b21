// SPDX-License-Identifier: MIT
// lid_index.hpp - which end port of a subnet a LID belongs to, and which LIDs belong to no single one. Asks nobody.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace comad::discovery {

/// The LIDs of a subnet's end ports, those of their LMC included: of switches those of port 0, of other nodes those of each
/// port that was read. It refers to places in the subnet, whose order must not change meanwhile.
class lid_index {
public:
    static constexpr unsigned last_unicast_lid = 0xbfff; ///< IBA 4.1.3

    lid_index() = default;
    explicit lid_index(const subnet&);

    /// Gives an end port 2^LMC LIDs from its base LID. What has no unicast LID gets none. A LID that is another's already
    /// stays with that one.
    void add(port_ref end_port, iba::lid base, unsigned LMC);
    /// The end port of this LID; of a switch its port 0. None: nobody has it.
    port_ref at(iba::lid LID) const noexcept { return value(LID) < ports_.size() ? ports_[value(LID)] : port_ref{}; }

    port_ref at(unsigned LID) const noexcept { return LID < ports_.size() ? ports_[LID] : port_ref{}; }

    /// An end port and its LIDs.
    struct end {
        port_ref where;
        unsigned first = 0, count = 0; ///< 2^LMC LIDs; both 0 where it has no unicast LID
    };
    /// In the order of add().
    const std::vector<end>& ends() const noexcept { return ends_; }

    /// Two end ports with a LID in common.
    struct shared {
        iba::lid LID{}; ///< the first one that they share
        port_ref first, second;
        friend bool operator==(const shared&, const shared&) = default;
    };
    /// One for each pair that was met, in the order of add().
    const std::vector<shared>& duplicates() const noexcept { return duplicates_; }

private:
    std::vector<port_ref> ports_; // by LID, as far as the highest
    std::vector<end> ends_;
    std::vector<shared> duplicates_;
};

/// `LID 7 is that of both S-0002c90300000001 "spine 1" and H-... "host 3"[1]`, safe for a terminal.
std::string describe(const subnet&, const lid_index::shared&);

} // namespace comad::discovery
