// SPDX-License-Identifier: MIT
// held_requests.hpp - how many requests a kernel carries for a program, and what it is told of each: how long to hold it.
// Knows no device and no clock.
#pragma once
#include <comad/mad/transport.hpp>

#include <array>

namespace comad::transports {

/// Of one descriptor. The send queue of a port takes 128 MADs (IB_MAD_QP_SEND_SIZE); more only wait in the kernel. Of an agent,
/// kernels since 2025 send a quarter of the receive queue's 512 as SMPs and a thirty-second to the SA, and hold back the
/// rest. Timers count milliseconds.
inline constexpr mad::transport_limits umad_limits{.max_window = 128,
                                                   .sa_window = 16,
                                                   .smi = true,
                                                   .timer_resolution = std::chrono::milliseconds(1),
                                                   .kernel_rmpp = true};

/// How long a kernel is told to hold a request (docs/explanation/devices.md).
enum class kernel_timeout : u8 {
    automatic, ///< as long as its operation lasts, while few are held; then as long as its attempt
    operation, ///< as long as its operation lasts: no late reply is lost, and what is lost is held all that time
    attempt,   ///< as long as its attempt: whatever comes later is dropped by the kernel
};

/// The requests that a kernel holds for one program, and the rule that keeps them few.
///
/// The engine times attempts; the kernel is told, without retries of its own, how long an answer is of use, so that a late
/// reply to an earlier attempt still arrives. Each request comes back from the kernel once: as its reply, or with
/// received::status ETIMEDOUT. Until that is read it counts as held: every further request costs the kernel a walk along those
/// that it holds, and a kernel since 2025 sends no more than a number of them, lost ones included. Hence, while many are held,
/// the kernel is told the attempt's timeout only, so that an attempt leaves it when the next one starts; and at the bound
/// nothing is sent.
class held_requests {
public:
    static constexpr unsigned usual_bound = 128 + 512;
    static constexpr unsigned roomy = 64; ///< held: fewer leave room for those that are waited for long
    /// Held beyond what is in flight: fewer leave room for those of whom nobody knows how long they take.
    static constexpr unsigned most_late = 32;

    /// `bound`: at least 1.
    explicit held_requests(unsigned bound, kernel_timeout how = kernel_timeout::automatic) noexcept
        : bound_(bound), how_(how) {}

    bool is_full() const noexcept { return count_ >= bound_; }
    unsigned count() const noexcept { return count_; }
    unsigned count(iba::MgmtClass c) const noexcept { return by_class_[value(c)]; }

    /// The timeout for a request that is to be sent now, in milliseconds, rounded up. 0: no reply is expected, nothing is
    /// held.
    u32 timeout_ms(const mad::send_request&) const noexcept;
    /// The kernel took a request of this class, and expects a reply.
    void add(iba::MgmtClass) noexcept;
    /// The program has read `message`, which came to an agent of this class: it may be the end of a request.
    void take_back(const mad::received& message, iba::MgmtClass) noexcept;

private:
    unsigned bound_;
    kernel_timeout how_;
    unsigned count_ = 0;
    std::array<unsigned, 256> by_class_{};
};

} // namespace comad::transports
