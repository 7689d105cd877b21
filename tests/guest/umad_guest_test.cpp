// SPDX-License-Identifier: MIT
// umad_guest_test.cpp - the umad transport, and what drives it, against the kernel itself (tests/guest/).
#include "catch.hpp"
#include <comad/transports/sysfs.hpp>

using namespace comad;

TEST_CASE("soft RoCE has MAD devices, and no port of a subnet") {
    const auto ports = transports::end_ports();
    REQUIRE(ports.size() == 2);
    CHECK(ports[0].name() == "rxe0/1");
    CHECK(ports[0].umad == "umad0");
    CHECK_FALSE(ports[0].is_infiniband());
}
