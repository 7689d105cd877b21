// SPDX-License-Identifier: MIT
// http_server_test.cpp - the HTTP server with slow, idle, many and invalid clients.
#include "exporter/http_server.hpp"
#include "program/http_client.hpp"
#include "program/served_io_context.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

namespace http_server_test {

using namespace comad::test;
using namespace std::chrono_literals;
using ibtool::http_limits;
using ibtool::http_reply;
using ibtool::http_request;

namespace {

/// Raises the limit of open files, so that two thousand clients and their connections fit.
void allow_many_descriptors() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

/// Replies with the request, and to `/long` with many megabytes of varying text.
struct echo_server : served<ibtool::http_server> {
    explicit echo_server(const http_limits& limits = {})
        : served([&](auto executor) {
              return std::make_unique<ibtool::http_server>(
                  executor, "127.0.0.1:0",
                  [](const http_request& r) -> boost::asio::awaitable<http_reply> {
                      http_reply reply =
                          ibtool::make_reply(200, fmt::format("{}|{}|{}", r.path, r.takes_gzip, r.authorization));
                      if (r.path == "/long") reply.body = long_body();
                      if (r.path == "/page") reply.body = page();
                      co_return reply;
                  },
                  limits);
          }) {}
    static const std::shared_ptr<const std::string>& long_body() {
        static const auto body = [] {
            std::string text;
            for (int i = 0; text.size() < (16u << 20); ++i) text += fmt::format("{}\n", i);
            return std::make_shared<const std::string>(std::move(text));
        }();
        return body;
    }
    static const std::shared_ptr<const std::string>& page() {
        static const auto body = std::make_shared<const std::string>(long_body()->substr(0, 1 << 20));
        return body;
    }
    std::size_t connections() {
        return in_its_thread([](ibtool::http_server& s) { return s.connections(); });
    }
};

} // namespace

TEST_CASE("an HTTP server handles the requests of a connection in order, and replies to HEAD without a body") {
    echo_server server;
    http_client client(server.port());
    const http_answer first = client.get("/metrics?x=1", "Authorization: Bearer abc\r\n");
    CHECK(first.status == 200);
    CHECK(first.body == "/metrics|false|Bearer abc");
    CHECK(first.field("content-type") == "text/plain; charset=utf-8");
    CHECK(client.get("/", "Accept-Encoding: deflate, gzip;q=0.5, br\r\n").body == "/|true|");
    client.send_request("/metrics", "", "HEAD");
    const http_answer head = client.answer(false);
    CHECK(head.status == 200);
    CHECK(head.field("content-length") == std::to_string(std::string("/metrics|false|").size()));
    CHECK(client.get("/next").body == "/next|false|");
    CHECK(server.connections() == 1);
}

TEST_CASE("an HTTP server replies to two pipelined requests and closes the connection on request") {
    echo_server server;
    http_client client(server.port());
    client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(client.answer().body == "/a|false|");
    CHECK(client.answer().body == "/b|false|");
    CHECK(client.rest() == "");
    http_client old(server.port());
    old.send("GET /c HTTP/1.0\r\n\r\n");
    CHECK(old.answer().body == "/c|false|");
    CHECK(old.rest() == "");
}

TEST_CASE("an HTTP server refuses other methods, bodies, long headers and invalid HTTP, and ignores ranges") {
    echo_server server;
    const auto refusal = [&](const std::string& request) {
        http_client client(server.port());
        client.send(request);
        const http_answer a = client.answer();
        CHECK(a.field("connection") == "close");
        CHECK(client.rest() == "");
        return a;
    };
    const http_answer post = refusal("POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(post.status == 405);
    CHECK(post.field("allow") == "GET, HEAD");
    CHECK(refusal("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 629145600\r\n\r\n").status == 413);
    CHECK(refusal("GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").status == 413);
    CHECK(refusal("GET /metrics HTTP/1.1\r\nX: " + std::string(8192, 'x')).status == 431);
    CHECK(refusal("\x16\x03\x01\x02\x00 a TLS hello\r\n\r\n").status == 400);
    std::string ranges = "Range: bytes=0-0";
    for (int i = 1; i < 1000; ++i) ranges += fmt::format(",{}-{}", i, i);
    http_client client(server.port());
    CHECK(client.get("/x", ranges + "\r\n").body == "/x|false|");
}

// RFC 9112, 6.1, 6.3 and 11.2: if a proxy forwards bytes as the body of a request, the server must not read these bytes
// as the next request.
TEST_CASE("an HTTP server refuses Transfer-Encoding or two lengths and does not read the bytes after the headers") {
    echo_server server;
    const std::string second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const char* fields : {
             "Transfer-Encoding: identity\r\n",
             "Transfer-Encoding: gzip\r\n",
             "Transfer-Encoding: xchunked\r\n",
             "Transfer-Encoding: chunked, identity\r\n",
             "Transfer-Encoding: gzip, chunked\r\n",
             "Transfer-Encoding: chunked\r\n",
             "Transfer-Encoding: CHUNKED\r\n",
             "Transfer-Encoding:\r\n",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
             "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding : chunked\r\n",
             " Transfer-Encoding: chunked\r\n",
             "Transfer-Encoding: identity\r\nContent-Length: 0\r\n",
             "Content-Length: 36\r\nTransfer-Encoding: identity\r\n",
             "Content-Length: 36\r\n",
             "Content-Length: 0\r\nContent-Length: 36\r\n",
             "Content-Length: +36\r\n",
             "Content-Length: 0x24\r\n",
             "Content-Length: -1\r\n",
         })
        for (const char* first : {"GET /metrics HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\n",
                                  "HEAD / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.0\r\n"}) {
            CAPTURE(first, fields);
            http_client client(server.port());
            client.send(first + std::string(fields) + "\r\n" + second);
            const http_answer a = client.answer(*first != 'H');
            CHECK((a.status == 400 || a.status == 413));
            const bool is_old = std::string(first).find("1.0") != std::string::npos; // always closes
            CHECK((is_old || a.field("connection") == "close"));
            CHECK(client.rest() == "");
        }
}

// See RFC 9112, 3.2 and 3.2.2.
TEST_CASE("an HTTP request needs one valid Host except in HTTP 1.0, and an absolute target becomes its path") {
    echo_server server;
    const auto status = [&](const std::string& request) {
        http_client client(server.port());
        client.send(request + "\r\n");
        return client.answer().status;
    };
    CHECK(status("GET / HTTP/1.1\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n") == 400);
    CHECK(status("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: a b\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: a, b\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: a/b\r\n") == 400);
    CHECK(status("GET / HTTP/1.1\r\nHost: user@a\r\n") == 400);
    CHECK(status("GET / HTTP/1.0\r\n") == 200);
    for (const char* host : {"", "a", "a:9400", "[::1]:9400", "192.0.2.1", "a_b.example."})
        CHECK(status(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n", host)) == 200);
    http_client client(server.port());
    const auto path = [&](const std::string& target) {
        const http_answer a = client.get(target);
        return a.body.substr(0, a.body.find('|'));
    };
    CHECK(path("http://monitor:9400/metrics?x=1") == "/metrics");
    CHECK(path("HTTP://monitor/health") == "/health");
    CHECK(path("https://[::1]:9400/metrics") == "/metrics");
    CHECK(path("http://monitor") == "/");
    CHECK(path("http://monitor?x") == "/");
    CHECK(path("/http://x/y") == "/http://x/y");
    for (const char* wrong : {"http:///metrics", "ftp://x/metrics", "metrics", "*", "x:9400"})
        CHECK(status(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n", wrong)) == 400);
}

// See RFC 9110, 12.4.2 and 12.5.3.
TEST_CASE("an HTTP server uses gzip if the client accepts gzip with a weight above 0, in any notation") {
    for (const char* yes : {"gzip", "GZIP", "x-gzip", "deflate, gzip;q=0.5, br", "gzip;q=1", "gzip;q=1.000",
                            "gzip;q=0.001", "gzip ; q=0.1", "*", "*;q=0.5", "identity;q=0, gzip",
                            "deflate;q=0.5 , gzip;q=1.0", "br,gzip", "gzip;level=9"}) {
        CAPTURE(yes);
        CHECK(ibtool::accepts_gzip(yes));
    }
    for (const char* no : {"",
                           "identity",
                           "xgzip",
                           "gzipx",
                           "gzip;q=0",
                           "gzip;q=0.0",
                           "gzip;q=0.00",
                           "gzip;q=0.000",
                           "gzip;Q=0",
                           "gzip; q=0",
                           "gzip ;q=0",
                           "gzip ; q=0.000",
                           "gzip;q=00000000",
                           "*;q=0",
                           "gzip;q=0, *",
                           "*, gzip;q=0",
                           "x-gzip;q=0, *;q=1",
                           "br, gzip;q=0.",
                           "gzip;level=9;q=0",
                           "gzip;q=-1",
                           "gzip;q=x",
                           "gzip;q="}) {
        CAPTURE(no);
        CHECK_FALSE(ibtool::accepts_gzip(no));
    }
    echo_server server;
    http_client client(server.port());
    CHECK(client.get("/", "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n").body == "/|true|");
    CHECK(client.get("/", "Accept-Encoding: gzip\r\nAccept-Encoding: gzip;q=0\r\n").body == "/|false|");
}

TEST_CASE("clients that do not read long pages block no other client, and a slow reader gets its page") {
    allow_many_descriptors();
    echo_server server;
    http_client slow(server.port()); // starts before the others and reads a little from time to time
    slow.send_request("/long");
    std::list<http_client> attackers;
    std::string page;
    for (int i = 0; i < 600; ++i) {
        attackers.emplace_back(server.port()).send_request("/long");
        if (i % 20 != 0) continue;
        REQUIRE(http_client(server.port()).get("/health").status == 200); // the earlier clients have arrived
        page += slow.some();
    }
    for (int i = 0; i < 40; ++i) {
        http_client client(server.port());
        REQUIRE(client.get("/health").body == "/health|false|");
        if (i % 10 == 0) REQUIRE(client.get("/page").body == *echo_server::page());
        page += slow.some();
        attackers.emplace_back(server.port()).send_request("/long"); // attackers keep connecting
    }
    CHECK(server.connections() <= 500);
    const std::size_t body = page.find("\r\n\r\n") + 4;
    while (page.size() < body + echo_server::long_body()->size()) {
        const std::string more = slow.some_more();
        if (more.empty()) break; // the server has closed the connection
        page += more;
    }
    CHECK(page.substr(body) == *echo_server::long_body());
}

TEST_CASE("a peer with too many connections loses its own connections and not those of other peers") {
    echo_server server({.connections = 12});
    std::list<http_client> quiet, many;
    for (const char* address : {"127.0.0.2", "127.0.0.3"})
        for (int i = 0; i < 2; ++i) CHECK(quiet.emplace_back(server.port(), address).get("/").status == 200);
    for (int i = 0; i < 50; ++i) CHECK(many.emplace_back(server.port(), "127.0.0.4").get("/").status == 200);
    CHECK(server.connections() == 12);
    for (http_client& c : quiet) CHECK(c.get("/").status == 200); // idle for longer than the others
    CHECK(std::count_if(many.begin(), many.end(), [](http_client& c) { return c.is_closed(); }) == 42);
}

TEST_CASE("clients that wait for a page do not keep other clients from sending requests") {
    boost::asio::any_io_executor home;
    std::unique_ptr<boost::asio::steady_timer> page_is_made;
    served<ibtool::http_server> server([&](auto executor) {
        page_is_made =
            std::make_unique<boost::asio::steady_timer>(executor, std::chrono::steady_clock::time_point::max());
        return std::make_unique<ibtool::http_server>(
            executor, "127.0.0.1:0",
            [&](const http_request& r) -> boost::asio::awaitable<http_reply> {
                if (r.path == "/metrics")
                    co_await page_is_made->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
                co_return ibtool::make_reply(200, r.path);
            },
            http_limits{.connections = 20});
    });
    std::list<http_client> waiting;
    for (int i = 0; i < 20; ++i) waiting.emplace_back(server.port()).send_request("/metrics");
    const auto connections = [](ibtool::http_server& s) { return s.connections(); };
    while (server.in_its_thread(connections) < 20) std::this_thread::yield();
    CHECK(http_client(server.port()).get("/health").body == "/health");
    server.in_its_thread([&](ibtool::http_server&) { page_is_made->cancel(); });
    CHECK(waiting.front().answer().body == "/metrics"); // the server keeps the client that waits longest
    server.in_its_thread([&](ibtool::http_server&) { page_is_made.reset(); });
}

TEST_CASE("an HTTP server accepts no more connections than its limit of open files permits") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    std::size_t open = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++open;
    rlimit few = before;
    few.rlim_cur = open + 60;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    auto server = std::make_unique<echo_server>();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    std::list<http_client> all;
    for (int i = 0; i < 60; ++i) CHECK(all.emplace_back(server->port()).get("/").status == 200);
    CHECK(server->connections() < 40);
    CHECK(server->connections() >= 20);
}

TEST_CASE("an HTTP server at its connection limit closes the connections that are idle for longest") {
    echo_server server({.connections = 5});
    std::list<http_client> all;
    for (int i = 0; i < 20; ++i) CHECK(all.emplace_back(server.port()).get("/").status == 200);
    CHECK(server.connections() == 5);
    std::vector<bool> closed;
    for (http_client& c : all) {
        if (closed.size() < 15) CHECK(c.rest() == "");
        closed.push_back(c.is_closed());
    }
    CHECK(std::count(closed.begin(), closed.end(), true) == 15);
    CHECK(all.back().get("/").status == 200);
    // After a recent reply, a client is not the client that is idle for longest.
    auto fifth = std::prev(all.end(), 5);
    CHECK(fifth->get("/").status == 200);
    http_client another(server.port());
    CHECK(another.get("/").status == 200);
    CHECK_FALSE(fifth->is_closed());
    CHECK(std::prev(all.end(), 4)->rest() == "");
}

TEST_CASE("an HTTP server closes a connection with a slow request and keeps idle connections") {
    echo_server server({.request = 500ms});
    http_client silent(server.port()), slow(server.port()), between(server.port());
    CHECK(between.get("/").status == 200);
    slow.send("GET / HTTP/1.1\r\nHo");
    CHECK(slow.rest() == ""); // the server closes the connection
    CHECK_FALSE(silent.is_closed());
    CHECK_FALSE(between.is_closed());
    CHECK(silent.get("/").status == 200);
    CHECK(between.get("/").status == 200);
}

TEST_CASE("an HTTP server closes a client that does not read its reply, and serves other clients meanwhile") {
    echo_server server({.slice = 2s});
    std::list<http_client> slow;
    for (int i = 0; i < 10; ++i) {
        slow.emplace_back(server.port()).send_request("/long");
    }
    http_client quick(server.port());
    CHECK(quick.get("/long").body == *echo_server::long_body());
    while (server.connections() > 1) std::this_thread::yield(); // the server closes every slow client
    CHECK(quick.get("/").status == 200);
    CHECK(slow.front().rest().size() < echo_server::long_body()->size());
}

TEST_CASE("forty clients get their whole page next to a thousand idle and a hundred slow clients") {
    allow_many_descriptors();
    echo_server server;
    std::list<http_client> idle, slow;
    for (int i = 0; i < 100; ++i) {
        slow.emplace_back(server.port()).send_request("/long");
    }
    for (int i = 0; i < 1000; ++i) idle.emplace_back(server.port());
    std::vector<std::thread> scrapers;
    std::atomic<int> whole = 0;
    for (int i = 0; i < 40; ++i)
        scrapers.emplace_back([&] {
            http_client client(server.port());
            for (int k = 0; k < 3; ++k) whole += client.get("/page").body == *echo_server::page();
        });
    for (std::thread& t : scrapers) t.join();
    CHECK(whole == 120);
    CHECK(server.connections() <= 500);
}

TEST_CASE("each client gets at most one reply between two steps of a sweep, even with pipelined requests") {
    // The sweep runs in the server's thread and yields between its steps. The test reads the counts after the sweep has
    // ended.
    int answers = 0, last = 0, most = 0;
    bool is_over = false;
    boost::asio::any_io_executor home;
    const std::function<void()> turn = [&] {
        most = std::max(most, answers - std::exchange(last, answers));
        if (!is_over) boost::asio::post(home, [&] { turn(); });
    };
    served<ibtool::http_server> server([&](auto executor) {
        home = executor;
        return std::make_unique<ibtool::http_server>(executor, "127.0.0.1:0",
                                                     [&](const http_request&) -> boost::asio::awaitable<http_reply> {
                                                         ++answers;
                                                         co_return ibtool::make_reply(200, "x");
                                                     });
    });
    constexpr int clients = 40, questions = 100;
    std::string all;
    for (int i = 0; i < questions; ++i) all += "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    std::list<http_client> connections;
    for (int i = 0; i < clients; ++i) connections.emplace_back(server.port()).send(all);
    server.in_its_thread([&](ibtool::http_server&) {
        last = answers; // before the first turn, any number of replies is possible
        turn();
    });
    for (http_client& c : connections)
        for (int i = 0; i < questions; ++i) CHECK(c.answer().body == "x");
    server.in_its_thread([&](ibtool::http_server&) { is_over = true; });
    CHECK(answers == clients * questions);
    CHECK(most > 0);
    CHECK(most <= clients);
}

TEST_CASE("stopping an HTTP server closes every connection at once in any state") {
    auto server = std::make_unique<echo_server>();
    http_client idle(server->port()), half(server->port()), slow(server->port());
    CHECK(idle.get("/").status == 200);
    half.send("GET / HT");
    slow.send_request("/long");
    while (server->connections() < 3) std::this_thread::yield();
    const int port = server->port();
    server.reset();
    CHECK(idle.rest() == "");
    CHECK(half.rest() == "");
    CHECK(slow.rest().size() < echo_server::long_body()->size());
    CHECK_THROWS(http_client(port));
}

} // namespace http_server_test
