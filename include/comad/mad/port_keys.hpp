// SPDX-License-Identifier: MIT
// port_keys.hpp - M_Keys, SM_Keys and CC_Keys by port GUID, and the text that lists them. Knows of a path its keys, asks
// nobody which port it leads to.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace comad::mad {

enum class key_kind : u8 {
    MKey,  ///< in SMPs (IBA 14.2.4)
    SMKey, ///< in requests to the SA of the port (IBA 15.2.1)
    CCKey, ///< in congestion control (IBA A10.4.2)
};

/// Keys of one port each, and for each kind one for all others, 0 unless it was set.
class port_keys {
public:
    /// Adds what a text says, line by line: a port's GUID or `default`, the kind (M_Key, SM_Key or CC_Key; M_Key where it
    /// is missing), the key. Empty lines, and what follows a `#`, say nothing.
    ///
    ///     0x0002c90300a1b2c3 0x0000000000001234         # as OpenSM's guid2mkey
    ///     0x0002c90300a1b2c3 CC_Key 0x77
    ///     default            M_Key  0x1
    ///
    /// `unsaid`: the kind where it is missing.
    /// Errors: one that begins with the number of the line; no key in it, for it is a secret. Then nothing was added.
    iba::result<void> add(std::string_view text, key_kind unsaid = key_kind::MKey);
    /// Adds who is at the other ends of cables, from the text of OpenSM's `neighbors`: lines of two ports, each its GUID and number.
    ///
    ///     0x0002c90300a1b2c3:1 0x0002c90300000100:17
    ///
    /// Errors: as add().
    iba::result<void> add_neighbors(std::string_view text);

    void set(key_kind, iba::guid port, u64 key);
    void set_default(key_kind kind, u64 key) noexcept { defaults_[index(kind)] = key; }

    u64 of(key_kind, iba::guid port) const noexcept;
    u64 default_of(key_kind kind) const noexcept { return defaults_[index(kind)]; }
    /// Of the port at the other end of a cable, if it is known who that is (add_neighbors()); else the default. That is what a
    /// port can be asked with which has not said yet who it is. `from`: the GUID of the port, of a switch that of its port 0.
    u64 beyond(key_kind, iba::guid from, u8 port) const noexcept;
    /// Some port has a key of its own: which one a path leads to makes a difference.
    bool differ(key_kind kind) const noexcept { return !ports_[index(kind)].empty(); }

    /// `path` with the keys of `port` (zero: some port) where it has none.
    any_path put_into(any_path path, iba::guid port = {}) const noexcept;

private:
    static constexpr std::size_t index(key_kind kind) noexcept { return static_cast<std::size_t>(kind); }
    std::array<std::map<iba::guid, u64>, 3> ports_;
    std::map<std::pair<iba::guid, u8>, iba::guid> neighbors_;
    std::array<u64, 3> defaults_{};
};

} // namespace comad::mad
