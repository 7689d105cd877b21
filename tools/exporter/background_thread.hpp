// SPDX-License-Identifier: MIT
// background_thread.hpp - a thread with an executor.
#pragma once
#include <comad/iba/detail/blocked_signals.hpp>

#include <boost/asio/thread_pool.hpp>

#include <optional>

namespace ibtool {

/// A thread that runs the work of an executor. Signals go to other threads.
class background_thread {
public:
    background_thread() {
        const comad::iba::blocked_signals of_the_thread;
        thread_.emplace(1);
    }
    boost::asio::thread_pool::executor_type executor() { return thread_->get_executor(); }
    /// Waits until no work is left, and ends the thread.
    void join() { thread_->join(); }

private:
    std::optional<boost::asio::thread_pool> thread_;
};

} // namespace ibtool
