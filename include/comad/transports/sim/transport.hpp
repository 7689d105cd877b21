// SPDX-License-Identifier: MIT
// transport.hpp - a transport to a simulated fabric, in virtual or in real time, and make_sim(), which makes both from a text.
#pragma once
#include <comad/mad/detail/shared_clock.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports::sim {

/// The time of a simulated fabric.
enum class time_mode : u8 {
    virtual_, ///< the driver sets the time; there is no descriptor
    real,     ///< delays pass in real time; a descriptor is readable when something is due
};

/// The transport of a program at one port of a simulated fabric.
///
/// Time:     In real time it reads the steady clock itself, unlike all other transports. Its descriptor is a timer that is set
///           to the next event of the fabric; there is no thread. Do not mix real and virtual time on one fabric.
/// Tables:   A GMP is sent with the indices that tables() finds for its path. If the path has explicit indices, these are used
///           without a check, as by a device. A path that does not fit the tables is refused with EADDRNOTAVAIL.
/// Messages: A message whose size is not mad_size is refused with EMSGSIZE, unless RMPP would divide it into segments. Such
///           messages travel as a whole. All other messages are accepted, and dropped where a subnet would drop them.
/// Serving:  A program can serve requests, instead of the simulated agents of its port.
/// Errors:   The constructor throws std::runtime_error if the node has no such port, and std::system_error if the kernel gives
///           no timer.
/// Lifetime: The fabric must outlive it.
/// Threads:  Use all transports of one fabric in one thread.
class sim_transport final : public mad::transport, public mad::detail::shared_clock {
public:
    sim_transport(fabric& net, u32 node, unsigned port, time_mode mode);
    /// At the default node (topology::default_node), at its first port that has a cable.
    sim_transport(fabric& net, time_mode mode);
    ~sim_transport() override;
    sim_transport(const sim_transport&) = delete;
    sim_transport& operator=(const sim_transport&) = delete;

