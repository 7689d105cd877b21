// SPDX-License-Identifier: MIT
// ibcheckroutes.cpp - ibcheckroutes: the routes of the whole subnet, as its switches' forwarding tables have them.
#include "command.hpp"
#include "input/forwarding_dump.hpp"
#include "input/lane_files.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_queries.hpp"
#include "text/json.hpp"
#include "text/route_text.hpp"
#include <comad/discovery/read_lanes.hpp>
#include <comad/iba/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
using comad::u32;
using comad::u64;

struct route_settings {
    bool switches_too = false, multicast = false, shows_loads = false, reads_lanes = false, json = false;
    std::string tables, subnet, path_SLs, SL_to_VL; // files
};

/// How evenly the routes are spread over the links between switches.
struct load_range {
    std::size_t channels = 0, unused = 0;
    u32 least_LIDs = ~u32{0}, most_LIDs = 0;
    u64 least_routes = ~u64{0}, most_routes = 0;
};

class all_routes {
public:
    all_routes(const global_options& options, const discovery::subnet& s, const route_settings& how)
        : options_(options), subnet_(s), how_(how), index_(s) {
        if (!how_.path_SLs.empty()) read_path_SLs(how_.path_SLs, subnet_, lanes_);
        if (!how_.SL_to_VL.empty()) read_SL_to_VL(how_.SL_to_VL, subnet_, lanes_);
    }

    comad::coro::task<report> ask(session& in) {
        discovery::forwarding_options wanted;
        wanted.multicast = how_.multicast;
        wanted.keys = &options_.keys;
        tables_ = co_await discovery::read_forwarding(in.schedule(), subnet_, wanted);
        if (how_.reads_lanes) co_await read_lanes(in.schedule());
        co_return judge();
    }

    report judge_file() {
        tables_ = read_forwarding_dump(how_.tables, subnet_);
        return judge();
    }

private:
    /// What no file said.
    comad::coro::task<void> read_lanes(comad::coro::MADSchedule& schedule) {
        if (how_.SL_to_VL.empty()) {
            constexpr discovery::fact_kinds tables_alone{.SLToVL = true};
            const auto facts = co_await discovery::read_facts(schedule, subnet_, tables_alone);
            discovery::add_SL_to_VL(subnet_, facts.SLToVL, lanes_);
            for (const discovery::problem& p : facts.problems) found_.missing.push_back(missing_of(subnet_, p));
        }
        if (how_.path_SLs.empty()) {
            const auto told = co_await discovery::read_path_SLs(schedule, subnet_, index_, lanes_);
            if (told.missing == 0) co_return;
            found_.missing.push_back({{},
                                      {},
                                      fmt::format("the SLs of {} of {} paths: {}", told.missing, told.paths,
                                                  told.error ? plain_text(*told.error) : "the SA has no such path")});
        }
    }

    report judge() {
        const auto untold = missing_of(subnet_, tables_);
        found_.missing.insert(found_.missing.begin(), untold.begin(), untold.end());
        const auto routes = discovery::check_routes(subnet_, index_, tables_, {.switches_too = how_.switches_too});
        const auto credits = discovery::find_credit_loops(
            subnet_, index_, tables_, lanes_, {.switches_too = how_.switches_too, .multicast = how_.multicast});
        discovery::group_check groups;
        if (how_.multicast) groups = discovery::check_groups(subnet_, tables_);
        tell(findings_of(subnet_, index_));
        tell(findings_of(subnet_, index_, routes));
        tell(findings_of(subnet_, groups));
        tell(findings_of(subnet_, credits));
        const load_range loads = judge_loads(routes);
        if (how_.json) sum_up_json(routes, groups, credits, loads);
        else sum_up(routes, groups, credits, loads);
        found_.is_any_bad = findings_ > 0;
        return std::move(found_);
    }

