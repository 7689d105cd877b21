// SPDX-License-Identifier: MIT
// service_manager.cpp - implements sd_notify(3): sends datagrams to the socket that NOTIFY_SOCKET names.
#include "exporter/service_manager.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ibtool {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

bool is_for_us(const std::string& process) { return process.empty() || process == std::to_string(::getpid()); }

} // namespace

service_manager::service_manager(boost::asio::any_io_executor executor)
    : socket_(variable("NOTIFY_SOCKET")), timer_(std::move(executor)) {
    if (socket_.size() >= sizeof sockaddr_un{}.sun_path) socket_.clear();
    const std::string period = variable("WATCHDOG_USEC");
    if (socket_.empty() || period.empty() || !is_for_us(variable("WATCHDOG_PID"))) return;
    watchdog_ = std::chrono::microseconds(std::strtoull(period.c_str(), nullptr, 10) / 2);
    if (watchdog_.count() > 0) feed_watchdog();
}

service_manager::~service_manager() { notify("STOPPING=1"); }

void service_manager::feed_watchdog() {
    notify("WATCHDOG=1");
    timer_.expires_after(watchdog_);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) feed_watchdog();
    });
}

// Ignores errors: a service manager that gets no message decides by its own timeouts.
void service_manager::notify(const std::string& what) noexcept {
    if (socket_.empty()) return;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, socket_.data(), socket_.size());
    if (to.sun_path[0] == '@') to.sun_path[0] = '\0'; // name in the abstract namespace of unix(7)
    const int s = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    ::sendto(s, what.data(), what.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
    ::close(s);
}

} // namespace ibtool
