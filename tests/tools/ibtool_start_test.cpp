// SPDX-License-Identifier: MIT
// ibtool_start_test.cpp - failures of ibtool at its start: one line with the cause and a possible fix, and the exit
// code.
#include "program/ibtool_rig.hpp"

using namespace ibtool_rig;

namespace {

/// Returns true if this user may create a mount namespace, which run_on_machine() needs. It runs ibtool with other
/// directories as /sys/class and /dev and without privileges. ibtool owns the files, so their modes apply to it.
bool can_change_the_machine() {
    if (run_process({"unshare", "--mount", "--map-root-user", "true"}).status == 0) return true;
    WARN("skipped: no mount namespace for this user");
    return false;
}
/// Runs ibtool on a machine whose /sys/class and /dev are in a directory.
process_result run_on_machine(const directory& machine, const words& arguments) {
    const std::string script = "mount --bind \"$1/class\" /sys/class && mount --bind \"$1/dev\" /dev && shift && "
                               "exec setpriv --bounding-set=-all env \"$@\"";
    return run_process(words{"unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", machine / "."} +
                       ibtool(arguments));
}

/// Adds an Active port of a device mlx5_0 to a machine.
void add_port(const directory& machine) {
    machine.write("class/infiniband_mad/abi_version", "5\n");
    machine.write("class/infiniband_mad/umad0/ibdev", "mlx5_0\n");
    machine.write("class/infiniband_mad/umad0/port", "1\n");
    machine.write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    machine.write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    machine.write("dev/infiniband/umad0", "");
}

} // namespace

TEST_CASE("with --strict an invalid line of a topology file is an error with file and line") {
    const directory files;
    const std::string wrong = files.write("wrong.topo", "# fine\n"
                                                        "caguid=0xa\n"
                                                        "Ca 1 \"H-a\" # \"fine\"\n"
                                                        "[1] \"H-b\"[1]\n"
                                                        "bogus line\n");
    const std::string reason = wrong + ":5: unrecognized line 'bogus line'";
    check_failure(run({"--fabric", "sim:" + wrong, "ibnetdiscover", "--strict"}), 1, reason);
    check_failure(run({"ibhosts", wrong, "--strict"}), 1, reason);
}

TEST_CASE("a topology file of several planes causes one line about nodes that the local port does not reach") {
    const directory files;
    // Plane 1 contains switch S and hosts a and b. Plane 2 contains switch T and host c. Host d has a port in each
    // plane.
    const std::string planes = files.write("planes.topo", "Switch 4 \"S-1\" # \"S\"\n"
                                                          "[1] \"H-a\"[1] # 4xEDR\n"
                                                          "[2] \"H-b\"[1] # 4xEDR\n"
                                                          "[3] \"H-d\"[1] # 4xEDR\n\n"
                                                          "Switch 4 \"S-2\" # \"T\"\n"
                                                          "[1] \"H-c\"[1] # 4xEDR\n"
                                                          "[2] \"H-d\"[2] # 4xEDR\n\n"
                                                          "Ca 1 \"H-a\" # \"a\"\n\nCa 1 \"H-b\" # \"b\"\n\n"
                                                          "Ca 1 \"H-c\" # \"c\"\n\nCa 2 \"H-d\" # \"d\"\n");
    const auto hosts = [&](const std::string& keys) { return run({"ibhosts", "--fabric", "sim:" + planes + keys}); };
    const process_result from_a = hosts("");
    INFO(from_a.err);
    CHECK(from_a.status == 0);
    CHECK(lines_of(from_a.out).size() == 3);
    CHECK_THAT(from_a.err, StartsWith("ibtool: 2 of 6 nodes have no cable connection to 'a' port 1, such as "));
    CHECK(std::count(from_a.err.begin(), from_a.err.end(), '\n') == 1);
    CHECK_THAT(hosts(",at=c").err, StartsWith("ibtool: 3 of 6 nodes have no cable connection to 'c' port 1, such as "));
    CHECK_THAT(hosts(",at=d,port=2").err,
               StartsWith("ibtool: 3 of 6 nodes have no cable connection to 'd' port 2, such as "));
    check_success(run({"ibhosts", "--fabric", "sim:fattree2,radix=4"}));
}

