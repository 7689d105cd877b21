// SPDX-License-Identifier: MIT
// kernel_port.hpp - kernel_port: simulates the kernel's side of a MAD device (rdma/ib_user_mad.h) over a transport that carries single
// MADs. It processes the packets that programs write to and read from /dev/infiniband/umadN. It depends on no file system, clock or
// descriptor.
#pragma once
#include <comad/mad/detail/rmpp.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace comad::transports::vumad {

/// The connection of a port to its fabric.
struct port_place {
    mad::transport* carrier; ///< carries single MADs; must outlive the port
    unsigned port = 0;       ///< port through which directed routes leave a CA; 0: a switch, or unknown
    std::function<void(const mad::registration&)> unserve{}; ///< reverts carrier->serve(); empty: nothing does
    std::function<void(bool)> set_is_sm{};                   ///< sets the port's IsSM bit; empty: it has none
};

/// Counters of a port.
struct port_counters {
    u64 written = 0;   ///< MADs and messages that programs sent
    u64 read = 0;      ///< messages and reports that programs have read
    u64 sent = 0;      ///< MADs sent to the fabric, including segments, acknowledgements and retries
    u64 received = 0;  ///< MADs received from the fabric; whole messages if the fabric carries messages whole
    u64 repeated = 0;  ///< requests and segments sent again after their timeout
    u64 timed_out = 0; ///< timeouts reported to programs
    u64 dropped = 0;   ///< received MADs without a registered agent or waiting request
    std::size_t most_outstanding = 0; ///< largest number of requests in flight
};

/// One end port as the kernel implements it. The agents of all open files share it.
///
/// Agents:    a reply goes to the agent whose number the kernel put into the upper half of the request's transaction
///            ID. A request goes to the agent that registered its class, version, method and OUI. A Get or Set
///            without such an agent gets a reply with status 0x0c.
/// Timeouts:  the header of each send contains a timeout and a number of retries, which end at a tick. Then the
///            kernel reports status ETIMEDOUT with the first 24 bytes. The kernel forgets a request without a timeout
///            at once, and drops its reply.
/// RMPP:      for agents that requested version 1, the port segments, reassembles and acknowledges messages of any
///            length (IBA 13.6). Agents with IB_USER_MAD_USER_RMPP see the segments.
/// Time:      set_now() does everything that was due. All other calls happen at that time.
class kernel_port {
public:
    class file;

    explicit kernel_port(port_place place, mad::duration tick = std::chrono::milliseconds(1));
    ~kernel_port();
    kernel_port(const kernel_port&) = delete;
    kernel_port& operator=(const kernel_port&) = delete;

    /// Opens a file, as open(2) of umadN does. Destroy the file before the port.
    std::unique_ptr<file> open();
    /// Opens the issm device, as open(2) of issmN does, for one user at a time. Returns false if it is open already.
    bool claim_sm();
    /// Closes the issm device, as close(2) of issmN does.
    void give_up_sm();

    /// Returns the time at which set_now() has work to do that no descriptor reports.
    std::optional<mad::time_point> next_event() const noexcept;
    /// Sets the time and does everything that is due.
    void set_now(mad::time_point now);
    /// Returns the errno with which the carrier has failed; 0: it has not failed. After a failure, reads and writes
    /// return EIO.
    int gone() const noexcept { return gone_; }
    /// Returns true if the carrier waits for its descriptor to become writable.
    bool wants_writable() const noexcept { return !outbox_.empty() && place_.carrier->wants_writable(); }

    /// Returns the counters of the port.
    const port_counters& counters() const noexcept { return counters_; }

private:
    static constexpr std::size_t header_size = 64; // of a packet of the device
    static constexpr std::size_t mad_header_size = 24;
    using packet_header = std::array<u8, header_size>;
    struct agent;
    struct sent;
    using sends = std::list<sent>;
    struct timer {
        agent* of;
        sends::iterator which;
    };
    using timers = std::multimap<mad::time_point, timer>;

