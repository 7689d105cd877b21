// SPDX-License-Identifier: MIT
// multi_port.cpp - opens the local ports, and waits for the thread of the multi-port discovery.
#include "session/multi_port.hpp"

#include "comad.hpp"
#include "session/fabric.hpp"
#include "text/failure_text.hpp"
#include <comad/coro/event.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using found_subnet = mad::result<discovery::subnet>;

/// A local port with a schedule of its own: that of the session is in use.
struct discovering_port {
    explicit discovering_port(const global_options& o) : on(o), schedule(on.transport(), o.schedule()) {}
    fabric on;
    coro::MADSchedule schedule;
};

/// The local ports that could be opened.
struct discovering_ports {
    std::vector<std::unique_ptr<discovering_port>> ports;
    std::vector<discovery::failure> failures;

    explicit discovering_ports(const session& in) {
        for (std::size_t i = 0; i < in.options().ports.size(); ++i) {
            global_options one = in.options();
            one.fabric = i == 0 ? in.place() : one.ports[i];
            try {
                ports.push_back(std::make_unique<discovering_port>(one));
            } catch (const usage_error&) {
                throw;
            } catch (const std::runtime_error& e) {
                failures.push_back(failure_at(iba::escaped(one.fabric), e.what()));
            }
        }
        if (ports.empty()) throw std::runtime_error(failures.front().text);
    }

    found_subnet discover(const discovery::discover_options& how, std::stop_token stop) {
        std::vector<coro::MADSchedule*> schedules;
        for (const auto& port : ports) schedules.push_back(&port->schedule);
        return discovery::discover_multi_port(schedules, how, std::move(stop));
    }

    /// Replaces the numbers of ports in failures by names, and adds the failures of opening.
    void name_failures(discovery::subnet& found) const {
        for (discovery::failure& f : found.failures)
            for (std::size_t i = 0; i < ports.size(); ++i) {
                const std::string number = fmt::format("local port #{}: ", i);
                if (!f.text.starts_with(number)) continue;
                f.text.erase(0, number.size());
                f.where.name = iba::escaped(ports[i]->on.place());
            }
        found.failures.insert(found.failures.end(), failures.begin(), failures.end());
    }
};

/// What the thread and the task that waits for it share.
struct discovery_thread {
    coro::event* ended = nullptr; // null: nothing waits any more
    std::optional<found_subnet> found;
    std::exception_ptr thrown;
};

/// Runs the discovery in a thread, while the event loop of the session handles signals.
coro::task<found_subnet> discover_in_thread(session& in, discovering_ports& ports, discovery::discover_options how) {
    const auto shared = std::make_shared<discovery_thread>();
    coro::event ended(in.schedule());
    shared->ended = &ended;
    const auto work = [&in, &ports, how, shared](std::stop_token stop) {
        try {
            shared->found.emplace(ports.discover(how, std::move(stop)));
        } catch (...) {
            shared->thrown = std::current_exception();
        }
        in.post([shared] {
            if (shared->ended) shared->ended->set();
        });
    };
    std::jthread thread(work);
    const bool is_done = co_await ended.wait();
    shared->ended = nullptr;
    if (!is_done) thread.request_stop();
    thread.join();
    if (shared->thrown) std::rethrow_exception(shared->thrown);
    co_return std::move(*shared->found);
}

} // namespace

coro::task<found_subnet> discover_through_ports(session& in, discovery::discover_options how) {
    discovering_ports ports(in);
    std::optional<found_subnet> found;
    if (in.is_virtual()) {
        found.emplace(ports.discover(how, {}));
    } else {
        auto discovery = discover_in_thread(in, ports, how);
        found.emplace(co_await std::move(discovery));
    }
    for (const auto& port : ports.ports) in.note_others(port->schedule.counters());
    if (*found) ports.name_failures(found->value());
    co_return std::move(*found);
}

} // namespace ibtool
