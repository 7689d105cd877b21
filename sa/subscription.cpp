// SPDX-License-Identifier: MIT
// subscription.cpp - sends InformInfo for all generic notices to the SA.
#include <comad/sa/subscription.hpp>

namespace comad::sa {

using coro::task;

iba::query<iba::InformInfo> all_notices(bool subscribe) {
    using iba::InformInfo;
    constexpr u16 all = 0xffff;
    iba::query<InformInfo> query;
    query.where<&InformInfo::LIDRangeBegin>(iba::permissive_lid).where<&InformInfo::isGeneric>(u8{1});
    query.where<&InformInfo::subscribe>(u8{subscribe}).where<&InformInfo::type>(all);
    query.where<&InformInfo::trapNumber>(all).where<&InformInfo::producerType>(u32{0xffffff});
    return query.where<&InformInfo::QPN>(u32{1});
}

namespace {

task<mad::result<void>> set(coro::MADSchedule& schedule, bool subscribe) {
    const auto query = all_notices(subscribe);
    auto answer = co_await schedule.SubnAdmSet(query);
    if (!answer) co_return std::move(answer.error());
    co_return mad::success();
}

} // namespace

task<mad::result<void>> subscribe(coro::MADSchedule& schedule) { return set(schedule, true); }
task<mad::result<void>> unsubscribe(coro::MADSchedule& schedule) { return set(schedule, false); }

} // namespace comad::sa
