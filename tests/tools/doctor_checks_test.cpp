// SPDX-License-Identifier: MIT
// doctor_checks_test.cpp - the checks of doctor on constructed machines: which check reports each problem, its severity
// and the suggested fix. docs/explanation/devices.md and Linux' Documentation/ABI describe the files of sysfs.
#include "support/catch.hpp"
#include "text/doctor_checks.hpp"
#include "text/ibtool_overview.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace machine_checks_test {

using namespace comad;
using namespace ibtool;
using Catch::Contains;
using iba::PortPhysicalState;
using iba::PortState;
using transports::end_port;

/// Returns an Active InfiniBand port of a device.
end_port port_of(const std::string& device, unsigned port, const std::string& umad) {
    end_port p;
    p.device = device;
    p.port = port;
    p.umad = umad;
    p.portGUID = iba::guid{0x100 + port};
    p.portState = PortState::Active;
    p.portPhysicalState = PortPhysicalState::LinkUp;
    p.LID = iba::lid{4};
    p.masterSMLID = iba::lid{1};
    return p;
}

/// Returns an accessible device file of a port.
device_file file_of(const std::string& name, const std::string& port) {
    return {.name = name,
            .path = "/dev/infiniband/" + name,
            .port = port,
            .error = 0,
            .mode = 0660,
            .user_owner = "root",
            .group_owner = "rdma"};
}

/// Adds a device with its device files to a machine.
void add_device(machine& m, const std::string& name, std::vector<end_port> ports) {
    transports::device d;
    d.name = name;
    d.hca_type = "MT4123";
    d.fw_ver = "20.31.1014";
    d.end_ports = std::move(ports);
    for (const end_port& p : d.end_ports)
        if (!p.umad.empty()) m.files.push_back(file_of(p.umad, p.name()));
    m.devices.push_back(std::move(d));
    m.origins.push_back({name, "mlx5_core", "0000:04:00.0"});
}

/// Returns a machine without problems.
machine sound_machine() {
    machine m;
    m.user = "alice";
    m.kernel = "6.1.0";
    m.umad_abi = 5;
    add_device(m, "mlx5_0", {port_of("mlx5_0", 1, "umad0")});
    m.used = m.devices[0].end_ports[0];
    return m;
}

/// Returns the first port of the first device.
end_port& first_port(machine& m) { return m.devices[0].end_ports[0]; }
/// Selects the first port after a change of the machine.
void use_first_port(machine& m) { m.used = first_port(m); }

/// Returns the only finding that is not ok.
finding only_problem(const std::vector<finding>& all) {
    std::vector<finding> problems;
    std::ranges::copy_if(all, std::back_inserter(problems),
                         [](const finding& f) { return f.evaluated != verdict::ok; });
    INFO(format_findings(all));
    REQUIRE(problems.size() == 1);
    CHECK_FALSE(problems[0].remedy.empty());
    return problems[0];
}
/// Returns the findings of one check that are not ok.
std::vector<finding> problems_of(const std::vector<finding>& all, std::string_view check) {
    std::vector<finding> problems;
    for (const finding& f : all)
        if (f.check == check && f.evaluated != verdict::ok) problems.push_back(f);
    return problems;
}

TEST_CASE("doctor reports no problem and no fix for a machine without problems") {
    const std::vector<finding> all = check_machine(sound_machine());
    INFO(format_findings(all));
    CHECK(all.size() >= 6); // one finding each for device, module, file, port, choice, kernel
    for (const finding& f : all) {
        CHECK(f.evaluated == verdict::ok);
        CHECK(f.remedy.empty());
    }
    CHECK_FALSE(is_any_bad(all));
    CHECK(can_open(sound_machine()));
    CHECK_THAT(format_findings(all), Contains("mlx5_0: MT4123, firmware 20.31.1014, driver mlx5_core") &&
                                         Contains("mlx5_0/1: InfiniBand, Active (LinkUp), LID 4, SM at LID 1") &&
                                         Contains("mode 0660, root:rdma, accessible to alice"));
    const auto port = std::ranges::find(all, "port", &finding::check);
    REQUIRE(port != all.end());
    CHECK(port->found == "InfiniBand, Active (LinkUp), LID 4, SM at LID 1");
}

