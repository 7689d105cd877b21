// SPDX-License-Identifier: MIT
// ibsim_relay_test.cpp - a relay between a real ibsim and its clients, ours and infiniband-diags': what it passes on, how
// late, what it loses, and who comes and goes.
#include "ibsim_programs.hpp"
#include "ibsim_relay.hpp"
#include "ibsim_server.hpp"
#include "process.hpp"

#include <chrono>
#include <filesystem>
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

/// A relay in a thread of its own.
class running_relay {
public:
    explicit running_relay(const ibsim_server& server, relay_options options = {})
        : sockname_(server.sockname() + "-relay"), relay_(completed(std::move(options), server)),
          thread_([this] { relay_.run(); }) {}
    ~running_relay() { end(); }

    const std::string& sockname() const noexcept { return sockname_; }
    ibsim_options at() const {
        ibsim_options options;
        options.sockname = sockname_;
        options.node.clear();
        return options;
    }

    /// Ends it. What it passed of each client, in the order in which they went.
    const std::vector<relay_counts>& end() {
        relay_.stop();
        if (thread_.joinable()) thread_.join();
        return gone_;
    }

private:
    relay_options completed(relay_options options, const ibsim_server& server) {
        options.server = server.sockname();
        options.sockname = sockname_;
        options.on_gone = [this](const relay_counts& counts) { gone_.push_back(counts); };
        return options;
    }

    std::string sockname_;
    std::vector<relay_counts> gone_;
    ibsim_relay relay_;
    std::thread thread_;
};

/// From any thread: throws where the local port does not answer.
discovery::subnet discover(const running_relay& relay, unsigned outstanding, u8 retries = 2) {
    ibsim_transport port(relay.at());
    MADSchedule schedule(port, window(outstanding, retries));
    auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    if (!found) throw std::runtime_error(to_string(found.error()));
    return std::move(found).value();
}

/// Which of so many questions to our own node, one after the other, were answered.
task<std::vector<bool>> ask(MADSchedule& schedule, unsigned questions) {
    std::vector<bool> answered;
    for (unsigned i = 0; i < questions; ++i) {
        const auto info = co_await schedule.SubnGet<NodeInfo>(mad::IBDRPath());
        answered.push_back(info.has_value());
    }
    co_return answered;
}

task<mad::result<void>> note_answer(MADSchedule& schedule, std::vector<bool>& answered, unsigned i) {
    const auto info = co_await schedule.SubnGet<NodeInfo>(mad::IBDRPath());
    answered[i] = info.has_value();
    co_return boost::outcome_v2::success();
}

coro::generator<task<mad::result<void>>> questions_of(MADSchedule& schedule, std::vector<bool>& answered) {
    for (unsigned i = 0; i < answered.size(); ++i) co_yield note_answer(schedule, answered, i);
}

task<coro::sweep_report> ask_all(MADSchedule& schedule, std::vector<bool>& answered) {
    co_return co_await schedule.mqueue(questions_of(schedule, answered));
}

/// The same of questions that are sent one behind the other, each once, before any is given up.
std::vector<bool> ask_at_once(const running_relay& relay, unsigned questions) {
    ibsim_transport port(relay.at());
    MADSchedule schedule(port, {.max_outstanding = 64, .per_destination = 0, .timeout = 1s, .retries = 0});
    std::vector<bool> answered(questions);
    coro::sync_wait(schedule, ask_all(schedule, answered));
    return answered;
}

/// What ibnetdiscover says, but for when.
std::string without_date(const std::string& text) { return text.substr(text.find("# Initiated")); }

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

TEST_CASE("through a relay discovery and ibnetdiscover find what they find without it") {
    const ibsim_server server(topology_file_of(tree));
    running_relay relay(server);
    const auto direct = test::discover(server, 64);
    for (const unsigned outstanding : {1u, 64u, 1024u}) CHECK(text_of(discover(relay, outstanding)) == text_of(direct));
    CHECK(without_date(run_beside(relay.sockname(), "ibnetdiscover")) ==
          without_date(run_beside(server, "ibnetdiscover")));

    // 44 nodes: all of four clients were passed, and lost of none.
    const auto& gone = relay.end();
    REQUIRE(gone.size() == 4);
    for (const relay_counts& counts : gone) {
        CHECK(counts.requests > 3 * 44);
        CHECK(counts.replies == counts.requests);
        CHECK(counts.lost_requests + counts.lost_replies == 0);
    }
    CHECK(gone[0].requests == gone[1].requests);
}

