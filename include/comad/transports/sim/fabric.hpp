// SPDX-License-Identifier: MIT
// fabric.hpp - a simulated subnet in action: routes MADs over a topology, answers them as SMAs, PMAs and an SA do, keeps
// their time and makes things go wrong. Knows no clock, no descriptor and no engine: everything happens in advance().
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/time.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/sim/performance.hpp>
#include <comad/transports/sim/topology.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace comad::iba {
struct Notice;
} // namespace comad::iba
namespace comad::iba::cc {
struct CongestionLogEventSwitch;
struct CongestionLogEventCA;
} // namespace comad::iba::cc

namespace comad::transports::sim {

class agents;
class router;

/// How long everything takes.
struct timing {
    mad::duration delay{0};        ///< each way, however long the way is
    mad::duration hop_delay{1000}; ///< for every cable on the way, each way
    mad::duration jitter{0};       ///< up to so much more for every cable, drawn for each
    mad::duration service_time{
        4000}; ///< an SMA answers one SMP after the other, and each takes so long; so do the other
               ///< agents of a node, all of them together
    /// A switch that passes a directed-route SMP on, or its reply, is busy with it for so long (IBA 14.2.2: its SMI handles
    /// it): it is in turn there, with those that the SMA is to answer. 0: whoever passes on does it at once.
    mad::duration transit{0};
    /// SMPs that a node holds, the one in service included; more are lost. A real one need not hold more
    /// than one. 0: any number.
    unsigned buffer = 0;
};

/// What goes wrong by chance: probabilities from 0 to 1, drawn for every MAD. The same seed gives the same run.
struct faults {
    double request_loss = 0;
    double reply_loss = 0;
    double duplicate = 0; ///< a MAD arrives twice, each way
    double reorder = 0;   ///< a MAD is late by up to reorder_delay, so that others overtake it, each way
    mad::duration reorder_delay{100'000};
    double busy = 0;    ///< an agent answers with status BUSY
    double garbage = 0; ///< with a reply comes a datagram of 0 to 400 bytes: random ones, or the reply cut short
    u64 seed = 1;
    /// Of what ports counted before the simulation began: traffic, and at some of them errors. 0: nothing.
    u64 counter_seed = 0;
};

/// What happens to a subnet at a time. Cables that are cut can be restored; their ports are then Initialize, as after
/// any training, and no LID leads through them until a subnet manager comes.
struct topology_event {
    enum class kind : u8 {
        cut,     ///< the cable of node's port
        restore, ///< the cable that was cut there
        kill,    ///< node's management: it neither answers nor passes directed routes on; its data ports work
        revive,  ///< it again
    };
    kind what;
    u32 node;
    unsigned port = 0; ///< either end of the cable
};

struct node_counters {
    u64 received = 0;   ///< SMPs that reached it, and no GMPs, those that its buffer had no room for included; where
                        ///< passing on takes time, also those that it was to pass on
    u64 overflowed = 0; ///< of these, those that its buffer had no room for
    unsigned held = 0;  ///< in service and waiting now
    unsigned most_held = 0;
};

struct fabric_counters {
    u64 sent = 0;        ///< MADs that transports sent
    u64 delivered = 0;   ///< messages that transports took
    u64 refused = 0;     ///< MADs that the receiving port discarded for their headers
    u64 undelivered = 0; ///< MADs without a way, or that no agent there takes
    u64 lost = 0;        ///< by chance
    u64 overflowed = 0;  ///< at full buffers
    u64 duplicated = 0, reordered = 0, busy = 0, garbage = 0; ///< by chance
};

/// A subnet with time. A MAD crosses all cables of its way at the moment it is sent, and arrives when the delays are
/// over. Where passing on takes time, a directed-route SMP whose way is whole when it is sent goes from switch to switch.
///
/// SMAs answer Get, and all but the first three Set, of NodeInfo, NodeDescription, PortInfoExtended (the forward error
/// correction that each speed usually has), PortInfo, SwitchInfo, GUIDInfo, PKeyTable, SLToVLMappingTable,
/// VLArbitrationTable, LinearForwardingTable, MulticastForwardingTable, LedInfo and, where the subnet manager is (sm_lid of
/// the topology), SMInfo. What is set has its consequences: links go down and train, LIDs lead where the written forwarding
/// tables say. A state that a port has already can be written.
///
/// Ports check what arrives, as docs/howto/simulate-a-fabric.md lists it: M_Key, with its lease, of SMPs; P_Key, Q_Key, GRH, queue pair and
/// virtual lane of GMPs. What fails is dropped. A wrong key is counted in PortInfo, and its trap (256 to 258) goes to the
/// subnet manager; the simulated one forwards it to subscribers.
///
/// There is an SA as well: Get and GetTable of the records of all these but PortInfoExtended, of links, paths, members of
/// multicast groups, subscriptions and services, GetMulti of paths, GetTraceTable; Set and Delete of memberships, GUIDs and
/// services, and Set of InformInfo. Its records say what the SMAs say. Subscribers get Reports of groups and CA ports that
/// come and go (traps 64 to 67), which are repeated until they are acknowledged.
///
/// Every node has a PMA, which answers Get and Set of all attributes of counters but samples; of switches with an enhanced
/// port 0 also of that port. They count MADs where their
/// ways begin and end, links that went down, and what the cables carry (load). Small ones stop at their highest value, those
/// of 64 bits wrap; what a Set clears in one attribute is cleared in the other views of the same counter.
/// Every switch, and every port of a CA or router, has a congestion control agent (IBA A10): CC_Key with protect bit, lease and
/// violations, settings, tables, logs of what it is told. Nothing is congested by itself. A MAD without the key is dropped and
/// counted, but for a Get of CongestionKeyInfo, which hides a protected key.
/// CAs answer ibping and ibsysstat; their host is called as the node.
/// Forwarding tables that nobody has written lead along shortest ways over Active links, and are made anew when cables
/// change.
///
/// Status 0x04: class version; 0x08: method, or a class that nobody serves; 0x0c: attribute, or method for it; 0x1c:
/// a number in the modifier or the attribute. What a subnet would drop is dropped: no way, no such port, a base version
/// other than 1, a directed route through a CA, a GMP to the permissive LID.
/// Not thread-safe. Nothing is allocated once it held as many MADs as it ever will.
class fabric {
public:
    explicit fabric(topology t, const timing& times = {}, const faults& wrong = {});
    ~fabric();
    fabric(const fabric&) = delete;
    fabric& operator=(const fabric&) = delete;

