// SPDX-License-Identifier: MIT
// open_fabric_test.cpp - open_fabric() with each kind of fabric: simulated, an ibsim server, and a virtual MAD device.
#include "ibsim/ibsim_server.hpp"
#include "kernel/sysfs_tree.hpp"
#include "kernel/virtual_device.hpp"
#include "support/catch.hpp"
#include <comad/discovery/walk/discover.hpp>
#include <comad/fabric/open_fabric.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>
#include <comad/sa/client.hpp>
#include <comad/transports/sim/detail/topology.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/sysfs.hpp>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

using namespace comad;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using iba::smp::NodeInfo, iba::smp::PortInfo;

namespace {

/// Returns the error of a fabric that cannot be opened.
fabric_error error_of(std::string_view text, const fabric_options& options = {}) {
    const auto opened = open_fabric(text, options);
    REQUIRE_FALSE(opened);
    CAPTURE(opened.error().text);
    CHECK_THAT(opened.error().text, !EndsWith(".") && !Contains("\n"));
    return opened.error();
}

/// Returns the LID of the node at the end of the SA's path, read by a request to the SA.
coro::task<mad::result<u16>> lid_by_sa(opened_fabric& fabric, mad::IBPath to) {
    BOOST_OUTCOME_CO_TRY(const mad::IBPath path, co_await fabric.paths().resolve_path(to));
    co_return value(path.DLID);
}

} // namespace

TEST_CASE("parse_fabric reads each kind of fabric, and to_string writes its input back") {
    struct line {
        const char* text;
        fabric_kind kind;
        const char* place;
    };
    for (const auto& [text, kind, place] : {line{"", fabric_kind::automatic, ""},
                                            {"umad", fabric_kind::umad, ""},
                                            {"umad:mlx5_0/1", fabric_kind::umad, "mlx5_0/1"},
                                            {"verbs", fabric_kind::verbs, ""},
                                            {"verbs:rxe0", fabric_kind::verbs, "rxe0"},
                                            {"ibsim", fabric_kind::ibsim, ""},
                                            {"ibsim:name,H-1", fabric_kind::ibsim, "name,H-1"},
                                            {"sim:a:b,at=c:d", fabric_kind::sim, "a:b,at=c:d"}}) {
        CAPTURE(text);
        const auto named = parse_fabric(text);
        REQUIRE(named);
        CHECK(named.value().kind == kind);
        CHECK(named.value().place == place);
        CHECK(named.value().to_string() == text);
    }
}

TEST_CASE("parse_fabric rejects an unknown fabric text and lists valid ones") {
    for (const char* text : {"sim", "sim:", "mlx5_0", "UMAD", "umadx:y", ":"}) {
        CAPTURE(text);
        const auto named = parse_fabric(text);
        REQUIRE_FALSE(named);
        CHECK(named.error().code == fabric_errc::invalid_text);
        CHECK_THAT(fmt::format("{}", named.error()),
                   StartsWith("invalid fabric '" + std::string(text) + "'; expected umad[:DEVICE") &&
                       Contains("fattree2"));
    }
}

TEST_CASE("a simulated fabric opens with a schedule, the local port and paths in virtual time") {
    auto opened = open_fabric("sim:fattree2,radix=4,sm=1,time=virtual", {}, {.max_outstanding = 3});
    REQUIRE(opened);
    opened_fabric fabric = std::move(opened.value()); // references to its parts stay valid
    coro::MADSchedule& schedule = fabric.schedule();
    CHECK(schedule.window() == 3);
    CHECK(fabric.local_port().LID == iba::lid{1});
    CHECK(fabric.local_port().sa_path.DLID == iba::lid{1});
    CHECK(fabric.port().text() == "sim:fattree2,radix=4,sm=1,time=virtual");
    REQUIRE(fabric.port().simulation());
    CHECK(fabric.port().simulation()->transport == &fabric.transport());
    CHECK_FALSE(fabric.port().end_port());

    const auto found = fabric.run(discovery::discover(schedule));
    REQUIRE(found);
    CHECK(found.value().nodes.size() == 14);
    const auto info = fabric.run(schedule.SubnGet<NodeInfo>(mad::IBDRPath().extended(1)));
    REQUIRE(info);
    CHECK(fmt::format("{}", info.value().nodeType) == "Switch");

    mad::IBPath to;
    to.DLID = iba::lid{5};
    const auto LID = fabric.run(lid_by_sa(fabric, to));
    REQUIRE(LID);
    CHECK(LID.value() == 5);
}

TEST_CASE("a P_Key that the local port lacks is an error that lists the available P_Keys") {
    const char* const text = "sim:fattree2,radix=4,sm=1,time=virtual";
    const fabric_error e = error_of(text, {.pkey = 0x8001});
    CHECK(e.code == fabric_errc::no_pkey);
    CHECK_THAT(e.text, Contains("0x8001") && Contains("0xffff"));
    CHECK(error_of(text, {.pkey_index = 9}).code == fabric_errc::no_pkey);
    auto opened = open_fabric(text, {.pkey = 0xffff});
    REQUIRE(opened);
    CHECK(opened.value().transport().tables()->find(mad::IBPath{}).pkey_index == 0);
}

