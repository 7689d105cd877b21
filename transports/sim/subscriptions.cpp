// SPDX-License-Identifier: MIT
// subscriptions.cpp - stores the subscriptions of a simulated subnet, and makes Reports.
#include "subscriptions.hpp"

#include <comad/mad/detail/message.hpp>

#include <algorithm>

namespace comad::transports::sim {
namespace {

using iba::InformInfo;
using iba::Notice;

constexpr u16 any_number = 0xffff;
constexpr u32 all_producers = 0xffffff;

bool is_about(const InformInfo& i, const Notice& n) noexcept {
    const u16 LID = value(n.issuerLID), begin = value(i.LIDRangeBegin);
    const u16 end = value(i.LIDRangeEnd) != 0 ? value(i.LIDRangeEnd) : begin;
    const bool is_issuer =
        i.GID != iba::gid{} ? i.GID == n.issuerGID : begin == any_number || (LID >= begin && LID <= end);
    return is_issuer && (i.isGeneric != 0) == n.isGeneric && (i.type == any_number || i.type == value(n.noticeType)) &&
           (i.trapNumber == any_number || i.trapNumber == value(n.trapNumber)) &&
           (i.producerType == all_producers || i.producerType == value(n.nodeType));
}

/// Returns whether two requests concern one subscription, regardless of `subscribe` and of the destination of
/// Reports.
bool is_same(InformInfo a, InformInfo b) noexcept {
    a.subscribe = b.subscribe = 0;
    a.QPN = b.QPN = 0;
    a.respTimeValue = b.respTimeValue = 0;
    return a == b;
}

} // namespace

bool subscriptions::set(const InformInfo& wanted, const iba::gid& GID, iba::lid LID) {
    const bool has_issuer = wanted.GID != iba::gid{} || value(wanted.LIDRangeBegin) != 0;
    if (wanted.subscribe > 1 || wanted.isGeneric > 1 || !has_issuer) return false;
    const auto known = std::find_if(all_.begin(), all_.end(), [&](const subscription& s) {
        return s.what.subscriberGID == GID && is_same(s.what.informInfo, wanted);
    });
    if (wanted.subscribe == 0) {
        if (known == all_.end()) return false;
        all_.erase(known);
    } else if (known == all_.end()) {
        subscription s{{}, LID};
        s.what.subscriberGID = GID;
        // Selects the lowest number that this subscriber does not use.
        const auto is_used = [&](const subscription& other) {
            return other.what.subscriberGID == GID && other.what.enumeration == s.what.enumeration;
        };
        while (std::any_of(all_.begin(), all_.end(), is_used)) ++s.what.enumeration;
        s.what.informInfo = wanted;
        all_.push_back(s);
    }
    return true;
}

void subscriptions::find(collector& found) const {
    for (const subscription& s : all_) found.offer(s.what);
}

std::vector<report> subscriptions::reports_of(const Notice& notice) {
    static constexpr mad::rpc_kind kind{iba::MgmtClass::SubnAdm, 2, iba::Method::Report, iba::attribute_id<Notice>,
                                        true};
    std::vector<report> reports;
    for (const subscription& s : all_) {
        if (!is_about(s.what.informInfo, notice)) continue;
        report& r = reports.emplace_back(report{s.LID, {}});
        u8* const data = mad::write_request(r.mad.data(), kind, mad::IBPath{}, 0);
        iba::encode(notice, data);
        iba::put<&iba::MADHeader::transactionID>(r.mad.data(), next_);
        waiting_.insert(next_++);
    }
    return reports;
}

} // namespace comad::transports::sim
