// SPDX-License-Identifier: MIT
// subscription.hpp - subscribes to notices that the SA forwards as Reports (IBA 15.4.4). server::responder::on_report() receives them.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/notice.hpp>

namespace comad::sa {

/// Returns the query for all generic notices from all producers. `subscribe`: true to subscribe, false to
/// unsubscribe.
iba::query<iba::InformInfo> all_notices(bool subscribe);

/// Subscribes at the SA: the SA then forwards all generic notices as Reports to QP1 of the local port. The
/// subscription is an entry in a table of the SA. The SA forgets it when it restarts, so subscribe again
/// periodically. Repeated subscriptions do not create duplicates.
/// Errors: those of SubnAdmSet.
coro::task<mad::result<void>> subscribe(coro::MADSchedule&);
/// Removes the subscription. Errors: those of SubnAdmSet.
coro::task<mad::result<void>> unsubscribe(coro::MADSchedule&);

} // namespace comad::sa
