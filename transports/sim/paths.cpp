// SPDX-License-Identifier: MIT
// paths.cpp - makes path records that follow the routes of MADs.
#include "paths.hpp"

#include "addressed_ports.hpp"
#include "path_selectors.hpp"

#include <optional>
#include <vector>

namespace comad::transports::sim {

using iba::sa::PathRecord;

bool has_an_end(const collector& query) noexcept {
    return query.selects<&PathRecord::SLID>() || query.selects<&PathRecord::SGID>() ||
           query.selects<&PathRecord::DLID>() || query.selects<&PathRecord::DGID>();
}

void path_records(attributes& of, collector& found) {
    const topology& t = of.graph();
    const auto wanted = found.wanted<PathRecord>();
    const auto named = [](bool is_requested, const auto& what) { return is_requested ? &what : nullptr; };
    const auto from = addressed_ports(of, named(found.selects<&PathRecord::SLID>(), wanted.SLID),
                                      named(found.selects<&PathRecord::SGID>(), wanted.SGID));
    const auto to = addressed_ports(of, named(found.selects<&PathRecord::DLID>(), wanted.DLID),
                                    named(found.selects<&PathRecord::DGID>(), wanted.DGID));
    const auto partition = found.selects<&PathRecord::PKey>() ? std::optional<u16>(wanted.PKey) : std::optional<u16>();
    // Every path supports every service, and is reversible even if the query does not require it.
    found.leave_out(iba::mask_of<&PathRecord::serviceID> | iba::mask_of<&PathRecord::numbPath> |
                    iba::mask_of<&PathRecord::reversible> | iba::mask_of<&PathRecord::PKey> | limits<PathRecord>);
    for (const addressed_port& a : from) {
        for (const addressed_port& b : to) {
            const u16 PKey = of.shared_pkey(a.at, b.at, partition);
            if (PKey == 0) continue;
            const auto way = of.tables().ways().by_lid(a.at, b.LID);
            if (!way) continue;
            const unsigned own = tenths_of_gbps(t.nodes[a.at.node].ports[a.at.port].active);
            PathRecord r;
            r.DGID = b.GID;
            r.SGID = a.GID;
            r.DLID = b.LID;
            r.SLID = a.LID;
            r.reversible = true;
            r.PKey = PKey;
            set_limits(r, rate_of(way->slowest == router::no_cable ? own : way->slowest));
            if (is_within_limits(found.mask(), wanted, r)) found.offer(r);
        }
    }
}

} // namespace comad::transports::sim
