// SPDX-License-Identifier: MIT
// peer_cache.hpp - what targets of general management say about themselves: where a class has moved to, how long it takes to
// answer (IBA 13.4.8.1, 13.5.2). Bytes in, facts out: asks nobody.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <unordered_map>

namespace comad::mad::detail {

/// Where `info`, from a reply with status REDIRECT, sends the requests that went to `from`: LID, SL, QP, Q_Key, P_Key, and
/// the GID if it names one; a GRH only if there was one. An invalid P_Key, as of an agent that leaves it 0, is not taken. Without a LID (DLID 0) the GID has to be resolved first; nothing if
/// it names neither.
std::optional<IBPath> redirected(const IBPath& from, const iba::ClassPortInfo& info) noexcept;

/// Kept per target, as it is addressed, and class. Grows with the targets that said something.
class peer_cache {
public:
    bool empty() const noexcept { return entries_.empty(); }

    void redirect(const IBPath& from, iba::MgmtClass, const IBPath& to);
    /// Forgets what `from` said: the target that it redirected to does not answer.
    void forget(const IBPath& from, iba::MgmtClass mgmt_class) { entries_.erase(key_of(from, mgmt_class)); }
    /// RespTimeValue: 4.096 us * 2^n.
    void response_time(const IBPath& target, iba::MgmtClass, u8 exponent);

    /// Applies what is known: `path` goes to where the class is, and its resp_time is the one that was told.
    void apply(IBPath& path, iba::MgmtClass) const noexcept;

private:
    struct entry {
        std::optional<IBPath> redirected_to;
        std::optional<u8> resp_time;
    };
    static u64 key_of(const IBPath&, iba::MgmtClass) noexcept;
    std::unordered_map<u64, entry> entries_;
};

} // namespace comad::mad::detail
