// SPDX-License-Identifier: MIT
// subscription.hpp - notices that the SA forwards as Reports: to begin and to end that (IBA 15.4.4). Who hears of them is
// server::responder::on_report(). Knows no notice in particular.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/notice.hpp>

namespace comad::sa {

/// All generic notices, whoever sends them. `subscribe`: 1; 0 ends it.
iba::query<iba::InformInfo> all_notices(bool subscribe);

/// Asks the SA for Reports of all generic notices to the port from which it is asked, to its QP1. It forgets that when it begins
/// anew: ask again now and then; one subscription that is there already stays one.
/// Errors: those of SubnAdmSet. What it writes is an entry in the SA's table of subscribers.
coro::task<mad::result<void>> subscribe(coro::MADSchedule&);
/// Ends it.
coro::task<mad::result<void>> unsubscribe(coro::MADSchedule&);

} // namespace comad::sa
