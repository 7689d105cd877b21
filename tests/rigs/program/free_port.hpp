// SPDX-License-Identifier: MIT
// free_port.hpp - a TCP port for a server that a test starts.
#pragma once
#include "support/catch.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace comad::test {

/// Returns a port of 127.0.0.1 at which no program listens now. Tests that run at the same time get different ports.
inline unsigned short free_port() {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(s >= 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    ::close(s);
    return ntohs(at.sin_port);
}

} // namespace comad::test
