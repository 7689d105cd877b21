// SPDX-License-Identifier: MIT
// sysfs_test.cpp - the devices and end ports in made-up sysfs trees, and which of them is selected.
#include "kernel/sysfs_tree.hpp"
#include "support/catch.hpp"
#include <comad/transports/sysfs.hpp>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <stdlib.h>
#include <utility>

using namespace comad;
using transports::end_port;
using transports::end_ports;
using transports::get_device;
using transports::get_devices;
using transports::get_end_port;
using transports::select_end_port;

namespace {

/// A sysfs tree, and functions that select from it.
class tree : public sysfs_tree {
public:
    std::string chosen(std::string_view name = {}) const { return select_end_port(name, root_).name(); }
    std::string error(std::string_view name = {}) const {
        try {
            return "chosen: " + chosen(name);
        } catch (const std::runtime_error& e) {
            return e.what();
        }
    }

    std::string got(std::string_view text) const { return get_end_port(text, root_).name(); }
};

/// Returns the message of the exception that the function throws.
template <class F> std::string error_of(F&& function) {
    try {
        function();
        return "nothing was thrown";
    } catch (const std::runtime_error& e) {
        CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
        return e.what();
    }
}

constexpr const char* infiniband = "InfiniBand\n";
constexpr const char* ethernet = "Ethernet\n";
constexpr const char* active = "4: ACTIVE\n";
constexpr const char* initialize = "2: INIT\n";
constexpr const char* down = "1: DOWN\n";
constexpr const char* link_up = "5: LinkUp\n";
constexpr const char* polling = "2: Polling\n";
constexpr const char* disabled = "3: Disabled\n";

} // namespace

TEST_CASE("an end port has the values of its sysfs files") {
    tree sys;
    sys.abi();
    sys.port(3, "mlx5_0", 2, infiniband, active, link_up);
    sys.write("infiniband/mlx5_0/node_type", "1: CA\n");
    sys.write("infiniband/mlx5_0/node_guid", "0002:c903:0000:1491\n");
    const fs::path port = sys.port_dir("mlx5_0", 2);
    sys.write(port / "lid", "0xbf1\n");
    sys.write(port / "lid_mask_count", "3\n");
    sys.write(port / "sm_lid", "0x2\n");
    sys.write(port / "sm_sl", "7\n");
    sys.write(port / "cap_mask", "0x2651e84a\n");
    sys.write(port / "rate", "100 Gb/sec (4X EDR)\n");
    sys.write("infiniband/mlx5_0/mad_sa_cc/2/max_outstanding", "10\n"); // MLNX_OFED
    sys.gids("mlx5_0", 2,
             {"fec0:0000:0000:0001:0002:c903:0000:1492", "0000:0000:0000:0000:0000:0000:0000:0000", "fe80::7"});
    sys.pkeys("mlx5_0", 2, {"0xffff", "0x0000", "0x7fff"});

    const std::vector<end_port> all = end_ports(sys.root());
    REQUIRE(all.size() == 1);
    const end_port& ep = all.front();
    CHECK(ep.device == "mlx5_0");
    CHECK(ep.port == 2);
    CHECK(ep.name() == "mlx5_0/2");
    CHECK(ep.umad == "umad3");
    CHECK(ep.is_infiniband());
    CHECK(ep.nodeType == iba::NodeType::CA);
    CHECK(ep.nodeGUID == iba::guid{0x0002c90300001491});
    CHECK(ep.portState == iba::PortState::Active);
    CHECK(ep.portPhysicalState == iba::PortPhysicalState::LinkUp);
    CHECK(ep.LID == iba::lid{0xbf1});
    CHECK(ep.LMC == 3);
    CHECK(ep.masterSMLID == iba::lid{2});
    CHECK(ep.masterSMSL == 7);
    CHECK(ep.capabilityMask == 0x2651e84a);
    CHECK(ep.rate == "100 Gb/sec (4X EDR)");
    CHECK(ep.sa_max_outstanding == 10);
    CHECK(ep.portGUID == iba::guid{0x0002c90300001492});
    CHECK(ep.GIDPrefix == 0xfec0000000000001);
    CHECK(ep.gids == std::vector<iba::gid>{
                         {0xfec0000000000001, iba::guid{0x0002c90300001492}}, {}, {0xfe80000000000000, iba::guid{7}}});
    CHECK(ep.PKeys == std::vector<u16>{0xffff, 0, 0x7fff});

    const mad::IBPath to_sa = ep.sa_path(); // IBA 15.4.2
    CHECK(to_sa.DLID == iba::lid{2});
    CHECK(to_sa.SLID == iba::lid{0xbf1});
    CHECK(to_sa.SL == 7);
    CHECK(to_sa.dqpn == 1);
    CHECK(to_sa.sqpn == 1);
    CHECK(to_sa.qkey == 0x80010000);
    CHECK(to_sa.pkey == 0xffff);
    CHECK(complete(to_sa));
}

