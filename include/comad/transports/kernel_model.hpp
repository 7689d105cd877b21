// SPDX-License-Identifier: MIT
// kernel_model.hpp - what Linux' ib_umad and ib_mad, and our transport over them, make of another transport: a transport in
// virtual time. Knows of a MAD its header, and no device.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/held_requests.hpp>

#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace comad::transports {

struct kernel_options {
    /// Of the kernel's timers, a jiffy: 1, 4 or 10 ms where HZ is 1000, 250 or 100. A timeout takes whole ticks, and is
    /// noticed at a tick.
    mad::duration tick = std::chrono::milliseconds(1);
    /// As kernels since 2025: of an agent at most 128 SMPs, 128 MADs of communication management or 16 requests to the
    /// SA are on the wire at a time.
    bool is_capped = false;
    /// As umad_options::max_held. At least 1.
    unsigned max_held = held_requests::usual_bound;
    /// As umad_options::timeout.
    kernel_timeout timeout = kernel_timeout::by_room;
    /// While more messages than these wait to be read, those that arrive are dropped.
    std::size_t max_unread = 200'000;
};

/// What became of the requests that expect a reply, and what was dropped or refused.
/// requests = answered + given_back + failed_held_back + those that are on the wire or held back.
struct kernel_counters {
    u64 requests = 0; ///< taken
    u64 answered = 0;
    u64 given_back = 0;
    u64 failed_held_back = 0; ///< refused by the inner transport after they had waited: the program never hears of them

    u64 late = 0;       ///< replies dropped: to a request that had been given back,
    u64 doubled = 0;    ///< to one that had been answered,
    u64 unknown = 0;    ///< to none that is on the wire, or in another class than its
    u64 malformed = 0;  ///< messages dropped: no header, or not base version 1
    u64 overrun = 0;    ///< messages dropped: max_unread
    u64 duplicates = 0; ///< sends refused: their transaction ID is outstanding

    std::size_t most_on_wire = 0;                   ///< at one instant
    std::array<std::size_t, 256> most_on_wire_of{}; ///< of one management class
    std::size_t most_held_back = 0;                 ///< of one agent, where is_capped
};

/// A umad_transport over a kernel over `inner`, in virtual time: it tells the kernel the same timeouts and has the same
/// bounds (held_requests), and does with them what the kernel does.
///
/// Agents:   one for each management class and version, at most 32 (ENOMEM). The kernel puts the agent's number into the
///           upper half of a request's transaction ID, and refuses it with EINVAL while the agent has an outstanding one
///           of the same number, wherever that went.
/// Timeouts: begin when a request leaves, end at a tick. Then it comes back once: status ETIMEDOUT, its first 24 bytes.
/// Replies:  the first one to a request on the wire, in its class, is given; at the very end of the timeout it is still in
///           time. All others are dropped: also those to what expected no reply. Pieces of a message are not shown, and
///           do not prolong anything.
/// Others:   requests that arrive, and whatever is sent without expecting a reply, pass as they are; so does serve().
/// Time:     set_now() makes up for what the kernel did meanwhile, in order, whether the program looked or not: replies
///           arrived in time or late, requests that were held back left. (Where several programs share a subnet, time has
///           to go from event to event: only the first of them sees how it passed.)
/// Long:     a message that is larger than the buffer is kept until it is read whole, as of mad::transport::receive().
/// Removal:  once `inner` fails, so does every receive(), and every send() with EIO.
/// Cost:     O(log n) of the outstanding requests for each MAD. Memory: of these, of unread messages, and of the latest
///           `remembered` requests, which tell late and doubled replies from unknown ones.
class kernel_model final : public mad::transport {
public:
    /// `inner` must outlive it. Throws std::invalid_argument if that runs in real time.
    explicit kernel_model(mad::transport& inner, kernel_options options = {});

    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override { return inner_.serve(what); }
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override { return inner_.simulated_time(); }
    void set_now(mad::time_point) noexcept override;

    /// As umad_transport counts them: until the program has read the reply or the report.
    unsigned held() const noexcept { return held_.count(); }
    mad::port_tables* tables() noexcept override { return inner_.tables(); }
    std::optional<unsigned> held(iba::MgmtClass c) const noexcept override { return held_.count(c); }
    const kernel_counters& counters() const noexcept { return counters_; }

    static constexpr std::size_t remembered = 16384;

private:
    static constexpr std::size_t header_size = 24;
    enum class place : u8 { held_back, on_wire, answered, given_back };
    /// A send that waits for its turn; `request` refers to the others.
    struct waiting_send {
        explicit waiting_send(const mad::send_request&);
        mad::any_path path;
        std::vector<u8> bytes;
        mad::send_request request;
    };
    struct entry; // a request
    using requests = std::list<entry>;
    using timers = std::multimap<mad::time_point, requests::iterator>;
    struct entry {
        u64 tid;
        place where;
        u8 mgmt_class;
        bool is_capped; ///< counts against the cap of its agent
        u32 timeout_ms;
        std::array<u8, header_size> header;
        std::unique_ptr<waiting_send> waiting; ///< while it is held back
        timers::iterator timer;                ///< while it is on the wire
    };
    struct agent {
        u8 mgmt_class, class_version;
        std::size_t on_wire = 0; ///< of those that count
        requests backlog{};
    };
    struct unread_message {
        std::vector<u8> bytes;
        mad::received content{}; ///< refers to them
    };

    agent* agent_for(const mad::send_request&) noexcept;
    agent& agent_of(const entry&) noexcept;
    bool must_wait(const agent&, std::span<const u8> mad) const noexcept;
    bool is_outstanding(u64 tid) const noexcept;
    requests::iterator enter(const mad::send_request&, u32 timeout_ms);
    void leave(requests::iterator, requests& from);
    void end(requests::iterator, place how);
    void refill(agent&);

    void do_until(mad::time_point);
    void take_arrivals();
    bool is_for_program(const mad::received&);
    bool answers(const mad::received&);
    void expire();
    unread_message& unread_room();

    mad::transport& inner_;
    const kernel_options options_;
    const bool has_rmpp_;
    held_requests held_;
    kernel_counters counters_;
    mad::time_point now_{};
    std::vector<agent> agents_; ///< number 1 is the first
    requests on_wire_;
    requests ended_; ///< the latest are last
    std::unordered_map<u64, requests::iterator> by_tid_;
    timers timers_;
    std::array<std::size_t, 256> on_wire_of_{};
    std::vector<u8> outgoing_;
    std::list<unread_message> unread_;
    std::list<unread_message> spare_; ///< its first one is filled next
    std::optional<int> gone_;         ///< the inner transport has failed, with this errno
    bool gone_was_told_ = false;
};

} // namespace comad::transports
