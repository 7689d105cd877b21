// SPDX-License-Identifier: MIT
// fabric_core.hpp - the implementation of sim::fabric and sim_transport: MADs in flight, changes of the subnet, and endpoints.
#pragma once
#include "agents.hpp"
#include "router.hpp"
#include "scripts.hpp"
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace comad::transports::sim {

/// The implementation of fabric. The header of fabric documents the members that both have.
class fabric_core {
public:
    explicit fabric_core(topology t, const timing& times = {}, const faults& wrong = {});
    ~fabric_core();
    fabric_core(const fabric_core&) = delete;
    fabric_core& operator=(const fabric_core&) = delete;

    const topology& graph() const noexcept { return topology_; }
    mad::time_point now() const noexcept { return now_; }

    void apply(const topology_event&);
    void apply_at(mad::time_point, const topology_event&);
    void apply_every(mad::duration period, mad::time_point first, const topology_event&);
    void set_service_time(u32 node, mad::duration) noexcept;
    void set_loss(double) noexcept;
    void set_loss(u32 node, double) noexcept;
    void answer(u32 node, iba::MgmtClass, u16 attributeID, scripted_answer);
    void change_replies(u32 node, iba::MgmtClass, u16 attributeID, reply_change);

    void carry(const load&) noexcept;
    void set_bit_error_rate(u32 node, unsigned port, double rate);
    void set_pma(u32 node, u8 capabilities) noexcept;
    void set_tick(u32 node, u8 tick) noexcept;
    void carry_from(u32 node, unsigned port, double utilization, double congestion);
    void set_congestion_control(u32 node, bool has_it) noexcept;
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventSwitch&);
    void log_congestion(u32 node, unsigned port, const iba::cc::CongestionLogEventCA&);

    void set_manager(u32 node, unsigned port, iba::SMState, u8 priority);
    void set_keys(u64 key);
    void set_adaptive_routing(u32 node, bool is_on);
    void spread_routes();

    const node_counters& counters(u32 node) const noexcept { return nodes_[node].counters; }
    const fabric_counters& counters() const noexcept { return counters_; }
    unsigned most_held() const noexcept;

    // ---- For sim_transport ----

    /// Adds an endpoint, which sends and receives at this port. Throws std::runtime_error if the node has no such port.
    u32 attach(u32 node, unsigned port);
    /// Removes the endpoint. MADs in flight to it are dropped.
    void detach(u32 endpoint) noexcept;
    /// Calls `rearm`, until detach(), when another endpoint has sent a message: next_event() can be earlier then.
    void on_change(u32 endpoint, std::function<void()> rearm) { endpoints_[endpoint].rearm = std::move(rearm); }
    /// Calls `rearm` of all endpoints except this one, which has sent a message.
    void notify_others(u32 endpoint) const;
    /// Returns the present P_Key and GID tables of the endpoint's port.
    mad::port_tables port_tables_of(u32 endpoint) noexcept;
    /// Returns a number that changes when a table may have changed.
    u64 port_writes() const noexcept;
    /// Sends a message now: 256 bytes, or a longer message that RMPP would divide into segments. `answers`: the endpoint whose
    /// request this message replies to, as take() reported it; else mad::any_agent.
    void send(u32 endpoint, const mad::any_path&, std::span<const u8> message, u32 answers = mad::any_agent) noexcept;
    /// Makes the endpoint receive these requests to its port, instead of the simulated agents; directed-route requests only if they have
    /// no LID-routed part. Returns 0, or EINVAL if another endpoint receives them.
    int serve(u32 endpoint, const mad::registration&);
    /// Ends serve(): the simulated agents receive these requests again.
    void unserve(u32 endpoint, const mad::registration&) noexcept;
    /// Makes the port's SMA respond to all Gets and Sets of SMPs except SMInfo, even if the endpoint serves them. A host channel adapter
    /// and its driver do the same.
    void serve_next_to_sma(u32 endpoint) noexcept { endpoints_[endpoint].is_next_to_sma = true; }
    /// Sets the bit IsSM in the port's CapabilityMask. At the port of the topology's subnet manager it is always set.
    void set_is_sm(u32 endpoint, bool is_sm);
    void advance(mad::time_point now) noexcept;
    std::optional<mad::time_point> next_event() const noexcept;
    std::optional<mad::time_point> next_change() const noexcept;
    bool has_message(u32 endpoint) const noexcept { return endpoints_[endpoint].first != none; }
    /// Returns the oldest message that has arrived; would_block if no message has arrived.
    mad::received take(u32 endpoint, std::span<u8> buffer) noexcept;

private:
    static constexpr u32 none = ~u32{0};

    /// A MAD in flight, or a malformed message, of which only the length is stored; its bytes come from a seed.
    struct packet {
        u32 next; // the next packet in the same list
        u32 endpoint;
        u32 node; // destination of the present stage
        u8 port;  // port of arrival at the destination
        bool is_directed;
        /// The headers of the packet. For a directed-route reply, the LIDs are those of the request.
        mad::IBPath headers;
        bool is_request;            // a request for an endpoint that serves
        u32 origin;                 // endpoint that sent a request for an endpoint that serves
        u32 route_begin, route_end; // ends of a directed route
        u32 passing;                // the node that the packet passes now
        u8 passing_port;            // port of arrival at that node
        int position;               // position on the route, as in go_on()
        unsigned hops_before;       // cables before the directed part of the route
        unsigned attempts;          // remaining attempts of a Report
        unsigned hops;
        unsigned size;
        u64 garbage_seed; // 0: not malformed
        alignas(8) std::array<u8, mad::mad_size> mad;
        std::vector<u8> whole; // a message that RMPP would segment
    };
    enum class stage : u8 { arrival, service, delivery, report, passage, passed };
    struct event {
        mad::time_point when;
        u64 sequence;
        u32 packet;
        stage what;
        /// Orders a heap with the earliest event on top. Events at one time keep their order.
        bool operator<(const event& other) const noexcept {
            return when != other.when ? when > other.when : sequence > other.sequence;
        }
    };
    struct node_state {
        node_counters counters;
        mad::time_point busy_until{};     // SMI and SMA
        mad::time_point gmp_busy_until{}; // other agents
        mad::duration service_time;
        double loss = 0;
    };
    struct attachment {
        u32 node;
        u8 port;
        bool attached;
        u32 first = none, last = none; // list of messages that have arrived
        std::vector<mad::registration> served{};
        std::function<void()> rearm{};
        bool is_next_to_sma = false;
    };
    struct trap {
        u32 node;
        u8 port;
        std::array<u8, 64> notice; // notice as in an SMP, without the issuer
    };
    /// The traps of a port. A trap is sent only after the time in PortInfo:SubnetTimeOut since the last one (IBA
    /// 14.3.8).
    struct sent_traps {
        u64 last_tid = 0;
        mad::time_point next{};
    };
    struct timed_change {
        mad::time_point when;
        topology_event what;
        mad::duration period; // 0: happens once
    };
    struct cut_cable {
        u32 a;
        unsigned port_a;
        u32 b;
        unsigned port_b;
    };

    void apply_event(const topology_event&, mad::time_point when);
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
    void schedule(mad::time_point, stage, u32 packet) noexcept;
    void on_arrival(u32 packet) noexcept;
    void on_service(u32 packet) noexcept;
    void on_delivery(u32 packet) noexcept;
    bool send_request(packet&) noexcept;
    bool send_answer(packet&, u32 to) noexcept;
    bool send_directed_answer(packet&, u32 to) noexcept;
    static bool is_without_lids(const packet&) noexcept;
    static bool is_for_sma(const packet&) noexcept;
    bool make_reply(u32 packet) noexcept;
    bool agents_reply(packet&) noexcept;
    bool scripted_reply(u32 packet) noexcept;
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
    std::unique_ptr<scripts> scripts_;
    std::vector<node_state> nodes_;
    std::vector<trap> traps_;                             // traps to send after the present event
    std::map<std::pair<u32, u8>, sent_traps> sent_traps_; // traps by node and port
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
