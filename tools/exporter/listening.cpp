// SPDX-License-Identifier: MIT
// listening.cpp - opens listening sockets: binds addresses and paths, or takes the socket that systemd passed.
#include "exporter/listening.hpp"

#include "comad.hpp"
#include "input/options.hpp"
#include <comad/iba/detail/text.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace ibtool {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

tcp::endpoint parse_endpoint(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    unsigned short port = 0;
    const char* const end = text.data() + text.size();
    const char* const digits = colon == std::string::npos ? end : text.data() + colon + 1;
    const auto [behind, problem] = std::from_chars(digits, end, port);
    const bool has_port = problem == std::errc() && behind == end;
    std::string host = text.substr(0, has_port ? colon : 0);
    const bool is_ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (is_ipv6) host = host.substr(1, host.size() - 2);
    if (host.empty()) host = "127.0.0.1";
    error_code error;
    const asio::ip::address address = asio::ip::make_address(host, error);
    if (!has_port || error || address.is_v6() != is_ipv6)
        throw usage_error(
            fmt::format("--listen: invalid address '{}'; expected ADDR:PORT (127.0.0.1:9400, [::1]:9400 or :9400), "
                        "unix:PATH or systemd",
                        iba::escaped(text)));
    return {address, port};
}

[[noreturn]] void cannot_listen(const std::string& where, const std::string& why) {
    throw std::runtime_error(fmt::format("--listen: cannot listen on {}: {}", iba::escaped(where), why));
}

/// Returns whether the path is a socket of this user on which no program listens. Sockets of other users are never removed.
bool is_unused_socket(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode) || found.st_uid != ::geteuid()) return false;
    asio::io_context alone;
    asio::local::stream_protocol::socket probe(alone);
    error_code error;
    probe.connect(path, error);
    return error == asio::error::connection_refused;
}

/// Returns the TCP address of an endpoint of AF_INET or AF_INET6.
tcp::endpoint tcp_endpoint(const asio::generic::stream_protocol::endpoint& at) {
    tcp::endpoint tcp_at;
    std::memcpy(tcp_at.data(), at.data(), at.size());
    tcp_at.resize(at.size());
    return tcp_at;
}

bool has_loopback_address(const asio::generic::stream_protocol::endpoint& at) {
    const auto family = at.protocol().family();
    if (family != AF_INET && family != AF_INET6) return false;
    const asio::ip::address address = tcp_endpoint(at).address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) // ::ffff:127.0.0.1
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
    return address.is_loopback(); // 127.0.0.0/8 or ::1
}

std::string name_of(const asio::generic::stream_protocol::endpoint& at) {
    const auto family = at.protocol().family();
    if (family == AF_UNIX) {
        const auto* const raw = reinterpret_cast<const char*>(at.data()) + offsetof(sockaddr, sa_data);
        const std::size_t most = at.size() - offsetof(sockaddr, sa_data);
        return "unix:" + std::string(raw, strnlen(raw, most));
    }
    if (family != AF_INET && family != AF_INET6) return "a socket of systemd";
    const tcp::endpoint tcp_at = tcp_endpoint(at);
    return fmt::format(fmt::runtime(family == AF_INET6 ? "[{}]:{}" : "{}:{}"), tcp_at.address().to_string(),
                       tcp_at.port());
}

unsigned long number_in(const char* name) {
    const char* const text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : 0;
}

} // namespace

listening_socket::listening_socket(const asio::any_io_executor& executor, const std::string& where)
    : acceptor_(executor) {
    constexpr std::string_view at_path = "unix:";
    if (where == "systemd") take_systemds();
    else if (where.starts_with(at_path)) open_path(where.substr(at_path.size()));
    else open_address(where);
    const auto at = acceptor_.local_endpoint();
    name_ = name_of(at);
    is_loopback_ = has_loopback_address(at);
}

listening_socket::~listening_socket() { close(); }

void listening_socket::close() noexcept {
    error_code ignored;
    acceptor_.close(ignored);
    struct stat found {};
    const bool is_ours = !path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
                         found.st_ino == inode_; // another program may have replaced the file
    if (is_ours) ::unlink(path_.c_str());
    path_.clear();
}

// Sets SO_REUSEADDR but not SO_REUSEPORT: two exporters on one port would each get only some of the scrapes.
void listening_socket::open_address(const std::string& where) {
    const tcp::endpoint at = parse_endpoint(where);
    error_code error;
    acceptor_.open(at.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(at, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error == asio::error::address_in_use) cannot_listen(where, "another program uses this address");
    if (error) cannot_listen(where, error.message());
}

void listening_socket::open_path(const std::string& path) {
    if (is_unused_socket(path)) ::unlink(path.c_str());
    error_code error;
    acceptor_.open(asio::local::stream_protocol(), error);
    if (path.empty() || path.size() >= sizeof sockaddr_un{}.sun_path)
        cannot_listen("unix:" + path, "the path must have 1..107 bytes");
    if (!error) acceptor_.bind(asio::local::stream_protocol::endpoint(path), error);
    struct stat made {};
    if (!error && ::lstat(path.c_str(), &made) == 0) {
        path_ = path;
        device_ = made.st_dev;
        inode_ = made.st_ino;
    }
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error == asio::error::address_in_use)
        cannot_listen("unix:" + path, "the path exists already; give another path, or remove it if no program uses it");
    if (error) cannot_listen("unix:" + path, error.message());
}

// Implements sd_listen_fds(3): LISTEN_PID is this process, and the sockets have the descriptors 3 to 2 + LISTEN_FDS.
void listening_socket::take_systemds() {
    constexpr int first = 3;
    if (number_in("LISTEN_PID") != static_cast<unsigned long>(::getpid()) || number_in("LISTEN_FDS") == 0)
        cannot_listen("systemd",
                      "systemd passed no socket (LISTEN_PID, LISTEN_FDS); start ibtool by a systemd socket unit");
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    int type = 0, listens = 0;
    socklen_t type_size = sizeof type, listens_size = sizeof listens;
    if (::getsockname(first, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
        ::getsockopt(first, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0 || type != SOCK_STREAM ||
        ::getsockopt(first, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) != 0 || !listens)
        cannot_listen("systemd", "the socket that systemd passed is not a listening stream socket");
    ::fcntl(first, F_SETFD, FD_CLOEXEC);
    acceptor_.assign(asio::generic::stream_protocol(at.ss_family, 0), first);
}

} // namespace ibtool
