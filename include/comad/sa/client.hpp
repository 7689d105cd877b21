// SPDX-License-Identifier: MIT
// client.hpp - paths from the subnet administrator, asked once: a target of any form becomes the path that a MAD takes
// there (IBA 15.2.5.16, 15.4). Follows the SA when another subnet manager takes over. Knows no device.
#pragma once
#include <comad/coro/event.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/detail/smp/port.hpp>
#include <comad/mad/port_keys.hpp>
#include <comad/sa/detail/local_port.hpp>
#include <comad/sa/detail/places.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>

namespace comad::sa {

/// The path to the SA of a port whose PortInfo this is.
mad::IBPath sa_path_of(const iba::smp::PortInfo&) noexcept;

/// Asks the SA for paths, and remembers the answers until forget(). Uses, and sets, the schedule's sa_path(), and finds the
/// ways to which its targets redirect. One thread, as the schedule's, which must outlive it.
///
/// Failover: when another subnet manager takes over, the SA is at another LID, and the local port's PortInfo.masterSMLID
/// names it. If a request to the schedule's sa_path() times out or is refused, the client reads the local port again and
/// the schedule sends that request once more, to the SA that the port names now. No caller sees the first failure. Reads
/// for this cause are at least first_pause apart, and up to longest_pause while they find nothing new. What the subnet
/// manager forgot, as subscriptions and multicast memberships, the program renews: on_port_change() says when. A program
/// that waits for reports, and sends no requests, calls refresh_port() now and then.
class client final : public coro::path_resolver {
public:
    static constexpr mad::duration first_pause = std::chrono::seconds(1), longest_pause = std::chrono::seconds(32);

    client(coro::MADSchedule& schedule, const local_port& local)
        : schedule_(schedule), local_(local), places_(schedule, local.LID), has_read_(schedule) {
        schedule.set_sa_path(local.sa_path);
        schedule.set_path_resolver(this);
    }
    ~client() { schedule_.set_path_resolver(nullptr); }
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// The path to where `to` leads: to its DGID if it has one, else to its DLID. If `to` has another P_Key than the default
    /// one, the path is in that partition. LIDs, SL, P_Key, MTU, rate, life time and,
    /// across a router, the global header are the SA's; everything else stays as it is in `to`.
    /// `properties`: what else the path must have, as PKey.
    /// Errors: path_not_found if the SA has none; else those of SubnAdmGet, with the target in their message.
    coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to, iba::query<iba::sa::PathRecord> properties);
    coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to) override { return resolve_path(to, {}); }

    /// The path of a MAD to any target, with_keys(). Directed routes, and LIDs unless `by_sa`, are paths already.
    coro::task<mad::result<mad::any_path>> get_mad_path(mad::any_path to, bool by_sa = false);

    /// The keys that paths get; null: none. They must outlive the client, or be taken away.
    void set_keys(const mad::port_keys* keys) noexcept { keys_ = keys; }
    /// `path` with the M_Key and CC_Key of the port that it leads to, where it has none. Where ports have keys of their own
    /// the SA is asked which port that is, unless its GID says it; while no SA is known, keys are those of any port.
    /// Errors: those of SubnAdmGet.
    coro::task<mad::result<mad::any_path>> with_keys(mad::any_path path);
    /// Gives the schedule's sa_path() the SM_Key of the port where the SA is, unless it has one: requests to the SA have it
    /// from then on. Errors: those of SubnAdmGet, which then is made without.
    coro::task<mad::result<void>> take_sm_key();
    /// The same after the keys have changed, of the port that it was found to be then.
    void renew_sm_key();

    /// Forgets paths and places: the subnet has changed.
    void forget() noexcept {
        known_.clear();
        places_.forget();
    }
    /// As it was read last.
    const local_port& local() const noexcept { return local_; }

    // ---- when the local port or the subnet manager changes -----------------------------------------------------------

    /// How the local port is read again. Without a reader, the client asks the port's own SMA for PortInfo (a directed route
    /// without hops), where the transport carries SMPs; elsewhere, as over verbs, nothing is read, so set one there.
    void set_port_reader(port_reader reader) { reader_ = std::move(reader); }
    /// Called after the port was read and LID, LMC, GID or the path to the SA had changed; local() is `now` already, and
    /// what was remembered is forgotten. It must not block; it may start tasks.
    void on_port_change(std::function<void(const local_port& was, const local_port& now)> call) {
        changed_ = std::move(call);
    }
    /// Reads the local port again, and uses from then on what it says. Returns whether anything changed. A port that names no
    /// subnet manager, as one whose link is down, changes nothing. An sa_path() that the program itself gave the schedule
    /// stays. Errors: those of the reader.
    coro::task<mad::result<bool>> refresh_port();
    /// For the schedule: see path_resolver.
    coro::task<std::optional<mad::IBPath>> find_sa(iba::lid asked) override;

private:
    struct key { // all that was asked for, both ends included
        u64 mask;
        std::array<u8, iba::wire_size<iba::sa::PathRecord>> wanted;
        friend auto operator<=>(const key&, const key&) = default;
    };
    coro::task<mad::result<iba::guid>> port_at(mad::any_path path);
    coro::task<mad::result<local_port>> read_port();
    coro::task<mad::result<local_port>> ask_own_sma();
    coro::task<mad::result<bool>> take(local_port now);

    coro::MADSchedule& schedule_;
    local_port local_;
    detail::places places_;
    const mad::port_keys* keys_ = nullptr;
    iba::guid sa_port_{}; // zero: unknown, as where no port has an SM_Key of its own
    std::map<key, iba::sa::PathRecord> known_;

    port_reader reader_; // empty: ask_own_sma()
    std::function<void(const local_port& was, const local_port& now)> changed_;
    coro::event has_read_; // while is_reading_
    bool is_reading_ = false;
    mad::time_point next_read_{}; // for a request that failed: not before
    mad::duration pause_ = first_pause;
};

} // namespace comad::sa
