// SPDX-License-Identifier: MIT
// client.hpp - sa::client: gets paths from the SA and caches them (IBA 15.2.5.16, 15.4). It turns every kind of target into a path for
// MADs, and follows the SA when another subnet manager takes over. It depends on no device.
#pragma once
#include <comad/coro/event.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/detail/smp/port.hpp>
#include <comad/mad/port_keys.hpp>
#include <comad/sa/detail/lid_lookup.hpp>
#include <comad/sa/detail/local_port.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace comad::sa {

/// Returns the path from a port with this PortInfo to the SA.
mad::IBPath sa_path_of(const iba::smp::PortInfo&) noexcept;

/// Queries the SA for paths and caches the replies until forget(). It sets and uses the schedule's sa_path(), and
/// resolves the paths of redirects.
///
/// Failover: when another subnet manager takes over, the LID of the SA changes, and PortInfo.masterSMLID of the local
/// port contains the new one. If a request to the schedule's sa_path() times out or is rejected, the client reads the
/// local port again. If the port names another SA, the schedule sends that request once more, to the new SA. The
/// caller does not see the first failure. The client makes these reads at least first_pause apart; the interval grows
/// up to longest_pause while the reads find nothing new.
/// A new subnet manager does not know the subscriptions and multicast memberships of the previous one. The program
/// must renew them; on_port_change() reports when. A program that waits for Reports and sends no requests must call
/// refresh_port() periodically.
///
/// Lifetime: the schedule must outlive the client.
/// Threads:  only the thread of the schedule.
class client final : public coro::path_resolver {
public:
    static constexpr mad::duration first_pause = std::chrono::seconds(1), longest_pause = std::chrono::seconds(32);

    /// Creates the client, and makes it the path resolver of the schedule.
    client(coro::MADSchedule& schedule, const local_port& local)
        : schedule_(schedule), local_(local), places_(schedule, local.LID), has_read_(schedule) {
        schedule.set_sa_path(local.sa_path);
        schedule.set_path_resolver(this);
    }
    ~client() { schedule_.set_path_resolver(nullptr); }
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// Returns the path to the DGID of `to`, or to its DLID if it has no DGID. If the P_Key of `to` is not the
    /// default one, the path is in that partition. The SA determines LIDs, SL, P_Key, MTU, rate, packet lifetime, and
    /// across a router the global route header. All other fields keep their values in `to`.
    /// `properties`: other required properties of the path, such as PKey.
    /// Errors: path_not_found if the SA has no such path; otherwise those of SubnAdmGet, with the target in their
    ///         message.
    coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to, iba::query<iba::sa::PathRecord> properties);
    coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to) override { return resolve_path(to, {}); }

    /// Returns the path of a MAD to any target, with_keys(). Directed routes are paths already; LIDs are too, unless
    /// `by_sa` is true.
    coro::task<mad::result<mad::any_path>> get_mad_path(mad::any_path to, bool by_sa = false);

    /// Returns the LID of the port at the end of a directed route, without an SMP: it follows the route hop by hop
    /// through the LinkRecords of the SA, from the local port or the LID where the route starts. Replies are cached until
    /// forget(). Other paths have the LID already.
    /// Errors: those of SubnAdmGet, with the LID and port in their message; ERR_NO_RECORDS if a hop has no link.
    coro::task<mad::result<iba::lid>> get_path_lid(mad::any_path path) { return places_.lid_at(path); }

    /// Sets the keys for the paths; null: none. The keys must outlive the client, or be reset to null first.
    void set_keys(const mad::port_keys* keys) noexcept { keys_ = keys; }
    /// Returns `path` with the M_Key and CC_Key of its destination port, unless the path has keys. If keys differ
    /// between ports, the client queries the SA for the destination port, unless the GID identifies it. While no SA
    /// is known, it uses the default keys.
    /// Errors: those of SubnAdmGet.
    coro::task<mad::result<mad::any_path>> with_keys(mad::any_path path);
    /// Adds the SM_Key of the SA's port to the schedule's sa_path(), unless sa_path() has an SM_Key. Later requests
    /// to the SA contain it.
    /// Errors: those of SubnAdmGet; sa_path() then stays without an SM_Key.
    coro::task<mad::result<void>> take_sm_key();
    /// Updates the SM_Key of sa_path() after the keys have changed. It uses the port that take_sm_key() found.
    void renew_sm_key();

    /// Forgets cached paths and locations. Call it after the subnet has changed.
    void forget() noexcept {
        known_.clear();
        places_.forget();
    }
    /// Returns the local port as it was last read.
    const local_port& local() const noexcept { return local_; }

    // ---- when the local port or the subnet manager changes -----------------------------------------------------------

    /// Sets the function that reads the local port again. Without a reader, the client sends a SubnGet of PortInfo to
    /// the port's own SMA (a directed route without hops). If the transport carries no SMPs (verbs), set a reader:
    /// without one, nothing is read.
    void set_port_reader(port_reader reader) { reader_ = std::move(reader); }
    /// Sets a function that is called after the LID, LMC, GID or path to the SA of the local port has changed. At
    /// that time local() is `now` already, and the caches are empty. The function must not block; it may start tasks.
    void on_port_change(std::function<void(const local_port& was, const local_port& now)> call) {
        changed_ = std::move(call);
    }
    /// Reads the local port again and uses the new values from then on. Returns whether anything has changed. A port
    /// without a master subnet manager changes nothing, for example if its link is down. An sa_path() that the
    /// program set itself remains.
    /// Errors: those of the reader.
    coro::task<mad::result<bool>> refresh_port();
    /// Called by the schedule; see path_resolver.
    coro::task<std::optional<mad::IBPath>> find_sa(iba::lid queried_sa) override;

private:
    struct key { // all properties of the query, including both endpoints
        u64 mask;
        std::array<u8, iba::wire_size<iba::sa::PathRecord>> wanted;
        friend auto operator<=>(const key&, const key&) = default;
    };
    coro::task<mad::result<iba::guid>> port_at(mad::any_path path);
    coro::task<mad::result<local_port>> read_port();
    coro::task<mad::result<local_port>> query_own_sma();
    coro::task<mad::result<bool>> take(local_port now);

    coro::MADSchedule& schedule_;
    local_port local_;
    detail::places places_;
    const mad::port_keys* keys_ = nullptr;
    iba::guid sa_port_{}; // zero: unknown, or the SM_Key does not differ between ports
    std::map<key, iba::sa::PathRecord> known_;

    port_reader reader_; // empty: query_own_sma()
    std::function<void(const local_port& was, const local_port& now)> changed_;
    coro::event has_read_; // set at the end of a read; valid while is_reading_ is true
    bool is_reading_ = false;
    mad::time_point next_read_{}; // after a failed request, no read starts before this time
    mad::duration pause_ = first_pause;
};

} // namespace comad::sa
