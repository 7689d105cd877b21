// SPDX-License-Identifier: MIT
// vumad_test.cpp - the virtual MAD device with unmodified programs. The tests compare Debian's infiniband-diags and
// OpenSM with their output under ibsim's preloaded library, and ibtool over its umad transport with its native
// transports.
#include "ibsim/ibsim_server.hpp"
#include "kernel/virtual_device.hpp"
#include "program/ibtool_subnet.hpp"
#include <comad/transports/sim/detail/topology.hpp>

#include <regex>
#include <sstream>

using namespace ibtool_rig;

namespace {

/// Returns the stanzas of a topology file, or the lines of a text in any order, without times and counts.
words stanzas(const std::string& text) {
    words all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find("\n\n", begin), text.size());
        std::string piece = text.substr(begin, end - begin);
        piece.erase(piece.find_last_not_of('\n') + 1);
        if (piece.find("# Initiated") == piece.npos) all.push_back(piece);
        begin = end + 2;
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Parses JSON and removes the values of ports that are Down. For these ports OpenSM keeps only the states (C14-24.2.1;
/// osm_physp_set_port_info()).
nlohmann::json with_states_alone_where_down(const std::string& text) {
    auto subnet = nlohmann::json::parse(text);
    for (auto& node : subnet["nodes"])
        for (auto& port : node["ports"])
            if (port.value("portState", "") == "Down")
                port = {{"port", port["port"]},
                        {"portState", port["portState"]},
                        {"portPhysicalState", port["portPhysicalState"]}};
    return subnet;
}

} // namespace

TEST_CASE("vumad returns the exit status of its command, and reports a command that cannot run") {
    if (!has_devices()) return;
    CHECK(in_shell("sim:single", "exit 7").status == 7);
    CHECK(in_shell("sim:single", "kill -KILL $$").status == 128 + 9);
    check_failure(beside_device("sim:single", {"no-such-program"}), 127,
                  "cannot run 'no-such-program': No such file or directory");
    check_failure(beside_device("sim:single", {"/dev"}), 126, "cannot run '/dev': Permission denied");
    const process_result shell =
        process(words{"SHELL=/bin/false"} + ibtool({"vumad", "--fabric", "sim:single"})).wait();
    CHECK(shell.status == 1);
    CHECK_THAT(shell.err, Contains("/dev/infiniband/umad0 is vib0/1, at ") && Contains(" port 1; "));
}

TEST_CASE("vumad refuses a fabric that is not simulated or not in real time") {
    check_failure(run({"vumad", "--", "true"}), 2, "vumad needs a simulated fabric: --fabric sim:");
    check_failure(run({"vumad", "--fabric", "umad:mlx5_0", "--", "true"}), 2, "not 'umad:mlx5_0'");
    check_failure(run({"vumad", "--fabric", "sim:single,time=virtual", "--", "true"}), 2, "remove time=virtual");
    check_failure(run({"vumad", "--fabric", "sim:single", "--port", "x", "--", "true"}), 1, "--port: unknown node 'x'");
    check_failure(
        run({"vumad", "--fabric", "sim:single", "--port", "h-0001 HCA-1", "--port", "h-0001 HCA-1/1", "--", "true"}), 1,
        "is given twice");
    check_failure(run({"vumad", "--fabric", "ibsim:no-such-server", "--", "true"}), 1, "no ibsim server");
}

TEST_CASE("a virtual device is invisible outside vumad, and all other devices are visible inside") {
    if (!has_devices()) return;
    const std::string script = "ls /sys/class /dev | grep -v infiniband; test -c /dev/null; echo x >/dev/null";
    const process_result inside = in_shell("sim:single", script);
    CHECK(inside.status == 0);
    CHECK(lines_of(inside.out) == lines_of(run_process({"sh", "-ec", script}).out));
    CHECK(in_shell("sim:single", "ls /dev/infiniband").out == "issm0\numad0\n");
    CHECK(in_shell("sim:single", "ls /sys/class/infiniband /sys/class/infiniband_mad").out ==
          "/sys/class/infiniband:\nvib0\n\n/sys/class/infiniband_mad:\nabi_version\nissm0\numad0\n");
    CHECK_FALSE(std::filesystem::exists("/sys/class/infiniband/vib0"));
}

TEST_CASE("each --port is a device, and several ports of one node are ports of one device") {
    if (!has_devices()) return;
    const process_result r =
        in_shell("sim:fattree2,radix=4,sm=1",
                 "ibstat -l; cd /sys/class/infiniband; cat */node_desc */ports/1/lid; smpquery -C vib1 NI -D 0",
                 {"--port", "h-0003 HCA-1", "--port", "leaf-0002", "--port", "h-0004 HCA-1/1"});
    INFO(r.err);
    CHECK(r.status == 0);
    CHECK_THAT(r.out, StartsWith("vib0\nvib1\nvib2\nh-0003 HCA-1\nleaf-0002\nh-0004 HCA-1\n0x3\n"));
    CHECK_THAT(r.out, Contains("NodeType:........................Switch"));
}

TEST_CASE("the capability mask reports an SM while issm is open, for one program at a time") {
    if (!has_devices()) return;
    const process_result r = in_shell(
        "sim:single",
        "mask() { cat /sys/class/infiniband/vib0/ports/1/cap_mask; }; mask; exec 3</dev/infiniband/issm0; mask\n"
        "cat /dev/infiniband/issm0 || true; exec 3<&-; mask");
    const words masks = lines_in_order(r.out);
    REQUIRE(masks.size() == 3);
    CHECK(masks[0] == masks[2]);
    CHECK(std::stoul(masks[1], nullptr, 16) == (std::stoul(masks[0], nullptr, 16) | 2));
    CHECK_THAT(r.err, Contains("Resource temporarily unavailable"));
}

namespace {

/// Checks that both texts have the same stanzas or lines in any order.
void check_same(const std::string& one, const std::string& other) {
    CHECK_FALSE(one.empty());
    const bool is_topology = one.starts_with("#\n");
    if (is_topology) CHECK(stanzas(one) == stanzas(other));
    else CHECK(lines_of(one) == lines_of(other));
}

} // namespace

TEST_CASE("ibtool finds the fabric through the virtual device as it does without the device") {
    if (!has_devices()) return;
    const std::string fabric = "sim:fattree2,radix=8,sm=1,counters=3";
    for (const words& command :
         {words{"ibnetdiscover"}, words{"iblinkinfo"}, words{"saquery", "PIR"}, words{"sminfo"},
          words{"ibtracert", "1", "20"},
          words{"query", "SubnAdmGetTable", "PathRecord", "-f", "SGID=fe80::2:c903:0:101", "-f", "numbPath=1"}}) {
        CAPTURE(command);
        const process_result there = beside_device(fabric, words{ibtool_program()} + command);
        const process_result here = run(command + words{"--fabric", fabric});
        check_success(there);
        check_success(here);
        check_same(there.out, here.out);
    }
}

TEST_CASE("infiniband-diags and OpenSM see an ibsim subnet alike through the virtual device and ibsim's library") {
    if (!has_devices()) return;
    const subnet preloaded;
    const ibsim_server server(topology);
    const words commands{"ibnetdiscover", "ibnetdiscover -p", "iblinkinfo",       "ibqueryerrors",
                         "ibhosts",       "saquery NR 1",     "smpquery PI -D 0", "saquery PR --src-to-dst 1:2"};
    std::string script = with_manager;
    for (const std::string& command : commands) script += command + "; echo =====\n";
    const process_result r = in_shell("ibsim:" + server.sockname(), script);
    INFO(r.err);
    REQUIRE(r.status == 0);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        CAPTURE(commands[i]);
        const process_result theirs = preloaded.peer({"sh", "-c", commands[i]});
        REQUIRE(theirs.status == 0);
        check_same(printed[i], theirs.out);
    }
}

