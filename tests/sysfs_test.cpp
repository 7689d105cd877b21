// SPDX-License-Identifier: MIT
// sysfs_test.cpp - which end ports are found in made-up sysfs trees, and which one is chosen.
#include "catch.hpp"
#include <comad/transports/sysfs.hpp>

#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <stdlib.h>
#include <utility>

using namespace comad;
using transports::end_port;
using transports::end_ports;
using transports::select_end_port;

namespace {

namespace fs = std::filesystem;

/// A tree like /sys/class, in a temporary directory.
class tree {
public:
    tree() {
        std::string name = fs::temp_directory_path() / "comad-sysfs-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        root_ = name;
    }
    ~tree() { fs::remove_all(root_); }
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;

    const fs::path& root() const { return root_; }

    void write(const fs::path& file, std::string_view text) {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }
    void abi(std::string_view version = "5\n") { write("infiniband_mad/abi_version", version); }
    /// A MAD device for a port, without a file about the port itself.
    void umad(unsigned number, const std::string& device, unsigned port) {
        const fs::path mad = "infiniband_mad/umad" + std::to_string(number);
        write(mad / "ibdev", device + '\n');
        write(mad / "port", std::to_string(port) + '\n');
    }
    fs::path port_dir(const std::string& device, unsigned port) {
        return fs::path("infiniband") / device / "ports" / std::to_string(port);
    }
    /// ... and with those that the choice depends on.
    void port(unsigned number, const std::string& device, unsigned port, std::string_view link_layer,
              std::string_view state, std::string_view phys_state) {
        umad(number, device, port);
        write(port_dir(device, port) / "link_layer", link_layer);
        write(port_dir(device, port) / "state", state);
        write(port_dir(device, port) / "phys_state", phys_state);
    }

    std::string chosen(std::string_view name = {}) const { return select_end_port(name, root_).name(); }
    std::string error(std::string_view name = {}) const {
        try {
            return "chosen: " + chosen(name);
        } catch (const std::runtime_error& e) {
            return e.what();
        }
    }

private:
    fs::path root_;
};

constexpr const char* infiniband = "InfiniBand\n";
constexpr const char* ethernet = "Ethernet\n";
constexpr const char* active = "4: ACTIVE\n";
constexpr const char* initialize = "2: INIT\n";
constexpr const char* down = "1: DOWN\n";
constexpr const char* link_up = "5: LinkUp\n";
constexpr const char* polling = "2: Polling\n";
constexpr const char* disabled = "3: Disabled\n";

} // namespace

TEST_CASE("an end port has what its files say") {
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
}

TEST_CASE("files that make no sense are as good as missing") {
    tree sys;
    sys.abi();
    sys.umad(0, "mlx5_0", 1);
    const fs::path port = sys.port_dir("mlx5_0", 1);
    sys.write(port / "link_layer", "");
    sys.write(port / "state", "ACTIVE\n");
    sys.write(port / "phys_state", "");
    sys.write(port / "lid", "0x12345\n"); // more than a LID holds
    sys.write(port / "sm_lid", "zero\n");
    sys.write("infiniband/mlx5_0/node_guid", ":::\n");

    const end_port ep = end_ports(sys.root()).at(0);
    CHECK(ep.is_infiniband());
    CHECK(ep.portState == iba::PortState{});
    CHECK(ep.portPhysicalState == iba::PortPhysicalState{});
    CHECK(ep.LID == iba::lid{});
    CHECK(ep.masterSMLID == iba::lid{});
    CHECK(ep.nodeGUID == iba::guid{});
}

TEST_CASE("MAD devices that name no port, and other entries, are passed over") {
    tree sys;
    sys.abi();
    sys.umad(0, "mlx5_0", 1);
    sys.write("infiniband_mad/umad1/ibdev", "mlx5_1\n"); // no port
    sys.write("infiniband_mad/umad2/port", "1\n");       // no device
    sys.write("infiniband_mad/issm0/ibdev", "mlx5_0\n");
    sys.write("infiniband_mad/issm0/port", "1\n");
    const std::vector<end_port> all = end_ports(sys.root());
    REQUIRE(all.size() == 1);
    CHECK(all.front().umad == "umad0");
}

TEST_CASE("end ports come in natural order") {
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

TEST_CASE("the first Active InfiniBand port is the default, never an Ethernet one") {
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

TEST_CASE("where no port is Active the first that is physically up is the default") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, down, polling);
    sys.port(1, "mlx5_0", 2, infiniband, initialize, link_up);
    sys.port(2, "mlx5_1", 1, infiniband, initialize, link_up);
    CHECK(sys.chosen() == "mlx5_0/2");
}

TEST_CASE("a device's name means its best port, device and port mean that one") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_1", 1, infiniband, down, disabled);
    sys.port(2, "mlx5_1", 2, infiniband, initialize, link_up);
    CHECK(sys.chosen("mlx5_1") == "mlx5_1/2");
    CHECK(sys.chosen("mlx5_1/1") == "mlx5_1/1");
    CHECK(sys.chosen("mlx5_0/1") == "mlx5_0/1");
}

TEST_CASE("a port's number alone means the best of all ports with that number") {
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

TEST_CASE("a machine without a MAD device is told of the simulator") {
    const auto names_the_simulator = [](const tree& sys) {
        const std::string message = sys.error();
        CHECK_THAT(message, Catch::Contains("no InfiniBand device") && Catch::Contains("--fabric sim:") &&
                                Catch::Contains((sys.root() / "infiniband_mad").string()));
        CHECK(message.find('\n') == std::string::npos);
    };
    tree sys;
    names_the_simulator(sys); // no ib_umad
    sys.abi();
    names_the_simulator(sys); // ib_umad without hardware
}

TEST_CASE("a name that is not there is answered with those that are") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, active, link_up);
    sys.port(1, "mlx5_1", 1, ethernet, active, link_up);
    for (const char* name : {"mlx5_7", "mlx5_0/2", "mlx5_0/", "/2", "mlx5", "mlx5_0/1/1"})
        CHECK_THAT(sys.error(name), Catch::Contains("'" + std::string(name) + "'") &&
                                        Catch::Contains("mlx5_0/1 (Active), mlx5_1/1 (Ethernet)"));
}

TEST_CASE("Ethernet ports alone are no fabric") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, ethernet, active, link_up);
    sys.port(1, "mlx5_1", 1, ethernet, active, link_up);
    CHECK_THAT(sys.error(), Catch::Contains("link layer InfiniBand") && Catch::Contains("mlx5_0/1 (Ethernet)") &&
                                Catch::Contains("mlx5_1/1 (Ethernet)"));
    CHECK_THAT(sys.error("mlx5_1/1"), Catch::Contains("link layer InfiniBand"));
}

TEST_CASE("ports that are down must be named") {
    tree sys;
    sys.abi();
    sys.port(0, "mlx5_0", 1, infiniband, down, polling);
    sys.port(1, "mlx5_0", 2, infiniband, down, disabled);
    CHECK_THAT(sys.error(), Catch::Contains("no InfiniBand port is up") && Catch::Contains("mlx5_0/1 (Down)"));
    CHECK_THAT(sys.error("mlx5_0"), Catch::Contains("no InfiniBand port is up"));
    CHECK(sys.chosen("mlx5_0/2") == "mlx5_0/2");
}

TEST_CASE("an interface older than ABI version 5 is refused") {
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
