// SPDX-License-Identifier: MIT
// groups.hpp - the multicast groups of a simulated subnet and their members (IBA 15.2.5.17, 15.4.4). It does not depend on MADs.
#pragma once
#include "addressed_ports.hpp"
#include "records.hpp"

#include <list>
#include <optional>
#include <vector>

namespace comad::transports::sim {

/// The multicast groups. Initially there is the group that IPoIB creates first, ff12:401b:ffff::ffff:ffff, with every
/// Active CA port as a full member. It also exists without members; other groups end with their last full member.
class groups {
public:
    using record = iba::sa::MCMemberRecord;
    struct outcome {
        iba::SAStatus status = iba::SAStatus::None;
        std::optional<iba::TrapNumber> event{}; ///< a group was created or deleted
    };

    /// `of` must outlive it.
    explicit groups(attributes& of);

    /// Joins a group, or creates it if `mask` contains all required components. `r` is set to the properties of the
    /// group and the membership.
    outcome join(record& r, u64 mask);
    /// Removes the states in r.joinState from the membership, and sets it to the remaining ones.
    outcome leave(record& r, u64 mask);
    /// Offers a record of every member whose link is Active.
    void find(collector& found) const;

private:
    struct member {
        addressed_port port;
        u8 join_state;
    };
    struct group {
        record what; // properties of the group; portGID and joinState belong to the members
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
