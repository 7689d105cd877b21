// SPDX-License-Identifier: MIT
// peer_cache.cpp - stores redirections and response times by destination and class.
#include <comad/mad/detail/peer_cache.hpp>
#include <comad/mad/detail/port_tables.hpp>

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

u64 peer_cache::key_of(const IBPath& path, iba::MgmtClass mgmt_class) noexcept {
    return destination_key(path) ^ u64 { value(mgmt_class) } << 56;
}

void peer_cache::redirect(const IBPath& from, iba::MgmtClass mgmt_class, const IBPath& to) {
    redirections_[key_of(from, mgmt_class)] = to;
}

void peer_cache::forget(const IBPath& from, iba::MgmtClass mgmt_class) {
    const u64 key = key_of(from, mgmt_class);
    redirections_.erase(key);
    response_times_.erase(key);
}

void peer_cache::response_time(const IBPath& target, iba::MgmtClass mgmt_class, u8 exponent) {
    response_times_[key_of(target, mgmt_class)] = exponent;
}

void peer_cache::apply(IBPath& path, iba::MgmtClass mgmt_class) const noexcept {
    const u64 key = key_of(path, mgmt_class);
    const auto redirection = redirections_.empty() ? redirections_.end() : redirections_.find(key);
    if (redirection != redirections_.end()) {
        IBPath moved = redirection->second;
        moved.SLID = path.SLID;
        moved.SGID_index = path.SGID_index;
        moved.SMKey = path.SMKey;
        moved.CCKey = path.CCKey;
        path = moved;
    }
    const auto time = response_times_.find(key);
    if (time != response_times_.end()) path.resp_time = time->second;
}

} // namespace comad::mad::detail