    const topology& graph() const noexcept { return topology_; }
    mad::time_point now() const noexcept { return now_; }

    /// Now, or when advance() comes to it. Precondition: node and port exist.
    void apply(const topology_event&);
    void apply_at(mad::time_point, const topology_event&);
    /// From then on again after each period.
    void apply_every(mad::duration period, mad::time_point first, const topology_event&);
    /// Of one node, instead of timing's.
    void set_service_time(u32 node, mad::duration) noexcept;

    /// From now on. Precondition: nothing is carried yet.
    void carry(const load&) noexcept;
    /// What the PMA of a node can do, a set of pma_ability; all, unless it is told.
    void set_pma(u32 node, u8 capabilities) noexcept;
    /// Whether a node has congestion control agents; all have, unless it is told.
    void set_congestion_control(u32 node, bool has_it) noexcept;
    /// What they log from now on, with now() as its timestamp: of a switch a packet that it marked on its way out of `port`, of
    /// a CA's or router's port a connection that passed its threshold. Of another kind of node nothing is logged.
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventSwitch&);
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventCA&);

    /// Another subnet manager at an end port, which answers SMInfo and does nothing else; of the topology's own manager its state
    /// and priority. Precondition: the node has that end port, which is 0 of a switch.
    void set_manager(u32 node, unsigned port, iba::SMState, u8 priority);
    /// From now on this is the M_Key of every port (protection level 0, so that everybody reads it), the SM_Key of subnet managers,
    /// the CC_Key of congestion control agents and the vs_key that devices of Mellanox answer with. What a manager writes counts
    /// more. Precondition: no agent of congestion control was asked yet.
    void set_keys(u64 key);
    /// Whether a switch of Mellanox says that it routes adaptively (SMP 0xff20); its forwarding tables stay as they are.
    void set_adaptive_routing(u32 node, bool is_on);

