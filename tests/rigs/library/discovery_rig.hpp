// SPDX-License-Identifier: MIT
// discovery_rig.hpp - helpers for the discovery tests: a subnet in virtual time, a witness at its transport, and the
// expected result, which is computed independently of the code under test.
#pragma once
#include "kernel/kernel_of_this_run.hpp"
#include "support/catch.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/sim/transport.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::test {

using discovery::subnet;
using mad::IBDRPath;
using transports::kernel_options;
using transports::sim::faults;
using transports::sim::simulation;
using transports::sim::time_mode;
using transports::sim::timing;
using transports::sim::topology;

/// Forwards everything and tracks the operations in flight. An operation is in flight from the first send until its
/// reply is delivered or the latest attempt has expired. A discovery never sends a query twice, so destination,
/// attribute and modifier identify the operation of a request.
class witness final : public mad::transport {
public:
    explicit witness(mad::transport& watched) : watched_(watched) {}

    std::size_t most = 0;              ///< largest number in flight at one time
    std::size_t most_to_one = 0;       ///< largest number in flight to one destination, by its address
    std::size_t first_attempts = 0;    ///< number of operations
    std::size_t queried_twice = 0;     ///< operations that were sent again after their reply
    unsigned longest_route = 0;        ///< number of hops
    u64 trace = 14695981039346656037u; ///< FNV-1a hash over every packet and its time, in both directions

    int native_handle() const noexcept override { return watched_.native_handle(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override { return watched_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return watched_.next_event(); }
    void set_now(mad::time_point now) noexcept override {
        now_ = now;
        watched_.set_now(now);
    }
    mad::time_point now() const noexcept { return now_; }

private:
    struct operation {
        u64 destination;
        u32 attribute, modifier;
        auto operator<=>(const operation&) const = default;
    };
    void note(std::span<const u8> bytes) noexcept;

    mad::transport& watched_;
    mad::time_point now_{};
    std::map<u32, operation> attempts_;              // by transaction ID
    std::map<operation, mad::time_point> in_flight_; // expiry of the latest attempt
    std::map<operation, bool> answered_;             // every operation that was sent
};

/// Returns options with a fixed window and one second per attempt, as in infiniband-diags. The defaults of a schedule
/// adapt both.
inline coro::schedule_options window(unsigned max_outstanding = 64, u8 retries = 2) {
    coro::schedule_options options;
    options.max_outstanding = max_outstanding;
    options.timeout = std::chrono::seconds(1);
    options.retries = retries;
    return options;
}

/// A subnet and a program that uses it directly or through a kernel model.
struct world {
    explicit world(topology t, coro::schedule_options options = window(), const timing& times = {},
                   const faults& wrong = {}, const std::optional<kernel_options>& through = kernel_of_this_run());
    /// Puts the program at `node` and `port` instead of the default node.
    world(topology t, u32 node, unsigned port);

    /// Returns the discovered subnet. Precondition: the local node replies.
    subnet discover(const discovery::discover_options& options = {});
    u64 sent() const noexcept { return schedule.counters().sent; }
    mad::duration elapsed() const noexcept { return net.now().time_since_epoch(); }

    transports::sim::fabric net;
    transports::sim::sim_transport port;
    std::optional<transports::kernel_model> kernel;
    witness seen;
    coro::MADSchedule schedule;
};

/// Returns make_topology() with the LIDs and states that a subnet manager assigns.
topology managed(std::string_view specification);

/// Returns all differences between `found` and the part of `t` that directed routes of at most `most_hops` reach from
/// `start`. Compares nodes, ports, links, descriptions, LIDs and states, and checks that routes are shortest routes.
/// Empty: no difference.
std::vector<std::string> differences(const subnet& found, const topology& t, u32 start, unsigned start_port,
                                     unsigned most_hops = IBDRPath::max_hops);
/// Compares like the function above, from the node and port of the program in `w`.
std::vector<std::string> differences(const subnet& found, const world& w, unsigned most_hops = IBDRPath::max_hops);

/// Returns all contradictions in `found`: links that only one of their ends contains, and invalid indices.
std::vector<std::string> inconsistencies(const subnet& found);

/// Returns the node at the end of a directed route; empty if the route leads nowhere. A route may leave a CA only through
/// the local port of the start node.
std::optional<u32> walk(const topology& t, u32 start, unsigned start_port, const IBDRPath& route);

/// Returns the topology file and the JSON of a subnet.
std::string text_of(const subnet& found);

/// Returns timing with a different delay for every MAD.
inline timing with_jitter() {
    timing times;
    times.jitter = std::chrono::microseconds(50);
    return times;
}

} // namespace comad::test
