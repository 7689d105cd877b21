// SPDX-License-Identifier: MIT
// clear_counters.cpp - ibclearcounters and ibclearerrors: clear the counters of a whole subnet.
#include "comad.hpp"
#include "command.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/json.hpp"
#include <comad/counters/sweep.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;

/// The command line of ibclearcounters and ibclearerrors.
struct clear_counters_settings {
    counters::counter_set which;
    bool json = false;
};

/// Clears the counters of a subnet with a sweep that only clears, and reports what was not cleared.
class clearing_task {
public:
    clearing_task(session& in, const subnet& s, const clear_counters_settings& how)
        : in_(in), subnet_(s), how_(how), sweeper_(in.schedule(), s, options()) {}

    coro::task<report> run() {
        const counters::sweep done = co_await sweeper_.run();
        write_report(done);
        co_return std::move(found_);
    }

private:
    counters::sweep_options options() const {
        counters::sweep_options o;
        o.wants = is_counted;
        o.at_once = counters::all_ports_rule::of_switches;
        o.clears = how_.which;
        o.only_clears = true;
        return o;
    }

    void write_report(const counters::sweep& done) {
        std::set<std::pair<u32, u8>> cleared, failed; // node and port
        std::set<u32> nodes, failed_nodes;
        for (const port_ref& r : done.cleared) cleared.emplace(r.node, r.port);
        for (const discovery::failure& g : done.failures) {
            const port_ref where = subnet_.find(g.where);
            failed.emplace(where.node, where.port);
            failed_nodes.insert(where.node);
            found_.missing.push_back(of_write(missing_of(subnet_, g)));
        }
        std::size_t ports = 0;
        for (const discovery::end_port_ref& e : discovery::end_ports(subnet_)) {
            if (!failed_nodes.contains(e.where.node)) nodes.insert(e.where.node);
            const bool is_whole = cleared.contains({e.where.node, all_ports});
            ports += is_whole ? e.ports.size() : count(e, cleared);
            if (is_whole) add_line(e, all_ports);
            for (const u8 port : e.ports)
                if (cleared.contains({e.where.node, port}) && !clears_at_once(e)) add_line(e, port);
        }
        if (how_.json)
            found_.text +=
                json_line({{"nodes_cleared", nodes.size()}, {"ports_cleared", ports}, {"failures", failed.size()}});
        else
            found_.text +=
                fmt::format("\n## Summary: {} nodes cleared {} errors\n##          {} port counters cleared\n",
                            nodes.size(), failed.size(), ports);
    }

    static std::size_t count(const discovery::end_port_ref& e, const std::set<std::pair<u32, u8>>& cleared) {
        const auto is_cleared = [&](u8 port) { return cleared.contains({e.where.node, port}); };
        return static_cast<std::size_t>(std::ranges::count_if(e.ports, is_cleared));
    }

    /// Returns whether one request clears all ports of a switch. The output then has no line for each port, as in infiniband-diags.
    bool clears_at_once(const discovery::end_port_ref& e) const {
        const comad::iba::ClassPortInfo* const info = sweeper_.class_port_info(e.where.node);
        return info && counters::capabilities::of(*info).all_ports && subnet_.nodes[e.where.node].is_switch();
    }

    void add_line(const discovery::end_port_ref& e, u8 port) {
        if (how_.json) {
            nlohmann::ordered_json line = place_json(subnet_, e, port);
            const comad::iba::ClassPortInfo& info = *sweeper_.class_port_info(e.where.node);
            const auto add = [&](const counter_group& g) {
                const comad::u64 select = selection(g, info, how_.which);
                if (select != 0) line["cleared"][std::string(g.name)] = select;
            };
            add(group_of<pm::PortCounters>);
            if (counters::capabilities::of(info).extended) add(group_of<pm::PortCountersExt>);
            found_.text += json_line(line);
        } else if (in_.options().verbosity) {
            found_.text += fmt::format("{} lid {} port {}\n", node_line("Cleared", subnet_.nodes[e.where.node]),
                                       value(e.path.DLID), port);
        }
    }

    session& in_;
    const subnet& subnet_;
    const clear_counters_settings& how_;
    counters::sweeper sweeper_;
    report found_;
};

coro::task<report> clear(session& in, const subnet& s, const clear_counters_settings& how) {
    clearing_task all(in, s, how);
    co_return co_await all.run();
}

/// Declares the arguments of a command that clears these counters, and returns its action.
action declare(arguments& takes, counters::counter_set which) {
    auto s = std::make_shared<clear_counters_settings>();
    s->which = which;
    takes.flag("--json", s->json);
    return [s](const global_options& options) {
        return run_on_subnet(options, [&](session& in, const subnet& known) { return clear(in, known, *s); });
    };
}

} // namespace

command ibclearcounters_command() {
    return {.name = "ibclearcounters",
            .group = command_group::counters,
            .writes = true,
            .declare = [](arguments& takes) { return declare(takes, counters::counter_set::all()); }};
}
command ibclearerrors_command() {
    return {.name = "ibclearerrors", .group = command_group::counters, .writes = true, .declare = [](arguments& takes) {
                return declare(takes, counters::counters_that(counters::is_error));
            }};
}

} // namespace ibtool