TEST_CASE("a missing file is reported by name") {
    const directory files;
    const std::string missing = files / "missing";
    check_failure(run({"--fabric", "sim:" + missing, "ibhosts"}), 1, "'" + missing + "': No such file or directory");
    check_failure(run({"ibswitches", missing}), 1, "'" + missing + "': No such file or directory");
    check_failure(run({"ibnodes", "--fabric", "sim:single", "--node-name-map", missing}), 1, missing);
    check_failure(run({"ibnetdiscover", "--fabric", "sim:single", "--node-name-map", missing}), 1, missing);
    check_failure(run({"ibhosts", "--fabric", "sim:single", "-z", missing}), 2, missing);
    // A directory can be opened and reads as an empty file.
    const std::string folder = files / ".";
    check_failure(run({"ibnodes", "--fabric", "sim:single", "--node-name-map", folder}), 1, "Is a directory");
    check_failure(run({"ibhosts", "--fabric", "sim:single", "-z", folder}), 2, "Is a directory");
    check_failure(run({"health", "--fabric", "sim:single,sm=1", "--for", "1ms", "--rules", folder}), 1,
                  "Is a directory");
}

TEST_CASE("an invalid number is refused with the permitted range") {
    check_failure(run({"sweep", "--top", "x"}), 2, "--top: must be a number >= 0, not 'x'");
    check_failure(run({"sweep", "--top", "-3"}), 2, "--top: must be a number >= 0, not '-3'"); // not read as 2^64 - 3
    check_failure(run({"ibping", "-c", "-1", "1"}), 2, "--count: must be a number >= 0, not '-1'");
    check_failure(run({"-P", "256", "ibhosts"}), 2, "--Port: must be a number from 1 to 255, not '256'");
    check_failure(run({"--retries", "-1", "ibhosts"}), 2, "--retries: must be a number from 0 to 255, not '-1'");
    check_failure(run({"bench", "--per-destination", "1.5"}), 2, "must be a number from 0 to 65536, not '1.5'");
    check_failure(run({"query", "SubnGet", "NodeInfo", "0", "-a", "0x100000000"}), 2, "not '0x100000000'");
}

TEST_CASE("an invalid subnet specification is refused with valid examples") {
    check_failure(run({"--fabric", "sim:fattree3,radix=7", "ibhosts"}), 1, "radix=7 is odd; must be an even number");
    check_failure(run({"--fabric", "sim:single,dead=nobody", "ibhosts"}), 1, "dead=nobody: unknown node");
}

TEST_CASE("a missing ibsim server is reported with a possible fix") {
    check_failure(run({"--fabric", "ibsim:no-such-server", "ibhosts"}), 1,
                  "no ibsim server at socket name 'no-such-server' (start ibsim");
}

TEST_CASE("a machine without an InfiniBand device gets a hint about the simulator") {
    if (std::filesystem::exists("/sys/class/infiniband_mad")) {
        WARN("skipped: this machine may have a device");
        return;
    }
    for (const char* command : {"ibnetdiscover", "ibhosts", "ibswitches", "ibnodes"}) {
        check_failure(run({command}), 1, "no InfiniBand device");
        check_failure(run({command, "--fabric", "umad:mlx5_0/1"}), 1, "--fabric sim:");
    }
}

TEST_CASE("an inaccessible device is reported with a possible fix") {
    if (!can_change_the_machine()) return;
    const directory machine;
    add_port(machine);
    std::filesystem::permissions(machine / "dev/infiniband/umad0", std::filesystem::perms::none);
    const process_result r = run_on_machine(machine, {"ibhosts"});
    check_failure(r, 1, "cannot open /dev/infiniband/umad0: Permission denied");
    check_failure(run_on_machine(machine, {"ibhosts", "-C", "mlx5_0", "-P", "1"}), 1, "Permission denied");
}

