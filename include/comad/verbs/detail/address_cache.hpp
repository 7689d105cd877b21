// SPDX-License-Identifier: MIT
// address_cache.hpp - address_cache: a bounded cache of address handles by path. Creating a handle costs a system call, and for RoCE the
// resolution of the neighbor.
#pragma once
#include <comad/verbs/detail/address.hpp>

#include <list>
#include <unordered_map>

namespace comad::verbs {

/// The address handles of one port. A handle that the cache drops continues to exist while a send still uses it.
class address_cache {
public:
    /// `most`: the largest number of handles, at least 1.
    address_cache(pd domain, u8 port, std::size_t most) : domain_(std::move(domain)), port_(port), most_(most) {}

    /// Returns the handle of a path. If there is none, it creates one and drops the least recently used handle if the
    /// cache is full. Handles use the port's own rate, as kernels do for MADs.
    result<address_handle> get(const mad::IBPath&);
    /// Drops all handles. Call it after LIDs or GIDs have changed.
    void clear() noexcept;
    std::size_t size() const noexcept { return by_use_.size(); }

private:
    /// The fields of a path that determine an address.
    struct key {
        explicit key(const mad::IBPath&) noexcept;
        iba::gid DGID;
        u32 flow_label;
        u16 DLID;
        u8 SL, path_bits, SGID_index, hop_limit, traffic_class;
        bool has_grh;
        friend bool operator==(const key&, const key&) = default;
    };
    struct hash {
        std::size_t operator()(const key&) const noexcept;
    };
    struct entry {
        key of;
        address_handle handle;
    };
    pd domain_;
    u8 port_;
    std::size_t most_;
    std::list<entry> by_use_; // the most recently used entry is first
    std::unordered_map<key, std::list<entry>::iterator, hash> known_;
};

} // namespace comad::verbs
