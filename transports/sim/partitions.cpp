// SPDX-License-Identifier: MIT
// partitions.cpp - P_Keys and GIDs of end ports: matching of packets, and selection for outgoing packets (IBA 4.1.1, 10.9).
#include "addressed_ports.hpp"
#include "attributes.hpp"

namespace comad::transports::sim {
namespace {

using mad::full_membership;

bool has_same_base(u16 a, u16 b) noexcept { return ((a ^ b) & ~full_membership) == 0; }

constexpr u16 entries_of_block = 32;
u16 entry(const overrides::block& bytes, unsigned i) noexcept { return iba::load_be<u16>(bytes.data() + i * 2); }

} // namespace

/// Implements the rule of IBA 10.9.3. A P_Key with base bits of zero is invalid.
bool is_pkey_match(u16 a, u16 b) noexcept {
    return has_same_base(a, b) && mad::is_valid_pkey(a) && ((a | b) & full_membership) != 0;
}

/// Returns a block of the P_Key table; null: no manager has written it.
const overrides::block* attributes::pkey_block(router::node_port at, u16 part) const noexcept {
    const u8 table = topology_.nodes[at.node].is_switch() ? u8{0} : at.port;
    return written_.has_pkeys() ? written_.find_block(at.node, table, iba::attribute_id<iba::smp::PKeyTable>, part)
                                : nullptr;
}

u16 attributes::pkey_at(router::node_port at, u16 index) const noexcept {
    const u16 part = index / entries_of_block;
    if (part >= pkey_blocks(at.node)) return 0;
    if (const auto* bytes = pkey_block(at, part)) return entry(*bytes, index % entries_of_block);
    return index == 0 ? default_pkey : u16{0};
}

/// Returns the index of the first P_Key for which `holds` is true. Zeros are unused entries.
template <class Condition> std::optional<u16> attributes::find_pkey(router::node_port at, Condition&& holds) const {
    for (u16 part = 0; part < pkey_blocks(at.node); ++part) {
        const auto* bytes = pkey_block(at, part);
        if (!bytes && part == 0 && holds(default_pkey)) return u16{0};
        for (u16 i = 0; bytes && i < entries_of_block; ++i)
            if (const u16 own = entry(*bytes, i); own != 0 && holds(own))
                return static_cast<u16>(part * entries_of_block + i);
    }
    return std::nullopt;
}

std::optional<u16> attributes::matching_pkey(router::node_port at, u16 pkey) const noexcept {
    const auto full =
        find_pkey(at, [pkey](u16 own) { return (own & full_membership) != 0 && is_pkey_match(own, pkey); });
    if (full) return full;
    return find_pkey(at, [pkey](u16 own) { return is_pkey_match(own, pkey); });
}

u16 attributes::sent_pkey(router::node_port at, u16 pkey) const noexcept {
    if (find_pkey(at, [pkey](u16 own) { return own == pkey; })) return pkey;
    const auto same = find_pkey(at, [pkey](u16 own) { return has_same_base(own, pkey); });
    return same ? pkey_at(at, *same) : u16{0};
}

u16 attributes::shared_pkey(router::node_port a, router::node_port b, std::optional<u16> wanted) const noexcept {
    const auto is_shared = [&](u16 own) {
        return (!wanted || has_same_base(own, *wanted)) &&
               find_pkey(b, [own](u16 other) { return is_pkey_match(own, other); }).has_value();
    };
    const auto usual = find_pkey(a, [&](u16 own) { return has_same_base(own, default_pkey) && is_shared(own); });
    const auto index = usual ? usual : find_pkey(a, is_shared);
    return index ? pkey_at(a, *index) : u16{0};
}

iba::gid attributes::gid_at(router::node_port at, u16 index) const noexcept {
    if (index == 0) return gid_of(*this, at);
    iba::gid GID;
    if (index >= gid_capacity) return GID;
    const auto* bytes =
        written_.find_block(at.node, at.port, iba::attribute_id<iba::smp::GUIDInfo>, index / u32{gids_of_block});
    const u64 GUID = bytes ? iba::load_be<u64>(bytes->data() + index % gids_of_block * 8) : 0;
    if (GUID == 0) return GID;
    iba::store_be<u64>(GID.bytes.data(), gid_prefix(at.node, at.port));
    iba::store_be<u64>(GID.bytes.data() + 8, GUID);
    return GID;
}

std::optional<u8> attributes::gid_index(router::node_port at, const iba::gid& GID) const noexcept {
    if (GID == iba::gid{}) return std::nullopt;
    iba::gid local = gid_of(*this, at);
    iba::store_be<u64>(local.bytes.data(), GIDPrefix);
    if (GID == local) return u8{0}; // the default prefix is always valid (IBA 4.1.1)
    for (u8 i = 0; i < gid_capacity; ++i)
        if (gid_at(at, i) == GID) return i;
    return std::nullopt;
}

} // namespace comad::transports::sim
