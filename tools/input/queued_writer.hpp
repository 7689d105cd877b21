// SPDX-License-Identifier: MIT
// queued_writer.hpp - writes to a file or pipe without waiting for whoever reads it. Does not depend on what is written.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ibtool {

/// Writes what the descriptor takes at once. A thread of its own writes the rest, which waits in a queue of bounded size: the
/// event loop never waits for a reader that has stopped, and records that find no room are dropped and counted.
///
/// Threads: all functions may be called from any thread.
class queued_writer {
public:
    /// What write() does with a record that the queue has no room for.
    enum class when_full : std::uint8_t {
        drop, ///< for programs that run until a signal arrives
        wait, ///< for programs that end by themselves: until there is room, or gives_up() returns true
    };
    struct settings {
        when_full full = when_full::drop;
        /// Of the queue, in bytes. A record of any size is taken while the queue is empty.
        std::size_t most = std::size_t{64} << 20;
        /// Called each time the thread cannot write a record, in that thread. May be null.
        std::function<void()> on_error{};
    };
    enum class outcome : std::uint8_t { taken, dropped, failed };

    queued_writer(comad::mad::unique_fd to, settings);
    /// Opens the FIFO in the thread, which waits for a reader.
    queued_writer(std::string fifo, settings);
    /// Does not wait; what is in the queue is lost.
    ~queued_writer();
    queued_writer(const queued_writer&) = delete;
    queued_writer& operator=(const queued_writer&) = delete;

    /// Writes the record, or puts it into the queue. `count`: how many the record stands for where it is dropped.
    outcome write(std::string_view record, std::uint64_t count = 1,
                  const std::function<bool()>& gives_up = {}) noexcept;
    /// From now on.
    void when_queue_is_full(when_full);

    /// Waits until all is written. Gives up as soon as gives_up() returns true; it is called several times a second. What is then
    /// in the queue is dropped, and counts as dropped.
    void finish(const std::function<bool()>& gives_up) noexcept;

    /// How many were dropped: there was no room, or writing failed.
    std::uint64_t dropped() const noexcept;
    /// errno of the first write that failed, or of opening; 0: none has.
    int error() const noexcept;

private:
    struct state;
    std::shared_ptr<state> state_; // shared with the thread, which may be in a write() that never returns
};

/// A gives_up function: true once this much time has passed since it was made.
std::function<bool()> after(std::chrono::milliseconds);

} // namespace ibtool
