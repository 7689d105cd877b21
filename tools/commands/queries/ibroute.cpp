// SPDX-License-Identifier: MIT
// ibroute.cpp - ibroute: prints the forwarding table of a switch, unicast or (-M) multicast.
#include "comad.hpp"
#include "command.hpp"
#include "commands/queries/table_range.hpp"
#include "session/node_name_map.hpp"
#include "session/queries.hpp"
#include "session/report.hpp"
#include "text/diags_text.hpp"
#include "text/forwarding_text.hpp"
#include "text/output.hpp"
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

using discovery::first_mlid, discovery::last_mlid;

constexpr unsigned last_unicast_lid = discovery::lid_index::last_unicast_lid;
constexpr unsigned lids_per_block = discovery::switch_forwarding::lids_per_block,
                   mlids_per_block = discovery::switch_forwarding::mlids_per_block,
                   ports_per_mask = discovery::switch_forwarding::ports_per_mask;

/// The command line of ibroute.
struct ibroute_settings {
    std::string target, name_map;
    table_range range;
    discovery::node_names names;
    target_options kind;
    bool everything = false, brief = false, multicast = false, json = false;
};

/// Counts destinations whose names were queried, and stops these queries when too many are unresponsive. A forwarding table can contain
/// 48 K LIDs that no port has.
class silent_destinations {
public:
    void count(const destination& d) noexcept { ++(d.known ? answered_ : silent_); }
    void skip() noexcept { ++skipped_; }
    bool are_too_many() const noexcept { return silent_ >= most && silent_ > answered_; }
    void print() const {
        if (skipped_ > 0)
            print_message("the names of {} destinations were not queried: {} destinations before them are "
                          "unresponsive; -n queries no names",
                          skipped_, silent_);
    }

private:
    static constexpr unsigned most = 256;
    unsigned silent_ = 0, answered_ = 0, skipped_ = 0;
};

/// A switch and its forwarding limits.
struct switch_facts {
    smp::NodeInfo node;
    smp::SwitchInfo info;
    std::string name;
};

coro::task<mad::result<switch_facts>> query_switch(session& in, mad::any_path path, discovery::node_names names) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(path));
    if (node.nodeType != iba::NodeType::Switch)
        throw std::runtime_error(
            fmt::format("{} is a {}, not a switch", format_place(path), format_node_type(node.nodeType)));
    BOOST_OUTCOME_CO_TRY(const auto description, co_await in.SubnGet<smp::NodeDescription>(path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::SwitchInfo>(path));
    co_return switch_facts{node, info, raw_name_of(names, node, description)};
}

table_heading heading_of(const switch_facts& s, const mad::any_path& path, unsigned first, unsigned last) {
    return {format_place(path), s.node.nodeGUID, s.name, s.node.numPorts, first, last};
}

// ---- unicast ----------------------------------------------------------------------------------------------------------

/// Queries the name and LIDs of a destination. Never returns an error: a destination that does not reply is unknown.
coro::task<mad::result<destination>> query_destination(session& in, mad::any_path path,
                                                       const discovery::node_names& names) {
    const auto description = co_await in.SubnGet<smp::NodeDescription>(path);
    if (!description) co_return destination{};
    const auto port = co_await in.SubnGet<smp::PortInfo>(path);
    if (!port) co_return destination{};
    const auto node = co_await in.SubnGet<smp::NodeInfo>(path);
    if (!node) co_return destination{};
    co_return destination{true,
                          node.value().nodeType,
                          node.value().portGUID,
                          value(port.value().LID),
                          port.value().LMC,
                          raw_name_of(names, node.value(), description.value())};
}

/// Returns the rows of one block of the table. Queries all destinations of the block in parallel.
coro::task<mad::result<std::vector<unicast_row>>> query_block(session& in, mad::any_path path, unsigned block,
                                                              unsigned first, unsigned last, unsigned num_ports,
                                                              const ibroute_settings& s, silent_destinations& silent) {
    BOOST_OUTCOME_CO_TRY(const auto table, co_await in.SubnGet<smp::LinearForwardingTable>(path, block));
    std::vector<unicast_row> rows;
    std::vector<std::size_t> named; // rows whose destinations are queried
    std::vector<coro::task<mad::result<destination>>> queries;
    const unsigned begin = block * lids_per_block;
    for (unsigned LID = std::max(first, begin); LID <= std::min(last, begin + lids_per_block - 1); ++LID) {
        const u8 port = table.portBlock[LID - begin];
        const bool valid = port <= num_ports;
        if (!valid && !s.everything) continue;
        rows.push_back({LID, port, valid, {}});
        if (s.brief || !valid || LID == 0) continue;
        if (silent.are_too_many()) {
            silent.skip();
            continue;
        }
        mad::IBPath to;
        to.DLID = iba::lid(LID);
        queries.push_back(query_destination(in, to, s.names));
        named.push_back(rows.size() - 1);
    }
    BOOST_OUTCOME_CO_TRY(auto found, co_await all(std::move(queries)));
    for (std::size_t i = 0; i < named.size(); ++i) {
        silent.count(found[i]);
        rows[named[i]].to = std::move(found[i]);
    }
    co_return rows;
}

