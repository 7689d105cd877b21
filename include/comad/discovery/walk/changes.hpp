// SPDX-License-Identifier: MIT
// changes.hpp - whether a subnet is still as it was discovered, asked with far fewer MADs than a discovery. Knows no counter.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/mad/port_keys.hpp>

#include <map>
#include <string>
#include <vector>

namespace comad::discovery {

/// Something that is no longer as it was.
struct change {
    port_ref where;      ///< of the discovery that it is compared with; nobody: not at a port that was known
    std::string text;    ///< `is Down, was Active`
    std::string cause{}; ///< of a question that failed, where `text` has all that is known: mad::cause_text()
};

/// `S-0002c90000000001 "spine 1"[7]: is Down, was Active`, safe for a terminal.
std::string describe(const subnet&, const change&);

/// Asks every switch of a subnet for the states of its ports by SMPs, the local port too if it is no switch's: one
/// SwitchPortStateTable where the switch has that (IBA 14.2.5.20), else PortInfo of each port, which tells width, speed and
/// LID as well. Of nodes behind switches nothing is asked: their ports' other ends tell.
///
/// What it cannot see: a cable that was moved while nobody looked, and links that came back.
/// `without_manager`: no subnet manager is active. Then a switch without that table is asked no further as long as its
/// SwitchInfo.portStateChange was not set in `subnet`, and is not now. Where a manager is it clears that at once (to clear it here
/// would be to write), so that it tells nothing.
/// Empty: nothing has changed. Cancel: ends soon with what was found. Lifetime: all must outlive the task.
coro::task<std::vector<change>> find_changes(coro::MADSchedule&, const subnet&, const mad::port_keys* = nullptr,
                                             bool without_manager = false);

/// The same by the tables of the SA, LinkRecords and PortInfoRecords: two requests, whatever the size of the subnet, for
/// which the SA has much to send. The first look is what later ones are compared with.
class sa_tables {
public:
    /// Lifetime: the schedule, which knows the way to the SA, must outlive it.
    explicit sa_tables(coro::MADSchedule& schedule) : schedule_(schedule) {}

    /// What has changed since the last look that succeeded, LIDs in words; of the first one: nothing.
    /// Errors: those of SubnAdmGetTable.
    coro::task<mad::result<std::vector<change>>> find_changes();

private:
    using place = std::pair<iba::lid, u8>; // LID and port
    /// Of a port what is neither a counter nor the SM's business of every sweep.
    struct port_state {
        iba::PortState state;
        iba::LinkWidth width;
        link_speeds speed;
        friend bool operator==(const port_state&, const port_state&) = default;
    };

    coro::MADSchedule& schedule_;
    bool has_looked_ = false;
    std::map<place, place> links_;
    std::map<place, port_state> ports_;
};

} // namespace comad::discovery
