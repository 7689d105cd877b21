// SPDX-License-Identifier: MIT
// ibcheckroutes.cpp - ibcheckroutes: checks the routes of a whole subnet in the forwarding tables of its switches.
#include "comad.hpp"
#include "command.hpp"
#include "input/forwarding_dump.hpp"
#include "input/lane_files.hpp"
#include "session/queries.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_queries.hpp"
#include "text/ibcheckroutes_text.hpp"
#include "text/json.hpp"
#include <comad/discovery/database/detail/vendors.hpp>
#include <comad/discovery/routing/detail/read_lanes.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ibtool {
namespace {

/// The command line of ibcheckroutes.
struct route_settings {
    bool switches_too = false, multicast = false, shows_loads = false, reads_lanes = false, json = false;
    std::string tables, subnet, path_sls, sl_to_vl; // file names
};

/// How evenly the routes are distributed over the links between switches.
struct load_range {
    std::size_t channels = 0, unused = 0;
    u32 least_lids = ~u32{0}, most_lids = 0;
    u64 least_routes = ~u64{0}, most_routes = 0;
};

/// Reads or queries the forwarding tables of a subnet, checks all routes, and formats the findings.
class all_routes {
public:
    all_routes(const global_options& options, const discovery::subnet& s, const route_settings& how)
        : options_(options), subnet_(s), how_(how), index_(s) {
        if (!how_.path_sls.empty()) read_path_sls(how_.path_sls, subnet_, lanes_);
        if (!how_.sl_to_vl.empty()) read_sl_to_vl(how_.sl_to_vl, subnet_, lanes_);
    }

    comad::coro::task<report> read_and_judge(session& in) {
        discovery::forwarding_options wanted;
        wanted.multicast = how_.multicast;
        wanted.keys = &options_.keys;
        tables_ = co_await discovery::read_forwarding(in.schedule(), subnet_, wanted);
        if (how_.reads_lanes) co_await read_lanes(in.schedule());
        if (how_.multicast) members_ = co_await read_members(in);
        adaptive_ = co_await read_adaptive_switches(in);
        co_return evaluate();
    }

    report judge_file() {
        tables_ = read_forwarding_dump(how_.tables, subnet_);
        return evaluate();
    }

private:
    /// The numbers of switches that use adaptive routing, and that do not report whether they do.
    struct adaptive_switches {
        std::size_t on = 0, unknown = 0;
    };

    comad::coro::task<adaptive_switches> read_adaptive_switches(session& in) {
        using comad::iba::smp::MlnxARInfo;
        std::vector<comad::coro::task<mad::result<std::optional<bool>>>> queries;
        for (const discovery::node& n : subnet_.nodes)
            if (discovery::has_mlnx_ar_info(n.info)) queries.push_back(is_adaptive(in, n));
        adaptive_switches all;
        const auto answers = co_await ibtool::all(std::move(queries));
        for (const std::optional<bool> is_on : answers.value()) { // is_adaptive() never fails
            all.on += is_on.value_or(false);
            all.unknown += !is_on;
        }
        co_return all;
    }

    /// Returns whether a switch uses adaptive routing; nullopt if the query fails. A switch without the attribute does not use it.
    comad::coro::task<mad::result<std::optional<bool>>> is_adaptive(session& in, const discovery::node& n) {
        const mad::any_path path = options_.keys.put_into(n.route, n.info.portGUID);
        const auto info = co_await in.SubnGet<comad::iba::smp::MlnxARInfo>(path);
        if (info) co_return std::optional(info.value().e);
        co_return mad::is_unsupported(info.error()) ? std::optional(false) : std::nullopt;
    }

    /// Returns the end ports that are full members of multicast groups, from the SA. Returns none without an SA.
    comad::coro::task<std::vector<discovery::multicast_member>> read_members(session& in) {
        using comad::iba::sa::MCMemberRecord;
        std::vector<discovery::multicast_member> members;
        if (value(in.schedule().sa_path().DLID) == 0) co_return members;
        const auto query = comad::iba::query<MCMemberRecord>{};
        // One short attempt: if the SA does not reply, only the tables are checked.
        constexpr comad::coro::rpc_options once{.timeout = std::chrono::milliseconds(500), .retries = 0};
        const auto found = co_await in.schedule().SubnAdmGetTable<MCMemberRecord>(query, once);
        if (!found) co_return members;
        std::unordered_map<comad::u64, discovery::port_ref> by_guid;
        for (u32 n = 0; n < subnet_.nodes.size(); ++n)
            for (unsigned p = 0; p < subnet_.nodes[n].ports.size(); ++p)
                if (!subnet_.nodes[n].is_switch() || p == 0)
                    by_guid.emplace(value(subnet_.nodes[n].ports[p].portGUID),
                                    discovery::port_ref{n, static_cast<comad::u8>(p)});
        for (const MCMemberRecord& r : found.value()) {
            const auto port = by_guid.find(value(r.portGID.interface_id()));
            // Other members do not receive packets, or switches need not forward packets to them.
            constexpr comad::u8 full_member = 1;
            if (port != by_guid.end() && (r.joinState & full_member)) members.push_back({value(r.MLID), port->second});
        }
        co_return members;
    }

