// SPDX-License-Identifier: MIT
// ibqueryerrors.cpp - ibqueryerrors: lists the ports of a subnet whose error counters exceed thresholds, or data and packets of all
// ports. Writes only with -k and -K, which clear counters.
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/calendar_time.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "session/selection.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_place.hpp"
#include "session/sweep_files.hpp"
#include "text/error_text.hpp"
#include "text/failure_text.hpp"
#include "text/ibcheck_text.hpp"
#include "text/ibqueryerrors_text.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ibtool {
namespace {

using counters::counter;
using discovery::port_ref;
using discovery::subnet;
using iba::NodeType;
using iba::sa::PathRecord;

constexpr const char* thresholds_file = "/etc/infiniband-diags/error_thresholds";

/// The command line of ibqueryerrors.
struct ibqueryerrors_settings {
    std::string GUID, route, name_map, thresholds, load_cache, since, save;
    std::vector<std::string> suppressed;
    selection_options selected;
    unsigned outstanding = 0; ///< 0: use the global option
    bool skip_sl = false, links = false, data = false, data_only = false, details = false;
    bool only_switches = false, only_cas = false, only_routers = false;
    bool clear_errors = false, clear_counts = false, json = false, csv = false;
};

/// The parsed command line.
struct ibqueryerrors_plan {
    subnet_place where;
    error_rules rules;
    report_choice choice;
    discovery::node_names names;
    std::vector<std::string> notes;
    std::optional<earlier_run> since;
    std::unique_ptr<sweep_saver> save;
    subnet_selection selected;

    /// Returns whether the counters of all ports are needed, and not only sums.
    bool reads_all_ports() const { return since || save; }
};

void load_thresholds(error_rules& rules, const std::string& file) {
    if (file.empty() && !std::filesystem::exists(thresholds_file)) return;
    rules.named = read_thresholds(rules.thresholds, file.empty() ? thresholds_file : file);
}

ibqueryerrors_plan make_plan(const ibqueryerrors_settings& s) {
    ibqueryerrors_plan p{read_place(s.GUID, s.route),
                         {},
                         {s.data, s.data_only, s.links, s.json, s.csv, {}},
                         read_node_names(s.name_map),
                         {},
                         {},
                         {},
                         subnet_selection(s.selected)};
    if (!s.since.empty()) p.since.emplace(s.since);
    if (!s.save.empty()) p.save = std::make_unique<sweep_saver>(s.save);
    for (const std::string& name : s.suppressed) {
        const auto c = find_counter(name), older = c ? c : find_counter_of_old(name);
        if (older) p.rules.suppressed.push_back(*older);
        // Scripts may use counter names of other versions. An ignored name only makes the report longer.
        else p.notes.push_back(fmt::format("--suppress: unknown counter {}; it is ignored", iba::as_given(name)));
    }
    load_thresholds(p.rules, s.thresholds);
    return p;
}

// ---- queries ---------------------------------------------------------------------------------------------------------

constexpr bool is_of_errors(counter c) { return has_threshold(c) && c != counter::QP1Dropped; }

bool is_wanted(const ibqueryerrors_settings& s, const discovery::node& n) {
    if (!s.only_switches && !s.only_cas && !s.only_routers) return true;
    switch (n.info.nodeType) {
    case NodeType::Switch: return s.only_switches;
    case NodeType::CA: return s.only_cas;
    case NodeType::Router: return s.only_routers;
    }
    return false;
}

/// Returns which details to read, to find the causes of counters that exceed their thresholds.
counters::port_detail_set causes_of(const error_rules& rules, const counters::reading& l) {
    counters::port_detail_set chosen;
    if (rules.is_over(counter::portRcvErrors, l.counters.counters)) chosen.add<iba::pm::PortRcvErrorDetails>();
    if (rules.is_over(counter::portXmitDiscards, l.counters.counters)) chosen.add<iba::pm::PortXmitDiscardDetails>();
    return chosen;
}

using service_levels = std::unordered_map<iba::lid, u8>;

/// Discovers the subnet and sweeps its counters.
class error_sweep {
public:
    error_sweep(session& in, const ibqueryerrors_settings& s, const ibqueryerrors_plan& p)
        : in_(in), settings_(s), plan_(p) {}

