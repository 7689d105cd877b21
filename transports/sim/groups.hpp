// SPDX-License-Identifier: MIT
// groups.hpp - the multicast groups of a simulated subnet and who is in them (IBA 15.2.5.17, 15.4.4). Knows no MAD.
#pragma once
#include "addressed_ports.hpp"
#include "records.hpp"

#include <list>
#include <optional>
#include <vector>

namespace comad::transports::sim {

/// At the beginning there is the group that IPoIB makes first, ff12:401b:ffff::ffff:ffff, and every Active CA port is a
/// full member. It stays without members; others end with their last full member.
class groups {
public:
    using record = iba::sa::MCMemberRecord;
    struct outcome {
        iba::SAStatus status = iba::SAStatus::None;
        std::optional<iba::TrapNumber> event{}; ///< a group came or went
    };

    /// `of` must outlive it.
    explicit groups(attributes& of);

    /// Joins, or creates where the mask has all that it takes. `r` becomes what the group and the membership are.
    outcome join(record& r, u64 mask);
    /// Gives up what r.joinState says, which becomes what is left.
    outcome leave(record& r, u64 mask);
    /// A record of every member whose link is Active.
    void find(collector& found) const;

private:
    struct member {
        addressed_port port;
        u8 join_state;
    };
    struct group {
        record what; // portGID and joinState are members'
        std::vector<member> members{};
        bool is_permanent = false;
        bool has_full_member() const noexcept;
    };
    std::list<group>::iterator find(const iba::gid& MGID);
    iba::SAStatus create(const record& wanted, u64 mask, const addressed_port& by);
    iba::SAStatus check_join(const group& g, const record& wanted, u64 mask, const addressed_port& by) const;
    iba::lid free_mlid() const;
    iba::Rate rate_of_port(const addressed_port&) const noexcept;

    attributes& of_;
    std::list<group> groups_;
};

} // namespace comad::transports::sim
