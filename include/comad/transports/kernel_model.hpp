// SPDX-License-Identifier: MIT
// kernel_model.hpp - a model of Linux' ib_umad and ib_mad, and of umad_transport over them, in virtual time: for tests and
// measurements without a device.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/detail/held_requests.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

namespace comad::transports {

class modelled_kernel;

/// Which kernel is modeled, and how umad_transport uses it.
struct kernel_options {
    /// The period of the kernel's timer, a jiffy: 1, 4 or 10 ms for HZ = 1000, 250 or 100. A timeout takes whole ticks, and is
    /// noticed at a tick.
    mad::duration tick = std::chrono::milliseconds(1);
    /// Whether the kernel limits each agent, as kernels since 2025 do: at most 128 SMPs, 128 MADs of communication management or
    /// 16 requests to the SA are in flight at a time.
    bool is_capped = false;
    /// As umad_options::max_held. At least 1.
    unsigned max_held = held_requests::usual_bound;
    /// As umad_options::timeout.
    kernel_timeout timeout = kernel_timeout::automatic;
    /// If more messages than this wait to be read, further messages are dropped.
    std::size_t max_unread = 200'000;
};

/// What happened to requests that expect a reply, and what the kernel dropped or refused. Always
/// requests = answered + given_back + failed_held_back + those that are in flight or held back.
struct kernel_counters {
    u64 requests = 0;         ///< accepted by send()
    u64 answered = 0;         ///< with a reply
    u64 given_back = 0;       ///< with the status ETIMEDOUT
    u64 failed_held_back = 0; ///< refused by the inner transport after they were held back: the program gets no report

    u64 late = 0;       ///< replies dropped: to a request that had been given back
    u64 doubled = 0;    ///< replies dropped: to a request that had been answered
    u64 unknown = 0;    ///< replies dropped: to no request in flight, or in another class than the request
    u64 malformed = 0;  ///< messages dropped: incomplete header, or base version other than 1
    u64 overrun = 0;    ///< messages dropped: kernel_options::max_unread
    u64 duplicates = 0; ///< sends refused: a request with this transaction ID is outstanding

    std::size_t most_on_wire = 0;                   ///< largest number in flight
    std::array<std::size_t, 256> most_on_wire_of{}; ///< the same for each management class
    std::size_t most_held_back = 0;                 ///< of one agent, if is_capped
};

/// A umad_transport over a modeled kernel over `inner`, in virtual time. It passes the same timeouts to the kernel and has
/// the same limits (umad_options), and the model treats them as Linux does.
///
///     auto simulation = transports::sim::make_sim("fattree2,radix=4,sm=1,time=virtual");
///     transports::kernel_model kernel(*simulation.transport, {.is_capped = true});
///     coro::MADSchedule schedule(kernel);
///
/// Agents:   One for each management class and version, at most 32 (ENOMEM). The kernel puts the agent's number into the
///           upper half of a request's transaction ID. It refuses a request with EINVAL while the agent has an outstanding one
///           with the same ID, even to another destination.
/// Timeouts: A timeout starts when the request leaves, and ends at a tick. The request is then given back once: status
///           ETIMEDOUT, and its first 24 bytes.
/// Replies:  The first reply to a request in flight, in its class, is delivered; a reply at the very end of the timeout is still
///           in time. All other replies are dropped, including those to sends that expected no reply. Parts of a longer message
///           are not delivered, and do not extend a timeout.
/// Others:   Requests that arrive, sends that expect no reply, and serve() pass unchanged.
/// Time:     set_now() does what the kernel did since the last call, in order. If several programs share a subnet, time must
///           go from event to event, because only the first of them sees every event.
/// Long:     A message that is larger than the buffer is kept until it is read as a whole, as mad::transport::receive() describes.
/// Errors:   After `inner` has failed, each receive() fails, and each send() fails with EIO.
/// Cost:     O(log n) of the outstanding requests for each MAD. Memory for these, for unread messages, and for the last
///           `remembered` requests, which distinguish late and repeated replies from unknown ones.
/// Lifetime: `inner` must outlive it.
/// Threads:  Not thread-safe.
class kernel_model final : public mad::transport {
public:
    /// Throws std::invalid_argument if `inner` runs in real time.
    explicit kernel_model(mad::transport& inner, const kernel_options& options = {});
    ~kernel_model() override;
    kernel_model(const kernel_model&) = delete;
    kernel_model& operator=(const kernel_model&) = delete;

    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override;
    void set_now(mad::time_point) noexcept override;
    mad::port_tables* tables() noexcept override;

    /// Requests that the kernel holds. Like umad_transport, it counts a request until the program has read the reply or the report.
    unsigned held() const noexcept;
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    const kernel_counters& counters() const noexcept;

    static constexpr std::size_t remembered = 16384;

private:
    std::unique_ptr<modelled_kernel> kernel_;
};

} // namespace comad::transports
