// SPDX-License-Identifier: MIT
// listening.hpp - sockets that wait for connections: at an address, at a path, or given by systemd.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <string>
#include <sys/types.h>

namespace ibtool {

/// A socket that listens, and what it is called. Where it is a path, the socket is removed at the end, but not what another
/// program has put in its place.
class listening_socket {
public:
    using acceptor_type = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

    /// `where`: `ADDR:PORT`, `[IPv6]:PORT`; `:PORT` for this machine alone; port 0: any that is free; `unix:PATH`, where a
    /// socket of the same user that nobody listens at any more is replaced; `systemd` for the first socket of its activation (sd_listen_fds(3)).
    /// Throws usage_error for anything else, std::runtime_error with one line if it cannot listen there.
    listening_socket(boost::asio::any_io_executor, const std::string& where);
    ~listening_socket();
    listening_socket(const listening_socket&) = delete;
    listening_socket& operator=(const listening_socket&) = delete;

    acceptor_type& acceptor() noexcept { return acceptor_; }
    /// Nobody can connect any more.
    void close() noexcept;
    /// `127.0.0.1:9400`, `[::1]:9400` or `unix:PATH`.
    const std::string& name() const noexcept { return name_; }

private:
    void open_address(const std::string& where);
    void open_path(const std::string& path);
    void take_systemds();

    acceptor_type acceptor_;
    std::string name_;
    std::string path_; // to be removed, if that socket is still there
    dev_t device_{};
    ino_t inode_{};
};

} // namespace ibtool
