// SPDX-License-Identifier: MIT
// doctor_test.cpp - doctor and ibtool without arguments: on constructed machines, on fabrics with and without replies,
// and on the virtual device.
#include "ibsim/ibsim_server.hpp"
#include "kernel/virtual_device.hpp"
#include "program/ibtool_subnet.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <unistd.h>

using namespace ibtool_rig;

namespace ibtool_doctor_test {

/// The files of a Linux machine with one Active port of an mlx5 adapter.
struct made_machine : directory {
    made_machine() {
        write("class/infiniband_mad/abi_version", "5\n");
        for (const char* file : {"umad0", "issm0"}) {
            const std::string described = std::string("class/infiniband_mad/") + file;
            write(described + "/ibdev", "mlx5_0\n");
            write(described + "/port", "1\n");
            write(std::string("dev/infiniband/") + file, "");
        }
        const std::string port = "class/infiniband/mlx5_0/ports/1/";
        write(port + "state", "4: ACTIVE\n");
        write(port + "phys_state", "5: LinkUp\n");
        write(port + "link_layer", "InfiniBand\n");
        write(port + "lid", "0x4\n");
        write(port + "sm_lid", "0x1\n");
        adapter("0000:04:00.0", "0x020700\n");
        bind("0000:04:00.0", "mlx5_core");
        std::filesystem::create_directory_symlink("../../../bus/pci/devices/0000:04:00.0",
                                                  *this / "class/infiniband/mlx5_0/device");
        write("module/ib_core/parameters/recv_queue_size", "512\n");
        write("module/ib_core/parameters/send_queue_size", "128\n");
    }
    void adapter(const std::string& address, const char* pci_class) {
        write("bus/pci/devices/" + address + "/class", pci_class);
        write("bus/pci/devices/" + address + "/vendor", "0x15b3\n");
        write("bus/pci/devices/" + address + "/device", "0x101b\n");
    }
    void bind(const std::string& address, const std::string& driver) {
        std::filesystem::create_directories(*this / ("bus/pci/drivers/" + driver));
        std::filesystem::create_directory_symlink("../../drivers/" + driver,
                                                  *this / ("bus/pci/devices/" + address + "/driver"));
    }
    void remove(const char* name) { std::filesystem::remove_all(*this / name); }
    /// Runs ibtool without privileges, because root can open every file.
    process_result doctor(const words& more = {}) const {
        const words plain = ::geteuid() == 0 ? words{"setpriv", "--bounding-set=-all", "env"} : words{};
        return run_process(
            plain + ibtool(words{"doctor", "--sysfs", *this / "class", "--dev", *this / "dev/infiniband"} + more));
    }
};

/// Returns the worst verdict of each check.
std::map<std::string, std::string> verdicts(const process_result& r) {
    const words order{"ok", "skipped", "warning", "bad"};
    std::map<std::string, std::string> worst;
    for (const auto& o : objects_of(r.out)) {
        std::string& so_far = worst[o.at("check")];
        const std::string now = o.at("verdict");
        CHECK((o.at("remedy").is_null()) == (now == "ok" || now == "skipped"));
        if (so_far.empty() || std::ranges::find(order, now) > std::ranges::find(order, so_far)) so_far = now;
    }
    return worst;
}

TEST_CASE("doctor reports no problem on a machine without problems") {
    const made_machine machine;
    const process_result r = machine.doctor();
    check_success(r);
    CHECK_THAT(r.out, Contains("ok       device  mlx5_0: ") && Contains("driver mlx5_core") &&
                          Contains("ok       module  ib_umad: loaded, ABI version 5") &&
                          Contains("ok       file    " + machine / "dev/infiniband/umad0") &&
                          Contains("dev/infiniband/issm0: device file of mlx5_0/1") &&
                          Contains("ok       port    mlx5_0/1: InfiniBand, Active (LinkUp), LID 4, SM at LID 1") &&
                          Contains("ok       fabric  mlx5_0/1: ") && Contains("128 SMPs and 16 SA requests") &&
                          Contains("skipped  SM      "));
    CHECK_THAT(r.out, !Contains("warning") && !Contains("possible fix"));
}

TEST_CASE("doctor finds problems of a machine in the files of sysfs and /dev") {
    struct {
        const char* what;
        void (*change)(made_machine&);
        const char* check;
        const char* verdict;
        const char* remedy;
    } const wrongs[] = {
        {"no file of udev's", [](made_machine& m) { m.remove("dev/infiniband/umad0"); }, "file", "bad", "udev"},
        {"a file without rights",
         [](made_machine& m) {
             std::filesystem::permissions(m / "dev/infiniband/umad0", std::filesystem::perms::none);
         },
         "file", "bad", "udev rule"},
        {"an issm file without rights",
         [](made_machine& m) {
             std::filesystem::permissions(m / "dev/infiniband/issm0", std::filesystem::perms::none);
         },
         "file", "warning", "udev rule"},
        {"no module", [](made_machine& m) { m.remove("class/infiniband_mad"); }, "module", "bad", "modprobe ib_umad"},
        {"an adapter without driver",
         [](made_machine& m) {
             m.remove("class/infiniband");
             m.remove("class/infiniband_mad/umad0");
             m.remove("bus/pci/devices/0000:04:00.0/driver");
         },
         "device", "bad", "modprobe mlx5_ib"},
        {"a second adapter without driver", [](made_machine& m) { m.adapter("0000:05:00.0", "0x020700\n"); }, "device",
         "warning", "modprobe mlx5_ib"},
        {"a port that is down",
         [](made_machine& m) {
             m.write("class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
             m.write("class/infiniband/mlx5_0/ports/1/phys_state", "2: Polling\n");
         },
         "fabric", "bad", "select one by -C and -P (ibtool ibstat lists them)"},
        {"a port without subnet manager",
         [](made_machine& m) {
             m.write("class/infiniband/mlx5_0/ports/1/state", "2: INIT\n");
             m.write("class/infiniband/mlx5_0/ports/1/sm_lid", "0x0\n");
         },
         "port", "bad", "opensm"},
        {"RoCE", [](made_machine& m) { m.write("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n"); }, "fabric",
         "bad", "mstconfig -d mlx5_0 set LINK_TYPE_P1=1"},
        {"short queues", [](made_machine& m) { m.write("module/ib_core/parameters/recv_queue_size", "128\n"); },
         "kernel", "warning", "recv_queue_size=512"},
        {"requests to the SA that are held back",
         [](made_machine& m) { m.write("class/infiniband/mlx5_0/mad_sa_cc/1/max_outstanding", "2\n"); }, "kernel",
         "warning", "mlx5_0/mad_sa_cc/1/max_outstanding"},
    };
    for (const auto& w : wrongs) {
        CAPTURE(w.what);
        made_machine machine;
        w.change(machine);
        const process_result r = machine.doctor({"--json"});
        CAPTURE(r.out);
        CHECK(r.status == (std::string(w.verdict) == "bad" ? 1 : 0));
        CHECK(r.err.empty());
        CHECK(verdicts(r)[w.check] == w.verdict);
        CHECK_THAT(r.out, Contains(w.remedy));
    }
}

TEST_CASE("doctor checks the named port in any port state") {
    made_machine machine;
    machine.write("class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
    machine.write("class/infiniband/mlx5_0/ports/1/phys_state", "3: Disabled\n");
    const process_result r = machine.doctor({"-C", "mlx5_0", "-P", "1"});
    CHECK(r.status == 1);
    CHECK_THAT(r.out,
               Contains("bad      port    mlx5_0/1: ") && Contains("ibtool -C mlx5_0 -P 1 ibportstate -D 0 1 enable"));
    CHECK_THAT(machine.doctor({"-C", "mlx5_7"}).out,
               Contains("bad      fabric  unknown InfiniBand port 'mlx5_7'; available: mlx5_0/1 (Down)"));
}

TEST_CASE("doctor checks a simulated fabric and skips the local machine") {
    const std::string fabric = "sim:fattree2,radix=4,sm=h-0003 HCA-1,time=virtual";
    const process_result r = run({"doctor", "--fabric", fabric, "--json"});
    check_success(r);
    CHECK(verdicts(r) == std::map<std::string, std::string>{
                             {"device", "skipped"}, {"names", "ok"}, {"SMP", "ok"}, {"SM", "ok"}, {"SA", "ok"}});
    // doctor reports the SM that sminfo reports.
    const auto manager = objects_of(run({"sminfo", "--json", "--fabric", fabric}).out).at(0);
    CHECK_THAT(r.out, Contains("Master, GUID " + manager.at("GUID").get<std::string>()));

    CHECK(verdicts(run({"doctor", "--fabric", "sim:single", "--json"})) ==
          std::map<std::string, std::string>{
              {"device", "skipped"}, {"names", "ok"}, {"SMP", "ok"}, {"SM", "bad"}, {"SA", "skipped"}});
    const process_result silent = run({"doctor", "--fabric", fabric + ",dead=h-0003 HCA-1", "--json"});
    CHECK(silent.status == 1);
    CHECK(verdicts(silent)["SM"] == "bad");
    CHECK_THAT(silent.out, Contains("did not reply to SMInfo"));
    const process_result by_sa = run({"doctor", "--fabric", fabric, "--json", "--sa"});
    check_success(by_sa);
    CHECK(verdicts(by_sa) ==
          std::map<std::string, std::string>{
              {"device", "skipped"}, {"names", "ok"}, {"SMP", "skipped"}, {"SM", "ok"}, {"SA", "ok"}});
    CHECK_THAT(by_sa.out, Contains("Master, GUID ") && Contains(", according to the SA\""));
    const process_result no_server = run({"doctor", "--fabric", "ibsim:no-such-server"});
    CHECK(no_server.status == 1);
    CHECK_THAT(no_server.out, Contains("bad      fabric  no ibsim server at socket name 'no-such-server'"));
    check_failure(run({"doctor", "--fabric", "token-ring"}), 2, "invalid fabric 'token-ring'");
}

TEST_CASE("doctor reports that an ibsim subnet has no subnet manager") {
    ibsim_server server(ibsim_server::topology_file{"/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca"});
    const process_result r = run({"doctor", "--fabric", "ibsim:" + server.sockname(), "--json"});
    CHECK(r.status == 1);
    CHECK(verdicts(r) == std::map<std::string, std::string>{
                             {"device", "skipped"}, {"names", "ok"}, {"SMP", "ok"}, {"SM", "bad"}, {"SA", "skipped"}});
}

TEST_CASE("doctor and the overview detect a virtual MAD device") {
    if (!has_devices()) return;
    const process_result r = in_shell("sim:fattree2,radix=4,sm=1", "$IBTOOL doctor --json; $IBTOOL doctor; $IBTOOL");
    INFO(r.err);
    CHECK(r.status == 0);
    const std::string objects = r.out.substr(0, r.out.rfind("}\n") + 2);
    process_result of_json = r;
    of_json.out = objects;
    auto found = verdicts(of_json);
    for (const char* check : {"module", "file", "port", "fabric", "SMP", "SM", "SA"}) {
        CAPTURE(check);
        CHECK(found[check] == "ok");
    }
    CHECK_THAT(r.out, Contains("ok       SM      LID 1: Master") &&
                          Contains("/dev/infiniband/umad0 is accessible to ") && Contains("ibtool uses vib0/1."));
    const process_result unmanaged = in_shell("sim:fattree2,radix=4", "$IBTOOL doctor");
    CHECK(unmanaged.status == 1);
    CHECK_THAT(unmanaged.out, Contains("bad      port    vib0/1: InfiniBand, Initializing (LinkUp)"));
}

TEST_CASE("doctor counts the lines of a given node name map and reports a missing map") {
    const directory files;
    const std::string map = files.write("map", "0x1 \"one\"\n0x2 \"two\"\nnobody\n");
    const process_result r = run({"doctor", "--fabric", "sim:single,sm=1", "--node-name-map", map});
    check_success(r);
    CHECK_THAT(r.out, Contains("warning  names   " + map + ": node name map with 2 names; 1 lines are ignored"));
    const process_result missing = run({"doctor", "--fabric", "sim:single,sm=1", "--node-name-map", files / "missing"});
    CHECK(missing.status == 1);
    CHECK_THAT(missing.out, Contains("bad      names   ") && Contains("No such file or directory"));
}

TEST_CASE("ibtool without arguments lists the local ports and suggests commands") {
    const process_result r = run({});
    check_success(r);
    CHECK(lines_in_order(r.out).size() <= 15);
    CHECK_THAT(r.out, Contains("Next steps:\n  ibtool doctor "));
    const process_result simulated = run_process({"IBTOOL_FABRIC=sim:single", ibtool_program()});
    check_success(simulated);
    CHECK_THAT(simulated.out, StartsWith("ibtool uses the fabric 'sim:single' (from IBTOOL_FABRIC).\nNext steps:\n"));
    // An unknown command is still an error.
    check_failure(run({"--fabric", "sim:single"}), 2, "no command given");
}

} // namespace ibtool_doctor_test