TEST_CASE("invalid sysfs files count as missing") {
    tree sys;
    sys.abi();
    sys.umad(0, "mlx5_0", 1);
    const fs::path port = sys.port_dir("mlx5_0", 1);
    sys.write(port / "link_layer", "");
    sys.write(port / "state", "ACTIVE\n");
    sys.write(port / "phys_state", "");
    sys.write(port / "lid", "0x12345\n"); // too large for a LID
    sys.write(port / "sm_lid", "zero\n");
    sys.write("infiniband/mlx5_0/node_guid", ":::\n");
    sys.write(port / "cap_mask", "0x123456789\n");
    sys.gids("mlx5_0", 1, {"", "fe80::1::2"});
    sys.pkeys("mlx5_0", 1, {"0x12345", "key"});

    const end_port ep = end_ports(sys.root()).at(0);
    CHECK(ep.is_infiniband());
    CHECK(ep.portState == iba::PortState{});
    CHECK(ep.portPhysicalState == iba::PortPhysicalState{});
    CHECK(ep.LID == iba::lid{});
    CHECK(ep.masterSMLID == iba::lid{});
    CHECK(ep.nodeGUID == iba::guid{});
    CHECK(ep.portGUID == iba::guid{});
    CHECK(ep.capabilityMask == 0);
    CHECK(ep.gids == std::vector<iba::gid>(2));
    CHECK(ep.PKeys == std::vector<u16>(2));
    CHECK_FALSE(ep.gid_index({}));
    CHECK_FALSE(ep.pkey_index(0));
}

TEST_CASE("MAD devices without a port and other directory entries are skipped") {
    tree sys;
    sys.abi();
    sys.umad(0, "mlx5_0", 1);
    sys.write("infiniband_mad/umad1/ibdev", "mlx5_1\n"); // no port file
    sys.write("infiniband_mad/umad2/port", "1\n");       // no device file
    sys.write("infiniband_mad/issm0/ibdev", "mlx5_0\n");
    sys.write("infiniband_mad/issm0/port", "1\n");
    const std::vector<end_port> all = end_ports(sys.root());
    REQUIRE(all.size() == 1);
    CHECK(all.front().umad == "umad0");
}

TEST_CASE("end ports are listed in natural order") {
    tree sys;
    sys.abi();
    sys.umad(0, "mlx5_10", 1);
    sys.umad(1, "mlx5_2", 10);
    sys.umad(2, "mlx5_2", 9);
    sys.umad(3, "mlx4_0", 1);
    std::vector<std::string> names;
    for (const end_port& ep : end_ports(sys.root())) names.push_back(ep.name());
    CHECK(names == std::vector<std::string>{"mlx4_0/1", "mlx5_2/9", "mlx5_2/10", "mlx5_10/1"});
}

TEST_CASE("the first Active InfiniBand port is the default, and never an Ethernet port") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, ethernet, active, link_up);
    sys.port(1, "mlx5_1", 1, infiniband, down, polling);
    sys.port(2, "mlx5_2", 1, infiniband, initialize, link_up);
    sys.port(3, "mlx5_10", 1, infiniband, active, link_up);
    sys.port(4, "mlx5_9", 1, infiniband, active, link_up);
    CHECK(sys.chosen() == "mlx5_9/1");
    CHECK(select_end_port({}, sys.root()).umad == "umad4");
}

