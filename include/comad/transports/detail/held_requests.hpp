// SPDX-License-Identifier: MIT
// held_requests.hpp - held_requests: counts the requests that the kernel holds for a program, and selects the timeout that the kernel
// gets for each. It depends on no device and no clock.
#pragma once
#include <comad/mad/transport.hpp>

#include <array>

namespace comad::transports {

/// The limits of one descriptor of the MAD device. The send queue of a port takes 128 MADs (IB_MAD_QP_SEND_SIZE);
/// further MADs only wait in the kernel. Kernels since 2025 limit each agent to a quarter of the 512 receive queue
/// entries for SMPs, and to a thirty-second for requests to the SA. They hold back the rest. Their timers count
/// milliseconds.
inline constexpr mad::transport_limits umad_limits{.max_window = 128,
                                                   .sa_window = 16,
                                                   .smi = true,
                                                   .timer_resolution = std::chrono::milliseconds(1),
                                                   .kernel_rmpp = true};

/// The timeout that the kernel gets for a request (docs/explanation/devices.md).
enum class kernel_timeout : u8 {
    automatic, ///< that of the operation while few requests are held, otherwise that of the attempt
    operation, ///< that of the operation: no late reply is dropped, but lost requests are held longer
    attempt,   ///< that of the attempt: the kernel drops later replies
};

/// Counts the requests that a kernel holds for one program, and keeps their number small.
///
/// The engine times the attempts. The kernel only gets a timeout, without retries, after which a reply is useless. Thus a
/// late reply to an earlier attempt still arrives. The kernel returns each request once: as its reply, or with
/// received::status ETIMEDOUT. The request counts as held until the program reads that message.
///
/// Each further request makes the kernel search the list of requests that it holds. A kernel since 2025 also limits how
/// many requests it sends, including lost ones. If many requests are held, the kernel therefore gets only the timeout of
/// the attempt. It then drops an attempt when the next one starts. At the bound, nothing is sent.
class held_requests {
public:
    static constexpr unsigned usual_bound = 128 + 512;
    static constexpr unsigned roomy = 64; ///< with fewer held requests, the kernel gets the timeout of the operation
    /// The number of held requests beyond those in flight. With fewer, requests with an estimated timeout get the
    /// timeout of the operation.
    static constexpr unsigned most_late = 32;

    /// `bound`: at least 1.
    explicit held_requests(unsigned bound, kernel_timeout how = kernel_timeout::automatic) noexcept
        : bound_(bound), how_(how) {}

    /// Returns true if no further request may be sent.
    bool is_full() const noexcept { return count_ >= bound_; }
    /// Returns the number of held requests.
    unsigned count() const noexcept { return count_; }
    /// Returns the number of held requests of one class.
    unsigned count(iba::MgmtClass c) const noexcept { return by_class_[value(c)]; }

    /// Returns the timeout for a request that is sent now, in milliseconds, rounded up. Returns 0 if no reply is
    /// expected; the kernel then holds nothing.
    u32 timeout_ms(const mad::send_request&) const noexcept;
    /// Counts a request of this class that the kernel accepted and that expects a reply.
    void add(iba::MgmtClass) noexcept;
    /// Processes a message that an agent of this class has read. It may be the end of a request.
    void take_back(const mad::received& message, iba::MgmtClass) noexcept;

private:
    unsigned bound_;
    kernel_timeout how_;
    unsigned count_ = 0;
    std::array<unsigned, 256> by_class_{};
};

} // namespace comad::transports
