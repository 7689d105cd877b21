// SPDX-License-Identifier: MIT
// port_keys.hpp - M_Keys, SM_Keys and CC_Keys by port GUID, and the parser of files that list them. It only puts keys
// into paths; the caller knows which port a path leads to.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace comad::mad {

/// A kind of key that MADs carry.
enum class key_kind : u8 {
    MKey,  ///< in SMPs (IBA 14.2.4)
    SMKey, ///< in requests to the SA at the port (IBA 15.2.1)
    CCKey, ///< in congestion control MADs (IBA A10.4.2)
};

/// Keys of single ports, and for each kind a default for all other ports: 0 unless it was set.
class port_keys {
public:
    /// Adds the keys of a text. Each line is the GUID of a port or `default`, the kind (M_Key, SM_Key or CC_Key;
    /// optional) and the key. Empty lines and text after a `#` are ignored.
    ///
    ///     0x0002c90300a1b2c3 0x0000000000001234         # as in the guid2mkey file of OpenSM
    ///     0x0002c90300a1b2c3 CC_Key 0x77
    ///     default            M_Key  0x1
    ///
    /// `unsaid`: the kind of lines that name no kind.
    /// Errors: the message starts with the line number and never contains a key, because keys are secret. Nothing is added then.
    iba::result<void> add(std::string_view text, key_kind unsaid = key_kind::MKey);
    /// Adds which ports are connected by cables, from the text of the `neighbors` file of OpenSM. Each line has two
    /// ports, each with GUID and number.
    ///
    ///     0x0002c90300a1b2c3:1 0x0002c90300000100:17
    ///
    /// Errors: as add().
    iba::result<void> add_neighbors(std::string_view text);

    /// Sets the key of one port.
    void set(key_kind, iba::guid port, u64 key);
    /// Sets the default key of a kind.
    void set_default(key_kind kind, u64 key) noexcept { defaults_[index(kind)] = key; }

    /// Returns the key of a port, or the default if the port has no key of its own.
    u64 of(key_kind, iba::guid port) const noexcept;
    /// Returns the default key of a kind.
    u64 default_of(key_kind kind) const noexcept { return defaults_[index(kind)]; }
    /// Returns the key of the port at the other end of a cable if add_neighbors() named that port, else the default.
    /// Use it for queries to a port whose GUID is not known yet. `from`: the GUID of the local end of the cable; for a
    /// switch that of its port 0.
    u64 beyond(key_kind, iba::guid from, u8 port) const noexcept;
    /// Returns whether a port has a key of its own, so that the key depends on the port that a path leads to.
    bool differ(key_kind kind) const noexcept { return !ports_[index(kind)].empty(); }

    /// Returns `path` with the keys of `port` wherever the path has no key. A zero `port` is an unknown port.
    any_path put_into(any_path path, iba::guid port = {}) const noexcept;

private:
    static constexpr std::size_t index(key_kind kind) noexcept { return static_cast<std::size_t>(kind); }
    std::array<std::map<iba::guid, u64>, 3> ports_;
    std::map<std::pair<iba::guid, u8>, iba::guid> neighbors_;
    std::array<u64, 3> defaults_{};
};

} // namespace comad::mad
