// SPDX-License-Identifier: MIT
// ibtool_failover_test.cpp - commands that run while one OpenSM ends and another OpenSM takes over at another port of a
// virtual device.
#include "kernel/virtual_device.hpp"

namespace ibtool_failover_test {

using namespace ibtool_rig;

namespace {

/// Shell function `start_sm DEVICE NUMBER`: starts an OpenSM at that device and returns after OpenSM has configured the
/// subnet. $sm is the process of OpenSM. OpenSM sweeps each second, so it detects a link that goes down.
const std::string with_managers = R"(
d=$(mktemp -d); trap 'kill -KILL $sm $watch $sweep 2>/dev/null || true; rm -rf $d' EXIT
start_SM() {
    mkfifo $d/log$2
    guid=0x$(cut -d: -f5- /sys/class/infiniband/$1/ports/1/gids/0 | tr -d :)
    opensm -s 1 -g $guid --log_file stderr >/dev/null 2>$d/log$2 & sm=$!
    exec 3<$d/log$2
    grep -qm1 'SUBNET UP' <&3
    cat <&3 >/dev/null &
}
)";

} // namespace

TEST_CASE("watch and sweep follow the subnet manager to another port without a restart, including notices") {
    if (!has_devices()) return;
    // Both commands run at a third port. The first manager is killed, and the second one configures the subnet. A cable of
    // a host goes down and up.
    const process_result r = in_shell("sim:fattree2,radix=4,flap=leaf-0002/2@1s:1s:2s", with_managers + R"(
start_SM vib0 1
mkfifo $d/watch.out $d/watch.err $d/sweep.out $d/sweep.err
$IBTOOL watch -C vib2 --every 2s >$d/watch.out 2>$d/watch.err & watch=$!
exec 7<$d/watch.out 4<$d/watch.err
$IBTOOL sweep -C vib2 --every 500ms --refresh 500ms --refresh-by sa --csv --top 1 >$d/sweep.out 2>$d/sweep.err & sweep=$!
exec 6<$d/sweep.out 5<$d/sweep.err
said() { timeout 30 grep -m1 "$1"; }
said watching <&4 >/dev/null
read first_line <&6
kill -KILL $sm
start_SM vib1 2
lid=$(($(cat /sys/class/infiniband/vib1/ports/1/lid)))
echo $lid
said 'now forwards notices' <&4
said 'the subnet manager moved' <&5
said "notice GID.*reported by LID $lid" <&7
said 'rediscovered the subnet' <&5
)",
                                      {"--port", "h-0001 HCA-1", "--port", "h-0002 HCA-1", "--port", "h-0003 HCA-1"});
    INFO(r.out);
    INFO(r.err);
    CHECK(r.status == 0);
    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 5);
    const std::string& SM_LID = printed[0];
    CHECK(SM_LID != "1");
    CHECK(printed[1] == "ibtool: the SA at LID " + SM_LID + " now forwards notices");
    CHECK_THAT(printed[2],
               StartsWith("ibtool: vib2/1 ") && EndsWith(": the subnet manager moved from LID 1 to LID " + SM_LID));
    CHECK_THAT(printed[3], Contains("Service: GID fe80::2:c903:0:401") &&
                               EndsWith("; reported by LID " + SM_LID + " (\"h-0002 HCA-1\"[1])"));
}

TEST_CASE("watch prints Reports of the SA and ignores Reports of other ports") {
    if (!has_devices()) return;
    // The second port sends Reports of trap 64 to the third through libibumad, with the bytes of IBA 13.4.8.2 and 15.2.1.
    const process_result r = in_shell("sim:fattree2,radix=4,flap=leaf-0002/2@1s:1s:2s", with_managers + R"(
start_SM vib0 1
mkfifo $d/watch.out $d/watch.err
$IBTOOL watch -C vib2 --every 30s >$d/watch.out 2>$d/watch.err & watch=$!
exec 7<$d/watch.out 4<$d/watch.err
said() { timeout 30 grep -m1 "$1"; }
said watching <&4 >/dev/null
cat >$d/forge.py <<'end'
import ctypes, sys
umad = ctypes.CDLL("libibumad.so.3")
umad.umad_get_mad.restype = ctypes.c_void_p
umad.umad_init()
port = umad.umad_open_port(b"vib1", 1)
agent = umad.umad_register(port, 3, 2, 0, None)
packet = ctypes.create_string_buffer(umad.umad_size() + 256)
umad.umad_set_addr(packet, int(sys.argv[1]), 1, 0, 0x80010000)
mad = bytearray(256)
mad[0:4] = 1, 3, 2, 6                        # SubnAdmReport
mad[17] = 2                                  # Notice
mad[56:62] = 0x83, 0, 0, 4, 0, 64            # generic, informational, of a manager: GID in service
mad[72:88] = bytes.fromhex("fe80") + bytes(12) + bytes.fromhex("dead")
ctypes.memmove(umad.umad_get_mad(packet), bytes(mad), 256)
for number in range(3):
    print(umad.umad_send(port, agent, packet, 256, 0, 0))
end
python3 $d/forge.py $(($(cat /sys/class/infiniband/vib2/ports/1/lid)))
echo $(($(cat /sys/class/infiniband/vib1/ports/1/lid)))
said 'ignored a Report' <&4
(timeout 30 grep -m1 'notice GIDOutOfService' <&7; kill -INT $watch; cat <&7 >/dev/null) >$d/told
cat $d/told
said 'Reports that did not' <&4
)",
                                      {"--port", "h-0001 HCA-1", "--port", "h-0002 HCA-1", "--port", "h-0003 HCA-1"});
    INFO(r.out);
    INFO(r.err);
    CHECK(r.status == 0);
    const words printed = lines_in_order(r.out);
    REQUIRE(printed.size() == 7);
    CHECK(words(printed.begin(), printed.begin() + 3) == words{"0", "0", "0"});
    CHECK(printed[3] != "1");
    CHECK(printed[4] == "ibtool: ignored a Report from LID " + printed[3] + " QP 1: the SA is at LID 1 QP 1");
    CHECK_THAT(printed[5], EndsWith("; reported by LID 1 (\"h-0001 HCA-1\"[1])"));
    CHECK(printed[6] == "ibtool: ignored 3 Reports that did not come from the SA");
    CHECK_THAT(r.out, !Contains("dead"));
}

} // namespace ibtool_failover_test
