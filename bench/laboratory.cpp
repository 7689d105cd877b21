// SPDX-License-Identifier: MIT
// laboratory.cpp - a program that runs experiments on simulated subnets, chosen by name, and prints tables or JSON.
#include "experiments.hpp"
#include <comad/iba/detail/json.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace comad::bench {
namespace {

/// An experiment, with its name on the command line.
struct experiment {
    std::string_view name;
    table (*run)(const settings&);
};
constexpr std::array<experiment, 7> experiments{{{"loss", try_loss},
                                                 {"sets", try_sets},
                                                 {"buffers", try_buffers},
                                                 {"bound", try_bound},
                                                 {"neighbour", try_neighbour},
                                                 {"scale", try_scale},
                                                 {"endurance", try_endurance}}};

void run(const settings& s, const std::vector<std::string>& wanted, bool as_json) {
    const auto& o = s.schedule;
    nlohmann::ordered_json all{
        {"window", o.max_outstanding},
        {"per_destination", o.per_destination},
        {"timeout_ms", in_ms(o.timeout)},
        {"retries", o.retries < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(o.retries)},
        {"seeds", s.seeds}};
    if (s.kernel) all["kernel"] = s.kernel->is_capped ? 2025 : 2024;
    if (!as_json)
        fmt::print("window {}, {} per destination, timeout {:g} ms, {}{}; medians of {} runs (least..most)\n",
                   o.max_outstanding, o.per_destination, in_ms(o.timeout),
                   o.retries < 0 ? "retries as needed" : fmt::format("{} retries", o.retries),
                   s.kernel ? fmt::format(", kernel {}", all["kernel"].get<unsigned>()) : "", s.seeds);
    for (const experiment& e : experiments) {
        const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(), e.name) != wanted.end();
        if (!is_wanted) continue;
        const table results = e.run(s);
        if (as_json) all["experiments"][std::string(e.name)] = results.json();
        else results.print();
    }
    if (as_json) fmt::print("{}", iba::detail::json_document(all));
}

} // namespace
} // namespace comad::bench

int main(int argc, char** argv) {
    using namespace comad;
    bench::settings s;
    std::vector<std::string> wanted;
    bool as_json = false;
    unsigned timeout_ms = 0, kernel = 0;
    CLI::App app{"Experiments on simulated subnets."};
    std::vector<std::string> names;
    for (const auto& e : bench::experiments) names.emplace_back(e.name);
    app.add_option("experiment", wanted, "which ones; all unless given")->check(CLI::IsMember(names));
    app.add_flag("--json", as_json, "one object instead of tables");
    app.add_option("--window", s.schedule.max_outstanding, "MADs in flight")
        ->check(CLI::Range(0u, 65536u))
        ->capture_default_str();
    app.add_option("--per-destination", s.schedule.per_destination, "of them, SMPs to one node; 0: any number")
        ->capture_default_str();
    app.add_option("--timeout", timeout_ms, "ms for each attempt; 0: as the schedule decides")->capture_default_str();
    app.add_option("--retries", s.schedule.retries, "attempts after the first; as the schedule decides unless given")
        ->check(CLI::Range(0, 255));
    app.add_option(
           "--kernel", kernel,
           "the programs use umad over a modeled Linux kernel, with the limits until 2024, or since 2025; not scale")
        ->check(CLI::IsMember({2024u, 2025u}));
    app.add_option("--seeds", s.seeds, "runs of everything that chance has a part in")
        ->check(CLI::Range(1u, 1000u))
        ->capture_default_str();
    app.add_option("--millions", s.million_mads, "MADs of the endurance run")
        ->check(CLI::Range(0.001, 100000.0))
        ->capture_default_str();
    app.add_flag("--small", s.is_small, "small subnets, to see that it works");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    s.schedule.timeout = std::chrono::milliseconds(timeout_ms);
    if (kernel != 0) s.kernel.emplace().is_capped = kernel == 2025;
    try {
        bench::run(s, wanted, as_json);
    } catch (const std::exception& e) {
        fmt::print(stderr, "laboratory: {}\n", e.what());
        return 1;
    }
}
