// SPDX-License-Identifier: MIT
// ibtool_guest_test.cpp - ibtool compared with infiniband-diags over the kernel's own devices, in a subnet that OpenSM
// configured.
#include "guest_rig.hpp"
#include "ibsim/ibsim_programs.hpp"
#include "program/ibtool_rig.hpp"

#include <optional>

namespace ibtool_guest_test {

using namespace ibtool_rig;
using comad::test::check_same_topology;
using comad::test::port_of;
using comad::test::use_fakeib;

namespace {

/// Two ports of fakeib, and an OpenSM at the first one that runs as long as this object exists.
class subnet {
public:
    subnet() {
        use_fakeib("presets=0");
        manager_.emplace(words{"OSM_TMP_DIR=/tmp", "OSM_CACHE_DIR=/tmp", "opensm", "-g", "0x0002c90000fab000",
                               "--log_file", "stderr"});
        manager_->await_error("SUBNET UP");
        await([] { return port_of("fib1/1").portState == comad::iba::PortState::Active; });
    }

private:
    std::optional<process> manager_;
};

/// Runs the same command of infiniband-diags and of ibtool from that device. The command of infiniband-diags must
/// succeed.
struct both {
    both(const char* device, const words& command, const words& arguments_of_both) {
        const words through = device ? words{"-C", device} : words{};
        theirs = run_process(command + through + arguments_of_both);
        ours = run(command + through + arguments_of_both);
        CAPTURE(command, arguments_of_both, theirs.err, ours.err);
        CHECK(theirs.status == 0);
        CHECK(ours.status == 0);
    }
    process_result theirs, ours;
};
void compare(const char* device, const words& command, const words& arguments = {}) {
    CAPTURE(device ? device : "", command, arguments);
    const both b(device, command, arguments);
    CHECK(b.ours.out == b.theirs.out);
    CHECK_FALSE(b.ours.out.empty());
}

/// Removes what differs in each run: dates, activity counts and times.
std::string without(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += from.size()) {
        const std::size_t begin = at + from.size();
        text.erase(begin, std::min(text.find(to, begin), text.size()) - begin);
    }
    return text;
}

} // namespace

TEST_CASE("ibtool prints the output of infiniband-diags on kernel devices with a real OpenSM") {
    const subnet s;
    for (const char* device : {"fib0", "fib1"}) {
        const both topology(device, {"ibnetdiscover"}, {});
        check_same_topology(topology.ours.out, topology.theirs.out);
    }
    const both list("fib0", {"ibnetdiscover", "-l"}, {});
    CHECK(lines_of(list.ours.out) == lines_of(list.theirs.out));
    CHECK(list.ours.out.find("fakeib1") != std::string::npos);
    for (const char* operation : {"nodeinfo", "nodedesc", "portinfo", "guidinfo", "pkeys"})
        compare("fib0", {"smpquery", operation}, {"-D", "0,1"});
    for (const words& place : {words{"-D", "0"}, words{"2"}}) compare("fib0", {"smpquery", "portinfo"}, place);
    for (const char* records : {"NR", "PIR", "LR"}) compare("fib1", {"saquery", records}, {"--smkey", "1"});
    compare("fib1", {"saquery", "PR"}, {"--src-to-dst", "2:1"});
    compare("fib1", {"saquery"});
    compare("fib0", {"saquery", "NR"}, {"2"});
    const auto no_count = [](const std::string& text) { return without(text, "activity count ", " priority"); };
    for (const words& place : {words{}, words{"-D", "0,1"}}) {
        const both sminfo("fib1", {"sminfo"}, place);
        CHECK(no_count(sminfo.ours.out) == no_count(sminfo.theirs.out));
        CHECK_FALSE(sminfo.ours.out.empty());
    }
    compare("fib1", {"ibaddr"});
    compare(nullptr, {"ibstat"});
    compare(nullptr, {"ibstat", "-l"});
    compare(nullptr, {"ibstat", "-p"});
    compare(nullptr, {"ibstat", "fib1", "1"});
}

TEST_CASE("ibping of comad and of infiniband-diags interoperate over the kernel") {
    const subnet s;
    const auto without_times = [](std::string text) {
        for (const char* before : {"time ", "avg/max = "}) text = without(text, before, "\n");
        return text;
    };
    const auto pinged_by = [&](const words& client) {
        const process_result r = run_process(client + words{"-C", "fib1", "-c", "1", "1"});
        INFO(r.err);
        CHECK(r.status == 0);
        return without_times(r.out);
    };
    const words theirs{"ibping"}, ours = ibtool({"ibping"});
    std::vector<std::string> printed;
    for (const words& server : {theirs, ours}) {
        process serving(server + words{"-S", "-C", "fib0"});
        // It replies as soon as it is registered. Until then the kernel rejects the request.
        await([&] { return run_process(ours + words{"-C", "fib1", "-c", "1", "1"}).status == 0; });
        for (const words& client : {theirs, ours}) printed.push_back(pinged_by(client));
    }
    CHECK(printed == std::vector<std::string>(4, printed[0]));
    CHECK_THAT(printed[0], Contains("1 packets transmitted, 1 received, 0% packet loss"));
}

TEST_CASE("ibtool reports what an unsuitable device lacks") {
    check_failure(run({"smpquery", "nodeinfo", "1", "-C", "rxe0"}), 1, "link layer");
    check_failure(run({"ibhosts", "-C", "mlx5_0"}), 1, "mlx5_0");
    const subnet s;
    // If no reply is late, --umad-timeout and --descriptors have no visible effect.
    const process_result plain = run({"smpquery", "nodeinfo", "2", "-C", "fib0"});
    check_success(plain);
    for (const words& with :
         {words{"--umad-timeout", "attempt", "--descriptors", "3"}, words{"--umad-timeout", "operation"}}) {
        const process_result r = run(words{"smpquery", "nodeinfo", "2", "-C", "fib0"} + with);
        check_success(r);
        CHECK(r.out == plain.out);
    }
}

} // namespace ibtool_guest_test
