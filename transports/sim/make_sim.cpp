// SPDX-License-Identifier: MIT
// make_sim.cpp - creates a simulation from the text that a user typed.
#include "fault_plan.hpp"
#include "generate.hpp"
#include "mellanox.hpp"
#include "spec.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace comad::transports::sim {
namespace {

std::istringstream open(const std::string& name) {
    try {
        return iba::open_text_file(name);
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("{}; expected a topology file as printed by ibnetdiscover, or one of {}",
                                             e.what(), topology_kinds()));
    }
}

/// Checks that FDR10 links can be detected. PortInfo reports FDR10 as QDR, and a discovery queries only the same
/// devices as infiniband-diags for the difference. A link of another device would appear as QDR.
void check_fdr10(const topology& t, std::string_view name) {
    for (const node& n : t.nodes) {
        for (unsigned i = 1; i <= n.num_ports(); ++i) {
            if (!n.ports[i].active.has_fdr10() || can_report_fdr10(n)) continue;
            throw std::runtime_error(fmt::format(
                "{}: port {} of \"{}\" runs at FDR10, which discovery cannot detect on a device with vendid {:#x} and "
                "devid {:#x}; set vendid=0x2c9 and devid=0xc738 (switch) or 0x1003 (adapter), or change the speed",
                name, i, iba::escaped(n.id), n.vendorID, n.deviceID));
        }
    }
}

topology topology_of(spec& s, std::vector<std::string>& notes) {
    const auto strict = s.take_word("strict");
    if (strict && !strict->empty()) s.fail("strict takes no value");
    if (is_topology_kind(s.head())) return generate(s);
    s.finish();
    const std::string name(s.head());
    std::istringstream file = open(name);
    std::string skipped;
    topology read = read_topology(file, name, strict ? nullptr : &skipped);
    if (!skipped.empty()) notes.push_back(fmt::format("{}: {}", iba::escaped(name), skipped));
    check_fdr10(read, name);
    return read;
}

load load_of(spec& s, u64 seed) {
    load carried;
    carried.seed = seed;
    if (const auto packets = s.take("traffic")) carried.packets = s.to_rate("traffic", *packets);
    if (const auto errors = s.take("errors")) {
        const auto colon = errors->find(':');
        if (colon != errors->npos) carried.bad_cables = s.to_probability("errors", errors->substr(0, colon));
        carried.symbol_errors = s.to_rate("errors", errors->substr(colon == errors->npos ? 0 : colon + 1));
    }
    return carried;
}

std::optional<kernel_options> kernel_of(spec& s) {
    const auto release = s.take_word("kernel");
    if (!release) return std::nullopt;
    kernel_options options;
    options.is_capped = *release == "2025";
    if (!options.is_capped && !release->empty() && *release != "2024")
        s.fail(fmt::format("kernel={} is unknown; expected kernel, kernel=2024 or kernel=2025", *release));
    return options;
}

} // namespace

simulation make_sim(std::string_view specification, time_mode mode) {
    spec s(specification);
    timing times;
    times.hop_delay = s.take_duration("latency", times.hop_delay);
    times.delay = s.take_duration("delay", times.delay);
    times.jitter = s.take_duration("jitter", times.jitter);
    times.service_time = s.take_duration("service", times.service_time);
    times.transit = s.take_duration("transit", times.transit);
    times.buffer = static_cast<unsigned>(s.take_number("buffer", times.buffer, 0, 1'000'000));
    faults wrong;
    wrong.request_loss = wrong.reply_loss = s.take_probability("loss");
    wrong.duplicate = s.take_probability("duplicate");
    wrong.reorder = s.take_probability("reorder");
    wrong.busy = s.take_probability("busy");
    wrong.garbage = s.take_probability("garbage");
    wrong.seed = s.take_number("seed", wrong.seed, 0, ~u64{0});
    const auto at = s.take("at");
    const auto port = s.take_number("port", 0, 0, topology::max_ports);
    const u64 key = s.take_number("keys", 0, 0, ~u64{0});
    const fault_plan planned(s);
    const load carried = load_of(s, wrong.seed);
    wrong.counter_seed = s.take_number("counters", wrong.counter_seed, 0, ~u64{0});
    const auto manager = s.take("sm").value_or("0");
    const auto routes = s.take_choice("routes", "shortest", {"shortest", "spread"});
    const mad::duration sweep = s.take_duration("sweep", {});
    const auto clock = s.take_choice("time", mode == time_mode::real ? "real" : "virtual", {"real", "virtual"});
    const auto kernel = kernel_of(s);
    if (kernel && clock == "real") s.fail("kernel needs virtual time; add time=virtual");

    simulation made;
    topology t = topology_of(s, made.notes);
    planned.degrade(t);
    const u32 here = at ? find_node(s, t, "at", *at) : t.default_node();
    if (manager != "0" && value(t.sm_lid) == 0) bring_up(t, manager == "1" ? here : find_node(s, t, "sm", manager));
    const unsigned by = port != 0 ? static_cast<unsigned>(port) : default_port(t.nodes[here]);

    if (value(t.sm_lid) == 0 && (routes != "shortest" || sweep.count() != 0))
        s.fail(fmt::format("{} needs a subnet manager; add sm=1", sweep.count() != 0 ? "sweep" : "routes"));
    made.fabric = std::make_unique<fabric>(std::move(t), times, wrong);
    made.place = std::make_unique<sim_transport>(*made.fabric, here, by,
                                                 clock == "real" ? time_mode::real : time_mode::virtual_);
    made.transport = made.place.get();
    if (kernel) {
        made.kernel = std::make_unique<kernel_model>(*made.place, *kernel);
        made.transport = made.kernel.get();
    }
    if (key != 0) made.fabric->set_keys(key);
    made.fabric->carry(carried);
    if (routes == "spread") made.fabric->spread_routes();
    if (sweep.count() != 0)
        made.fabric->apply_every(sweep, made.fabric->now() + sweep, {topology_event::kind::sweep, here});
    planned.apply(*made.fabric, here, wrong.seed);
    return made;
}

} // namespace comad::transports::sim
