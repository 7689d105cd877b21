// SPDX-License-Identifier: MIT
// striped_test.cpp - several descriptors as one transport: with a kernel that limits the requests of a descriptor, in
// virtual time, and on sockets that simulate the kernel, with both drivers.
#include "kernel/fake_kernel.hpp"
#include "library/coro_rig.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/asio.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/striped.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <thread>

using namespace comad;
using namespace comad::test;
using iba::MgmtClass;
using transports::striped_transport;
using transports::umad_transport;

namespace {

/// Forwards everything to a transport that it does not own, and counts the reads.
class forwarding : public mad::transport {
public:
    explicit forwarding(mad::transport& to) : to_(to) {}
    u64 reads = 0;

    int native_handle() const noexcept override { return to_.native_handle(); }
    mad::send_result send(const mad::send_request& r) noexcept override { return to_.send(r); }
    mad::received receive(std::span<u8> buffer) noexcept override {
        ++reads;
        return to_.receive(buffer);
    }
    mad::transport_limits limits() const noexcept override { return to_.limits(); }
    std::optional<unsigned> held(MgmtClass c) const noexcept override { return to_.held(c); }
    int serve(const mad::registration& what) noexcept override { return to_.serve(what); }
    bool wants_writable() const noexcept override { return to_.wants_writable(); }
    std::optional<mad::time_point> next_event() const noexcept override { return to_.next_event(); }
    void set_now(mad::time_point now) noexcept override { to_.set_now(now); }

private:
    mad::transport& to_;
};

template <class Transport> striped_transport striped(std::vector<Transport>& members) {
    std::vector<std::unique_ptr<mad::transport>> all;
    for (Transport& m : members) all.push_back(std::make_unique<forwarding>(m));
    return striped_transport(std::move(all));
}

// ---- limits of kernels, in virtual time ----------------------------------------------------------------------------------

enum class traffic : u8 { smps, sa_requests };

task<void> one(MADSchedule& s, traffic what, u32 number, u64& right) {
    if (what == traffic::smps) {
        right += co_await send_query(s, route_to(number));
        co_return;
    }
    auto record = co_await s.SubnAdmGet<iba::sa::NodeRecord>();
    right += record.has_value();
}
generator<task<void>> many(MADSchedule& s, traffic what, u32 count, u64& right) {
    for (u32 i = 0; i < count; ++i) co_yield one(s, what, i, right);
}
task<u64> sweep(MADSchedule& s, traffic what, u32 count) {
    u64 right = 0;
    co_await s.mqueue(many(s, what, count, right));
    co_return right;
}

/// Returns a reply to any request, of any class.
fate echoed(const packet& p) {
    fate f = answered(p);
    f.arrivals[0].bytes[3] = p.bytes[3] | 0x80;
    return f;
}

/// A descriptor over its own wire, whose kernel limits its agents.
struct capped_kernel {
    scripted_transport wire;
    transports::kernel_model model{wire, {.is_capped = true}};

    operator mad::transport&() { return model; }
    std::size_t most_on_wire(u8 mgmt_class) const { return model.counters().most_on_wire_of[mgmt_class]; }
    std::size_t most_held_back() const { return model.counters().most_held_back; }
    u64 requests() const { return model.counters().requests; }
};

/// A transport that does not report the limits of the kernel.
class unlimited final : public forwarding {
public:
    using forwarding::forwarding;
    mad::transport_limits limits() const noexcept override { return {}; }
};

} // namespace

TEST_CASE("a capped kernel has 128 SMPs and 16 SA requests on the wire, however many were submitted") {
    const auto [what, mgmt_class, cap] = GENERATE(table<traffic, u8, std::size_t>(
        {{traffic::smps, class_directed, 128}, {traffic::sa_requests, class_SubnAdm, 16}}));
    capped_kernel kernel;
    kernel.wire.set_script(echoed);
    unlimited transport(kernel);
    MADSchedule schedule(transport, {.max_outstanding = 512, .timeout = 1s});
    lead_to_sa(schedule);
    CHECK(sync_wait(schedule, sweep(schedule, what, 1024)) == 1024);
    CHECK(kernel.most_on_wire(mgmt_class) == cap);
    CHECK(kernel.most_held_back() == 512 - cap);
    CHECK(kernel.wire.now().time_since_epoch() == round_trip * (1024 / cap));
}

