// SPDX-License-Identifier: MIT
// export.cpp - export: converts a subnet, discovered or from a topology file, to the format of another program.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "session/run_on_subnet.hpp"
#include "session/selection.hpp"
#include "session/subnet_queries.hpp"
#include "text/fabric_label.hpp"
#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include "text/subnet_page.hpp"
#include <comad/discovery/compare/detail/cabling.hpp>
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

namespace ibtool {
namespace {

/// The command line of export.
struct export_settings {
    std::string format, topology, name_map, file, definitions;
    selection_options selected;
    bool errors = false, json = false;

    bool is_for_scheduler() const;
};

/// A format for a job scheduler, with a selection of hosts.
struct scheduler_format {
    std::string_view name;
    discovery::export_text (*make)(const discovery::subnet&, const discovery::node_names&,
                                   const discovery::node_selection&);
};
constexpr std::array<scheduler_format, 4> scheduler_formats{{{"slurm", discovery::format_slurm_conf},
                                                             {"slurm-yaml", discovery::format_slurm_yaml},
                                                             {"topograph", discovery::format_topograph},
                                                             {"flux", discovery::format_flux}}};

const scheduler_format* find_scheduler_format(std::string_view name) {
    const auto found = std::ranges::find(scheduler_formats, name, &scheduler_format::name);
    return found == scheduler_formats.end() ? nullptr : &*found;
}

bool export_settings::is_for_scheduler() const { return find_scheduler_format(format) != nullptr; }

/// Returns the text for a scheduler. Prints on stderr what its format cannot express.
std::string format_for_scheduler(const std::string& format, const discovery::subnet& s,
                                 const discovery::node_names& names, const subnet_selection& what) {
    const selected_parts parts(what, s, names);
    parts.require_nodes();
    for (const std::string& line : parts.notes()) print_message("{}", line);
    discovery::node_selection selected;
    if (!what.is_all()) {
        const auto index_of = [&s](const discovery::node& n) { return static_cast<u32>(&n - s.nodes.data()); };
        selected.only = [&parts, index_of](const discovery::node& n) { return parts.node(index_of(n)); };
        selected.without = [&](const discovery::node& n) { return what.excludes(n, names); };
    }
    discovery::export_text made = find_scheduler_format(format)->make(s, names, selected);
    if (made.hosts == 0 && !what.is_all())
        throw std::runtime_error("nothing to export: the options select no host, and no switch of a host");
    for (const std::string& note : made.notes) print_message("{}", note);
    return std::move(made.text);
}

/// Returns the topology file of ibutils. Writes the definitions of its systems, if requested.
std::string format_for_ibutils(const export_settings& settings, const discovery::subnet& s,
                               const discovery::node_names& names) {
    discovery::ibutils_files made = format_ibutils_topology(s, names);
    if (!settings.definitions.empty()) {
        std::error_code error;
        std::filesystem::create_directories(settings.definitions, error);
        if (error)
            throw std::runtime_error(fmt::format("cannot create the directory {}: {}",
                                                 iba::as_given(settings.definitions), error.message()));
        for (const auto& [file, text] : made.definitions)
            replace_file(text, (std::filesystem::path(settings.definitions) / file).string());
    }
    return std::move(made.topology);
}

/// Returns the part of a subnet that is exported.
discovery::subnet exported_part(const export_settings& settings, const discovery::subnet& s,
                                const discovery::node_names& names, const subnet_selection& what,
                                std::vector<std::string>* notes) {
    if (settings.is_for_scheduler()) return s; // a topology has the switches above the selected hosts, too
    return reduced(s, what, names, notes, settings.format == "json" || settings.format == "topology");
}

/// Returns the text in the requested format. Prints on stderr what the format cannot express.
std::string exported(const export_settings& settings, const discovery::subnet& s, const discovery::node_names& names,
                     const subnet_selection& what, const counters::sweep* errors = nullptr) {
    const std::string& format = settings.format;
    if (format == "json") return discovery::json_text(s);
    if (format == "topology") return discovery::format_topology(s, names, {});
    if (format == "dot") return discovery::format_dot(s, names);
    if (format == "graphml") return discovery::format_graphml(s, names);
    if (format == "csv") return discovery::format_link_csv(s, names);
    if (format == "lst") return discovery::format_subnet_lst(s, names);
    if (format == "ibdm") return format_for_ibutils(settings, s, names);
    if (format == "svg") return discovery::format_svg(s, names);
    if (format == "cables") return discovery::format_cabling_plan(s, names);
    if (format == "html") return subnet_page(s, names, errors);
    return format_for_scheduler(settings.format, s, names, what);
}

/// Sweeps the error counters. This coroutine owns the sweeper, to which the task of sweeper.run() refers.
comad::coro::task<counters::sweep> sweep_errors(session& in, const discovery::subnet& s) {
    counters::sweep_options how;
    how.counters = counters::counters_that(counters::is_error);
    counters::sweeper sweeper(in.schedule(), s, std::move(how));
    counters::sweep read = co_await sweeper.run();
    co_return read;
}

/// Sweeps the error counters, and exports the subnet with them.
comad::coro::task<report> with_errors(session& in, const discovery::subnet& found, const export_settings& s,
                                      const discovery::node_names& names, const subnet_selection& what) {
    report made;
    const discovery::subnet part = exported_part(s, found, names, what, &made.notes);
    const counters::sweep errors = co_await sweep_errors(in, part);
    for (const discovery::failure& g : errors.failures) made.missing.push_back(missing_of(part, g));
    made.text = exported(s, part, names, what, &errors);
    if (!s.file.empty()) write_output(std::exchange(made.text, {}), s.file);
    co_return made;
}

int run_export(const export_settings& s, const global_options& options) {
    const bool is_of_lines = s.format == "json" || s.format == "csv" || s.format == "topology";
    if (is_labelled() && !is_of_lines)
        throw usage_error(fmt::format("--format {} describes only one fabric; run export for each of them", s.format));
    const discovery::node_names names = read_node_names(s.name_map);
    const subnet_selection what(s.selected);
    const auto make = [&](const discovery::subnet& found, u64) {
        report made;
        const discovery::subnet part = exported_part(s, found, names, what, &made.notes);
        made.text = exported(s, part, names, what);
        return made;
    };
    if (!s.topology.empty()) {
        const discovery::subnet read = read_subnet(s.topology, options, discovery::described_order::discovery);
        return finish(make(read, 0), session_end(options), s.file);
    }
    if (s.errors)
        return run_on_subnet(options, [&](session& in, const discovery::subnet& found) {
            return with_errors(in, found, s, names, what);
        });
    return run_on_subnet(options, subnet_printer{.make = make, .file = s.file});
}

} // namespace

command export_command() {
    return {.name = "export",
            .group = command_group::subnet,
            .per_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<export_settings>();
                takes.option("file", s->file).file(file_use::written);
                takes.option("--format", s->format)
                    .one_of({"json", "topology", "dot", "graphml", "csv", "lst", "ibdm", "slurm", "slurm-yaml",
                             "topograph", "flux", "svg", "html", "cables"});
                takes.flag("--json", s->json);
                const argument& topology = takes.option("--topology", s->topology).file(file_use::read);
                takes.flag("--errors", s->errors).excludes(topology);
                add_selection_options(takes, s->selected);
                takes.option("--ibnl", s->definitions);
                add_name_map_option(takes, s->name_map);
                return [s](const global_options& options) {
                    if (s->json && !s->format.empty() && s->format != "json")
                        throw usage_error(fmt::format("--json excludes --format {}", s->format));
                    if (s->json) s->format = "json";
                    if (s->format.empty())
                        throw usage_error(
                            "--format is missing; expected json, topology, dot, graphml, csv, lst, ibdm, slurm, "
                            "slurm-yaml, topograph, flux, svg, html or cables");
                    if (s->errors && s->format != "html") throw usage_error("--errors requires --format html");
                    if (!s->definitions.empty() && s->format != "ibdm")
                        throw usage_error("--ibnl requires --format ibdm");
                    return run_export(*s, options);
                };
            }};
}

} // namespace ibtool