TEST_CASE("doctor accepts a software device, which has no PCI driver") {
    machine m = sound_machine();
    m.origins[0].driver.clear();
    CHECK(check_machine(m).at(0).found == "MT4123, firmware 20.31.1014, no PCI driver: a software device");
    m.origins.clear();
    CHECK(check_machine(m).at(0).found == "MT4123, firmware 20.31.1014, no PCI driver: a software device");
}

TEST_CASE("doctor explains a machine without RDMA devices by the adapters on the PCI bus") {
    machine m;
    m.umad_abi = 5;
    m.no_port = "no InfiniBand device";
    CHECK(is_any_bad(check_machine(m)));
    CHECK_FALSE(can_open(m));
    CHECK_THAT(problems_of(check_machine(m), "device").at(0).remedy.text(),
               Contains("lspci") && Contains("--fabric sim:"));
    // PCI IDs: 15b3:1003 is ConnectX-3, 15b3:1011 Connect-IB, 1077:7322 QLogic's QLE7340.
    struct {
        unsigned vendor, product;
        const char* module;
    } const adapters[] = {{0x15b3, 0x1003, "modprobe mlx4_ib"},
                          {0x15b3, 0x1011, "modprobe mlx5_ib"},
                          {0x15b3, 0x101b, "modprobe mlx5_ib"},
                          {0x1077, 0x7322, "modprobe ib_qib"},
                          {0x1234, 1, "load the vendor's driver"}};
    for (const auto& a : adapters) {
        CAPTURE(a.module);
        m.adapters = {{"0000:04:00.0", a.vendor, a.product, true, {}}};
        const auto found = problems_of(check_machine(m), "device");
        REQUIRE(found.size() == 1);
        CHECK(found[0].evaluated == verdict::bad);
        CHECK_THAT(found[0].found, Contains("0000:04:00.0") && Contains("no driver"));
        CHECK_THAT(found[0].remedy.text(), Contains(a.module));
    }
}

TEST_CASE("doctor warns about an unused InfiniBand adapter, and not about network cards") {
    machine m = sound_machine();
    m.adapters = {{"0000:04:00.0", 0x15b3, 0x101b, true, "mlx5_core"},
                  {"0000:05:00.0", 0x15b3, 0x101b, false, "mlx5_core"}};
    CHECK(std::ranges::all_of(check_machine(m), [](const finding& f) { return f.evaluated == verdict::ok; }));
    m.adapters.push_back({"0000:06:00.0", 0x15b3, 0x101b, true, "mlx5_core"});
    const finding f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::warning);
    CHECK_THAT(f.found, Contains("0000:06:00.0"));
}

TEST_CASE("doctor reports a missing ib_umad module as bad unless the fabric uses verbs") {
    machine m = sound_machine();
    m.umad_abi.reset();
    m.files.clear();
    first_port(m).umad.clear();
    m.used.reset();
    m.no_port = "no InfiniBand device found in /sys/class/infiniband_mad";
    const auto found = problems_of(check_machine(m), "module");
    REQUIRE(found.size() == 1);
    CHECK(found[0].evaluated == verdict::bad);
    CHECK_THAT(found[0].remedy.text(), Contains("modprobe ib_umad"));
    m.needs_umad = false;
    use_first_port(m);
    CHECK(only_problem(check_machine(m)).evaluated == verdict::warning);
    CHECK(can_open(m));
    // Linux 2.6.24 introduced version 5 (rdma/ib_user_mad.h).
    m = sound_machine();
    m.umad_abi = 4;
    CHECK_THAT(only_problem(check_machine(m)).found, Contains("version 4"));
}

