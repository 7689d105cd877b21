// SPDX-License-Identifier: MIT
// listening.hpp - a listening socket on a TCP address, on a path, or passed by systemd.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <string>
#include <sys/types.h>

namespace ibtool {

/// A listening socket with a name. The destructor removes the socket file of a path, unless another program has replaced it.
class listening_socket {
public:
    using acceptor_type = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

    /// Starts to listen. `where` is one of:
    /// `ADDR:PORT` or `[IPv6]:PORT`; port 0 means any free port;
    /// `:PORT`: loopback address only;
    /// `unix:PATH`: replaces an unused socket of the same user;
    /// `systemd`: the first socket passed by systemd (sd_listen_fds(3)).
    /// Errors: usage_error if `where` has another format; std::runtime_error with one line if it cannot listen.
    listening_socket(const boost::asio::any_io_executor&, const std::string& where);
    ~listening_socket();
    listening_socket(const listening_socket&) = delete;
    listening_socket& operator=(const listening_socket&) = delete;

    acceptor_type& acceptor() noexcept { return acceptor_; }
    /// Stops accepting connections.
    void close() noexcept;
    /// Returns the name of the socket: `127.0.0.1:9400`, `[::1]:9400` or `unix:PATH`.
    const std::string& name() const noexcept { return name_; }
    /// Returns whether the socket listens at a loopback address, to which only programs of this machine can connect.
    bool is_loopback() const noexcept { return is_loopback_; }

private:
    void open_address(const std::string& where);
    void open_path(const std::string& path);
    void take_systemds();

    acceptor_type acceptor_;
    std::string name_;
    bool is_loopback_ = false;
    std::string path_; // removed at the end if it is still this socket; empty: none
    dev_t device_{};
    ino_t inode_{};
};

} // namespace ibtool
