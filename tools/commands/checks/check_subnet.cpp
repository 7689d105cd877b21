// SPDX-License-Identifier: MIT
// check_subnet.cpp - ibchecknet, ibcheckstate, ibcheckwidth, ibcheckerrors: check the nodes and ports of a whole subnet. Write nothing.
#include "comad.hpp"
#include "command.hpp"
#include "commands/checks/check_options.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/ibcheck_text.hpp"
#include "text/json.hpp"
#include "text/subnet_missing.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;
using enum complaint::severity;

/// The checks of one of these commands, and its command line.
struct check_subnet_settings {
    port_checks ports; ///< none: only the counters of ports are checked
    bool errors = false;
    std::string_view found; ///< text for bad ports in the summary: `bad ports found`
    bool with_down = false;
    check_options how;

    bool checks_ports() const { return ports.state || ports.width || ports.speed || ports.addresses; }
};

/// The results of the checks of one node.
struct node_verdicts {
    std::vector<check_result> of_node, of_ports, of_errors;

    template <class F> void for_each(F&& f) const {
        for (const auto* list : {&of_node, &of_ports, &of_errors})
            for (const check_result& v : *list) f(v);
    }
};

/// The numbers of the summary.
struct totals {
    std::size_t nodes = 0, bad_nodes = 0, ports = 0, bad_ports = 0, ports_with_errors = 0;
};

/// Checks a subnet: queries end ports by LID, judges nodes and ports, and formats the results.
class subnet_checker {
public:
    subnet_checker(session& in, const subnet& s, const check_subnet_settings& how)
        : in_(in), subnet_(s), how_(how), thresholds_(read_thresholds(how.how.thresholds)), nodes_(s.nodes.size()) {}

    coro::task<report> run() {
        end_ports_ = discovery::end_ports(subnet_);
        answers_.resize(end_ports_.size());
        co_await in_.schedule().mqueue(node_queries());
        for (std::size_t i = 0; i < end_ports_.size(); ++i) judge_end_port(i);
        judge_ports();
        if (how_.errors) {
            counters::sweep_options what;
            what.wants = [this](const subnet&, port_ref r) { return is_wanted(r); };
            counters::sweeper sweeper(in_.schedule(), subnet_, what);
            const counters::sweep swept = co_await sweeper.run();
            judge_errors(swept);
        }
        write_report();
        co_return std::move(found_);
    }

private:
    bool is_wanted(port_ref r) const {
        const discovery::port& p = subnet_.at(r);
        return r.port != 0 && p.info && (is_in_use(p) || how_.with_down);
    }

    // ---- nodes ---------------------------------------------------------------------------------------------------------

    coro::generator<coro::task<void>> node_queries() {
        for (std::size_t i = 0; i < end_ports_.size(); ++i)
            if (end_ports_[i].has_lid()) co_yield query_end_port(end_ports_[i], answers_[i]);
    }

    coro::task<void> query_end_port(const discovery::end_port_ref& e,
                                    std::optional<mad::result<smp::NodeInfo>>& answer) {
        const mad::any_path path = e.path;
        auto info = co_await in_.schedule().SubnGet<smp::NodeInfo>(path, 0, short_patience);
        answer.emplace(std::move(info));
    }

    void judge_end_port(std::size_t i) {
        const discovery::end_port_ref& e = end_ports_[i];
        check_result v = result_of(check_result::subject::node, value(e.path.DLID), e.where, {});
        if (how_.ports.addresses || !e.has_lid()) v.complaints = check_port(subnet_, e.where, {.addresses = true});
        if (e.has_lid()) {
            const auto& answer = answers_[i];
            if (answer && (*answer || answer->error().code == mad::errc::timed_out)) judge_way(v, e, *answer);
            else
                found_.missing.push_back(missing_at(subnet_, e.where,
                                                    answer ? to_string(answer->error()) : "not queried",
                                                    answer ? cause_text(answer->error()) : ""));
        }
        nodes_[e.where.node].of_node.push_back(std::move(v));
    }

