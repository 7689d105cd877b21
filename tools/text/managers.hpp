// SPDX-License-Identifier: MIT
// managers.hpp - the subnet managers of a subnet as they describe themselves, and what is wrong among them. Asks nobody.
#pragma once
#include <comad/iba/detail/smp/node.hpp>
#include <comad/mad/detail/time.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// A port where a subnet manager runs, or says that one does (IsSM).
struct manager_facts {
    enum class source : comad::u8 {
        own,    ///< it answered SMInfo
        SA,     ///< it did not; the SA has its SMInfoRecord
        nobody, ///< only its port says IsSM: `info` has its GUID and nothing else
    };
    unsigned LID = 0;
    std::string route; ///< `0,1,4`, if it was queried by a directed route; else empty
    comad::iba::smp::SMInfo info;
    source described_by = source::own;
    comad::mad::duration round_trip{0}; ///< of its own answer

    bool is_known() const noexcept { return described_by != source::nobody; }
};

/// `LID 1`, or the route of a manager without a LID.
std::string manager_name(const manager_facts&);
/// `Master, GUID 0000:0000:0000:0001, priority 5, activity 12`.
std::string manager_state(const comad::iba::smp::SMInfo&);

/// What is wrong among managers.
struct manager_problem {
    enum class kind : comad::u8 {
        no_master,
        several_masters,
        outranked_master, ///< a standby has a higher priority, or the same priority and a lower GUID (IBA 14.4.1)
    };
    kind what;
    std::string text; ///< one line
};
/// Empty if nothing is wrong, or if no manager is known.
std::vector<manager_problem> manager_problems(std::span<const manager_facts>);

} // namespace ibtool
