// SPDX-License-Identifier: MIT
// http_server.cpp - accepts connections, and serves each of them in a coroutine.
#include "exporter/http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <list>
#include <map>
#include <netinet/in.h>
#include <new>
#include <string_view>
#include <sys/resource.h>
#include <system_error>

namespace ibtool {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t slice_size = 64 << 10;
constexpr int send_buffer = 256 << 10;
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

using header = http::response<http::empty_body>;

header header_of(const http_reply& reply, unsigned version, bool keeps_alive) {
    header h{static_cast<http::status>(reply.status), version};
    h.set(http::field::server, "ibtool");
    h.set(http::field::content_type, reply.content_type);
    h.set(http::field::vary, "Accept-Encoding");
    if (reply.is_gzip) h.set(http::field::content_encoding, "gzip");
    for (const auto& [name, value] : reply.headers) h.set(name, value);
    h.content_length(reply.body ? reply.body->size() : 0);
    h.keep_alive(keeps_alive);
    return h;
}

/// Returns the reply to a request that could not be parsed.
http_reply read_error_reply(error_code error) {
    if (error == http::error::body_limit) return make_reply(413, "a request must have no body\n");
    if (error == http::error::header_limit) return make_reply(431, "the header is too long\n");
    return make_reply(400, "invalid HTTP request\n");
}

/// Returns the peer to which a connection is attributed: an IPv4 address, or the /64 network of an IPv6 address. All clients of a Unix
/// socket share the peer `local`.
std::string peer_of(const beast::basic_stream<asio::generic::stream_protocol>::socket_type& s) {
    error_code ignored;
    const auto at = s.remote_endpoint(ignored);
    const auto bytes = [&](std::size_t begin, std::size_t size) {
        const auto* const raw = reinterpret_cast<const char*>(at.data()) + begin;
        return begin + size <= at.size() ? std::string(raw, size) : std::string("?");
    };
    switch (at.protocol().family()) {
    case AF_INET: return bytes(offsetof(sockaddr_in, sin_addr), sizeof(in_addr));
    case AF_INET6: {
        const std::string address = bytes(offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr));
        static const std::string mapped = std::string(10, '\0') + "\xff\xff"; // an IPv4 address follows
        return address.starts_with(mapped) ? address.substr(mapped.size()) : address.substr(0, 8);
    }
    default: return "local";
    }
}

/// Returns how many connections the limit of open files allows, at most `wanted`. Keeps some descriptors for devices, files and the
/// service manager.
std::size_t room_for_connections(std::size_t wanted) {
    constexpr std::size_t for_others = 32;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
    std::error_code none;
    std::size_t taken = for_others;
    for (std::filesystem::directory_iterator open("/proc/self/fd", none), end; !none && open != end;
         open.increment(none))
        ++taken;
    return std::clamp<std::size_t>(files.rlim_cur > taken ? files.rlim_cur - taken : 1, 1,
                                   std::max<std::size_t>(wanted, 1));
}

} // namespace

struct http_server::connection {
    using stream_type = beast::basic_stream<asio::generic::stream_protocol>;
    explicit connection(stream_type::socket_type s) : stream(std::move(s)), peer(peer_of(stream.socket())) {
        set_linger(true);
        // A small send buffer limits the data that the kernel accepts before the client has received it.
        error_code ignored;
        stream.socket().set_option(asio::socket_base::send_buffer_size(send_buffer), ignored);
    }

    /// Closes the connection and discards unsent data. Otherwise the kernel would keep the data for a client that does not receive it.
    /// Also used for clients that exceed their time limit.
    void abort() {
        error_code ignored;
        stream.socket().close(ignored);
    }
    /// Closes the connection after the kernel has sent all data.
    void close() {
        set_linger(false);
        abort();
    }
    void set_linger(bool until_closed) {
        error_code ignored;
        stream.socket().set_option(asio::socket_base::linger(until_closed, 0), ignored);
    }

    stream_type stream;
    std::string peer;
    beast::flat_buffer buffer;
    clock::time_point since = clock::now(); // last progress of the client, or start of the connection
    enum class phase : unsigned char { idle, sending, waiting } doing = phase::idle; // waiting: for the handler
    std::shared_ptr<const std::string> body;
};

struct http_server::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor e, const std::string& where, handler h, const http_limits& l)
        : executor(std::move(e)), socket(executor, where), respond(std::move(h)), limits(l) {
        limits.connections = room_for_connections(limits.connections);
    }

    asio::awaitable<void> accept_all();
    void take(std::shared_ptr<connection>);
    bool make_room(const std::string& newcomer);
    asio::awaitable<void> serve(std::shared_ptr<connection>);
    asio::awaitable<bool> take_request(connection&);
    asio::awaitable<http_reply> reply_to(const http_request&);
    asio::awaitable<bool> send(connection&, http_reply, unsigned version, bool keeps_alive, bool with_body);

    asio::any_io_executor executor;
    listening_socket socket;
    handler respond;
    http_limits limits;
    std::list<std::shared_ptr<connection>> open;
    std::size_t running = 0; // coroutines, including those of closed connections whose handler still runs
    bool is_over = false;
};

http_server::http_server(asio::any_io_executor executor, const std::string& where, handler h, const http_limits& limits)
    : state_(std::make_shared<state>(executor, where, std::move(h), limits)) {
    asio::co_spawn(executor, state_->accept_all(), asio::detached);
}

http_server::~http_server() {
    state_->is_over = true;
    state_->respond = nullptr;
    state_->socket.close();
    for (const auto& c : state_->open) c->abort();
}