TEST_CASE("a schedule on several descriptors multiplies the MADs on the wire, and no MAD is held back") {
    const auto [what, mgmt_class, cap] = GENERATE(table<traffic, u8, std::size_t>(
        {{traffic::smps, class_directed, 128}, {traffic::sa_requests, class_SubnAdm, 16}}));
    const std::size_t descriptors = GENERATE(1, 2, 4, 8);
    CAPTURE(cap, descriptors);
    std::vector<capped_kernel> kernels(descriptors);
    for (auto& k : kernels) k.wire.set_script(echoed);
    striped_transport transport = striped(kernels);
    CHECK(transport.limits().max_window == 128 * descriptors);
    CHECK(transport.limits().sa_window == 16 * descriptors);
    MADSchedule schedule(transport, {.max_outstanding = 65536, .timeout = 1s});
    lead_to_sa(schedule);
    CHECK(sync_wait(schedule, sweep(schedule, what, 2048)) == 2048);
    for (auto& k : kernels) {
        CHECK(k.most_on_wire(mgmt_class) == cap);
        CHECK(k.most_held_back() == 0);
        CHECK(k.requests() == 2048 / descriptors);
    }
    CHECK(kernels[0].wire.now().time_since_epoch() == round_trip * (2048 / (cap * descriptors)));
}

TEST_CASE("members with free slots carry the traffic while replies of other members are slow") {
    // The requests of the first round through one member take a hundred times as long.
    std::vector<capped_kernel> kernels(4);
    for (auto& k : kernels) k.wire.set_script(echoed);
    kernels[2].wire.set_script([](const packet& p) {
        fate f = echoed(p);
        f.arrivals[0].after = 100 * round_trip;
        return f;
    });
    striped_transport transport = striped(kernels);
    MADSchedule schedule(transport, {.max_outstanding = 512, .timeout = 1s});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 128 + 3 * 128 * 99)) == 128 + 3 * 128 * 99);
    CHECK(kernels[2].requests() == 128);
    for (auto& k : kernels) CHECK(k.most_held_back() == 0);
    CHECK(kernels[0].wire.now().time_since_epoch() == 100 * round_trip);
}

TEST_CASE("a lost request stays held until its kernel timeout ends") {
    std::vector<capped_kernel> kernels(2);
    for (auto& k : kernels)
        k.wire.set_script([](const packet& p) { return p.number % 50 == 3 ? dropped() : answered(p); });
    striped_transport transport = striped(kernels);
    MADSchedule schedule(transport, {.max_outstanding = 256, .timeout = 1ms, .retries = 3});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 5000)) == 5000);
    CHECK(schedule.counters().retried > 0);
    for (const auto& k : kernels) CHECK(k.most_on_wire(class_directed) == 128);
    const auto settled = [](MADSchedule& s) -> task<bool> { co_return co_await s.pause(1s); };
    CHECK(sync_wait(schedule, settled(schedule)));
    CHECK(transport.held(MgmtClass::SubnDirected) == 0u);
}

TEST_CASE("members that do not know what they hold are used evenly") {
    std::vector<scripted_transport> nets(3);
    striped_transport transport = striped(nets);
    CHECK_FALSE(transport.held(MgmtClass::SubnDirected));
    MADSchedule schedule(transport, {.max_outstanding = 16, .timeout = 1s});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 300)) == 300);
    for (const auto& net : nets) CHECK(net.taken().size() == 100);
}

