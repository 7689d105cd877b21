// SPDX-License-Identifier: MIT
// service_manager.hpp - tells systemd how a service is (sd_notify(3)); where none asks for it, nothing.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <string>

namespace ibtool {

class service_manager {
public:
    /// By the environment: NOTIFY_SOCKET; with WATCHDOG_USEC it hears twice in that time that the executor still runs.
    explicit service_manager(boost::asio::any_io_executor);
    ~service_manager();
    service_manager(const service_manager&) = delete;
    service_manager& operator=(const service_manager&) = delete;

    void note_ready() { notify("READY=1"); }
    /// A line for `systemctl status`.
    void note_status(const std::string& line) { notify("STATUS=" + line); }

private:
    void notify(const std::string&) noexcept;
    void feed_watchdog();

    std::string socket_;
    std::chrono::microseconds watchdog_{0}; // how often; 0: not
    boost::asio::steady_timer timer_;
};

} // namespace ibtool
