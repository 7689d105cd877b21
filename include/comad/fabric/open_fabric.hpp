// SPDX-License-Identifier: MIT
// open_fabric.hpp - from a text such as `umad:mlx5_0/1` to one object that sends MADs: transport, schedule, paths and clock.
#pragma once
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/fabric/detail/fabric_port.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>

namespace comad::sa {
class client;
} // namespace comad::sa

namespace comad {

/// An open fabric with a schedule for its MADs: everything that a program needs to send requests.
///
///     auto fabric = comad::open_fabric("sim:fattree2,radix=4,sm=1"); // or umad:mlx5_0/1, ibsim, ...
///     if (!fabric) return fail(fabric.error().text);
///     const auto found = fabric.value().run(discovery::discover(fabric.value().schedule()));
///
/// With Asio, use `coro::asio_driver driver(io_context, fabric.schedule())` instead of run(). Programs with several schedules, or
/// with a wrapped transport, use fabric_port.
///
/// Lifetime: Tasks and servers on the schedule must end before this object is destroyed. Moving the object does not move the
///           schedule: references to it stay valid.
/// Threads:  Not thread-safe. Several threads can use one fabric each.
class opened_fabric {
public:
    opened_fabric(fabric_port, const coro::schedule_options& = {});
    opened_fabric(opened_fabric&&) noexcept;
    opened_fabric& operator=(opened_fabric&&) noexcept;
    ~opened_fabric();

    coro::MADSchedule& schedule() noexcept;
    /// Paths from the SA. The schedule uses it: if a request to the SA times out or is refused, it reads the local port again, and finds
    /// the SA after a failover.
    sa::client& paths() noexcept;
    mad::transport& transport() noexcept;
    /// The local port as it was read last.
    const sa::local_port& local_port() const noexcept;
    const fabric_port& port() const noexcept;

    /// Runs a task to its end on the calling thread, and returns its result: in real time, or, if the fabric is simulated in virtual
    /// time, as fast as possible.
    /// Errors: it throws what the task throws, and std::logic_error if the task waits for something that never happens.
    template <class T> T run(coro::task<T> t) { return coro::sync_wait(schedule(), std::move(t)); }
    /// Sends one request, and returns its result: `fabric.run(fabric.schedule().SubnGet<NodeInfo>(path))`.
    template <std::derived_from<coro::detail::rpc_base> Rpc> auto run(Rpc&& call) {
        return coro::sync_wait(schedule(), std::forward<Rpc>(call));
    }

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

/// Opens the fabric that a text names (parse_fabric): a local port, an ibsim server, or a simulated fabric.
/// Errors: fabric_errc; the text of the error is one line for the user.
fabric_result<opened_fabric> open_fabric(std::string_view text, const fabric_options& = {},
                                         const coro::schedule_options& = {});

} // namespace comad
