// SPDX-License-Identifier: MIT
// acted.hpp - what an RPC that failed leaves open: whether the node may have done what it was asked to write.
#pragma once
#include <comad/mad/error.hpp>

namespace comad::mad {

/// Whether the target may have done what a Set, a Delete or a Trap asked for, although the RPC ended with this error. False only
/// where nothing was sent, or where the target refused the only copy of the request with a status. A status after several
/// attempts proves nothing: the reply to an earlier copy may be lost, and the target may refuse the next copy because it has
/// done the first one (IBA 14.2.5.6: a state transition that already happened is an invalid value).
inline bool may_have_acted(const mad_error& e) noexcept {
    switch (e.code) {
    case errc::status:
    case errc::class_status:
    case errc::send_failed: return e.attempts > 1; // of one attempt nothing was sent, or the only copy was refused
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
