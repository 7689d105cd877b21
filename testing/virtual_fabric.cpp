// SPDX-License-Identifier: MIT
// virtual_fabric.cpp - implements virtual_fabric: local ports, schedules and faults of a simulated fabric in virtual time, addressed by
// names of nodes.
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/testing.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace comad::testing {

namespace sim = transports::sim;
using kind = sim::topology_event::kind;

namespace {

/// A node, or a port of a node.
struct location {
    u32 node;
    std::optional<unsigned> port; // the port that the text names
};

u32 node_called(const sim::topology& graph, std::string_view name) {
    if (const auto found = graph.find(name)) return *found;
    throw std::runtime_error(fmt::format("the fabric has no node {}", iba::as_given(name)));
}

/// Finds a node by its name, or by its name followed by a slash and a port number. Names can contain slashes, so the last slash separates
/// the port.
location location_called(const sim::topology& graph, std::string_view text) {
    if (const auto node = graph.find(text)) return {*node, std::nullopt};
    const auto slash = text.rfind('/');
    const std::string_view number = slash == text.npos ? std::string_view() : text.substr(slash + 1);
    unsigned port = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (number.empty() || error != std::errc{} || end != number.data() + number.size())
        return {node_called(graph, text), std::nullopt};
    const u32 node = node_called(graph, text.substr(0, slash));
    if (port > graph.nodes[node].num_ports())
        throw std::runtime_error(fmt::format("{} has no port {}; the port must be 0..{}",
                                             iba::as_given(text.substr(0, slash)), port,
                                             graph.nodes[node].num_ports()));
    return {node, port};
}

sim::simulation make_virtual(std::string_view specification) {
    sim::simulation made = sim::make_sim(specification, sim::time_mode::virtual_);
    if (made.transport->native_handle() >= 0)
        throw std::runtime_error(fmt::format("{}: a virtual_fabric has virtual time; omit time=real", specification));
    if (made.kernel)
        throw std::runtime_error(
            fmt::format("{}: a virtual_fabric has no model of the kernel; omit kernel", specification));
    return made;
}

} // namespace

/// The implementation of virtual_fabric.
struct virtual_fabric::impl {
    explicit impl(std::unique_ptr<sim::fabric> f) : fabric(std::move(f)) {}

    std::unique_ptr<sim::fabric> fabric;
    std::vector<std::unique_ptr<sim::sim_transport>> ports;
    coro::detail::virtual_time time;
    std::vector<std::unique_ptr<coro::MADSchedule>> schedules;

    ~impl() {
        while (!schedules.empty()) schedules.pop_back();
    }

    const sim::topology& graph() const noexcept { return fabric->graph(); }
    sim::sim_transport& open(std::string_view where) {
        const auto [node, port] = location_called(graph(), where);
        const unsigned by = port.value_or(sim::default_port(graph().nodes[node]));
        ports.push_back(std::make_unique<sim::sim_transport>(*fabric, node, by, sim::time_mode::virtual_));
        return *ports.back();
    }
    sim::topology_event event(kind what, std::string_view node) const { return {what, node_called(graph(), node)}; }
    sim::topology_event cable_event(kind what, std::string_view where) const {
        const auto [node, port] = location_called(graph(), where);
        if (!port || *port == 0)
            throw std::runtime_error(
                fmt::format("{} is not the port of a cable; expected NODE/PORT", iba::as_given(where)));
        return {what, node, *port};
    }
    void apply_after(mad::duration later, const sim::topology_event& e) { fabric->apply_at(fabric->now() + later, e); }
};

virtual_fabric::virtual_fabric(std::string_view specification)
    : impl_(std::make_unique<impl>(std::move(make_virtual(specification).fabric))) {}
virtual_fabric::virtual_fabric(sim::topology graph, const sim::timing& times, const sim::faults& faults)
    : impl_(std::make_unique<impl>(std::make_unique<sim::fabric>(std::move(graph), times, faults))) {}
virtual_fabric::~virtual_fabric() = default;

sim::fabric& virtual_fabric::simulation() noexcept { return *impl_->fabric; }
mad::time_point virtual_fabric::now() const noexcept { return impl_->fabric->now(); }

// ---- Local ports ----

mad::transport& virtual_fabric::open(std::string_view location) { return impl_->open(location); }

coro::MADSchedule& virtual_fabric::schedule(std::string_view location, coro::schedule_options options) {
    impl_->schedules.push_back(std::make_unique<coro::MADSchedule>(impl_->open(location), options));
    drive(*impl_->schedules.back());
    return *impl_->schedules.back();
}

void virtual_fabric::drive(coro::MADSchedule& s) { impl_->time.add(s); }

iba::lid virtual_fabric::lid_of(std::string_view where) const {
    const auto [index, port] = location_called(impl_->graph(), where);
    const sim::node& node = impl_->graph().nodes[index];
    return node.ports[node.is_switch() ? 0 : port.value_or(sim::default_port(node))].LID;
}

mad::IBPath virtual_fabric::path_to(std::string_view location) const {
    mad::IBPath path;
    path.DLID = lid_of(location);
    return path;
}

// ---- Time ----

void virtual_fabric::run_for(mad::duration length) {
    impl_->time.run_until(std::max(impl_->time.now(), now()) + length);
    impl_->fabric->advance(impl_->time.now());
}
void virtual_fabric::run_until(const std::function<bool()>& ended) { impl_->time.run_until(ended); }
void virtual_fabric::run_with(const std::function<bool()>& poll, const std::function<bool()>& ended) {
    impl_->time.run_with(poll, ended);
}

// ---- Scripted nodes ----

void virtual_fabric::answer(std::string_view node, iba::MgmtClass mgmt_class, u16 attributeID, sim::scripted_answer a) {
    impl_->fabric->answer(node_called(impl_->graph(), node), mgmt_class, attributeID, std::move(a));
}
void virtual_fabric::change_replies(std::string_view node, iba::MgmtClass mgmt_class, u16 attributeID,
                                    sim::reply_change change) {
    impl_->fabric->change_replies(node_called(impl_->graph(), node), mgmt_class, attributeID, std::move(change));
}

// ---- Faults ----

void virtual_fabric::lose(double share) { impl_->fabric->set_loss(share); }
void virtual_fabric::lose(std::string_view node, double share) {
    impl_->fabric->set_loss(node_called(impl_->graph(), node), share);
}
void virtual_fabric::delay(std::string_view node, mad::duration time) {
    impl_->fabric->set_service_time(node_called(impl_->graph(), node), time);
}
void virtual_fabric::kill(std::string_view node) { impl_->fabric->apply(impl_->event(kind::kill, node)); }
void virtual_fabric::revive(std::string_view node) { impl_->fabric->apply(impl_->event(kind::revive, node)); }
void virtual_fabric::cut(std::string_view where) { impl_->fabric->apply(impl_->cable_event(kind::cut, where)); }
void virtual_fabric::restore(std::string_view where) { impl_->fabric->apply(impl_->cable_event(kind::restore, where)); }
void virtual_fabric::kill_after(mad::duration later, std::string_view node) {
    impl_->apply_after(later, impl_->event(kind::kill, node));
}
void virtual_fabric::revive_after(mad::duration later, std::string_view node) {
    impl_->apply_after(later, impl_->event(kind::revive, node));
}
void virtual_fabric::cut_after(mad::duration later, std::string_view where) {
    impl_->apply_after(later, impl_->cable_event(kind::cut, where));
}
void virtual_fabric::restore_after(mad::duration later, std::string_view where) {
    impl_->apply_after(later, impl_->cable_event(kind::restore, where));
}

} // namespace comad::testing