namespace {

/// Lets OpenSM configure the subnet from the virtual device. Compares the output of infiniband-diags and ibtool on the
/// device and returns the topology.
std::string check_manager(const std::string& fabric, std::size_t ports) {
    const process_result r = in_shell(fabric, with_manager + "ibnetdiscover >$d/a; $IBTOOL ibnetdiscover >$d/b\n"
                                                             "saquery PIR >$d/c; $IBTOOL saquery PIR >$d/d\n"
                                                             "cd $d; for f in a b c d; do cat $f; echo =====; done");
    INFO(r.err);
    REQUIRE(r.status == 0);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 4);
    CHECK(stanzas(printed[0]) == stanzas(printed[1]));
    CHECK_THAT(printed[0], Contains(" lid ") && !Contains(" lid 0 "));
    CHECK(lines_of(printed[2]) == lines_of(printed[3]));
    const std::regex record("PortInfoRecord dump:");
    CHECK(std::distance(std::sregex_iterator(printed[2].begin(), printed[2].end(), record), {}) ==
          static_cast<long>(ports));
    return printed[1];
}

} // namespace

TEST_CASE("OpenSM configures a simulated subnet through the virtual device, and its SA replies with tables") {
    if (!has_devices()) return;
    check_manager("sim:fattree2,radix=8", 32 + 12 * 9); // 32 hosts, and 12 switches with 9 ports including port 0
}