TEST_CASE("a striped transport in virtual time wakes for the member with the earliest event") {
    std::vector<scripted_transport> nets(3);
    nets[1].inject(failure(5ms, 0));
    striped_transport transport = striped(nets);
    CHECK(transport.next_event() == mad::time_point(5ms));
    nets[0].inject(failure(7ms, 0));
    nets[2].inject(failure(3ms, 0));
    CHECK(transport.next_event() == mad::time_point(3ms));
}

TEST_CASE("sequential requests stay with one member") {
    std::vector<capped_kernel> kernels(4);
    striped_transport transport = striped(kernels);
    MADSchedule schedule(transport, {.max_outstanding = 1, .timeout = 1s});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 50)) == 50);
    std::vector<u64> carried;
    for (const auto& k : kernels) carried.push_back(k.requests());
    CHECK(carried == std::vector<u64>{50, 0, 0, 0});
}

TEST_CASE("the requests of a failed member are carried by the other members") {
    std::vector<scripted_transport> nets(3);
    // The second member delivers ten replies. Then its device is removed while requests are in flight.
    nets[1].set_script([](const packet& p) {
        if (p.number < 10) return answered(p);
        return p.number == 10 ? fate{{}, {failure(round_trip, ENODEV)}} : dropped();
    });
    striped_transport transport = striped(nets);
    MADSchedule schedule(transport, {.max_outstanding = 16, .timeout = 1ms});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 400)) == 400);
    CHECK(transport.gone() == 1);
    CHECK(schedule.counters().timed_out == 0);
    CHECK(nets[1].offered() < 20);
    CHECK_FALSE(schedule.transport_failed());
}

TEST_CASE("a striped transport fails when all members failed") {
    std::vector<scripted_transport> nets(2);
    for (auto& net : nets) net.inject(failure(1ms, ENODEV));
    striped_transport transport = striped(nets);
    MADSchedule schedule(transport, {.timeout = 1s});
    nets[0].set_script(silence);
    nets[1].set_script(silence);
    auto info = sync_wait(schedule, schedule.SubnGet<smp::NodeInfo>(route(1)));
    REQUIRE(!info);
    CHECK(info.error().code == errc::transport_failed);
    CHECK(transport.gone() == 2);
    auto again = sync_wait(schedule, schedule.SubnGet<smp::NodeInfo>(route(1)));
    REQUIRE(!again);
    CHECK(again.error().code == errc::send_failed);
    CHECK(again.error().attempts == 0);
}

TEST_CASE("a request that one member rejects or blocks goes to another member, and fails if all reject it") {
    std::vector<scripted_transport> nets(3);
    nets[0].set_script([](const packet&) { return refused(EIO); });
    nets[1].set_script([](const packet&) { return blocked(); });
    striped_transport transport = striped(nets);
    request r;
    CHECK(transport.send(r()).state == mad::send_state::sent);
    CHECK(nets[2].taken().size() == 1);
    nets[2].set_script([](const packet&) { return refused(EINVAL); });
    CHECK(transport.send(r()).state == mad::send_state::would_block);
    nets[1].set_script([](const packet&) { return refused(EINVAL); });
    const mad::send_result result = transport.send(r());
    CHECK(result.state == mad::send_state::failed);
    CHECK((result.error == EINVAL || result.error == EIO));
}

TEST_CASE("members that would block delay a sweep and lose nothing") {
    std::vector<scripted_transport> nets(2);
    for (auto& net : nets) net.set_script([](const packet& p) { return p.number % 3 == 0 ? blocked() : answered(p); });
    striped_transport transport = striped(nets);
    MADSchedule schedule(transport, {.max_outstanding = 16, .timeout = 1s});
    CHECK(sync_wait(schedule, sweep(schedule, traffic::smps, 500)) == 500);
    CHECK(schedule.counters().retried == 0);
}

