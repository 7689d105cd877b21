// SPDX-License-Identifier: MIT
// modelled_kernel.hpp - modelled_kernel: the agents, timers, backlogs and receive queue of kernel_model.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/detail/held_requests.hpp>
#include <comad/transports/kernel_model.hpp>

#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace comad::transports {

/// The implementation of kernel_model, whose functions are documented there.
class modelled_kernel {
public:
    modelled_kernel(mad::transport& inner, const kernel_options& options);

    mad::send_result send(const mad::send_request&) noexcept;
    mad::received receive(std::span<u8> buffer) noexcept;
    mad::transport_limits limits() const noexcept;
    std::optional<mad::time_point> next_event() const noexcept;
    void set_now(mad::time_point) noexcept;

    mad::transport& inner() const noexcept { return inner_; }
    const held_requests& held() const noexcept { return held_; }
    const kernel_counters& counters() const noexcept { return counters_; }

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
        std::unique_ptr<waiting_send> waiting; ///< set while it is held back
        timers::iterator timer;                ///< set while it is in flight
    };
    struct agent {
        u8 mgmt_class, class_version;
        std::size_t on_wire = 0; ///< number of requests in flight that count against the cap
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
    unread_message& receive_queue_space();

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
    std::list<unread_message> spare_; ///< unused elements; the first one is filled next
    std::optional<int> gone_;         ///< the inner transport has failed, with this errno
    bool removal_was_reported_ = false;
};

} // namespace comad::transports
