// SPDX-License-Identifier: MIT
// transport.hpp - the transport over a simulated subnet, in virtual or in real time, and the text that asks for one.
// Knows nothing of what the subnet does with MADs: that is the fabric's.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports::sim {

enum class time_mode : u8 {
    virtual_, ///< the driver says what time it is; no descriptor
    real,     ///< delays pass by the clock; a descriptor is readable when something is due
};

/// A program at one port of a fabric.
///
/// In real time it asks the steady clock itself, the one transport that does: delays that nobody counts would not pass.
/// Its descriptor is a timer that is set to the fabric's next event; no thread is involved. Two in real time on one
/// fabric must be used by one thread, and real and virtual time do not mix on a fabric.
///
/// A GMP leaves with the indices that tables() finds for its path, unless the path has explicit ones: then it leaves with these,
/// whatever the tables say, as from a device. A path that does not fit the tables is refused with EADDRNOTAVAIL.
/// A MAD whose size is not mad_size is refused with EMSGSIZE, unless RMPP would take it apart; such messages travel whole.
/// Everything else is taken, and dropped as a subnet does. A program can serve requests, in place of the agents that its
/// port has.
class sim_transport final : public mad::transport {
public:
    /// `net` must outlive it. Throws std::runtime_error when the node has no such port, std::system_error when the
    /// kernel gives no timer.
    sim_transport(fabric& net, u32 node, unsigned port, time_mode mode);
    /// At the default node, by the first port that has a cable.
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

    /// As fabric has them, of this place.
    void unserve(const mad::registration& what) noexcept { fabric_.unserve(endpoint_, what); }
    void serve_beside_sma() noexcept { fabric_.serve_beside_sma(endpoint_); }
    void set_is_sm(bool is_sm) { fabric_.set_is_sm(endpoint_, is_sm); }

    u32 node() const noexcept { return node_; }
    unsigned port() const noexcept { return port_; }

private:
    void follow_clock() noexcept;
    void set_timer() noexcept;

    fabric& fabric_;
    u32 node_;
    unsigned port_;
    u32 endpoint_;
    mad::port_tables tables_;
    u64 tables_read_at_;   // fabric::port_writes()
    std::string misfit_;   // of the latest path that did not fit them
    mad::unique_fd timer_; // none in virtual time
    std::optional<mad::time_point> timer_set_to_;
};

/// The port by which a program uses a node: 0 of a switch, else the first one with a cable, else 1.
unsigned default_port(const node&) noexcept;

/// A fabric of one's own, and a place in it.
struct simulation {
    std::unique_ptr<sim::fabric> fabric;
    std::unique_ptr<sim_transport> place;
    std::unique_ptr<kernel_model> kernel; ///< between the program and its place; null unless asked for
    mad::transport* transport = nullptr;  ///< the program's: the kernel if there is one, else the place
    std::vector<std::string> notes;       ///< lines for a user about what the text leaves out or is likely not meant
};

/// Makes what a text asks for: a kind of make_topology() with its keys, or the name of a topology file, then
///
///     latency=1us jitter=0us delay=0us               timing: a cable, more of it, whatever the way; each way
///     service=4us transit=0us buffer=0               an SMP in an SMA, on its way through a switch, SMPs a node holds
///     loss=0 duplicate=0 reorder=0 busy=0 garbage=0  probabilities (loss: each way)
///     seed=1                                         of chance
///     at=NODE port=1                                 where the program runs: an id, a description or a GUID as 0x...
///     slow=NODE:TIME slow=0.1:TIME                   service time of a node, or of that share of the nodes; repeatable
///     dead=NODE dead=0.1                             a node whose management is dead, or that share of all but the one
///                                                    where the program runs; repeatable
///     cut=NODE/PORT@TIME restore=NODE/PORT@TIME      a change (fabric.hpp) so long after the beginning; repeatable
///     kill=NODE@TIME revive=NODE@TIME
///     flap=NODE/PORT@FIRST:DOWN:PERIOD               a cable that is cut at FIRST, restored DOWN later, and so on after
///                                                    each PERIOD; repeatable
///     link=NODE/PORT:1xQDR                           the link of a port runs at this width and speed, less than both ends
///                                                    support, until it trains again; repeatable
///     sm=1                                           a subnet manager was there, where the program runs: LIDs, links
///                                                    Active, an SA; sm=NODE: at that node
///     counters=SEED                                  ports have counted traffic and errors before
///     traffic=R                                      packets a second in each direction of every cable (performance.hpp)
///     errors=R errors=0.5:R                          symbol errors a second at both ends of an eighth, or that share, of
///                                                    the cables, and what follows from them
///     pma=ABILITIES pma=NODE:ABILITIES pma=0.5:...   what all PMAs, that of a node or those of a share of the nodes can
///                                                    do: full, basic (nothing beside PortCounters), or some of all (port
///                                                    255), wait, qp1, wide (PortCountersExt), with unicast and errors,
///                                                    groups (all others), rsfec, as in wide+unicast+wait; repeatable
///     cc=WHAT cc=NODE:WHAT cc=0.5:WHAT               congestion control of all nodes, one or a share: none, or how many
///                                                    events each agent has logged before; repeatable
///     strict                                         of a file: nothing in it is skipped (topology_file/read.hpp)
///     ar=NODE ar=0.5                                 a switch of Mellanox, or that share of the nodes, says that it routes
///                                                    adaptively; its tables stay static; repeatable
///     keys=KEY                                       M_Key, SM_Key, CC_Key and vs_key of the whole subnet, a decimal number
///     manager=NODE:STATE:PRIORITY                    another subnet manager, which answers SMInfo and does nothing else:
///                                                    notactive, discovering, standby or master, priority 0 to 15; at the
///                                                    node of sm= its state and priority; repeatable
///     time=real                                      or virtual; unless it is given, `mode`
///     kernel kernel=2025                             the program uses umad over a Linux kernel (kernel_model.hpp), until
///                                                    2024 or since 2025, in virtual time only
///
/// as in `fattree3,radix=16,latency=10us,loss=0.01,flap=core-0001/2@1ms:200us:5ms`. In virtual time the beginning is 0, in
/// real time when it is made. Shares are drawn by the seed, of each kind anew. A comma ends a value, so that no name can contain one.
/// Errors: std::runtime_error, one line that says what and what to do.
simulation make_sim(std::string_view specification, time_mode mode = time_mode::real);

} // namespace comad::transports::sim
