// SPDX-License-Identifier: MIT
// engine_model_test.cpp - the engine compared with a model, with random operations, replies, losses, reports and
// clocks.
#include "library/engine_model.hpp"
#include "library/model_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>

using namespace comad;
using namespace comad::test;

namespace engine_model_test {
namespace {

constexpr time_point never{duration::max() / 2};
constexpr mad::rpc_kind get_counters{iba::MgmtClass::Performance, 1, iba::Method::Get, 0x12, true};
constexpr mad::rpc_kind get_records{iba::MgmtClass::SubnAdm, 2, iba::Method::GetTable, 0x11, true};

/// The events that can occur with one seed. Some seeds have all of them, some only few, so that exact properties are
/// checked exactly.
struct habits {
    bool blocks = false, refuses = false, reports = false, busy = false, parts = false, noise = false, fails = false;
    bool forgets = false;    ///< so much is lost that the engine has to forget some attempts
    bool one_target = false; ///< half of all requests go to one target that counts attempts
    bool measured = false, fixed = false, cancels = false, jumps = false, holds = false;
    unsigned lost = 0;     ///< per thousand MADs
    unsigned dead = 0;     ///< per hundred targets
    duration tick = 20us;  ///< the longest usual time step
    unsigned answers = 40; ///< per hundred steps
    unsigned crowd = 20;   ///< usual number of pending operations
};

/// Simulates the wire, the targets and the program, at random.
class world {
public:
    /// Counts the operations of all worlds.
    struct counts {
        u64 operations = 0;
        u64 with_growing_waits = 0; ///< operations with growing timeouts, such as Sets, that ended
        u64 sent_again = 0;         ///< those of which at least one attempt was lost or returned
    };
    explicit world(u64 seed, counts& all)
        : random_(seed), likes_(some_habits()), options_(some_options()), counted_(all) {
        make_targets();
        const duration timer_resolution = one_in(3) ? 1us : 100us;
        model_.emplace(options_, one_in(4) ? 1 + below(64) : 4096, timer_resolution, operations);
        model_clock() = time_point{};
        if (one_in(4)) model_->use_clock();
        model_->on_offer = [this] { return offer(); };
        model_->on_sent = [this](u32 i) { arrive(i); };
        model_->on_end = [this](model_operation& o) { ended(o); };
        tick(duration{1} * below(1'000'000));
    }

    u64 run() {
        u64 most = one_in(20) ? 4000 : 200 + below(1200);
        if (likes_.forgets) most = 20'000;
        for (u64 i = 0; i < most && model_->attempts_made() < 6000; ++i) step();
        drain();
        if (one_in(4)) fail_before_anything_left();
        return steps_;
    }

private:
    static constexpr unsigned operations = 64;
    using kind = model_delivery::kind;

    u32 below(u32 n) { return static_cast<u32>(random_() % n); }
    bool one_in(u32 n) { return below(n) == 0; }
    bool per_mille(u32 n) { return below(1000) < n; }