/// Queries and formats the unicast forwarding table of a switch.
query_task<std::string> query_unicast(session& in, command_target target, const ibroute_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto sw, co_await query_switch(in, path, s.names));
    const unsigned top = std::min<unsigned>(sw.info.linearFDBTop, last_unicast_lid);
    const unsigned last = s.range.last ? std::min(s.range.last, top) : top;

    std::vector<unicast_row> rows;
    silent_destinations silent;
    for (unsigned block = s.range.first / lids_per_block; block <= last / lids_per_block; ++block) {
        BOOST_OUTCOME_CO_TRY(auto part,
                             co_await query_block(in, path, block, s.range.first, last, sw.node.numPorts, s, silent));
        std::ranges::move(part, std::back_inserter(rows));
    }
    silent.print();
    const table_heading shown = heading_of(sw, path, s.range.first, last);
    const table_style style{.everything = s.everything, .brief = s.brief};
    co_return s.json ? unicast_json(shown, rows, style, sw.info.linearFDBTop) : format_unicast(shown, rows, style);
}

// ---- multicast --------------------------------------------------------------------------------------------------------

/// Queries and formats the multicast forwarding table of a switch.
query_task<std::string> query_multicast(session& in, command_target target, const ibroute_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto sw, co_await query_switch(in, path, s.names));
    const unsigned capacity = sw.info.multicastFDBCap, top = sw.info.multicastFDBTop, num_ports = sw.node.numPorts;
    if (capacity == 0)
        throw std::runtime_error(fmt::format("{} has no multicast forwarding table", format_place(path)));
    const unsigned first = s.range.first ? s.range.first : first_mlid;
    unsigned last = std::min(first_mlid + capacity - 1, last_mlid);
    if (s.range.last) last = std::min(s.range.last, last);
    if (!s.everything && top >= first_mlid - 1) last = std::min(last, top);

    const unsigned chunks = num_ports / ports_per_mask + 1;
    std::vector<multicast_row> rows;
    for (unsigned block = (first - first_mlid) / mlids_per_block; first_mlid + block * mlids_per_block <= last;
         ++block) {
        std::vector<coro::task<mad::result<smp::MulticastForwardingTable>>> queries;
        for (unsigned chunk = 0; chunk < chunks; ++chunk)
            queries.push_back(in.SubnGet<smp::MulticastForwardingTable>(path, block | chunk << 28));
        BOOST_OUTCOME_CO_TRY(const auto tables, co_await all(std::move(queries)));
        for (unsigned i = 0; i < mlids_per_block; ++i) {
            const unsigned MLID = first_mlid + block * mlids_per_block + i;
            if (MLID < first || MLID > last) continue;
            multicast_row row{MLID, {}};
            for (const auto& table : tables) row.masks.push_back(table.portMaskBlock[i]);
            if (s.everything || !row.leads_nowhere()) rows.push_back(std::move(row));
        }
    }
    const table_heading shown = heading_of(sw, path, first, last);
    const table_style style{.everything = s.everything, .brief = s.brief};
    co_return s.json ? multicast_json(shown, rows, top) : format_multicast(shown, rows, style);
}

int run_ibroute(ibroute_settings s, const global_options& options) {
    const command_target target = read_target(s.target, s.kind);
    s.range.read(s.multicast);
    s.names = read_node_names(s.name_map); // reports an invalid map before anything is sent
    return run_query(options, &target, [&](session& in) {
        return s.multicast ? query_multicast(in, target, s) : query_unicast(in, target, s);
    });
}

} // namespace

command ibroute_command() {
    return {.name = "ibroute", .group = command_group::queries, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibroute_settings>();
                takes.option("target", s->target).required();
                s->range.declare(takes);
                add_target_options(takes, s->kind);
                takes.flag("-a,--all", s->everything);
                takes.flag("-n,--no_dests", s->brief);
                takes.flag("-M,--Multicast", s->multicast);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibroute(*s, options); };
            }};
}

} // namespace ibtool
