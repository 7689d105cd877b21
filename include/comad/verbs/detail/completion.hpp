// SPDX-License-Identifier: MIT
// completion.hpp - completion queues, and completion channels, whose descriptors report completions.
#pragma once
#include <comad/verbs/detail/device.hpp>

#include <optional>
#include <span>

namespace comad::verbs {

/// Reports through a descriptor that one of its completion queues has completions.
class completion_channel : public owned<ibv_comp_channel> {
public:
    /// Creates a channel on a device.
    static result<completion_channel> create(const context&);
    /// Returns a descriptor that is readable when there is a notification.
    int descriptor() const noexcept { return get()->fd; }
    /// Takes a notification. Returns false if there is none. It never blocks.
    result<bool> take_notification() const;

private:
    using owned::owned;
};

/// A completion queue of a device.
class completion_queue : public owned<ibv_cq> {
public:
    /// Creates a queue for at least `entries` completions. If it has a channel, the channel reports completions after
    /// request_notification().
    static result<completion_queue> create(const context&, unsigned entries,
                                           const std::optional<completion_channel>& channel = std::nullopt,
                                           int vector = 0);
    /// Returns the number of completions that the queue can hold.
    unsigned capacity() const noexcept { return static_cast<unsigned>(get()->cqe); }
    /// Takes completions, as many as fit into `into`, and returns the filled part of `into`. It never blocks.
    result<std::span<ibv_wc>> poll(std::span<ibv_wc> into) const;
    /// Requests one notification for the next completion. If `solicited_only`, only receives that the sender marked
    /// as solicited notify.
    result<void> request_notification(bool solicited_only = false) const;
    /// Changes the capacity of the queue.
    result<void> resize(unsigned entries) const;

private:
    using owned::owned;
};

/// A completion queue and its channel. Polling either returns completions or ensures that the descriptor reports the
/// next one.
class completions {
public:
    completions(completion_queue queue, completion_channel channel)
        : queue_(std::move(queue)), channel_(std::move(channel)) {}
    /// Returns the queue.
    const completion_queue& queue() const noexcept { return queue_; }
    /// Returns the descriptor of the channel.
    int descriptor() const noexcept { return channel_.descriptor(); }
    /// Takes completions like completion_queue::poll(), and requests a notification of later ones. Pass
    /// `was_readable` if the descriptor polled readable; its pending notification is then consumed.
    result<std::span<ibv_wc>> poll(std::span<ibv_wc> into, bool was_readable);
    /// Returns true if the descriptor reports all remaining completions. Otherwise, call poll() again before waiting
    /// for the descriptor.
    bool will_report() const noexcept { return is_requested_ && !was_full_; }

private:
    completion_queue queue_;
    completion_channel channel_;
    bool is_requested_ = false; // true: a notification was requested and not taken so far
    bool was_full_ = false;     // the last poll may have left completions
};

/// Converts a failed completion to an error with its status, vendor error and QP. Precondition: the status is not
/// success.
error error_of(const ibv_wc&);

} // namespace comad::verbs
