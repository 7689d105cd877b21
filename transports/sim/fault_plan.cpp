// SPDX-License-Identifier: MIT
// fault_plan.cpp - parses the faults of a simulation, such as sw-0001/2@5ms, and selects random nodes.
#include "fault_plan.hpp"

#include "rates.hpp"
#include "split_mix.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/link_words.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace comad::transports::sim {
namespace {

constexpr u32 no_node = topology::no_node;

bool has_port(topology_event::kind what) noexcept {
    return what == topology_event::kind::cut || what == topology_event::kind::restore;
}

/// The two parts of a value.
struct halves {
    std::string_view front, rest;
};
/// Splits at the last `at`, because names may contain this character.
std::optional<halves> split(std::string_view text, char at) noexcept {
    const auto where = text.rfind(at);
    if (where == text.npos) return std::nullopt;
    return halves{text.substr(0, where), text.substr(where + 1)};
}

/// Returns a share of nodes if the whole text is a number; otherwise it is a name.
std::optional<double> share_in(const spec& s, std::string_view key, std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return s.to_probability(key, text);
}

/// Returns a random selection of this share of all nodes except `excluded`, with equal probability.
std::vector<u32> draw(const topology& t, double share, u32 excluded, u64& random) {
    const u64 candidates = t.nodes.size() - (excluded == no_node ? 0 : 1);
    u64 left = candidates, wanted = static_cast<u64>(std::llround(share * static_cast<double>(candidates)));
    std::vector<u32> drawn;
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        if (n == excluded) continue;
        if (split_mix(random) % left-- >= wanted) continue;
        drawn.push_back(n);
        --wanted;
    }
    return drawn;
}

constexpr std::array<std::pair<std::string_view, u8>, 10> ability_names{{
    {"full", pma_ability::all},
    {"basic", pma_ability::none},
    {"all", pma_ability::all_ports},
    {"wait", pma_ability::xmit_wait},
    {"qp1", pma_ability::qp1_dropped},
    {"wide", pma_ability::extended},
    {"unicast", pma_ability::unicast},
    {"errors", pma_ability::extended_errors},
    {"groups", pma_ability::groups},
    {"rsfec", pma_ability::RS_FEC},
}};

/// Parses names that are joined by +.
u8 capabilities_in(const spec& s, std::string_view text) {
    u8 capabilities = pma_ability::none;
    while (!text.empty()) {
        const auto name = text.substr(0, text.find('+'));
        text.remove_prefix(std::min(name.size() + 1, text.size()));
        const auto found =
            std::find_if(ability_names.begin(), ability_names.end(), [&](const auto& a) { return a.first == name; });
        if (found == ability_names.end()) {
            std::vector<std::string_view> known;
            for (const auto& a : ability_names) known.push_back(a.first);
            s.fail(fmt::format("pma: unknown ability '{}'; expected one or more of {}, separated by +", name,
                               fmt::join(known, ", ")));
        }
        capabilities |= found->second;
    }
    return capabilities;
}

} // namespace

u32 find_node(const spec& s, const topology& t, std::string_view key, std::string_view name) {
    const auto found = t.find(name);
    if (!found) {
        s.fail(fmt::format("{}={}: unknown node; expected an id, a description or a GUID (0x...), such as {}", key,
                           name, t.nodes.front().id));
    }
    return *found;
}

fault_plan::fault_plan(spec& s)
    : spec_(s), slow_(s.take_all("slow")), dead_(s.take_all("dead")), pma_(s.take_all("pma")),
      ticks_(s.take_all("tick")), flows_(s.take_all("flow")), congestion_(s.take_all("cc")),
      adaptive_(s.take_all("ar")), managers_(s.take_all("manager")), flap_(s.take_all("flap")),
      bit_errors_(s.take_all("ber")) {
    reductions_.push_back({"link", ", width and speed", "1xQDR", true, true, s.take_all("link")});
    reductions_.push_back({"narrow", " and width", "1x", true, false, s.take_all("narrow")});
    reductions_.push_back({"speed", " and speed", "QDR", false, true, s.take_all_with("speed", ':')});
    using enum topology_event::kind;
    for (const auto& [key, what] : {std::pair("cut", cut), {"restore", restore}, {"kill", kill}, {"revive", revive}})
        timed_.push_back({key, what, s.take_all(key)});
}