namespace {

/// A transport with one message that no ordinary buffer can hold. It keeps the message until the buffer is large
/// enough.
struct long_message final : mad::transport {
    explicit long_message(u8 filling) : fill(filling) {}
    u8 fill;
    bool is_there = true;
    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request&) noexcept override { return {}; }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (!is_there) return {};
        mad::received r{mad::receive_state::message};
        r.full_size = 1000;
        is_there = buffer.size() < mad::headroom + 1000;
        r.mad = buffer.subspan(mad::headroom, is_there ? mad::mad_size : 1000);
        std::memset(buffer.data() + mad::headroom, fill, r.mad.size());
        return r;
    }
    mad::transport_limits limits() const noexcept override { return {.kernel_rmpp = true}; }
    std::optional<mad::time_point> next_event() const noexcept override {
        if (is_there) return mad::time_point{};
        return std::nullopt;
    }
};

} // namespace

TEST_CASE("a message that did not fit is read completely from the member that has it") {
    std::vector<long_message> messages{long_message(1), long_message(2)};
    striped_transport transport = striped(messages);
    CHECK(transport.limits().kernel_rmpp);
    std::array<u8, mad::headroom + mad::mad_size> small{};
    std::array<u8, mad::headroom + 1000> large{};
    std::vector<u8> seen;
    for (int i = 0; i < 2; ++i) {
        const mad::received cut = transport.receive(small);
        REQUIRE(cut.mad.size() == 256);
        const mad::received whole = transport.receive(large);
        REQUIRE(whole.mad.size() == 1000);
        CHECK(whole.mad[0] == cut.mad[0]);
        seen.push_back(whole.mad[0]);
    }
    CHECK(seen == std::vector<u8>{1, 2});
    CHECK(transport.receive(large).state == mad::receive_state::would_block);
}

TEST_CASE("a striped transport is named after its devices, each named once") {
    std::vector<fake_kernel> kernels(3);
    const char* const names[] = {"b", "a", "b"};
    std::vector<std::unique_ptr<mad::transport>> members;
    for (std::size_t i = 0; i < 3; ++i) {
        transports::umad_options options = kernels[i].options();
        options.name = names[i];
        members.push_back(std::make_unique<umad_transport>(kernels[i].device(), options));
    }
    CHECK(striped_transport(std::move(members)).name() == "a, b");
}

TEST_CASE("members in virtual time and members with descriptors cannot be mixed, and at least one member is required") {
    std::vector<std::unique_ptr<mad::transport>> members;
    CHECK_THAT(message_of([&] { striped_transport none(std::move(members)); }),
               Catch::Contains("needs at least one member"));
    fake_kernel kernel;
    members.clear();
    members.push_back(std::make_unique<scripted_transport>());
    members.push_back(std::make_unique<umad_transport>(kernel.device(), kernel.options()));
    CHECK_THAT(message_of([&] { striped_transport both(std::move(members)); }), Catch::Contains("virtual time"));
}

// ---- real descriptors ------------------------------------------------------------------------------------------------------

namespace {

/// Several descriptors of one MAD device, each with its side of the kernel.
struct device {
    explicit device(std::size_t descriptors, unsigned max_held = 640) : kernels(descriptors) {
        for (auto& kernel : kernels) umads.emplace_back(kernel.device(), kernel.options(max_held));
        for (auto& umad : umads) {
            auto member = std::make_unique<forwarding>(umad);
            members.push_back(member.get());
            owned.push_back(std::move(member));
        }
        transport.emplace(std::move(owned));
    }
    bool readable(int wait_ms = 0) const {
        pollfd waiting{transport->native_handle(), POLLIN, 0};
        return ::poll(&waiting, 1, wait_ms) == 1;
    }
    mad::received receive() { return transport->receive(buffer); }