TEST_CASE("a relay delays each request and each reply, and any number at a time") {
    const ibsim_server server(topology_file_of(tree));
    const auto [request_delay, reply_delay] = GENERATE(std::pair{4ms, 0ms}, std::pair{0ms, 4ms}, std::pair{2ms, 2ms});
    relay_options options;
    options.request_delay = request_delay;
    options.reply_delay = reply_delay;
    running_relay relay(server, options);
    const auto direct = test::discover(server, 64);

    ibsim_transport port(relay.at());
    MADSchedule schedule(port, window(1));
    const auto begin = std::chrono::steady_clock::now();
    const unsigned questions = 10;
    CHECK(coro::sync_wait(schedule, ask(schedule, questions)) == std::vector<bool>(questions, true));
    CHECK(std::chrono::steady_clock::now() - begin >= questions * 4ms);

    CHECK(text_of(discover(relay, 64)) == text_of(direct));
}

TEST_CASE("a relay loses each direction's share, by its seed, and discovery is complete nevertheless") {
    const ibsim_server server(topology_file_of(tree));
    const auto direct = test::discover(server, 64);
    const auto lossy = [&](double request_loss, double reply_loss, u64 seed) {
        relay_options options;
        options.request_loss = request_loss;
        options.reply_loss = reply_loss;
        options.seed = seed;
        return options;
    };

    SECTION("of the requests") {
        running_relay relay(server, lossy(1, 0, 1));
        CHECK(ask_at_once(relay, 3) == std::vector<bool>(3, false));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.requests == 3);
        CHECK(counts.lost_requests == 3);
        CHECK(counts.replies == 0);
    }
    SECTION("of the replies") {
        running_relay relay(server, lossy(0, 1, 1));
        CHECK(ask_at_once(relay, 3) == std::vector<bool>(3, false));
        const relay_counts counts = relay.end().at(0);
        CHECK(counts.requests == 3);
        CHECK(counts.lost_requests == 0);
        CHECK(counts.replies == 3);
        CHECK(counts.lost_replies == 3);
    }
    SECTION("the same ones again, and others by another seed") {
        std::vector<std::vector<bool>> answered;
        for (const u64 seed : {5u, 5u, 6u}) {
            running_relay relay(server, lossy(0.25, 0.25, seed));
            answered.push_back(ask_at_once(relay, 32));
        }
        CHECK(answered[0] == answered[1]);
        CHECK(answered[0] != answered[2]);
    }
    SECTION("a tenth each way") {
        running_relay relay(server, lossy(0.1, 0.1, 1));
        ibsim_transport port(relay.at());
        {
            MADSchedule schedule(port, {.max_outstanding = 64, .timeout = 50ms, .retries = 15});
            const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
            REQUIRE(found);
            CHECK(text_of(found.value()) == text_of(direct));
        }
        const relay_counts counts = relay.end().at(0);
        // Five standard deviations around a tenth.
        const auto is_tenth = [](u64 lost, u64 of) {
            const double n = static_cast<double>(of), off = static_cast<double>(lost) - 0.1 * n;
            return off * off < 25 * 0.09 * n;
        };
        CHECK(counts.requests > 3 * 44);
        CHECK(is_tenth(counts.lost_requests, counts.requests));
        CHECK(is_tenth(counts.lost_replies, counts.replies));
        CHECK(counts.replies == counts.requests - counts.lost_requests);
    }
}

TEST_CASE("clients of a relay come and go, at the same time and one after the other, more than there are slots") {
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

TEST_CASE("a client that dies in the middle leaves its slot to others and troubles nobody") {
    const ibsim_server server(topology_file_of("fattree3,radix=8"));
    relay_options options;
    options.request_delay = 1ms;
    options.reply_delay = 1ms;
    running_relay relay(server, options);
    const auto direct = test::discover(server, 64);

    const scratch_directory scratch; // the preloaded library leaves files where it runs
    for (int i = 0; i < 12; ++i) {   // a server has ten slots
        process victim({"IBSIM_SOCKNAME=" + relay.sockname(), "ibsim-run", "sh", "-c",
                        "cd \"$0\" && exec ibnetdiscover -d", scratch.path});
        victim.await_error("attr 0x15"); // its second question is on the way
    }                                    // killed there
    CHECK(text_of(discover(relay, 64)) == text_of(direct));
}

TEST_CASE("clients of a relay whose server has ended are refused, and a relay whose name is taken says so") {
    ibsim_server server(topology_file_of(tree));
    running_relay relay(server);
    relay_options same_name;
    same_name.server = server.sockname();
    same_name.sockname = relay.sockname();
    CHECK_THROWS_AS(ibsim_relay(same_name), std::system_error);
    ibsim_transport port(relay.at());
    server.kill();
    MADSchedule schedule(port, window(1));
    CHECK(coro::sync_wait(schedule, ask(schedule, 2)) == std::vector<bool>(2, false));
    CHECK_THROWS(ibsim_transport(relay.at()));
    CHECK(relay.end().size() == 1);
}