    struct outcome {
        subnet found;
        counters::sweep swept; ///< with --since: the increases
        std::string no_sls;    ///< why no SLs are known
        std::optional<counters::earlier_sweep> since;
        std::vector<std::string> notes{};
        std::string not_saved{}; ///< why the sweep is not in the file of --save
    };
    coro::task<mad::result<outcome>> run() {
        BOOST_OUTCOME_CO_TRY(auto found, co_await discover_subnet(in_, &discovered_));
        outcome all{std::move(found), {}, {}, {}, {}};
        if (plan_.since) plan_.since->check(all.found);
        if (plan_.save) plan_.save->check(all.found);
        only_ = node_at(all.found, plan_.where);
        parts_.emplace(plan_.selected, all.found, plan_.names);
        parts_->require_nodes();
        if (only_ && !plan_.selected.wants(all.found.nodes[*only_], plan_.names))
            refuse_excluded_target(plan_.names.of(all.found.nodes[*only_]));
        require_selected_nodes(all.found);
        all.notes = parts_->notes();
        if (!settings_.skip_sl) {
            auto sls = co_await query_sls(all.found);
            if (sls) sls_ = std::move(sls).value();
            else all.no_sls = format_error(sls.error(), in_.options());
        }
        counters::sweeper sweeper(in_.schedule(), all.found, sweep_options());
        all.swept = co_await sweeper.run();
        use_files(all);
        co_return std::move(all);
    }

    std::string progress() const {
        if (read_) return fmt::format("reading counters: {} ports", read_);
        return fmt::format("discovering: {} nodes, {} links", discovered_.nodes.load(), discovered_.links.load());
    }

private:
    /// Saves the sweep, and replaces it by the increases since the earlier run.
    void use_files(outcome& all) const {
        if (!plan_.reads_all_ports()) return;
        const double began = calendar_time() - mad::in_seconds(in_.now() - all.swept.begin);
        std::optional<earlier_run::compared> earlier;
        const auto wants = [&](const discovery::node& n) { return is_selected(n, all.found); };
        if (plan_.since) earlier = plan_.since->before(all.swept, all.found, began, wants);
        save(all, began);
        if (!earlier) return;
        all.swept = increases_of(all.swept, earlier->before);
        all.since = std::move(earlier->about);
    }

    /// Returns whether the options that select nodes select a node, which may be of an earlier run.
    bool is_selected(const discovery::node& n, const subnet& found) const {
        if (only_ && n.info.nodeGUID != found.nodes[*only_].info.nodeGUID) return false;
        return is_wanted(settings_, n) && plan_.selected.wants(n, plan_.names);
    }

    /// Throws std::runtime_error with one line if all options together select no node. Does not throw if the missing nodes of an
    /// incomplete discovery can be the cause. Under the name of infiniband-diags' program, its own options may select nothing.
    void require_selected_nodes(const subnet& found) const {
        if (!found.complete() || (plan_.selected.is_all() && is_called_by_link())) return;
        const auto is_wanted_here = [&](const discovery::node& n) { return is_selected(n, found); };
        if (std::ranges::none_of(found.nodes, is_wanted_here)) refuse_empty_selection(parts_->notes());
    }

    /// Adds a complete sweep to the file, with the counters after the clears of -k and -K. The report must follow even if that fails.
    void save(outcome& all, double began) const {
        if (!plan_.save || all.swept.is_stopped) return;
        try {
            plan_.save->add(after_clears(all.swept), all.found, began);
        } catch (const std::runtime_error& e) {
            all.not_saved = e.what();
        }
    }

    /// Queries the SLs of the paths from the local port to all nodes, or to one node. Returns no SLs without an SA.
    coro::task<mad::result<service_levels>> query_sls(const subnet& s) {
        service_levels all;
        if (value(in_.schedule().sa_path().DLID) == 0) co_return all;
        iba::query<PathRecord> from_here;
        if (in_.local_port().GID != iba::gid{}) from_here.where<&PathRecord::SGID>(in_.local_port().GID);
        else from_here.where<&PathRecord::SLID>(in_.local_port().LID);
        from_here.where<&PathRecord::numbPath>(u8{1}).where<&PathRecord::reversible>(true);
        std::vector<iba::query<PathRecord>> queries;
        if (!only_) queries.push_back(from_here);
        for (unsigned p = 0; only_ && p < s.nodes[*only_].ports.size(); ++p) {
            const auto& info = s.nodes[*only_].ports[p].info;
            const bool is_end_port = info && s.nodes[*only_].is_switch() == (p == 0);
            if (is_end_port) queries.push_back(from_here.where<&PathRecord::DLID>(info->LID));
        }
        for (const auto& query : queries) {
            BOOST_OUTCOME_CO_TRY(const auto paths, co_await in_.schedule().SubnAdmGetTable<PathRecord>(query));
            for (const PathRecord& path : paths) all.emplace(path.DLID, path.SL);
        }
        co_return all;
    }

