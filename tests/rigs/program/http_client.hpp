// SPDX-License-Identifier: MIT
// http_client.hpp - one HTTP connection to a loopback port or a unix socket. It controls each byte, for requests that
// client libraries do not send.
#pragma once
#include "kernel/errno_error.hpp"
#include "support/catch.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace comad::test {

/// An HTTP reply.
struct http_answer {
    int status = 0;
    std::string header, body;
    /// Returns the value of a header field; empty if missing. `name`: in lower case.
    std::string field(const std::string& name) const {
        std::string lower = header;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        const std::size_t at = lower.find("\r\n" + name + ": ");
        if (at == std::string::npos) return {};
        const std::size_t begin = at + name.size() + 4;
        return header.substr(begin, header.find("\r\n", begin) - begin);
    }
};

/// A blocking HTTP client over one connection. The receive timeout is 60 seconds.
class http_client {
public:
    /// Connects to a loopback port. `from`: local source address, such as 127.0.0.2.
    explicit http_client(int port, const char* from = nullptr)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to{}, here{};
        here.sin_family = AF_INET;
        if (from && (::inet_pton(AF_INET, from, &here.sin_addr) != 1 ||
                     ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0))
            fail("bind");
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect(to);
    }
    explicit http_client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un to{};
        to.sun_family = AF_UNIX;
        std::strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
        connect(to);
    }

    void send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t n = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (n <= 0) return; // the server has closed the connection; a reply may still be readable
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    void send_request(const std::string& target, const std::string& fields = {}, const std::string& method = "GET") {
        send(method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
    }
    /// Reads the next complete reply.
    http_answer answer(bool has_body = true) {
        http_answer a;
        while (in_.find("\r\n\r\n") == std::string::npos) {
            if (!receive()) return a;
        }
        const std::size_t end = in_.find("\r\n\r\n") + 2;
        a.header = in_.substr(0, end);
        in_.erase(0, end + 2);
        a.status = std::stoi(a.header.substr(a.header.find(' ') + 1));
        const std::string length = a.field("content-length");
        const std::size_t size = has_body && !length.empty() ? std::stoul(length) : 0;
        while (in_.size() < size && receive()) {}
        a.body = in_.substr(0, size);
        in_.erase(0, a.body.size());
        return a;
    }
    http_answer get(const std::string& target, const std::string& fields = {}) {
        send_request(target, fields);
        return answer();
    }
    /// Waits until the server closes the connection. Returns the data that the server sent before.
    std::string rest() {
        while (receive()) {}
        return in_;
    }
    /// Returns what has arrived so far, at most 256 KiB.
    std::string some() {
        for (int i = 0; i < 4 && is_readable() && receive(); ++i) {}
        return std::exchange(in_, {});
    }
    /// Waits for further data and returns it; empty if the server has closed the connection.
    std::string some_more() {
        if (in_.empty()) receive();
        return std::exchange(in_, {});
    }
    /// Returns true if data can be read now.
    bool is_readable() {
        pollfd p{socket_.get(), POLLIN, 0};
        return ::poll(&p, 1, 0) == 1;
    }
    /// Returns true if the server has closed the connection.
    bool is_closed() {
        pollfd p{socket_.get(), POLLIN, 0};
        char c;
        return ::poll(&p, 1, 0) == 1 && ::recv(socket_.get(), &c, 1, MSG_PEEK) <= 0;
    }

private:
    template <class Address> void connect(const Address& to) {
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail("connect");
        timeval limit{60, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    bool receive() {
        char some[64 << 10];
        const ssize_t n = ::recv(socket_.get(), some, sizeof some, 0);
        if (n <= 0) return false;
        in_.append(some, static_cast<std::size_t>(n));
        return true;
    }
    mad::unique_fd socket_;
    std::string in_;
};

} // namespace comad::test
