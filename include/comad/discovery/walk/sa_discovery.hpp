// SPDX-License-Identifier: MIT
// sa_discovery.hpp - the subnet database from the tables of the subnet administrator, as one awaitable task.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/mad/error.hpp>

namespace comad::discovery {

/// What the SA knows of the subnet, from its NodeRecord, PortInfoRecord, LinkRecord and SwitchInfoRecord tables (IBA 15.2.5):
/// four SubnAdmGetTables to the schedule's sa_path(), and no SMP.
///
/// Order and routes are those of discover() from the end port that has `local_lid`, which becomes nodes[0]; PortInfo's
/// localPortNum, too, is that of the port that the route enters by. What the SA does not tell a stranger or does not know is
/// missing: M_Keys, unless the SA trusts the request's SM_Key; `port::fdr10` and `port::fdr10_supported`, of which no record
/// tells; with P_Key enforcement whatever has no partition in common with us. States are those of the SM's last sweep.
/// What is without end port records, or contradicts itself (two nodes with one LID, a link whose ends disagree, a record of
/// a node or port that is not there), becomes a failure in the result.
///
/// Of the options those about hops, devices and their ports' SMPs mean nothing; M_Keys of `keys` go into the nodes' routes.
/// Errors: those of SubnAdmGetTable for NodeRecords; path_not_found where the SA has no node with `local_lid`.
/// Cancel: the error of a request that was cancelled, or what was found, and the failures say so.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover_by_sa(coro::MADSchedule& schedule, iba::lid local_lid,
                                               discover_options options = {});

} // namespace comad::discovery
