// SPDX-License-Identifier: MIT
// kernel_model_guest_test.cpp - the model of the kernel compared with the kernel: the same sends, delays and losses
// cause the same events.
#include "guest_rig.hpp"
#include "wire/scripted_transport.hpp"
#include <comad/transports/kernel_model.hpp>

#include <algorithm>
#include <numeric>
#include <poll.h>
#include <random>

namespace kernel_model_guest_test {

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;

namespace {

/// A request, and the times at which copies of its reply arrive after its transmission.
struct step {
    mad::duration at{};
    u32 tid = 0;
    MgmtClass mgmt_class = MgmtClass::Performance;
    u8 class_version = 1; ///< the version of the agent
    mad::duration timeout{};
    bool expects_reply = true;
    std::vector<mad::duration> answers{};
};

/// An event that the program reads, or a rejected send.
struct event {
    u32 tid;
    int status; ///< 0: a reply; ETIMEDOUT; negative: the errno of a send
    std::size_t size;
    friend bool operator==(const event&, const event&) = default;
};
std::ostream& operator<<(std::ostream& out, const event& e) {
    return out << '{' << e.tid << ' ' << e.status << ' ' << e.size << '}';
}

outgoing_mad mad_of(const step& s) {
    outgoing_mad m(to_lid(2), s.mgmt_class, 1, Method::Get, 0x0012, s.tid);
    m.expects_reply = s.expects_reply;
    m.timeout = s.timeout;
    if (iba::is_vendor_oui(s.mgmt_class)) m.mad()[39] = 7;
    return m;
}

/// Checks the time of an event. No event is earlier than in the script, and a busy machine may be late.
void check_time(mad::duration got, mad::duration wanted) {
    CHECK(got >= wanted - 10ms); // two timer ticks
    CHECK(got < wanted + 400ms);
}

struct happened {
    std::vector<event> events;
    std::vector<mad::duration> times;
};

happened by_the_model(const std::vector<step>& script) {
    std::map<u32, std::vector<mad::duration>> answers;
    scripted_transport wire([&](const packet& p) {
        fate f;
        for (const mad::duration after : answers.at(p.tid)) {
            arrival a = reply(p, after);
            a.bytes = {p.bytes.begin(), p.bytes.end()};
            a.bytes[3] |= 0x80;
            f.arrivals.push_back(a);
        }
        return f;
    });
    transports::kernel_options options;
    options.tick = 4ms; // HZ is 250 on Debian
    transports::kernel_model kernel(wire, options);
    happened all;
    std::vector<u8> buffer(1024);
    const auto read = [&](mad::time_point now) {
        for (;;) {
            const auto r = kernel.receive(buffer);
            if (r.state != mad::receive_state::message) return;
            all.events.push_back({mad::low_tid(r.mad.data()), static_cast<int>(r.status), r.mad.size()});
            all.times.push_back(now.time_since_epoch());
        }
    };
    const auto until = [&](mad::time_point end) {
        for (auto next = kernel.next_event(); next && *next <= end; next = kernel.next_event()) {
            kernel.set_now(*next);
            read(*next);
        }
        kernel.set_now(end);
    };
    for (const step& s : script) {
        until(mad::time_point(s.at));
        answers.try_emplace(s.tid, s.answers);
        outgoing_mad m = mad_of(s);
        mad::send_request r{};
        r.path = &m.path;
        r.mad = m.mad();
        r.size = mad::mad_size;
        r.mgmt_class = value(s.mgmt_class);
        r.class_version = s.class_version;
        r.expects_reply = s.expects_reply;
        r.attempt_timeout = r.operation_timeout = s.timeout;
        const auto result = kernel.send(r);
        if (result.state == mad::send_state::sent) continue;
        all.events.push_back({s.tid, -result.error, 0});
        all.times.push_back(s.at);
    }
    until(mad::time_point(10s));
    return all;
}

happened by_the_kernel(const std::vector<step>& script) {
    use_fakeib();
    std::map<u32, std::vector<mad::duration>> answers;
    for (const step& s : script) answers.try_emplace(s.tid, s.answers);
    const auto plan = [&](std::span<const u8> request) { return answers.at(mad::low_tid(request.data())); };
    const peer counters(port_of("fib1/1"), {MgmtClass::Performance, 1, mad::methods(Method::Get)}, plan);
    const peer vendor(port_of("fib1/1"), {MgmtClass::VendOUI, 1, mad::methods(Method::Get), 7}, plan);
    umad_transport device(port_of("fib0/1"));
    happened all;
    const mad::time_point start = clock_now();
    const auto read_until = [&](mad::time_point end) {
        while (const auto got = await_message(device, std::max(end - clock_now(), mad::duration(0)))) {
            all.events.push_back({got->tid(), static_cast<int>(got->status), got->mad.size()});
            all.times.push_back(clock_now() - start);
        }
    };
    for (const step& s : script) {
        read_until(start + s.at);
        outgoing_mad m = mad_of(s);
        const auto result = m.send(device, s.class_version);
        if (result.state == mad::send_state::sent) continue;
        all.events.push_back({s.tid, -result.error, 0});
        all.times.push_back(clock_now() - start);
    }
    while (device.held() > 0 && clock_now() - start < 10s) read_until(clock_now() + 20ms);
    read_until(clock_now() + 100ms); // no further event
    return all;
}

/// Returns requests of two classes and several agents, which are sent in the first 300 ms. The times of their ends
/// differ by more than the delay of a busy machine.
std::vector<step> script_of(unsigned seed) {
    constexpr unsigned count = 36;
    constexpr mad::duration apart = 70ms;
    std::mt19937 random(seed);
    std::vector<unsigned> place(count);
    std::iota(place.begin(), place.end(), 0u);
    std::shuffle(place.begin(), place.end(), random);
    std::vector<step> all;
    for (unsigned i = 0; i < count; ++i) {
        step s;
        s.at = i * 8ms;
        s.tid = 100 + i;
        s.mgmt_class = i % 3 ? MgmtClass::Performance : MgmtClass::VendOUI;
        s.class_version = 1;
        const mad::duration end = 400ms + place[i] * apart - s.at; // relative to the transmission
        switch (i % 6) {
        case 0: // with a reply
            s.timeout = end + 1s;
            s.answers = {end};
            break;
        case 1: // with duplicate replies
            s.timeout = end + 1s;
            s.answers = {end, end + 20ms, end + 20ms};
            break;
        case 2: // without a reply
            s.timeout = end;
            break;
        case 3: // with a late reply
            s.timeout = end;
            s.answers = {end + 200ms};
            break;
        case 4: // without waiting for the reply that arrives
            s.expects_reply = false;
            s.answers = {end};
            break;
        case 5: // the same transaction ID twice, while the first is in flight
            s.timeout = end;
            all.push_back(s);
            s.at += 2ms;
            break;
        }
        all.push_back(s);
    }
    // The same transaction IDs again from another agent of the class, and later from the first one.
    step other = all[1];
    other.at = 300ms;
    other.class_version = 2;
    other.timeout = 400ms + count * apart + 100ms - other.at;
    other.answers = {};
    other.tid = 102;
    all.push_back(other);
    return all;
}

} // namespace

TEST_CASE("the kernel and its model produce the same events for equal sends, delays and losses") {
    const auto seed = GENERATE(1u, 2u);
    CAPTURE(seed);
    const std::vector<step> script = script_of(seed);
    const happened model = by_the_model(script);
    const happened kernel = by_the_kernel(script);
    CHECK(model.events.size() > 30);
    REQUIRE(kernel.events == model.events);
    for (std::size_t i = 0; i < model.events.size(); ++i) {
        CAPTURE(i, model.events[i].tid);
        check_time(kernel.times[i], model.times[i]);
    }
}

} // namespace kernel_model_guest_test
