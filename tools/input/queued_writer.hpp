// SPDX-License-Identifier: MIT
// queued_writer.hpp - writes to a file or pipe without waiting for its reader. Does not depend on the data.
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

/// Writes directly what the descriptor accepts. Its own thread writes the rest from a queue of bounded size. So the event loop never waits
/// for a reader that has stopped. Records that do not fit are dropped and counted.
///
/// Threads: all functions may be called from any thread.
class queued_writer {
public:
    /// The behavior of write() for a record that does not fit into the queue.
    enum class when_full : std::uint8_t {
        drop, ///< for programs that run until a signal arrives
        wait, ///< for programs that end by themselves: until there is space, or until gives_up() returns true
    };
    struct settings {
        when_full full = when_full::drop;
        /// Size of the queue in bytes. An empty queue accepts a record of any size.
        std::size_t most = std::size_t{64} << 20;
        /// Called in the thread each time it cannot write a record. May be null.
        std::function<void()> on_error{};
    };
    /// The result of write().
    enum class outcome : std::uint8_t { taken, dropped, failed };

    queued_writer(comad::mad::unique_fd to, settings);
    /// Opens the FIFO in the thread, which waits for a reader.
    queued_writer(std::string fifo, settings);
    /// Does not wait; data in the queue is lost.
    ~queued_writer();
    queued_writer(const queued_writer&) = delete;
    queued_writer& operator=(const queued_writer&) = delete;

    /// Writes the record, or adds it to the queue. `count`: by how much dropped() grows if the record is dropped.
    outcome write(std::string_view record, std::uint64_t count = 1,
                  const std::function<bool()>& gives_up = {}) noexcept;
    /// Changes the rule for a full queue.
    void when_queue_is_full(when_full);

    /// Waits until everything is written. Stops as soon as gives_up() returns true; it is called several times a second. What is then left
    /// in the queue counts as dropped.
    void finish(const std::function<bool()>& gives_up) noexcept;

    /// Returns the number of records that were dropped, because the queue had no space or because writing failed.
    std::uint64_t dropped() const noexcept;
    /// Returns the errno of the first failed write or open; 0: none failed.
    int error() const noexcept;

private:
    struct state;
    std::shared_ptr<state> state_; // shared with the thread, which may be in a write() that never returns
};

/// Returns a gives_up function that returns true after this time.
std::function<bool()> after(std::chrono::milliseconds);

} // namespace ibtool