    /// Judges the reply of a node to a LID-routed query. The discovery used directed routes, so this shows whether the LID leads to the
    /// node.
    void judge_way(check_result& v, const discovery::end_port_ref& e, const mad::result<smp::NodeInfo>& answer) const {
        const iba::guid expected = subnet_.nodes[e.where.node].info.nodeGUID;
        if (!answer) {
            v.complaints.push_back({error, "no reply ", "SMPNodeInfo", "none", "a reply"});
        } else if (const iba::guid is = answer.value().nodeGUID; is != expected) {
            v.complaints.push_back({error, fmt::format("nodeGUID is {}, expected {} ", is, expected), "nodeGUID",
                                    fmt::format("{}", is), fmt::format("{}", expected)});
        }
    }

    // ---- ports ---------------------------------------------------------------------------------------------------------

    template <class F> void for_each_port(F&& f) const {
        for (u32 n = 0; n < subnet_.nodes.size(); ++n)
            for (unsigned p = 0; p < subnet_.nodes[n].ports.size(); ++p) f(port_ref{n, static_cast<u8>(p)});
    }

    /// Judges the ports. Sends no queries.
    void judge_ports() {
        port_checks checks = how_.ports;
        checks.addresses = false; // judge_end_port() checks the addresses
        for_each_port([&](port_ref r) {
            if (!is_wanted(r)) return;
            ++totals_.ports;
            if (how_.checks_ports())
                nodes_[r.node].of_ports.push_back(
                    result_of(check_result::subject::port, lid_of(r), r, check_port(subnet_, r, checks)));
        });
    }

    check_result result_of(check_result::subject of, unsigned LID, port_ref r,
                           std::vector<complaint> complaints) const {
        const discovery::node& n = subnet_.nodes[r.node];
        return {of, LID, r.port, n.description, std::move(complaints), n.info.nodeGUID};
    }

    unsigned lid_of(port_ref r) const {
        const auto& end = subnet_.end_port(r).info;
        return end ? value(end->LID) : 0u;
    }

    void judge_errors(const counters::sweep& swept) {
        for (const counters::reading& l : swept.ports) {
            if (!l.valid) continue;
            nodes_[l.where.node].of_errors.push_back(result_of(check_result::subject::errors, lid_of(l.where), l.where,
                                                               check_counters(l.counters.counters, thresholds_)));
        }
        for (const discovery::failure& g : swept.failures) found_.missing.push_back(missing_of(subnet_, g));
    }

    // ---- output --------------------------------------------------------------------------------------------------------

    static std::size_t bad_of(const std::vector<check_result>& all) {
        return static_cast<std::size_t>(std::ranges::count_if(all, [](const check_result& v) { return !v.is_good(); }));
    }