    std::vector<fake_kernel> kernels;
    std::vector<umad_transport> umads;
    std::vector<std::unique_ptr<mad::transport>> owned;
    std::vector<forwarding*> members;
    std::optional<striped_transport> transport;
    std::array<u8, 1024> buffer{};
};

/// Returns what the kernel delivers for a request that was written.
std::vector<u8> answer_of(const std::vector<u8>& written) {
    std::vector<u8> answer = written;
    const mad_bytes mad = answer_to(written.data() + 64);
    std::copy(mad.begin(), mad.end(), answer.begin() + 64);
    return answer;
}

/// A thread that replies for the kernels as soon as something was written to them.
class answering {
public:
    explicit answering(std::vector<fake_kernel>& kernels)
        : kernels_(kernels), counts_(kernels.size()), enough_(::eventfd(0, EFD_CLOEXEC)), thread_([this] { run(); }) {}
    ~answering() {
        ::eventfd_write(enough_.get(), 1);
        thread_.join();
    }
    u64 count(std::size_t kernel) const { return counts_[kernel]; }

private:
    void run() {
        std::vector<pollfd> waiting;
        for (auto& k : kernels_) waiting.push_back({k.descriptor(), POLLIN, 0});
        waiting.push_back({enough_.get(), POLLIN, 0});
        std::vector<u8> packet(320);
        while (::poll(waiting.data(), waiting.size(), -1) > 0 && !waiting.back().revents) {
            for (std::size_t k = 0; k < kernels_.size(); ++k) {
                if (!waiting[k].revents) continue;
                if (::read(waiting[k].fd, packet.data(), packet.size()) != 320) {
                    waiting[k].fd = -1; // the other end is closed
                    continue;
                }
                ++counts_[k];
                const auto answer = answer_of(packet);
                while (::write(waiting[k].fd, answer.data(), answer.size()) < 0 && errno == EAGAIN) {
                    pollfd full{waiting[k].fd, POLLOUT, 0};
                    ::poll(&full, 1, -1);
                }
            }
        }
    }
    std::vector<fake_kernel>& kernels_;
    std::vector<std::atomic<u64>> counts_;
    mad::unique_fd enough_;
    std::thread thread_;
};

u64 run_by_asio(MADSchedule& schedule, u32 count) {
    boost::asio::io_context io{1};
    coro::asio_driver driver(io, schedule);
    u64 right = 0;
    coro::async_run(driver, sweep(schedule, traffic::smps, count), [&](u64 n) { right = n; });
    io.run();
    return right;
}

} // namespace

TEST_CASE("one descriptor reports messages of all members, and no member delays another") {
    device d(3);
    CHECK_FALSE(d.readable());
    CHECK(d.receive().state == mad::receive_state::would_block);
    for (u8 i = 0; i < 9; ++i) {
        auto reply = a_reply();
        reply[64 + 5] = i % 3;
        d.kernels[i % 3].deliver(reply);
    }
    CHECK(d.readable());
    std::vector<u8> from;
    for (;;) {
        const mad::received r = d.receive();
        if (r.state != mad::receive_state::message) break;
        from.push_back(r.mad[5]);
    }
    REQUIRE(from.size() == 9);
    for (std::size_t i = 0; i < 9; i += 3) {
        const std::vector<u8> in_turn(from.begin() + static_cast<std::ptrdiff_t>(i),
                                      from.begin() + static_cast<std::ptrdiff_t>(i) + 3);
        CHECK(std::accumulate(in_turn.begin(), in_turn.end(), 0) == 3);
        CHECK(std::count(in_turn.begin(), in_turn.end(), 1) == 1);
    }
    CHECK_FALSE(d.readable());
}

TEST_CASE("only members with messages are read, each with one empty read") {
    device d(5);
    for (int i = 0; i < 20; ++i) {
        d.kernels[1].deliver(a_reply());
        d.kernels[3].deliver(a_reply());
    }
    int messages = 0;
    while (d.receive().state == mad::receive_state::message) ++messages;
    CHECK(messages == 40);
    std::vector<u64> reads;
    for (const forwarding* m : d.members) reads.push_back(m->reads);
    CHECK(reads == std::vector<u64>{0, 21, 0, 21, 0});
}