    const node_counters& counters(u32 node) const noexcept { return nodes_[node].counters; }
    const fabric_counters& counters() const noexcept { return counters_; }
    /// The most that any node ever held at once.
    unsigned most_held() const noexcept;

    // ---- For transports ----

    /// A place to send from and receive at. Throws std::runtime_error when the node has no such port.
    u32 attach(u32 node, unsigned port);
    /// Whatever is under way to it is dropped.
    void detach(u32 endpoint) noexcept;
    /// Calls `rearm` when another endpoint has sent something: next_event() may be earlier. Until it is detached.
    void on_news(u32 endpoint, std::function<void()> rearm) { endpoints_[endpoint].rearm = std::move(rearm); }
    /// Of the endpoint that has sent something.
    void tell_others(u32 endpoint) const;
    /// The P_Key and GID tables of its port, as they are now, and a number that changes when one of them may have.
    mad::port_tables port_tables_of(u32 endpoint) noexcept;
    u64 port_writes() const noexcept;
    /// Puts a message on the wire, now: 256 bytes, or what RMPP would take apart. `answers`: the endpoint whose request it
    /// answers, as take() gave it; else mad::any_agent.
    void send(u32 endpoint, const mad::any_path&, std::span<const u8> message, u32 answers = mad::any_agent) noexcept;
    /// From now on the endpoint gets these requests to its port, in place of the agents that are there; of directed routes
    /// those without parts by LID. EINVAL if another endpoint has them.
    int serve(u32 endpoint, const mad::registration&);
    /// From now on no more: they are for the agents that are there.
    void unserve(u32 endpoint, const mad::registration&) noexcept;
    /// Whatever the endpoint serves, the Gets and Sets of SMPs are answered by the port's SMA, but for those of SMInfo: as a host
    /// channel adapter does it, and its driver.
    void serve_beside_sma(u32 endpoint) noexcept { endpoints_[endpoint].is_beside_sma = true; }
    /// The bit IsSM in the port's capability mask: a subnet manager runs there. Where the topology has one, it is set anyway.
    void set_is_sm(u32 endpoint, bool is_sm);
    /// Time goes on to `now`; it never goes back.
    void advance(mad::time_point now) noexcept;
    /// When something happens next that a program could notice: a MAD that is under way gets on, or, where somebody subscribed
    /// to reports, a planned change is due.
    std::optional<mad::time_point> next_event() const noexcept;
    /// When the next of the changes is due that apply_at() and apply_every() planned; nothing: none is left.
    std::optional<mad::time_point> next_change() const noexcept;
    bool has_message(u32 endpoint) const noexcept { return endpoints_[endpoint].first != none; }
    /// The oldest message that has arrived; would_block if there is none.
    mad::received take(u32 endpoint, std::span<u8> buffer) noexcept;

private:
    static constexpr u32 none = ~u32{0};

    /// A MAD under way, or garbage: then only its length is kept, and its bytes come from the seed.
    struct packet {
        u32 next; // in the list that it is in
        u32 endpoint;
        u32 node; // where it is going
        u8 port;  // by which it arrives there
        bool is_directed;
        /// As they are on the wire. Of a directed route back the LIDs are those of the way there.
        mad::IBPath headers;
        bool is_request;            // for an endpoint that serves
        u32 origin;                 // of such a request: the endpoint that it came from
        u32 route_begin, route_end; // of a directed route
        u32 passing;                // the node that it is at on the way
        u8 passing_port;            // by which it came there
        int position;               // on the way, as go_on() counts
        unsigned hops_before;       // cables of the way before its directed part
        unsigned attempts;          // of a report, that are left
        unsigned hops;
        unsigned size;
        u64 garbage_seed; // 0: none
        alignas(8) std::array<u8, mad::mad_size> mad;
        std::vector<u8> whole; // of a message that RMPP would take apart
    };
    enum class stage : u8 { arrival, service, delivery, report, passage, passed };
    struct event {
        mad::time_point when;
        u64 sequence;
        u32 packet;
        stage what;
        /// For a heap with the earliest on top; events of one time keep their order.
        bool operator<(const event& other) const noexcept {
            return when != other.when ? when > other.when : sequence > other.sequence;
        }
    };
    struct node_state {
        node_counters counters;
        mad::time_point busy_until{};     // its SMI and SMA
        mad::time_point gmp_busy_until{}; // its other agents
        mad::duration service_time;
    };
    struct attachment {
        u32 node;
        u8 port;
        bool attached;
        u32 first = none, last = none; // messages that have arrived
        std::vector<mad::registration> served{};
        std::function<void()> rearm{};
        bool is_beside_sma = false;
    };
    struct trap {
        u32 node;
        u8 port;
        std::array<u8, 64> notice; // as an SMP has it; not who reports
    };
    /// Of a port: a trap follows another after the time that PortInfo:SubnetTimeOut gives (IBA 14.3.8).
    struct sent_traps {
        u64 last_tid = 0;
        mad::time_point next{};
    };
    struct timed_change {
        mad::time_point when;
        topology_event what;
        mad::duration period; // 0: once
    };
    struct cut_cable {
        u32 a;
        unsigned port_a;
        u32 b;
        unsigned port_b;
    };

