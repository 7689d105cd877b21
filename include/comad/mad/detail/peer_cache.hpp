// SPDX-License-Identifier: MIT
// peer_cache.hpp - what destinations of GMPs have reported about themselves: redirections, and response times (IBA 13.4.8.1, 13.5.2).
// It sends nothing.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <unordered_map>

namespace comad::mad::detail {

/// The path of requests to `from` after a reply with status REDIRECT and `info`: its LID, SL, QP, Q_Key and P_Key, and its GID if there is
/// one. The path has a GRH only if `from` has one. An invalid P_Key, which agents leave 0, is ignored. If the DLID is 0, the GID has to be
/// resolved first. Nothing: `info` contains neither a LID nor a GID.
std::optional<IBPath> redirected(const IBPath& from, const iba::ClassPortInfo& info) noexcept;

/// Redirections and response times, for each destination and class. Its size grows with the destinations that reported one.
class peer_cache {
public:
    bool empty() const noexcept { return redirections_.empty() && response_times_.empty(); }

    void redirect(const IBPath& from, iba::MgmtClass, const IBPath& to);
    /// Removes what `from` reported, because the destination of its redirection does not reply.
    void forget(const IBPath& from, iba::MgmtClass);
    /// Stores a RespTimeValue: 4.096 us * 2^n.
    void response_time(const IBPath& target, iba::MgmtClass, u8 exponent);

    /// Changes `path` to the destination of a redirection, and sets its resp_time, as far as they are known.
    void apply(IBPath& path, iba::MgmtClass) const noexcept;

private:
    static u64 key_of(const IBPath&, iba::MgmtClass) noexcept;
    // Two maps: nearly all destinations report a response time, but only a few report a redirection, which takes ten times as much memory.
    std::unordered_map<u64, IBPath> redirections_;
    std::unordered_map<u64, u8> response_times_;
};

} // namespace comad::mad::detail
