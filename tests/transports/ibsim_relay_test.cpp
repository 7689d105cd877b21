// SPDX-License-Identifier: MIT
// ibsim_relay_test.cpp - a relay between a real ibsim and its clients, which are comad and infiniband-diags. Tests what
// it forwards, delays, loses, drops for lack of space and repeats, and clients that connect and leave.
#include "ibsim/ibsim_programs.hpp"
#include "ibsim/ibsim_relay.hpp"
#include "ibsim/ibsim_server.hpp"
#include "program/process.hpp"
#include "program/without_date.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeInfo;
using transports::ibsim_options;
using transports::ibsim_transport;

namespace {

/// A relay that runs in its own thread.
class running_relay {
public:
    explicit running_relay(const ibsim_server& server, relay_options options = {})
        : running_relay(server.sockname(), std::move(options)) {}
    /// A relay in front of another relay.
    explicit running_relay(const running_relay& server, relay_options options = {})
        : running_relay(server.sockname(), std::move(options)) {}
    ~running_relay() { end(); }

    const std::string& sockname() const noexcept { return sockname_; }
    ibsim_options at() const {
        ibsim_options options;
        options.sockname = sockname_;
        options.node.clear();
        return options;
    }

    /// Stops the relay. Returns the counts of each client, in the order in which the clients left.
    const std::vector<relay_counts>& end() {
        relay_.stop();
        if (thread_.joinable()) thread_.join();
        return gone_;
    }

    /// Returns the counts of each connected client.
    std::vector<relay_counts> now() {
        reported_ = {};
        relay_.report();
        return reported_.get_future().get();
    }

private:
    running_relay(const std::string& server, relay_options options)
        : sockname_(server + "-relay"), relay_(completed(std::move(options), server)),
          thread_([this] { relay_.run(); }) {}

    relay_options completed(relay_options options, const std::string& server) {
        options.server = server;
        options.sockname = sockname_;
        options.on_gone = [this](const relay_counts& counts) { gone_.push_back(counts); };
        options.on_report = [this](const std::vector<relay_counts>& all) { reported_.set_value(all); };
        return options;
    }

    std::string sockname_;
    std::vector<relay_counts> gone_;
    std::promise<std::vector<relay_counts>> reported_;
    ibsim_relay relay_;
    std::thread thread_;
};

/// Runs a discovery, from any thread. Throws if the local port does not respond.
discovery::subnet discover(const running_relay& relay, unsigned outstanding, u8 retries = 2) {
    ibsim_transport port(relay.at());
    MADSchedule schedule(port, window(outstanding, retries));
    auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    if (!found) throw std::runtime_error(to_string(found.error()));
    return std::move(found).value();
}

/// Sends this number of requests to the local node, one after the other. Returns which of them got a reply.
task<std::vector<bool>> send_query(MADSchedule& schedule, unsigned questions) {
    std::vector<bool> answered;
    for (unsigned i = 0; i < questions; ++i) {
        const auto info = co_await schedule.SubnGet<NodeInfo>(mad::IBDRPath());
        answered.push_back(info.has_value());
    }
    co_return answered;
}

std::vector<bool> query_one_by_one(const running_relay& relay, unsigned questions) {
    ibsim_transport port(relay.at());
    MADSchedule schedule(port, window(1));
    return coro::sync_wait(schedule, send_query(schedule, questions));
}

task<mad::result<void>> note_answer(MADSchedule& schedule, std::vector<bool>& answered, unsigned i) {
    const auto info = co_await schedule.SubnGet<NodeInfo>(mad::IBDRPath());
    answered[i] = info.has_value();
    co_return mad::success();
}

coro::generator<task<mad::result<void>>> questions_of(MADSchedule& schedule, std::vector<bool>& answered) {
    for (unsigned i = 0; i < answered.size(); ++i) co_yield note_answer(schedule, answered, i);
}

task<coro::mqueue_report> query_all(MADSchedule& schedule, std::vector<bool>& answered) {
    co_return co_await schedule.mqueue(questions_of(schedule, answered));
}

/// Sends this number of requests at once, each only once. Returns which of them got a reply.
std::vector<bool> query_at_once(ibsim_transport& port, unsigned questions, std::chrono::milliseconds timeout = 1s) {
    MADSchedule schedule(port, {.max_outstanding = 64, .per_destination = 0, .timeout = timeout, .retries = 0});
    std::vector<bool> answered(questions);
    coro::sync_wait(schedule, query_all(schedule, answered));
    return answered;
}

std::vector<bool> query_at_once(const running_relay& relay, unsigned questions,
                                std::chrono::milliseconds timeout = 1s) {
    ibsim_transport port(relay.at());
    return query_at_once(port, questions, timeout);
}

struct scratch_directory {
    scratch_directory() {
        path = std::filesystem::temp_directory_path() / "comad-relay-XXXXXX";
        REQUIRE(::mkdtemp(path.data()));
    }
    ~scratch_directory() { std::filesystem::remove_all(path); }
    std::string path;
};

constexpr const char* tree = "fattree2,radix=8";

} // namespace

