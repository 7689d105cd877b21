// SPDX-License-Identifier: MIT
// service_manager.hpp - reports the state of the service to systemd (sd_notify(3)). Does nothing without systemd.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <string>

namespace ibtool {

/// A connection to systemd. The destructor reports that the service stops.
class service_manager {
public:
    /// Reads NOTIFY_SOCKET and WATCHDOG_USEC from the environment. With a watchdog, reports twice in its period that the executor still
    /// runs.
    explicit service_manager(boost::asio::any_io_executor);
    ~service_manager();
    service_manager(const service_manager&) = delete;
    service_manager& operator=(const service_manager&) = delete;

    /// Reports that the service is ready.
    void note_ready() { notify("READY=1"); }
    /// Sets the line that `systemctl status` shows.
    void note_status(const std::string& line) { notify("STATUS=" + line); }

private:
    void notify(const std::string&) noexcept;
    void feed_watchdog();

    std::string socket_;
    std::chrono::microseconds watchdog_{0}; // time between two reports; 0: no watchdog
    boost::asio::steady_timer timer_;
};

} // namespace ibtool
