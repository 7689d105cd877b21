// SPDX-License-Identifier: MIT
// port_tables.hpp - the P_Key and GID tables of the local port, and the rule that finds the indices of a path in them.
// Transports and programs read the tables from the port; this header does not.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace comad::mad {

/// The membership bit of a P_Key: set for full members. The low 15 bits are the partition (IBA 10.9.1.1); partition 0
/// is invalid.
inline constexpr u16 full_membership = 0x8000;
/// Returns whether the partition of the P_Key is not 0.
constexpr bool is_valid_pkey(u16 pkey) noexcept { return (pkey & ~full_membership) != 0; }

/// Returns the index of a P_Key of the same partition: the first one with full membership, else the first one with
/// limited membership (IBA 10.9.3; Linux: ib_find_cached_pkey). nullopt if there is none, or if `pkey` is invalid.
std::optional<u16> find_pkey(std::span<const u16> table, u16 pkey) noexcept;
/// Returns the index of the first entry with this GID. nullopt if there is none below 256, or if the GID is zero.
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

/// The entries of the local port's tables that the packet of a GMP uses.
struct table_entries {
    table_miss miss = table_miss::none; ///< if it is not none, the other members have no meaning
    u8 SGID_index = 0;                  ///< GID index, for a path with a GRH
    u16 pkey_index = 0;
    u16 pkey = 0xffff; ///< the P_Key at that index; if the table is unknown or the entry unused, the P_Key of the path
};

/// The P_Key and GID tables of one port. Transports find the entries of each GMP in them. RPCs reject paths that do
/// not fit, and write the values of the packet into the path, so that traces and captures show them.
///
/// P_Key: an explicit pkey_index of the path wins. Else the index of the P_Key that use_pkey() set, or the index that
///        use_pkey_index() set. Else the index of the path's P_Key by find_pkey(). 0xffff, the default of paths, falls back to
///        index 0 if the port is not in the default partition.
/// GID:   an explicit SGID_index wins. Else the index of the path's SGID, or 0 if the SGID is zero.
/// Empty tables are unknown: explicit indices are used unchanged, other GIDs have index 0, 0xffff has index 0, and other
/// P_Keys are rejected.
/// Cost:  a few instructions for the default P_Key without a GRH; else a search of the table. No allocation.
class port_tables {
public:
    port_tables() = default;
    port_tables(std::vector<u16> PKeys, std::vector<iba::gid> gids) { update(std::move(PKeys), std::move(gids)); }

    /// Sets the contents of the tables, by index; zero: an unused entry. The settings of the use_...() functions stay.
    void update(std::vector<u16> PKeys, std::vector<iba::gid> gids);

    /// Makes all GMPs whose path has no index use this index or P_Key, whatever the P_Key of their path is. find()
    /// reports for each path whether the table has the entry, because the table may change.
    void use_pkey_index(u16 index);
    void use_pkey(u16 pkey);
    /// For a transport that sends all GMPs with the P_Key at one index, as a queue pair does. Paths that need another
    /// P_Key do not fit. The index of a path may also be `or_else`, the index that the P_Key had before.
    void only_pkey_index(u16 index, u16 or_else);

    /// Returns the entries for a GMP on this path.
    table_entries find(const any_path& path) const noexcept {
        const path_headers& p = headers_of(path);
        const bool is_usual =
            p.pkey_index == path_headers::look_up && (is_fixed_ || p.pkey == default_pkey || p.pkey == usual_.pkey);
        table_entries found = is_usual ? usual_ : find_other(p);
        const auto* global = std::get_if<IBPath>(&path);
        if (global && global->has_grh && found.miss == table_miss::none) add_gid(found, *global);
        return found;
    }
    /// Calls find(), and writes the P_Key and, with a GRH, the SGID of the entries into the path. The indices of the
    /// path stay, so that find() searches again if the path is sent again after update().
    table_miss put_into(any_path& path) const noexcept;
    /// Returns one line without a full stop: what the port lacks for this path, and what it has: `the local port has
    /// no P_Key 0x8001, only 0x7fff (index 0)`. Precondition: find() of the path returns a miss.
    std::string text_of_miss(const any_path& path) const;

    /// Returns the P_Key at an index; 0xffff if the table has no valid P_Key there.
    u16 pkey_at(u16 index) const noexcept {
        return index < PKeys_.size() && is_valid_pkey(PKeys_[index]) ? PKeys_[index] : default_pkey;
    }
    /// Return the tables.
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
    table_entries usual_; // entries for a path without an index and with the default P_Key; if is_fixed_, with any
                          // P_Key
    bool is_fixed_ = false;
    rule rule_ = rule::of_path;
    u16 wanted_ = 0; // argument of the rule
    std::optional<only_one> only_;
};

} // namespace comad::mad