TEST_CASE("discovery and ibnetdiscover find the same through a relay as without the relay") {
    const ibsim_server server(topology_file_of(tree));
    running_relay relay(server);
    const auto direct = test::discover(server, 64);
    for (const unsigned outstanding : {1u, 64u, 1024u}) CHECK(text_of(discover(relay, outstanding)) == text_of(direct));
    CHECK(without_date(run_beside(relay.sockname(), "ibnetdiscover")) ==
          without_date(run_beside(server, "ibnetdiscover")));

    // 44 nodes: the relay forwarded everything of four clients, and lost nothing.
    const auto& gone = relay.end();
    REQUIRE(gone.size() == 4);
    for (const relay_counts& counts : gone) {
        CHECK(counts.requests.came > 3 * 44);
        CHECK(counts.replies.came == counts.requests.came);
        CHECK(counts.requests.lost + counts.replies.lost == 0);
    }
    CHECK(gone[0].requests.came == gone[1].requests.came);
}

TEST_CASE("a relay delays each request and each reply independently of their number") {
    const ibsim_server server(topology_file_of(tree));
    const auto [request_delay, reply_delay] = GENERATE(std::pair{4ms, 0ms}, std::pair{0ms, 4ms}, std::pair{2ms, 2ms});
    relay_options options;
    options.request_delay = request_delay;
    options.reply_delay = reply_delay;
    running_relay relay(server, options);
    const auto direct = test::discover(server, 64);

    const auto begin = std::chrono::steady_clock::now();
    const unsigned questions = 10;
    CHECK(query_one_by_one(relay, questions) == std::vector<bool>(questions, true));
    CHECK(std::chrono::steady_clock::now() - begin >= questions * 4ms);

    CHECK(text_of(discover(relay, 64)) == text_of(direct));
}

TEST_CASE("a relay loses a seeded fraction of each direction, and discovery is still complete") {
    const ibsim_server server(topology_file_of(tree));
    const auto direct = test::discover(server, 64);
    const auto lossy = [&](double request_loss, double reply_loss, u64 seed) {
        relay_options options;
        options.request_loss = request_loss;
        options.reply_loss = reply_loss;
        options.seed = seed;
        return options;
    };

    SECTION("requests") {
        running_relay relay(server, lossy(1, 0, 1));
        CHECK(query_at_once(relay, 3) == std::vector<bool>(3, false));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.requests.came == 3);
        CHECK(counts.requests.lost == 3);
        CHECK(counts.replies.came == 0);
    }
    SECTION("replies") {
        running_relay relay(server, lossy(0, 1, 1));
        CHECK(query_at_once(relay, 3) == std::vector<bool>(3, false));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.requests.came == 3);
        CHECK(counts.requests.lost == 0);
        CHECK(counts.replies.came == 3);
        CHECK(counts.replies.lost == 3);
    }
    SECTION("equal losses for equal seeds only") {
        std::vector<std::vector<bool>> answered;
        for (const u64 seed : {5u, 5u, 6u}) {
            running_relay relay(server, lossy(0.25, 0.25, seed));
            answered.push_back(query_at_once(relay, 32));
        }
        CHECK(answered[0] == answered[1]);
        CHECK(answered[0] != answered[2]);
    }
    SECTION("a tenth in each direction") {
        running_relay relay(server, lossy(0.1, 0.1, 1));
        ibsim_transport port(relay.at());
        {
            MADSchedule schedule(port, {.max_outstanding = 64, .timeout = 50ms, .retries = 15});
            const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
            REQUIRE(found);
            CHECK(text_of(found.value()) == text_of(direct));
        }
        const relay_counts counts = relay.end().at(0);
        // A range of five standard deviations around a tenth.
        const auto is_tenth = [](u64 lost, u64 of) {
            const double n = static_cast<double>(of), off = static_cast<double>(lost) - 0.1 * n;
            return off * off < 25 * 0.09 * n;
        };
        CHECK(counts.requests.came > 3 * 44);
        CHECK(is_tenth(counts.requests.lost, counts.requests.came));
        CHECK(is_tenth(counts.replies.lost, counts.replies.came));
        CHECK(counts.replies.came == counts.requests.came - counts.requests.lost);
    }
}

