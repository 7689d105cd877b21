// SPDX-License-Identifier: MIT
// rmpp_transport_test.cpp - tables of any length over a wire that carries single MADs, loses, doubles and reorders them: a
// schedule that asks, and a server that answers in one long message, each over a transport of its own.
#include "coro_rig.hpp"
#include <comad/iba/sa/records.hpp>
#include <comad/mad/record_table.hpp>
#include <comad/transports/rmpp.hpp>

#include <map>
#include <random>
#include <vector>

using namespace comad;
using namespace comad::test;
using iba::sa::NodeRecord;
using transports::rmpp_options;
using transports::rmpp_transport;

namespace {

constexpr std::size_t stride = 112; // of NodeRecords, which have 108 bytes

struct faults {
    double loss = 0, twice = 0, late = 0;
};

/// Two ends; what one sends the other gets a little later, if at all.
class wire {
public:
    wire(faults f, unsigned seed) : faults_(f), random_(seed) {}

    class end final : public mad::transport {
    public:
        end(wire& w, unsigned side) : wire_(w), side_(side) {}
        int native_handle() const noexcept override { return -1; }
        mad::send_result send(const mad::send_request& r) noexcept override {
            REQUIRE(r.size == mad::mad_size);
            wire_.carry({r.mad, r.mad + r.size}, 1 - side_);
            return {};
        }
        mad::received receive(std::span<u8> buffer) noexcept override {
            auto& queue = wire_.under_way_[side_];
            if (queue.empty() || queue.begin()->first > wire_.now_) return {};
            const std::vector<u8> bytes = queue.begin()->second;
            queue.erase(queue.begin());
            std::copy(bytes.begin(), bytes.end(), buffer.begin() + mad::headroom);
            mad::received r{mad::receive_state::message};
            r.mad = buffer.subspan(mad::headroom, bytes.size());
            r.full_size = bytes.size();
            r.source.SLID = iba::lid{static_cast<u16>(2 - side_)}; // the client is LID 1, the server LID 2
            r.source.sqpn = 1;
            return r;
        }
        mad::transport_limits limits() const noexcept override { return {}; }
        std::optional<mad::time_point> next_event() const noexcept override {
            const auto& queue = wire_.under_way_[side_];
            if (queue.empty()) return std::nullopt;
            return queue.begin()->first;
        }
        void set_now(mad::time_point now) noexcept override { wire_.now_ = std::max(wire_.now_, now); }

    private:
        wire& wire_;
        unsigned side_;
    };

    u64 carried = 0;

private:
    bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
    void carry(std::vector<u8> bytes, unsigned to) {
        ++carried;
        for (int copies = chance(faults_.twice) ? 2 : 1; copies > 0; --copies) {
            if (chance(faults_.loss)) continue;
            const mad::duration delay = chance(faults_.late) ? 60us : 5us;
            under_way_[to].emplace(now_ + delay, bytes);
        }
    }
    faults faults_;
    std::mt19937 random_;
    mad::time_point now_{};
    std::multimap<mad::time_point, std::vector<u8>> under_way_[2];
};

/// The client's end of a wire whose other end is a server that answers each request with a table.
class served final : public mad::transport {
public:
    served(std::size_t records, faults f = {}, unsigned seed = 1)
        : records_(records), wire_(f, seed), client_(wire_, 0), server_end_(wire_, 1), server_(server_end_) {}

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
        server_.set_now(now);
        run_server();
    }

    bool silent = false; ///< the server stops in the middle
    std::function<void(std::vector<u8>& message)> tamper = [](std::vector<u8>&) {};
    unsigned requests = 0;
    const wire& net() const noexcept { return wire_; }

private:
    void run_server() {
        std::array<u8, 1024> buffer;
        for (;;) {
            if (silent) return;
            const mad::received r = server_.receive(buffer);
            if (r.state != mad::receive_state::message) return;
            if (r.is_part || r.mad[3] != 0x12) continue;
            ++requests;
            answer(r);
        }
    }
    void answer(const mad::received& r) {
        std::vector<u8> message(mad::headroom + 56 + records_ * stride);
        u8* mad = message.data() + mad::headroom;
        std::copy_n(r.mad.begin(), 56, mad);
        mad[3] = 0x92;
        mad[44] = 0;
        mad[45] = stride / 8;
        for (std::size_t i = 0; i < records_; ++i) {
            NodeRecord record;
            record.LID = iba::lid{static_cast<u16>(i)};
            record.nodeInfo.nodeGUID = iba::guid{i};
            iba::encode(record, mad + 56 + i * stride);
        }
        tamper(message);
        mad::IBPath back;
        back.DLID = r.source.SLID;
        const mad::any_path path = back;
        const std::size_t size = std::max(message.size() - mad::headroom, mad::mad_size + 1);
        message.resize(mad::headroom + size);
        server_.send({&path, message.data() + mad::headroom, size, 0x03, 2, false, {}, {}});
    }

    std::size_t records_;
    wire wire_;
    wire::end client_, server_end_;
    rmpp_transport server_;
};

mad::result<std::vector<NodeRecord>> ask_for_all(mad::transport& t, mad::duration timeout = 1s) {
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

TEST_CASE("a table arrives whole over single MADs, whatever its length") {
    for (const std::size_t records : {2, 3, 1000, 100'000}) {
        INFO(records);
        served net(records);
        rmpp_transport client(net);
        auto table = ask_for_all(client);
        REQUIRE(table);
        CHECK(is_whole(table.value(), records));
        CHECK(net.requests == 1);
    }
}

TEST_CASE("a table arrives whole over a wire that loses, doubles and reorders") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        served net(1000, {.loss = 0.03, .twice = 0.03, .late = 0.1}, seed);
        rmpp_transport client(net);
        auto table = ask_for_all(client, 20s);
        REQUIRE(table);
        CHECK(is_whole(table.value(), 1000));
    }
}

TEST_CASE("segments on their way keep a request from timing out") {
    served net(100'000); // 56,000 segments, 5 us each way and window by window: longer than the timeout
    rmpp_transport client(net);
    auto table = ask_for_all(client, 500us);
    REQUIRE(table);
    CHECK(is_whole(table.value(), 100'000));
    CHECK(net.requests == 1);
}

TEST_CASE("a sender that stops in the middle is a timeout, and the next request is as any other") {
    served net(1000);
    rmpp_transport client(net);
    schedule_options options;
    options.timeout = 10ms;
    options.retries = 0;
    coro::MADSchedule schedule(client, options);
    mad::IBPath to;
    to.DLID = iba::lid{2};
    schedule.set_sa_path(to);
    net.tamper = [&](std::vector<u8>&) { net.silent = true; };
    auto stalled = sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(!stalled);
    CHECK(stalled.error().code == errc::timed_out);
    net.silent = false;
    net.tamper = [](std::vector<u8>&) {};
    auto table = sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(table);
    CHECK(is_whole(table.value(), 1000));
}

TEST_CASE("a message that is longer than allowed is a malformed reply at once") {
    served net(1000);
    rmpp_options options;
    options.receiving.max_message = 50'000;
    rmpp_transport client(net, options);
    auto table = ask_for_all(client);
    REQUIRE(!table);
    CHECK(table.error().code == errc::malformed_reply);
}

TEST_CASE("what is no segment passes as it is") {
    scripted_transport net;
    rmpp_transport client(net);
    coro::MADSchedule schedule(client);
    CHECK(sync_wait(schedule, ask(schedule, route(1, 2))));
    CHECK(client.limits().kernel_rmpp);
    CHECK(client.transfers() == 0);
}