    void write_report() {
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            const node_verdicts& v = nodes_[n];
            ++totals_.nodes;
            totals_.bad_nodes += bad_of(v.of_node) > 0;
            totals_.bad_ports += bad_of(v.of_ports);
            totals_.ports_with_errors += bad_of(v.of_errors);
            found_.text += how_.how.json ? node_json(n) : node_text(n);
        }
        found_.is_any_bad = totals_.bad_nodes + totals_.bad_ports + totals_.ports_with_errors > 0;
        found_.text += how_.how.json ? summary_json() : summary();
    }

    std::string node_json(u32 n) const {
        std::string text;
        nodes_[n].for_each([&](const check_result& v) {
            if (!v.is_good() || in_.options().verbosity) text += json_line(json_of(v));
        });
        return text;
    }

    std::string node_text(u32 n) const {
        const discovery::node& node = subnet_.nodes[n];
        const text_style style = style_of(how_.how, in_.options());
        std::string text;
        nodes_[n].for_each([&](const check_result& v) { text += text_of(v, style); });
        if (style.with_good) return fmt::format("\n{}\n{}", node_line("Checking", node), text);
        if (bad_of(nodes_[n].of_node))
            return fmt::format("{}\n# {}: nodeguid 0x{:016x} failed\n", text,
                               discovery::names_of_type(node.info.nodeType).record, value(node.info.nodeGUID));
        return text.empty() ? text : text + node_line("Checked", node) + " with failure\n";
    }

    std::string summary() const {
        std::string text =
            fmt::format("\n## Summary: {} nodes checked, {} bad nodes found\n", totals_.nodes, totals_.bad_nodes);
        const std::string errors = fmt::format("{} ports have errors beyond threshold", totals_.ports_with_errors);
        if (!how_.checks_ports())
            return text + fmt::format("##          {} ports checked, {}\n", totals_.ports, errors);
        text += fmt::format("##          {} ports checked, {} {}\n", totals_.ports, totals_.bad_ports, how_.found);
        return how_.errors ? text + fmt::format("##          {}\n", errors) : text;
    }

    std::string summary_json() const {
        nlohmann::ordered_json all{{"schema", "comad.checks/1"},
                                   {"nodes", totals_.nodes},
                                   {"bad_nodes", totals_.bad_nodes},
                                   {"ports", totals_.ports}};
        if (how_.checks_ports()) all["bad_ports"] = totals_.bad_ports;
        if (how_.errors) all["ports_with_errors"] = totals_.ports_with_errors;
        all["complete"] = found_.missing.empty() && subnet_.complete();
        return json_line(all);
    }

    session& in_;
    const subnet& subnet_;
    const check_subnet_settings& how_;
    error_thresholds thresholds_;
    std::vector<discovery::end_port_ref> end_ports_;
    std::vector<std::optional<mad::result<smp::NodeInfo>>> answers_; // one for each element of end_ports_
    std::vector<node_verdicts> nodes_;
    totals totals_;
    report found_;
};

coro::task<report> check(session& in, const subnet& s, const check_subnet_settings& how) {
    subnet_checker all(in, s, how);
    co_return co_await all.run();
}

/// Declares the arguments of one of these commands, and returns its action.
action declare(arguments& takes, const check_subnet_settings& initial) {
    auto s = std::make_shared<check_subnet_settings>(initial);
    add_check_options(takes, s->how);
    const argument& down = takes.flag("--down", s->with_down);
    takes.ignored_flag("--up").excludes(down);
    if (s->errors) add_threshold_options(takes, s->how);
    return [s](const global_options& options) {
        if (s->how.only_shows_thresholds) return show_thresholds(s->how);
        return run_on_subnet(options, [&](session& in, const subnet& known) { return check(in, known, *s); });
    };
}

} // namespace

command ibchecknet_command() {
    return {.name = "ibchecknet",
            .group = command_group::checks,
            .no_sa_reason = "it checks LIDs, so it queries every node by its directed route",
            .ignores_lids = true,
            .declare = [](arguments& takes) {
                check_subnet_settings s;
                s.ports = {.state = true, .width = true, .speed = true, .addresses = true};
                s.errors = true;
                s.found = "bad ports found";
                return declare(takes, s);
            }};
}
command ibcheckstate_command() {
    return {.name = "ibcheckstate",
            .group = command_group::checks,
            .no_sa_reason = "it checks LIDs, so it queries every node by its directed route",
            .ignores_lids = true,
            .declare = [](arguments& takes) {
                check_subnet_settings s;
                s.ports = {.state = true};
                s.found = "ports with bad state found";
                return declare(takes, s);
            }};
}
command ibcheckwidth_command() {
    return {.name = "ibcheckwidth",
            .group = command_group::checks,
            .no_sa_reason = "it checks LIDs, so it queries every node by its directed route",
            .ignores_lids = true,
            .declare = [](arguments& takes) {
                check_subnet_settings s;
                s.ports = {.width = true};
                s.found = "ports with less width than possible found";
                return declare(takes, s);
            }};
}
command ibcheckerrors_command() {
    return {.name = "ibcheckerrors",
            .group = command_group::checks,
            .no_sa_reason = "it checks LIDs, so it queries every node by its directed route",
            .ignores_lids = true,
            .declare = [](arguments& takes) {
                check_subnet_settings s;
                s.errors = true;
                return declare(takes, s);
            }};
}

} // namespace ibtool