TEST_CASE("doctor suggests a fix for an inaccessible device file that fits the group of the file") {
    machine m = sound_machine();
    m.files[0].error = EACCES;
    finding f = only_problem(check_machine(m));
    CHECK(f.check == "file");
    CHECK(f.evaluated == verdict::bad);
    CHECK_THAT(f.found, Contains("not accessible to alice (Permission denied)"));
    CHECK_THAT(f.remedy.text(), Contains("usermod -aG rdma alice"));
    CHECK_FALSE(can_open(m));
    // The fix is a udev rule if no group has access, or only the group root, which users must not join.
    m.files[0].mode = 0600;
    CHECK_THAT(only_problem(check_machine(m)).remedy.text(), Contains("udev rule") && !Contains("usermod"));
    m.files[0].mode = 0660;
    m.files[0].group_owner = "root";
    CHECK_THAT(only_problem(check_machine(m)).remedy.text(), Contains("udev rule") && !Contains("usermod"));
    m.files[0].error = ENOENT;
    f = only_problem(check_machine(m));
    CHECK_THAT(f.found, Contains("of mlx5_0/1, missing"));
    CHECK_THAT(f.remedy.text(), Contains("udev"));
    m.files[0].error = EPERM;
    CHECK_THAT(only_problem(check_machine(m)).remedy.text(), Contains("container"));
}

TEST_CASE("doctor only warns about an inaccessible file of another port or an issm file") {
    machine m = sound_machine();
    m.files.push_back(file_of("umad1", "mlx5_1/1"));
    m.files.back().error = EACCES;
    CHECK(only_problem(check_machine(m)).evaluated == verdict::warning);
    CHECK(can_open(m));
    m.files.back() = file_of("issm0", "mlx5_0/1");
    m.files.back().error = EACCES;
    const finding f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::warning);
    CHECK_THAT(f.found, Contains("only subnet managers need it"));
}

TEST_CASE("doctor reports a port that is down and how to bring the port up") {
    struct {
        PortPhysicalState physical;
        const char* remedy;
    } const states[] = {{PortPhysicalState::Polling, "cable"},
                        {PortPhysicalState::Disabled, "ibtool -C mlx5_0 -P 1 ibportstate -D 0 1 enable"},
                        {PortPhysicalState::PortConfigurationTraining, "training"},
                        {PortPhysicalState::LinkErrorRecovery, "training"}};
    for (const auto& s : states) {
        CAPTURE(s.remedy);
        machine m = sound_machine();
        first_port(m).portState = PortState::Down;
        first_port(m).portPhysicalState = s.physical;
        use_first_port(m);
        const finding f = only_problem(check_machine(m));
        CHECK(f.check == "port");
        CHECK(f.about == "mlx5_0/1");
        CHECK(f.evaluated == verdict::bad);
        CHECK_THAT(f.remedy.text(), Contains(s.remedy));
    }
    // The state of an unused port is irrelevant.
    machine m = sound_machine();
    m.devices[0].end_ports.push_back(port_of("mlx5_0", 2, ""));
    m.devices[0].end_ports[1].portState = PortState::Down;
    m.devices[0].end_ports[1].portPhysicalState = PortPhysicalState::Polling;
    CHECK(only_problem(check_machine(m)).evaluated == verdict::warning);
}

TEST_CASE("doctor reports that a port without configuration needs a subnet manager") {
    machine m = sound_machine();
    first_port(m).portState = PortState::Initialize;
    first_port(m).LID = iba::lid{0};
    first_port(m).masterSMLID = iba::lid{0};
    use_first_port(m);
    finding f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::bad);
    CHECK_THAT(f.remedy.text(), Contains("opensm"));
    first_port(m).portState = PortState::Armed;
    use_first_port(m);
    f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::warning);
    CHECK_THAT(f.found, Contains("Armed"));
    first_port(m).portState = PortState::Active;
    use_first_port(m);
    CHECK_THAT(only_problem(check_machine(m)).remedy.text(), Contains("opensm"));
}