    habits some_habits() {
        habits h;
        for (bool* b : {&h.blocks, &h.refuses, &h.reports, &h.busy, &h.parts, &h.noise}) *b = one_in(3);
        h.holds = one_in(6);
        if (one_in(2)) h.blocks = h.holds = false;
        h.fails = one_in(10);
        h.one_target = one_in(4);
        h.cancels = one_in(2);
        h.jumps = one_in(4);
        const u32 which = below(4);
        h.measured = which != 0;
        h.fixed = which != 1;
        if (one_in(2)) h.lost = below(one_in(3) ? 400 : 60);
        if (one_in(3)) h.dead = below(60);
        h.tick = duration{1 + below(one_in(4) ? 2'000'000 : 40'000)};
        h.answers = 10 + below(50);
        h.crowd = 1 + below(one_in(3) ? operations : 16);
        if (one_in(60)) {
            h.forgets = h.fixed = true;
            h.measured = false;
            h.lost = 900;
            h.tick = 200us;
            h.crowd = operations;
        }
        return h;
    }
    engine_options some_options() {
        engine_options o;
        o.max_outstanding = likes_.measured && one_in(3) ? 0 : 1 + below(one_in(2) ? 4 : 40);
        o.per_destination = below(4);
        o.seed = static_cast<u32>(random_());
        o.polite = one_in(4);
        if (one_in(5)) o.max_rate = 1 + below(one_in(2) ? 2000 : 200'000);
        if (one_in(5)) o.patience.first_deadline = duration{100'000 + below(10'000'000)};
        if (one_in(5)) o.patience.longest_deadline = 5ms;
        if (one_in(5)) o.patience.patience = 50ms;
        if (one_in(5)) o.patience.first_patience = 200ms;
        return o;
    }
    void make_targets() {
        for (u8 i = 1; i <= 12; ++i) {
            model_target& t = targets_.emplace_back();
            if (i <= 8) {
                t.path = i % 2 ? route(i) : route(i, i, u8{3});
                t.kind = &get_node_info;
                t.distance = i % 2 ? 1 : 3;
                t.requested_bound = static_cast<u16>(i == 8 ? mad::operation::unbounded : i == 7 ? 3 : 0);
            } else {
                mad::IBPath path;
                path.DLID = iba::lid{static_cast<u16>(i)};
                t.path = path;
                t.kind = i == 12 ? &get_records : &get_counters;
                t.distance = 70;
                t.counts = i == 12;
                t.takes_measured = i != 12;
                t.requested_bound = static_cast<u16>(1 + below(4));
            }
            t.key = mad::destination_key(t.path);
            t.bound = t.requested_bound == 0                           ? options_.per_destination
                      : t.requested_bound == mad::operation::unbounded ? 0
                                                                       : t.requested_bound;
            t.dead = below(100) < likes_.dead;
        }
    }

    // the wire
    engine_model::taking offer() {
        if (is_gone_) return engine_model::taking::refuses;
        if (is_stuck_ || (likes_.blocks && one_in(12))) return engine_model::taking::blocks;
        if (likes_.refuses && one_in(40)) return engine_model::taking::refuses;
        return engine_model::taking::takes;
    }
    void arrive(u32 attempt) {
        const model_attempt& a = model_->attempt_at(attempt);
        if (!a.to->dead && !per_mille(likes_.lost)) answers_.push_back(attempt);
    }
    kind some_kind() {
        if (likes_.busy && one_in(6)) return kind::busy;
        if (likes_.parts && one_in(12)) return kind::part;
        if (likes_.reports && one_in(6))
            return one_in(6) ? kind::failed_report : one_in(8) ? kind::response_report : kind::report;
        if (likes_.noise && one_in(6)) {
            constexpr std::array<kind, 5> all{kind::foreign, kind::garbled, kind::wrong_size, kind::tiny,
                                              kind::stranger};
            return all[below(all.size())];
        }
        return kind::reply;
    }
    void deliver(u32 attempt, kind what) {
        model_delivery d{what, attempt, static_cast<u32>(random_())};
        const model_attempt& a = model_->attempt_at(attempt);
        if (what == kind::stranger && std::holds_alternative<IBDRPath>(a.to->path)) return;
        if (what == kind::foreign && model_->is_known_tid(d.noise)) return;
        if (!model_->is_clear(attempt, what)) return;
        model_->deliver(d);
    }
    void answer() {
        if (answers_.empty()) return answer_again();
        const u32 at = one_in(2) ? 0 : below(static_cast<u32>(answers_.size()));
        const u32 attempt = answers_[at];
        const kind what = some_kind();
        if (what == kind::reply || what == kind::busy) answers_.erase(answers_.begin() + at);
        deliver(attempt, what);
    }
    /// Delivers a packet for an attempt that got a reply, was lost or was returned before.
    void answer_again() {
        if (model_->attempts_made() == 0) return;
        const u32 latest = std::min(model_->attempts_made(), one_in(10) ? 1100u : 40u);
        deliver(model_->attempts_made() - 1 - below(latest), some_kind());
    }

    // the program
    void submit() {
        for (u32 tries = 0; tries < 4; ++tries) {
            model_operation& o = model_->op_at(below(operations));
            if (o.at != model_operation::stage::idle) continue;
            fill(o);
            ++counted_.operations;
            return model_->submit(o);
        }
    }
    void fill(model_operation& o) {
        const model_target& t =
            likes_.one_target && one_in(2) ? targets_.back() : targets_[below(one_in(2) ? 12 : 1 + below(12))];
        o.to = &t;
        o.path = &t.path;
        o.destination = t.key;
        o.destination_bound = t.requested_bound;
        o.counts_attempts = t.counts;
        o.distance = t.distance;
        o.takes_table = t.counts;
        o.timeout = likes_.measured && t.takes_measured && (!likes_.fixed || !one_in(3))
                        ? duration{0}
                        : duration{50'000 * (1 + below(one_in(3) ? 200 : 8))};
        o.longest_timeout = one_in(3) ? o.timeout * below(9) : duration{0};
        o.patience = one_in(5) ? duration{1 + below(300'000'000)} : duration{0};
        o.retries = static_cast<u8>(below(one_in(4) ? 8 : 4));
        o.busy_retries = static_cast<u8>(below(6));
        o.expects_reply = o.timeout == duration{0} || !one_in(12);
        if (o.timeout != duration{0} && !t.counts && one_in(8)) {
            o.destination_bound = mad::operation::unbounded;
            if (one_in(2)) o.destination = 0;
        }
    }
    void meddle() {
        if (model_->pending().empty()) return;
        model_operation& o = model_->op_at(model_->pending()[below(static_cast<u32>(model_->pending().size()))]);
        if (one_in(2)) model_->cancel(o);
        else model_->withdraw(o);
    }
    void ended(model_operation& o) {
        if (o.timeout > duration{0} && o.longest_timeout > o.timeout) {
            ++counted_.with_growing_waits;
            counted_.sent_again += o.times_sent > 1;
        }
        if (is_draining_) return;
        if (one_in(3) && model_->pending().size() < likes_.crowd) submit();
        if (likes_.cancels && one_in(12)) meddle();
        if (likes_.cancels && one_in(30)) model_->cancel(model_->op_at(below(operations)));
    }

    // time
    void tick(duration d, bool examined = true) {
        if (examined) model_->set_time(model_->now());
        model_clock() = model_->now() + d;
        model_->set_time(model_clock());
    }
    void pass_time() {
        if (likes_.jumps && one_in(60))
            return tick(duration{1} * below(one_in(3) ? 2'000'000'000 : 5'000'000), one_in(2));
        if (one_in(8)) return wait_for_deadline();
        tick(duration{1} * below(static_cast<u32>(likes_.tick.count())), !one_in(6));
    }
    void wait_for_deadline() {
        model_->set_time(model_->now());
        const time_point next = model_->mads().next_deadline();
        if (next > never || next < model_->now()) return;
        tick(next - model_->now());
    }

    void step() {
        act(below(100));
        checked();
    }
    void act(u32 chance) {
        if (chance < likes_.answers) return answer();
        if (chance < 65) return pass_time();
        if (chance < 80) {
            if (model_->pending().size() < likes_.crowd) submit();
            return;
        }
        if (chance < 92) return turn();
        switch (below(8)) {
        case 0: return model_->on_time();
        case 1: return model_->run_ready();
        case 2:
            if (!model_->holding()) model_->resume_sends();
            return;
        case 3:
            if (likes_.cancels) meddle();
            return;
        case 4: return answer_again();
        case 5: is_stuck_ = likes_.blocks && one_in(3); return;
        case 6:
            if (likes_.holds && !model_->holding()) model_->hold_sends();
            return;
        case 7:
            if (likes_.fails && one_in(10) && !model_->is_foggy()) fail();
            return;
        }
    }
    void turn() {
        if (model_->holding()) model_->release_sends();
        model_->turn();
    }
    void fail() {
        is_gone_ = true;
        model_->fail_transport(ENODEV);
        checked();
        turn();
        checked();
        is_gone_ = false;
    }
    void fail_before_anything_left() {
        is_stuck_ = true;
        submit();
        checked();
        fail();
        is_stuck_ = false;
        drain();
    }
    /// Ends everything in flight, with or without a reply. Nothing may be left.
    void drain() {
        is_draining_ = true;
        is_stuck_ = false;
        const bool answers = one_in(2);
        for (u32 turns = 0; turns < 20'000; ++turns) {
            turn();
            checked();
            if (model_->mads().idle() && model_->in_flight().empty() && model_->mads().in_flight() == 0) break;
            if (answers && one_in(2)) {
                answer();
                checked();
                continue;
            }
            model_->set_time(model_->now());
            const time_point next = model_->mads().next_deadline();
            if (model_->is_foggy() || model_->mads().has_ready()) tick(1us);
            else if (next > never) FAIL("step " << steps_ << ": something waits for ever: 0, 0\n" << model_->account());
            else tick(std::max(next - model_->now(), duration{0}));
        }
        model_->check_end();
        checked();
    }
    void checked() {
        ++steps_;
        model_->check();
        if (model_->has_failed()) FAIL("step " << steps_ << ": " << model_->failure() << '\n' << model_->account());
    }

    std::mt19937_64 random_;
    habits likes_;
    engine_options options_;
    std::deque<model_target> targets_;
    std::optional<engine_model> model_;
    std::vector<u32> answers_; // attempts that will get a reply
    bool is_stuck_ = false, is_gone_ = false, is_draining_ = false;
    u64 steps_ = 0;
    counts& counted_;
};

} // namespace

TEST_CASE("the engine behaves like its model for random events") {
    world::counts all;
    run_model(800'000, {1572072857498037404}, [&](u64 seed) { return world(seed, all).run(); });
    if (std::getenv("COMAD_MODEL_SECONDS"))
        WARN("operations: " << all.operations << "; with growing waits: " << all.with_growing_waits
                            << ", sent again: " << all.sent_again);
    if (!std::getenv("COMAD_MODEL_SEED")) CHECK(all.sent_again > 1000);
}

} // namespace engine_model_test
