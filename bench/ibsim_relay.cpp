// SPDX-License-Identifier: MIT
// ibsim_relay.cpp - a program that relays between clients and an ibsim server. It adds delay, loss, a small buffer, or the retries of a
// kernel, and prints what each client sent.
#include "ibsim/ibsim_relay.hpp"

#include <comad/iba/detail/json.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

namespace {

using comad::test::direction_counts;
using comad::test::relay_counts;
using nlohmann::ordered_json;

comad::test::ibsim_relay* running = nullptr;

void stop(int) { running->stop(); }
void report(int) { running->report(); }

ordered_json json_of(const direction_counts& c) {
    return {{"came", c.came}, {"lost", c.lost}, {"overflowed", c.overflowed}, {"most_held", c.most_held}};
}

ordered_json json_of(const relay_counts& c) {
    return {{"node", c.node},         {"requests", json_of(c.requests)}, {"replies", json_of(c.replies)},
            {"repeated", c.repeated}, {"given_back", c.given_back},      {"unawaited", c.unawaited}};
}

void print_line(const char* what, const ordered_json& value) {
    fmt::print("{}", comad::iba::detail::json_line({{what, value}}));
    std::fflush(stdout);
}

std::chrono::nanoseconds milliseconds(double ms) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double, std::milli>(ms));
}

} // namespace

int main(int argc, char** argv) {
    comad::test::relay_options options;
    options.server = "sim";
    options.sockname = "relay";
    double delay_ms = 0, loss = 0, service_ms = 0, kernel_timeout_ms = 0;
    CLI::App app{
        "Relays MADs between an ibsim server and its clients, and adds delay, loss and a small buffer.\n"
        "Prints a line of JSON for each client that disconnected (gone), and after SIGUSR1 one for each present\n"
        "client (now). Ends on SIGTERM or SIGINT."};
    app.add_option("--server", options.server, "base name of the server's sockets")->capture_default_str();
    app.add_option("--sockname", options.sockname, "base name of its own sockets, for IBSIM_SOCKNAME of clients")
        ->capture_default_str();
    app.add_option("--delay", delay_ms, "ms added to a round trip, half of it each way")->check(CLI::NonNegativeNumber);
    app.add_option("--loss", loss, "probability to lose a MAD, each way")->check(CLI::Range(0.0, 1.0));
    app.add_option("--seed", options.seed, "seed of the random losses")->capture_default_str();
    app.add_option("--buffer", options.buffer_places,
                   "limit of queued MADs, for all clients and both directions together; 0: no limit")
        ->capture_default_str();
    app.add_option("--service", service_ms, "service time of each MAD in ms; MADs are served one at a time")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--kernel-timeout", kernel_timeout_ms,
                   "retry requests after this time in ms, as a kernel does, and add no delay, loss or buffer")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--kernel-retries", options.kernel_retries, "number of retries before a request is returned")
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    options.request_delay = options.reply_delay = milliseconds(delay_ms / 2);
    options.request_loss = options.reply_loss = loss;
    options.service_time = milliseconds(service_ms);
    options.kernel_timeout = milliseconds(kernel_timeout_ms);
    options.on_gone = [](const relay_counts& counts) { print_line("gone", json_of(counts)); };
    options.on_report = [](const std::vector<relay_counts>& all) {
        ordered_json clients = ordered_json::array();
        for (const relay_counts& counts : all) clients.push_back(json_of(counts));
        print_line("now", clients);
    };
    try {
        comad::test::ibsim_relay relay(options);
        running = &relay;
        std::signal(SIGTERM, stop);
        std::signal(SIGINT, stop);
        std::signal(SIGUSR1, report);
        fmt::print("ready\n");
        std::fflush(stdout);
        relay.run();
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "ibsim_relay: {}\n", e.what());
        return 1;
    }
}
