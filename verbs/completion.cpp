// SPDX-License-Identifier: MIT
// completion.cpp - implements completion queues and completion channels.
#include <comad/verbs/detail/completion.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>

namespace comad::verbs {

result<completion_channel> completion_channel::create(const context& device) {
    errno = 0;
    ibv_comp_channel* const raw = ::ibv_create_comp_channel(device.get());
    if (!raw) return failed(fmt::format("cannot create a completion channel on {}", device.name()), errno);
    completion_channel made(own(raw, ::ibv_destroy_comp_channel, device));
    const int flags = ::fcntl(raw->fd, F_GETFL);
    if (flags < 0 || ::fcntl(raw->fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return failed(fmt::format("cannot wait for completions of {}", device.name()), errno);
    return made;
}

result<bool> completion_channel::take_notification() const {
    ibv_cq* queue = nullptr;
    void* unused = nullptr;
    errno = 0;
    if (::ibv_get_cq_event(get(), &queue, &unused) != 0) {
        if (errno == EAGAIN || errno == EINTR) return false;
        return failed("cannot read the completion channel", errno ? errno : EIO);
    }
    ::ibv_ack_cq_events(queue, 1);
    return true;
}

result<completion_queue> completion_queue::create(const context& device, unsigned entries,
                                                  const std::optional<completion_channel>& channel, int vector) {
    errno = 0;
    ibv_cq* const raw =
        ::ibv_create_cq(device.get(), static_cast<int>(entries), nullptr, channel ? channel->get() : nullptr, vector);
    if (!raw)
        return failed(fmt::format("cannot create a completion queue of {} entries on {}", entries, device.name()),
                      errno);
    return completion_queue(own(raw, ::ibv_destroy_cq, device, channel));
}

result<std::span<ibv_wc>> completion_queue::poll(std::span<ibv_wc> into) const {
    const int count = ::ibv_poll_cq(get(), static_cast<int>(into.size()), into.data());
    if (count < 0) return failed("cannot poll the completion queue", EIO);
    return into.first(static_cast<std::size_t>(count));
}

result<void> completion_queue::request_notification(bool solicited_only) const {
    if (const int error = ::ibv_req_notify_cq(get(), solicited_only))
        return failed("cannot request a notification from the completion queue", error);
    return success();
}

result<void> completion_queue::resize(unsigned entries) const {
    if (const int error = ::ibv_resize_cq(get(), static_cast<int>(entries)))
        return failed(fmt::format("cannot resize the completion queue to {} entries", entries), error);
    return success();
}

// Requests the notification before polling. The poll finds completions that arrive in between; the extra notification
// is harmless.
result<std::span<ibv_wc>> completions::poll(std::span<ibv_wc> into, bool was_readable) {
    if (was_readable && is_requested_) {
        const auto taken = channel_.take_notification();
        if (!taken) return taken.error();
        is_requested_ = !taken.value();
    }
    if (!is_requested_)
        if (const auto requested = queue_.request_notification(); !requested) return requested.error();
    is_requested_ = true;
    auto found = queue_.poll(into);
    was_full_ = found && found.value().size() == into.size();
    return found;
}

error error_of(const ibv_wc& wc) {
    return {fmt::format("work request {:#x} of QP {} failed: {} (vendor error {:#x})", wc.wr_id, wc.qp_num,
                        ::ibv_wc_status_str(wc.status), wc.vendor_err)};
}

} // namespace comad::verbs
