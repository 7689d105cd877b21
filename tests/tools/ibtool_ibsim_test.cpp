// SPDX-License-Identifier: MIT
// ibtool_ibsim_test.cpp - ibtool with a real ibsim: the output equals that of infiniband-diags, and ibtool always
// releases its client slot.
#include "ibsim/ibsim_server.hpp"
#include "program/ibtool_rig.hpp"
#include <comad/transports/sim/detail/topology.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/stat.h>

using namespace ibtool_rig;

namespace {

constexpr std::string_view small_fabric = R"(
switchguid=0x5000
Switch	4 "S"	# "the switch"
[1]	"A"[1]
[2]	"B"[1]

caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S"[1]

caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S"[2]
)";

/// Returns the topology file of a specification.
std::string fat_tree(const std::string& specification) {
    std::ostringstream text;
    comad::transports::sim::write_topology(text, comad::transports::sim::make_topology(specification));
    return text.str();
}

/// Returns the options that select a server as the fabric.
words at(const ibsim_server& server) { return {"--fabric", "ibsim:" + server.sockname()}; }

/// A server whose subnet is large enough to interrupt a discovery: about 11,000 round trips, one after the other.
struct large_server : ibsim_server {
    large_server() : ibsim_server(fat_tree("fattree3,radix=16"), {"-S", "400"}) {}
};
/// Returns a discovery of a server's subnet with one MAD in flight.
words long_discovery(const ibsim_server& server) { return words{"ibnetdiscover", "-o", "1"} + at(server); }

/// Returns true if clients are connected to the server.
bool has_clients(ibsim_server& server) { return !server.console("Attached").empty(); }

/// Returns true if a file exists and is not empty.
bool has_content(const std::string& file) {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(file, none_yet);
    return !none_yet && size > 0;
}

/// Returns true if the process is ibtool with a handler for SIGINT.
bool catches_signals(const process& program) {
    const std::string proc = "/proc/" + std::to_string(program.pid());
    if (!std::filesystem::equivalent(proc + "/exe", ibtool_program())) return false;
    const std::string status = read_file(proc + "/status");
    const std::size_t caught = status.find("SigCgt:");
    return caught != std::string::npos && (std::stoull(status.substr(caught + 7), nullptr, 16) >> (SIGINT - 1) & 1);
}

} // namespace

TEST_CASE("ibhosts, ibswitches and ibnodes print the lines of infiniband-diags") {
    ibsim_server server(fat_tree("fattree2,radix=8"));
    for (const char* command : {"ibhosts", "ibswitches", "ibnodes"}) {
        CAPTURE(command);
        const process_result peer = run_process({"IBSIM_SOCKNAME=" + server.sockname(), "ibsim-run", command});
        REQUIRE(peer.status == 0);
        REQUIRE_FALSE(peer.out.empty());
        const process_result ours = run(words{command} + at(server));
        check_success(ours);
        CHECK(lines_of(ours.out) == lines_of(peer.out));
    }
}

TEST_CASE("the names of the ibsim server and client come from ibsim's environment variables") {
    ibsim_server server(small_fabric);
    const process_result r = run_process(words{"IBSIM_SOCKNAME=" + server.sockname(), "SIM_HOST=B"} +
                                         ibtool({"ibnetdiscover", "--fabric", "ibsim"}));
    check_success(r);
    CHECK_THAT(r.out, Contains("# Initiated from node 000000000000b000 "));
    check_success(run({"ibhosts", "--fabric", "ibsim:" + server.sockname() + ",A"}));
}

