// SPDX-License-Identifier: MIT
// rmpp_transport_test.cpp - tables of any length over a wire that carries single MADs, and that loses, duplicates and
// reorders them. A schedule sends requests, and an agent replies, each over its own transport.
#include "library/coro_rig.hpp"
#include "wire/lossy_wire.hpp"
#include <comad/iba/detail/sa/records.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/rmpp.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace rmpp_transport_test {

using namespace comad;
using namespace comad::test;
using iba::sa::NodeRecord;
using transports::rmpp_options;
using transports::rmpp_transport;

namespace {

/// The client's end of a wire, LID 1. At the opposite end, LID 2, an agent replies to each request with a table.
class served final : public mad::transport {
public:
    explicit served(std::size_t records, faults f = {}, unsigned seed = 1)
        : wire_(f, seed), client_(wire_, 1), server_end_(wire_, 2), server_(server_end_), table_(records) {
        answers_.add({iba::MgmtClass::SubnAdm, 2, mad::methods(iba::Method::GetTable), 0, true},
                     [this](const server::request&) { return answer(); });
        agent_.emplace(server_, answers_);
        serving_.emplace(server_);
        serving_->set_server(&*agent_);
    }

    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& r) noexcept override { return client_.send(r); }
    mad::received receive(std::span<u8> buffer) noexcept override {
        run_server();
        return client_.receive(buffer);
    }
    mad::transport_limits limits() const noexcept override { return {}; }
    std::optional<mad::time_point> next_event() const noexcept override {
        const auto a = client_.next_event(), b = silent ? std::nullopt : server_.next_event();
        return a && b ? std::min(*a, *b) : a ? a : b;
    }
    void set_now(mad::time_point now) noexcept override {
        serving_->set_now(now);
        run_server();
    }

    bool silent = false; ///< the server has stopped
    std::function<void()> on_request = [] {};
    unsigned requests = 0;
    rmpp_transport& server() noexcept { return server_; }

private:
    void run_server() {
        if (silent) return;
        serving_->receive(1000);
        serving_->settle();
    }
    server::response answer() {
        ++requests;
        std::vector<u8> records;
        for (std::size_t i = 0; i < table_; ++i) {
            NodeRecord record;
            record.LID = iba::lid{static_cast<u16>(i)};
            record.nodeInfo.nodeGUID = iba::guid{i};
            const auto bytes = iba::encode(record);
            records.insert(records.end(), bytes.begin(), bytes.end());
        }
        on_request();
        return server::response::table(std::move(records), iba::wire_size<NodeRecord>);
    }

    lossy_wire wire_;
    lossy_wire::end client_, server_end_;
    rmpp_transport server_;
    std::size_t table_;
    server::responder answers_;
    std::optional<server::agent> agent_;
    std::optional<coro::MADSchedule> serving_;
};

mad::result<std::vector<NodeRecord>> query_for_all(mad::transport& t, mad::duration timeout = 1s) {
    schedule_options options;
    options.timeout = timeout;
    coro::MADSchedule schedule(t, options);
    mad::IBPath to;
    to.DLID = iba::lid{2};
    schedule.set_sa_path(to);
    return sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
}

bool is_whole(const std::vector<NodeRecord>& table, std::size_t records) {
    if (table.size() != records) return false;
    for (std::size_t i = 0; i < records; ++i)
        if (value(table[i].nodeInfo.nodeGUID) != i) return false;
    return true;
}

} // namespace

TEST_CASE("a table of any length arrives whole over single MADs") {
    for (const std::size_t records : {0, 1, 2, 3, 1000, 100'000}) {
        INFO(records);
        served net(records);
        rmpp_transport client(net);
        auto table = query_for_all(client);
        REQUIRE(table);
        CHECK(is_whole(table.value(), records));
        CHECK(net.requests == 1);
        net.set_now(mad::time_point{1min});
        CHECK(net.server().transfers() == 0);
    }
}

TEST_CASE("a table arrives whole over a link that loses, duplicates and reorders MADs") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        served net(1000, {.loss = 0.03, .twice = 0.03, .late = 0.1}, seed);
        rmpp_transport client(net);
        auto table = query_for_all(client, 20s);
        REQUIRE(table);
        CHECK(is_whole(table.value(), 1000));
    }
}

TEST_CASE("arriving segments keep a request from timing out") {
    served net(100'000); // 56,000 segments, 5 us per direction and window by window: longer than the timeout
    rmpp_transport client(net);
    auto table = query_for_all(client, 500us);
    REQUIRE(table);
    CHECK(is_whole(table.value(), 100'000));
    CHECK(net.requests == 1);
}

TEST_CASE("a sender that stops in the middle causes a timeout, and the next request is unaffected") {
    served net(1000);
    rmpp_transport client(net);
    schedule_options options;
    options.timeout = 10ms;
    options.retries = 0;
    coro::MADSchedule schedule(client, options);
    mad::IBPath to;
    to.DLID = iba::lid{2};
    schedule.set_sa_path(to);
    net.on_request = [&] { net.silent = true; };
    auto stalled = sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(!stalled);
    CHECK(stalled.error().code == errc::timed_out);
    net.silent = false;
    net.on_request = [] {};
    auto table = sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(table);
    CHECK(is_whole(table.value(), 1000));
}

TEST_CASE("a message longer than the limit is a malformed reply at once") {
    served net(1000);
    rmpp_options options;
    options.receiving.max_message = 50'000;
    rmpp_transport client(net, options);
    auto table = query_for_all(client);
    REQUIRE(!table);
    CHECK(table.error().code == errc::malformed_reply);
}

TEST_CASE("MADs that are not segments pass unchanged") {
    scripted_transport net;
    rmpp_transport client(net);
    coro::MADSchedule schedule(client);
    CHECK(sync_wait(schedule, send_query(schedule, route(1, 2))));
    CHECK(client.limits().kernel_rmpp);
    CHECK(client.transfers() == 0);
}

} // namespace rmpp_transport_test