TEST_CASE("an edge-triggered epoll on the striped descriptor misses nothing") {
    device d(3);
    const mad::unique_fd outer(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
    REQUIRE(::epoll_ctl(outer.get(), EPOLL_CTL_ADD, d.transport->native_handle(), &event) == 0);
    int messages = 0;
    for (std::size_t round = 0; round < 30; ++round) {
        d.kernels[round % 3].deliver(a_reply());
        REQUIRE(::epoll_wait(outer.get(), &event, 1, 5000) == 1);
        if (round % 2) d.kernels[(round + 1) % 3].deliver(a_reply()); // while the first message is being read
        while (d.receive().state == mad::receive_state::message) {
            if (++messages % 5 == 0) d.kernels[(round + 2) % 3].deliver(a_reply());
        }
        CHECK_FALSE(d.readable());
    }
    CHECK(::epoll_wait(outer.get(), &event, 1, 0) >= 0);
    CHECK(messages >= 45);
}

TEST_CASE("a sweep over several descriptors completes under the blocking driver and under Asio") {
    const bool by_asio = GENERATE(false, true);
    const unsigned window = GENERATE(1u, 7u, 512u);
    CAPTURE(by_asio, window);
    device d(4);
    const answering kernels(d.kernels);
    MADSchedule schedule(*d.transport, {.max_outstanding = window, .timeout = 60s});
    const u64 right = by_asio ? run_by_asio(schedule, 3000) : sync_wait(schedule, sweep(schedule, traffic::smps, 3000));
    CHECK(right == 3000);
    for (std::size_t k = 0; k < 4; ++k) {
        if (window == 1) CHECK(kernels.count(k) == (k == 0 ? 3000 : 0));
        if (window == 512) CHECK(kernels.count(k) >= 128);
    }
    CHECK(d.transport->held(MgmtClass::SubnDirected) == 0u);
}

TEST_CASE("a removed member costs a sweep only one timeout under both drivers") {
    const bool by_asio = GENERATE(false, true);
    device d(3);
    d.kernels[1].remove(ENODEV);
    const answering kernels(d.kernels);
    MADSchedule schedule(*d.transport, {.max_outstanding = 64, .timeout = 60s});
    const u64 right = by_asio ? run_by_asio(schedule, 1000) : sync_wait(schedule, sweep(schedule, traffic::smps, 1000));
    CHECK(right == 1000);
    CHECK(d.transport->gone() == 1);
    CHECK(kernels.count(0) + kernels.count(2) == 1000);
    CHECK_FALSE(schedule.transport_failed());
    CHECK_FALSE(d.readable()); // a removed device is not polled any more
}

TEST_CASE("each member is limited by max_held, and a member with returned requests accepts more") {
    device d(2, 4);
    request r;
    for (int i = 0; i < 8; ++i) REQUIRE(d.transport->send(r()).state == mad::send_state::sent);
    CHECK(d.umads[0].held() == 4);
    CHECK(d.umads[1].held() == 4);
    CHECK(d.transport->send(r()).state == mad::send_state::would_block);
    const auto request_of_1 = d.kernels[1].written();
    d.kernels[1].deliver(answer_of(request_of_1));
    REQUIRE(d.receive().state == mad::receive_state::message);
    CHECK(d.transport->send(r()).state == mad::send_state::sent);
    CHECK(d.umads[1].held() == 4);
}

TEST_CASE("requests are counted per member and class, by the agent that received the message") {
    device d(2);
    request smp, gmp;
    gmp.mgmt_class = class_Performance;
    gmp.path = mad::IBPath{};
    for (int i = 0; i < 3; ++i) REQUIRE(d.transport->send(smp()).state == mad::send_state::sent);
    for (int i = 0; i < 2; ++i) REQUIRE(d.transport->send(gmp()).state == mad::send_state::sent);
    CHECK(d.transport->held(MgmtClass::SubnDirected) == 3u);
    CHECK(d.transport->held(MgmtClass::Performance) == 2u);
    CHECK(d.transport->held(MgmtClass::SubnAdm) == 0u);
    CHECK(d.umads[0].held(MgmtClass::Performance) == 1u); // not both on the member with fewer SMPs
    std::vector<u8> last;
    for (auto packet = d.kernels[0].written_now(); !packet.empty(); packet = d.kernels[0].written_now()) last = packet;
    REQUIRE(last[64 + 1] == gmp.bytes[mad::headroom + 1]);
    d.kernels[0].deliver(answer_of(last));
    REQUIRE(d.receive().state == mad::receive_state::message);
    CHECK(d.transport->held(MgmtClass::SubnDirected) == 3u);
    CHECK(d.transport->held(MgmtClass::Performance) == 1u);
}

TEST_CASE("a striped server receives requests at its first member and replies through the member of the request") {
    device d(3);
    CHECK(d.transport->serve({MgmtClass::Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    CHECK(d.kernels[0].registrations.size() == 1);
    CHECK(d.kernels[1].registrations.empty());
    // Requests arrive at any member, with all agent numbers.
    for (std::size_t k = 0; k < 3; ++k) {
        for (const u32 id : {0u, 5u, 31u}) {
            auto incoming = delivery(0, Get, 256);
            std::memcpy(incoming.data(), &id, sizeof id);
            d.kernels[k].deliver(incoming);
            const mad::received got = d.receive();
            REQUIRE(got.state == mad::receive_state::message);
            REQUIRE(got.source.agent != mad::any_agent);
            request reply;
            reply.expects_reply = false;
            auto r = reply();
            r.agent = got.source.agent;
            REQUIRE(d.transport->send(r).state == mad::send_state::sent);
            for (std::size_t other = 0; other < 3; ++other) CHECK(d.kernels[other].nothing_written() == (other != k));
            CHECK(host_at<u32>(d.kernels[k].written(), 0) == id);
        }
    }
}

TEST_CASE("a reply to a removed member fails") {
    device d(2);
    d.kernels[0].deliver(delivery(0, Get, 256));
    const mad::received got = d.receive();
    REQUIRE(got.state == mad::receive_state::message);
    d.kernels[0].remove(ENODEV);
    CHECK(d.receive().state == mad::receive_state::would_block);
    CHECK(d.transport->gone() == 1);
    request reply;
    auto r = reply();
    r.agent = got.source.agent;
    CHECK(d.transport->send(r).state == mad::send_state::failed);
}

namespace {

/// A socket whose send() returns would_block when its queue is full, like those of ibsim's clients.
class full_socket final : public mad::transport {
public:
    full_socket() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        near_ = mad::unique_fd(ends[0]);
        far_ = mad::unique_fd(ends[1]);
    }
    int native_handle() const noexcept override { return near_.get(); }
    mad::send_result send(const mad::send_request& r) noexcept override {
        blocks_ = ::write(near_.get(), r.mad, r.size) < 0;
        return {blocks_ ? mad::send_state::would_block : mad::send_state::sent};
    }
    mad::received receive(std::span<u8>) noexcept override { return {}; }
    mad::transport_limits limits() const noexcept override { return {}; }
    bool wants_writable() const noexcept override { return blocks_; }
    void drain() {
        std::array<u8, 256> mad;
        while (::read(far_.get(), mad.data(), mad.size()) > 0) continue;
    }

private:
    mad::unique_fd near_, far_;
    bool blocks_ = false;
};

} // namespace

TEST_CASE("a member that becomes writable makes the descriptor readable once") {
    std::vector<full_socket> sockets(2);
    striped_transport transport = striped(sockets);
    const auto readable = [&] {
        pollfd waiting{transport.native_handle(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    };
    std::array<u8, 1024> buffer{};
    request r;
    mad::send_result result;
    while ((result = transport.send(r())).state == mad::send_state::sent) continue;
    CHECK(result.state == mad::send_state::would_block);
    CHECK_FALSE(transport.wants_writable()); // the members decide that
    CHECK_FALSE(readable());

    sockets[1].drain();
    CHECK(readable());
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
    CHECK_FALSE(readable());
    CHECK(transport.send(r()).state == mad::send_state::sent);
}
