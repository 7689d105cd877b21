// SPDX-License-Identifier: MIT
// window_control_test.cpp - a window over wires that queue, drop and lose MADs for different reasons.
#include "support/catch.hpp"
#include <comad/mad/detail/send_rate.hpp>
#include <comad/mad/detail/window_control.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>

namespace window_control_test {

using namespace comad;
using namespace std::chrono_literals;
using mad::duration;
using mad::detail::window_control;

namespace {

/// A window that is kept full over a wire in virtual time. All MADs pass one bottleneck, which forwards one MAD per
/// `service`, holds `buffer` of them, and drops the others. The rest of a round trip takes `far`. MADs are lost
/// elsewhere with probability `loss`.
struct wire_options {
    duration far = 90us;
    duration service{0};
    unsigned buffer = 100'000;
    double loss = 0;
    duration jitter{0};
};
class wire {
public:
    explicit wire(const wire_options& options = {})
        : far(options.far), service(options.service), buffer(options.buffer), loss(options.loss),
          jitter(options.jitter) {}
    // results
    u64 answered = 0, dropped = 0, lost = 0;
    duration now{};

    /// Carries this number of MADs. Replies and losses come in the order of their time. The sender detects a loss after
    /// two round trips.
    void carry(window_control& w, unsigned mads) {
        while (mads-- > 0) {
            while (in_flight_.size() < w.window()) send(static_cast<unsigned>(in_flight_.size()) + 1);
            if (in_flight_.size() >= w.window()) w.full();
            const auto next = std::min_element(in_flight_.begin(), in_flight_.end(),
                                               [](const MAD& a, const MAD& b) { return a.known < b.known; });
            const MAD m = *next;
            in_flight_.erase(next);
            now = std::max(now, m.known);
            if (m.is_lost) {
                w.lost(m.crowd);
            } else {
                ++answered;
                w.measured(m.took, far + service, m.crowd);
                w.answered(m.crowd);
            }
        }
    }

private:
    const duration far, service;
    const unsigned buffer;
    const double loss;
    const duration jitter;
    std::mt19937 random{1};
    double chance() { return std::uniform_real_distribution<>(0, 1)(random); }

