// SPDX-License-Identifier: MIT
// ibping_test.cpp - ibping and ibsysstat on simulated subnets: text as in ibping.c and ibsysstat.c of infiniband-diags,
// numbers checked by hand, signals and servers.
#include "library/diags_mads.hpp"
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <regex>
#include <sstream>

using namespace ibtool_rig;
using comad::test::diags_mad;
using comad::test::mad_vector;

namespace {

// Hosts have the LIDs from 1 on, and switches have the LIDs after them. No port has LID 4000.
const std::string subnet = "sim:fattree2,radix=4,sm=1";
const std::string virtual_subnet = subnet + ",time=virtual";

/// Runs ibtool on a fabric.
process_result on(const std::string& fabric, const words& arguments) {
    return run(words{"--fabric", fabric} + arguments);
}
/// Returns true if the whole text matches a regular expression.
bool matches(const std::string& text, const std::string& pattern) {
    INFO("text: " << text);
    return std::regex_match(text, std::regex(pattern));
}

} // namespace

TEST_CASE("ibping prints one line per reply and the statistics, as infiniband-diags' ibping does") {
    const auto r = on(virtual_subnet, {"ibping", "-c", "3", "8"});
    check_success(r);
    // The simulated times are exact. A route of four cables takes 1 us per cable in each direction and 4 us in the
    // host. There are two pauses of 1 s between the pings.
    CHECK(r.out == "Pong from h-0008 HCA-1 (Lid 8): time 0.012 ms\n"
                   "Pong from h-0008 HCA-1 (Lid 8): time 0.012 ms\n"
                   "Pong from h-0008 HCA-1 (Lid 8): time 0.012 ms\n"
                   "\n"
                   "--- h-0008 HCA-1 (Lid 8) ibping statistics ---\n"
                   "3 packets transmitted, 3 received, 0% packet loss, time 2000 ms\n"
                   "rtt min/avg/max = 0.012/0.012/0.012 ms\n");
}

TEST_CASE("ibping without any reply prints no times and exits with 3") {
    const auto r = on(virtual_subnet, {"ibping", "-c", "3", "4000", "-t", "100", "--retries", "1"});
    CHECK(r.status == 3);
    // Three pings with two attempts of 0.1 s each, and two pauses of 1 s.
    CHECK(matches(r.out, "\n---  \\(Lid 4000\\) ibping statistics ---\n"
                         "3 packets transmitted, 0 received, 100% packet loss, time 26[0-2][0-9] ms\n"
                         "rtt min/avg/max = 0.000/0.000/0.000 ms\n"));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 3);
    CHECK_THAT(r.err, StartsWith("ibtool: LID 4000 did not reply to the ping (2 attempts, 0.2 s)\n"));

    const auto none = on(virtual_subnet, {"ibping", "-c", "0", "8"});
    check_success(none);
    CHECK_THAT(none.out, Contains("\n0 packets transmitted, 0 received, 0% packet loss, time 0 ms\n"));
    const auto as_json = on(virtual_subnet, {"ibping", "-c", "1", "4000", "-t", "100", "--retries", "0", "--json"});
    CHECK(as_json.status == 3);
    auto last = nlohmann::json::parse(as_json.out);
    CHECK(last["seconds"].get<double>() == Approx(0.1).margin(0.005));
    last.erase("seconds");
    const auto wanted = R"({"LID":4000,"host":null,"transmitted":1,"received":0,"lost":1,"round_trip_seconds":null})";
    CHECK(last == nlohmann::json::parse(wanted));
}

TEST_CASE("ibping counts lost pings among the pings without a reply") {
    const auto r = on(virtual_subnet + ",loss=0.2", {"ibping", "-f", "-c", "200", "8", "--retries", "0", "--json"});
    CHECK(r.status == 3);
    std::size_t answers = 0;
    nlohmann::json last;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) {
        last = nlohmann::json::parse(line);
        answers += last.contains("seq");
    }
    const std::size_t lost = static_cast<std::size_t>(std::count(r.err.begin(), r.err.end(), '\n'));
    CHECK(last["transmitted"] == 200);
    CHECK(last["received"] == answers);
    CHECK(last["lost"] == lost);
    CHECK(answers + lost == 200);
    CHECK(lost > 20); // expected: 72, which is 36 % of 200
    CHECK(lost < 140);
}

