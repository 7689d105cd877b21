// SPDX-License-Identifier: MIT
// ibtool_pkey_test.cpp - the P_Key index in the header of every MAD that ibtool writes to a MAD device (pkey_index at
// byte 56 in rdma/ib_user_mad.h). A real OpenSM has partitioned the subnet. The tests use -Y, --pkey-idx and --pkey.
// The option -Y works as in rdma-core bdf0a8fc4008 (infiniband-diags/ibdiag_common.c): all GMPs have the given index,
// and SMPs have index 0.
#include "kernel/virtual_device.hpp"
#include "program/ibtool_rig.hpp"

#include <map>
#include <set>

namespace ibtool_pkey_test {

using namespace ibtool_rig;

namespace {

/// P_Key indices that were written, by management class.
using indices_by_class = std::map<unsigned, std::set<unsigned>>;

/// Reads all writes of a 64-byte header and a MAD from the output of `strace -xx -s 72 -e trace=write`.
indices_by_class written_indices(const std::string& trace) {
    indices_by_class all;
    for (const std::string& line : lines_in_order(trace)) {
        const std::size_t begin = line.find("\"\\x");
        if (line.find("write(") == line.npos || begin == line.npos || !line.ends_with(", 320) = 320")) continue;
        const auto byte = [&](std::size_t at) {
            return std::stoul(line.substr(begin + 1 + 4 * at + 2, 2), nullptr, 16);
        };
        all[static_cast<unsigned>(byte(65))].insert(static_cast<unsigned>(byte(56) | byte(57) << 8));
    }
    return all;
}

constexpr unsigned SubnLID = 0x01, SubnAdm = 0x03, Performance = 0x04, SubnDirected = 0x81;

/// Script that starts OpenSM with two partitions at vib0, which is the only full member of the default partition. vib1
/// and all other ports are limited members of the default partition (0x7fff, index 0) and full members of Tenant
/// (0x8001, index 1).
std::string with_tenants() {
    std::string script = with_manager;
    const std::string log = "mkfifo $d/log", manager = "--qos";
    script.replace(script.find(log), log.size(),
                   log +
                       "; printf 'Default=0x7fff: ALL=limited, SELF=full;\\nTenant=0x1: ALL=full;\\n' >$d/partitions");
    script.replace(script.find(manager), manager.size(), "-P $d/partitions");
    return script + "traced() { strace -f --seccomp-bpf -xx -s 72 -e trace=write -o $d/trace $IBTOOL \"$@\" -C vib1 "
                    ">/dev/null || true; "
                    "cat $d/trace; echo =====; }\n"
                    "head -qn1 /sys/class/infiniband/vib1/ports/1/pkeys/[0-2]; echo =====\n";
}
/// Runs a script on the devices vib0 and vib1 of the partitioned subnet.
process_result in_tenants(const std::string& script) {
    return in_shell("sim:fattree2,radix=4", with_tenants() + script,
                    {"--port", "h-0001 HCA-1", "--port", "h-0002 HCA-1"});
}

} // namespace

TEST_CASE("GMPs use the P_Key index of the path record, the default partition, -Y or --pkey") {
    if (!has_devices()) return;
    // Two limited members cannot receive from each other, so the fourth command may get no reply.
    const process_result r = in_tenants("GUID=$($IBTOOL saquery -G 'h-0003 HCA-1' -C vib1)\n"
                                        "LID=$($IBTOOL saquery -l 'h-0003 HCA-1' -C vib1)\n"
                                        "traced perfquery -G $GUID\n"
                                        "traced perfquery 1\n"
                                        "traced perfquery $LID --pkey 0x8001\n"
                                        "traced perfquery -G $GUID --pkey-idx 0 -t 20 --retries 0\n"
                                        "traced perfquery \"IBPath(DLID=$LID, pkey_index=1)\" --pkey-idx 0\n"
                                        "traced ibnetdiscover --sa -Y 1\n"
                                        "traced sweep -Y 1\n"
                                        "traced ibqueryerrors -Y 0x1\n");
    INFO(r.err);
    const words printed = parts_of(r.out);
    REQUIRE(printed.size() == 9);
    CHECK(printed[0] == "0x7fff\n0x8001\n0x0000\n");
    using indices = std::set<unsigned>;
    CHECK(written_indices(printed[1]) == indices_by_class{{SubnLID, {0}}, {SubnAdm, {0}}, {Performance, {1}}});
    CHECK(written_indices(printed[2]).at(Performance) == indices{0});
    CHECK(written_indices(printed[3]).at(Performance) == indices{1});
    CHECK(written_indices(printed[4]).at(SubnAdm) == indices{0});
    CHECK(written_indices(printed[4]).at(Performance) == indices{0});
    CHECK(written_indices(printed[5]).at(Performance) == indices{1});
    CHECK(written_indices(printed[6]) == indices_by_class{{SubnAdm, {1}}});
    for (const std::string& trace : {printed[7], printed[8]}) {
        const auto written = written_indices(trace);
        CHECK(written.count(Performance) == 1);
        for (const auto& [mgmt_class, found] : written) {
            CAPTURE(mgmt_class);
            const bool is_smp = mgmt_class == SubnLID || mgmt_class == SubnDirected;
            CHECK(found == (is_smp ? indices{0} : indices{1}));
        }
    }
}

TEST_CASE("a missing P_Key is refused with a list of P_Keys, and trace and capture show the used P_Key") {
    if (!has_devices()) return;
    const process_result r = in_tenants(
        "exec 2>&1; IBTOOL=\"$IBTOOL -C vib1\"\n"
        "for choice in '--pkey 0x8002' '-Y 2' '-Y 200'; do $IBTOOL perfquery 1 $choice || echo $?; echo =====; done\n"
        "$IBTOOL perfquery 'IBPath(DLID=1, pkey=0x8002)' || echo $?; echo =====\n"
        "$IBTOOL query PerformanceGet PortCounters 1 -f portSelect=1 -dd --pkey 1 --pcap $d/tenant 2>&1 | grep -o "
        "'PKey=[0-9a-fx]*' | sort -u; "
        "echo =====\n"
        "$IBTOOL decode $d/tenant --dotted | grep -m1 '^PKey' | tr -d .; echo =====\n"
        "$IBTOOL perfquery 1 -d 2>&1 | grep PMFormat | grep -o 'PKey=[0-9a-fx]*' | sort -u; echo =====\n");
    const words printed = parts_of(r.out);
    INFO(r.out);
    REQUIRE(printed.size() == 8);
    const std::string those = "; its P_Keys: 0x7fff (index 0), 0x8001 (index 1)\n1\n";
    CHECK(printed[1] == "ibtool: cannot use --pkey 0x8002: the local port does not have P_Key 0x8002" + those);
    CHECK(printed[2] == "ibtool: cannot use -Y 2: the local port has no P_Key at index 2" + those);
    CHECK(printed[3] == "ibtool: cannot use -Y 200: the local port has no P_Key at index 200" + those);
    CHECK_THAT(printed[4], EndsWith("was not sent to LID 1: the local port does not have P_Key 0x8002" + those));
    CHECK(printed[5] == "PKey=0x8001\n");
    CHECK(printed[6] == "PKey0x8001\n"); // P_Key of the request
    CHECK(printed[7] == "PKey=0x7fff\n");
}

TEST_CASE("the options -Y and --pkey exclude each other and check their ranges") {
    const words command{"perfquery", "1", "--fabric", "sim:single,sm=1"};
    check_failure(run(command + words{"-Y", "0", "--pkey", "0xffff"}), 2, "excludes");
    check_failure(run(command + words{"-Y", "-1"}), 2, "0 to 65534");
    check_failure(run(command + words{"--pkey-idx", "65535"}), 2, "0 to 65534");
    for (const char* const none : {"0", "0x8000", "0x10000", "x"})
        check_failure(run(command + words{"--pkey", none}), 2, "must be a P_Key, 0x0001..0xffff except 0x8000");
    check_failure(run(command + words{"-Y", "1"}), 1, "no P_Key at index 1; its P_Keys: 0xffff (index 0)");
    check_success(run(command + words{"--pkey", "0x7fff"}));
    check_success(run(command + words{"-Y", "0"}));
}

} // namespace ibtool_pkey_test
