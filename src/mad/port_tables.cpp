// SPDX-License-Identifier: MIT
// port_tables.cpp - finds the indices of P_Keys and GIDs, and describes misses.
#include <comad/iba/detail/format.hpp>
#include <comad/mad/detail/port_tables.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace comad::mad {
namespace {

constexpr u16 look_up = path_headers::look_up;

/// Returns the first entries in use: `0x7fff (index 0), 0x8001 (index 1)`.
template <class T, class IsUsed, class Text>
std::string entries_text(const std::vector<T>& table, IsUsed is_used, Text text) {
    constexpr std::size_t most = 8;
    std::vector<std::string> shown;
    std::size_t used = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
        if (is_used(table[i]) && used++ < most) shown.push_back(fmt::format("{} (index {})", text(table[i]), i));
    if (used == 0) return "none";
    std::string all = fmt::format("{}", fmt::join(shown, ", "));
    if (used > most) all += fmt::format(" and {} more", used - most);
    return all;
}

} // namespace

std::optional<u16> find_pkey(std::span<const u16> table, u16 pkey) noexcept {
    if (!is_valid_pkey(pkey)) return std::nullopt;
    for (const u16 wanted : {static_cast<u16>(pkey | full_membership), static_cast<u16>(pkey & ~full_membership)}) {
        const auto found = std::find(table.begin(), table.end(), wanted);
        if (found != table.end() && found - table.begin() < look_up) return static_cast<u16>(found - table.begin());
    }
    return std::nullopt;
}

std::optional<u8> find_gid(std::span<const iba::gid> table, const iba::gid& wanted) noexcept {
    const auto found = std::find(table.begin(), table.end(), wanted);
    if (wanted == iba::gid{} || found == table.end() || found - table.begin() > 0xff) return std::nullopt;
    return static_cast<u8>(found - table.begin());
}

void port_tables::update(std::vector<u16> PKeys, std::vector<iba::gid> gids) {
    PKeys_ = std::move(PKeys);
    gids_ = std::move(gids);
    set_rule(rule_, wanted_);
}

void port_tables::use_pkey_index(u16 index) { set_rule(rule::index, index); }
void port_tables::use_pkey(u16 pkey) { set_rule(rule::pkey, pkey); }
void port_tables::only_pkey_index(u16 index, u16 or_else) {
    only_ = {index, or_else};
    set_rule(rule_, wanted_);
}

void port_tables::set_rule(rule r, u16 wanted) {
    rule_ = r;
    wanted_ = wanted;
    is_fixed_ = r != rule::of_path;
    switch (r) {
    case rule::of_path: usual_ = default_entry(); break;
    case rule::index: usual_ = at_index(wanted, default_pkey); break;
    case rule::pkey: usual_ = if_sendable(find_value(wanted)); break;
    }
}

table_entries port_tables::default_entry() const noexcept {
    const u16 index = only_ ? only_->index : find_pkey(PKeys_, default_pkey).value_or(0);
    return {.pkey_index = index, .pkey = pkey_at(index)};
}

/// Returns the entries for an index. `pkey`: P_Key of the path, for an unknown table.
table_entries port_tables::at_index(u16 index, u16 pkey) const noexcept {
    if (only_ && index == only_->or_else) index = only_->index;
    if (PKeys_.empty()) return if_sendable({.pkey_index = index, .pkey = pkey});
    if (index >= PKeys_.size() || !is_valid_pkey(PKeys_[index])) return {.miss = table_miss::pkey_index};
    return if_sendable({.pkey_index = index, .pkey = PKeys_[index]});
}

table_entries port_tables::find_value(u16 pkey) const noexcept {
    const auto index = find_pkey(PKeys_, pkey);
    if (!index) return {.miss = table_miss::pkey};
    return {.pkey_index = *index, .pkey = PKeys_[*index]};
}