    struct MAD {
        duration known, took;
        unsigned crowd;
        bool is_lost;
    };
    void send(unsigned crowd) {
        const auto late = duration(static_cast<duration::rep>(chance() * static_cast<double>(jitter.count())));
        while (!leaves_.empty() && leaves_.front() <= now) leaves_.pop_front();
        const bool is_dropped = leaves_.size() >= buffer;
        const bool is_lost = !is_dropped && chance() < loss;
        dropped += is_dropped;
        lost += is_lost;
        duration took = far + late;
        if (!is_dropped) {
            free_ = std::max(free_, now) + service;
            leaves_.push_back(free_);
            took += free_ - now;
        }
        const bool is_gone = is_dropped || is_lost;
        in_flight_.push_back({now + (is_gone ? 2 * (far + service) : took), took, crowd, is_gone});
    }
    std::deque<MAD> in_flight_;
    std::deque<duration> leaves_; // for the MADs in the buffer
    duration free_{};
};

/// Returns the mean over the last MADs, in steps of 20.
double mean_window(wire& net, window_control& w, unsigned mads) {
    double sum = 0;
    const unsigned steps = mads / 20;
    for (unsigned i = 0; i < steps; ++i) {
        net.carry(w, 20);
        sum += w.window();
    }
    return sum / steps;
}

} // namespace

TEST_CASE("a window on a link without losses doubles up to the maximum") {
    window_control w(512, false);
    wire net;
    CHECK(w.window() == 8);
    net.carry(w, 2 * (16 + 16 + 32 + 64 + 128 + 256)); // replies of two windows for each doubling
    CHECK(w.window() == 512);
    window_control small(5, false);
    CHECK(small.window() == 5);
    wire same;
    same.carry(small, 1000);
    CHECK(small.window() == 5);
}

TEST_CASE("random jitter of round-trip times does not limit the window") {
    window_control w(512, false);
    wire net(wire_options{.jitter = 10us}); // 5 % on average, which is also part of the baseline of round_trips
    net.carry(w, 4000);
    CHECK(w.window() == 512);
}

TEST_CASE("a window that is not fully used does not grow") {
    window_control w(512, false);
    for (int i = 0; i < 1000; ++i) w.answered(8); // the window is never full
    CHECK(w.window() == 8);
    w = window_control(512, false);
    for (int i = 0; i < 1000; ++i) { // the window is full for a moment, now and then
        if (i % 10 == 0) w.full();
        w.answered(4);
    }
    CHECK(w.window() == 8);
}

TEST_CASE("a window settles at the knee of a link with unlimited buffers") {
    // The number in flight at the knee is the round trip divided by the service time.
    struct setting {
        duration far, service;
        double knee;
    };
    const auto s = GENERATE(values<setting>({{90us, 10us, 10}, {90us, 2us, 46}, {1ms, 100us, 11}, {10us, 50us, 1.2}}));
    CAPTURE(s.far.count(), s.service.count());
    window_control w(512, false);
    wire net(wire_options{.far = s.far, .service = s.service});
    net.carry(w, 3000);
    const duration begin = net.now;
    const u64 before = net.answered;
    const double mean = mean_window(net, w, 10'000);
    CHECK(mean <= std::max(1.4 * s.knee, 4.5)); // a few MADs do not delay each other
    // The wire is busy nearly all the time.
    CHECK(static_cast<double>(net.answered - before) * s.service / (net.now - begin) > 0.95);
}

TEST_CASE("a window on a link with small buffers shrinks after losses, and few MADs are lost") {
    struct setting {
        unsigned buffer;
        duration service;
    };
    const auto s = GENERATE(values<setting>({{8, 10us}, {4, 4us}, {3, 10us}, {2, 20us}}));
    CAPTURE(s.buffer, s.service.count());
    window_control w(512, false);
    wire net(wire_options{.service = s.service, .buffer = s.buffer});
    net.carry(w, 3000);
    net.dropped = net.answered = 0;
    const duration begin = net.now;
    net.carry(w, 20'000);
    CHECK(static_cast<double>(net.dropped) / static_cast<double>(net.answered) < 0.012);
    CHECK(static_cast<double>(net.answered) * s.service / (net.now - begin) > 0.75);
}

TEST_CASE("losses that do not depend on the window do not keep the window small") {
    const double loss = GENERATE(0.01, 0.05, 0.1, 0.19, 0.36);
    CAPTURE(loss);
    window_control w(512, false);
    wire net(wire_options{.loss = loss});
    net.carry(w, 10'000);
    CHECK(mean_window(net, w, 10'000) > 200);
}

TEST_CASE("random losses of the link do not hide a growing queue") {
    window_control w(512, false);
    wire net(wire_options{.service = 10us, .loss = 0.1});
    net.carry(w, 5000);
    CHECK(mean_window(net, w, 10'000) < 20);
}

TEST_CASE("random losses of the link do not mask a buffer that drops many MADs") {
    const unsigned buffer = GENERATE(2u, 3u, 6u);
    CAPTURE(buffer);
    window_control w(512, false);
    wire net(wire_options{.service = 4us, .buffer = buffer, .loss = 0.03});
    net.carry(w, 5000);
    net.dropped = net.answered = 0;
    net.carry(w, 20'000);
    CHECK(static_cast<double>(net.dropped) / static_cast<double>(net.answered) < 0.1);
}

TEST_CASE("unmeasured round trips do not influence the size of the window") {
    window_control w(512, false);
    const auto epoch = [&](duration took) { // with a full window; 0: not measured
        const unsigned crowd = w.window();
        w.full();
        for (unsigned i = 0; i < std::max(crowd, 16u); ++i) {
            if (took.count() > 0) w.measured(took, 100us, crowd);
            w.answered(crowd);
        }
    };
    while (w.window() < 16) epoch(duration{0});
    epoch(120us); // shows a queue, but nothing shows that a smaller window was slower
    CHECK(w.window() == 16);
}

TEST_CASE("a polite window is never larger than the window of a subnet manager") {
    window_control w(512, true);
    wire net;
    CHECK(w.window() == 4);
    net.carry(w, 5000);
    CHECK(w.window() == 4);
    window_control smaller(2, true);
    CHECK(smaller.window() == 2);
}

TEST_CASE("BUSY replies shrink the window, and the window grows again afterwards") {
    window_control w(512, false);
    wire net;
    net.carry(w, 4000);
    REQUIRE(w.window() == 512);
    for (int i = 0; i < 2000; ++i) w.busy();
    CHECK(w.window() <= 8);
    net.carry(w, 20'000);
    CHECK(w.window() > 256);
}

TEST_CASE("a window that shrank because of spurious losses is restored") {
    window_control w(512, false);
    wire net(wire_options{.service = 2us, .buffer = 40});
    net.carry(w, 3000);
    const unsigned before = w.window();
    REQUIRE(before > 16);
    unsigned lost = 0;
    while (w.window() == before) {
        REQUIRE(lost < 2 * before);
        w.lost(before);
        ++lost;
    }
    CHECK(w.window() < before);
    for (; lost > 0; --lost) w.on_spurious_loss(before);
    CHECK(w.window() == before);
}

TEST_CASE("a late reply revokes its loss before the window shrinks") {
    window_control w(64, false);
    wire net;
    net.carry(w, 500);
    REQUIRE(w.window() == 64);
    for (int round = 0; round < 100; ++round) {
        for (unsigned i = 0; i < 8; ++i) {
            w.lost(64);
            w.on_spurious_loss(64);
            w.measured(100us, 100us, 64);
            w.answered(64);
        }
    }
    CHECK(w.window() == 64);
}

TEST_CASE("a window is never 0, and losses do not reduce the window below its minimum") {
    window_control w(512, false), unasked(512, false);
    for (int i = 0; i < 1000; ++i) w.lost(8);
    CHECK(w.window() == window_control::few);
    for (int i = 0; i < 1000; ++i) unasked.busy();
    CHECK(unasked.window() == 1);
}

// ---- rates ----------------------------------------------------------------------------------------------------------

TEST_CASE("send_rate keeps its rate and allows a burst of one millisecond") {
    mad::detail::send_rate rate(10'000); // one per 100 us
    mad::time_point now{5s};
    unsigned sent = 0;
    const auto send_all = [&] {
        while (rate.is_open(now)) {
            rate.sent(now);
            ++sent;
        }
    };
    send_all();
    CHECK(sent == 10);
    while (now < mad::time_point{6s}) {
        REQUIRE(rate.opens_at(now) > now);
        now = rate.opens_at(now);
        send_all();
    }
    CHECK(sent >= 10'000);
    CHECK(sent <= 10'011);
    now += 10s; // unused time does not accumulate
    sent = 0;
    send_all();
    CHECK(sent == 10);
}

TEST_CASE("a low send rate allows one MAD at a time, and rate 0 is unlimited") {
    mad::detail::send_rate slow(2), any(0);
    mad::time_point now{5s};
    REQUIRE(slow.is_open(now));
    slow.sent(now);
    CHECK_FALSE(slow.is_open(now));
    now = slow.opens_at(now);
    CHECK(now - mad::time_point{5s} == 500ms);
    CHECK(slow.is_open(now));
    for (int i = 0; i < 1000; ++i) any.sent(now);
    CHECK(any.is_open(now));
    CHECK(any.opens_at(now) == mad::time_point::max());
}

} // namespace window_control_test
