// SPDX-License-Identifier: MIT
// http_server.cpp - a coroutine for each connection.
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
#include <list>
#include <new>
#include <string_view>

namespace ibtool {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t slice_size = 64 << 10;
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

using header = http::response<http::empty_body>;

bool accepts_gzip(std::string_view encodings) {
    while (!encodings.empty()) {
        const std::size_t comma = std::min(encodings.find(','), encodings.size());
        std::string one(encodings.substr(0, comma));
        encodings.remove_prefix(std::min(comma + 1, encodings.size()));
        std::erase_if(one, [](char c) { return c == ' ' || c == '\t'; });
        if (beast::iequals(one.substr(0, one.find(';')), "gzip"))
            return one.find(";q=0") == std::string::npos || one.find(";q=0.") != std::string::npos;
    }
    return false;
}

http_request request_of(const http::request<http::empty_body>& r) {
    const auto text = [&r](http::field f) { return std::string(r[f]); };
    const std::string target(r.target());
    return {target.substr(0, target.find('?')), accepts_gzip(text(http::field::accept_encoding)),
            text(http::field::authorization)};
}

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

/// Status and line for a request that is refused before anybody looks at what it asks; 0: it is not.
http_reply refusal_of(const http::request_parser<http::empty_body>& p) {
    if (p.chunked() || p.content_length().value_or(0) > 0) return make_reply(413, "a request has no body here\n");
    const http::verb method = p.get().method();
    if (method == http::verb::get || method == http::verb::head) return {.status = 0, .body = {}};
    http_reply refused = make_reply(405, "only GET and HEAD are answered\n");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
}

http_reply refusal_of(error_code error) {
    if (error == http::error::body_limit) return make_reply(413, "a request has no body here\n");
    if (error == http::error::header_limit) return make_reply(431, "the header is too long\n");
    return make_reply(400, "this is no HTTP request\n");
}

} // namespace

struct http_server::connection {
    using stream_type = beast::basic_stream<asio::generic::stream_protocol>;
    explicit connection(stream_type::socket_type s) : stream(std::move(s)) { set_linger(true); }

    /// Without what was not sent yet, which the kernel would keep for a client that does not take it. So ends, too, what takes
    /// longer than it may.
    void abort() {
        error_code ignored;
        stream.socket().close(ignored);
    }
    /// Behind what was sent.
    void close() {
        set_linger(false);
        abort();
    }
    void set_linger(bool until_closed) {
        error_code ignored;
        stream.socket().set_option(asio::socket_base::linger(until_closed, 0), ignored);
    }

    stream_type stream;
    beast::flat_buffer buffer;
    clock::time_point since = clock::now(); // the last reply was sent
    bool is_answered = false;               // somebody works for it
    std::shared_ptr<const std::string> body;
};

struct http_server::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor e, const std::string& where, handler h, const http_limits& l)
        : executor(std::move(e)), socket(executor, where), respond(std::move(h)), limits(l) {}

    asio::awaitable<void> accept_all();
    bool close_longest_idle();
    asio::awaitable<void> serve(std::shared_ptr<connection>);
    asio::awaitable<bool> take_request(connection&);
    asio::awaitable<http_reply> reply_to(const http_request&);
    asio::awaitable<bool> send(connection&, http_reply, unsigned version, bool keeps_alive, bool with_body);

    asio::any_io_executor executor;
    listening_socket socket;
    handler respond;
    http_limits limits;
    std::list<std::shared_ptr<connection>> open;
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
        if (error) { // no descriptor is left, as a rule
            close_longest_idle();
            rest.expires_after(std::chrono::milliseconds(100));
            co_await rest.async_wait(no_throw);
            continue;
        }
        if (open.size() >= limits.connections && !close_longest_idle()) continue; // the new one goes
        open.push_back(std::make_shared<connection>(std::move(accepted)));
        asio::co_spawn(executor, serve(open.back()), asio::detached);
    }
}

// False: nobody is.
bool http_server::state::close_longest_idle() {
    auto longest = open.end();
    for (auto c = open.begin(); c != open.end(); ++c)
        if (!(*c)->is_answered && (longest == open.end() || (*c)->since < (*longest)->since)) longest = c;
    if (longest == open.end()) return false;
    (*longest)->close();
    open.erase(longest); // its coroutine keeps it until it has seen that
    return true;
}

asio::awaitable<void> http_server::state::serve(std::shared_ptr<connection> c) {
    const auto self = shared_from_this();
    bool goes_on = true;
    while (goes_on && !is_over) {
        try {
            goes_on = co_await take_request(*c);
        } catch (const std::bad_alloc&) { // for this one; others may need less
            goes_on = false;
        }
        c->is_answered = false;
        c->body.reset();
        c->since = clock::now();
    }
    c->close();
    open.remove(c);
}

// One request and its reply. False: the connection is over.
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
        co_return false; // the socket's
    c.is_answered = true;
    if (error) co_return co_await send(c, refusal_of(error), 11, false, true);

    const auto& request = parser.get();
    const bool is_head = request.method() == http::verb::head;
    http_reply reply = refusal_of(parser);
    if (reply.status) co_return co_await send(c, std::move(reply), request.version(), false, !is_head);
    reply = co_await reply_to(request_of(request));
    if (is_over) co_return false;
    co_return co_await send(c, std::move(reply), request.version(), request.keep_alive(), !is_head);
}

asio::awaitable<http_reply> http_server::state::reply_to(const http_request& request) {
    const handler h = respond; // may go while it runs
    co_return co_await h(request);
}

asio::awaitable<bool> http_server::state::send(connection& c, http_reply reply, unsigned version, bool keeps_alive,
                                               bool with_body) {
    c.body = reply.body;
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
    }
    co_return keeps_alive;
}

} // namespace ibtool
