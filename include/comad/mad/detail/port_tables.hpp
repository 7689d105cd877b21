// SPDX-License-Identifier: MIT
// port_tables.hpp - the P_Key and GID tables of the local port, and the one rule that finds the indices of a path in them.
// Does not read the tables: transports and programs do.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace comad::mad {

/// The low 15 bits are the partition, the highest one is set for full members (IBA 10.9.1.1). A partition of 0 is invalid.
inline constexpr u16 full_membership = 0x8000;
constexpr bool is_valid_pkey(u16 pkey) noexcept { return (pkey & ~full_membership) != 0; }

/// Index of a P_Key of the same partition: the first one with full membership, else the first one with limited membership
/// (IBA 10.9.3; Linux: ib_find_cached_pkey). Nothing if there is none, or if `pkey` is invalid.
std::optional<u16> find_pkey(std::span<const u16> table, u16 pkey) noexcept;
/// Index of the first entry that is this GID. Nothing if there is none below 256, or if the GID is zero.
std::optional<u8> find_gid(std::span<const iba::gid> table, const iba::gid& wanted) noexcept;

/// Why a path does not fit the tables of the local port.
enum class table_miss : u8 {
    none,
    pkey,       ///< no entry has the partition of the P_Key
    pkey_index, ///< the P_Key index is beyond the table, or its entry is unused
    other_pkey, ///< the transport sends with one P_Key, and the path needs another one
    SGID,       ///< no entry is the GID
    SGID_index, ///< the GID index is beyond the table, or its entry is unused
};

/// What the packet of a GMP takes from the tables of the local port.
struct table_entries {
    table_miss miss = table_miss::none; ///< if it is not none, the other members have no meaning
    u8 SGID_index = 0;                  ///< of a path with a GRH
    u16 pkey_index = 0;
    u16 pkey = 0xffff; ///< the P_Key at that index; of an unknown table or an unused entry the path's
};

/// The P_Key and GID tables of one port. Transports find the entries of each GMP in it, RPCs refuse a path that does not fit,
/// and put into it what is on the wire, so that traces and captures show that.
///
/// P_Key: an explicit pkey_index of the path wins. Else the index of the P_Key that use_pkey() set, or the index that
///        use_pkey_index() set. Else the index of the path's P_Key by find_pkey(). 0xffff, which paths have by default, falls
///        back to index 0 if the port is not in the default partition.
/// GID:   an explicit SGID_index wins; else the index of the path's SGID, or 0 if that is zero.
/// Tables that are empty are unknown: explicit indices are taken as they are, other GIDs have index 0, 0xffff has index 0,
/// and other P_Keys are refused.
/// Cost:  a few instructions for the default P_Key without a GRH; else a search of the table. No allocation.
class port_tables {
public:
    port_tables() = default;
    port_tables(std::vector<u16> PKeys, std::vector<iba::gid> gids) { update(std::move(PKeys), std::move(gids)); }

    /// The tables as they are now, by index; zero: an unused entry. What use_...() said stays.
    void update(std::vector<u16> PKeys, std::vector<iba::gid> gids);

    /// From now on all GMPs whose path has no index use this index or P_Key, whatever P_Key their path has. Whether the table
    /// has it, find() says for each path, because the table may change.
    void use_pkey_index(u16 index);
    void use_pkey(u16 pkey);
    /// For a transport that sends all GMPs with the P_Key at one index, as a queue pair does: paths that need another P_Key
    /// do not fit. Their index may also be `or_else`, where the P_Key was before.
    void only_pkey_index(u16 index, u16 or_else);

    /// The entries for a GMP on this path.
    table_entries find(const any_path& path) const noexcept {
        const path_headers& p = headers_of(path);
        const bool is_usual =
            p.pkey_index == path_headers::look_up && (is_fixed_ || p.pkey == default_pkey || p.pkey == usual_.pkey);
        table_entries found = is_usual ? usual_ : find_other(p);
        const auto* global = std::get_if<IBPath>(&path);
        if (global && global->has_grh && found.miss == table_miss::none) add_gid(found, *global);
        return found;
    }
    /// find(), and writes the P_Key and, with a GRH, the SGID of the entries into the path. The indices stay: a path that is
    /// sent again after update() is looked up again.
    table_miss put_into(any_path& path) const noexcept;
    /// One line without a full stop that says what the port lacks for this path, and what it has: `the local port has no
    /// P_Key 0x8001, only 0x7fff (index 0)`. Precondition: find() of the path gives a miss.
    std::string text_of_miss(const any_path& path) const;

    /// The P_Key at an index; 0xffff if the table does not have that.
    u16 pkey_at(u16 index) const noexcept {
        return index < PKeys_.size() && is_valid_pkey(PKeys_[index]) ? PKeys_[index] : default_pkey;
    }
    const std::vector<u16>& PKeys() const noexcept { return PKeys_; }
    const std::vector<iba::gid>& gids() const noexcept { return gids_; }

private:
    static constexpr u16 default_pkey = 0xffff;
    enum class rule : u8 { of_path, index, pkey };
    struct only_one {
        u16 index, or_else;
    };

    table_entries default_entry() const noexcept;
    table_entries at_index(u16 index, u16 pkey) const noexcept;
    table_entries find_value(u16 pkey) const noexcept;
    table_entries find_other(const path_headers&) const noexcept;
    table_entries if_sendable(const table_entries&) const noexcept;
    void add_gid(table_entries&, const IBPath&) const noexcept;
    void set_rule(rule, u16 wanted);
    std::string pkeys_text() const;
    std::string gids_text() const;

    std::vector<u16> PKeys_;
    std::vector<iba::gid> gids_;
    table_entries usual_; // of a path without an index whose P_Key is the default one; if is_fixed_, of any P_Key
    bool is_fixed_ = false;
    rule rule_ = rule::of_path;
    u16 wanted_ = 0; // of the rule
    std::optional<only_one> only_;
};

} // namespace comad::mad