TEST_CASE("OpenSM configures an ibsim subnet through the virtual device, and its SA replies with tables") {
    if (!has_devices()) return;
    std::ostringstream topology;
    write_topology(topology, comad::transports::sim::make_topology("fattree2,radix=8"));
    const ibsim_server server(topology.str());
    const std::string fabric = "ibsim:" + server.sockname();
    const std::string there = check_manager(fabric, 32 + 12 * 9);
    const process_result here = run({"ibnetdiscover", "--fabric", fabric}); // the server keeps what OpenSM wrote
    check_success(here);
    check_same(there, here.out);
}

TEST_CASE("the second of two OpenSMs stays standby, replies to directed-route SMInfo, and later takes over") {
    if (!has_devices()) return;
    // Each log is a FIFO. `await` returns at the first line that one of its patterns matches, and prints that pattern.
    const std::string script =
        "d=$(mktemp -d); trap 'kill -KILL $a $b || :; rm -rf $d' EXIT; mkfifo $d/log0 $d/log1\n"
        "printf 'sminfo_polling_timeout 100\\npolling_retry_number 2\\n' >$d/conf\n"
        "manage() { GUID=$(cut -d: -f5- /sys/class/infiniband/vib$1/ports/1/gids/0 | tr -d :)\n"
        "OSM_CACHE_DIR=$d/ OSM_TMP_DIR=$d/ exec opensm -F $d/conf -g 0x$GUID --log_file stderr >/dev/null 2>$d/log$1; "
        "}\n"
        "await() { while read -r line <&$1; do case $line in *'SUBNET UP'*) echo master; return;;\n"
        "*'Entering STANDBY'*) echo standby; return;; esac; done; return 1; }\n"
        "manage 0 & a=$!; exec 3<$d/log0; await 3; cat <&3 >/dev/null &\n"
        "manage 1 & b=$!; exec 4<$d/log1; await 4\n"
        "for route in 0 0,1,2; do sminfo -C vib0 -D $route; $IBTOOL sminfo -C vib0 -D $route; done\n"
        "kill -KILL $a; await 4; sminfo -C vib1 -D 0; sminfo -C vib1\n";
    const ibsim_server server(topology);
    const bool is_ours = GENERATE(true, false);
    const process_result r =
        is_ours ? in_shell("sim:fattree2,radix=4", script, {"--port", "h-0001 HCA-1", "--port", "h-0002 HCA-1"})
                : in_shell("ibsim:" + server.sockname(), script, {"--port", "A", "--port", "B"});
    INFO(r.err);
    INFO(r.out);
    CHECK(r.status == 0);
    const words lines = lines_in_order(r.out);
    REQUIRE(lines.size() == 9);
    CHECK(lines[0] == "master");
    CHECK(lines[1] == "standby");
    for (std::size_t i : {2, 3}) CHECK_THAT(lines[i], EndsWith(" state 3 SMINFO_MASTER"));
    for (std::size_t i : {4, 5}) CHECK_THAT(lines[i], EndsWith(" state 2 SMINFO_STANDBY"));
    CHECK(lines[6] == "master");
    for (std::size_t i : {7, 8}) CHECK_THAT(lines[i], EndsWith(" state 3 SMINFO_MASTER"));
}