TEST_CASE("open_fabric rejects options that the kind of fabric does not support") {
    fabric_options options;
    options.descriptors = 2;
    CHECK(error_of("sim:single", options).code == fabric_errc::invalid_option);
    CHECK(error_of("ibsim", options).text ==
          "more than one file descriptor needs a umad device, but the fabric is 'ibsim'");
    options = {};
    options.timeout = transports::kernel_timeout::attempt;
    CHECK(error_of("verbs:mlx5_0", options).text ==
          "a kernel timeout needs a umad device, but the fabric is 'verbs:mlx5_0'");
    options = {};
    options.target = mad::from_string("fe80::2:c903:0:1491%mlx5_0/1").value();
    CHECK_THAT(error_of("sim:single", options).text,
               StartsWith("the local port 'mlx5_0/1' of the target needs a local device"));
}

TEST_CASE("open_fabric reports a missing device, port or server or an invalid simulation in one line") {
    const sysfs_tree none;
    fabric_options options;
    options.sys_class = none.root();
    CHECK(error_of("", options).code == fabric_errc::no_device);
    CHECK(error_of("umad:mlx5_0/1", options).code == fabric_errc::no_device);

    sysfs_tree tree;
    tree.abi();
    tree.port(99, "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "5: LinkUp");
    options.sys_class = tree.root();
    const fabric_error absent = error_of("umad:mlx5_0/2", options);
    CHECK(absent.code == fabric_errc::not_opened);
    CHECK_THAT(absent.text, Contains("mlx5_0/2") || Contains("mlx5_0"));
    CHECK_THAT(error_of("umad", options).text, StartsWith("cannot open /dev/infiniband/umad99: "));
    options.port = "mlx5_0/1"; // the port that the text names
    CHECK_THAT(error_of("umad", options).text, StartsWith("cannot open /dev/infiniband/umad99: "));

    const fabric_error no_server = error_of("ibsim:comad-no-such-server");
    CHECK(no_server.code == fabric_errc::not_opened);
    CHECK_THAT(no_server.text, Contains("comad-no-such-server"));
    CHECK_THAT(error_of("sim:fattree2,radix=7").text, Contains("radix=7"));
}

TEST_CASE("a fabric on an ibsim server opens at the node in its text") {
    std::ostringstream topology;
    write_topology(topology, transports::sim::make_topology("fattree2,radix=4"));
    const ibsim_server server(topology.str());
    const std::string text = "ibsim:" + server.sockname() + ",leaf-0002";
    auto opened = open_fabric(text);
    REQUIRE(opened);
    opened_fabric& fabric = opened.value();
    CHECK(fabric.port().text() == text);
    CHECK_FALSE(fabric.port().simulation());
    const auto info = fabric.run(fabric.schedule().SubnGet<NodeInfo>(mad::IBDRPath()));
    REQUIRE(info);
    CHECK(info.value().nodeType == iba::NodeType::Switch);
    CHECK(fabric.local_port().GID.interface_id() == info.value().portGUID);
    const auto found = fabric.run(discovery::discover(fabric.schedule()));
    REQUIRE(found);
    CHECK(found.value().nodes.size() == 14);
}

TEST_CASE("a fabric on a MAD device opens by the name of its port and rereads the port from sysfs") {
    using namespace ibtool_rig;
    const char* const beside = std::getenv("COMAD_TEST_BESIDE_DEVICE");
    if (!beside) { // this test case starts itself again with the virtual device
        if (!has_devices()) return;
        const std::string program = std::filesystem::read_symlink("/proc/self/exe");
        const process_result r = beside_device(
            "sim:fattree2,radix=4,sm=1", {"env", "COMAD_TEST_BESIDE_DEVICE=1", program, "a fabric on a MAD device*"});
        INFO(r.out << r.err);
        CHECK(r.status == 0);
        return;
    }
    for (const char* const text : {"umad:vib0/1", "umad", ""}) {
        CAPTURE(text);
        fabric_options options;
        options.descriptors = *text ? 1 : 2;
        auto opened = open_fabric(text, options);
        REQUIRE(opened);
        opened_fabric& fabric = opened.value();
        CHECK(fabric.port().text() == "umad:vib0/1");
        REQUIRE(fabric.port().end_port());
        CHECK(fabric.port().end_port()->umad == "umad0");
        CHECK(fabric.local_port().LID == iba::lid{1});
        CHECK(fabric.port().why_not_umad().empty());

        const auto found = fabric.run(discovery::discover(fabric.schedule()));
        REQUIRE(found);
        CHECK(found.value().nodes.size() == 14);
        mad::IBPath to;
        to.DLID = iba::lid{5};
        const auto LID = fabric.run(lid_by_sa(fabric, to));
        REQUIRE(LID);
        CHECK(LID.value() == 5);

        const auto read = fabric.run(fabric.port().port_reader()());
        REQUIRE(read);
        CHECK(read.value() == fabric.local_port());
    }
}
