// SPDX-License-Identifier: MIT
// fabric.hpp - a simulated subnet: nodes that respond to MADs, time, traffic, and faults that a program plans.
// This header does not depend on a clock, a file descriptor or the engine: everything happens in advance().
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace comad::iba::cc {
struct CongestionLogEventSwitch;
struct CongestionLogEventCA;
} // namespace comad::iba::cc

namespace comad::server {
class response;
struct request;
} // namespace comad::server

namespace comad::transports::sim {

class fabric_core;
class sim_transport;

/// Replies to a request in place of the agents of a node. Without a value, the agents reply. The function must not throw.
/// A server::response (server/responder.hpp) can also be an error status, or no reply.
using scripted_answer = std::function<std::optional<server::response>(const server::request&)>;
/// Changes a reply of a node before it leaves: 256 bytes, or a longer message that RMPP would divide into segments. Must not throw.
using reply_change = std::function<void(std::span<u8> reply)>;

/// The times of a simulated fabric.
struct timing {
    mad::duration delay{0};        ///< in each direction, independent of the length of the route
    mad::duration hop_delay{1000}; ///< for each cable on the route, in each direction
    mad::duration jitter{0};       ///< at most this much more for each cable, drawn for each MAD
    /// An SMA handles SMPs one after the other, and each takes this long. The same applies to all other agents of a node
    /// together.
    mad::duration service_time{4000};
    /// How long a switch is busy with a directed-route SMP that it forwards, or with its reply (IBA 14.2.2: its SMI handles it).
    /// The SMP waits in the same queue as the SMPs for the switch's own SMA. 0: switches forward in no time.
    mad::duration transit{0};
    /// SMPs that a node holds, including the one that it handles now. Further SMPs are lost. The IBA requires space for one only.
    /// 0: no limit.
    unsigned buffer = 0;
};

/// Random faults of a simulated fabric: probabilities from 0 to 1, drawn for each MAD. The same seed reproduces the same run.
struct faults {
    double request_loss = 0;
    double reply_loss = 0;
    double duplicate = 0; ///< a MAD arrives twice, in each direction
    double reorder = 0;   ///< a MAD is late by up to reorder_delay, so others overtake it, in each direction
    mad::duration reorder_delay{100'000};
    double busy = 0;    ///< an agent responds with the status BUSY
    double garbage = 0; ///< a reply comes with a datagram of 0 to 400 bytes: random bytes, or a part of the reply
    u64 seed = 1;
    /// Seed of the counts before the simulation started: traffic, and errors of some ports. 0: all counters start at 0.
    u64 counter_seed = 0;
};

/// A change of a simulated subnet. Ports of a restored cable are Initialize, as after any training: no LID leads through
/// them until a subnet manager configures them.
struct topology_event {
    /// What changes.
    enum class kind : u8 {
        cut,     ///< the cable of the port is pulled
        restore, ///< the cable that was pulled is back
        kill, ///< the node's management stops: no replies, no forwarding of directed routes; its data ports still work
        revive, ///< the node's management works again
        /// The subnet manager of the topology sweeps: links that it reaches become Active, and ports without a LID get one.
        /// It is neither reached by nor sends MADs. Node and port are not used. No effect unless it is the master.
        sweep,
    };
    kind what;
    u32 node;
    unsigned port = 0; ///< the port at either end of the cable
};

/// Counts of the SMPs of one simulated node. GMPs are not included.
struct node_counters {
    /// SMPs that reached the node, including those that its buffer had no space for; if timing::transit is not 0, also SMPs that
    /// it had to forward.
    u64 received = 0;
    u64 overflowed = 0; ///< of these: lost because the buffer was full
    unsigned held = 0;  ///< in service or waiting now
    unsigned most_held = 0;
};

/// Counts of the MADs of a simulated fabric.
struct fabric_counters {
    u64 sent = 0;        ///< MADs that transports sent
    u64 delivered = 0;   ///< messages that transports received
    u64 refused = 0;     ///< MADs that the receiving port discarded because of their headers
    u64 undelivered = 0; ///< MADs without a route, or without an agent that accepts them
    u64 lost = 0;        ///< random losses
    u64 overflowed = 0;  ///< lost at full buffers
    u64 duplicated = 0, reordered = 0, busy = 0, garbage = 0; ///< random faults
};

/// The traffic of all cables while their links are up: a number of packets per second, whose size the seed draws for each
/// sender. Some cables are bad: symbol errors, and the counters that follow from them, increase at both ends.
struct load {
    double packets = 0;          ///< per second, in each direction
    double symbol_errors = 0;    ///< per second, at each end of a bad cable
    double bad_cables = 1.0 / 8; ///< fraction of all cables
    u64 seed = 1;
};

/// What a PMA supports in addition to ClassPortInfo and PortCounters, as bits of a set. Requests for other attributes are
/// rejected, and other counters are always 0. ClassPortInfo reports these capabilities as far as it has a bit (IBA 16.1.3.1).
namespace pma_ability {
inline constexpr u8 all_ports = 1 << 0;       ///< portSelect 255: IsAllPortSelectSupported
inline constexpr u8 xmit_wait = 1 << 1;       ///< portXmitWait: IsPortCountersXmitWaitSupported
inline constexpr u8 qp1_dropped = 1 << 2;     ///< QP1Dropped: IsQP1DroppedSupported
inline constexpr u8 extended = 1 << 3;        ///< PortCountersExt: IsExtendedWidthSupportedNoIETF, and with ...
inline constexpr u8 unicast = 1 << 4;         ///< ... its unicast and multicast packets IsExtendedWidthSupported
inline constexpr u8 extended_errors = 1 << 5; ///< its further counters: IsAdditionalPortCountersExtendedSupported
inline constexpr u8 groups = 1 << 6; ///< all other attributes: details, by VL, service level and lane, congestion
inline constexpr u8 RS_FEC = 1 << 7; ///< PortExtendedSpeedsCountersRSFEC: IsRSFECModeSupported
inline constexpr u8 none = 0, all = 0xff;
} // namespace pma_ability

/// A simulated subnet, in which time passes and faults happen. Programs send MADs into it through a sim_transport.
///
///     transports::sim::fabric net(transports::sim::make_topology("fattree2,radix=4"), {.delay = 1ms}, {.reply_loss = 0.01});
///     transports::sim::sim_transport port(net, transports::sim::time_mode::virtual_);
///     net.apply_at(net.now() + 5s, {transports::sim::topology_event::kind::cut, leaf, 3}); // pulls a cable
///
/// make_sim() (transport.hpp) makes a fabric and a transport from a text such as `fattree2,radix=4,loss=0.01`.
///
/// Agents:   Every node has an SMA and a PMA, and the subnet has an SA. Switches, and ports of CAs and routers, have congestion
///           control agents. CAs respond to ibping and ibsysstat. docs/reference/simulator.md lists their attributes, the
///           checks of received MADs and the status of invalid requests.
/// Routes:   A MAD is routed over all links at the moment when it is sent, and arrives after the delays. If timing::transit is
///           not 0, a directed-route SMP whose whole route exists when it is sent goes from switch to switch instead.
///           Forwarding tables that no subnet manager has written lead along shortest paths over Active links, and are
///           calculated again when links change.
/// Changes:  The SMAs accept Sets. The subnet changes accordingly: links go down and train, LIDs follow the written
///           forwarding tables. A state that a port already has can be written.
/// Counters: The PMAs count MADs where their routes start and end, links that went down, and the traffic of carry().
/// Errors:   The constructor throws std::bad_alloc only. Node and port numbers in calls must exist in graph().
/// Memory:   No memory is allocated after the fabric once held as many MADs as it ever will.
/// Lifetime: The fabric must outlive its transports.
/// Threads:  Not thread-safe: use a fabric and its transports in one thread.
class fabric {
public:
    explicit fabric(topology t, const timing& times = {}, const faults& wrong = {});
    ~fabric();
    fabric(const fabric&) = delete;
    fabric& operator=(const fabric&) = delete;

