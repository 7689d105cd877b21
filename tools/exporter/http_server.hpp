// SPDX-License-Identifier: MIT
// http_server.hpp - an HTTP server for GET and HEAD requests of many clients, with limits on its resources. Does not depend on the pages.
#pragma once
#include "exporter/http_request.hpp"
#include "exporter/listening.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ibtool {

/// The reply to a request.
struct http_reply {
    unsigned status = 200;
    std::shared_ptr<const std::string> body; ///< shared by all connections that send it
    std::string content_type = "text/plain; charset=utf-8";
    bool is_gzip = false;
    std::vector<std::pair<std::string, std::string>> headers = {}; ///< additional headers
};

/// Returns a reply with a plain text.
inline http_reply make_reply(unsigned status, std::string text) {
    return {status, std::make_shared<const std::string>(std::move(text))};
}

/// The limits of a server on connections, sizes and times.
struct http_limits {
    /// Largest number of connections. The soft limit of open files at the start limits it further. When the limit is reached, a new
    /// connection replaces another one. Candidates are the connections of addresses that use at least an equal share of all connections.
    /// The server closes the candidate that was idle or made no progress for the longest time. If all of them wait for the handler, it
    /// closes the newest one.
    std::size_t connections = 500;
    std::size_t header = 8192;                                   ///< bytes of a header; requests have no body
    std::chrono::nanoseconds request = std::chrono::seconds(10); ///< time from the first to the last byte of a header
    /// Time in which a client must receive 64 KiB of a reply.
    std::chrono::nanoseconds slice = std::chrono::seconds(10);
};

/// Serves requests from construction to destruction. The destructor closes every connection at once.
/// Threads: only that of the executor, which also runs the handler.
class http_server {
public:
    /// Returns the reply to a request. Called in the thread of the executor; several calls can be in progress.
    using handler = std::function<boost::asio::awaitable<http_reply>(const http_request&)>;

    /// Starts to listen on `where`; see listening_socket. Throws what the constructor of listening_socket throws.
    http_server(boost::asio::any_io_executor, const std::string& where, handler, const http_limits& = {});
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    /// Returns the address on which it listens.
    const std::string& address() const noexcept;
    /// Returns whether it listens at a loopback address; see listening_socket.
    bool is_loopback() const noexcept;
    /// Closes all connections that still send this body. Used for outdated pages, whose clients are slow.
    void drop(const std::string* body);
    /// Returns the number of open connections.
    std::size_t connections() const noexcept;

private:
    struct connection;
    struct state;
    std::shared_ptr<state> state_; // shared with coroutines, which can outlive this object
};

} // namespace ibtool
