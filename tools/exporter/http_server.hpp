// SPDX-License-Identifier: MIT
// http_server.hpp - a server for GET and HEAD requests of many clients, with limits on its resources. Does not depend on pages.
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

inline http_reply make_reply(unsigned status, std::string text) {
    return {status, std::make_shared<const std::string>(std::move(text))};
}

/// The limits of a server.
struct http_limits {
    /// The largest number of connections; also limited by the soft limit of open files when the server starts. A further connection
    /// replaces another one, from an address with at least its share (equal for all addresses): the connection that was idle for the
    /// longest time, or at last the newest one that waits for the handler.
    std::size_t connections = 500;
    std::size_t header = 8192;                                   ///< bytes of a request; a request has no body
    std::chrono::nanoseconds request = std::chrono::seconds(10); ///< time from its first to its last byte
    /// Time in which the client must receive 64 KiB of a reply.
    std::chrono::nanoseconds slice = std::chrono::seconds(10);
};

/// Serves from its construction to its destruction, which closes every connection at once. Everything, including the handler, runs in the
/// thread of the executor.
class http_server {
public:
    using handler = std::function<boost::asio::awaitable<http_reply>(const http_request&)>;

    /// `where`: as for listening_socket. Throws as listening_socket does.
    http_server(boost::asio::any_io_executor, const std::string& where, handler, const http_limits& = {});
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    /// The address where it listens.
    const std::string& address() const noexcept;
    /// Closes the connections that still send this body, because it is outdated and their clients are slow.
    void drop(const std::string* body);
    std::size_t connections() const noexcept;

private:
    struct connection;
    struct state;
    std::shared_ptr<state> state_; // shared with coroutines, which may be destroyed later
};

} // namespace ibtool