    /// Without -v not all of many.
    void tell(const std::vector<route_finding>& findings) {
        constexpr std::size_t few = 100;
        const std::size_t shown = options_.verbosity ? findings.size() : std::min(findings.size(), few);
        findings_ += findings.size();
        for (std::size_t i = 0; i < shown; ++i) found_.text += how_.json ? findings[i].json : findings[i].text + '\n';
        if (shown < findings.size())
            found_.notes.push_back(
                fmt::format("{} more findings like the last one; -v shows all", findings.size() - shown));
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
                all.least_LIDs = std::min(all.least_LIDs, load.LIDs);
                all.most_LIDs = std::max(all.most_LIDs, load.LIDs);
                all.least_routes = std::min(all.least_routes, load.routes);
                all.most_routes = std::max(all.most_routes, load.routes);
                if (how_.shows_loads) tell_load(n, p, load);
            }
        }
        if (all.channels == 0) all.least_LIDs = 0, all.least_routes = 0;
        return all;
    }

    void tell_load(u32 n, unsigned p, const discovery::channel_load& load) {
        const discovery::node& sw = subnet_.nodes[n];
        if (!how_.json) {
            found_.text +=
                fmt::format("{}[{}]: {} LIDs, {} routes\n", discovery::name_of(sw), p, load.LIDs, load.routes);
            return;
        }
        found_.text += json_line({{"nodeGUID", fmt::format("{}", sw.info.nodeGUID)},
                                  {"description", json_string(sw.description)},
                                  {"port", p},
                                  {"LIDs", load.LIDs},
                                  {"routes", load.routes}});
    }

    void sum_up(const discovery::route_check& r, const discovery::group_check& g, const discovery::credit_check& c,
                const load_range& l) {
        std::string& text = found_.text;
        text += fmt::format("\n## Summary: {} routes checked, {} cut", r.pairs - r.unknown, r.unreachable);
        if (r.unknown) text += fmt::format(", {} not checked", r.unknown);
        text +=
            fmt::format("\n##          {} links between switches, of each direction {} to {} LIDs, {} to {} routes, "
                        "{} without any\n",
                        l.channels / 2, l.least_LIDs, l.most_LIDs, l.least_routes, l.most_routes, l.unused);
        text += fmt::format("##          {} dependencies between channels, {} VL{}, {} credit loop{}\n", c.dependencies,
                            c.VLs, c.VLs == 1 ? "" : "s", c.loops.size(), c.loops.size() == 1 ? "" : "s");
        if (how_.multicast)
            text += fmt::format("##          {} multicast LIDs checked, {} faults\n", g.groups - g.not_judged,
                                g.faults.size());
    }

    void sum_up_json(const discovery::route_check& r, const discovery::group_check& g, const discovery::credit_check& c,
                     const load_range& l) {
        nlohmann::ordered_json all{{"schema", "comad.routes/1"},     {"routes", r.pairs},
                                   {"cut", r.unreachable},           {"not_checked", r.unknown},
                                   {"findings", findings_},          {"links", l.channels / 2},
                                   {"least_LIDs", l.least_LIDs},     {"most_LIDs", l.most_LIDs},
                                   {"least_routes", l.least_routes}, {"most_routes", l.most_routes},
                                   {"dependencies", c.dependencies}, {"VLs", c.VLs},
                                   {"credit_loops", c.loops.size()}};
        if (how_.multicast) {
            all["MLIDs"] = g.groups;
            all["MLIDs_not_checked"] = g.not_judged;
        }
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
    std::size_t findings_ = 0;
    report found_;
};

comad::coro::task<report> check_all_routes(session& in, const discovery::subnet& s, const route_settings& how) {
    all_routes all(in.options(), s, how);
    co_return co_await all.ask(in);
}

} // namespace

command ibcheckroutes_command() {
    return {
        .name = "ibcheckroutes",
        .group = command_group::checks,
        .summary = "check all routes: unreachable ports, loops, credit loops",
        .examples = "ibcheckroutes\nibcheckroutes -M --loads",
        .no_SA = "it judges LIDs by what each node says",
        .judges_LIDs = true,
        .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<route_settings>();
            takes.flag("-a,--all", s->switches_too, "also from and to switches [only CAs and routers]");
            const argument& multicast = takes.flag("-M,--Multicast", s->multicast, "also the trees of multicast LIDs");
            takes.flag("--loads", s->shows_loads, "how many LIDs and routes each link between switches has");
            takes.option("--path-SLs", s->path_SLs, "lines NODEGUID DLID SL: the service levels that packets have [0]")
                .value_name("FILE");
            takes
                .option("--SL-to-VL", s->SL_to_VL,
                        "lines GUID INPORT OUTPORT and 8 bytes of two VLs: the tables of switches [VL = SL]")
                .value_name("FILE");
            const argument& lanes =
                takes.flag("--lanes", s->reads_lanes,
                           "ask the switches for SL to VL, and the SA for the SL of each path, but what the files say");
            takes
                .option("--tables", s->tables,
                        "read the tables from this file, of dump_lfts or OpenSM (opensm-lfts.dump), and do not ask the "
                        "switches")
                .value_name("FILE")
                .excludes(multicast)
                .excludes(lanes);
            add_load_cache_option(takes, s->subnet);
            takes.flag("--json", s->json, "one JSON object for each finding, and one for the summary");
            return [s](global_options options) {
                options.load_cache = s->subnet;
                if (!s->tables.empty())
                    return discover_and_judge(options, [&](const discovery::subnet& known) {
                        return all_routes(options, known, *s).judge_file();
                    });
                return discover_and_ask(options, [&](session& in, const discovery::subnet& known) {
                    return check_all_routes(in, known, *s);
                });
            };
        }};
}

} // namespace ibtool
