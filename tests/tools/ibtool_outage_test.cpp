// SPDX-License-Identifier: MIT
// ibtool_outage_test.cpp - commands whose ibsim ends and starts again. Long-running commands continue and report what
// they missed, and other commands end with a message.
#include "program/ibtool_subnet.hpp"
#include "program/on_terminal.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <httplib.h>

using namespace ibtool_rig;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// Returns the JSON objects of the complete lines that a program has written so far.
std::vector<json> objects_so_far(const process& p) {
    const std::string text = p.output();
    return objects_of(text.substr(0, text.rfind('\n') + 1));
}
/// Counts the JSON objects so far that have this member.
std::size_t count_of(const process& p, const std::string& member) {
    const auto all = objects_so_far(p);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const json& o) { return o.contains(member); }));
}
/// Counts how often a text contains `words`.
std::size_t count_in(const std::string& text, const std::string& words) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++n;
    return n;
}

/// Checks the messages of a program that lost its server once: one message about the loss, one about the return, and no
/// message about a failed RPC.
void check_outage_lines(const std::string& err, const subnet& s, const std::string& missed) {
    const std::string server = "ibsim server '" + s.fabric().substr(6) + "'";
    CAPTURE(err);
    CHECK(count_in(err, "ibtool: " + server + " disconnected: Connection refused; retrying at least every 10 s\n") ==
          1);
    CHECK(count_in(err, "ibtool: " + server + " is open again after ") == 1);
    CHECK_THAT(err, Contains(missed) && !Contains("could not be sent") && !Contains("lost its transport"));
}

} // namespace

TEST_CASE("sweeps resume after an ibsim restart and report the missed sweeps") {
    subnet s(quiet_topology, manager::leaves);
    process sweep(ibtool({"sweep", "--every", "200ms", "--json", "-v", "--fabric", s.fabric()}));
    await([&] { return count_of(sweep, "complete") >= 3; });
    s.kill();
    sweep.await_error(" is still disconnected: no ibsim server at "); // the outage is longer than a period
    s.start();
    sweep.await_error(" is open again after ");
    await([&] {
        const auto all = objects_so_far(sweep);
        return !all.empty() && count_of(sweep, "opened_again") == 1 && all.back().contains("counters");
    });
    sweep.signal(SIGINT);
    const process_result r = sweep.wait();
    CHECK(r.status == 3);

    // The two records of the outage are between complete sweeps with consecutive numbers.
    double before = 0, after = 0, away = 0;
    int number = 0, missed = -1;
    std::vector<std::string> order;
    for (const json& o : objects_of(r.out)) {
        CHECK_FALSE(o.contains("missing"));
        if (o.contains("lost")) {
            CHECK(o.at("lost") == "ibsim server '" + s.fabric().substr(6) + "'");
            CHECK(o.at("why") == "Connection refused");
            order.push_back("lost");
        } else if (o.contains("opened_again")) {
            away = o.at("lost_seconds").get<double>();
            CHECK(away > 0.09);
            missed = o.at("missed_sweeps").get<int>();
            order.push_back("back");
        } else if (o.contains("schema")) {
            CHECK(o.at("complete") == true);
            CHECK(o.at("sweep") == ++number);
            if (missed < 0) before = o.at("seconds").get<double>();
            else if (after == 0) after = o.at("seconds").get<double>();
        }
    }
    CHECK(order == std::vector<std::string>{"lost", "back"});
    // Counts the sweeps that were due during the outage. The upper bound includes further periods, because the
    // rediscovery also takes time.
    const int between = static_cast<int>(std::floor(after / 0.2 + 0.01) - std::floor(before / 0.2 + 0.01)) - 1;
    CHECK(missed > 0);
    CHECK(missed >= static_cast<int>(std::floor(away / 0.2 - 0.01)));
    CHECK(missed <= between);
    check_outage_lines(r.err, s, fmt::format("; missed {} sweep", missed));
}

TEST_CASE("sweep --watch shows an outage in its last line, and on stderr after it leaves the screen") {
    subnet s(quiet_topology, manager::leaves);
    on_terminal screen(ibtool({"sweep", "--watch", "--every", "200ms", "--fabric", s.fabric()}), 200, 24);
    screen.await("# sweep 2 at ");
    s.kill();
    screen.await("\nibsim server '");
    screen.await(" disconnected: ");
    s.start();
    screen.await("' is open again after ");
    screen.await("\033[H# sweep ");
    screen.press("q");
    const process_result r = screen.wait();
    CHECK((r.status == 0 || r.status == 3)); // 3 if a sweep was missed
    CHECK_THAT(r.out, Contains("\nibtool: ibsim server '") && Contains("' disconnected: ") &&
                          Contains(" is open again after "));
}