    counters::sweep_options sweep_options() {
        counters::sweep_options how;
        how.on_port = [this](const counters::reading&) { ++read_; };
        how.patience = mad::duration(0); // use the time limit of the schedule: no later sweep repeats the query
        how.wants = [this](const subnet& s, port_ref where) {
            if (only_ && where.node != *only_) return false;
            return s.at(where).info.has_value() && is_wanted(settings_, s.nodes[where.node]) && parts_->port(s, where);
        };
        how.complete_path = [this](mad::IBPath path, port_ref) {
            const auto found = sls_.find(path.DLID);
            if (found != sls_.end()) path.SL = found->second;
            return path;
        };
        const error_rules& rules = plan_.rules;
        if (!settings_.data_only) {
            if (!plan_.reads_all_ports())
                how.is_too_much = [&rules](const counters::reading& sum) {
                    return rules.is_any_over(sum.counters.counters);
                };
            const auto causes = [&rules](const counters::reading& l) { return causes_of(rules, l); };
            if (settings_.details) how.choose_details = causes;
        }
        how.counters = counters::counters_that([&](counter c) {
            if (!has_threshold(c)) return settings_.data || settings_.data_only;
            return !settings_.data_only;
        });
        if (plan_.save) how.counters = counters::counter_set::all();
        how.clears = counters::counters_that([&](counter c) {
            return is_of_errors(c) ? settings_.clear_errors : !has_threshold(c) && settings_.clear_counts;
        });
        if (settings_.clear_errors && settings_.details)
            how.clears_details.add<iba::pm::PortRcvErrorDetails>().add<iba::pm::PortXmitDiscardDetails>();
        return how;
    }

    session& in_;
    const ibqueryerrors_settings& settings_;
    const ibqueryerrors_plan& plan_;
    discovery::discovery_progress discovered_;
    std::size_t read_ = 0; // number of ports
    std::optional<u32> only_;
    std::optional<selected_parts> parts_;
    service_levels sls_;
};

// ---- output ----------------------------------------------------------------------------------------------------------

/// Runs the queries, and formats the ports with errors as a report.
query_task<report> make_report(session& in, error_sweep& queries, const ibqueryerrors_plan& p) {
    const auto all = co_await queries.run();
    if (!all) refuse_silent_port(all.error(), in.options());
    const auto& [found, swept, no_sls, since, unmatched, not_saved] = all.value();
    report_choice choice = p.choice;
    choice.since = since;
    error_report errors(found, p.names, p.rules, choice);
    report r;
    r.text = errors.of(swept);
    r.missing = all_missing(found, swept.failures);
    if (!not_saved.empty()) r.missing.push_back(failure_at({}, not_saved));
    r.notes = p.notes;
    r.notes.insert(r.notes.end(), unmatched.begin(), unmatched.end());
    if (!no_sls.empty())
        r.notes.push_back(fmt::format("cannot read the service levels from the SA: {}; SL 0 was used", no_sls));
    r.is_any_bad = errors.bad_ports() != 0;
    r.missing_is_success = not_saved.empty();
    co_return r;
}

int run_ibqueryerrors(const ibqueryerrors_settings& s, global_options options) {
    if (s.outstanding) options.outstanding = s.outstanding;
    options.load_cache = s.load_cache;
    const ibqueryerrors_plan p = make_plan(s);
    std::optional<error_sweep> queries;
    const auto query_all = [&](session& in) { return make_report(in, queries.emplace(in, s, p), p); };
    return run_query(options, nullptr, query_all, [&] { return queries->progress(); });
}

} // namespace

command ibqueryerrors_command() {
    return {.name = "ibqueryerrors",
            .group = command_group::counters,
            .writes = true,
            .per_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibqueryerrors_settings>();
                // The report uses the order of the command line.
                const auto suppress = [s](const std::string& names) {
                    for (std::string& name : split(names, ',')) s->suppressed.push_back(std::move(name));
                };
                takes.option("-s,--suppress", suppress).at_once();
                takes.flag("-c,--suppress-common", [suppress] { suppress("PortRcvSwitchRelayErrors"); }).at_once();
                const argument& GUID = takes.option("-G,--port-guid,-S", s->GUID);
                takes.option("-D,--Direct", s->route).excludes(GUID);
                takes.flag("--skip-sl", s->skip_sl);
                takes.flag("-r,--report-port", s->links);
                takes.option("--threshold-file", s->thresholds).file(file_use::read);
                takes.flag("--data", s->data);
                takes.flag("--switch", s->only_switches);
                takes.flag("--ca", s->only_cas);
                takes.flag("--router", s->only_routers);
                const argument& details = takes.flag("--details", s->details);
                takes.option("--since", s->since).file(file_use::read_regular).excludes(details);
                takes.option("--save", s->save).file(file_use::cached);
                takes.flag("--counters", s->data_only);
                takes.flag("-k,--clear-errors", s->clear_errors);
                takes.flag("-K,--clear-counts", s->clear_counts);
                takes.ignored_flag("-R,--GNDN");
                takes.option("-o,--outstanding_smps", s->outstanding).range(1, 65536);
                add_name_map_option(takes, s->name_map);
                const argument& json = takes.flag("--json", s->json);
                takes.flag("--csv", s->csv).excludes(json);
                add_selection_options(takes, s->selected);
                add_load_cache_option(takes, s->load_cache);
                return [s](const global_options& options) { return run_ibqueryerrors(*s, options); };
            }};
}

} // namespace ibtool