TEST_CASE("the first port with LinkUp is the default if no port is Active") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, down, polling);
    sys.port(1, "mlx5_0", 2, infiniband, initialize, link_up);
    sys.port(2, "mlx5_1", 1, infiniband, initialize, link_up);
    CHECK(sys.chosen() == "mlx5_0/2");
}

TEST_CASE("a device name selects the best port of the device, and device/port selects one port") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_1", 1, infiniband, down, disabled);
    sys.port(2, "mlx5_1", 2, infiniband, initialize, link_up);
    CHECK(sys.chosen("mlx5_1") == "mlx5_1/2");
    CHECK(sys.chosen("mlx5_1/1") == "mlx5_1/1");
    CHECK(sys.chosen("mlx5_0/1") == "mlx5_0/1");
}

TEST_CASE("a port number selects the best of all ports with that number") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_0", 2, infiniband, initialize, link_up);
    sys.port(2, "mlx5_1", 2, infiniband, active, link_up);
    CHECK(sys.chosen("/2") == "mlx5_1/2");
    CHECK(sys.chosen("/1") == "mlx5_0/1");
}

TEST_CASE("a port without a link_layer file counts as InfiniBand") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, ethernet, active, link_up);
    sys.umad(1, "ibsim0", 1);
    sys.write(sys.port_dir("ibsim0", 1) / "state", active);
    CHECK(sys.chosen() == "ibsim0/1");
}

TEST_CASE("the message for a machine without MAD devices names the missing kernel module") {
    const auto names_the_module = [](const tree& sys) {
        const std::string message = sys.error();
        CHECK_THAT(message, Catch::Contains("no InfiniBand device") && Catch::Contains("ib_umad") &&
                                Catch::Contains((sys.root() / "infiniband_mad").string()));
        CHECK(message.find('\n') == std::string::npos);
    };
    tree sys;
    names_the_module(sys); // ib_umad is not loaded
    sys.abi();
    names_the_module(sys); // ib_umad is loaded without hardware
}

TEST_CASE("the message for an unknown name lists the available names") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_1", 1, ethernet, active, link_up);
    for (const char* name : {"mlx5_7", "mlx5_0/2", "mlx5_0/", "/2", "mlx5", "mlx5_0/1/1"})
        CHECK_THAT(sys.error(name), Catch::Contains("'" + std::string(name) + "'") &&
                                        Catch::Contains("mlx5_0/1 (Active), mlx5_1/1 (Ethernet)"));
}

TEST_CASE("a machine with only Ethernet ports has no default port") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, ethernet, active, link_up);
    sys.port(1, "mlx5_1", 1, ethernet, active, link_up);
    CHECK_THAT(sys.error(), Catch::Contains("link layer InfiniBand") && Catch::Contains("mlx5_0/1 (Ethernet)") &&
                                Catch::Contains("mlx5_1/1 (Ethernet)"));
    CHECK_THAT(sys.error("mlx5_1/1"), Catch::Contains("link layer InfiniBand"));
}

TEST_CASE("a port that is down is used only if it is named") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, down, polling);
    sys.port(1, "mlx5_0", 2, infiniband, down, disabled);
    CHECK_THAT(sys.error(), Catch::Contains("no InfiniBand port is up") && Catch::Contains("mlx5_0/1 (Down)"));
    CHECK_THAT(sys.error("mlx5_0"), Catch::Contains("no InfiniBand port is up"));
    CHECK(sys.chosen("mlx5_0/2") == "mlx5_0/2");
}

TEST_CASE("an interface older than ABI version 5 is rejected") {
    tree sys;
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    CHECK_THAT(sys.error(), Catch::Contains("ABI version"));
    sys.abi("nonsense\n");
    CHECK_THAT(sys.error(), Catch::Contains("ABI version"));
    sys.abi("4\n");
    CHECK_THAT(sys.error(), Catch::Contains("ABI version 4") && Catch::Contains("at least 5"));
    sys.abi("5\n");
    CHECK(sys.chosen() == "mlx5_0/1");
    sys.abi("6\n");
    CHECK(sys.chosen() == "mlx5_0/1");
}