TEST_CASE("doctor reports that a machine with only RoCE ports has no usable port, with the fix for the driver") {
    const auto remedy_for = [](const char* device) {
        machine m = sound_machine();
        first_port(m).device = device;
        first_port(m).link_layer = "Ethernet";
        m.used.reset();
        m.no_port = "no port has link layer InfiniBand: mlx5_0/1 (Ethernet)";
        const finding f = only_problem(check_machine(m));
        CHECK(f.check == "fabric");
        CHECK(f.evaluated == verdict::bad);
        CHECK_THAT(f.found, Contains("link layer InfiniBand"));
        return f.remedy.text();
    };
    CHECK_THAT(remedy_for("mlx5_0"), Contains("mstconfig -d mlx5_0 set LINK_TYPE_P1=1"));
    CHECK_THAT(remedy_for("mlx4_0"), Contains("echo ib >/sys/class/infiniband/mlx4_0/device/mlx4_port1"));
    CHECK_THAT(remedy_for("rxe0"), Contains("adapter"));
    // If the machine has an InfiniBand port, a RoCE port is not a problem.
    machine m = sound_machine();
    end_port roce = port_of("mlx5_0", 2, "");
    roce.link_layer = "Ethernet";
    roce.portState = PortState::Down;
    m.devices[0].end_ports.push_back(roce);
    CHECK(std::ranges::all_of(check_machine(m), [](const finding& f) { return f.evaluated == verdict::ok; }));
}

TEST_CASE("doctor requires the device files of both devices if a port uses the SMI of another device") {
    machine m = sound_machine();
    const auto no_smi = static_cast<u32>(iba::CapabilityMask::IsSMdisabled);
    first_port(m).capabilityMask = no_smi;
    use_first_port(m);
    // The devices of the port's planes are missing.
    CHECK_THAT(only_problem(check_machine(m)).found, Contains("no SMI"));
    CHECK(is_any_bad(check_machine(m)));
    end_port plane = port_of("smi1", 1, "");
    plane.portGUID = first_port(m).portGUID;
    machine without_umad = m;
    add_device(without_umad, "smi1", {plane});
    CHECK_THAT(only_problem(check_machine(without_umad)).found, Contains("no SMI"));
    plane.umad = "umad1";
    add_device(m, "smi1", {plane});
    CHECK_FALSE(is_any_bad(check_machine(m)));
    CHECK_THAT(format_findings(check_machine(m)),
               Contains("smi1/1 (umad1) for SMPs, mlx5_0/1 (umad0) for all other MADs"));
    CHECK(files_in_use(m).size() == 2);
    for (device_file& f : m.files) {
        f.error = EACCES;
        CHECK(only_problem(check_machine(m)).evaluated == verdict::bad);
        CHECK_FALSE(can_open(m));
        f.error = 0;
    }
    // Another port has its own pair of devices.
    m.files.push_back(file_of("umad2", "mlx5_1/1"));
    m.files.back().error = EACCES;
    CHECK(can_open(m));
}

TEST_CASE("doctor warns if the kernel's MAD queues are shorter than ibtool assumes") {
    machine m = sound_machine();
    m.send_queue = 128;
    m.receive_queue = 512;
    CHECK_THAT(format_findings(check_machine(m)), Contains("128 SMPs and 16 SA requests"));
    m.receive_queue = 256; // SMPs may use a quarter, and SA requests a thirty-second
    finding f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::warning);
    CHECK_THAT(f.found, Contains("64 SMPs and 8 SA requests"));
    CHECK_THAT(f.remedy.text(), Contains("recv_queue_size=512") && Contains("--outstanding 64"));
    m.receive_queue = 1024;
    m.send_queue = 32;
    f = only_problem(check_machine(m));
    CHECK_THAT(f.remedy.text(), Contains("send_queue_size=128") && Contains("--outstanding 32"));
}

