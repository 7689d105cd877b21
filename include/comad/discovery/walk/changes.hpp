// SPDX-License-Identifier: MIT
// changes.hpp - whether and where a subnet has changed since it was discovered, and a rediscovery of these ports: a fraction of the MADs
// of a discovery. Contains no text form and no counter.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/notice.hpp>
#include <comad/mad/port_keys.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comad::discovery {

/// What is queried for changes.
enum class change_source : u8 {
    automatic, ///< the SA; the switches if it does not reply; also each SwitchInfo if there is no subnet manager
    sa,        ///< LinkRecords of the SA, one table: what the SA knows, which is the state at its last sweep
    switches ///< SMPs to each switch: one for the states of all its ports if the switch supports that, else one for each port
};

// ---- whether something has changed -----------------------------------------------------------------------------------

/// A difference between the subnet as it was discovered and the present one.
struct change {
    port_ref where;      ///< of the subnet that was discovered; invalid: not at a port of that subnet
    std::string text;    ///< `is Down, was Active`
    std::string cause{}; ///< of a query that failed, for which `text` contains all details: mad::cause_text()
};

/// `S-0002c90000000001 "spine 1"[7]: is Down, was Active`, safe for a terminal.
std::string describe(const subnet&, const change&);

/// Queries the port states of every switch in a subnet by SMPs, and the local port if it is not a switch port: one
/// SwitchPortStateTable if the switch supports it (IBA 14.2.5.20), else PortInfo of each port, which also has width, speed and
/// LID. Nodes at the other ends of the links of switches are not queried.
///
/// It does not detect a cable that was moved, or a link that went down and came back, between two calls.
/// `without_manager`: no subnet manager is active. Then a switch without that table is not queried further as long as its
/// SwitchInfo.portStateChange was not set in `subnet`, and is not set now. An active manager clears that bit at once (to clear it here
/// would be a write), so the bit has no meaning then.
/// Empty: nothing has changed. Cancel: ends soon with what was found. Lifetime: all must outlive the task.
coro::task<std::vector<change>> find_changes(coro::MADSchedule&, const subnet&, const mad::port_keys* = nullptr,
                                             bool without_manager = false);

/// Finds changes by the tables of the SA, LinkRecords and PortInfoRecords: two requests, whatever the size of the subnet, for
/// which the SA has much to send. The first poll is what later ones are compared with.
class sa_tables {
public:
    /// Lifetime: the schedule, which knows the path to the SA, must outlive it.
    explicit sa_tables(coro::MADSchedule& schedule) : schedule_(schedule) {}

    /// Returns what has changed since the last poll that succeeded, with LIDs in the text; nothing after the first poll.
    /// Errors: those of SubnAdmGetTable.
    coro::task<mad::result<std::vector<change>>> find_changes();

private:
    using lid_and_port = std::pair<iba::lid, u8>; // LID and port
    /// The state of a port, without counters and without what the subnet manager changes in every sweep.
    struct port_state {
        iba::PortState state;
        iba::LinkWidth width;
        link_speeds speed;
        friend bool operator==(const port_state&, const port_state&) = default;
    };

    coro::MADSchedule& schedule_;
    bool has_polled_ = false;
    std::map<lid_and_port, lid_and_port> links_;
    std::map<lid_and_port, port_state> ports_;
};

// ---- Locations of possible changes, for rediscover() -----------------------------------------------------------------

/// Ports at which the links differ from those of `known`, by the LinkRecords of the SA: of links that were removed or added each end
/// that is known, of a node whose LID has changed all cabled ports. It does not detect changes that left the links
/// as they are (a description), nor changes that the subnet manager has not detected yet.
/// Errors: those of SubnAdmGetTable. Lifetime: `known` must outlive the task.
coro::task<mad::result<std::vector<port_ref>>> find_changed_links(coro::MADSchedule&, const subnet& known);

/// Ports of `known` that are possibly stale, by this source; with an SA also links that were not Active yet. Of the options: keys and
/// the start of the discovery. Errors: if only the SA is queried those of SubnAdmGetTable; else those of the local port.
/// Lifetime: as rediscover().
coro::task<mad::result<std::vector<port_ref>>> find_possibly_stale(coro::MADSchedule&, const subnet& known,
                                                                   change_source, discover_options = {});

/// Those of these nodes that do not reply any more, or whose description has changed: one SMP to each, for
/// its NodeDescription; by its LID if options.from_lid allows it. This detects what neither links nor notices show: a management
/// agent that failed while its link is up, a new description.
/// Cancel: ends soon with what was found. Lifetime: as rediscover().
coro::task<std::vector<port_ref>> find_changed_nodes(coro::MADSchedule&, const subnet& known, std::vector<u32> nodes,
                                                     discover_options = {});

/// Ports that a notice makes possibly stale (traps 64, 65, 128, 144 and 145 of IBA 14.2.5.1, as the SA reports them): of a
/// switch whose ports changed all; of a port that was removed the neighbor. Of all other notices: none.
/// Nothing: it concerns a port that is not known, and only the SA knows its location.
std::optional<std::vector<port_ref>> ports_affected_by(const subnet& known, const iba::Notice&);

// ---- the subnet as it is now -----------------------------------------------------------------------------------------

/// The present subnet, if only the ports in `stale` may have changed since it was `known`, and what is missing in it. These ports are
/// queried again, with their neighbors; new nodes are discovered in full; nodes that no link leads to are removed. Port 0 of a
/// switch stands for the whole switch, port 0 of another node for its description and the like.
/// The result equals that of discover(), in the same order, if only these ports have changed. If the discovery starts at
/// another node than before, everything is queried.
/// Errors and canceling: as discover(); what could not be queried stays as it was known. Lifetime: `known` must outlive the task.
coro::task<mad::result<subnet>> rediscover(coro::MADSchedule&, const subnet& known, std::vector<port_ref> stale,
                                           discover_options = {});
/// The same for the ports that find_possibly_stale() returns.
coro::task<mad::result<subnet>> rediscover(coro::MADSchedule&, const subnet& known, change_source,
                                           discover_options = {});

} // namespace comad::discovery
