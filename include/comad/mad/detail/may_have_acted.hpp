// SPDX-License-Identifier: MIT
// may_have_acted.hpp - whether a node may have executed a request whose RPC failed.
#pragma once
#include <comad/mad/error.hpp>

namespace comad::mad {

/// Returns whether the target may have executed a Set, a Delete or a Trap although the RPC ended with this error.
/// False only if nothing was sent, or if the target rejected the only copy of the request with a status. A status
/// after several attempts proves nothing: the reply to an earlier copy may be lost, and the target may reject the next
/// copy because it has executed the first one (IBA 14.2.5.6: a state transition that already happened is an invalid
/// value).
inline bool may_have_acted(const mad_error& e) noexcept {
    switch (e.code) {
    case errc::status:
    case errc::class_status:
    case errc::send_failed: return e.attempts > 1; // with one attempt, nothing was sent, or the only copy was rejected
    case errc::path_not_found:
    case errc::out_of_range:
    case errc::incomplete_path:
    case errc::not_in_port_table: return false;
    case errc::timed_out:
    case errc::malformed_reply:
    case errc::transport_failed:
    case errc::cancelled: return e.attempts > 0;
    }
    return true;
}

} // namespace comad::mad