TEST_CASE("doctor reports a driver limit on SA requests with the file that contains the limit") {
    machine m = sound_machine();
    first_port(m).sa_max_outstanding = 4;
    use_first_port(m);
    const finding f = only_problem(check_machine(m));
    CHECK(f.evaluated == verdict::warning);
    CHECK_THAT(f.found, Contains("sends at most 4 requests"));
    CHECK_THAT(f.remedy.text(), Contains("echo 16 >/sys/class/infiniband/mlx5_0/mad_sa_cc/1/max_outstanding"));
    first_port(m).sa_max_outstanding = 16;
    CHECK_THAT(format_findings(check_machine(m)), Contains("sends at most 16 requests"));
    CHECK(std::ranges::all_of(check_machine(m), [](const finding& other) { return other.evaluated == verdict::ok; }));
}

/// Returns a fabric without problems.
fabric_facts sound_fabric() {
    fabric_facts f;
    f.SM_LID = 1;
    f.sm_info.SMState = iba::SMState::Master;
    f.sm_info.GUID = iba::guid{0xabcd};
    f.SM.round_trip = std::chrono::microseconds(250);
    f.sa_response_time = 18; // 4.096 us * 2^18
    return f;
}

TEST_CASE("doctor checks the SMA, the SM and the SA of a fabric") {
    const std::vector<finding> sound = check_fabric(sound_fabric());
    CHECK(sound.size() == 3);
    CHECK(std::ranges::all_of(sound, [](const finding& f) { return f.evaluated == verdict::ok; }));
    CHECK_THAT(format_findings(sound), Contains("LID 1: Master, GUID 0000:0000:0000:abcd") && Contains("in 0.250 ms") &&
                                           Contains("up to 1073.742 ms"));
    fabric_facts f = sound_fabric();
    f.SM.error = "LID 1 did not reply to SMInfo";
    CHECK(only_problem(check_fabric(f)).evaluated == verdict::bad);
    CHECK_THAT(only_problem(check_fabric(f)).remedy.text(), Contains("systemctl status opensm"));
    f = sound_fabric();
    f.SA.error = "LID 1 did not reply to ClassPortInfo";
    CHECK(only_problem(check_fabric(f)).check == "SA");
    CHECK_THAT(only_problem(check_fabric(f)).remedy.text(), Contains("ibtool -t 5s saquery -c"));
    f = sound_fabric();
    f.sm_info.SMState = iba::SMState::Standby;
    CHECK(only_problem(check_fabric(f)).evaluated == verdict::warning);
    f = sound_fabric();
    f.SM_LID = 0;
    CHECK(problems_of(check_fabric(f), "SM").at(0).evaluated == verdict::bad);
    CHECK(problems_of(check_fabric(f), "SA").at(0).evaluated == verdict::skipped);
    f.local.error = "did not answer";
    CHECK(problems_of(check_fabric(f), "SMP").at(0).evaluated == verdict::bad);
    CHECK(problems_of(check_fabric(f), "SM").at(0).evaluated == verdict::skipped);
    // A discovery through the SA sends no SMP, so doctor expects no SMP result.
    f = sound_fabric();
    f.has_smps = false;
    CHECK_FALSE(is_any_bad(check_fabric(f)));
    CHECK(problems_of(check_fabric(f), "SMP").at(0).evaluated == verdict::skipped);
}

TEST_CASE("doctor reports the node name map with the paths that it tried") {
    name_map_facts f;
    f.examined = {{"/a", ENOENT}, {"/b", ENOENT}};
    finding reported = check_name_map(f);
    CHECK(reported.evaluated == verdict::ok);
    CHECK_THAT(reported.found, Contains("/a, /b"));
    f.examined = {{"/a", ENOENT}, {"/b", 0}};
    f.names = 7;
    reported = check_name_map(f);
    CHECK(reported.evaluated == verdict::ok);
    CHECK(reported.about == "/b");
    CHECK_THAT(reported.found, Contains("7 names"));
    f.warnings = {"/b:3: no GUID", "/b:4: no GUID"};
    reported = check_name_map(f);
    CHECK(reported.evaluated == verdict::warning);
    CHECK_THAT(reported.found, Contains("2 lines are ignored, first: /b:3: no GUID"));
    f.examined[0].error = EACCES;
    reported = check_name_map(f);
    CHECK(reported.evaluated == verdict::warning);
    CHECK(reported.remedy.text() == "chmod a+r /a");
    f = {};
    f.examined = {{"/named", ENOENT}};
    f.is_named = true;
    f.problem = "cannot read '/named': No such file or directory";
    CHECK(check_name_map(f).evaluated == verdict::bad);
}