const std::string& http_server::address() const noexcept { return state_->socket.name(); }
bool http_server::is_loopback() const noexcept { return state_->socket.is_loopback(); }
std::size_t http_server::connections() const noexcept { return state_->open.size(); }

void http_server::drop(const std::string* body) {
    for (const auto& c : state_->open)
        if (c->body.get() == body) c->abort();
}

// ---- connections -----------------------------------------------------------------------------------------------------

asio::awaitable<void> http_server::state::accept_all() {
    const auto self = shared_from_this();
    asio::steady_timer rest(executor);
    while (!is_over) {
        auto [error, accepted] = co_await socket.acceptor().async_accept(no_throw);
        if (is_over) break;
        if (error) { // usually no descriptor is left
            make_room({});
            rest.expires_after(std::chrono::milliseconds(100));
            co_await rest.async_wait(no_throw);
            continue;
        }
        try {
            take(std::make_shared<connection>(std::move(accepted)));
        } catch (const std::bad_alloc&) { // closes the new connection; others may be closed before the next one comes
        }
    }
}

void http_server::state::take(std::shared_ptr<connection> newest) {
    if (running >= 4 * limits.connections) return;                             // closes the new connection
    if (open.size() >= limits.connections && !make_room(newest->peer)) return; // closes the new connection
    asio::co_spawn(executor, serve(std::move(newest)), asio::detached);
}

// Closes the connection that http_limits::connections selects. Returns false if no connection qualifies.
bool http_server::state::make_room(const std::string& newcomer) {
    std::map<std::string_view, std::size_t> of_peer;
    if (!newcomer.empty()) of_peer[newcomer] = 1;
    for (const auto& c : open) ++of_peer[c->peer];
    const auto has_its_share = [&](const connection& c) { return of_peer[c.peer] * of_peer.size() >= open.size(); };
    const auto worth = [](const connection& c) { // of the waiting connections, the newest one loses least
        const auto since = c.since.time_since_epoch();
        const bool waits = c.doing == connection::phase::waiting;
        return std::pair(waits, waits ? -since : since);
    };
    auto least = open.end();
    for (auto c = open.begin(); c != open.end(); ++c)
        if (has_its_share(**c) && (least == open.end() || worth(**c) < worth(**least))) least = c;
    if (least == open.end()) return false;
    const std::shared_ptr<connection> closed = *least; // its coroutine owns it until it notices that it was closed
    open.erase(least);
    if (closed->doing == connection::phase::idle) closed->close();
    else closed->abort();
    return true;
}

asio::awaitable<void> http_server::state::serve(std::shared_ptr<connection> c) {
    const auto self = shared_from_this();
    open.push_back(c);
    ++running;
    bool goes_on = true;
    while (goes_on && !is_over) {
        try {
            goes_on = co_await take_request(*c);
        } catch (const std::bad_alloc&) { // only this request failed; others may need less memory
            goes_on = false;
        }
        c->doing = connection::phase::idle;
        c->body.reset();
        c->since = clock::now();
    }
    c->close();
    open.remove(c);
    --running;
}

// Serves one request. Returns false if no other request can follow on the connection.
asio::awaitable<bool> http_server::state::take_request(connection& c) {
    if (c.buffer.size() == 0) {
        c.stream.expires_never();
        auto [error] = co_await c.stream.socket().async_wait(asio::socket_base::wait_read, no_throw);
        if (error || is_over) co_return false;
    }
    http::request_parser<http::empty_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.header));
    parser.body_limit(0);
    c.stream.expires_after(limits.request);
    auto [error, size] = co_await http::async_read_header(c.stream, c.buffer, parser, no_throw);
    if (is_over || error == http::error::end_of_stream || error == beast::error::timeout) co_return false;
    if (error && error.category() != http::make_error_code(http::error::bad_method).category())
        co_return false; // an error of the socket, not of the request
    c.doing = connection::phase::waiting;
    const auto& request = parser.get();
    const bool is_head = request.method() == http::verb::head;
    if (error) co_return co_await send(c, read_error_reply(error), 11, false, !is_head);
    if (const auto refused = refusal_of(parser)) {
        http_reply no = make_reply(refused->status, refused->text);
        if (refused->status == 405) no.headers.emplace_back("Allow", "GET, HEAD");
        co_return co_await send(c, std::move(no), request.version(), false, !is_head);
    }
    http_reply reply = co_await reply_to(request_of(request));
    if (is_over) co_return false;
    co_return co_await send(c, std::move(reply), request.version(), request.keep_alive(), !is_head);
}

asio::awaitable<http_reply> http_server::state::reply_to(const http_request& request) {
    const handler h = respond; // a copy, because the server can be destroyed while the handler runs
    co_return co_await h(request);
}

asio::awaitable<bool> http_server::state::send(connection& c, http_reply reply, unsigned version, bool keeps_alive,
                                               bool with_body) {
    c.body = reply.body;
    c.doing = connection::phase::sending;
    c.since = clock::now();
    header h = header_of(reply, version, keeps_alive);
    http::response_serializer<http::empty_body> serializer(h);
    c.stream.expires_after(limits.slice);
    auto [error, size] = co_await http::async_write_header(c.stream, serializer, no_throw);
    if (error) co_return false;
    const std::string_view body = reply.body && with_body ? std::string_view(*reply.body) : std::string_view();
    for (std::size_t at = 0; at < body.size(); at += slice_size) {
        const std::string_view slice = body.substr(at, slice_size);
        c.stream.expires_after(limits.slice);
        auto [failure, sent] = co_await asio::async_write(c.stream, asio::buffer(slice), no_throw);
        if (failure || is_over) {
            c.abort();
            co_return false;
        }
        c.since = clock::now();
    }
    co_return keeps_alive;
}

} // namespace ibtool
