// SPDX-License-Identifier: MIT
// rediscover.hpp - a subnet that was discovered before, brought up to date with a fraction of the MADs. Knows no text form.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/notice.hpp>

#include <optional>
#include <vector>

namespace comad::discovery {

/// Who is asked where something may have changed.
enum class told_by : u8 {
    anybody, ///< the SA; where it does not answer the switches; where no subnet manager is, their SwitchInfo, too
    SA,      ///< its LinkRecords, one table: what it knows, which is what its last sweep saw
    switches ///< SMPs to each: one for the states of all its ports where it has that, else one for each port
};

/// Ports at which the links are no longer those of `known`, by the SA's LinkRecords: of links that went and of new ones each
/// end that is known, of a node whose LID has changed all that are cabled. What it does not see: changes that left the links
/// as they are (a description), and what the subnet manager has not seen yet.
/// Errors: those of SubnAdmGetTable. Lifetime: `known` must outlive the task.
coro::task<mad::result<std::vector<port_ref>>> find_changed_links(coro::MADSchedule&, const subnet& known);

/// What may have changed since the subnet was `known`, for rediscover(), as who is asked tells; with an SA also links that were not
/// Active yet. Of the options: keys and
/// where discovery begins. Errors: where only the SA is asked those of SubnAdmGetTable; else those of the local port.
/// Lifetime: as rediscover().
coro::task<mad::result<std::vector<port_ref>>> find_doubtful(coro::MADSchedule&, const subnet& known, told_by,
                                                             discover_options = {});

/// Of these nodes those that do not answer any more or call themselves otherwise than before, for rediscover(): one SMP to each, for
/// its NodeDescription; by its LID where options.from_lid lets it. So is found what neither links nor notices tell: a management
/// agent that died behind a link that is up, a new name.
/// Cancel: ends soon with what was found. Lifetime: as rediscover().
coro::task<std::vector<port_ref>> find_changed_nodes(coro::MADSchedule&, const subnet& known, std::vector<u32> nodes,
                                                     discover_options = {});

/// Ports that a notice puts in doubt (traps 64, 65, 128, 144 and 145 of IBA 14.2.5.1, as the SA reports them), for rediscover(): of a
/// switch whose ports changed all; of a port that left the other end of its cable. Of all other notices: none.
/// Nothing: it is about a port that is not known, and only the SA can tell where that is.
std::optional<std::vector<port_ref>> doubted_by(const subnet& known, const iba::Notice&);

/// The subnet as it is now, if only `doubtful` ports may have changed since it was `known`, and what is missing in it: these are
/// asked again, with what is behind them; what is new is discovered whole; what no link leads to any more is gone. Port 0 of a
/// switch stands for all of the switch, port 0 of another node for what it says of itself.
/// The result is what discover() would give, in the same order, as far as only these have changed. Where discovery begins at
/// another node than before, everything is asked.
/// Errors and cancelling: as discover(); what could not be asked stays as it was known. Lifetime: `known` must outlive the task.
coro::task<mad::result<subnet>> rediscover(coro::MADSchedule&, const subnet& known, std::vector<port_ref> doubtful,
                                           discover_options = {});
/// The same, and finds out itself what is doubtful.
coro::task<mad::result<subnet>> rediscover(coro::MADSchedule&, const subnet& known, told_by, discover_options = {});

} // namespace comad::discovery
