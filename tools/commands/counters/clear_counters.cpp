// SPDX-License-Identifier: MIT
// clear_counters.cpp - ibclearcounters, ibclearerrors: the counters of a whole subnet begin anew. They write, and nothing
// else than that.
#include "comad.hpp"
#include "command.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <set>

namespace ibtool {
namespace {

using discovery::subnet;

enum class kind : u8 { all_of_them, errors };

struct clear_counters_settings {
    kind what;
    bool json = false;
};

/// A Set that was made: which counters of which group.
struct cleared_group {
    const counter_group* group;
    u64 select;
};

/// What became of the counters behind an end port.
struct clearing_outcome {
    std::vector<cleared_group> groups;
    std::vector<u8> ports;                                    ///< as in portSelect
    std::vector<clearing_problem> problems;                   ///< of ports
    std::string problem = "not cleared: no request was sent"; ///< of all of them; empty: they were asked
    std::string cause{};                                      ///< of `problem`, as discovery::failure has it
};

class clearing_task {
public:
    clearing_task(session& in, const subnet& s, const clear_counters_settings& how) : in_(in), subnet_(s), how_(how) {}

    coro::task<report> run() {
        end_ports_ = discovery::end_ports(subnet_);
        outcomes_.resize(end_ports_.size());
        co_await in_.schedule().mqueue(queries());
        write_report();
        co_return std::move(found_);
    }

private:
    coro::generator<coro::task<void>> queries() {
        for (std::size_t i = 0; i < end_ports_.size(); ++i) co_yield clear(end_ports_[i], outcomes_[i]);
    }

    coro::task<void> clear(const discovery::end_port_ref& e, clearing_outcome& o) {
        if (!e.has_lid()) {
            o.problem = "not cleared: no LID";
            co_return;
        }
        const auto fails = [&](const comad::mad::mad_error& error) {
            o.problem = "not cleared: " + to_string(error);
            o.cause = "not cleared: " + cause_text(error);
        };
        auto info = co_await in_.schedule().PerformanceGet<iba::ClassPortInfo>(e.path, 0, short_patience);
        if (!info) {
            fails(info.error());
            co_return;
        }
        const bool is_at_once =
            counters::capabilities::of(info.value()).all_ports && subnet_.nodes[e.where.node].is_switch();
        o.ports = is_at_once ? std::vector<u8>{all_ports} : e.ports;
        std::vector<const counter_group*> groups{&port_counters};
        if (&data_counters(info.value()) != &port_counters) groups.push_back(&data_counters(info.value()));
        for (const counter_group* g : groups) {
            const u64 select =
                how_.what == kind::errors ? error_counters(*g, info.value()) : all_counters(*g, info.value());
            if (select == 0) continue;
            o.groups.push_back({g, select});
            for (const u8 port : o.ports) {
                const std::vector<u8> checked = is_at_once ? e.ports : std::vector<u8>{port};
                auto clears = clear_counters(in_, {{e.path, info.value()}, g, port, checked, select, short_patience});
                auto done = co_await std::move(clears);
                if (!done && is_at_once) {
                    fails(done.error());
                    co_return;
                }
                if (!done) { // the other ports are cleared all the same
                    o.problems.push_back(
                        {port, "not cleared: " + to_string(done.error()), "not cleared: " + cause_text(done.error())});
                    continue;
                }
                for (clearing_problem& p : done.value()) o.problems.push_back(std::move(p));
            }
        }
        o.problem.clear();
    }

    void write_report() {
        std::set<u32> cleared, failed;
        std::size_t ports = 0, failures = 0;
        for (std::size_t i = 0; i < end_ports_.size(); ++i) {
            const discovery::end_port_ref& e = end_ports_[i];
            const clearing_outcome& o = outcomes_[i];
            std::set<u8> wrong; // ports
            for (const clearing_problem& p : o.problems) {
                wrong.insert(p.port);
                found_.missing.push_back(of_write(missing_at(subnet_, {e.where.node, p.port}, p.text, p.cause)));
            }
            if (!o.problem.empty())
                found_.missing.push_back(of_write(missing_at(subnet_, e.where, o.problem, o.cause)));
            if (!o.problem.empty() || !wrong.empty()) failed.insert(e.where.node);
            failures += wrong.size() + !o.problem.empty();
            if (!o.problem.empty()) continue;
            cleared.insert(e.where.node);
            ports += e.ports.size() - wrong.size();
            add_lines(e, o, wrong);
        }
        std::erase_if(cleared, [&](u32 n) { return failed.contains(n); });
        if (how_.json)
            found_.text +=
                json_line({{"nodes_cleared", cleared.size()}, {"ports_cleared", ports}, {"failures", failures}});
        else
            found_.text +=
                fmt::format("\n## Summary: {} nodes cleared {} errors\n##          {} port counters cleared\n",
                            cleared.size(), failures, ports);
    }

    void add_lines(const discovery::end_port_ref& e, const clearing_outcome& o, const std::set<u8>& wrong) {
        for (const u8 port : o.ports) {
            if (wrong.contains(port) || (port == all_ports && !wrong.empty())) continue;
            if (how_.json) {
                nlohmann::ordered_json line = place_json(subnet_, e, port);
                for (const cleared_group& c : o.groups) line["cleared"][std::string(c.group->name)] = c.select;
                found_.text += json_line(line);
            } else if (in_.options().verbosity) {
                found_.text += fmt::format("{} lid {} port {}\n", node_line("Cleared", subnet_.nodes[e.where.node]),
                                           value(e.path.DLID), port);
            }
        }
    }

    session& in_;
    const subnet& subnet_;
    const clear_counters_settings& how_;
    std::vector<discovery::end_port_ref> end_ports_;
    std::vector<clearing_outcome> outcomes_; // of end_ports_
    report found_;
};

coro::task<report> clear(session& in, const subnet& s, const clear_counters_settings& how) {
    clearing_task all(in, s, how);
    co_return co_await all.run();
}

action declare(arguments& takes, kind k) {
    auto s = std::make_shared<clear_counters_settings>();
    s->what = k;
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
            .declare = [](arguments& takes) { return declare(takes, kind::all_of_them); }};
}
command ibclearerrors_command() {
    return {.name = "ibclearerrors", .group = command_group::counters, .writes = true, .declare = [](arguments& takes) {
                return declare(takes, kind::errors);
            }};
}

} // namespace ibtool
