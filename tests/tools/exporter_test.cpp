// SPDX-License-Identifier: MIT
// exporter_test.cpp - the pages and the listening addresses of the exporter, without a sweep.
#include "exporter/authorization.hpp"
#include "exporter/exporter.hpp"
#include "exporter/listening.hpp"
#include "input/options.hpp"
#include "program/http_client.hpp"
#include "program/ibtool_rig.hpp"
#include "program/served_io_context.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <zlib.h>

namespace exporter_test {

using namespace comad::test;
using namespace std::chrono_literals;
using Catch::Contains;
using ibtool_rig::directory;
using nlohmann::json;

namespace {

/// Yields a page in pieces, in the way in which a sweep produces it.
comad::coro::generator<std::string> pieces_of(std::string text) {
    std::string piece;
    for (std::size_t at = 0; at < text.size(); at += piece.size()) {
        piece = text.substr(at, 64 << 10);
        co_yield piece;
    }
}

/// An exporter that runs in its own thread and publishes pages of the test.
struct running_exporter : served<ibtool::exporter> {
    explicit running_exporter(ibtool::exporter::options o)
        : served([&](auto executor) { return std::make_unique<ibtool::exporter>(executor, std::move(o)); }) {}
    running_exporter() : running_exporter({"127.0.0.1:0", 1h, {}, {}}) {}
    void publish(const std::string& text, bool most_missing = false, std::size_t fabric = 0) {
        in_its_thread([&](ibtool::exporter& e) {
            e.publish([this, text] { return ++made, pieces_of(text); }, {{"sweep", 1}}, most_missing, fabric);
        });
    }
    std::atomic<int> made = 0; // number of created pages, plain or compressed
};

/// Returns a page that is longer than the buffers of a socket.
std::string long_page(int number) {
    std::string text;
    for (int i = 0; text.size() < (16u << 20); ++i) text += fmt::format("series{{n=\"{}\"}} {}\n", i, number);
    return text;
}

/// Decompresses gzip data with zlib.
std::string unzipped(const std::string& zipped) {
    z_stream s{};
    REQUIRE(inflateInit2(&s, 15 + 16) == Z_OK);
    s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
    s.avail_in = static_cast<uInt>(zipped.size());
    std::string text;
    int result = Z_OK;
    while (result == Z_OK) {
        char some[65536];
        s.next_out = reinterpret_cast<Bytef*>(some);
        s.avail_out = sizeof some;
        result = inflate(&s, Z_NO_FLUSH);
        text.append(some, sizeof some - s.avail_out);
    }
    CHECK(result == Z_STREAM_END);
    CHECK(s.avail_in == 0);
    inflateEnd(&s);
    return text;
}

/// Returns the error for an authorization file.
std::string refusal_of(const std::string& file) {
    try {
        ibtool::read_authorizations(file);
    } catch (const ibtool::usage_error& e) {
        return e.what();
    }
    return {};
}

/// Returns the error of listening on an address; empty if listening succeeds.
std::string where_it_cannot_listen(const std::string& where) {
    boost::asio::io_context io;
    try {
        const ibtool::listening_socket at(io.get_executor(), where);
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

} // namespace

TEST_CASE("clients that accept gzip get the page compressed, and the exporter compresses each page once") {
    running_exporter e;
    const std::string page = long_page(1);
    e.publish(page);
    std::vector<std::thread> scrapers;
    std::vector<std::string> zipped(8);
    for (std::string& mine : zipped)
        scrapers.emplace_back([&] {
            const http_answer a = http_client(e.port()).get("/metrics", "Accept-Encoding: gzip\r\n");
            if (a.status == 200 && a.field("content-encoding") == "gzip") mine = a.body;
        });
    for (std::thread& t : scrapers) t.join();
    CHECK(e.made == 1);
    for (const std::string& one : zipped) CHECK(one == zipped[0]);
    CHECK(unzipped(zipped[0]) == page);
    CHECK(zipped[0].size() < page.size() / 3);
    http_client plain(e.port());
    const http_answer a = plain.get("/metrics");
    CHECK(a.body == page);
    CHECK(a.field("content-encoding") == "");
    CHECK(a.field("vary") == "Accept-Encoding");
    CHECK(plain.get("/metrics").body == page);
    CHECK(e.made == 2);
    e.publish("a 1\n");
    CHECK(e.made == 2); // no client has requested the new page
}

TEST_CASE("a client gets the page that is published during its request, and other clients are served in between") {
    running_exporter e;
    std::promise<void> started;
    std::atomic<bool> is_enough = false;
    const auto endless = [&]() -> comad::coro::generator<std::string> {
        started.set_value();
        std::string piece = "a";
        while (!is_enough) co_yield piece;
        piece = "b";
        co_yield piece;
    };
    e.in_its_thread([&](ibtool::exporter& x) { x.publish(endless, {{"sweep", 1}}, false); });
    http_client first(e.port()), second(e.port()), other(e.port());
    first.send_request("/metrics");
    started.get_future().wait();
    CHECK(other.get("/health").status == 200);
    e.publish("newer\n");
    second.send_request("/metrics");
    while (e.in_its_thread([](ibtool::exporter& x) { return x.waiting(); }) < 1) std::this_thread::yield();
    is_enough = true;
    const std::string got = first.answer().body;
    CHECK(got.back() == 'b');
    CHECK(second.answer().body == got);
    CHECK(other.get("/metrics").body == "newer\n");
}

TEST_CASE("the exporter serves clients while the thread of the sweeps is busy") {
    running_exporter e;
    e.publish("a 1\n");
    std::promise<void> started, served;
    const auto busy = std::async(std::launch::async, [&] {
        e.in_its_thread([&](ibtool::exporter&) {
            started.set_value();
            served.get_future().wait();
        });
    });
    started.get_future().wait();
    http_client client(e.port());
    CHECK(client.get("/metrics").body == "a 1\n");
    CHECK(client.get("/health").status == 200);
    served.set_value();
}

TEST_CASE("a page of several fabrics contains the known data, and health reports each fabric and the worst state") {
    running_exporter e({"127.0.0.1:0", 1h, {}, {}, {"umad:a/1", "umad:b\x1b/1"}});
    http_client client(e.port());
    const auto health = [&] {
        const http_answer a = client.get("/health");
        const json all = json::parse(a.body);
        std::string text = fmt::format("{} {}:", a.status, all.at("status").get<std::string>());
        for (const json& one : all.at("fabrics"))
            text += fmt::format(" {}={}", one.at("fabric").get<std::string>(), one.at("status").get<std::string>());
        return text;
    };
    CHECK(health() == "503 starting: umad:a/1=starting umad:b\x1b/1=starting");
    e.publish("a 1\n", false, 1);
    CHECK(client.get("/metrics").body == "a 1\n");
    CHECK(health() == "503 starting: umad:a/1=starting umad:b\x1b/1=ok");
    e.publish("a 2\n", false, 0);
    CHECK(health() == "200 ok: umad:a/1=ok umad:b\x1b/1=ok");
    e.publish("a 3\n", true, 1);
    CHECK(health() == "503 missing: umad:a/1=ok umad:b\x1b/1=missing");
    e.in_its_thread([](ibtool::exporter& x) { x.note_lost("gone", 0); });
    CHECK(health() == "503 lost: umad:a/1=lost umad:b\x1b/1=missing");
    CHECK(json::parse(client.get("/health").body).at("fabrics").at(0).at("lost") == "gone");
    CHECK(client.get("/metrics").body == "a 3\n");
}

TEST_CASE("new authorizations replace the old authorizations of a running exporter") {
    running_exporter e({"127.0.0.1:0", 1h, {}, {"Bearer old"}});
    e.publish("a 1\n");
    http_client client(e.port());
    CHECK(client.get("/metrics", "Authorization: Bearer old\r\n").status == 200);
    e.in_its_thread([](ibtool::exporter& x) { x.set_authorizations({"Bearer new"}); });
    CHECK(client.get("/metrics", "Authorization: Bearer old\r\n").status == 401);
    CHECK(client.get("/metrics", "Authorization: Bearer new\r\n").status == 200);
}

TEST_CASE("a client slower than four sweeps loses the rest of its page, and other clients get their pages") {
    running_exporter e;
    e.publish(long_page(1));
    http_client slow(e.port());
    slow.send_request("/metrics");
    http_client quick(e.port());
    CHECK(quick.get("/metrics").body == long_page(1));
    for (int number : {2, 3, 4}) e.publish(long_page(number));
    CHECK(quick.get("/metrics").body == long_page(4));
    e.publish(long_page(5));
    CHECK(slow.rest().size() < long_page(1).size());
    CHECK(quick.get("/metrics").body == long_page(5));
}

TEST_CASE("a client gets its whole page while new pages are published") {
    running_exporter e;
    e.publish(long_page(1));
    http_client slow(e.port());
    slow.send_request("/metrics");
    http_client quick(e.port());
    CHECK(quick.get("/metrics").body == long_page(1)); // the reply to `slow` has started as well
    for (int number : {2, 3, 4}) e.publish(long_page(number));
    CHECK(slow.answer().body == long_page(1));
}

TEST_CASE("health is 503 before the first page, without the device or with most ports missing, and otherwise 200") {
    running_exporter e;
    http_client client(e.port());
    const auto health = [&] {
        const http_answer a = client.get("/health");
        CHECK(a.field("content-type") == "application/json");
        return fmt::format("{} {}", a.status, json::parse(a.body).at("status").get<std::string>());
    };
    CHECK(health() == "503 starting");
    CHECK(client.get("/metrics").status == 503);
    e.publish("a 1\n");
    CHECK(health() == "200 ok");
    e.publish("a 2\n", true);
    CHECK(health() == "503 missing");
    CHECK(client.get("/metrics").body == "a 2\n");
    e.in_its_thread([](ibtool::exporter& x) { x.note_lost("umad0: gone\x1b"); });
    CHECK(health() == "503 lost");
    CHECK(json::parse(client.get("/health").body).at("lost") == "umad0: gone\x1b");
    e.in_its_thread([](ibtool::exporter& x) { x.note_back(); });
    e.publish("a 3\n");
    CHECK(health() == "200 ok");
    CHECK(client.get("/nothing").status == 404);
}

TEST_CASE("health is 503 if the page is older than the limit") {
    running_exporter e({"127.0.0.1:0", 1ns, {}, {}});
    e.publish("a 1\n");
    http_client client(e.port());
    const http_answer health = client.get("/health");
    CHECK(health.status == 503);
    CHECK(json::parse(health.body).at("status") == "late");
    CHECK(client.get("/metrics").status == 200);
}

TEST_CASE("only clients with a token or a password of the file are authorized") {
    const directory files;
    const std::string file = files.write("auth", "# who may\nbearer s3cret\n\nbasic Aladdin:open sesame\n");
    ::chmod(file.c_str(), 0600);
    running_exporter e({"127.0.0.1:0", 1h, {}, ibtool::read_authorizations(file)});
    e.publish("a 1\n");
    const auto status = [&](const std::string& field, const char* target = "/metrics") {
        return http_client(e.port()).get(target, field).status;
    };
    CHECK(status("Authorization: Bearer s3cret\r\n") == 200);
    CHECK(status("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n") == 200); // the example of RFC 7617
    for (const char* wrong : {"", "Authorization: Bearer s3cre\r\n", "Authorization: Bearer s3cret1\r\n",
                              "Authorization: bearer\r\n", "Authorization: Basic s3cret\r\n"})
        for (const char* target : {"/metrics", "/health", "/", "/x"}) CHECK(status(wrong, target) == 401);
    CHECK_THAT(http_client(e.port()).get("/").field("www-authenticate"), Contains("Bearer") && Contains("Basic"));
}

TEST_CASE("an authorization file and a request accept any case of the scheme, CR and blanks") {
    const directory files;
    const std::string file =
        files.write("auth", "  \r\nBearer s3cret \r\nBASIC\tAladdin:open sesame\t\r\n# x\r\nbasic :token\n");
    ::chmod(file.c_str(), 0600);
    const auto accepted = ibtool::read_authorizations(file);
    CHECK(accepted.size() == 3);
    for (const char* given : {"Bearer s3cret", "bearer s3cret", "BEARER s3cret", "Bearer  s3cret ",
                              "basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "BASIC QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
                              "Basic OnRva2Vu"}) { // the first two are the example of RFC 7617, the last is `:token`
        CAPTURE(given);
        CHECK(ibtool::is_authorized(given, accepted));
    }
    for (const char* given : {"", "s3cret", "Bearer S3CRET", "Bearer s3cret x", "Bearer", "Basic s3cret",
                              "Digest s3cret", "basic qWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearers3cret"}) {
        CAPTURE(given);
        CHECK_FALSE(ibtool::is_authorized(given, accepted));
    }
}

TEST_CASE("an authorization file that belongs to another user is refused") {
    const directory files;
    const std::string file = files.write("auth", "bearer s3cret\n");
    ::chmod(file.c_str(), 0600);
    if (::geteuid() != 0 || ::chown(file.c_str(), 65534, 65534) != 0) return; // only root can change the owner
    CHECK_THAT(refusal_of(file), Contains("the file must belong to root or to the user") && !Contains("s3cret"));
}

TEST_CASE("an invalid authorization file is refused with the line number and without the secret") {
    const directory files;
    const auto refusal = [&](const std::string& text, mode_t mode = 0600) {
        const std::string file = files.write("auth", text);
        ::chmod(file.c_str(), mode);
        const std::string why = refusal_of(file);
        CHECK_THAT(why, !Contains("s3cret"));
        return why.empty() ? why : why.substr(why.rfind("/auth:") + 5);
    };
    CHECK(refusal("bearer s3cret\n") == "");
    CHECK(refusal("bearer s3cret\n", 0644) == ": other users can read the file; run chmod 600");
    CHECK(refusal("bearer s3cret\n", 0620) == ": other users can write the file; run chmod 600");
    CHECK(refusal("bearer s3cret\n", 0602) == ": other users can write the file; run chmod 600");
    const std::string expected = "expected 'bearer TOKEN' or 'basic USER:PASSWORD', neither of them empty";
    CHECK(refusal("# x\ns3cret\n") == ":2: " + expected);
    for (const char* wrong :
         {"basic s3cret\n", "basic :\n", "basic s3cret:\n", "basic s3cret: \r\n", "basic\n", "basic \n", "bearer\n",
          "bearer \n", "bearer\r\n", "BEARER\t\n", "bearers3cret\n", "digest s3cret:x\n"})
        CHECK(refusal(wrong) == ":1: " + expected);
    CHECK(refusal("# nobody\n") == ": the file contains no credentials");
    CHECK_THAT(refusal_of(files / "missing"), Contains("cannot read"));
    CHECK_THAT(refusal_of(files / ""), Contains("cannot read"));
}

TEST_CASE("an exporter is reachable only from this machine at each loopback address") {
    for (const char* where : {":0", "127.0.0.1:0", "127.8.9.10:0", "[::1]:0", "[::ffff:127.0.0.1]:0"}) {
        CAPTURE(where);
        boost::asio::io_context io;
        std::optional<ibtool::listening_socket> socket;
        try {
            socket.emplace(io.get_executor(), where);
        } catch (const std::runtime_error& e) { // a machine without IPv6
            WARN("skipped " << where << ": " << e.what());
        }
        if (socket) CHECK(socket->is_loopback());
    }
    const directory files;
    for (const std::string& where : {std::string("0.0.0.0:0"), "unix:" + (files / "scrape")}) {
        CAPTURE(where);
        boost::asio::io_context io;
        CHECK_FALSE(ibtool::listening_socket(io.get_executor(), where).is_loopback());
    }
}

TEST_CASE("an exporter with only a port listens on loopback, and removes the socket of a path at its end") {
    running_exporter alone({":0", 1h, {}, {}});
    CHECK_THAT(alone.address(), Catch::StartsWith("127.0.0.1:"));
    const directory files;
    const std::string path = files / "scrape";
    {
        running_exporter e({"unix:" + path, 1h, {}, {}});
        CHECK(e.address() == "unix:" + path);
        e.publish("a 1\n");
        CHECK(http_client(path).get("/metrics").body == "a 1\n");
        CHECK_THAT(where_it_cannot_listen("unix:" + path), Contains("the path exists already"));
    }
    CHECK_FALSE(std::filesystem::exists(path));
    { // the socket that a killed exporter leaves
        boost::asio::io_context io;
        boost::asio::local::stream_protocol::acceptor killed(io, path);
    }
    REQUIRE(std::filesystem::exists(path));
    running_exporter again({"unix:" + path, 1h, {}, {}});
    CHECK(http_client(path).get("/").status == 200);
    { // the exporter keeps a file that replaced its socket
        const std::string other = files / "other";
        running_exporter e({"unix:" + other, 1h, {}, {}});
        REQUIRE(std::filesystem::remove(other));
        files.write("other", "precious");
    }
    CHECK(ibtool_rig::read_file(files / "other") == "precious");
    if (::geteuid() == 0) { // only root can change the owner of a socket
        const std::string other = files / "another user's";
        boost::asio::io_context io;
        { boost::asio::local::stream_protocol::acceptor killed(io, other); }
        REQUIRE(::lchown(other.c_str(), 65534, 65534) == 0);
        CHECK_THAT(where_it_cannot_listen("unix:" + other), Contains("the path exists already"));
        CHECK(std::filesystem::exists(other));
    }
    const std::string file = files.write("data", "precious");
    CHECK_THAT(where_it_cannot_listen("unix:" + file), Contains("the path exists already"));
    CHECK(ibtool_rig::read_file(file) == "precious");
}

TEST_CASE("a failure to listen is reported with a one-line message") {
    for (const char* wrong : {"9400", "::1:9400", "127.0.0.1:99999", "127.0.0.1:", "[127.0.0.1]:1", "host:1", ""}) {
        CAPTURE(wrong);
        CHECK_THAT(where_it_cannot_listen(wrong),
                   Contains(fmt::format("invalid address '{}'; expected ADDR:PORT", wrong)));
    }
    const running_exporter other;
    CHECK(where_it_cannot_listen(other.address()) ==
          fmt::format("--listen: cannot listen on {}: another program uses this address", other.address()));
    CHECK(where_it_cannot_listen("192.0.2.1:0") == // a documentation address that no host has
          "--listen: cannot listen on 192.0.2.1:0: Cannot assign requested address");
    CHECK_THAT(where_it_cannot_listen("systemd"), Contains("systemd passed no socket"));
    CHECK_THAT(where_it_cannot_listen("unix:"), Contains("the path must have 1..107 bytes"));
    CHECK_THAT(where_it_cannot_listen("unix:/" + std::string(200, 'x')), Contains("the path must have 1..107 bytes"));
}

} // namespace exporter_test