    /// Queries the SL-to-VL tables and path SLs that no file contains.
    comad::coro::task<void> read_lanes(comad::coro::MADSchedule& schedule) {
        if (how_.sl_to_vl.empty()) {
            constexpr discovery::table_kinds tables_alone{.SLToVL = true};
            const auto facts = co_await discovery::read_subnet_tables(schedule, subnet_, tables_alone);
            discovery::add_sl_to_vl(subnet_, facts.SLToVL, lanes_);
            for (const discovery::failure& p : facts.failures) found_.missing.push_back(missing_of(subnet_, p));
        }
        if (how_.path_sls.empty()) {
            const auto path_sls = co_await discovery::read_path_sls(schedule, subnet_, index_, lanes_);
            if (path_sls.missing == 0) co_return;
            found_.missing.push_back(failure_at(
                {},
                fmt::format("the SLs of {} of {} paths are unknown: {}", path_sls.missing, path_sls.paths,
                            path_sls.error ? plain_text(*path_sls.error) : "the SA has no records of these paths")));
        }
    }

    report evaluate() {
        const auto unread_tables = named_failures(subnet_, tables_.failures);
        found_.missing.insert(found_.missing.begin(), unread_tables.begin(), unread_tables.end());
        const auto routes = discovery::check_routes(subnet_, index_, tables_, {.switches_too = how_.switches_too});
        const auto credits = discovery::find_credit_loops(
            subnet_, index_, tables_, lanes_, {.switches_too = how_.switches_too, .multicast = how_.multicast});
        discovery::group_check groups;
        if (how_.multicast) groups = discovery::check_groups(subnet_, tables_, members_);
        add_findings(findings_of(subnet_, index_));
        add_findings(findings_of(subnet_, index_, routes));
        add_findings(findings_of(subnet_, groups));
        findings_ += groups.more_faults;
        add_findings(findings_of(subnet_, credits));
        const load_range loads = judge_loads(routes);
        if (how_.json) sum_up_json(routes, groups, credits, loads);
        else sum_up(routes, groups, credits, loads);
        found_.is_any_bad = findings_ > 0;
        return std::move(found_);
    }

    /// Adds findings to the output. Shortens long lists unless -v is given.
    void add_findings(const std::vector<route_finding>& findings) {
        constexpr std::size_t few = 100;
        const std::size_t shown = options_.verbosity ? findings.size() : std::min(findings.size(), few);
        findings_ += findings.size();
        for (std::size_t i = 0; i < shown; ++i) found_.text += how_.json ? findings[i].json : findings[i].text + '\n';
        if (shown < findings.size())
            found_.notes.push_back(fmt::format("further findings of the last kind not printed: {}; -v prints all",
                                               findings.size() - shown));
    }

    load_range judge_loads(const discovery::route_check& routes) {
        load_range all;
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            for (unsigned p = 1; p < routes.loads[n].size(); ++p) {
                const discovery::port_ref peer = subnet_.nodes[n].ports[p].peer;
                if (!peer || !subnet_.nodes[peer.node].is_switch()) continue;
                const discovery::channel_load& load = routes.loads[n][p];
                ++all.channels;
                all.unused += load.routes == 0;
                all.least_lids = std::min(all.least_lids, load.lids);
                all.most_lids = std::max(all.most_lids, load.lids);
                all.least_routes = std::min(all.least_routes, load.routes);
                all.most_routes = std::max(all.most_routes, load.routes);
                if (how_.shows_loads) add_load(n, p, load);
            }
        }
        if (all.channels == 0) all.least_lids = 0, all.least_routes = 0;
        return all;
    }

    void add_load(u32 n, unsigned p, const discovery::channel_load& load) {
        const discovery::node& sw = subnet_.nodes[n];
        if (!how_.json) {
            found_.text +=
                fmt::format("{}[{}]: {} LIDs, {} routes\n", discovery::name_of(sw), p, load.lids, load.routes);
            return;
        }
        found_.text += json_line({{"nodeGUID", fmt::format("{}", sw.info.nodeGUID)},
                                  {"description", json_string(sw.description)},
                                  {"port", p},
                                  {"LIDs", load.lids},
                                  {"routes", load.routes}});
    }

