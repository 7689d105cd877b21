// SPDX-License-Identifier: MIT
// export.cpp - export: the subnet, discovered or of a topology file, in the form of another program.
#include "command.hpp"
#include "session/report.hpp"
#include "session/subnet_command.hpp"
#include "session/subnet_queries.hpp"
#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include "text/subnet_page.hpp"
#include <comad/discovery/exports.hpp>

#include <memory>
#include <utility>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace counters = comad::counters;

struct export_settings {
    std::string format, topology, name_map, file;
    bool errors = false;
};

/// The text; what the form cannot say goes to stderr.
std::string exported(const std::string& format, const discovery::subnet& s, const discovery::node_names& names,
                     const counters::sweep* errors) {
    if (format == "json") return discovery::json_text(s);
    if (format == "topology") return discovery::topology_text(s, names, {});
    if (format == "dot") return discovery::dot_text(s, names);
    if (format == "svg") return discovery::svg_text(s, names);
    if (format == "html") return subnet_page(s, names, errors);
    discovery::export_text said = format == "slurm" ? slurm_conf_text(s, names) : slurm_yaml_text(s, names);
    for (const std::string& note : said.notes) print_message("{}", note);
    return std::move(said.text);
}

/// A task that is not started yet must own what it sweeps with.
comad::coro::task<counters::sweep> sweep_errors(session& in, const discovery::subnet& s) {
    counters::sweep_options how;
    how.counters = counters::counters_that(counters::is_error);
    counters::sweeper sweeper(in.schedule(), s, std::move(how));
    counters::sweep read = co_await sweeper.run();
    co_return read;
}

comad::coro::task<report> with_errors(session& in, const discovery::subnet& found, const export_settings& s,
                                      const discovery::node_names& names) {
    const counters::sweep errors = co_await sweep_errors(in, found);
    report made;
    for (const counters::gap& g : errors.gaps) made.missing.push_back(missing_of(found, g));
    made.text = exported(s.format, found, names, &errors);
    if (!s.file.empty()) write_output(std::exchange(made.text, {}), s.file);
    co_return made;
}

int run_export(const export_settings& s, const global_options& options) {
    const discovery::node_names names = read_node_names(s.name_map);
    if (!s.topology.empty()) {
        write_output(exported(s.format, read_subnet(s.topology), names, nullptr), s.file);
        return complete;
    }
    if (s.errors)
        return discover_and_ask(
            options, [&](session& in, const discovery::subnet& found) { return with_errors(in, found, s, names); });
    return discover_and_report(
        options, [&](const discovery::subnet& found, comad::u64) { return exported(s.format, found, names, nullptr); },
        s.file);
}

} // namespace

command export_command() {
    return {.name = "export",
            .group = command_group::subnet,
            .summary = "the subnet for GraphViz, Slurm, a browser, as a picture or JSON",
            .examples = "export --format html --errors fabric.html\nexport --format slurm topology.conf\n"
                        "export --format dot --topology fabric.topo",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<export_settings>();
                takes.option("file", s->file, "write to this file instead of stdout");
                takes.option("--format", s->format, "what to write")
                    .one_of({"json", "topology", "dot", "slurm", "slurm-yaml", "svg", "html"});
                takes.flag(
                    "--json", [s] { s->format = "json"; }, "same as --format json");
                const argument& topology =
                    takes.option("--topology", s->topology, "of the subnet in this topology file; no MAD is sent")
                        .value_name("FILE");
                takes.flag("--errors", s->errors, "with html: read all error counters, colour links by them")
                    .excludes(topology);
                add_name_map_option(takes, s->name_map);
                return [s](const global_options& options) {
                    if (s->format.empty()) throw usage_error("export: --format is missing; it is what to write");
                    if (s->errors && s->format != "html")
                        throw usage_error("export: --errors means nothing but with html");
                    return run_export(*s, options);
                };
            }};
}

} // namespace ibtool