TEST_CASE("ibping -f does not wait between pings and prints only the statistics") {
    const auto r = on(virtual_subnet, {"ibping", "-f", "-c", "1000", "8", "-v"});
    CHECK(r.status == 0);
    CHECK(r.out == "\n--- h-0008 HCA-1 (Lid 8) ibping statistics ---\n"
                   "1000 packets transmitted, 1000 received, 0% packet loss, time 12 ms\n"
                   "rtt min/avg/max = 0.012/0.012/0.012 ms\n");
    CHECK_THAT(r.err, StartsWith("1000 MADs sent, 0 retries, 0 timeouts, "));
}

TEST_CASE("ibping sends the MADs that infiniband-diags' ibping sends") {
    const directory files;
    check_success(on(virtual_subnet, {"ibping", "-c", "1", "8", "--pcap", files / "ping.pcap"}));
    const std::string packets = read_file(files / "ping.pcap");
    mad_vector wanted = diags_mad("ping_request");
    const std::string begin(wanted.begin(), wanted.begin() + 4);
    const std::size_t at = packets.find(begin);
    REQUIRE(at != std::string::npos);
    mad_vector sent(packets.begin() + static_cast<std::ptrdiff_t>(at),
                    packets.begin() + static_cast<std::ptrdiff_t>(at + 256));
    std::copy_n(sent.begin() + 8, 8, wanted.begin() + 8); // copies the transaction ID
    CHECK(sent == wanted);
}

TEST_CASE("ibping accepts LIDs, GUIDs and GIDs, and refuses directed routes and a missing target") {
    for (const words& target : {words{"8"}, words{"0x8"}, words{"-L", "8"}, words{"-G", "0x0002c90300000801"},
                                words{"0002:c903:0000:0801"}, words{"fe80::2:c903:0:801"}}) {
        CAPTURE(target);
        const auto r = on(virtual_subnet, words{"ibping", "-c", "1"} + target);
        check_success(r);
        CHECK_THAT(r.out, StartsWith("Pong from h-0008 HCA-1 (Lid 8): "));
    }
    check_failure(on(subnet, {"ibping", "-c", "1", "0,1"}), 2, "vendor MADs cannot use directed routes");
    check_failure(on(subnet, {"ibsysstat", "-D", "0,1"}), 2, "vendor MADs cannot use directed routes");
    check_failure(on(subnet, {"ibping"}), 2, "no target given");
    check_failure(on(subnet, {"ibping", "-o", "0x1000000", "8"}), 2, "the OUI must be ");
    check_failure(on(virtual_subnet, {"ibping", "8"}), 2, "give a count");
}

TEST_CASE("ibping counts an error reply as a ping without a reply") {
    const auto r = on(virtual_subnet, {"ibping", "-c", "1", "-o", "0x123456", "8"});
    CHECK(r.status == 3);
    CHECK_THAT(r.out, Contains("1 packets transmitted, 0 received, 100% packet loss"));
    CHECK_THAT(r.err, StartsWith("ibtool: LID 8 refused the ping: method not supported (status 0x8)\n"));
}

TEST_CASE("ibping prints its statistics after a signal") {
    const int number = GENERATE(SIGINT, SIGTERM);
    // -d prints the line of a ping as soon as its reply arrives.
    process flood(ibtool({"--fabric", subnet, "-d", "ibping", "8"}));
    flood.await_error("completed to");
    flood.signal(number);
    const auto r = flood.wait();
    CHECK(r.status == 0);
    CHECK(matches(r.out, "Pong from h-0008 HCA-1 \\(Lid 8\\): time [0-9.]+ ms\n"
                         "\n--- h-0008 HCA-1 \\(Lid 8\\) ibping statistics ---\n"
                         "1 packets transmitted, 1 received, 0% packet loss, time [0-9]+ ms\n"
                         "rtt min/avg/max = [0-9./]+ ms\n"));
}

