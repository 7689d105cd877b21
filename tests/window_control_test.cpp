// SPDX-License-Identifier: MIT
// window_control_test.cpp - a window over wires that lose for different reasons.
#include "catch.hpp"
#include <comad/mad/send_rate.hpp>
#include <comad/mad/window_control.hpp>

#include <algorithm>
#include <chrono>
#include <random>

using namespace comad;
using namespace std::chrono_literals;
using mad::window_control;

namespace {

/// A window's worth of MADs at a time over a wire that carries `capacity` of them and drops the rest, and loses each of
/// the others with probability `loss`.
struct wire {
    unsigned capacity = 100'000;
    double loss = 0;
    double inflation = 1; // when it is full
    std::mt19937 random{1};
    u64 lost = 0, answered = 0;

    void round(window_control& w) {
        const unsigned sent = w.window();
        w.full();
        for (unsigned i = 0; i < sent; ++i) {
            const bool has_place = i < capacity;
            const bool arrives = has_place && std::uniform_real_distribution<>(0, 1)(random) >= loss;
            if (arrives) w.answered(sent > capacity / 2 ? inflation : 1.0);
            else w.lost();
            ++(arrives ? answered : lost);
        }
    }
};

unsigned window_after(wire& net, window_control& w, int rounds) {
    for (int i = 0; i < rounds; ++i) net.round(w);
    return w.window();
}

/// Of the last rounds.
double mean_window(wire& net, window_control& w, int rounds) {
    double sum = 0;
    for (int i = 0; i < rounds; ++i) {
        net.round(w);
        sum += w.window();
    }
    return sum / rounds;
}

} // namespace

TEST_CASE("a window that loses nothing doubles up to the most") {
    window_control w(512, false);
    wire net;
    CHECK(w.window() == 8);
    CHECK(window_after(net, w, 10) == 512);
    window_control small(5, false);
    CHECK(small.window() == 5);
    CHECK(window_after(net, small, 10) == 5);
}

TEST_CASE("a window that is never full does not grow") {
    window_control w(512, false);
    for (int i = 0; i < 1000; ++i) w.answered(1);
    CHECK(w.window() == 8);
}

TEST_CASE("losses that do not depend on the window do not shrink it for long") {
    const double loss = GENERATE(0.02, 0.1, 0.19);
    CAPTURE(loss);
    window_control w(512, false);
    wire net{.loss = loss};
    window_after(net, w, 60);
    CHECK(mean_window(net, w, 200) > 350);
}

TEST_CASE("a window above what the wire carries shrinks to about that") {
    const unsigned capacity = GENERATE(1u, 4u, 12u, 40u, 150u);
    const double loss = GENERATE(0.0, 0.02);
    CAPTURE(capacity, loss);
    window_control w(512, false);
    wire net{.capacity = capacity, .loss = loss};
    window_after(net, w, 100);
    net.lost = net.answered = 0;
    const double mean = mean_window(net, w, 1000);
    CHECK(mean <= std::max(1.5 * capacity, 2.0 + capacity));
    CHECK(mean >= 0.4 * capacity);
}

TEST_CASE("a crowded wire shrinks the window at once, and a polite one before anything is lost") {
    window_control w(512, false), polite(512, true);
    wire net{.capacity = 64, .inflation = 3}, same = net;
    window_after(net, w, 100);
    window_after(same, polite, 100);
    CHECK(net.lost > 0);
    CHECK(same.lost == 0);
    CHECK(polite.window() <= 64);
    CHECK(polite.window() >= 8);
}

TEST_CASE("who says BUSY is asked less") {
    window_control w(512, false);
    wire net;
    window_after(net, w, 10);
    for (int i = 0; i < 300; ++i) w.busy();
    CHECK(w.window() < 512);
}

TEST_CASE("a late answer takes its loss back") {
    window_control w(64, false);
    for (int round = 0; round < 100; ++round) {
        w.full();
        for (unsigned i = 0; i < 8; ++i) {
            w.lost();
            w.not_lost();
            w.answered(1);
        }
    }
    CHECK(w.window() == 64);
}

TEST_CASE("a window is never 0") {
    window_control w(512, true);
    for (int i = 0; i < 1000; ++i) {
        w.lost();
        w.busy();
    }
    CHECK(w.window() == 1);
}

// ---- rates ----------------------------------------------------------------------------------------------------------

TEST_CASE("a rate is kept, with a millisecond's worth at once") {
    mad::send_rate rate(10'000); // one in 100 us
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
    now += 10s; // what was not used is gone
    sent = 0;
    send_all();
    CHECK(sent == 10);
}

TEST_CASE("a low rate is one MAD at a time, and no rate is no bound") {
    mad::send_rate slow(2), any(0);
    mad::time_point now{5s};
    REQUIRE(slow.is_open(now));
    slow.sent(now);
    CHECK_FALSE(slow.is_open(now));
    now = slow.opens_at(now);
    CHECK(now - mad::time_point{5s} <= 500ms + 1ns);
    CHECK(slow.is_open(now));
    for (int i = 0; i < 1000; ++i) any.sent(now);
    CHECK(any.is_open(now));
    CHECK(any.opens_at(now) == mad::time_point::max());
}