void fault_plan::apply(fabric& net, u32 here, u64 seed) const {
    u64 random = ~seed; // independent of the random numbers for MADs
    for (const auto value : slow_) slow_down(net, value, random);
    for (const auto value : dead_) kill(net, value, here, random);
    for (const auto value : pma_) set_pma(net, value, random);
    for (const auto value : ticks_) set_tick(net, value, random);
    for (const auto value : flows_) start_flow(net, value); // after the ticks, which are the unit of waiting
    for (const auto value : congestion_) set_congestion(net, value, random);
    for (const auto value : adaptive_) set_adaptive_routing(net, value, random);
    for (const auto value : managers_) set_manager(net, value);
    for (const timed& t : timed_) {
        for (const auto value : t.values) {
            const moment m = moment_of(net.graph(), t.key, t.what, value);
            net.apply_at(net.now() + spec_.to_duration(t.key, m.when), m.what);
        }
    }
    for (const auto value : flap_) flap(net, value);
    for (const auto value : bit_errors_) set_bit_error_rate(net, value);
}

void fault_plan::slow_down(fabric& net, std::string_view value, u64& random) const {
    const auto parts = split(value, ':');
    if (!parts)
        spec_.fail(fmt::format("slow={} has no time; expected NODE:TIME or FRACTION:TIME, such as 0.1:1ms", value));
    const mad::duration time = spec_.to_duration("slow", parts->rest);
    for (const u32 n : nodes_of(net.graph(), "slow", parts->front, no_node, random)) net.set_service_time(n, time);
}

void fault_plan::kill(fabric& net, std::string_view value, u32 here, u64& random) const {
    for (const u32 n : nodes_of(net.graph(), "dead", value, here, random)) net.apply({topology_event::kind::kill, n});
}

/// Parses ABILITIES or NODE:ABILITIES; a share of nodes can replace NODE.
void fault_plan::set_pma(fabric& net, std::string_view value, u64& random) const {
    const auto parts = split(value, ':').value_or(halves{"1", value});
    const u8 capabilities = capabilities_in(spec_, parts.rest);
    for (const u32 n : nodes_of(net.graph(), "pma", parts.front, no_node, random)) net.set_pma(n, capabilities);
}

/// Parses TICK or NODE:TICK; a share of nodes can replace NODE.
void fault_plan::set_tick(fabric& net, std::string_view value, u64& random) const {
    const auto parts = split(value, ':').value_or(halves{"1", value});
    const auto tick = static_cast<u8>(spec_.to_number("tick", parts.rest, 0, 255));
    for (const u32 n : nodes_of(net.graph(), "tick", parts.front, no_node, random)) net.set_tick(n, tick);
}

/// Parses NODE/PORT:UTILIZATION:CONGESTION.
void fault_plan::start_flow(fabric& net, std::string_view value) const {
    const auto congestion_apart = split(value, ':');
    const auto utilization_apart = congestion_apart ? split(congestion_apart->front, ':') : std::nullopt;
    const auto node_port = utilization_apart ? split(utilization_apart->front, '/') : std::nullopt;
    if (!node_port)
        spec_.fail(fmt::format("flow={} is incomplete; expected NODE/PORT:UTILIZATION:CONGESTION, such as "
                               "NODE/PORT:0.8:0.1",
                               value));
    const cable_end at = cable_at(net.graph(), "flow", value, node_port->front, node_port->rest);
    net.carry_from(at.node, at.port, spec_.to_probability("flow", utilization_apart->rest),
                   spec_.to_probability("flow", congestion_apart->rest));
}

namespace {

/// Logs an event of the node between two random hosts.
void log_event(fabric& net, u32 n, u64& random) {
    const node& at = net.graph().nodes[n];
    const auto draw_up_to = [&](u64 most) { return 1 + split_mix(random) % most; };
    const auto draw_lid = [&] { return iba::lid{static_cast<u16>(draw_up_to(net.graph().nodes.size()))}; };
    const u8 SL = split_mix(random) & 0xf;
    if (at.is_switch()) {
        const auto port = static_cast<unsigned>(draw_up_to(at.num_ports()));
        iba::cc::CongestionLogEventSwitch e;
        e.SLID = draw_lid();
        e.DLID = draw_lid();
        e.SL = SL;
        return net.log_congestion(n, port, e);
    }
    constexpr u64 highest_qp = 0xfffffe;
    iba::cc::CongestionLogEventCA e;
    e.localQP = static_cast<u32>(draw_up_to(highest_qp));
    e.remoteQP = static_cast<u32>(draw_up_to(highest_qp));
    e.SL = SL;
    e.remoteLID = draw_lid();
    net.log_congestion(n, default_port(at), e);
}

} // namespace