TEST_CASE("ibping reports a loss of 100 % if a signal arrives before the first reply") {
    process silent(ibtool({"--fabric", subnet, "-d", "-t", "20", "--retries", "255", "ibping", "4000"}));
    silent.await_error("retry to");
    silent.signal(SIGINT);
    const auto r = silent.wait();
    CHECK(r.status == 3);
    CHECK_THAT(r.out, StartsWith("\n---  (Lid 4000) ibping statistics ---\n"
                                 "1 packets transmitted, 0 received, 100% packet loss, time "));
    CHECK_THAT(r.err, Contains("\nibtool: ended before a reply was received\n"));
}

TEST_CASE("ibping --all prints the slowest hosts first and names the hosts that do not reply") {
    const std::string fabric = virtual_subnet + ",slow=h-0007 HCA-1:2ms,slow=h-0005 HCA-1:1ms,dead=h-0003 HCA-1";
    const auto r = on(fabric, {"ibping", "--all", "-t", "100"});
    CHECK(r.status == 3);
    CHECK(r.err == "ibtool: LID 3 \"h-0003 HCA-1\": no reply to the ping\n");
    const words lines = lines_in_order(r.out);
    REQUIRE(lines.size() == 2 + 7); // 8 hosts without the local one
    CHECK_THAT(lines[0], StartsWith("# 7 hosts: 6 replied, 1 did not; rtt min/avg/max = "));
    CHECK(matches(lines[2], "h-0003 HCA-1 +3 +1 +1 +- +- +-"));
    // A reply takes 1 us for each of four cables in each direction, and 4 us in the host or the time of a slow host.
    CHECK(matches(lines[3], "h-0007 HCA-1 +7 +3 +0 +2\\.008 +2\\.008 +2\\.008"));
    CHECK(matches(lines[4], "h-0005 HCA-1 +5 +3 +0 +1\\.008 +1\\.008 +1\\.008"));
    CHECK(matches(lines[8], "h-0002 HCA-1 +2 +3 +0 +0\\.008 +0\\.008 +0\\.008")); // on the same leaf
    CHECK(lines_in_order(on(fabric, {"ibping", "--all", "-t", "100", "--top", "3"}).out) ==
          words(lines.begin(), lines.begin() + 5));

    const auto as_json = on(fabric, {"ibping", "--all", "-t", "100", "-c", "2", "--json"});
    words objects = lines_in_order(as_json.out);
    REQUIRE(objects.size() == 7);
    const auto dead = nlohmann::json::parse(objects[0]), slow = nlohmann::json::parse(objects[1]);
    CHECK(dead["host"] == "h-0003 HCA-1");
    CHECK(dead["lost"] == 1);
    CHECK(dead["round_trip_seconds"].is_null());
    CHECK(slow["host"] == "h-0007 HCA-1");
    CHECK(slow["received"] == 2);
    CHECK(slow["round_trip_seconds"]["min"].get<double>() == Approx(0.002008));

    // Without an SA, the hosts are discovered. Without LIDs, none of them can be pinged.
    const auto none = on("sim:fattree2,radix=4,time=virtual", {"ibping", "--all"});
    CHECK_THAT(none.out, StartsWith("# 0 hosts"));
    CHECK(none.status == 3);
    CHECK_THAT(none.err, StartsWith("ibtool: 7 ports: not pinged: the port has no LID; first: h-0002 HCA-1 port 1\n"));
    check_failure(on(fabric, {"ibping", "--all", "8"}), 2, "remove the target");
    check_failure(on(fabric, {"ibping", "--all", "-c", "0"}), 2, "at least one ping");
    check_failure(on(fabric, {"ibping", "--top", "3", "8"}), 2, "--top");
}

TEST_CASE("ibping --all measures hosts that refuse the ping because they have no server") {
    const auto r = on(virtual_subnet, {"ibping", "--all", "-o", "0x123456", "--json"});
    check_success(r);
    for (const std::string& line : lines_in_order(r.out)) {
        const auto host = nlohmann::json::parse(line);
        CHECK(host["refused"] == 3);
        CHECK(host["received"] == 3);
        CHECK(host["lost"] == 0);
    }
    CHECK_THAT(on(virtual_subnet, {"ibping", "--all", "-o", "0x123456"}).out, Contains("; 7 without a ping server\n"));
}

