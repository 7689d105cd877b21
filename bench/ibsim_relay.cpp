// SPDX-License-Identifier: MIT
// ibsim_relay.cpp - a relay with delay and loss in front of an ibsim server, as a program; says what each client sent.
#include "../tests/ibsim_relay.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

namespace {

comad::test::ibsim_relay* running = nullptr;

void stop(int) { running->stop(); }

void say_gone(const comad::test::relay_counts& c) {
    fmt::print("client: {} requests, {} replies, {} and {} of them lost\n", c.requests, c.replies, c.lost_requests,
               c.lost_replies);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    comad::test::relay_options options{.server = "sim", .sockname = "relay", .on_gone = say_gone};
    double delay_ms = 0, loss = 0;
    CLI::App app{"Stands between an ibsim server and its clients, and adds delay and loss to their MADs.\n"
                 "A line for each client that has gone; ends by SIGTERM or SIGINT."};
    app.add_option("--server", options.server, "base name of the server's sockets")->capture_default_str();
    app.add_option("--sockname", options.sockname, "that of its own, for IBSIM_SOCKNAME of clients")
        ->capture_default_str();
    app.add_option("--delay", delay_ms, "ms added to a round trip, half of it each way")->check(CLI::NonNegativeNumber);
    app.add_option("--loss", loss, "probability to lose a MAD, each way")->check(CLI::Range(0.0, 1.0));
    app.add_option("--seed", options.seed, "of the losses")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    options.request_delay = options.reply_delay =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double, std::milli>(delay_ms / 2));
    options.request_loss = options.reply_loss = loss;
    try {
        comad::test::ibsim_relay relay(options);
        running = &relay;
        std::signal(SIGTERM, stop);
        std::signal(SIGINT, stop);
        fmt::print("ready\n");
        std::fflush(stdout);
        relay.run();
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "ibsim_relay: {}\n", e.what());
        return 1;
    }
}
