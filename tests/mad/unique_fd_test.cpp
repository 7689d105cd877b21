// SPDX-License-Identifier: MIT
// unique_fd_test.cpp - ownership of a file descriptor, which is closed exactly once.
#include "support/catch.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <fcntl.h>
#include <unistd.h>

using comad::mad::unique_fd;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
int any() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

} // namespace

TEST_CASE("the last owner of a descriptor closes it, including descriptor 0") {
    const int fd = any();
    {
        unique_fd owner(fd);
        REQUIRE(owner);
        unique_fd heir(std::move(owner));
        CHECK_FALSE(owner);
        CHECK(heir.get() == fd);
        unique_fd next_heir;
        next_heir = std::move(heir);
        CHECK(is_open(fd));
    }
    CHECK_FALSE(is_open(fd));

    const int standard_input = ::dup(STDIN_FILENO);
    REQUIRE(standard_input > 0);
    {
        const unique_fd zero(STDIN_FILENO);
        CHECK(zero);
    }
    const bool was_closed = !is_open(STDIN_FILENO);
    REQUIRE(::dup2(standard_input, STDIN_FILENO) == STDIN_FILENO);
    ::close(standard_input);
    CHECK(was_closed);
}
