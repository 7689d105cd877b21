// SPDX-License-Identifier: MIT
// ibstat_text_test.cpp - lines that ibstat prints in newer versions of infiniband-diags than Debian's.
#include "support/catch.hpp"
#include "text/ibstat_text.hpp"

namespace device_text_test {

using namespace comad;

// rdma-core 9a645e432 (June 2026) prints `Effective speed: %g` in Gb/s after Rate if ibv_query_port_speed() succeeds.
// That function returns a number of units of 100 Mb/s. If the function fails, ibstat does not print the line.
TEST_CASE("ibstat prints the effective speed of a port after its rate if known") {
    transports::device d;
    d.name = "mlx5_0";
    d.nodeType = iba::NodeType::CA;
    d.end_ports.resize(3);
    for (unsigned i = 0; i < 3; ++i) {
        d.end_ports[i].port = i + 1;
        d.end_ports[i].rate = "400 Gb/sec (4X NDR)";
    }
    const ibtool::effective_speeds known = [](const transports::device& of, unsigned port) -> std::optional<u64> {
        CHECK(of.name == "mlx5_0");
        if (port == 1) return 252'100'000'000; // 2521 units of 100 Mb/s
        if (port == 2) return 800'000'000'000;
        return std::nullopt;
    };
    const std::string text = ibtool::format_device(d, true, known);
    CHECK_THAT(text, Catch::Contains("\tPort 1:\n") &&
                         Catch::Contains("\t\tRate: 400\n\t\tEffective speed: 252.1\n\t\tBase lid: 0\n") &&
                         Catch::Contains("\t\tRate: 400\n\t\tEffective speed: 800\n") &&
                         Catch::Contains("\t\tRate: 400\n\t\tBase lid: 0\n"));
    CHECK_THAT(ibtool::format_port(d, d.end_ports[0], known),
               Catch::StartsWith("CA: 'mlx5_0'\nPort 1:\n") &&
                   Catch::Contains("\nRate: 400\nEffective speed: 252.1\nBase lid: 0\n"));
    const ibtool::effective_speeds unknown = [](const auto&, unsigned) { return std::optional<u64>(); };
    CHECK(ibtool::format_device(d, true, unknown).find("Effective") == std::string::npos);
}

} // namespace device_text_test