/// Parses WHAT or NODE:WHAT; a share of nodes can replace NODE.
void fault_plan::set_congestion(fabric& net, std::string_view value, u64& random) const {
    const auto parts = split(value, ':').value_or(halves{"1", value});
    const bool has_none = parts.rest == "none";
    const u64 events = has_none ? 0 : spec_.to_number("cc", parts.rest, 0, 1'000'000);
    for (const u32 n : nodes_of(net.graph(), "cc", parts.front, no_node, random)) {
        net.set_congestion_control(n, !has_none);
        for (u64 e = 0; e < events; ++e) log_event(net, n, random);
    }
}

void fault_plan::set_adaptive_routing(fabric& net, std::string_view value, u64& random) const {
    for (const u32 n : nodes_of(net.graph(), "ar", value, no_node, random)) net.set_adaptive_routing(n, true);
}

/// Parses NODE:STATE:PRIORITY.
void fault_plan::set_manager(fabric& net, std::string_view value) const {
    constexpr std::array<std::pair<std::string_view, iba::SMState>, 4> states{
        {{"notactive", iba::SMState::NotActive},
         {"discovering", iba::SMState::Discovering},
         {"standby", iba::SMState::Standby},
         {"master", iba::SMState::Master}}};
    const auto priority_apart = split(value, ':');
    const auto state_apart = priority_apart ? split(priority_apart->front, ':') : std::nullopt;
    const auto state = std::find_if(states.begin(), states.end(),
                                    [&](const auto& s) { return state_apart && s.first == state_apart->rest; });
    if (state == states.end())
        spec_.fail(
            fmt::format("manager={} has no valid state and priority; expected NODE:STATE:PRIORITY with notactive, "
                        "discovering, standby or master, and 0..15, such as NODE:master:5",
                        value));
    const u64 priority = spec_.to_number("manager", priority_apart->rest, 0, 15);
    const u32 n = find_node(spec_, net.graph(), "manager", state_apart->front);
    net.set_manager(n, default_port(net.graph().nodes[n]), state->second, static_cast<u8>(priority));
}

/// Returns a random selection of a share of all nodes, or the one node with this name.
std::vector<u32> fault_plan::nodes_of(const topology& t, std::string_view key, std::string_view text, u32 excluded,
                                      u64& random) const {
    if (const auto share = share_in(spec_, key, text)) return draw(t, *share, excluded, random);
    return {find_node(spec_, t, key, text)};
}

/// Parses NODE/PORT@WHEN or NODE@WHEN.
fault_plan::moment fault_plan::moment_of(const topology& t, std::string_view key, topology_event::kind what,
                                         std::string_view value) const {
    const auto parts = split(value, '@');
    const auto node_port = parts && has_port(what) ? split(parts->front, '/') : std::nullopt;
    if (!parts || (has_port(what) && !node_port)) {
        const auto form = key == "flap" ? "NODE/PORT@5ms:1ms:10ms" : has_port(what) ? "NODE/PORT@5ms" : "NODE@5ms";
        spec_.fail(fmt::format("{}={} is incomplete; expected {}", key, value, form));
    }
    if (!node_port) return {{what, find_node(spec_, t, key, parts->front)}, parts->rest};
    const cable_end at = cable_at(t, key, value, node_port->front, node_port->rest);
    return {{what, at.node, at.port}, parts->rest};
}

fault_plan::cable_end fault_plan::cable_at(const topology& t, std::string_view key, std::string_view value,
                                           std::string_view name, std::string_view number) const {
    const u32 where = find_node(spec_, t, key, name);
    const node& n = t.nodes[where];
    unsigned port = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port);
    const bool is_number = error == std::errc{} && end == number.data() + number.size();
    if (!is_number || port == 0 || port > n.num_ports() || !n.ports[port].linked()) {
        spec_.fail(fmt::format("{}={}: no cable at port {} of '{}', whose ports are 1..{}", key, value, number,
                               n.description, n.num_ports()));
    }
    return {where, port};
}