TEST_CASE("a missing local port is reported with the existing ports") {
    if (!can_change_the_machine()) return;
    const directory machine;
    add_port(machine);
    const std::string answer = "; available: mlx5_0/1 (Active)";
    check_failure(run_on_machine(machine, {"ibhosts", "-C", "mlx5_7"}), 1, "'mlx5_7'" + answer);
    check_failure(run_on_machine(machine, {"-P", "2", "ibhosts"}), 1, "'/2'" + answer);
    check_failure(run_on_machine(machine, {"ibhosts", "-C", "mlx5_0", "-P", "2"}), 1, "'mlx5_0/2'" + answer);
    check_failure(run_on_machine(machine, {"ibhosts", "--fabric", "umad:mlx5_0/2"}), 1, "'mlx5_0/2'" + answer);
}

TEST_CASE("the option -P selects a port by number, device, GID or GUID, and -C selects a device by GUID") {
    if (!can_change_the_machine()) return;
    const directory machine;
    add_port(machine);
    machine.write("class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:0000:0001\n");
    machine.write("class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0000\n");
    machine.write("class/infiniband_mad/umad1/ibdev", "mlx5_1\n");
    machine.write("class/infiniband_mad/umad1/port", "1\n");
    machine.write("class/infiniband/mlx5_1/node_guid", "0002:c903:0000:0010\n");
    machine.write("class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
    machine.write("class/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand\n");
    machine.write("class/infiniband/mlx5_1/ports/1/gids/0", "fec0:0000:0000:0001:0002:c903:0000:0011\n");
    machine.write("dev/infiniband/umad1", "");
    for (const char* device : {"umad0", "umad1"})
        std::filesystem::permissions(machine / (std::string("dev/infiniband/") + device), std::filesystem::perms::none);
    const std::string first = "cannot open /dev/infiniband/umad0", second = "cannot open /dev/infiniband/umad1";
    const auto opens = [&](const words& port, const std::string& which) {
        CAPTURE(port);
        check_failure(run_on_machine(machine, words{"ibhosts"} + port), 1, which);
    };
    opens({}, first);
    opens({"-P", "mlx5_1/1"}, second);
    opens({"-P", "mlx5_1"}, second);
    opens({"-P", "0002:c903:0000:0011"}, second);
    opens({"-P", "fec0::1:2:c903:0:11"}, second);
    opens({"-P", "fe80::2:c903:0:1"}, first);
    opens({"-C", "0002:c903:0000:0010"}, second);
    opens({"-C", "0002:c903:0000:0010", "-P", "1"}, second);
    opens({"--fabric", "umad:fec0::1:2:c903:0:11"}, second);
    opens({"-P", "fe80::7"}, "no InfiniBand port has GID or GUID 'fe80::7'; available: mlx5_0/1");
    opens({"-C", "0002:c903:0000:0070"}, "unknown RDMA device '0002:c903:0000:0070'");
    check_failure(run_on_machine(machine, {"ibhosts", "-C", "mlx5_0", "-P", "mlx5_1/1"}), 2, "leave out -C");
}

TEST_CASE("the port of a configuration file is the default, except in a simulation") {
    const directory files;
    const std::string config = files.write("ibdiag.conf", "# a comment\nCA=mlx5_7\nPort=2 # the second\n");
    check_success(run({"ibhosts", "--fabric", "sim:single", "-z", config}));
    if (!can_change_the_machine()) return;
    add_port(files);
    check_failure(run_on_machine(files, {"ibhosts", "-z", config}), 1, "unknown InfiniBand port 'mlx5_7/2'");
    check_failure(run_on_machine(files, {"ibhosts", "-z", config, "-C", "mlx5_8"}), 1,
                  "unknown InfiniBand port 'mlx5_8'");
}

TEST_CASE("an invalid command line exits with 2") {
    const directory files;
    const std::string bad_config = files.write("ibdiag.conf", "timeout=soon\n");
    struct {
        words arguments;
        std::string what;
    } const lines[] = {
        {{"ibfrobnicate"}, "'ibfrobnicate'"},
        {{"--fabric", "sim:single"}, "no command given"},
        {{"--frobnicate", "ibhosts"}, "--frobnicate"},
        {{"ibhosts", "--frobnicate"}, "--frobnicate"},
        {{"ibhosts", "-f"}, "-f"}, // an option of ibnetdiscover
        {{"ibhosts", "ibswitches", "one.topo", "two.topo"}, "one.topo"},
        {{"ibnetdiscover", "one.topo", "two.topo"}, "two.topo"},
        {{"ibhosts", "--fabric"}, "--fabric"},
        {{"ibhosts", "--fabric", "token-ring"}, "invalid fabric 'token-ring'; expected umad"},
        {{"ibhosts", "--fabric", "sim:"}, "invalid fabric 'sim:'"},
        {{"ibhosts", "--m", "3"}, "option '--m' is ambiguous; it can mean --max-rate, "},
        {{"--max-r", "many", "ibhosts"}, "--max-rate: "},
        {{"ibhosts", "--fabric", "umad:mlx5_0", "-C", "mlx5_0"}, "the local port is given twice"},
        {{"ibhosts", "-P", "0"}, "--Port"},
        {{"ibhosts", "-t", "0"}, "--timeout: invalid duration '0'"},
        {{"ibhosts", "-t", "soon"}, "--timeout: invalid duration 'soon'"},
        {{"ibhosts", "-t", "1s", "-t", "2s"}, "--timeout"},
        {{"ibhosts", "--outstanding", "1", "--outstanding", "2"}, "--outstanding"},
        {{"bench", "--duration", "1s", "--duration", "2s"}, "--duration"},
        {{"ibhosts", "--timeout", "-1s"}, "--timeout"},
        {{"ibhosts", "--timeout", "3 weeks"}, "'3 weeks'"},
        {{"ibhosts", "--timeout", "1e-9us"}, "'1e-9us'"},
        {{"ibhosts", "--timeout", "nan"}, "'nan'"},
        {{"ibhosts", "--timeout", "3000s"}, "up to 2000s"},
        {{"ibhosts", "--retries", "256"}, "--retries"},
        {{"ibhosts", "--outstanding", "0"}, "--outstanding: the window must be 1..65536"},
        {{"ibhosts", "--outstanding", "some"}, "--outstanding: the window must be a number up to 65536, not 'some'"},
        {{"ibhosts", "--max-rate", "-1"}, "--max-rate"},
        {{"ibhosts", "--descriptors", "0"}, "--descriptors"},
        {{"ibhosts", "--umad-timeout", "never"}, "--umad-timeout: must be auto, operation or attempt, not"},
        {{"ibhosts", "--umad-timeout", "attempt", "--fabric", "sim:single"}, "--umad-timeout needs a umad device"},
        {{"ibhosts", "--descriptors", "2", "--fabric", "sim:single"}, "--descriptors needs a umad device"},
        {{"ibhosts", "--descriptors", "2", "--fabric", "ibsim"}, "--descriptors needs a umad device"},
        {{"ibnetdiscover", "-o", "0"}, "--outstanding_smps"},
        {{"ibnetdiscover", "-o", "many"}, "many"},
        {{"ibhosts", "-y", "key"}, "M_Key must be a number of at most 64 bits"},
        {{"ibhosts", "-z", bad_config}, "'soon'"},
        {{"ibnetdiscover", "--diffcheck", "port"}, "--diffcheck"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        check_failure(run(line.arguments), 2, line.what);
    }
}
