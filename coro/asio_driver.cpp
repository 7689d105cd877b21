// SPDX-License-Identifier: MIT
// asio_driver.cpp - readiness and one timer: the only source file that includes Asio's descriptors.
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>

namespace comad::coro {

struct asio_driver::impl {
    using descriptor = boost::asio::posix::stream_descriptor;

    boost::asio::io_context& io;
    MADSchedule& schedule;
    descriptor device;
    boost::asio::steady_timer timer;
    std::size_t unfinished = 0;
    mad::time_point armed_for = mad::time_point::max(); // the timer's expiry; max: not waiting
    bool reading = false, writing = false, turn_posted = false;

    impl(boost::asio::io_context& context, MADSchedule& s)
        : io(context), schedule(s), device(context, s.transport().native_handle()), timer(context) {}
    ~impl() { device.release(); } // the transport closes it

    void turn() {
        schedule.set_now(std::chrono::steady_clock::now());
        const unsigned expected = std::max(1u, std::min(burst, schedule.in_flight()));
        bool more = !schedule.transport_failed() && schedule.receive(expected) && expected > 1;
        schedule.on_time();
        more = schedule.settle() || more;
        if (unfinished == 0) return;
        if (more) post_turn();
        wait();
    }

    void post_turn() {
        if (std::exchange(turn_posted, true)) return;
        boost::asio::post(io, [this] {
            turn_posted = false;
            turn();
        });
    }

    void wait() {
        if (!schedule.transport_failed()) {
            if (!std::exchange(reading, true)) {
                device.async_wait(descriptor::wait_read, [this](boost::system::error_code error) {
                    reading = false;
                    if (!error && unfinished) turn();
                });
            }
            if (schedule.transport().wants_writable() && !std::exchange(writing, true)) {
                device.async_wait(descriptor::wait_write, [this](boost::system::error_code error) {
                    writing = false;
                    if (!error && unfinished) turn();
                });
            }
        }
        schedule.set_now(std::chrono::steady_clock::now()); // starts the timeouts of what was just sent
        // Re-armed only for an earlier deadline: most deadlines are met, and a late wake-up costs one look.
        const mad::time_point next = schedule.next_deadline();
        if (next >= armed_for) return;
        armed_for = next;
        timer.expires_at(next);
        timer.async_wait([this](boost::system::error_code error) {
            if (error) return; // re-armed or stopped
            armed_for = mad::time_point::max();
            if (unfinished) turn();
        });
    }

    void stop() {
        boost::system::error_code ignored;
        device.cancel(ignored);
        timer.cancel();
        armed_for = mad::time_point::max();
    }
};

asio_driver::asio_driver(boost::asio::io_context& io, MADSchedule& schedule)
    : impl_(std::make_unique<impl>(io, schedule)) {}
asio_driver::~asio_driver() { assert(impl_->unfinished == 0 && "an operation outlives its driver"); }

MADSchedule& asio_driver::schedule() noexcept { return impl_->schedule; }
boost::asio::io_context& asio_driver::context() noexcept { return impl_->io; }

void asio_driver::started() {
    ++impl_->unfinished;
    impl_->schedule.set_now(std::chrono::steady_clock::now());
    impl_->post_turn();
}

void asio_driver::finished() {
    if (--impl_->unfinished == 0) impl_->stop();
}

} // namespace comad::coro
