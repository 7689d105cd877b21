// SPDX-License-Identifier: MIT
// http_server.hpp - answers GET and HEAD, to many at once and never to more than it can bear. Knows no page.
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

struct http_reply {
    unsigned status = 200;
    std::shared_ptr<const std::string> body; ///< shared by all to whom it goes
    std::string content_type = "text/plain; charset=utf-8";
    bool is_gzip = false;
    std::vector<std::pair<std::string, std::string>> headers = {}; ///< besides
};

inline http_reply make_reply(unsigned status, std::string text) {
    return {status, std::make_shared<const std::string>(std::move(text))};
}

struct http_limits {
    /// At most so many, and at most as many as the soft limit of open files leaves room for when the server begins. Beyond, a new
    /// connection takes the place of another one: of an address with at least its share, which is the same for all addresses,
    /// the one whose client took or asked nothing for longest; at last the newest that waits for the handler.
    std::size_t connections = 500;
    std::size_t header = 8192;                                   ///< bytes of a request; it has no body
    std::chrono::nanoseconds request = std::chrono::seconds(10); ///< from its first byte to its last
    std::chrono::nanoseconds slice = std::chrono::seconds(10);   ///< for the client to take 64 KiB of a reply
};

/// Serves from its construction to its destruction, which closes every connection at once. All in the thread of the executor,
/// where the handler is called, too; nothing happens while that does not run.
class http_server {
public:
    using handler = std::function<boost::asio::awaitable<http_reply>(const http_request&)>;

    /// `where`: as listening_socket's. Throws what that throws.
    http_server(boost::asio::any_io_executor, const std::string& where, handler, const http_limits& = {});
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    /// Where it listens.
    const std::string& address() const noexcept;
    /// Closes the connections that are still sending this: it is old, and they are slow.
    void drop(const std::string* body);
    std::size_t connections() const noexcept;

private:
    struct connection;
    struct state;
    std::shared_ptr<state> state_; // watched by the coroutines, which may be destroyed later than this
};

} // namespace ibtool
