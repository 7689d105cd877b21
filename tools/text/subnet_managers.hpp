// SPDX-License-Identifier: MIT
// subnet_managers.hpp - the subnet managers of a subnet as they describe themselves, and problems among them. Sends nothing.
#pragma once
#include <comad/iba/detail/smp/node.hpp>
#include <comad/mad/detail/time.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// A port with a subnet manager, or a port that claims to have one (IsSM).
struct manager_facts {
    enum class source : comad::u8 {
        own,             ///< it replied to SMInfo
        SA,              ///< it did not reply; the SA has its SMInfoRecord
        capability_mask, ///< only its port sets IsSM: `info` contains only its GUID
    };
    unsigned LID = 0;
    std::string route; ///< `0,1,4`, if it was queried by a directed route; else empty
    comad::iba::smp::SMInfo info;
    source described_by = source::own;
    comad::mad::duration round_trip{0}; ///< round-trip time of its own reply

    bool is_known() const noexcept { return described_by != source::capability_mask; }
};

/// Returns `LID 1`, or the route of a manager without a LID.
std::string manager_name(const manager_facts&);
/// Returns `Master, GUID 0000:0000:0000:0001, priority 5, activity 12`.
std::string manager_state(const comad::iba::smp::SMInfo&);

/// A problem among subnet managers.
struct manager_problem {
    enum class kind : comad::u8 {
        no_master,
        several_masters,
        outranked_master, ///< a standby has a higher priority, or the same priority and a lower GUID (IBA 14.4.1)
    };
    kind what;
    std::string text; ///< text on one line
};
/// Returns the problems; empty if none was found, or if no manager is known.
std::vector<manager_problem> manager_problems(std::span<const manager_facts>);

} // namespace ibtool