TEST_CASE("a signal ends a command at once while it waits for ibsim to return") {
    const int number = GENERATE(SIGINT, SIGTERM);
    const auto command =
        GENERATE(words{"sweep", "--every", "100ms", "--json"}, words{"sweep", "--count", "1000000"},
                 words{"ibswportwatch", "-p", "100ms", "1", "1"}, words{"ibping", "-f", "-t", "20", "1"});
    CAPTURE(command);
    subnet s(quiet_topology, manager::leaves);
    process running(ibtool(command + words{"--fabric", s.fabric(), "-v"}));
    await([&] { return !running.output().empty() || !running.errors().empty(); });
    s.kill();
    running.await_error("' disconnected: ");
    running.await_error(" is still disconnected: no ibsim server at "); // ibtool has tried to reconnect
    running.signal(number);
    const process_result r = running.wait(20s);
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains(" MADs sent, ") && !Contains("is open again"));
    if (command[0] == "ibswportwatch") CHECK_THAT(r.out, Contains("\n## Summary: "));
    if (command[0] == "ibping") CHECK_THAT(r.out, Contains(" ibping statistics ---\n"));
}

TEST_CASE("an exporter keeps its metrics page during an ibsim outage and reports the outage on its health page") {
    subnet s(quiet_topology, manager::leaves);
    process sweep(ibtool({"sweep", "--listen", "127.0.0.1:0", "--every", "200ms", "--fabric", s.fabric()}));
    sweep.await_error("/metrics, reachable only from this machine\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    const auto health = [&] { return json::parse(client.Get("/health")->body); };
    await([&] { return health().at("status") == "ok"; });
    s.kill();
    sweep.await_error("' disconnected: ");
    // The series about the exporter itself may change.
    const auto counters = [&] {
        const auto answer = client.Get("/metrics");
        CHECK(answer->status == 200);
        std::string kept;
        for (const std::string& line : lines_in_order(answer->body))
            if (!line.starts_with("infiniband_device_up") && !line.starts_with("process_")) kept += line + '\n';
        return kept;
    };
    await([&] { return client.Get("/metrics")->body.find("infiniband_device_up 0\n") != std::string::npos; });
    const std::string page = counters();
    CHECK_THAT(page, Contains("infiniband_sweep_complete 1\n"));
    CHECK(client.Get("/health")->status == 503);
    CHECK(health().at("status") == "lost");
    CHECK(health().at("gaps") == 0); // failures of the last sweep
    await([&] { return health().at("lost").get<std::string>().find("no ibsim server at") != std::string::npos; });
    CHECK_THAT(health().at("lost").get<std::string>(), StartsWith("ibsim server '"));
    CHECK(counters() == page);
    s.start();
    await([&] { return client.Get("/health")->status == 200; });
    CHECK(health().at("status") == "ok");
    CHECK_FALSE(health().contains("lost"));
    await([&] { return counters() != page; }); // health is ok before the next sweep has ended
    CHECK_THAT(client.Get("/metrics")->body, Contains("infiniband_device_up 1\n"));
    CHECK_THAT(client.Get("/metrics")->body, !Contains("infiniband_sweeps_skipped_total 0\n"));
    sweep.signal(SIGTERM);
    const process_result r = sweep.wait();
    CHECK(r.status == 3);
    check_outage_lines(r.err, s, "; missed ");
}

TEST_CASE("an exporter continues with one fabric during an ibsim outage of another fabric") {
    subnet s(quiet_topology, manager::leaves);
    process sweep(ibtool({"sweep", "--listen", "127.0.0.1:0", "--every", "100ms", "--fabric", s.fabric(), "--fabric",
                          "sim:single,sm=1"}));
    sweep.await_error("/metrics, reachable only from this machine\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    const auto health = [&] { return json::parse(client.Get("/health")->body); };
    await([&] { return health().at("status") == "ok"; });
    s.kill();
    await([&] { return health().at("fabrics").at(0).at("status") == "lost"; });
    CHECK(health().at("status") == "lost");
    const auto sweeps = [&] { return health().at("fabrics").at(1).at("sweep").get<int>(); };
    const int then = sweeps();
    await([&] { return sweeps() > then + 3; });
    s.start();
    await([&] { return health().at("status") == "ok"; });
    sweep.signal(SIGTERM);
    const process_result r = sweep.wait();
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("' disconnected: ") && Contains(" is open again after "));
}

TEST_CASE("an exporter refuses a scrape that needs a sweep during an ibsim outage") {
    subnet s(quiet_topology, manager::leaves);
    process sweep(ibtool({"sweep", "--listen", "127.0.0.1:0", "--on-scrape", "--fabric", s.fabric()}));
    sweep.await_error("/metrics, reachable only from this machine\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    await([&] { return client.Get("/metrics")->status == 200; });
    s.kill();
    const auto refused = client.Get("/metrics"); // this scrape detects the outage
    REQUIRE(refused);
    CHECK(refused->status == 503);
    CHECK_THAT(refused->body, StartsWith("disconnected: ibsim server '") && EndsWith("\n"));
    s.start();
    sweep.await_error(" is open again after ");
    CHECK(client.Get("/metrics")->status == 200);
    sweep.signal(SIGTERM);
    CHECK(sweep.wait().status == 3);
}

TEST_CASE("ibswportwatch continues at its port after a restart with cleared counters") {
    counted_subnet s;
    s.set("\"S1\"[1]", "PortCounters.SymbolErrorCounter", 7);
    process watch(ibtool({"ibswportwatch", "-v", "--json", "-p", "200ms", s.lid_at("0"), "1", "--fabric", s.fabric()}));
    await([&] { return count_of(watch, "changes") >= 2; });
    s.kill();
    watch.await_error(" is still disconnected: no ibsim server at "); // the outage is longer than a period
    s.start();
    await([&] { return count_of(watch, "opened_again") == 1; });
    const std::size_t then = count_of(watch, "changes");
    await([&] { return count_of(watch, "changes") >= then + 2; });
    watch.signal(SIGINT);
    const process_result r = watch.wait();
    CHECK(r.status == 3);
    const auto all = objects_of(r.out);
    const auto lost = std::find_if(all.begin(), all.end(), [](const json& o) { return o.contains("lost"); });
    REQUIRE(lost != all.end());
    CHECK(all.front().at("counters").at("symbolErrorCounter") == 7);
    CHECK(std::prev(lost)->at("counters").at("symbolErrorCounter") == 7);
    const json& back = *std::next(lost);
    CHECK(back.at("opened_again") == lost->at("lost"));
    CHECK(back.at("missed_readings").get<int>() > 0);
    CHECK(std::next(lost, 2)->at("counters").at("symbolErrorCounter") == 0);
    CHECK(all.back().contains("totals"));
    check_outage_lines(r.err, s, fmt::format("; missed {} reading", back.at("missed_readings").get<int>()));
}

TEST_CASE("ibping continues after ibsim returns") {
    subnet s(quiet_topology, manager::leaves);
    process ping(ibtool({"ibping", "-d", "-t", "20", "--retries", "0", s.lid_at("0,1"), "--fabric", s.fabric()}));
    ping.await_error("ibtool: "); // no ping server runs on the target
    s.kill();
    ping.await_error("' disconnected: ");
    s.start();
    ping.await_error(" is open again after ");
    const auto pings = [&] { return count_in(ping.errors(), "D: RPC MAD_METHOD_GET(1) VendOUI"); };
    const std::size_t before = pings();
    await([&] { return ping.ended() || pings() > before; });
    ping.signal(SIGINT);
    const process_result r = ping.wait();
    CHECK(r.status == 3);
    CHECK_THAT(r.out, Contains(" 0 received, 100% packet loss"));
    check_outage_lines(r.err, s, " pings were not sent");
}

TEST_CASE("long-running commands wait for an ibsim that is not ready, and a signal ends the wait") {
    const auto command =
        GENERATE(words{"sweep", "--every", "1s"}, words{"sweep", "--count", "3"}, words{"watch"}, words{"ibping", "1"},
                 words{"ibping", "-S"}, words{"ibsysstat", "-S"}, words{"ibswportwatch", "1", "1"});
    CAPTURE(command);
    process waiting(ibtool(command + words{"--fabric", "ibsim:comad-test-nobody-serves-this", "-v"}));
    waiting.await_error("ibtool: waiting for ibsim:comad-test-nobody-serves-this: no ibsim server at ");
    waiting.signal(SIGTERM);
    const process_result r = waiting.wait(20s);
    CHECK((r.status == 0 || r.status == 3)); // 0: a server has replied to all its requests
    CHECK_THAT(r.err, Contains("; retrying at least every 10 s\n") && !Contains("is open"));
}

TEST_CASE("commands that end by themselves fail at once without ibsim, and permanent errors always fail") {
    const words no_server{"--fabric", "ibsim:comad-test-nobody-serves-this"};
    for (const words& command : {words{"sweep"}, words{"ibping", "-c", "1", "1"}, words{"ibnetdiscover"}})
        check_failure(run(command + no_server), 1, "no ibsim server at");
    for (const words& command : {words{"sweep", "--every", "1s"}, words{"watch"}, words{"ibping", "-S"}}) {
        check_failure(run(command + words{"--fabric", "nonsense"}), 2, "invalid fabric 'nonsense'");
        check_failure(run(command + words{"--fabric", "sim:/no/such/file"}), 1, "/no/such/file");
    }
}

TEST_CASE("an exporter that starts before ibsim reports the state lost and sweeps after ibsim starts") {
    subnet s(quiet_topology, manager::leaves);
    s.kill();
    process sweep(ibtool({"sweep", "--listen", "127.0.0.1:0", "--every", "200ms", "--json", "--fabric", s.fabric()}));
    sweep.await_error("/metrics, reachable only from this machine\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    const auto health = [&] { return json::parse(client.Get("/health")->body); };
    await([&] { return health().at("status") == "lost"; });
    CHECK(client.Get("/health")->status == 503);
    CHECK_THAT(health().at("lost").get<std::string>(), Contains("no ibsim server at"));
    const auto refused = client.Get("/metrics");
    CHECK(refused->status == 503);
    CHECK_THAT(refused->body, StartsWith("disconnected: ") && Contains("no ibsim server at"));
    s.start();
    sweep.await_error(" is open after ");
    await([&] { return client.Get("/health")->status == 200; });
    CHECK_THAT(client.Get("/metrics")->body,
               Contains("infiniband_device_up 1\n") && Contains("infiniband_sweep_complete 1\n"));
    CHECK(count_of(sweep, "opened_again") == 1);
    sweep.signal(SIGTERM);
    const process_result r = sweep.wait();
    CHECK((r.status == 0 || r.status == 3));
    CHECK_THAT(r.err, !Contains("missed"));
}

TEST_CASE("messages name a simulated fabric by its text, because it has no device") {
    const std::string fabric = "sim:single,sm=1";
    process sweep(ibtool({"sweep", "--width", "12x", "--every", "100ms", "--fabric", fabric}));
    sweep.await_error("ibtool: waiting for " + fabric + ": no ports to sweep: ");
    sweep.signal(SIGTERM);
    sweep.wait();

    const std::string dead = fabric + ",kill=h-0001 HCA-1@0s";
    process watch(ibtool({"watch", "--fabric", dead, "-t", "20", "--retries", "0", "--no-subscription"}));
    watch.await_error("ibtool: waiting for " + dead + ": the local port does not reply");
    watch.signal(SIGTERM);
    watch.wait();
}

TEST_CASE("an exporter whose local SMA is unresponsive waits in the state lost") {
    // The simulator stops the SMA of the local node. The time of its return is relative to the start of the simulation.
    const words dead{"--fabric",  "sim:fattree2,radix=4,sm=1,kill=h-0001 HCA-1@0s,revive=h-0001 HCA-1@3s",
                     "-t",        "20",
                     "--retries", "0"};
    process sweep(ibtool(words{"sweep", "--listen", "127.0.0.1:0", "--every", "200ms"} + dead));
    sweep.await_error("/metrics, reachable only from this machine\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    sweep.await_error("the local port does not reply");
    const json health = json::parse(client.Get("/health")->body);
    CHECK(health.at("status") == "lost");
    CHECK_THAT(health.at("lost").get<std::string>(), Contains("the local port does not reply"));
    await([&] { return client.Get("/health")->status == 200; });
    sweep.signal(SIGTERM);
    const process_result r = sweep.wait();
    CHECK((r.status == 0 || r.status == 3));

    process watch(ibtool(words{"watch", "--polls", "1", "--every", "100ms", "--no-subscription"} + dead));
    watch.await_error("the local port does not reply");
    watch.await_error("watching ");
    CHECK(watch.wait().status <= 3);
}

TEST_CASE("a command that runs once and loses ibsim prints its partial result and one line") {
    // The subnet has some hundred nodes. The discovery is so slow that the server ends first.
    const directory files;
    const process_result made = run({"ibnetdiscover", "--fabric", "sim:fattree3,radix=8,sm=1,time=virtual"});
    check_success(made);
    const auto command = GENERATE(words{"ibnetdiscover"}, words{"iblinkinfo"}, words{"sweep"}, words{"ibqueryerrors"},
                                  words{"ibcheckstate"});
    CAPTURE(command);
    ibsim_server server(made.out);
    process once(ibtool(command + words{"--debug", "--max-rate", "400", "--fabric", "ibsim:" + server.sockname()}));
    await([&] { return count_in(once.errors(), "completed to") > 40; });
    server.kill();
    const process_result r = once.wait();
    CHECK(r.status == 3);
    CHECK_FALSE(r.out.empty());
    const std::string why = "ibtool: ibsim server '" + server.sockname() + "' disconnected: Connection refused; ";
    CHECK(count_in(r.err, why) == 1);
    CHECK(count_in(r.err, " replies are missing\n") == 1);
    CHECK(count_in(r.err, "ibtool: ") - count_in(r.err, "ibtool: partial result: ") == 1);
}