TEST_CASE("clients of a relay share its buffer, and MADs that do not fit are dropped and counted") {
    const ibsim_server server(topology_file_of(tree));
    relay_options options;
    options.buffer_places = 4;
    options.service_time = 1h; // no MAD leaves the buffer again
    running_relay relay(server, options);
    ibsim_options elsewhere = relay.at();
    elsewhere.node = transports::sim::make_topology(tree).nodes.back().description;
    ibsim_transport first(relay.at()), second(elsewhere);
    REQUIRE(first.node() != second.node());

    CHECK(query_at_once(first, 3, 20ms) == std::vector<bool>(3, false));
    CHECK(query_at_once(second, 10, 20ms) == std::vector<bool>(10, false));
    const auto counts = relay.now();
    REQUIRE(counts.size() == 2);
    CHECK(counts[0].node == first.node());
    CHECK(counts[0].requests.came == 3);
    CHECK(counts[0].requests.overflowed == 0);
    CHECK(counts[0].requests.most_held == 3);
    CHECK(counts[1].node == second.node());
    CHECK(counts[1].requests.came == 10);
    CHECK(counts[1].requests.overflowed == 9);
    CHECK(counts[1].requests.most_held == 4);
    CHECK(counts[0].replies.came + counts[1].replies.came == 0);
}

TEST_CASE("a relay with a buffer serves one MAD after the other, requests and replies alike") {
    const ibsim_server server(topology_file_of(tree));
    relay_options options;
    options.service_time = 2ms;
    const unsigned questions = 20;
    const auto begin = std::chrono::steady_clock::now();
    SECTION("many requests at a time") {
        running_relay relay(server, options);
        CHECK(query_at_once(relay, questions) == std::vector<bool>(questions, true));
        CHECK(relay.end().at(0).requests.overflowed == 0);
    }
    SECTION("one request after the other with a buffer of one") {
        options.buffer_places = 1;
        running_relay relay(server, options);
        CHECK(query_one_by_one(relay, questions) == std::vector<bool>(questions, true));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.requests.overflowed + counts.replies.overflowed == 0);
        CHECK(counts.requests.most_held == 1);
        CHECK(counts.replies.most_held == 1);
    }
    CHECK(std::chrono::steady_clock::now() - begin >= 2 * questions * 2ms);
}

TEST_CASE("discovery retries what a small relay buffer dropped and is complete") {
    const ibsim_server server(topology_file_of(tree));
    const auto direct = test::discover(server, 64);
    relay_options options;
    options.buffer_places = 4;
    options.service_time = 100us;
    running_relay relay(server, options);
    ibsim_transport port(relay.at());
    {
        MADSchedule schedule(port, {.max_outstanding = 64, .timeout = 50ms, .retries = 15});
        const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
        REQUIRE(found);
        CHECK(text_of(found.value()) == text_of(direct));
    }
    const relay_counts counts = relay.end().at(0);
    CHECK(counts.requests.overflowed + counts.replies.overflowed > 0);
    CHECK(counts.replies.came == counts.requests.came - counts.requests.overflowed);
    CHECK(std::max(counts.requests.most_held, counts.replies.most_held) == 4);
}

