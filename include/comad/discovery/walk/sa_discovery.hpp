// SPDX-License-Identifier: MIT
// sa_discovery.hpp - discovery of a subnet from the tables of the SA, as one awaitable task.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/mad/error.hpp>

namespace comad::discovery {

/// The subnet as the SA describes it, from its NodeRecord, PortInfoRecord, LinkRecord and SwitchInfoRecord tables (IBA 15.2.5). Sends
/// four SubnAdmGetTables to the schedule's sa_path(), and no SMP.
///
/// Order and routes follow discover() from the end port that has `local_lid`, which becomes nodes[0]. localPortNum of PortInfo
/// is the number of the port that the route enters by. States come from the SM's last sweep. The result lacks what the SA does not
/// know or does not return:
/// - M_Keys, unless the SA trusts the SM_Key of the request
/// - `port::fdr10` and `port::fdr10_supported`, which no record contains
/// - with P_Key enforcement, everything that shares no partition with the local port
/// A record that is missing becomes a failure in the result, and so does a contradiction: two nodes with one LID, a link whose ends
/// disagree, a record of a node or port that does not exist.
///
/// Ignores the options about hops, devices and SMPs. M_Keys of `keys` are in the routes of the nodes.
/// Errors: those of SubnAdmGetTable for NodeRecords; path_not_found if the SA has no node with `local_lid`.
/// Cancel: the error of a request that was canceled, or what was found, with a failure.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover_by_sa(coro::MADSchedule& schedule, iba::lid local_lid,
                                               discover_options options = {});

} // namespace comad::discovery