// ---- tables --------------------------------------------------------------------------------------------------------

TEST_CASE("pkey_index of an end port finds the partition, full membership before limited") {
    end_port ep;
    ep.PKeys = {0xffff, 0x0000, 0x8001, 0x0002, 0x0001, 0x8001};
    CHECK(ep.pkey_index(0xffff) == 0);
    CHECK(ep.pkey_index(0x7fff) == 0); // a full member accepts the packets of limited members
    CHECK(ep.pkey_index(0x8001) == 2);
    CHECK(ep.pkey_index(0x0001) == 2); // IBA 10.9.3; Linux: ib_find_cached_pkey()
    CHECK(ep.pkey_index(0x8002) == 3);
    CHECK_FALSE(ep.pkey_index(0x8003));
    CHECK_FALSE(ep.pkey_index(0x0000)); // not a valid P_Key
    CHECK_FALSE(ep.pkey_index(0x8000));
}

TEST_CASE("gid_index finds the first entry of a GID within the range of a path") {
    end_port ep;
    const iba::gid a{1, iba::guid{1}}, b{1, iba::guid{2}}, last{1, iba::guid{3}}, late{1, iba::guid{4}};
    ep.gids = {a, {}, b, a};
    CHECK(ep.gid_index(a) == 0);
    CHECK(ep.gid_index(b) == 2);
    CHECK_FALSE(ep.gid_index(iba::gid{}));
    CHECK_FALSE(ep.gid_index(late));
    ep.gids.resize(255);
    ep.gids.push_back(last);
    ep.gids.push_back(late);
    CHECK(ep.gid_index(last) == 255);
    CHECK_FALSE(ep.gid_index(late)); // index 256
}

// ---- end ports by text ---------------------------------------------------------------------------------------------

namespace {

/// Creates two devices in two subnets, and an Ethernet port.
void two_subnets(tree& sys) {
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_1", 1, infiniband, down, polling);
    sys.port(2, "mlx5_1", 2, infiniband, active, link_up);
    sys.port(3, "mlx5_2", 1, ethernet, active, link_up);
    sys.gids("mlx5_0", 1, {"fe80:0000:0000:0000:0000:0000:0000:0011"});
    sys.gids("mlx5_1", 1, {"fec0:0000:0000:0001:0000:0000:0000:0021"});
    sys.gids("mlx5_1", 2, {"fec0:0000:0000:0002:0000:0000:0000:0022", "fec0:0000:0000:0003:0000:0000:0000:0099"});
    sys.gids("mlx5_2", 1, {"fe80:0000:0000:0000:0000:0000:0000:0031"});
}

} // namespace

TEST_CASE("an end port is found by its GIDs, its GUID and its names") {
    tree sys;
    two_subnets(sys);
    CHECK(sys.got("fe80::11") == "mlx5_0/1");
    CHECK(sys.got("fe80::21") == "mlx5_1/1"); // every port has a link-local GID
    CHECK(sys.got("fec0:0:0:2::22") == "mlx5_1/2");
    CHECK(sys.got("fec0:0:0:3::99") == "mlx5_1/2");
    CHECK(sys.got("0000:0000:0000:0021") == "mlx5_1/1");
    CHECK(sys.got("0000000000000022") == "mlx5_1/2");
    CHECK(sys.got("mlx5_1") == "mlx5_1/2");
    CHECK(sys.got("mlx5_1/1") == "mlx5_1/1");
    CHECK(sys.got("/2") == "mlx5_1/2");
    CHECK(sys.got("") == "mlx5_0/1");
    CHECK(get_end_port("fe80::22", sys.root()).gids.size() == 2); // with its tables
    CHECK(select_end_port("mlx5_1/2", sys.root()).gids.size() == 2);
}