TEST_CASE("a relay in kernel mode retries lost requests for its clients") {
    const ibsim_server server(topology_file_of(tree));
    relay_options lossy, kernel;
    kernel.kernel_timeout = 20ms;
    kernel.kernel_retries = 20;
    SECTION("until a reply arrives") {
        lossy.request_loss = lossy.reply_loss = 0.1;
        running_relay fabric(server, lossy), relay(fabric, kernel);
        check_same_topology(run_beside(relay.sockname(), "ibnetdiscover"), run_beside(server, "ibnetdiscover"));
        const relay_counts counts = relay.end().at(0), sent = fabric.end().at(0);
        CHECK(counts.repeated > 0);
        CHECK(counts.given_back == 0);
        CHECK(counts.replies.came == counts.requests.came);
        CHECK(sent.requests.came == counts.requests.came + counts.repeated);
    }
    SECTION("up to the number of retries, then returns the request") {
        lossy.request_loss = 1;
        kernel.kernel_retries = 2;
        running_relay fabric(server, lossy), relay(fabric, kernel);
        CHECK(query_at_once(relay, 4, 1s) == std::vector<bool>(4, false));
        const relay_counts counts = relay.end().at(0), sent = fabric.end().at(0);
        CHECK(counts.requests.came == 4);
        CHECK(counts.repeated == 4 * 2);
        CHECK(counts.given_back == 4);
        CHECK(sent.requests.came == 4 * 3);
    }
    SECTION("with one reply per request") {
        lossy.reply_delay = 500ms;
        kernel.kernel_retries = 1000;
        running_relay fabric(server, lossy), relay(fabric, kernel);
        // The replies to the repeated first request arrive before the reply to the second request.
        CHECK(query_one_by_one(relay, 2) == std::vector<bool>(2, true));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.repeated > 0);
        CHECK(counts.unawaited > 0);
        CHECK(counts.replies.came == 2);
    }
}

TEST_CASE("a relay rejects delay, loss and service options together with kernel options") {
    const ibsim_server server(topology_file_of(tree));
    relay_options options;
    options.server = server.sockname();
    options.sockname = server.sockname() + "-relay";
    options.kernel_timeout = 20ms;
    const auto wrong = GENERATE(0, 1, 2, 3, 4);
    if (wrong == 0) options.request_delay = 1ms;
    if (wrong == 1) options.reply_delay = 1ms;
    if (wrong == 2) options.request_loss = 0.1;
    if (wrong == 3) options.reply_loss = 0.1;
    if (wrong == 4) options.service_time = 1ms;
    CHECK_THROWS_AS(ibsim_relay(options), std::invalid_argument);
}

TEST_CASE("more clients than slots can use a relay concurrently and in turn") {
    const ibsim_server server(topology_file_of(tree));
    running_relay relay(server);
    const auto direct = test::discover(server, 64);
    const auto use_one_after_the_other = [&] {
        for (int i = 0; i < 8; ++i)
            if (text_of(discover(relay, 16)) != text_of(direct)) return false;
        return true;
    };
    bool is_well = false;
    std::thread other([&] { is_well = use_one_after_the_other(); });
    CHECK(use_one_after_the_other());
    other.join();
    CHECK(is_well);
    CHECK(relay.end().size() == 16);
}

TEST_CASE("a relay reuses the slot of a client that was killed without affecting other clients") {
    const ibsim_server server(topology_file_of("fattree3,radix=8"));
    relay_options options;
    options.request_delay = 1ms;
    options.reply_delay = 1ms;
    running_relay relay(server, options);
    const auto direct = test::discover(server, 64);

    const scratch_directory scratch; // the preloaded library leaves files in the current directory
    for (int i = 0; i < 12; ++i) {   // a server has ten slots
        process victim({"IBSIM_SOCKNAME=" + relay.sockname(), "ibsim-run", "sh", "-c",
                        "cd \"$0\" && exec ibnetdiscover -d", scratch.path});
        victim.await_error("attr 0x15"); // its second request is in flight
    }                                    // the client is killed here
    CHECK(text_of(discover(relay, 64)) == text_of(direct));
}

TEST_CASE("a relay rejects clients after its server ended, and reports a socket name that is in use") {
    ibsim_server server(topology_file_of(tree));
    running_relay relay(server);
    relay_options same_name;
    same_name.server = server.sockname();
    same_name.sockname = relay.sockname();
    CHECK_THROWS_AS(ibsim_relay(same_name), std::system_error);
    ibsim_transport port(relay.at());
    server.kill();
    MADSchedule schedule(port, window(1));
    CHECK(coro::sync_wait(schedule, send_query(schedule, 2)) == std::vector<bool>(2, false));
    CHECK_THROWS(ibsim_transport(relay.at()));
    CHECK(relay.end().size() == 1);
}
