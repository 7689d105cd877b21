// SPDX-License-Identifier: MIT
// smi_gsi_test.cpp - one logical port over two MAD devices. Each device is a socket that simulates the kernel.
#include "kernel/fake_kernel.hpp"
#include "kernel/sysfs_tree.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/transports/smi_gsi.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>

namespace smi_gsi_test {

using namespace comad;
using namespace comad::test;
using transports::smi_gsi_transport;
using transports::umad_transport;

namespace {

/// A logical port over two devices.
struct planarized {
    fake_kernel smi, gsi;
    smi_gsi_transport transport{std::make_unique<umad_transport>(smi.device(), smi.options()),
                                std::make_unique<umad_transport>(gsi.device(), gsi.options())};
    std::array<u8, 1024> buffer{};

    bool readable() const {
        pollfd waiting{transport.native_handle(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    }
    mad::received receive() { return transport.receive(buffer); }
};

/// A device whose reads return a given state, and whose advice is its name.
struct named_side final : mad::transport {
    explicit named_side(std::string_view n) : called(n) {}
    int native_handle() const noexcept override { return fd.get(); }
    mad::send_result send(const mad::send_request&) noexcept override { return {}; }
    mad::received receive(std::span<u8>) noexcept override {
        mad::received r;
        r.state = state;
        return r;
    }
    mad::transport_limits limits() const noexcept override { return {}; }
    std::string_view advice(mad::transport_call, int) const noexcept override { return called; }

    std::string_view called;
    mad::receive_state state = mad::receive_state::would_block;
    mad::unique_fd fd{::eventfd(0, EFD_CLOEXEC)};
};

request for_class(u8 mgmt_class) {
    request r;
    r.mgmt_class = mgmt_class;
    if (mgmt_class != class_directed) r.path = mad::IBPath{};
    return r;
}

/// Returns what the kernel delivers for a request that was written.
std::vector<u8> answer_to(std::vector<u8> written) {
    written[64 + 3] |= 0x80;                              // a response
    if (written[64 + 1] == 0x81) written[64 + 4] |= 0x80; // D
    return written;
}

} // namespace

TEST_CASE("SMPs leave through the device of the SMI and all other MADs through the device of the GSI") {
    planarized port;
    for (const u8 mgmt_class : {class_directed, class_lid_routed}) {
        REQUIRE(port.transport.send(for_class(mgmt_class)()).state == mad::send_state::sent);
        CHECK(port.smi.written().size() == 64 + mad::mad_size);
        CHECK(port.gsi.nothing_written());
    }
    for (const u8 mgmt_class : {class_SubnAdm, class_Performance}) {
        REQUIRE(port.transport.send(for_class(mgmt_class)()).state == mad::send_state::sent);
        CHECK(port.gsi.written().size() == 64 + mad::mad_size);
        CHECK(port.smi.nothing_written());
    }
}

TEST_CASE("requests are served at the device that carries their class") {
    planarized port;
    using enum iba::MgmtClass;
    CHECK(port.transport.serve({SubnDirected, 1, mad::methods(iba::Method::Get)}) == 0);
    CHECK(port.smi.registrations.size() == 1);
    CHECK(port.transport.serve({Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    CHECK(port.gsi.registrations.size() == 1);
    CHECK(port.smi.registrations.size() == 1);
}

TEST_CASE("one descriptor reports messages of both devices, and no device delays the other") {
    planarized port;
    CHECK_FALSE(port.readable());
    CHECK(port.receive().state == mad::receive_state::would_block);

    for (int i = 0; i < 3; ++i) {
        std::vector<u8> smp = a_reply(), gmp = a_reply();
        smp[64 + 1] = class_directed;
        gmp[64 + 1] = class_Performance;
        port.smi.deliver(smp);
        port.gsi.deliver(gmp);
    }
    std::vector<u8> classes;
    while (port.readable()) {
        const mad::received r = port.receive();
        REQUIRE(r.state == mad::receive_state::message);
        classes.push_back(r.mad[1]);
    }
    CHECK(classes == std::vector<u8>{class_directed, class_Performance, class_directed, class_Performance,
                                     class_directed, class_Performance});
}

TEST_CASE("a port of two devices fails if one of its devices is removed") {
    planarized port;
    SECTION("SMI removed") { port.smi.remove(ENODEV); }
    SECTION("GSI removed") { port.gsi.remove(ENODEV); }
    CHECK(port.readable());
    CHECK(port.receive().state == mad::receive_state::failed);
}

TEST_CASE("the advice for a failed send comes from the device that failed") {
    planarized port;
    port.smi.error = EPROTONOSUPPORT;
    CHECK(port.transport.send(for_class(class_directed)()).error == EPROTONOSUPPORT);
    CHECK_THAT(std::string(port.transport.advice(mad::transport_call::send, EPROTONOSUPPORT)), Catch::Contains("QP0"));
    port.gsi.failing_writes = {EINVAL};
    CHECK(port.transport.send(for_class(class_Performance)()).error == EINVAL);
    CHECK_THAT(std::string(port.transport.advice(mad::transport_call::send, EINVAL)),
               Catch::Contains("directed route"));
}

TEST_CASE("the advice for a failed read comes from the device that failed") {
    auto smi = std::make_unique<named_side>("SMI"), gsi = std::make_unique<named_side>("GSI");
    named_side &first = *smi, &second = *gsi;
    smi_gsi_transport port(std::move(smi), std::move(gsi));
    const auto advice = [&] { return port.advice(mad::transport_call::receive, ENODEV); };
    std::array<u8, 512> buffer{};
    CHECK(advice() == "SMI");
    second.state = mad::receive_state::failed;
    CHECK(port.receive(buffer).state == mad::receive_state::failed);
    CHECK(advice() == "GSI");
    second.state = mad::receive_state::would_block;
    first.state = mad::receive_state::message;
    CHECK(port.receive(buffer).state == mad::receive_state::message);
    CHECK(advice() == "GSI");
    first.state = mad::receive_state::failed;
    CHECK(port.receive(buffer).state == mad::receive_state::failed);
    CHECK(advice() == "SMI");
}

TEST_CASE("the limits of a port of two devices combine both devices") {
    planarized port;
    CHECK(port.transport.limits().smi);
    CHECK(port.transport.limits().kernel_rmpp);
    CHECK(port.transport.limits().max_window == 128);
    CHECK(port.transport.limits().sa_window == 16);
}

TEST_CASE("a schedule sends SMPs and GMPs through a port of two devices") {
    planarized port;
    coro::MADSchedule schedule(port.transport);
    boost::asio::io_context io;
    coro::asio_driver driver(io, schedule);
    bool smp_arrived = false, gmp_arrived = false;
    const auto send_query = [&]() -> coro::task<bool> {
        auto info = co_await schedule.SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
        smp_arrived = info.has_value();
        mad::IBPath to;
        to.DLID = iba::lid{1};
        auto counters = co_await schedule.PerformanceGet<iba::pm::PortCounters>(to);
        gmp_arrived = counters.has_value();
        co_return true;
    };
    std::optional<bool> ended;
    coro::async_run(driver, send_query(), [&](bool b) { ended = b; });
    // The simulated kernels reply as soon as a request was written.
    while (!ended) {
        REQUIRE(io.run_one_for(5s) == 1);
        for (fake_kernel* kernel : {&port.smi, &port.gsi})
            if (const auto request = kernel->written_now(); !request.empty()) kernel->deliver(answer_to(request));
    }
    CHECK(smp_arrived);
    CHECK(gmp_arrived);
}

TEST_CASE("both devices of a planarized port are opened, and only one device of an ordinary port") {
    sysfs_tree sys;
    sys.abi();
    const auto port = [&](unsigned umad, const std::string& device, const char* guid, const char* cap_mask) {
        sys.port(umad, device, 1, "InfiniBand\n", "4: ACTIVE\n", "5: LinkUp\n");
        sys.write(sys.port_dir(device, 1) / "cap_mask", cap_mask);
        sys.gids(device, 1, {guid});
    };
    // The devices do not exist on this machine. The first one that cannot be opened belongs to the SMI.
    port(900, "mlx5_0", "fe80::11", "0x2651ec48\n"); // IsSMdisabled
    port(901, "smi1", "fe80::11", "0x2651e848\n");
    port(902, "mlx5_2", "fe80::22", "0x2651e848\n");
    const auto opened = [&](std::string_view name) {
        return message_of([&] { open_end_port(transports::select_end_port(name, sys.root()), sys.root()); });
    };
    CHECK_THAT(opened("mlx5_0/1"), Catch::StartsWith("cannot open /dev/infiniband/umad901: "));
    CHECK_THAT(opened("smi1/1"), Catch::StartsWith("cannot open /dev/infiniband/umad901: "));
    CHECK_THAT(opened("mlx5_2/1"), Catch::StartsWith("cannot open /dev/infiniband/umad902: "));
    port(903, "mlx5_3", "fe80::33", "0x2651ec48\n"); // its planes do not exist
    CHECK_THAT(opened("mlx5_3/1"), Catch::StartsWith("cannot open /dev/infiniband/umad903: "));
}

} // namespace smi_gsi_test
