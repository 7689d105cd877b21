// SPDX-License-Identifier: MIT
// asio_driver.cpp - implements asio_driver with the transport's descriptor and one timer. No other source file includes Asio's
// descriptors.
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/coro/driver.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace comad::coro {

namespace {

using device_stream = boost::asio::posix::stream_descriptor;

/// Returns whether the group of the schedule's virtual time drives the schedule.
bool is_driven(const MADSchedule& schedule) {
    if (!detail::is_virtual(schedule)) return false;
    if (detail::group_of(schedule)) return true;
    throw std::invalid_argument(
        "asio_driver: the transport uses virtual time, which Asio does not support; use sync_wait, or "
        "testing::virtual_fabric");
}

device_stream stream_of(const boost::asio::any_io_executor& executor, MADSchedule& schedule) {
    if (detail::is_virtual(schedule)) return device_stream(executor);
    return {executor, schedule.transport().native_handle()};
}

} // namespace

// Only the driver owns it. Handlers in the io_context hold weak pointers, because they can run after the driver is
// destroyed.
struct asio_driver::impl : std::enable_shared_from_this<impl> {
    using descriptor = device_stream;

    boost::asio::any_io_executor executor;
    MADSchedule& schedule;
    const bool is_driven_by_others;
    descriptor device;
    boost::asio::steady_timer timer;
    detail::driven* unfinished = nullptr;
    mad::time_point armed_for = mad::time_point::max(); // expiry time of the timer; max: the timer is not waiting
    bool reading = false, writing = false, turn_posted = false;

    impl(boost::asio::any_io_executor in, MADSchedule& s)
        : executor(std::move(in)), schedule(s), is_driven_by_others(is_driven(s)), device(stream_of(executor, s)),
          timer(executor) {
        if (is_driven_by_others) return;
        schedule.use_clock(std::chrono::steady_clock::now);
        schedule.set_now(std::chrono::steady_clock::now()); // the tasks may call now() before the first turn
    }
    ~impl() {
        if (!is_driven_by_others) device.release(); // the transport closes it
    }

    void turn() {
        if (!unfinished || is_driven_by_others) return;
        schedule.set_now(std::chrono::steady_clock::now());
        if (schedule.turn()) post_turn();
        wait();
    }

    void post_turn() {
        if (std::exchange(turn_posted, true)) return;
        boost::asio::post(executor, [watched = weak_from_this()] {
            const auto self = watched.lock();
            if (!self) return;
            self->turn_posted = false;
            self->turn();
        });
    }

    void wait() {
        if (!schedule.transport_failed()) {
            wait_for(descriptor::wait_read, &impl::reading);
            if (schedule.transport().wants_writable()) wait_for(descriptor::wait_write, &impl::writing);
        }
        schedule.set_now(std::chrono::steady_clock::now()); // starts the timeouts of the MADs that were just sent
        // Re-arm the timer only for an earlier deadline. Replies arrive before most deadlines, and a useless wake-up
        // costs only one turn.
        const mad::time_point next = schedule.next_deadline();
        if (next >= armed_for) return;
        if (next <= schedule.now()) return post_turn(); // a timer would cost two system calls
        armed_for = next;
        timer.expires_at(next);
        timer.async_wait([watched = weak_from_this()](boost::system::error_code error) {
            const auto self = watched.lock();
            if (!self || error) return; // the timer was re-armed or stopped
            self->armed_for = mad::time_point::max();
            self->turn();
        });
    }

    void wait_for(descriptor::wait_type what, bool impl::*waiting) {
        if (std::exchange(this->*waiting, true)) return;
        device.async_wait(what, [watched = weak_from_this(), waiting](boost::system::error_code) {
            const auto self = watched.lock();
            if (!self) return;
            // Continue even if the wait was stopped: a new operation may have started since then and depends on this
            // turn.
            (*self).*waiting = false;
            self->turn();
        });
    }

    void stop() {
        boost::system::error_code ignored;
        device.cancel(ignored);
        timer.cancel();
        armed_for = mad::time_point::max();
    }
};

asio_driver::asio_driver(boost::asio::any_io_executor executor, MADSchedule& schedule)
    : impl_(std::make_shared<impl>(std::move(executor), schedule)) {}
asio_driver::~asio_driver() {
    while (impl_->unfinished) impl_->unfinished->abandon();
}

MADSchedule& asio_driver::schedule() noexcept { return impl_->schedule; }
boost::asio::any_io_executor asio_driver::get_executor() const noexcept { return impl_->executor; }
void asio_driver::wake() { impl_->post_turn(); }

void asio_driver::started(detail::driven& d) {
    d.next_ = impl_->unfinished;
    if (d.next_) d.next_->previous_ = &d;
    impl_->unfinished = &d;
    impl_->post_turn();
}

void asio_driver::finished(detail::driven& d) {
    (d.previous_ ? d.previous_->next_ : impl_->unfinished) = d.next_;
    if (d.next_) d.next_->previous_ = d.previous_;
    if (!impl_->unfinished) impl_->stop();
}

std::weak_ptr<void> asio_driver::watch() const noexcept { return impl_; }

} // namespace comad::coro