TEST_CASE("ibping escapes control characters in the name of a host") {
    const directory files;
    const std::string topology = "switchguid=0x10(10)\n"
                                 "Switch\t2 \"S-0000000000000010\"\t\t# \"sw\" base port 0 lid 9 lmc 0\n"
                                 "[1]\t\"H-0000000000000020\"[1](21) \t\t# \"a\" lid 1 4xSDR\n"
                                 "[2]\t\"H-0000000000000030\"[1](31) \t\t# \"b\" lid 2 4xSDR\n\n"
                                 "caguid=0x20\nCa\t1 \"H-0000000000000020\"\t\t# \"a\"\n"
                                 "[1](21) \t\"S-0000000000000010\"[1]\t\t# lid 1 lmc 0 \"sw\" lid 9 4xSDR\n\n"
                                 "caguid=0x30\nCa\t1 \"H-0000000000000030\"\t\t# \"b\033[2J\"\n"
                                 "[1](31) \t\"S-0000000000000010\"[2]\t\t# lid 2 lmc 0 \"sw\" lid 9 4xSDR\n";
    const std::string fabric = "sim:" + files.write("evil.topo", topology) + ",time=virtual,sm=1,at=a";
    for (const words& command : {words{"ibping", "-c", "1", "-G", "0x31"}, words{"ibsysstat", "-G", "0x31", "host"}}) {
        const auto r = on(fabric, command);
        check_success(r);
        CHECK_THAT(r.out, Contains("b\\x1b[2J") || Contains("b\\x1B[2J"));
        CHECK(r.out.find('\033') == std::string::npos);
    }
}

TEST_CASE("ibsysstat prints what infiniband-diags' ibsysstat prints") {
    const auto ping = on(virtual_subnet, {"ibsysstat", "8"});
    check_success(ping);
    CHECK(ping.out == "sysstat ping succeeded\n");
    CHECK(on(virtual_subnet, {"ibsysstat", "8", "ping"}).out == ping.out);
    CHECK(on(virtual_subnet, {"ibsysstat", "8", "host"}).out == "h-0008 HCA-1\n");
    CHECK(on(virtual_subnet, {"ibsysstat", "8", "cpu"}).out == "cpu 0: model simulated MHZ 0\n\n");
    CHECK(on(virtual_subnet, {"ibsysstat", "8", "--json"}).out == R"({"schema":"comad.sysstat/1","LID":8,"ping":true})"
                                                                  "\n");
    CHECK(on(virtual_subnet, {"ibsysstat", "8", "host", "--json"}).out ==
          R"({"schema":"comad.sysstat/1","LID":8,"host":"h-0008 HCA-1"})"
          "\n");
    CHECK_THAT(on(virtual_subnet, {"ibsysstat", "8", "cpi"}).out, StartsWith("BaseVersion......................1\n"));
    CHECK_THAT(on(virtual_subnet, {"ibsysstat", "8", "cpi", "--json"}).out,
               StartsWith("{\"baseVersion\":1,\"classVersion\":1,"));
    check_failure(on(virtual_subnet, {"ibsysstat", "8", "disk"}), 2, "disk");
    check_failure(on(virtual_subnet, {"ibsysstat", "-t", "10", "4000"}), 1, "LID 4000 did not reply");
    check_failure(on(virtual_subnet, {"ibsysstat", "-o", "1", "8"}), 1, "(status 0x8)");
}

TEST_CASE("ibping and ibsysstat servers run until a signal, and print nothing by default") {
    const auto* command = GENERATE("ibping", "ibsysstat");
    const int number = GENERATE(SIGINT, SIGTERM);
    process server(ibtool({"--fabric", subnet, command, "-S", "-v"}));
    server.await_error("serving at LID 1\n");
    CHECK_FALSE(server.ended());
    server.signal(number);
    const auto r = server.wait();
    CHECK(r.status == 0);
    CHECK(r.out.empty());
    CHECK(r.err == "serving at LID 1\n0 requests, 0 replies, 0 replies not sent\n");

    check_failure(on(subnet, {command, "-S", "8"}), 2, "-S (server mode) takes no target");
    check_failure(on(virtual_subnet, {command, "-S"}), 2, "-S needs real time");
}
