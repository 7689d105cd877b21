// SPDX-License-Identifier: MIT
// manager_survey.hpp - finds the subnet managers of a subnet. Does not depend on a command.
#pragma once
#include "session/session.hpp"
#include "text/subnet_managers.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/sa.hpp>

#include <vector>

namespace ibtool {

/// Returns the PortInfoRecords of ports with a capability. The modifier of the query makes the SA compare only the bits that are 1
/// (IBA 15.2.5.3).
query_task<std::vector<comad::iba::sa::PortInfoRecord>> ports_that(session&, comad::iba::CapabilityMask can);

/// How to find subnet managers if the SA does not reply.
enum class without_sa : comad::u8 {
    discover, ///< discover the subnet, and query the ports that set IsSM by directed routes
    give_up,
};

/// Returns the subnet managers, masters first, then by LID. The SA lists the managers that it knows and the ports that set IsSM; each of
/// them is queried for SMInfo. Two managers that do not know each other run two SAs, and each SA knows only one. With --sa no SMP is sent.
/// `known`: a discovered subnet, which is used in place of another discovery; it must outlive the task.
comad::coro::task<std::vector<manager_facts>> survey_managers(session&, without_sa = without_sa::discover,
                                                              const comad::discovery::subnet* known = nullptr);

/// Returns problems of the subnet managers that the SA knows, one line each. For commands whose output does not show managers.
comad::coro::task<std::vector<std::string>> manager_notes(session&);

} // namespace ibtool
