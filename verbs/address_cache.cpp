// SPDX-License-Identifier: MIT
// address_cache.cpp - a cache of address handles that drops the least recently used one.
#include <comad/verbs/detail/address_cache.hpp>

#include <cstring>

namespace comad::verbs {

address_cache::key::key(const mad::IBPath& path) noexcept
    : DGID(path.has_grh ? path.DGID : iba::gid{}), flow_label(path.has_grh ? path.flow_label : 0),
      DLID(value(path.DLID)), SL(path.SL), path_bits(address_of(path, 0).src_path_bits),
      SGID_index(path.has_grh ? address_of(path, 0).grh.sgid_index : u8{0}),
      hop_limit(path.has_grh ? path.hop_limit : u8{0}), traffic_class(path.has_grh ? path.traffic_class : u8{0}),
      has_grh(path.has_grh) {}

std::size_t address_cache::hash::operator()(const key& k) const noexcept {
    u64 halves[2];
    std::memcpy(halves, k.DGID.bytes.data(), sizeof halves);
    const u64 rest = u64{k.flow_label} << 40 | u64{k.DLID} << 16 | u64{k.SL} << 8 | k.path_bits;
    const u64 more = u64{k.SGID_index} << 24 | u64{k.hop_limit} << 16 | u64{k.traffic_class} << 8 | u64{k.has_grh};
    u64 mixed = 0;
    for (const u64 part : {halves[0], halves[1], rest, more}) mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
    return mixed ^ mixed >> 32;
}

result<address_handle> address_cache::get(const mad::IBPath& path) {
    const key wanted(path);
    if (const auto known = known_.find(wanted); known != known_.end()) {
        by_use_.splice(by_use_.begin(), by_use_, known->second);
        return by_use_.front().handle;
    }
    ibv_ah_attr address = address_of(path, port_);
    address.static_rate = IBV_RATE_MAX;
    auto made = address_handle::create(domain_, address);
    if (!made) return made;
    if (by_use_.size() == most_) {
        known_.erase(by_use_.back().of);
        by_use_.pop_back();
    }
    by_use_.push_front({wanted, made.value()});
    known_.emplace(wanted, by_use_.begin());
    return made;
}

void address_cache::clear() noexcept {
    known_.clear();
    by_use_.clear();
}

} // namespace comad::verbs
