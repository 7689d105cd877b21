// SPDX-License-Identifier: MIT
// discovery_rig.hpp - what the tests of discovery share: a subnet to discover in virtual time, a witness at its
// transport, and the graph that must be found, measured apart from the code under test.
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

/// Lets everything through and remembers what was in flight: an operation, from its sending until its reply is handed
/// out or its latest attempt is too old. Discovery asks nothing twice, so that destination, attribute and modifier say
/// which operation a request belongs to.
class witness final : public mad::transport {
public:
    explicit witness(mad::transport& watched) : watched_(watched) {}

    std::size_t most = 0;              ///< in flight at one instant
    std::size_t most_to_one = 0;       ///< of these, to one destination as addressed
    std::size_t first_attempts = 0;    ///< operations
    std::size_t asked_twice = 0;       ///< operations that were sent again after they had been answered
    unsigned longest_route = 0;        ///< hops
    u64 trace = 14695981039346656037u; ///< FNV-1a over every packet and its time, either way

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
    std::map<operation, mad::time_point> in_flight_; // and when the latest attempt expires
    std::map<operation, bool> answered_;             // everything that was ever sent
};

/// A fixed window, and a second per attempt as infiniband-diags have. The defaults of a schedule adapt.
inline coro::schedule_options window(unsigned max_outstanding = 64, u8 retries = 2) {
    coro::schedule_options options;
    options.max_outstanding = max_outstanding;
    options.timeout = std::chrono::seconds(1);
    options.retries = retries;
    return options;
}

/// A subnet with a program in it, which uses it by itself or through a kernel.
struct world {
    explicit world(topology t, coro::schedule_options options = window(), const timing& times = {},
                   const faults& wrong = {}, const std::optional<kernel_options>& through = kernel_of_this_run());
    /// At `node` instead of the default one, by `port`.
    world(topology t, u32 node, unsigned port);

    /// Precondition: the local node answers.
    subnet discover(const discovery::discover_options& options = {});
    u64 sent() const noexcept { return schedule.counters().sent; }
    mad::duration elapsed() const noexcept { return net.now().time_since_epoch(); }

    transports::sim::fabric net;
    transports::sim::sim_transport port;
    std::optional<transports::kernel_model> kernel;
    witness seen;
    coro::MADSchedule schedule;
};

/// make_topology(), with the LIDs and states that a subnet manager leaves.
topology managed(std::string_view specification);

/// Every way in which `found` is not what directed routes from there reach in `t`: nodes, ports, links, descriptions,
/// LIDs, states, and that each route is a shortest one to its node. Empty: it is the same. At most `most_hops` away.
std::vector<std::string> differences(const subnet& found, const topology& t, u32 start, unsigned start_port,
                                     unsigned most_hops = IBDRPath::max_hops);
std::vector<std::string> differences(const subnet& found, const world& w, unsigned most_hops = IBDRPath::max_hops);

/// Every way in which `found` contradicts itself: links that only one end knows, indices that lead nowhere.
std::vector<std::string> inconsistencies(const subnet& found);

/// Where a directed route leads; nothing if it leads nowhere. By a CA only its own port leads out.
std::optional<u32> walk(const topology& t, u32 start, unsigned start_port, const IBDRPath& route);

/// Topology file and JSON, everything that anybody sees.
std::string text_of(const subnet& found);

/// Delays that differ for every MAD.
inline timing with_jitter() {
    timing times;
    times.jitter = std::chrono::microseconds(50);
    return times;
}

} // namespace comad::test
