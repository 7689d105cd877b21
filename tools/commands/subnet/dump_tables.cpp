// SPDX-License-Identifier: MIT
// dump_tables.cpp - dump_lfts, dump_mfts: print the forwarding tables of all switches.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/table_range.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/forwarding_text.hpp"
#include <comad/discovery/routing/detail/forwarding.hpp>

#include <memory>

namespace ibtool {
namespace {

/// The command line of dump_lfts and dump_mfts.
struct dump_settings {
    table_range range;
    std::string name_map;
    discovery::node_names names;
    table_style style{.unknown = "(node info not available fabric scan)"};
    bool multicast = false, json = false;
};

/// Formats the forwarding tables of all switches.
class table_dump {
public:
    table_dump(const discovery::subnet& s, const discovery::forwarding_tables& tables, const dump_settings& how)
        : subnet_(s), tables_(tables), how_(how), index_(s) {}

    std::string text() const {
        std::string all;
        for (u32 n = 0; n < subnet_.nodes.size(); ++n)
            if (subnet_.nodes[n].is_switch() && tables_.of_node[n].is_known)
                all += how_.multicast ? multicast_of(n) : unicast_of(n);
        return all;
    }

private:
    table_heading heading_of(u32 n, unsigned first, unsigned last) const {
        const discovery::node& sw = subnet_.nodes[n];
        return {format_scanned_place(sw.route), sw.info.nodeGUID, how_.names.raw(sw), sw.info.numPorts, first, last};
    }

    destination at(unsigned LID) const {
        const discovery::port_ref where = index_.at(LID);
        if (!where) return {};
        const discovery::node& to = subnet_.nodes[where.node];
        const auto& info = subnet_.at(where).info;
        return {true, to.info.nodeType, subnet_.at(where).portGUID, value(info->LID), info->LMC, how_.names.raw(to)};
    }

    std::string unicast_of(u32 n) const {
        const discovery::switch_forwarding& t = tables_.of_node[n];
        std::vector<unicast_row> rows;
        for (unsigned LID = t.first_lid; LID <= t.last_lid; ++LID) {
            if (!t.knows(LID)) continue;
            const comad::u8 port = t.out_port(LID);
            const bool is_valid = port <= subnet_.nodes[n].info.numPorts;
            if (!is_valid && !how_.style.everything) continue;
            rows.push_back({LID, port, is_valid, how_.style.brief || !is_valid ? destination{} : at(LID)});
        }
        const table_heading shown = heading_of(n, t.first_lid, t.last_lid);
        return how_.json ? unicast_json(shown, rows, how_.style, subnet_.nodes[n].switch_info->linearFDBTop)
                         : format_unicast(shown, rows, how_.style);
    }

    std::string multicast_of(u32 n) const {
        const discovery::switch_forwarding& t = tables_.of_node[n];
        std::vector<multicast_row> rows;
        for (unsigned MLID = t.first_group; MLID <= t.last_group; ++MLID) {
            multicast_row row{MLID, {}};
            for (unsigned position = 0; position < t.positions; ++position) row.masks.push_back(t.mask(MLID, position));
            if (how_.style.everything || !row.leads_nowhere()) rows.push_back(std::move(row));
        }
        const table_heading shown = heading_of(n, t.first_group, t.last_group);
        return how_.json ? multicast_json(shown, rows, subnet_.nodes[n].switch_info->multicastFDBTop)
                         : format_multicast(shown, rows, how_.style);
    }

    const discovery::subnet& subnet_;
    const discovery::forwarding_tables& tables_;
    const dump_settings& how_;
    const discovery::lid_index index_;
};

comad::coro::task<report> dump(session& in, const discovery::subnet& s, const dump_settings& how) {
    discovery::forwarding_options wanted;
    wanted.unicast = !how.multicast;
    wanted.multicast = how.multicast;
    wanted.whole_multicast = how.style.everything;
    (how.multicast ? wanted.first_group : wanted.first_lid) = how.range.first;
    (how.multicast ? wanted.last_group : wanted.last_lid) = how.range.last;
    wanted.by_sa = in.options().by_sa;
    wanted.keys = &in.options().keys;
    const discovery::forwarding_tables tables = co_await discovery::read_forwarding(in.schedule(), s, wanted);
    report result;
    result.text = table_dump(s, tables, how).text();
    result.missing = named_failures(s, tables.failures);
    result.missing_is_success = true;
    co_return result;
}

command dump_command(bool multicast) {
    return {.name = multicast ? "dump_mfts" : "dump_lfts",
            .group = command_group::subnet,
            .declare = [multicast](arguments& takes) -> action {
                auto s = std::make_shared<dump_settings>();
                s->multicast = multicast;
                s->range.declare(takes);
                takes.flag("-a,--all", s->style.everything);
                takes.flag("-n,--no_dests", s->style.brief);
                takes.flag("-M,--Multicast", s->multicast);
                takes.ignored_flag("-D,--Direct");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    s->range.read(s->multicast);
                    s->names = read_node_names(s->name_map);
                    return run_on_subnet(
                        options, [&](session& in, const discovery::subnet& known) { return dump(in, known, *s); });
                };
            }};
}

} // namespace

command dump_lfts_command() { return dump_command(false); }
command dump_mfts_command() { return dump_command(true); }

} // namespace ibtool