void fault_plan::degrade(topology& t) const {
    for (const reduction& r : reductions_)
        for (const auto value : r.values) reduce(t, r, value);
}

/// Parses NODE/PORT:1xQDR, NODE/PORT:1x or NODE/PORT:QDR.
void fault_plan::reduce(topology& t, const reduction& r, std::string_view value) const {
    const auto parts = split(value, ':');
    const auto node_port = parts ? split(parts->front, '/') : std::nullopt;
    link_codes wanted;
    if (parts && r.has_width && r.has_speed) {
        const iba::link_word link = iba::parse_link_word(parts->rest);
        wanted = {comad::iba::value(link.width), static_cast<u16>(link.speed)};
    } else if (parts) {
        wanted.width = r.has_width ? width_code(parts->rest).value_or(0) : u8{0};
        wanted.speed = r.has_speed ? speed_code(parts->rest).value_or(0) : u16{0};
    }
    if (!node_port || (r.has_width && wanted.width == 0) || (r.has_speed && wanted.speed == 0))
        spec_.fail(fmt::format("{}={} is incomplete; expected NODE/PORT{}, such as NODE/PORT:{}", r.key, value, r.form,
                               r.example));
    const cable_end at = cable_at(t, r.key, value, node_port->front, node_port->rest);
    port& here = t.nodes[at.node].ports[at.port];
    port& there = t.nodes[here.peer_node].ports[here.peer_port];
    if (!r.has_width) wanted.width = here.active.width;
    if (!r.has_speed) wanted.speed = here.active.speed;
    for (const port* end : {&here, &there}) {
        if ((end->supported.width & wanted.width) == 0 || (end->supported.speed & wanted.speed) == 0)
            spec_.fail(fmt::format("{}={}: {} is not supported by both ports", r.key, value, parts->rest));
    }
    const bool has_both = r.has_width && r.has_speed;
    if (!has_both && signaling_rate(wanted) >= signaling_rate(here.active))
        spec_.fail(fmt::format("{}={}: the link runs at {}{}, which {} does not reduce", r.key, value,
                               width_name(here.active.width), speed_name(here.active.speed), parts->rest));
    here.active = there.active = wanted;
}

/// Parses NODE/PORT:RATE.
void fault_plan::set_bit_error_rate(fabric& net, std::string_view value) const {
    constexpr double highest = 0.1;
    const auto parts = split(value, ':');
    const auto node_port = parts ? split(parts->front, '/') : std::nullopt;
    if (!node_port)
        spec_.fail(fmt::format("ber={} is incomplete; expected NODE/PORT and a bit error rate, such as NODE/PORT:1e-12",
                               value));
    const cable_end at = cable_at(net.graph(), "ber", value, node_port->front, node_port->rest);
    const double rate = spec_.to_probability("ber", parts->rest);
    if (rate > highest) spec_.fail(fmt::format("ber={} is too high; must be 0..{}", value, highest));
    net.set_bit_error_rate(at.node, at.port, rate);
}

void fault_plan::flap(fabric& net, std::string_view value) const {
    const moment m = moment_of(net.graph(), "flap", topology_event::kind::cut, value);
    const auto period_apart = split(m.when, ':');
    const auto down_apart = period_apart ? split(period_apart->front, ':') : std::nullopt;
    if (!down_apart) {
        spec_.fail(fmt::format("flap={} needs three times; expected FIRST:DOWN:PERIOD, such as 5ms:1ms:10ms", value));
    }
    const auto first = net.now() + spec_.to_duration("flap", down_apart->front);
    const mad::duration down = spec_.to_duration("flap", down_apart->rest);
    const mad::duration period = spec_.to_duration("flap", period_apart->rest);
    if (down.count() == 0 || down >= period) {
        spec_.fail(fmt::format("flap={}: DOWN must be more than 0 and less than PERIOD", value));
    }
    net.apply_every(period, first, m.what);
    net.apply_every(period, first + down, {topology_event::kind::restore, m.what.node, m.what.port});
}

} // namespace comad::transports::sim
