// SPDX-License-Identifier: MIT
// keyboard.hpp - reads single keys from the terminal on stdin, and reports changes of its size. Does not interpret keys.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <atomic>
#include <functional>
#include <termios.h>

namespace ibtool {

/// While it exists, each key is reported immediately and is not shown. Afterwards, and while the program is stopped, the terminal has its
/// original mode. Keys that send signals (Ctrl-C, Ctrl-Z) still do. There are no keys if stdin is not a terminal, or if another program
/// has the terminal. Only one object may exist at a time.
class keyboard {
public:
    /// `on_key`: called with a byte. `on_change`: called when the terminal has a new size, or belongs to this program again.
    keyboard(boost::asio::any_io_executor, std::function<void(char)> on_key, std::function<void()> on_change);
    ~keyboard();
    keyboard(const keyboard&) = delete;
    keyboard& operator=(const keyboard&) = delete;

private:
    void take();
    void give_back() noexcept;
    void await_key();
    void await_signal();

    static std::atomic<keyboard*> the_one; // restores the terminal if a signal ends the process immediately

    boost::asio::posix::stream_descriptor keys_;
    boost::asio::signal_set signals_;
    std::function<void(char)> on_key_;
    std::function<void()> on_change_;
    termios before_{};
    bool is_terminal_ = false, is_taken_ = false;
};

} // namespace ibtool
