// SPDX-License-Identifier: MIT
// open_fabric.cpp - opens a fabric with a schedule and a client that finds paths and the SA.
#include <comad/fabric/open_fabric.hpp>
#include <comad/sa/client.hpp>

#include <utility>

namespace comad {

/// The parts of an open fabric, in the order of their construction.
struct opened_fabric::parts {
    parts(fabric_port opened, const coro::schedule_options& options)
        : port(std::move(opened)), schedule(port.transport(), options), paths(schedule, port.local_port()) {
        paths.set_port_reader(port.port_reader());
    }
    fabric_port port;
    coro::MADSchedule schedule;
    sa::client paths;
};

opened_fabric::opened_fabric(fabric_port port, const coro::schedule_options& options)
    : parts_(std::make_unique<parts>(std::move(port), options)) {}
opened_fabric::opened_fabric(opened_fabric&&) noexcept = default;
opened_fabric& opened_fabric::operator=(opened_fabric&&) noexcept = default;
opened_fabric::~opened_fabric() = default;

coro::MADSchedule& opened_fabric::schedule() noexcept { return parts_->schedule; }
sa::client& opened_fabric::paths() noexcept { return parts_->paths; }
mad::transport& opened_fabric::transport() noexcept { return parts_->port.transport(); }
const sa::local_port& opened_fabric::local_port() const noexcept { return parts_->paths.local(); }
const fabric_port& opened_fabric::port() const noexcept { return parts_->port; }

fabric_result<opened_fabric> open_fabric(std::string_view text, const fabric_options& options,
                                         const coro::schedule_options& schedule) {
    auto port = open_fabric_port(text, options);
    if (!port) return std::move(port.error());
    return opened_fabric(std::move(port.value()), schedule);
}

} // namespace comad
