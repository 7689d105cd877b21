// SPDX-License-Identifier: MIT
// exported_fabric.cpp - opens ports of the embedded simulator, or clients of an ibsim server, and exports them as devices.
#include "vumad/exported_fabric.hpp"

#include "comad.hpp"
#include "input/options.hpp"
#include "session/fabric.hpp"
#include "session/unreachable_nodes.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace ibtool {
namespace {

namespace sim = comad::transports::sim;
using comad::transports::ibsim_transport;

/// Returns the node and port that `NODE` or `NODE/PORT` names. Throws std::runtime_error if the node does not exist.
sim_place find_place(const sim::topology& graph, const std::string& text) {
    const std::size_t slash = text.rfind('/');
    const auto number = slash == text.npos ? std::nullopt : iba::parse_digits(text.substr(slash + 1), 10);
    auto node = graph.find(number ? text.substr(0, slash) : text);
    if (!node)
        throw std::runtime_error(
            fmt::format("--port: unknown node {}; expected a node id, a description or a GUID (0x...)",
                        iba::as_given(number ? text.substr(0, slash) : text)));
    return {*node, number ? static_cast<unsigned>(number->value) : sim::default_port(graph.nodes[*node])};
}

} // namespace

exported_fabric::exported_fabric(std::string_view text, const std::vector<std::string>& places) {
    const auto named = comad::parse_fabric(text);
    if (named && named.value().kind == comad::fabric_kind::sim) open_sim(named.value().place, places);
    else if (named && named.value().kind == comad::fabric_kind::ibsim) open_ibsim(named.value().place, places);
    else
        throw usage_error(
            fmt::format("vumad needs a simulated fabric: --fabric sim:..., such as sim:fattree2,radix=8, or "
                        "ibsim[:SOCKNAME]; {}",
                        text.empty() ? "none is given" : "not " + iba::as_given(text)));
}

void exported_fabric::add(exported_port port, const std::string& node, unsigned number, vumad::port_place place) {
    auto known = std::ranges::find(nodes_, node);
    if (known == nodes_.end()) known = nodes_.insert(nodes_.end(), node);
    port.described = {fmt::format("vib{}", known - nodes_.begin()), number};
    port.place = number == 0 ? node : fmt::format("{} port {}", node, number);
    const bool is_there = std::ranges::any_of(ports_, [&](const exported_port& p) {
        return p.described.device == port.described.device && p.described.port == port.described.port;
    });
    if (is_there) throw std::runtime_error(fmt::format("--port: {} is given twice", port.place));
    place.carrier = port.outer.get();
    place.port = number;
    port.kernel = std::make_unique<vumad::kernel_port>(std::move(place));
    port.local = std::make_unique<vumad::local_port>(*port.kernel);
    ports_.push_back(std::move(port));
}

void exported_fabric::open_sim(const std::string& specification, const std::vector<std::string>& places) {
    simulation_ = sim::make_sim(specification);
    for (const std::string& note : simulation_.notes) print_message("{}", note);
    if (simulation_.place->native_handle() < 0)
        throw usage_error("vumad needs real time; remove time=virtual from --fabric");
    const sim::topology& graph = simulation_.fabric->graph();
    std::vector<sim_place> used;
    const auto add_carried = [&](std::unique_ptr<sim::sim_transport> carried) {
        sim::sim_transport& t = *carried;
        used.push_back({t.node(), t.port()});
        t.serve_next_to_sma();
        exported_port port;
        port.outer = std::make_unique<vumad::single_mads>(t);
        port.inner = std::move(carried);
        add(std::move(port), graph.nodes[t.node()].description, t.port(),
            {.carrier = nullptr,
             .unserve = [&t](const mad::registration& what) { t.unserve(what); },
             .set_is_sm = [&t](bool is_sm) { t.set_is_sm(is_sm); }});
    };
    simulation_.transport = nullptr;
    std::unique_ptr<sim::sim_transport> usual = std::move(simulation_.place);
    if (places.empty()) add_carried(std::move(usual));
    usual.reset();
    for (const std::string& place : places) {
        const sim_place at = find_place(graph, place);
        add_carried(std::make_unique<sim::sim_transport>(*simulation_.fabric, at.node, at.port, sim::time_mode::real));
    }
    warn_of_unreachable_nodes(graph, used);
}

void exported_fabric::open_ibsim(std::string_view server, const std::vector<std::string>& places) {
    const auto add_at = [&](const comad::transports::ibsim_options& options) {
        auto carrier = std::make_unique<ibsim_transport>(options);
        ibsim_transport& t = *carrier;
        iba::smp::NodeInfo node;
        iba::decode(node, t.node_info().data());
        const unsigned number = node.nodeType == iba::NodeType::Switch ? 0 : node.localPortNum;
        exported_port port;
        port.outer = std::move(carrier);
        add(std::move(port), t.node(), number,
            {.carrier = nullptr, .unserve = {}, .set_is_sm = [&t](bool is_sm) { t.set_is_sm(is_sm); }});
    };
    comad::transports::ibsim_options options(server);
    if (places.empty()) return add_at(options);
    for (const std::string& place : places) {
        options.node = place;
        add_at(options);
    }
}

void exported_fabric::set_now(mad::time_point now) {
    for (exported_port& p : ports_) {
        p.kernel->set_now(now);
        p.local->take_answers();
    }
}

std::optional<mad::time_point> exported_fabric::next_event() const noexcept {
    std::optional<mad::time_point> next;
    for (const exported_port& p : ports_) {
        const auto its = p.kernel->next_event();
        if (its && (!next || *its < *next)) next = its;
    }
    return next;
}

} // namespace ibtool