    /// The subnet as it is now.
    const topology& graph() const noexcept;
    mad::time_point now() const noexcept;

    /// Applies a change now. Precondition: node and port exist.
    void apply(const topology_event&);
    /// Applies a change when advance() reaches this time.
    void apply_at(mad::time_point, const topology_event&);
    /// Applies a change at `first`, and then again after each period.
    void apply_every(mad::duration period, mad::time_point first, const topology_event&);
    /// Sets the service time of one node, which replaces timing::service_time.
    void set_service_time(u32 node, mad::duration) noexcept;
    /// The probability that a MAD is lost, each way, from now on; of all MADs instead of `faults`.
    void set_loss(double) noexcept;
    /// In addition, of requests to one node and of its replies.
    void set_loss(u32 node, double) noexcept;

    /// From now on `answer` gets the requests of one attribute to a node, at any port of it; an empty function takes it back. Requests
    /// to the node's LIDs and by directed routes to it have the same class here, MgmtClass::SubnLID. Requests that an endpoint
    /// serves, and requests that a port refuses for their headers, do not reach it. M_Keys and CC_Keys are not checked before it.
    void answer(u32 node, iba::MgmtClass, u16 attributeID, scripted_answer answer);
    /// From now on `change` gets the replies with one attribute of a node, scripted ones included; an empty function takes it back.
    void change_replies(u32 node, iba::MgmtClass, u16 attributeID, reply_change change);

