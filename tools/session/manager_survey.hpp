// SPDX-License-Identifier: MIT
// manager_survey.hpp - finds the subnet managers of a subnet. Knows no command.
#pragma once
#include "session/session.hpp"
#include "text/managers.hpp"
#include <comad/iba/sa.hpp>

#include <vector>

namespace ibtool {

/// PortInfoRecords of the ports that have a capability: a query whose modifier makes the SA compare only the bits that are 1
/// (IBA 15.2.5.3).
query_task<std::vector<comad::iba::sa::PortInfoRecord>> ports_that(session&, comad::iba::CapabilityMask can);

/// Where subnet managers are looked for if the SA does not answer.
enum class without_sa : comad::u8 {
    discover, ///< in a discovery: the ports that say IsSM are asked by directed routes
    give_up,
};

/// The subnet managers, masters first, then by LID. The SA lists those that it knows and the ports that say IsSM; each of them is
/// asked for SMInfo, because two managers that do not know each other each run an SA that knows one. With --sa no SMP is sent.
comad::coro::task<std::vector<manager_facts>> survey_managers(session&, without_sa = without_sa::discover);

/// What is wrong among the subnet managers that the SA knows, a line for each problem: for commands whose output has no place
/// for it.
comad::coro::task<std::vector<std::string>> manager_notes(session&);

} // namespace ibtool
