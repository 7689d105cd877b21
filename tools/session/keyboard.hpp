// SPDX-License-Identifier: MIT
// keyboard.hpp - the keys of the terminal that stdin is, one by one, and its changes of size. Knows no key.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <atomic>
#include <functional>
#include <termios.h>

namespace ibtool {

/// While it lives a key is told as soon as it is pressed and not shown; afterwards, and while the program is stopped, the
/// terminal is as it was. Signals by keys (Ctrl-C, Ctrl-Z) stay what they are. Where stdin is no terminal, or another program
/// has it, there are no keys. One at a time.
class keyboard {
public:
    /// `on_key`: with a byte. `on_change`: the terminal has another size, or is ours again.
    keyboard(boost::asio::any_io_executor, std::function<void(char)> on_key, std::function<void()> on_change);
    ~keyboard();
    keyboard(const keyboard&) = delete;
    keyboard& operator=(const keyboard&) = delete;

private:
    void take();
    void give_back() noexcept;
    void await_key();
    void await_signal();

    static std::atomic<keyboard*> the_one; // for a signal that ends the process at once

    boost::asio::posix::stream_descriptor keys_;
    boost::asio::signal_set signals_;
    std::function<void(char)> on_key_;
    std::function<void()> on_change_;
    termios before_{};
    bool is_terminal_ = false, is_taken_ = false;
};

} // namespace ibtool