TEST_CASE("OpenSM forwards notices to watch, which reports removed and added hosts before it polls") {
    if (!has_devices()) return;
    const std::string script =
        "d=$(mktemp -d); trap 'kill -KILL $m; rm -rf $d' EXIT; mkfifo $d/log\n"
        "opensm -s 1 --log_file stderr >/dev/null 2>$d/log & m=$!\n" // OpenSM sweeps each second and finds the cable
        "exec 3<$d/log; grep -qm1 'SUBNET UP' <&3; cat <&3 >/dev/null &\n"
        "$IBTOOL watch --every 1000s -n 4";
    const process_result r = in_shell("sim:fattree2,radix=4,flap=leaf-0002/1@1s:1s:2s", script);
    INFO(r.err);
    CHECK(r.status == 0);
    CHECK_THAT(r.out, Contains("notice GIDOutOfService: GID fe80::") && Contains("notice GIDInService: GID fe80::"));
    CHECK_THAT(r.out, Contains("\"h-0003 HCA-1\" removed\n") && Contains("\"h-0003 HCA-1\" added\n"));
}

TEST_CASE("a table longer than a mebibyte, which FUSE transfers in pieces, arrives whole") {
    if (!has_devices()) return;
    // A fat tree of switches with 36 ports has 36^3/4 hosts and 5*36^2/4 switches. Each record takes 112 bytes.
    const process_result r =
        in_shell("sim:fattree3,radix=36,sm=1",
                 "for ask in saquery \"$IBTOOL saquery\"; do $ask NR | grep -c 'NodeRecord dump'; done");
    INFO(r.err);
    CHECK(r.out == "13284\n13284\n");
}

TEST_CASE("several programs share a virtual device, each gets its own replies, and lost requests are retried") {
    if (!has_devices()) return;
    // libibmad does not retry the first MADs, to the local node, because its wait ends before the device returns one.
    const process_result r =
        in_shell("sim:fattree2,radix=8,sm=1,loss=0.01",
                 "d=$(mktemp -d); discover() { for n in 1 2 3 4 5 6; do ibnetdiscover -t 100 >$1 2>/dev/null && break; "
                 "done; }; for i in 1 2 3 4; do discover $d/$i & done; $IBTOOL ibnetdiscover "
                 ">$d/5; wait; for i in 5 1 2 3 4; do cat $d/$i; echo =====; done; rm -r $d");
    INFO(r.err);
    REQUIRE(r.status == 0);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 5);
    for (const std::string& one : printed) CHECK(stanzas(one) == stanzas(printed.front()));
}

TEST_CASE("a discovery by LIDs and OpenSM's tables equals one by directed routes, with LMC and losses") {
    if (!has_devices()) return;
    struct managed_fabric {
        std::string specification, OpenSM;
    };
    const auto f =
        GENERATE(managed_fabric{"fattree2,radix=8,loss=0.01", "-l 0"},
                 managed_fabric{"ring,switches=5,hosts=2,loss=0.01", "-l 2"},
                 managed_fabric{"torus,x=3,y=3,hosts=1", "-l 0"}); // its switches have some ports without a cable
    CAPTURE(f.specification);
    std::string script = with_manager;
    script.replace(script.find("--qos"), 5, "--qos " + f.OpenSM);
    script += "$IBTOOL ibnetdiscover --json --discovery DR >$d/dr; $IBTOOL ibnetdiscover --json --discovery SA -d "
              ">$d/sa 2>$d/err\n"
              "$IBTOOL ibnetdiscover --json --discovery LID -d >$d/lid 2>$d/how\n"
              "grep -c SMPFormat $d/err || true; grep -q 'SMPFormat(1' $d/how; cmp $d/dr $d/lid\n"
              "for found in dr sa; do echo =====; cat $d/$found; done";
    const process_result r = in_shell("sim:" + f.specification, script);
    INFO(r.err);
    CHECK(r.status == 0);
    const words printed = parts_of(r.out + "=====\n");
    REQUIRE(printed.size() == 3);
    CHECK(printed[0] == "0\n");
    CHECK(with_states_alone_where_down(printed[1]) == with_states_alone_where_down(printed[2]));
}