TEST_CASE("a GID or GUID that no port or only an Ethernet port has finds no end port") {
    tree sys;
    two_subnets(sys);
    sys.port(4, "mlx5_3", 1, infiniband, active, link_up); // it has no GID, and therefore no GUID
    sys.gids("mlx5_3", 1, {"::", "::"});
    for (const char* text : {"fe80::12", "fec0:0:0:1::22", "fec0:0:0:3::22", "fe80::99", "0:0:0:1", "fe80::31",
                             "0:0:0:31", "::", "fe80::", "0:0:0:0"})
        CHECK_THAT(error_of([&] { sys.got(text); }),
                   Catch::StartsWith(std::string("no InfiniBand port has GID or GUID '") + text +
                                     "'; available: mlx5_0/1 (Active)"));
    CHECK_THAT(error_of([&] { sys.got("mlx5_2"); }), Catch::Contains("Ethernet"));
    CHECK_THAT(error_of([&] { sys.got("mlx5_\n7"); }), Catch::Contains("'mlx5_\\x0a7'"));
    CHECK_THAT(error_of([] { tree().got("fe80::1"); }), Catch::Contains("no InfiniBand device"));
}

TEST_CASE("the GID prefix or port suffix of a target selects the end port") {
    tree sys;
    two_subnets(sys);
    const auto from = [&](const char* target, std::string_view chosen = {}) {
        return transports::end_port_for(mad::from_string(target).value(), chosen, sys.root()).name();
    };
    CHECK(from("7") == "mlx5_0/1");
    CHECK(from("0,1") == "mlx5_0/1");
    CHECK(from("fe80::5") == "mlx5_0/1");
    CHECK(from("fec0:0:0:1::5") == "mlx5_1/1"); // the only port of that subnet, although it is down
    CHECK(from("fec0:0:0:3::5") == "mlx5_1/2");
    CHECK(from("fec0:0:0:9::5") == "mlx5_0/1"); // the GID may be behind a router
    CHECK(from("fec0:0:0:3::5", "mlx5_0") == "mlx5_0/1");
    CHECK(from("fe80::5%mlx5_1/1") == "mlx5_1/1");
    CHECK(from("fe80::5%0:0:0:22") == "mlx5_1/2");
    CHECK(from("IBDRPath(end_port='mlx5_1/2')") == "mlx5_1/2");
    CHECK(from("fe80::5%mlx5_1/2", "/2") == "mlx5_1/2");
    CHECK(error_of([&] { from("fe80::5%mlx5_1/2", "mlx5_0"); }) ==
          "the path requires end port mlx5_1/2, but mlx5_0/1 was selected");
}

TEST_CASE("a link-local target uses the default end port because its prefix is not unique") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, initialize, link_up);
    sys.port(1, "mlx5_1", 1, infiniband, active, link_up);
    sys.gids("mlx5_0", 1, {"fe80::11"});
    sys.gids("mlx5_1", 1, {"fec0:0:0:1::21"});
    CHECK(transports::end_port_for(mad::from_string("fe80::5").value(), {}, sys.root()).name() == "mlx5_1/1");
}

// ---- devices -------------------------------------------------------------------------------------------------------

TEST_CASE("a device has the values of its sysfs files and its ports") {
    tree sys;
    sys.umad(4, "mlx5_0", 2);
    const fs::path directory = "infiniband/mlx5_0";
    sys.write(directory / "node_type", "1: CA\n");
    sys.write(directory / "node_guid", "0002:c903:0000:1490\n");
    sys.write(directory / "sys_image_guid", "0002:c903:0000:1493\n");
    sys.write(directory / "node_desc", "host HCA-1\n");
    sys.write(directory / "fw_ver", "20.31.1014\n");
    sys.write(directory / "hw_rev", "0\n");
    sys.write(directory / "board_id", "MT_0000000222\n");
    sys.write(directory / "hca_type", "MT4123\n");
    sys.write(directory / "ports/10/lid", "0xa\n");
    sys.write(directory / "ports/2/lid", "0x2\n");
    sys.write(directory / "ports/other/lid", "0x3\n");
    sys.pkeys("mlx5_0", 2, {"0xffff"});
    sys.write("infiniband/mlx5_10/node_desc", "");
    sys.write("infiniband/mlx5_2/ports/1/link_layer", ethernet);

    const std::vector<transports::device> all = get_devices(sys.root());
    REQUIRE(all.size() == 3);
    const transports::device& d = all[0];
    CHECK(d.name == "mlx5_0");
    CHECK(d.nodeType == iba::NodeType::CA);
    CHECK(d.nodeGUID == iba::guid{0x0002c90300001490});
    CHECK(d.systemImageGUID == iba::guid{0x0002c90300001493});
    CHECK(d.node_desc == "host HCA-1");
    CHECK(d.fw_ver == "20.31.1014");
    CHECK(d.hw_ver == "0");
    CHECK(d.board_id == "MT_0000000222");
    CHECK(d.hca_type == "MT4123");
    REQUIRE(d.end_ports.size() == 2);
    CHECK(d.end_ports[0].name() == "mlx5_0/2");
    CHECK(d.end_ports[0].umad == "umad4");
    CHECK(d.end_ports[0].PKeys == std::vector<u16>{0xffff});
    CHECK(d.end_ports[1].name() == "mlx5_0/10");
    CHECK(d.end_ports[1].umad.empty());
    CHECK(d.end_ports[1].LID == iba::lid{10});

    CHECK(all[1].name == "mlx5_2");
    CHECK_FALSE(all[1].end_ports.at(0).is_infiniband());
    CHECK(all[2].name == "mlx5_10");
    CHECK(all[2].node_desc.empty());
    CHECK(all[2].end_ports.empty());
}