table_entries port_tables::find_other(const path_headers& p) const noexcept {
    return p.pkey_index != look_up ? at_index(p.pkey_index, p.pkey) : if_sendable(find_value(p.pkey));
}

/// Returns the found entries, or a miss if the transport cannot send with them.
table_entries port_tables::if_sendable(const table_entries& found) const noexcept {
    if (!only_ || found.miss != table_miss::none || found.pkey_index == only_->index) return found;
    const table_entries ours = default_entry();
    return found.pkey == ours.pkey && !PKeys_.empty() ? ours : table_entries{.miss = table_miss::other_pkey};
}

void port_tables::add_gid(table_entries& found, const IBPath& p) const noexcept {
    if (p.SGID_index != look_up) {
        const bool is_missing = !gids_.empty() && (p.SGID_index >= gids_.size() || gids_[p.SGID_index] == iba::gid{});
        if (is_missing || p.SGID_index > 0xff) found.miss = table_miss::SGID_index;
        else found.SGID_index = static_cast<u8>(p.SGID_index);
        return;
    }
    if (p.SGID == iba::gid{} || gids_.empty()) return;
    if (const auto index = find_gid(gids_, p.SGID)) found.SGID_index = *index;
    else found.miss = table_miss::SGID;
}

table_miss port_tables::put_into(any_path& path) const noexcept {
    const table_entries found = find(path);
    if (found.miss != table_miss::none) return found.miss;
    auto* const by_lid = std::get_if<IBPath>(&path);
    path_headers& p = by_lid ? static_cast<path_headers&>(*by_lid) : *std::get_if<IBDRPath>(&path);
    p.pkey = found.pkey;
    if (by_lid && by_lid->has_grh && found.SGID_index < gids_.size()) by_lid->SGID = gids_[found.SGID_index];
    return found.miss;
}

std::string port_tables::pkeys_text() const {
    return entries_text(PKeys_, is_valid_pkey, [](u16 pkey) { return fmt::format("{:#06x}", pkey); });
}
std::string port_tables::gids_text() const {
    return entries_text(
        gids_, [](const iba::gid& g) { return g != iba::gid{}; },
        [](const iba::gid& g) { return fmt::format("{}", g); });
}

std::string port_tables::text_of_miss(const any_path& path) const {
    const path_headers& p = headers_of(path);
    const auto* global = std::get_if<IBPath>(&path);
    const bool is_explicit = p.pkey_index != look_up;
    const bool is_by_index = is_explicit || rule_ == rule::index;
    const u16 index = is_explicit ? p.pkey_index : wanted_;
    const u16 pkey = !is_explicit && rule_ == rule::pkey ? wanted_ : p.pkey;
    switch (find(path).miss) {
    case table_miss::none: break;
    case table_miss::pkey:
        if (!is_valid_pkey(pkey)) return fmt::format("invalid P_Key {:#06x}; its lower 15 bits must not be 0", pkey);
        if (PKeys_.empty())
            return fmt::format("the index of P_Key {:#06x} is unknown: the P_Key table of the local port is unknown",
                               pkey);
        return fmt::format("the local port does not have P_Key {:#06x}; its P_Keys: {}", pkey, pkeys_text());
    case table_miss::pkey_index:
        return fmt::format("the local port has no P_Key at index {}; its P_Keys: {}", index, pkeys_text());
    case table_miss::other_pkey: {
        const table_entries ours = default_entry();
        return fmt::format("the local queue pair can use only P_Key {:#06x} (index {}), not {}", ours.pkey,
                           ours.pkey_index,
                           is_by_index ? fmt::format("the P_Key at index {}", index) : fmt::format("{:#06x}", pkey));
    }
    case table_miss::SGID:
        return fmt::format("the local port does not have GID {}; its GIDs: {}", global->SGID, gids_text());
    case table_miss::SGID_index:
        return fmt::format("the local port has no GID at index {}; its GIDs: {}", global->SGID_index, gids_text());
    }
    return {};
}

} // namespace comad::mad
