// SPDX-License-Identifier: MIT
// completion.hpp - completion queues, and the channels whose descriptors tell of them.
#pragma once
#include <comad/verbs/detail/device.hpp>

#include <optional>
#include <span>

namespace comad::verbs {

/// Tells by a descriptor that some of its completion queues have something.
class completion_channel : public owned<ibv_comp_channel> {
public:
    static result<completion_channel> create(const context&);
    /// Readable when there is a notification.
    int descriptor() const noexcept { return get()->fd; }
    /// Takes a notification, if there is one: it never waits. False: there was none.
    result<bool> take_notification() const;

private:
    using owned::owned;
};

class completion_queue : public owned<ibv_cq> {
public:
    /// For `entries` completions at least. With a channel, that tells of it when request_notification() was called.
    static result<completion_queue> create(const context&, unsigned entries,
                                           const std::optional<completion_channel>& channel = std::nullopt,
                                           int vector = 0);
    unsigned capacity() const noexcept { return static_cast<unsigned>(get()->cqe); }
    /// Takes what has completed, as many as there is room for; the beginning of `into`. Never waits.
    result<std::span<ibv_wc>> poll(std::span<ibv_wc> into) const;
    /// One notification for what completes from now on; of receives only those that the sender marked as solicited, if so.
    result<void> request_notification(bool solicited_only = false) const;
    result<void> resize(unsigned entries) const;

private:
    using owned::owned;
};

/// A completion queue and its channel: what has completed, or the promise that the descriptor tells.
class completions {
public:
    completions(completion_queue queue, completion_channel channel)
        : queue_(std::move(queue)), channel_(std::move(channel)) {}
    const completion_queue& queue() const noexcept { return queue_; }
    int descriptor() const noexcept { return channel_.descriptor(); }
    /// As completion_queue::poll(), and from now on the descriptor tells of what completes. `was_readable`: the descriptor is:
    /// what it told is taken from it.
    result<std::span<ibv_wc>> poll(std::span<ibv_wc> into, bool was_readable);
    /// Whether there is nothing of which the descriptor does not tell: else poll() again before waiting for it.
    bool will_tell() const noexcept { return is_requested_ && !was_full_; }

private:
    completion_queue queue_;
    completion_channel channel_;
    bool is_requested_ = false; // and the notification was not taken yet
    bool was_full_ = false;     // the last poll may have left something
};

/// What a completion that failed says: status, vendor's number, QP. Precondition: its status is none of success.
error error_of(const ibv_wc&);

} // namespace comad::verbs