TEST_CASE("a device is found by its name or its node GUID") {
    tree sys;
    sys.write("infiniband/mlx5_10/node_guid", "0002:c903:0000:0010\n");
    sys.write("infiniband/mlx5_9/node_guid", "0002:c903:0000:0009\n");
    sys.write("infiniband/rxe0/node_guid", "0000:0000:0000:0000\n");
    const auto name = [&](std::string_view text) { return get_device(text, sys.root()).name; };
    CHECK(name("") == "mlx5_9");
    CHECK(name("mlx5_10") == "mlx5_10");
    CHECK(name("2:c903:0:10") == "mlx5_10");
    CHECK(error_of([&] { name("mlx5_1"); }) == "unknown RDMA device 'mlx5_1'; available: mlx5_9, mlx5_10, rxe0");
    CHECK_THAT(error_of([&] { name("0:0:0:0"); }), Catch::StartsWith("unknown RDMA device '0:0:0:0'"));
    CHECK_THAT(error_of([] { get_device({}, tree().root()); }), Catch::StartsWith("no RDMA device found in "));
    CHECK(get_devices(tree().root()).empty());
}

// ---- planarized hosts ----------------------------------------------------------------------------------------------

namespace {

std::string side(const std::optional<end_port>& ep) { return ep ? ep->name() : "none"; }
/// Returns both sides of the port with this name.
std::pair<std::string, std::string> pair_of(const tree& sys, std::string_view name) {
    const std::vector<end_port> all = end_ports(sys.root());
    const auto port = std::find_if(all.begin(), all.end(), [&](const end_port& ep) { return ep.name() == name; });
    REQUIRE(port != all.end());
    const transports::smi_gsi sides = smi_gsi_pair(*port, all);
    return {side(sides.smi), side(sides.gsi)};
}
using sides = std::pair<std::string, std::string>;

constexpr const char* with_smi = "0x2651e848\n";
constexpr const char* without_smi = "0x2651ec48\n"; // bit 10, IsSMdisabled

/// Creates a host with one XDR adapter of two working planes: mlx5_0, and smi1 with a port for each plane.
void planarized(tree& sys) {
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "smi1", 1, infiniband, down, polling);
    sys.port(2, "smi1", 2, infiniband, active, link_up);
    sys.port(3, "smi1", 3, infiniband, active, link_up);
    sys.write(sys.port_dir("mlx5_0", 1) / "cap_mask", without_smi);
    sys.gids("mlx5_0", 1, {"fe80::11"});
    for (unsigned plane : {1u, 2u, 3u}) {
        sys.write(sys.port_dir("smi1", plane) / "cap_mask", with_smi);
        sys.gids("smi1", plane, {"fe80::11"});
    }
}

} // namespace