    void happen(const topology_event&, mad::time_point when);
    void plan(const timed_change&);
    void cut(u32 node, unsigned port);
    void restore(u32 node, unsigned port) noexcept;
    void cable_changed(const cut_cable&) noexcept;
    void apply_next_change() noexcept;
    void advance_packet(const event&) noexcept;
    void rearm_all() const;
    static bool is_smp(const packet&) noexcept;
    static std::optional<u8> service_level(const packet&) noexcept;
    static void hold(packet&, std::span<const u8> message) noexcept;
    u32 new_packet() noexcept;
    u32 copy_of(u32 packet) noexcept;
    void free(u32 packet) noexcept;
    void happens(mad::time_point, stage, u32 packet) noexcept;
    void on_arrival(u32 packet) noexcept;
    void on_service(u32 packet) noexcept;
    void on_delivery(u32 packet) noexcept;
    bool send_request(packet&) noexcept;
    bool send_answer(packet&, u32 to) noexcept;
    bool send_directed_answer(packet&, u32 to) noexcept;
    static bool is_without_lids(const packet&) noexcept;
    static bool is_for_sma(const packet&) noexcept;
    bool make_reply(packet&) noexcept;
    mad::IBPath headers_of(const attachment&, const mad::any_path&) const noexcept;
    void turn_headers(packet&) const noexcept;
    bool is_taken(const packet&, u32 node, u8 port) noexcept;
    void report_violation(u32 node, u8 port, const iba::Notice&) noexcept;
    void send_traps() noexcept;
    void send_trap(const trap&) noexcept;
    void send_reports() noexcept;
    void on_report(u32 packet) noexcept;
    u32 server_of(const packet&) const noexcept;
    iba::lid lid_of(const attachment&) const noexcept;
    mad::source_address source_of(const packet&, const attachment& at) const noexcept;
    void travel(u32 packet, stage, double loss) noexcept;
    void depart(u32 packet, stage) noexcept;
    mad::duration crossing(unsigned cables) noexcept;
    void occupy(u32 packet, u32 node, u8 port, mad::duration how_long, stage then) noexcept;
    void drop(u32 packet) noexcept;
    void set_out(packet&, stage) const noexcept;
    void go_on(u32 packet, mad::time_point) noexcept;
    void on_passage(u32 packet) noexcept;
    void on_passed(u32 packet) noexcept;
    void add_garbage(u32 reply) noexcept;

    u64 random() noexcept;
    bool chance(double) noexcept;
    mad::duration up_to(mad::duration) noexcept;

    topology topology_;
    timing timing_;
    faults faults_;
    u64 random_state_;
    std::unique_ptr<agents> agents_;
    std::unique_ptr<router> router_;
    std::vector<node_state> nodes_;
    std::vector<trap> traps_;                             // about to be sent
    std::map<std::pair<u32, u8>, sent_traps> sent_traps_; // by node and port
    std::vector<attachment> endpoints_;
    std::vector<cut_cable> cut_cables_;
    std::vector<timed_change> changes_; // latest first
    std::vector<packet> packets_;
    u32 free_ = none;
    std::vector<event> events_; // a heap
    u64 sequence_ = 0;
    mad::time_point now_{};
    fabric_counters counters_;
};

} // namespace comad::transports::sim