TEST_CASE("the lanes of torus-2QoS match OpenSM's path records") {
    if (!has_devices()) return;
    // Without the tables, the rings have credit loops. The routing engine avoids credit loops with the tables.
    std::string script = with_manager;
    const std::string log = "mkfifo $d/log", manager = "--qos";
    script.replace(script.find(manager), manager.size(), "--qos -R torus-2QoS --torus_config $d/torus");
    script.replace(script.find(log), log.size(),
                   log + "; GUID() { $IBTOOL ibswitches | sed -n \"s/.*: \\(0x[0-9a-f]*\\) .*\\\"$1\\\".*/\\1/p\"; }\n"
                         "a=$(GUID sw-0-0-0); { echo torus 5 3 2M; echo xp_link $a $(GUID sw-1-0-0)\n"
                         "echo yp_link $a $(GUID sw-0-1-0); echo zp_link $a $(GUID sw-0-0-1); } >$d/torus");
    script += "$IBTOOL ibcheckroutes --json | tail -1; echo =====\n"
              "$IBTOOL ibcheckroutes --lanes --json; echo =====\n"
              "$IBTOOL ibcheckroutes --lanes -d 2>&1 | grep -o 'METHOD_GET[_A-Z]*([0-9]*) SAFormat.*PathRecord' | sort "
              "| uniq -c; "
              "echo =====\n";
    const process_result r = in_shell("sim:torus,x=5,y=3,z=2", script);
    INFO(r.err);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 3);
    CHECK(nlohmann::json::parse(printed[0]).at("credit_loops") > 0);
    const auto with = nlohmann::json::parse(printed[1]);
    CHECK(with.at("credit_loops") == 0);
    CHECK(with.at("VLs") > 1);
    CHECK(with.at("complete") == true);
    // ibtool queries one table for each host and no single paths.
    CHECK(std::regex_match(printed[2], std::regex(" *30 METHOD_GET_TABLE.* SAPathRecord\n")));
}

TEST_CASE("OpenSM's tables of routes, partitions and virtual lanes match the tables in the nodes") {
    if (!has_devices()) return;
    const auto specification = GENERATE(as<std::string>(), "fattree2,radix=8", "ring,switches=5,hosts=2");
    CAPTURE(specification);
    const std::string script =
        with_manager +
        "for ask in dump_lfts dump_mfts 'dump_lfts -a' 'check_lft_balance -v'; do\n"
        "$IBTOOL $ask --discovery DR >$d/nodes || true; $IBTOOL $ask --sa -d >$d/sa 2>$d/err || true\n"
        "test -s $d/nodes || test \"$ask\" = dump_mfts; grep -c SMPFormat $d/err || true; cmp $d/nodes $d/sa\n"
        "done\n"
        "$IBTOOL ibnetdiscover --json --qos --discovery DR >$d/nodes\n"
        "$IBTOOL ibnetdiscover --json --qos --sa --smkey 1 >$d/sa; cmp $d/nodes $d/sa\n"
        "grep -c inputPort $d/nodes\n";
    const process_result r = in_shell("sim:" + specification, script);
    INFO(r.err);
    CHECK(r.status == 0);
    CHECK_THAT(r.out, StartsWith("0\n0\n0\n0\n") && !EndsWith("\n0\n"));
}
