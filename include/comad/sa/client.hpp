// SPDX-License-Identifier: MIT
// client.hpp - paths from the subnet administrator, asked once: a target of any form becomes the path that a MAD takes
// there (IBA 15.2.5.16, 15.4). Knows no device.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/sa/paths.hpp>
#include <comad/iba/smp/port.hpp>

#include <array>
#include <map>

namespace comad::sa {

/// The port from which paths begin.
struct local_port {
    iba::lid LID{};
    iba::gid GID;          ///< its first one; zero: unknown, paths are asked for by its LID
    mad::IBPath sa_path{}; ///< to the SA: master SM's LID and SL (IBA 15.4.2)
};

/// The path to the SA of a port whose PortInfo this is.
mad::IBPath sa_path_of(const iba::smp::PortInfo&) noexcept;

/// Asks the SA for paths, and remembers the answers until forget(). Uses, and sets, the schedule's sa_path().
/// One thread, as the schedule's, which must outlive it.
class client {
public:
    client(coro::MADSchedule& schedule, const local_port& local) : schedule_(schedule), local_(local) {
        schedule.set_sa_path(local.sa_path);
    }

    /// The path to where `to` leads: to its DGID if it has one, else to its DLID. LIDs, SL, P_Key, MTU, rate, life time and,
    /// across a router, the global header are the SA's; everything else stays as it is in `to`.
    /// `properties`: what else the path must have, as PKey.
    /// Errors: path_not_found if the SA has none; else those of SubnAdmGet, with the target in their message.
    coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to, iba::query<iba::sa::PathRecord> properties = {});

    /// The path of a MAD to any target. Directed routes, and LIDs unless `by_SA`, are paths already.
    coro::task<mad::result<mad::any_path>> get_mad_path(mad::any_path to, bool by_SA = false);

    /// The subnet has changed.
    void forget() noexcept { known_.clear(); }
    const local_port& local() const noexcept { return local_; }

private:
    struct key { // all that was asked for, both ends included
        u64 mask;
        std::array<u8, iba::wire_size<iba::sa::PathRecord>> wanted;
        friend auto operator<=>(const key&, const key&) = default;
    };
    coro::MADSchedule& schedule_;
    local_port local_;
    std::map<key, iba::sa::PathRecord> known_;
};

} // namespace comad::sa