TEST_CASE("an ordinary port carries SMPs and all other MADs") {
    tree sys;
    two_subnets(sys);
    CHECK(pair_of(sys, "mlx5_0/1") == sides{"mlx5_0/1", "mlx5_0/1"});
    CHECK(pair_of(sys, "mlx5_1/1") == sides{"mlx5_1/1", "mlx5_1/1"});
}

TEST_CASE("SMPs of a planarized host go through the device with the SMI") {
    tree sys;
    planarized(sys);
    CHECK(pair_of(sys, "mlx5_0/1") == sides{"smi1/2", "mlx5_0/1"}); // the first plane is down
    CHECK(pair_of(sys, "smi1/3") == sides{"smi1/3", "mlx5_0/1"});
    CHECK(pair_of(sys, "smi1/1") == sides{"smi1/1", "mlx5_0/1"});
    for (unsigned plane : {2u, 3u}) sys.write(sys.port_dir("smi1", plane) / "state", down);
    CHECK(pair_of(sys, "mlx5_0/1") == sides{"smi1/1", "mlx5_0/1"});
    CHECK(sys.got("fe80::11") == "mlx5_0/1");
}

TEST_CASE("SMI and GSI ports are paired only by GUID and never with Ethernet") {
    tree sys;
    planarized(sys);
    sys.port(4, "mlx5_1", 1, infiniband, active, link_up);
    sys.write(sys.port_dir("mlx5_1", 1) / "cap_mask", without_smi);
    sys.gids("mlx5_1", 1, {"fe80::12"});
    CHECK(pair_of(sys, "mlx5_1/1") == sides{"none", "mlx5_1/1"});
    sys.port(5, "roce0", 1, ethernet, active, link_up);
    sys.gids("roce0", 1, {"fe80::12"});
    CHECK(pair_of(sys, "mlx5_1/1") == sides{"none", "mlx5_1/1"});
    CHECK(pair_of(sys, "roce0/1") == sides{"none", "none"});
    sys.port(6, "broken0", 1, infiniband, active, link_up); // neither device has a GUID
    sys.port(7, "broken1", 1, infiniband, active, link_up);
    sys.write(sys.port_dir("broken1", 1) / "cap_mask", without_smi);
    CHECK(pair_of(sys, "broken0/1") == sides{"broken0/1", "broken0/1"});
    CHECK(pair_of(sys, "broken1/1") == sides{"none", "broken1/1"});
}

TEST_CASE("GMPs over verbs need no MAD device, and a RoCE port is used if it is named in full") {
    tree t;
    const auto add = [&](const std::string& device, const char* link_layer, const char* state) {
        t.write(t.port_dir(device, 1) / "link_layer", link_layer);
        t.write(t.port_dir(device, 1) / "state", state);
        t.write(t.port_dir(device, 1) / "phys_state", link_up);
    };
    using transports::port_use;
    const auto chosen = [&](std::string_view name) { return get_end_port(name, t.root(), port_use::GMPs).name(); };
    CHECK_THAT(error_of([&] { chosen({}); }), Catch::Contains("no InfiniBand device"));
    add("rxe0", ethernet, active);
    CHECK(chosen("rxe0/1") == "rxe0/1");
    CHECK_THAT(error_of([&] { chosen({}); }), Catch::Contains("no port has link layer InfiniBand"));
    CHECK_THAT(error_of([&] { chosen("rxe0"); }), Catch::Contains("no port has link layer InfiniBand"));
    CHECK_THAT(error_of([&] { chosen("rxe0/2"); }), Catch::Contains("unknown InfiniBand port"));
    add("mlx5_10", infiniband, initialize);
    add("mlx5_2", infiniband, active);
    CHECK(chosen({}) == "mlx5_2/1");
    CHECK(get_end_port("mlx5_2/1", t.root(), port_use::GMPs).umad.empty());
    // A MAD device is still required.
    CHECK_THAT(error_of([&] { get_end_port({}, t.root()); }), Catch::Contains("ib_umad"));
    t.abi();
    t.umad(0, "mlx5_2", 1);
    CHECK(get_end_port({}, t.root()).umad == "umad0");
    CHECK(get_end_port("mlx5_2", t.root(), port_use::GMPs).umad == "umad0");
}