    int native_handle() const noexcept override { return timer_.get(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration&) noexcept override;
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override;
    void set_now(mad::time_point) noexcept override;

    const void* clock_id() const noexcept override { return timer_ ? nullptr : &fabric_; }
    std::string location() const override;

    /// Ends serve(): the simulated agents of the port receive these requests again.
    void unserve(const mad::registration& what) noexcept;
    /// From now on the port's SMA responds to all Gets and Sets of SMPs except SMInfo, even if the program serves them. A host
    /// channel adapter and its driver do the same.
    void serve_next_to_sma() noexcept;
    /// Sets the bit IsSM in the port's CapabilityMask. At the port of the topology's subnet manager it is always set.
    void set_is_sm(bool is_sm);

    u32 node() const noexcept { return node_; }
    unsigned port() const noexcept { return port_; }

private:
    void follow_clock() noexcept;
    std::optional<mad::time_point> next_due() const noexcept;
    void set_timer() noexcept;

    fabric_core& fabric_;
    u32 node_;
    unsigned port_;
    u32 endpoint_;
    mad::port_tables tables_;
    u64 tables_read_at_;   // fabric_core::port_writes()
    std::string misfit_;   // of the latest path that did not fit them
    mad::unique_fd timer_; // none in virtual time
    std::optional<mad::time_point> timer_set_to_;
};

/// Returns the port at which a program uses a node: 0 of a switch, else the first port with a cable, else 1.
unsigned default_port(const node&) noexcept;

/// A simulated fabric, and the transport of a program in it.
///
///     auto simulation = transports::sim::make_sim("fattree2,radix=4,sm=1,time=virtual");
///     coro::MADSchedule schedule(*simulation.transport);
///     simulation.fabric->apply({transports::sim::topology_event::kind::kill, 3});
struct simulation {
    std::unique_ptr<sim::fabric> fabric;
    std::unique_ptr<sim_transport> place;
    std::unique_ptr<kernel_model> kernel; ///< between the program and `place`; null unless the text has `kernel`
    mad::transport* transport = nullptr;  ///< for the program: `kernel` if there is one, else `place`
    std::vector<std::string> notes;       ///< lines for the user: parts of the file that were left out, likely mistakes
};

/// Makes a simulated fabric from a text: a kind of make_topology() with its keys, or the name of a topology file, then these keys:
///
///     latency=1us jitter=0us delay=0us               delays: of each cable, random addition, of the whole route; in each
///                                                    direction
///     service=4us transit=0us buffer=0               time for an SMP in an SMA, and through a switch; SMPs that a node holds
///     loss=0 duplicate=0 reorder=0 busy=0 garbage=0  probabilities (loss: in each direction)
///     seed=1                                         of all random choices
///     at=NODE port=1                                 where the program runs: an id, a description or a GUID as 0x...
///     slow=NODE:TIME slow=0.1:TIME                   service time of a node, or of this fraction of the nodes; repeatable
///     dead=NODE dead=0.1                             a node that does not respond, or this fraction of all nodes except the
///                                                    program's; repeatable
///     cut=NODE/PORT@TIME restore=NODE/PORT@TIME      a change (fabric.hpp) at this time after the start; repeatable
///     kill=NODE@TIME revive=NODE@TIME
///     flap=NODE/PORT@FIRST:DOWN:PERIOD               a cable that is cut at FIRST and restored DOWN later, again after each
///                                                    PERIOD; repeatable
///     link=NODE/PORT:1xQDR                           the link of a port has this width and speed, which is less than both
///                                                    ends support, until it trains again; repeatable
///     narrow=NODE/PORT:1x speed=NODE/PORT:QDR        as link=, but only the width or the speed is less; repeatable
///     ber=NODE/PORT:RATE                             the bit error rate at which a port receives (fabric.hpp);
///                                                    repeatable
///     sm=1                                           a subnet manager configured the subnet, at the program's node: LIDs,
///                                                    Active links, an SA; sm=NODE: at this node
///     routes=shortest                                or spread: that subnet manager spreads its routes over parallel paths
///     sweep=TIME                                     that subnet manager sweeps again after each TIME: links that came up become
///                                                    Active
///     counters=SEED                                  counters of traffic and errors do not start at 0
///     traffic=R                                      packets per second, in each direction of every cable (fabric.hpp)
///     errors=R errors=0.5:R                          symbol errors per second at both ends of an eighth, or this fraction, of
///                                                    the cables, and the errors that follow from them
///     pma=ABILITIES pma=NODE:ABILITIES pma=0.5:...   what all PMAs, that of a node, or those of a fraction of the nodes
///                                                    support: full, basic (only PortCounters), or some of all (port 255),
///                                                    wait, qp1, wide (PortCountersExt), with unicast and errors, groups (all
///                                                    others), rsfec, as in wide+unicast+wait; repeatable
///     tick=N tick=NODE:N tick=0.5:N                  PortSamplesControl.Tick, the unit of portXmitWait, of all PMAs, that of a
///                                                    node, or those of a fraction of the nodes; repeatable
///     flow=NODE/PORT:0.8:0.1                         traffic from a port: shares of the data rate of its link, and of the time
///                                                    that it waits for credits; repeatable
///     cc=WHAT cc=NODE:WHAT cc=0.5:WHAT               congestion control of all nodes, one node or a fraction: none, or the number
///                                                    of events in each agent's log; repeatable
///     strict                                         of a file: errors instead of skipped parts (topology_file/read.hpp)
///     ar=NODE ar=0.5                                 a Mellanox switch, or this fraction of the nodes, reports adaptive routing;
///                                                    its tables stay static; repeatable
///     keys=KEY                                       M_Key, SM_Key, CC_Key and vs_key of the whole subnet, a decimal number
///     manager=NODE:STATE:PRIORITY                    another subnet manager, which responds to SMInfo and does nothing else:
///                                                    notactive, discovering, standby or master, priority 0 to 15; at the
///                                                    node of sm= its state and priority; repeatable
///     time=real                                      or virtual [mode]
///     kernel kernel=2025                             the program uses umad over a Linux kernel (kernel_model.hpp), until
///                                                    2024 or since 2025; in virtual time only
///
/// Example: `fattree3,radix=16,latency=10us,loss=0.01,flap=core-0001/2@1ms:200us:5ms`. Virtual time starts at 0. Real time starts when
/// the fabric is made. The seed selects the members of each fraction independently. A comma ends a value, so no name can contain one.
/// docs/reference/fabrics.md describes each key.
/// Errors: throws std::runtime_error with one line that describes the error and the valid values.
simulation make_sim(std::string_view specification, time_mode mode = time_mode::real);

} // namespace comad::transports::sim
