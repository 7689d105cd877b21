// SPDX-License-Identifier: MIT
// kernel_port.hpp - the kernel's side of a MAD device (rdma/ib_user_mad.h), over a transport that carries single MADs: what
// programs write to /dev/infiniband/umadN in, what they read out. Knows no file system, no clock and no descriptor.
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

/// What a port needs of its fabric.
struct port_place {
    mad::transport* carrier; ///< of single MADs; must outlive the port
    unsigned port = 0;       ///< by which directed routes leave a CA; 0: of a switch, or unknown
    std::function<void(const mad::registration&)> unserve{}; ///< undoes carrier->serve(); empty: nothing undoes it
    std::function<void(bool)> set_is_sm{}; ///< of the port's capability mask; empty: it has no such bit
};

/// 0 where `what` is missing.
struct port_counters {
    u64 written = 0;   ///< MADs and messages that programs sent
    u64 read = 0;      ///< messages and reports that they have read
    u64 sent = 0;      ///< MADs that left for the fabric: each segment, acknowledgement and repetition is one
    u64 received = 0;  ///< MADs that came from it; of fabrics that carry messages whole, messages
    u64 repeated = 0;  ///< requests and segments sent again, their time being over
    u64 timed_out = 0; ///< reported to their programs
    u64 dropped = 0;   ///< arrived, and nobody has asked for them, or waits for them any more
    std::size_t most_outstanding = 0;
};

/// One end port, as the kernel has it: agents of any number of open files share it.
///
/// Agents:    a reply goes to the agent whose number the kernel has put into the upper half of its request's transaction ID, a
///            request to the agent that registered its class, version, method and OUI. A Get or Set that nobody registered is
///            answered with status 0x0c.
/// Timeouts:  of each send, and so many repetitions, as its header says; they end at a tick. Then it is reported: status
///            ETIMEDOUT, the first 24 bytes. One without a timeout is forgotten at once, and its reply is dropped.
/// RMPP:      of agents that asked for version 1, messages of any length are cut into segments, put together and acknowledged
///            (IBA 13.6). Agents with IB_USER_MAD_USER_RMPP see the segments.
/// Time:      set_now() makes up for what has happened. Everything else is at that time.
class kernel_port {
public:
    class file;

    explicit kernel_port(port_place place, mad::duration tick = std::chrono::milliseconds(1));
    ~kernel_port();
    kernel_port(const kernel_port&) = delete;
    kernel_port& operator=(const kernel_port&) = delete;

    /// As open(2) of umadN. The file must be gone before the port.
    std::unique_ptr<file> open();
    /// As open(2) and close(2) of issmN: one at a time. False: somebody has it.
    bool claim_sm();
    void give_up_sm();

    /// When set_now() has something to do although no descriptor tells of it.
    std::optional<mad::time_point> next_event() const noexcept;
    void set_now(mad::time_point now);
    /// The carrier has failed, with this errno; 0: it has not. From then on reads and writes fail with EIO.
    int gone() const noexcept { return gone_; }
    /// The carrier waits for its descriptor to become writable.
    bool wants_writable() const noexcept { return !outbox_.empty() && place_.carrier->wants_writable(); }

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

    /// A MAD on its way to the carrier.
    struct outgoing {
        mad::any_path path;
        u32 answers;
        alignas(8) std::array<u8, mad::headroom + mad::mad_size> bytes{};
        std::span<u8, mad::mad_size> mad() noexcept { return std::span(bytes).last<mad::mad_size>(); }
    };
    /// A message that a program sent and the kernel still has.
    struct sent {
        u64 tid;
        u8 mgmt_class;
        bool is_response;
        packet_header header; // as it was written
        std::array<u8, mad_header_size> mad_header;
        u32 timeout_ms, repetitions;
        outgoing packet; // of a single MAD
        std::optional<mad::rmpp_sender> transfer{};
        bool is_acknowledged = false; // the whole transfer
        timers::iterator timer{};
    };
    /// A message that arrives segment by segment.
    struct incoming {
        mad::rmpp_receiver transfer;
        mad::source_address source;
        std::array<u8, mad_header_size> begin;
        std::optional<mad::time_point> ended{};
    };
    struct agent {
        file* owner;
        u32 id; // in the file
        u16 number;
        mad::registration what; // its class is 0 if it registered none
        bool is_smi, has_rmpp, has_user_rmpp;
        sends outstanding{};
        std::unordered_multimap<u32, sends::iterator> by_tid{}; // its low half
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
    // Fabrics that want to be told which request an answer is to.
    std::unordered_map<u64, u32> origins_;
    std::deque<u64> origins_by_age_;
    std::vector<file*> files_;
    port_counters counters_;
};

/// What open(2) of the device gives: its read(2), write(2) and ioctl(2), which never wait.
class kernel_port::file {
public:
    ~file();
    file(const file&) = delete;
    file& operator=(const file&) = delete;

    /// `request`: IB_USER_MAD_...; `argument`: its structure, in and out. Gives 0 or an errno.
    int ioctl(unsigned long request, void* argument);
    /// One packet in, or out. Bytes, or a negative errno: -EAGAIN of a read if there is none. A packet that does not fit stays;
    /// of one longer than a MAD, -ENOSPC, its header and first MAD are in the buffer.
    std::ptrdiff_t write(std::span<const u8> packet);
    std::ptrdiff_t read(std::span<u8> buffer);
    /// read() would give something else than -EAGAIN.
    bool is_readable() const noexcept { return !unread_.empty() || port_.gone_ != 0; }
    /// Called when something more can be read.
    void on_arrival(std::function<void()> tell) { tell_ = std::move(tell); }

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
    std::function<void()> tell_;
};

} // namespace comad::transports::vumad
