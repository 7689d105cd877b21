// SPDX-License-Identifier: MIT
// address_cache.hpp - address handles by path, a bounded number of them: making one costs a system call, and of RoCE a look
// for the neighbour.
#pragma once
#include <comad/verbs/detail/address.hpp>

#include <list>
#include <unordered_map>

namespace comad::verbs {

/// Of one port. A handle that is forgotten lives on with whoever still has it: a send that is under way.
class address_cache {
public:
    /// `most`: at least 1.
    address_cache(pd domain, u8 port, std::size_t most) : domain_(std::move(domain)), port_(port), most_(most) {}

    /// The handle of a path, made now if there is none; then the one that was asked for longest ago makes room. At the port's
    /// own rate, as kernels send MADs.
    result<address_handle> get(const mad::IBPath&);
    /// For when LIDs or GIDs have changed.
    void clear() noexcept;
    std::size_t size() const noexcept { return by_use_.size(); }

private:
    /// What of a path makes an address.
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
    std::list<entry> by_use_; // the latest is in front
    std::unordered_map<key, std::list<entry>::iterator, hash> known_;
};

} // namespace comad::verbs
