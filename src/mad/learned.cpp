// SPDX-License-Identifier: MIT
// learned.cpp - redirection and response times by target.
#include <comad/mad/detail/learned.hpp>
#include <comad/mad/port_tables.hpp>

namespace comad::mad::detail {

std::optional<IBPath> redirected(const IBPath& from, const iba::ClassPortInfo& info) noexcept {
    if (info.redirectLID == iba::lid{} && info.redirectGID == iba::gid{}) return std::nullopt;
    IBPath to = from;
    to.DLID = info.redirectLID;
    to.SL = info.redirectSL;
    to.dqpn = info.redirectQP;
    to.qkey = info.redirectQKey;
    if (is_valid_pkey(info.redirectPKey)) {
        to.pkey = info.redirectPKey;
        to.pkey_index = path_headers::look_up;
    }
    to.has_grh = from.has_grh && info.redirectGID != iba::gid{};
    if (info.redirectGID != iba::gid{}) {
        to.DGID = info.redirectGID;
        to.traffic_class = info.redirectTC;
        to.flow_label = info.redirectFL;
    }
    return to;
}

u64 learned::key_of(const IBPath& path, iba::MgmtClass mgmt_class) noexcept {
    return destination_key(path) ^ u64 { value(mgmt_class) } << 56;
}

void learned::redirect(const IBPath& from, iba::MgmtClass mgmt_class, const IBPath& to) {
    facts_[key_of(from, mgmt_class)].moved_to = to;
}

void learned::response_time(const IBPath& target, iba::MgmtClass mgmt_class, u8 exponent) {
    facts_[key_of(target, mgmt_class)].resp_time = exponent;
}

void learned::apply(IBPath& path, iba::MgmtClass mgmt_class) const noexcept {
    const auto known = facts_.find(key_of(path, mgmt_class));
    if (known == facts_.end()) return;
    const fact& f = known->second;
    if (f.moved_to) {
        IBPath moved = *f.moved_to;
        moved.SLID = path.SLID;
        moved.SGID_index = path.SGID_index;
        moved.SMKey = path.SMKey;
        moved.CCKey = path.CCKey;
        path = moved;
    }
    if (f.resp_time) path.resp_time = *f.resp_time;
}

} // namespace comad::mad::detail