    /// Starts the traffic. Precondition: carry() was not called before.
    void carry(const load&) noexcept;
    /// Sets the bit error rate at which a port receives, 0 to 0.1, before forward error correction. Bits are wrong independently of
    /// each other, and as long as the link is up, whether or not there is traffic. The counters of this port increase:
    /// symbolErrorCounter, portRcvErrors for damaged packets of traffic and MADs, and the FEC counters. Nothing is lost.
    /// Precondition: the port has a cable.
    void set_bit_error_rate(u32 node, unsigned port, double rate);
    /// Sets what the PMA of a node supports: a set of pma_ability [all].
    void set_pma(u32 node, u8 capabilities) noexcept;
    /// Sets PortSamplesControl.Tick of a node, the unit of portXmitWait [7 for Quantum switches, else 31].
    void set_tick(u32 node, u8 tick) noexcept;
    /// Starts traffic from a port over its cable, in addition to that of carry(). While the link is up, the port sends packets of 4096
    /// bytes at this share of the data rate that the link has now, and waits for credits (portXmitWait) for this share of the time.
    /// Precondition: the port has a cable. A second call for a port replaces the first one.
    void carry_from(u32 node, unsigned port, double utilization, double congestion);
    /// Sets whether a node has congestion control agents [all nodes have].
    void set_congestion_control(u32 node, bool has_it) noexcept;
    /// Adds an event, with the time now(), to the congestion log of a switch: a packet that it marked on its way out of `port`.
    /// Ignored if the node is not a switch.
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventSwitch&);
    /// The same for a port of a CA or router: a connection that exceeded its threshold. Ignored if the node is a switch.
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventCA&);

    /// Adds another subnet manager at an end port. It responds to SMInfo and does nothing else. If the subnet manager of the
    /// topology runs at this port, its state and priority change instead. Precondition: the node has this end port, which is
    /// 0 of a switch.
    void set_manager(u32 node, unsigned port, iba::SMState, u8 priority);
    /// Sets the M_Key of every port (protection level 0, so every program can read it), the SM_Key of subnet managers, the
    /// CC_Key of congestion control agents, and the vs_key that Mellanox devices return. Keys that a subnet manager writes
    /// replace them. Precondition: no congestion control agent has received a request.
    void set_keys(u64 key);
    /// From now on, forwarding tables that no subnet manager has written spread the routes between hosts over all shortest paths: each
    /// switch uses the port with the fewest of them, or, for a LID that no host reaches through it, with the fewest LIDs.
    void spread_routes();
    /// Sets whether a Mellanox switch reports adaptive routing (SMP 0xff20). Its forwarding tables do not change.
    void set_adaptive_routing(u32 node, bool is_on);

    const node_counters& counters(u32 node) const noexcept;
    const fabric_counters& counters() const noexcept;
    /// The largest number of SMPs that one node held at the same time.
    unsigned most_held() const noexcept;

    /// Moves time forward to `now`, and does everything that is due until then. A driver does this through the transport. Time
    /// never goes back.
    void advance(mad::time_point now) noexcept;
    /// The time of the next event that a program could notice: a MAD that moves on, or, if a program subscribed to reports, a
    /// planned change. nullopt: there is none.
    std::optional<mad::time_point> next_event() const noexcept;
    /// The time of the next change of apply_at() and apply_every(); nullopt: no change is planned.
    std::optional<mad::time_point> next_change() const noexcept;
    /// Whether a message waits for a transport. Transports are numbered from 0, in the order in which they were made.
    bool has_message(u32 endpoint) const noexcept;

private:
    friend sim_transport; // it sends and receives through core_
    std::unique_ptr<fabric_core> core_;
};

} // namespace comad::transports::sim
