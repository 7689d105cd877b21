// SPDX-License-Identifier: MIT
// queued_writer.cpp - writes immediately what a pipe accepts, and the rest in a thread.
#include "input/queued_writer.hpp"

#include <comad/iba/detail/blocked_signals.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <utility>

namespace ibtool {

/// The queue and the file, which the writer shares with its thread.
struct queued_writer::state {
    struct record {
        std::string text;
        std::uint64_t count = 1;
    };

    state(comad::mad::unique_fd descriptor, std::string name, settings s)
        : how(std::move(s)), to(std::move(descriptor)), fifo(std::move(name)) {
        struct stat about {};
        is_regular = to && ::fstat(to.get(), &about) == 0 && S_ISREG(about.st_mode);
    }

    bool is_idle() const { return queue.empty() && !is_writing; }

    /// Writes as much as the descriptor accepts without waiting. Returns the errno of a failed write, else 0.
    int write_now(std::string_view& text) const noexcept {
        while (!text.empty()) {
            pollfd taker{to.get(), POLLOUT, 0};
            if (::poll(&taker, 1, 0) == 0) return 0;
            // A writable pipe accepts PIPE_BUF bytes without blocking.
            const std::size_t most = is_regular ? text.size() : std::min<std::size_t>(text.size(), PIPE_BUF);
            const ssize_t written = ::write(to.get(), text.data(), most);
            if (written < 0 && errno == EAGAIN) return 0;
            if (written < 0 && errno != EINTR) return errno;
            if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        }
        return 0;
    }

    int write_all(std::string_view text) const noexcept {
        while (!text.empty()) {
            const ssize_t written = ::write(to.get(), text.data(), text.size());
            if (written < 0 && errno == EAGAIN) { // another program has made the pipe non-blocking
                pollfd taker{to.get(), POLLOUT, 0};
                ::poll(&taker, 1, -1);
                continue;
            }
            if (written < 0 && errno != EINTR) return errno;
            if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        }
        return 0;
    }

    void note_failure(int why, std::uint64_t count) {
        if (error == 0) error = why;
        dropped += count;
    }

    void drop_all() {
        if (std::exchange(ends, true)) return;
        for (const record& r : queue) dropped += r.count;
        queue.clear();
        if (is_writing) dropped += count_being_written;
        queued = 0;
        changed.notify_all();
    }

    /// Runs in the thread.
    void run(std::unique_lock<std::mutex> lock) {
        if (!fifo.empty()) {
            lock.unlock();
            comad::mad::unique_fd opened(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
            const int why = opened ? 0 : errno;
            lock.lock();
            to = std::move(opened);
            if (why != 0) error = why;
            fifo.clear();
        }
        for (;;) {
            changed.wait(lock, [&] { return ends || !queue.empty(); });
            if (ends) return;
            const record next = std::move(queue.front());
            queue.pop_front();
            is_writing = true;
            count_being_written = next.count;
            lock.unlock();
            const int why = write_all(next.text);
            lock.lock();
            if (ends) return;
            is_writing = false;
            queued -= next.text.size();
            if (why != 0) {
                note_failure(why, next.count);
                if (how.on_error) how.on_error(); // not after the destructor, which takes the lock
            }
            changed.notify_all();
        }
    }

    settings how;
    comad::mad::unique_fd to; // only the thread may use it while it is busy
    std::string fifo;         // FIFO that the thread must open
    bool is_regular = false;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<record> queue;
    std::size_t queued = 0; // bytes in the queue, including those that are being written
    std::uint64_t count_being_written = 0, dropped = 0;
    int error = 0;
    bool is_writing = false, has_thread = false, ends = false;
};

namespace {

constexpr std::chrono::milliseconds slice{20};

} // namespace

queued_writer::queued_writer(comad::mad::unique_fd to, settings s)
    : state_(std::make_shared<state>(std::move(to), std::string(), std::move(s))) {}

queued_writer::queued_writer(std::string fifo, settings s)
    : state_(std::make_shared<state>(comad::mad::unique_fd(), std::move(fifo), std::move(s))) {}

queued_writer::~queued_writer() {
    const std::lock_guard lock(state_->mutex);
    state_->drop_all();
}

queued_writer::outcome queued_writer::write(std::string_view text, std::uint64_t count,
                                            const std::function<bool()>& gives_up) noexcept {
    state& s = *state_;
    std::unique_lock lock(s.mutex);
    try {
        if (s.ends) {
            s.dropped += count;
            return outcome::dropped;
        }
        if (s.is_idle() && s.fifo.empty()) {
            if (const int why = s.write_now(text); why != 0) {
                s.note_failure(why, count);
                return outcome::failed;
            }
            if (text.empty()) return outcome::taken;
        }
        const auto is_full = [&] { return !s.is_idle() && s.queued + text.size() > s.how.most; };
        while (is_full()) {
            if (s.how.full == when_full::drop || (gives_up && gives_up())) {
                s.dropped += count;
                return outcome::dropped;
            }
            s.changed.wait_for(lock, slice);
        }
        s.queue.push_back({std::string(text), count});
        s.queued += text.size();
        if (!std::exchange(s.has_thread, true)) {
            try {
                const comad::iba::blocked_signals of_the_thread; // the thread with the event loop handles signals
                std::thread([kept = state_] { kept->run(std::unique_lock(kept->mutex)); }).detach();
            } catch (const std::system_error&) { // no more threads are available: nothing is written
                s.has_thread = false;
                s.note_failure(EAGAIN, count);
                s.queued -= text.size();
                s.queue.pop_back();
            }
            if (!s.has_thread) return outcome::failed;
        }
        s.changed.notify_all();
        return outcome::taken;
    } catch (const std::exception&) { // no memory is available for the record
        s.dropped += count;
        return outcome::dropped;
    }
}

void queued_writer::when_queue_is_full(when_full what) {
    const std::lock_guard lock(state_->mutex);
    state_->how.full = what;
}

void queued_writer::finish(const std::function<bool()>& gives_up) noexcept {
    state& s = *state_;
    std::unique_lock lock(s.mutex);
    while (!s.is_idle() && !gives_up()) s.changed.wait_for(lock, slice);
    if (!s.is_idle()) s.drop_all();
}

std::uint64_t queued_writer::dropped() const noexcept {
    const std::lock_guard lock(state_->mutex);
    return state_->dropped;
}

int queued_writer::error() const noexcept {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
}

std::function<bool()> after(std::chrono::milliseconds length) {
    return [end = std::chrono::steady_clock::now() + length] { return std::chrono::steady_clock::now() >= end; };
}

} // namespace ibtool