TEST_CASE("doctor prints one line and one JSON object per finding") {
    const std::vector<finding> all{{"port",
                                    "mlx5_0/1",
                                    verdict::bad,
                                    "no \"link\"",
                                    {remedy_id::enable_port, {{"at", "-C mlx5_0"}, {"port", "1"}}}},
                                   {"SM", {}, verdict::warning, "odd", remedy_id::see_sm_log},
                                   {"kernel", {}, verdict::ok, "fine", {}}};
    const std::string command = "ibtool -C mlx5_0 ibportstate -D 0 1 enable";
    CHECK(format_findings(all) ==
          "bad      port    mlx5_0/1: no \"link\"; possible fix: " + command +
              "\nwarning  SM      odd; possible fix: check the log of the subnet manager if this state persists\n"
              "ok       kernel  fine\n");
    std::istringstream lines(findings_json(all));
    std::string line;
    std::getline(lines, line);
    CHECK(nlohmann::json::parse(line) == nlohmann::json{{"check", "port"},
                                                        {"about", "mlx5_0/1"},
                                                        {"verdict", "bad"},
                                                        {"found", "no \"link\""},
                                                        {"remedy", command},
                                                        {"command", command}});
    std::getline(lines, line);
    CHECK(nlohmann::json::parse(line)["remedy"] == "check the log of the subnet manager if this state persists");
    CHECK(nlohmann::json::parse(line)["command"].is_null());
    std::getline(lines, line);
    CHECK(nlohmann::json::parse(line) == nlohmann::json{{"check", "kernel"},
                                                        {"about", nullptr},
                                                        {"verdict", "ok"},
                                                        {"found", "fine"},
                                                        {"remedy", nullptr},
                                                        {"command", nullptr}});
    CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("a possible fix without a value contains no extra space") {
    CHECK(remedy(remedy_id::wait_for_sa, {{"at", ""}}).command() == "ibtool -t 5s saquery -c");
    CHECK(remedy().empty());
}

TEST_CASE("the overview has at most 15 lines and ends with three commands") {
    const auto lines_of = [](const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    };
    const auto check_commands = [&](const std::string& text) {
        CAPTURE(text);
        const auto lines = lines_of(text);
        CHECK(lines.size() <= 15);
        REQUIRE(lines.size() >= 5);
        CHECK(lines[lines.size() - 4] == "Next steps:");
        for (std::size_t i = lines.size() - 3; i < lines.size(); ++i) CHECK(lines[i].starts_with("  ibtool "));
    };
    machine m = sound_machine();
    check_commands(format_overview(m));
    CHECK_THAT(format_overview(m), Contains("mlx5_0/1") && Contains("Active (LinkUp)") &&
                                       Contains("/dev/infiniband/umad0 is accessible to alice") &&
                                       Contains("ibtool uses mlx5_0/1.") && Contains("  ibtool ibnetdiscover "));
    m.files[0].error = EACCES;
    CHECK_THAT(format_overview(m), Contains("umad0 is not accessible to alice") && Contains("cannot open it") &&
                                       Contains("ibtool --fabric sim:"));
    for (unsigned i = 1; i < 18; ++i)
        add_device(m, "mlx5_" + std::to_string(i), {port_of("mlx5_" + std::to_string(i), 1, "")});
    check_commands(format_overview(m));
    CHECK_THAT(format_overview(m), Contains("... and 12 more"));
    m = {};
    m.no_port = "no InfiniBand device";
    check_commands(format_overview(m));
    CHECK_THAT(format_overview(m), Contains("no port to use: no InfiniBand device."));
    check_commands(format_overview("sim:single"));
    CHECK_THAT(format_overview("sim:single"), Contains("'sim:single'"));
}

} // namespace machine_checks_test