TEST_CASE("an interrupted discovery releases its ibsim client slot") {
    large_server server;
    int interrupted = 0;
    for (int round = 0; interrupted < 12 && round < 100; ++round) { // ibsim has ten client slots
        process running(ibtool(long_discovery(server)));
        await([&] { return running.ended() || has_clients(server); });
        running.signal(round % 2 ? SIGTERM : SIGINT);
        const process_result r = running.wait(std::chrono::seconds(20));
        CAPTURE(r.err);
        // Exit status 1 means that the signal arrived before the first result.
        const bool known = r.status == 0 || r.status == 1 || r.status == 3;
        REQUIRE(known);
        if (r.status == 3) {
            ++interrupted;
            CHECK_THAT(r.err, Contains("ibtool: partial result: "));
        }
    }
    CHECK(interrupted == 12);
    CHECK_FALSE(has_clients(server));
    check_success(run(words{"ibhosts"} + at(server)));
}

TEST_CASE("a discovery can be interrupted while ibsim is frozen, and releases its slot after ibsim resumes") {
    large_server server;
    const directory files;
    process_result r;
    for (int round = 0; r.status != 3 && round < 100;
         ++round) { // does not count a discovery that ended before the signal
        const std::string trace = files / "trace";
        std::filesystem::remove(trace);
        process running(ibtool(long_discovery(server) + words{"-t", "100s", "--pcap", trace}));
        // A signal right after the connection would be too early, because a program that waits for its slot has found
        // nothing.
        await([&] { return running.ended() || has_content(trace); });
        server.stop();
        if (!running.ended()) running.signal(SIGINT);
        r = running.wait(std::chrono::seconds(20));
        server.resume();
    }
    CHECK(r.status == 3);
    await([&] { return !has_clients(server); });
    check_success(run(words{"ibhosts"} + at(server)));
}

TEST_CASE("a signal while ibtool waits for an ibsim slot harms neither ibtool nor ibsim") {
    ibsim_server server(small_fabric);
    server.stop();
    process running(ibtool(words{"ibhosts"} + at(server)));
    await([&] { return catches_signals(running); });
    running.signal(SIGINT);
    server.resume();
    const process_result r = running.wait(std::chrono::seconds(20));
    // The first replies may arrive before the program handles the signal.
    CAPTURE(r.err);
    CHECK((r.status == 1 || r.status == 3));
    CHECK_THAT(r.err, Contains(r.status == 1 ? "ibtool: stopped before the local node replied" : "partial result"));
    CHECK_FALSE(has_clients(server));
    check_success(run(words{"ibhosts"} + at(server)));
}

TEST_CASE("a command that fails releases its ibsim client slot") {
    ibsim_server server(small_fabric);
    for (int round = 0; round < 12; ++round) {
        check_failure(run({"ibhosts", "--fabric", "ibsim:" + server.sockname() + ",nobody"}), 1,
                      "has no node 'nobody'");
        check_failure(run(words{"ibnetdiscover", "/dev/full"} + at(server)), 1, "No space left");
    }
    CHECK_FALSE(has_clients(server));
    check_success(run(words{"ibhosts"} + at(server)));
}

TEST_CASE("a command with a slow reader of its output keeps no ibsim slot") {
    large_server server; // its topology is longer than the buffer of a pipe
    const directory files;
    const std::string fifo = files / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const comad::mad::unique_fd reader(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
    process slow(words{"sh", "-c", "exec \"$@\" > " + fifo, "sh", "env"} + ibtool(words{"ibnetdiscover"} + at(server)));
    pollfd first_line{reader.get(), POLLIN, 0};
    REQUIRE(::poll(&first_line, 1, 30000) == 1);
    CHECK_FALSE(has_clients(server));
    CHECK_FALSE(slow.ended());
}

TEST_CASE("an ibsim that ends during a discovery causes an error or a partial result") {
    large_server server;
    process running(ibtool(long_discovery(server) + words{"-t", "200ms", "--retries", "0"}));
    await([&] { return running.ended() || has_clients(server); });
    server.kill();
    const process_result r = running.wait(std::chrono::seconds(60));
    CAPTURE(r.err);
    CHECK((r.status == 1 || r.status == 3 || r.status == 0));
    CHECK((r.status == 0) == r.err.empty());
}