    /// A MAD that waits to be sent through the carrier.
    struct outgoing {
        mad::any_path path;
        u32 answers;
        alignas(8) std::array<u8, mad::headroom + mad::mad_size> bytes{};
        std::span<u8, mad::mad_size> mad() noexcept { return std::span(bytes).last<mad::mad_size>(); }
    };
    /// A message that a program sent and that the kernel still holds.
    struct sent {
        u64 tid;
        u8 mgmt_class;
        bool is_response;
        packet_header header; // as the program wrote it
        std::array<u8, mad_header_size> mad_header;
        u32 timeout_ms, repetitions;
        outgoing packet; // for single MADs
        std::optional<mad::rmpp_sender> transfer{};
        bool is_acknowledged = false; // the whole transfer was acknowledged
        timers::iterator timer{};
    };
    /// A message that arrives in segments.
    struct incoming {
        mad::rmpp_receiver transfer;
        mad::source_address source;
        std::array<u8, mad_header_size> begin;
        std::optional<mad::time_point> ended{};
    };
    struct agent {
        file* owner;
        u32 id; // identifies the agent within its file
        u16 number;
        mad::registration what; // the class is 0 if the agent registered none
        bool is_smi, has_rmpp, has_user_rmpp;
        sends outstanding{};
        std::unordered_multimap<u32, sends::iterator> by_tid{}; // key: the low half of the transaction ID
        std::list<incoming> arriving{};

        bool has_kernel_rmpp() const noexcept { return has_rmpp && !has_user_rmpp; }
    };

    agent* add_agent(file&, u32 id, const mad::registration&, bool is_smi, bool has_user_rmpp, int& error);
    void remove(agent&);
    bool is_served(const mad::registration&) const noexcept;
    u16 free_number() noexcept;

    int post(agent&, const packet_header&, std::span<const u8> mad);
    bool is_duplicate(const agent&, u64 tid, std::span<const u8> mad, iba::lid DLID) const;
    void keep(agent&, sent&&);
    void end(agent&, sends::iterator);
    void schedule(agent&, sends::iterator, mad::time_point);
    void report(agent&, sends::iterator);
    void expire();

    void work();
    bool take_arrivals();
    void take(const mad::received&);
    void take_segment(agent&, const mad::received&);
    void settle(agent&, incoming&);
    void settle(agent&, sends::iterator);
    void complete(agent&, const mad::source_address&, std::vector<u8> message);
    void deliver(agent&, const mad::source_address&, std::span<const u8> message);
    agent* agent_for(std::span<const u8> mad) noexcept;
    void answer_unserved(const mad::received&);

    void remember_origin(const mad::received&);
    u32 origin_of(std::span<const u8> response, iba::lid DLID) const;
    bool flush();

    const port_place place_;
    const mad::duration tick_;
    mad::time_point now_{};
    int gone_ = 0;
    bool has_sm_ = false;
    std::list<agent> agents_;
    u16 last_number_ = 0;
    timers timers_;
    std::deque<outgoing> outbox_;
    std::vector<u8> buffer_;
    std::size_t outstanding_ = 0;
    // For fabrics that need to know which request a response belongs to.
    std::unordered_map<u64, u32> origins_;
    std::deque<u64> origins_by_age_;
    std::vector<file*> files_;
    port_counters counters_;
};

/// An open MAD device: its read(2), write(2) and ioctl(2), which never block.
class kernel_port::file {
public:
    ~file();
    file(const file&) = delete;
    file& operator=(const file&) = delete;

    /// `request`: IB_USER_MAD_...; `argument`: its structure, in and out. Returns 0 or an errno.
    int ioctl(unsigned long request, void* argument);
    /// Writes or reads one packet. Returns the number of bytes, or a negative errno: -EAGAIN if there is nothing to
    /// read. A packet that does not fit into the buffer remains. If such a packet is longer than a MAD, read()
    /// returns -ENOSPC with its header and first MAD in the buffer.
    std::ptrdiff_t write(std::span<const u8> packet);
    std::ptrdiff_t read(std::span<u8> buffer);
    /// Returns true if read() would return something other than -EAGAIN.
    bool is_readable() const noexcept { return !unread_.empty() || port_.gone_ != 0; }
    /// Sets a function that is called when more data can be read.
    void on_arrival(std::function<void()> notify) { on_arrival_ = std::move(notify); }

private:
    friend class kernel_port;
    explicit file(kernel_port& port) : port_(port) {}
    int register_agent(u32& id, const mad::registration&, u32 qpn, u8 rmpp_version, bool is_user_rmpp);
    std::size_t header_bytes() const noexcept;
    void put(std::vector<u8> packet);

    kernel_port& port_;
    std::array<agent*, 32> agents_{};
    bool has_pkey_index_ = false, is_used_ = false;
    std::deque<std::vector<u8>> unread_;
    std::function<void()> on_arrival_;
};

} // namespace comad::transports::vumad