    void sum_up(const discovery::route_check& r, const discovery::group_check& g, const discovery::credit_check& c,
                const load_range& l) {
        std::string& text = found_.text;
        text += fmt::format("\n## Summary: {} routes checked, {} cut", r.pairs - r.unknown, r.unreachable);
        if (r.unknown) text += fmt::format(", {} not checked", r.unknown);
        text += fmt::format("\n##          {} links between switches, each direction with {} to {} LIDs and {} to {} "
                            "routes; {} directions without a route\n",
                            l.channels / 2, l.least_lids, l.most_lids, l.least_routes, l.most_routes, l.unused);
        text += fmt::format("##          {} dependencies between channels, {} VL{}, {} credit loop{}\n", c.dependencies,
                            c.VLs, c.VLs == 1 ? "" : "s", c.loops.size(), c.loops.size() == 1 ? "" : "s");
        if (how_.multicast)
            text += fmt::format("##          {} multicast LIDs checked, {} faults\n", g.groups - g.not_evaluated,
                                g.faults.size() + g.more_faults);
        if (!adaptive_) return;
        if (adaptive_->on)
            text +=
                fmt::format("##          {} switch{} adaptive routing: only the static tables were checked, not the "
                            "adaptive routes\n",
                            adaptive_->on, adaptive_->on == 1 ? " uses" : "es use");
        if (adaptive_->unknown)
            text +=
                fmt::format("##          {} switch{} did not report whether {} adaptive routing\n", adaptive_->unknown,
                            adaptive_->unknown == 1 ? "" : "es", adaptive_->unknown == 1 ? "it uses" : "they use");
    }

    void sum_up_json(const discovery::route_check& r, const discovery::group_check& g, const discovery::credit_check& c,
                     const load_range& l) {
        nlohmann::ordered_json all{{"schema", "comad.routes/1"},     {"routes", r.pairs},
                                   {"cut", r.unreachable},           {"not_checked", r.unknown},
                                   {"findings", findings_},          {"links", l.channels / 2},
                                   {"least_LIDs", l.least_lids},     {"most_LIDs", l.most_lids},
                                   {"least_routes", l.least_routes}, {"most_routes", l.most_routes},
                                   {"dependencies", c.dependencies}, {"VLs", c.VLs},
                                   {"credit_loops", c.loops.size()}};
        if (how_.multicast) {
            all["MLIDs"] = g.groups;
            all["MLIDs_not_checked"] = g.not_evaluated;
        }
        all["adaptive_switches"] = adaptive_ ? nlohmann::ordered_json(adaptive_->on) : nullptr;
        all["adaptive_switches_unknown"] = adaptive_ ? nlohmann::ordered_json(adaptive_->unknown) : nullptr;
        all["adaptive_routes_checked"] = false;
        all["table_bytes"] = tables_.bytes();
        all["complete"] = found_.missing.empty() && subnet_.complete();
        found_.text += json_line(all);
    }

    const global_options& options_;
    const discovery::subnet& subnet_;
    const route_settings& how_;
    const discovery::lid_index index_;
    discovery::virtual_lanes lanes_;
    discovery::forwarding_tables tables_;
    std::vector<discovery::multicast_member> members_;
    std::optional<adaptive_switches> adaptive_; // nullopt: switches were not queried
    std::size_t findings_ = 0;
    report found_;
};

comad::coro::task<report> check_all_routes(session& in, const discovery::subnet& s, const route_settings& how) {
    all_routes all(in.options(), s, how);
    co_return co_await all.read_and_judge(in);
}

} // namespace

command ibcheckroutes_command() {
    return {.name = "ibcheckroutes",
            .group = command_group::checks,
            .no_sa_reason = "it checks LIDs, so it queries every node itself",
            .ignores_lids = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<route_settings>();
                takes.flag("-a,--all", s->switches_too);
                const argument& multicast = takes.flag("-M,--Multicast", s->multicast);
                takes.flag("--loads", s->shows_loads);
                takes.option("--path-SLs", s->path_sls).file(file_use::read);
                takes.option("--SL-to-VL", s->sl_to_vl).file(file_use::read);
                const argument& lanes = takes.flag("--lanes", s->reads_lanes);
                takes.option("--tables", s->tables).file(file_use::read).excludes(multicast).excludes(lanes);
                add_load_cache_option(takes, s->subnet);
                takes.flag("--json", s->json);
                return [s](global_options options) {
                    options.load_cache = s->subnet;
                    if (!s->tables.empty())
                        return run_on_subnet(options, [&](const discovery::subnet& known) {
                            return all_routes(options, known, *s).judge_file();
                        });
                    return run_on_subnet(options, [&](session& in, const discovery::subnet& known) {
                        return check_all_routes(in, known, *s);
                    });
                };
            }};
}

} // namespace ibtool
