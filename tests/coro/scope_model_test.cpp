// SPDX-License-Identifier: MIT
// scope_model_test.cpp - random programs of tasks, scopes, combinators and events, compared with a model of what the
// headers promise. Also compares the lists of cancellation domains and of their pending operations with sets.
#include "library/coro_rig.hpp"
#include "library/model_runs.hpp"
#include "support/sanitized.hpp"
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/detail/when_any.hpp>
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/coro/event.hpp>
#include <comad/coro/ticker.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace scope_model_test {

using namespace comad;
using namespace comad::test;
using coro::current_scope;
using coro::event;
using coro::scope_state;
using coro::ticker;
using coro::when_all;
using coro::when_any;
using coro::with_timeout;
using mad::duration;
using mad::time_point;

namespace {

/// Storage for objects. Unused storage is zero. Therefore, release builds detect writes to destroyed
/// objects, too. A freed place is reused last.
template <class T, std::size_t count> class guarded_places {
public:
    guarded_places() {
        for (storage& p : places_) free_.push_back(&p);
    }
    bool full() const { return free_.empty(); }
    template <class... Arguments> T& make(Arguments&&... arguments) {
        storage* const taken = free_.front();
        free_.pop_front();
        return *::new (taken) T(std::forward<Arguments>(arguments)...);
    }
    void destroy(T& gone) {
        gone.~T();
        storage* const left = reinterpret_cast<storage*>(&gone);
        std::memset(left->bytes, 0, sizeof(T));
        free_.push_back(left);
    }
    /// Returns true if nothing was written to places without an object.
    bool untouched() const {
        static constexpr std::byte zeros[sizeof(T)]{};
        for (const storage* p : free_)
            if (std::memcmp(p->bytes, zeros, sizeof(T)) != 0) return false;
        return true;
    }

private:
    struct storage {
        alignas(T) std::byte bytes[sizeof(T)];
    };
    storage places_[count]{};
    std::deque<storage*> free_;
};

// ---- domains and their pending operations -------------------------------------------------------------------------------

struct operation final : coro::pending {
    using pending::link;
    using pending::linked_in;
    using pending::unlink;
    void cancel() noexcept override { ++cancelled; }
    unsigned cancelled = 0;
};

/// Domains that are opened, left and canceled, and operations that start and end in them, in any permitted order.
class domain_lists {
public:
    explicit domain_lists(u64 seed) : random_(seed) {}

    u64 run() {
        constexpr u64 steps = 400;
        for (u64 step = 0; step < steps; ++step) {
            switch (random_() % 8) {
            case 0:
            case 1: open(); break;
            case 2: leave(); break;
            case 3:
            case 4: begin(); break;
            case 5: end(); break;
            case 6: replace(); break;
            default:
                if (random_() % 4 == 0) cancel();
            }
            compare();
        }
        while (!domains_.empty()) {
            for (one& o : operations_) end(o);
            leave();
            compare();
        }
        return steps;
    }

private:
    struct domain {
        scope_state* real;
        const scope_state* parent; // null if there is none
        bool cancelled;
    };
    struct one {
        std::unique_ptr<operation> real = std::make_unique<operation>();
        const scope_state* in = nullptr;
        unsigned cancelled = 0;
    };
    domain& any() { return domains_[random_() % domains_.size()]; }
    const domain& find(const scope_state* real) const {
        return *std::find_if(domains_.begin(), domains_.end(), [&](const domain& d) { return d.real == real; });
    }
    bool is_within(const scope_state* inner, const scope_state* outer) const {
        while (inner && inner != outer) inner = find(inner).parent;
        return inner == outer;
    }

    void open() {
        if (places_.full()) return;
        const bool is_outermost = domains_.empty() || random_() % 8 == 0;
        const domain* const parent = is_outermost ? nullptr : &any();
        scope_state* const above = parent ? parent->real : nullptr;
        const bool cancelled = parent && parent->cancelled;
        domains_.push_back({&places_.make(above), above, cancelled});
    }
    void leave() {
        if (domains_.empty()) return;
        const std::size_t i = random_() % domains_.size();
        const scope_state* const real = domains_[i].real;
        for (const domain& d : domains_)
            if (d.parent == real) return;
        for (const one& o : operations_)
            if (o.in == real) return;
        places_.destroy(*domains_[i].real);
        domains_.erase(domains_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    void begin() {
        one& o = operations_[random_() % operations_.size()];
        if (o.in || domains_.empty()) return;
        domain& d = any();
        o.real->link(d.real);
        o.in = d.real;
    }
    void end(one& o) {
        o.real->unlink();
        o.in = nullptr;
    }
    void end() { end(operations_[random_() % operations_.size()]); }
    void replace() { operations_[random_() % operations_.size()] = one{}; }
    void cancel() {
        if (domains_.empty()) return;
        scope_state* const real = any().real;
        for (domain& d : domains_) d.cancelled = d.cancelled || is_within(d.real, real);
        for (one& o : operations_) o.cancelled += o.in && is_within(o.in, real);
        real->cancel();
    }
    void compare() const {
        bool same = places_.untouched();
        for (const domain& d : domains_) same = same && d.real->cancelled() == d.cancelled;
        for (const one& o : operations_) same = same && o.real->linked_in() == o.in && o.real->cancelled == o.cancelled;
        if (!same) FAIL("the lists of " << domains_.size() << " domains are not what they should be");
    }

    std::mt19937_64 random_;
    guarded_places<scope_state, 24> places_;
    std::vector<domain> domains_; // a parent can come after its children
    std::vector<one> operations_{24};
};

// ---- the model ----------------------------------------------------------------------------------------------------------

class world;
struct domain_model;

/// The exception that a task throws.
struct boom {
    u32 number;
};

enum class mark : u8 { open, will_pass, will_be_cancelled };

/// One co_await that can take time.
class wait {
public:
    explicit wait(domain_model&);
    ~wait();
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;

    void ends_as(mark how, u64 batch, time_point when) noexcept;

    domain_model& in;
    const time_point since;
    const bool began_cancelled;
    const u64 number; ///< number of this wait, in the order of all waits
    const u64 before; ///< value of world::happened() at the start
    mark marked = mark::open;
    bool keeps_busy = true; ///< false if it ended, or if it depends on what other tasks do
    time_point marked_at{};
    u64 batch = 0; ///< identifies the waits that the same cancel() or set() ended
};

/// A cancellation domain.
struct domain_model {
    domain_model(world&, domain_model* parent);
    ~domain_model();
    domain_model(const domain_model&) = delete;
    domain_model& operator=(const domain_model&) = delete;

    world& all;
    domain_model* const parent;
    bool cancelled;
    const scope_state* real = nullptr; ///< null if not known yet
    std::vector<domain_model*> inner{};
    std::vector<wait*> waits{};
};

struct group;

/// The model of one task.
struct life {
    enum class phase : u8 { made, running, ended, destroyed };

    world& all;
    const u32 number; ///< what the task returns or throws
    domain_model& domain;
    group* const owner; ///< null if another task awaits it by name
    const unsigned depth;
    phase where = phase::made;
    bool was_dropped = false; ///< destroyed before it started
    u32 thrown = 0;           ///< for a task that ended: the number that it threw, or 0
    time_point ended_at{};
    unsigned outlasting = 0; ///< own groups that still exist
};

/// Tasks that run at the same time in a common domain.
struct group : domain_model {
    enum class what : u8 { scope, all, any, timeout };

    group(world&, domain_model& parent, what);
    ~group();
    void ended(life&);
    /// Called when a child was destroyed.
    void lost() { --live; }

    const what kind;
    u32 live = 0;
    const life* first = nullptr; ///< the task that ended first
    u32 first_thrown = 0;
    time_point last_end{};
    time_point fires = time_point::max(); ///< when the timeout expires
    bool timed_out = false;
    bool is_unsure = false; ///< true if two timeouts expire at the same time: their order is not defined
};

/// A scope in the program, and the state that the model expects.
struct open_scope : group {
    open_scope(world&, domain_model& parent);
    ~open_scope();
    coro::scope* scope; // stored in a guarded place
    struct queued {
        life* of;
        job<u32> running;
    };
    std::vector<queued> jobs{};
};

struct event_model {
    std::optional<event> real;
    bool is_set = false;
    std::vector<wait*> waiting{}; // in the order of their starts
};

/// The state of the MADs of an RPC.
struct rpc_model {
    enum class fate : u8 { answered, lost, second_answered, refused, blocked_once };
    fate planned;
    wait* pending = nullptr; ///< null if no task waits for it
    unsigned most = 1;       ///< limit of attempts
    unsigned offered = 0;
    time_point offered_at{}; ///< time of the last attempt
};

constexpr u32 most_tasks = 120;
constexpr u64 most_steps = 4000;

class world {
public:
    explicit world(u64 seed);

    u64 run();

    // ---- random choices
    u32 below(u32 n) { return static_cast<u32>(random_() % n); }
    bool one_in(u32 n) { return below(n) == 0; }
    duration length() {
        // Whole multiples are frequent, so that many things end at the same time.
        if (one_in(2)) return std::chrono::microseconds(10 * below(10));
        return duration(below(300000));
    }

    // ---- events that are reported to the model
    MADSchedule& schedule() { return rig_.schedule; }
    time_point now() { return rig_.schedule.now(); }
    void problem(std::string text) {
        if (problem_.empty()) problem_ = std::move(text);
    }
    void expect(bool holds, const char* text) {
        if (!holds) problem(text);
    }
    /// Returns true if nothing more may start.
    bool is_over() const { return steps_ > most_steps || !problem_.empty(); }
    u64 happened() const { return happened_; }
    void step() {
        ++steps_;
        ++happened_;
        settle();
        compare();
    }
    void settle();
    void cancel(domain_model&);
    void woke(wait&, bool passed);
    void check_domain(domain_model&, const scope_state& real);
    life& make_life(domain_model&, group* owner, unsigned depth);
    bool has_room() const { return lives_.size() < most_tasks; }

    // ---- actions of the programs
    void cancel_one(open_scope&);
    void set_event(event_model&);
    void reset_event(event_model&);
    void spawn(open_scope&, unsigned depth);
    open_scope* any_scope() { return scopes.empty() ? nullptr : scopes[below(static_cast<u32>(scopes.size()))]; }

    census frames;
    guarded_places<coro::scope, 96> places;
    std::vector<domain_model*> domains;
    std::vector<group*> timeouts;
    std::vector<open_scope*> scopes;
    event_model events[4];
    std::deque<rpc_model> rpcs;
    u64 waits = 0, batches = 0;
    domain_model root;
    domain_model* outermost = nullptr;
    time_point last_pause_end{};
    u64 last_pause_number = 0;
    u64 last_event_batch = 0, last_event_number = 0;

private:
    void mark_cancelled(domain_model&, time_point when);
    fate what_becomes_of(const packet&);
    task<u32> all_of_it();
    void compare();
    void check_end();

    std::mt19937_64 random_;
    rig rig_;
    std::deque<life> lives_;
    std::string problem_;
    u64 steps_ = 0, happened_ = 0;
};

wait::wait(domain_model& d)
    : in(d), since(d.all.now()), began_cancelled((d.all.settle(), d.cancelled)), number(++d.all.waits),
      before(d.all.happened()) {
    in.waits.push_back(this);
}
wait::~wait() { std::erase(in.waits, this); }
void wait::ends_as(mark how, u64 of, time_point when) noexcept {
    if (marked != mark::open || began_cancelled) return;
    marked = how;
    marked_at = when;
    batch = of;
}

domain_model::domain_model(world& w, domain_model* around)
    : all(w), parent(around), cancelled(around && around->cancelled) {
    if (parent) parent->inner.push_back(this);
    all.domains.push_back(this);
}
domain_model::~domain_model() {
    all.expect(inner.empty(), "a domain ended before one inside it");
    all.expect(waits.empty(), "a domain ended before what waits in it");
    if (parent) std::erase(parent->inner, this);
    std::erase(all.domains, this);
}

group::group(world& w, domain_model& around, what k) : domain_model(w, &around), kind(k) {}
group::~group() {
    all.expect(live == 0, "children outlive those who began them");
    std::erase(all.timeouts, this);
}
void group::ended(life& child) {
    --live;
    last_end = all.now();
    if (!first) first = &child;
    if (child.thrown && !first_thrown) first_thrown = child.thrown;
    if (kind == what::any || kind == what::timeout || (kind == what::all && child.thrown)) all.cancel(*this);
}

open_scope::open_scope(world& w, domain_model& around)
    : group(w, around, what::scope), scope(&w.places.make(const_cast<scope_state&>(*around.real))) {
    real = &scope->state();
    w.scopes.push_back(this);
}
open_scope::~open_scope() {
    std::erase(all.scopes, this);
    jobs.clear();
    real = nullptr;
    all.places.destroy(*scope);
    all.expect(live == 0, "children outlive their scope");
}

/// The model notices expired timeouts when it is checked next, and before anything else happens.
void world::settle() {
    const auto has_fired = [](const group* g) { return !g->cancelled && g->real && g->real->cancelled(); };
    for (;;) {
        group* first = nullptr; // inner groups are canceled with it
        for (group* g : timeouts)
            if (has_fired(g) && (!first || g->fires < first->fires)) first = g;
        if (!first) return;
        expect(now() >= first->fires, "a timeout before its time");
        first->timed_out = true;
        for (group* other : timeouts)
            other->is_unsure = other->is_unsure || (other != first && other->fires == first->fires);
        mark_cancelled(*first, first->fires);
    }
}

void world::cancel(domain_model& d) {
    settle();
    mark_cancelled(d, now());
}

void world::mark_cancelled(domain_model& d, time_point when) {
    const u64 batch = ++batches;
    const auto visit = [&](const auto& self, domain_model& one) -> void {
        one.cancelled = true;
        for (wait* w : one.waits) w->ends_as(mark::will_be_cancelled, batch, when);
        for (domain_model* inner : one.inner) self(self, *inner);
    };
    visit(visit, d);
}

/// Called when a wait ended, with its result.
void world::woke(wait& w, bool passed) {
    settle();
    w.keeps_busy = false;
    if (w.began_cancelled) {
        expect(!passed, "a wait that began in a cancelled domain passed");
        expect(happened_ == w.before, "a wait in a cancelled domain suspended");
    } else if (!passed) {
        expect(w.marked == mark::will_be_cancelled, "a wait was cancelled by nobody");
        expect(now() == w.marked_at, "a cancelled wait did not end at once");
    } else {
        expect(w.marked != mark::will_be_cancelled, "a cancelled wait passed");
    }
    step();
}

void world::check_domain(domain_model& d, const scope_state& real) {
    if (d.real == &real) return;
    if (d.real) return problem("a task is in another domain than it was");
    for (const domain_model* other : domains)
        if (other->real == &real) return problem("a task is in a domain of others");
    d.real = &real;
}

void world::compare() {
    bool is_idle = true;
    for (const domain_model* d : domains) {
        if (d->real && d->real->cancelled() != d->cancelled) problem("a domain is cancelled, or is not");
        for (const wait* w : d->waits)
            is_idle = is_idle && (w->began_cancelled || !w->keeps_busy || w->marked != mark::open);
    }
    expect(is_idle || !schedule().idle(), "the schedule is idle while somebody waits");
    for (const open_scope* s : scopes)
        if (s->scope->live_children() != s->live) problem("a scope counts its children wrong");
    for (const group* g : timeouts)
        if (!g->cancelled && g->live && g->fires < now()) problem("a timeout did not come");
    for (const event_model& e : events)
        if (e.real && e.real->is_set() != e.is_set) problem("an event is set, or is not");
    expect(places.untouched(), "somebody wrote to a scope that is gone");
}

life& world::make_life(domain_model& d, group* owner, unsigned depth) {
    return lives_.emplace_back(life{*this, static_cast<u32>(lives_.size() + 1), d, owner, depth});
}

// ---- building blocks of the programs --------------------------------------------------------------------------------------

/// Part of the frame of each task. Checks that everything that the task started is gone before the frame is.
class body {
public:
    explicit body(life& l) : life_(l) {
        life_.all.expect(life_.where == life::phase::made, "a task began twice");
        life_.where = life::phase::running;
        life_.all.step();
    }
    body(const body&) = delete;
    body& operator=(const body&) = delete;
    ~body() {
        life_.all.expect(life_.outlasting == 0, "a task left something behind");
        if (life_.where == life::phase::ended) return;
        life_.where = life::phase::destroyed;
        if (life_.owner) life_.owner->lost();
    }
    /// Only the end of the coroutine follows this call.
    void ends(u32 thrown) {
        world& w = life_.all;
        w.step();
        w.expect(life_.where == life::phase::running, "a task ended twice");
        life_.where = life::phase::ended;
        life_.thrown = thrown;
        life_.ended_at = w.now();
        if (life_.owner) life_.owner->ended(life_);
    }

private:
    life& life_;
};

/// The open scopes of a task. A task may leave any scope that contains no other open scope.
class nest {
public:
    explicit nest(life& l) : life_(l) {}
    nest(const nest&) = delete;
    nest& operator=(const nest&) = delete;
    ~nest() { leave_all(); }

    bool empty() const { return scopes_.empty(); }
    open_scope& any() { return *scopes_[life_.all.below(static_cast<u32>(scopes_.size()))]; }
    void open() {
        world& w = life_.all;
        if (w.places.full()) return;
        domain_model* around = &life_.domain;
        if (!empty() && w.one_in(2)) around = &any();
        else if (w.one_in(8)) around = w.outermost;
        ++life_.outlasting;
        scopes_.push_back(std::make_unique<open_scope>(w, *around));
    }
    void leave_one() {
        const std::size_t i = life_.all.below(static_cast<u32>(scopes_.size()));
        for (const auto& other : scopes_)
            if (other->parent == scopes_[i].get()) return;
        leave(i);
    }
    void leave_all() {
        while (!empty()) leave(scopes_.size() - 1);
    }

private:
    void leave(std::size_t i) {
        scopes_.erase(scopes_.begin() + static_cast<std::ptrdiff_t>(i));
        --life_.outlasting;
    }
    life& life_;
    std::vector<std::unique_ptr<open_scope>> scopes_; // inner scopes come later
};

task<u32> live(life&, counted);

task<u32> begin_life(life& l) {
    counted held(l.all.frames);
    return live(l, std::move(held));
}
task<void> without_value(task<u32> t) { co_await std::move(t); }

life& new_child(life& parent, domain_model& in, group* owner) {
    return parent.all.make_life(in, owner, parent.depth + 1);
}

// ---- the steps of a program: each returns the number that it caught, or 0

task<u32> pause_a_while(life& me) {
    world& w = me.all;
    wait mine(me.domain);
    const bool is_until = w.one_in(4);
    const duration length = w.length();
    // Includes times in the past.
    const time_point end = is_until ? w.now() + length - duration(w.below(50000)) : mine.since + length;
    bool passed;
    if (is_until) passed = co_await w.schedule().pause_until(end);
    else passed = co_await w.schedule().pause(length);
    w.woke(mine, passed);
    if (!passed) co_return 0;
    w.expect(w.now() == std::max(end, mine.since), "a pause of another length");
    if (end < mine.since) co_return 0;
    const auto order = std::pair(end, mine.number);
    w.expect(std::pair(w.last_pause_end, w.last_pause_number) < order, "pauses that end in another order");
    std::tie(w.last_pause_end, w.last_pause_number) = order;
    co_return 0;
}

task<u32> pause_for_ever(life& me) {
    world& w = me.all;
    wait mine(me.domain);
    const bool passed = co_await w.schedule().pause(duration::max());
    w.expect(!passed, "a pause without end ended");
    w.woke(mine, passed);
    co_return 0;
}

/// Removes a wait from the list of its event, even if its task is destroyed.
class at_event {
public:
    at_event(event_model& e, wait& w) : event_(e), wait_(w) { event_.waiting.push_back(&wait_); }
    ~at_event() { std::erase(event_.waiting, &wait_); }
    at_event(const at_event&) = delete;
    at_event& operator=(const at_event&) = delete;

private:
    event_model& event_;
    wait& wait_;
};

task<u32> wait_for_event(life& me) {
    world& w = me.all;
    event_model& e = w.events[w.below(4)];
    if (e.is_set) {
        const u64 before = w.happened();
        const bool at_once = co_await e.real->wait();
        w.expect(at_once && w.happened() == before, "a wait for an event that was set");
        w.step();
        co_return 0;
    }
    wait mine(me.domain);
    mine.keeps_busy = false;
    at_event there(e, mine);
    const bool passed = co_await e.real->wait();
    w.woke(mine, passed);
    if (!passed) co_return 0;
    w.expect(mine.marked == mark::will_pass && w.now() == mine.marked_at, "an event that nobody set");
    w.expect(w.last_event_batch != mine.batch || w.last_event_number < mine.number, "an event wakes in another order");
    w.last_event_batch = mine.batch;
    w.last_event_number = mine.number;
    co_return 0;
}

/// Removes an RPC from the model, even if its task is destroyed.
class on_the_wire {
public:
    on_the_wire(rpc_model& r, wait& w) : rpc_(r) { rpc_.pending = &w; }
    ~on_the_wire() { rpc_.pending = nullptr; }
    on_the_wire(const on_the_wire&) = delete;
    on_the_wire& operator=(const on_the_wire&) = delete;

private:
    rpc_model& rpc_;
};

task<u32> query_a_node(life& me) {
    using fate = rpc_model::fate;
    world& w = me.all;
    const auto number = static_cast<u32>(w.rpcs.size());
    rpc_model& mine = w.rpcs.emplace_back(rpc_model{static_cast<fate>(w.below(5))});
    wait pending(me.domain);
    on_the_wire there(mine, pending);
    const u32 retries = w.below(3);
    mine.most = retries + 1;
    const rpc_options options{std::chrono::microseconds(100 + w.below(100)), static_cast<int>(retries)};
    const IBDRPath to = route_to(number);
    std::optional<errc> error;
    bool is_right = true;
    if (w.one_in(2)) {
        auto info = co_await w.schedule().SubnGet<smp::NodeInfo>(to, 0, options);
        if (info) is_right = is_answer(info.value(), to);
        else error = info.error().code;
    } else {
        auto done = co_await w.schedule().SubnSet(smp::PortInfo{}, to, 0, options);
        if (!done) error = done.error().code;
    }
    w.woke(pending, error != errc::cancelled);
    if (error == errc::cancelled) co_return 0;
    const bool is_answered = mine.planned == fate::answered || mine.planned == fate::blocked_once ||
                             (mine.planned == fate::second_answered && retries > 0);
    if (error == errc::timed_out)
        w.expect(w.now() <= mine.offered_at + options.timeout + options.timeout / 20, "a timeout of an RPC is late");
    if (is_answered) w.expect(!error && is_right, "an RPC that was answered failed");
    else
        w.expect(error == (mine.planned == fate::refused ? errc::send_failed : errc::timed_out),
                 "a wrong error of an RPC");
    co_return 0;
}

task<u32> tick(life& me) {
    world& w = me.all;
    const duration period = 1us + w.length();
    ticker ticks(w.schedule(), period);
    time_point started_at{};
    duration::rep next = 0; // next tick, in periods
    u64 skipped = 0;
    for (u32 i = w.below(5); i > 0; --i) {
        wait mine(me.domain);
        task<bool> one = ticks.next();
        const bool ticked = co_await std::move(one);
        w.woke(mine, ticked);
        if (!ticked) co_return 0;
        if (next == 0) started_at = w.now();
        const time_point due = next == 0 ? mine.since : std::max(started_at + next * period, mine.since);
        w.expect(w.now() == due, "a tick at another time");
        const duration::rep current = (w.now() - started_at) / period;
        skipped += static_cast<u64>(std::max(duration::rep{0}, current - next));
        next = std::max(current, next) + 1;
        w.expect(ticks.skipped() == skipped, "ticks that were missed");
        if (w.one_in(3)) {
            wait beside(me.domain);
            const bool passed = co_await w.schedule().pause(3 * w.length());
            w.woke(beside, passed);
        }
    }
    co_return 0;
}

/// The result of a task: its value, or what it threw.
template <class T> struct outcome {
    std::optional<T> value{};
    u32 thrown = 0;
};
template <class T> task<outcome<T>> outcome_of(task<T> t) {
    outcome<T> o;
    try {
        o.value = co_await std::move(t);
    } catch (const boom& b) {
        o.thrown = b.number;
    }
    co_return o;
}
task<std::monostate> as_value(task<void> t) {
    co_await std::move(t);
    co_return std::monostate{};
}
task<u32> value_of(job<u32> j) { co_return co_await j; }

void check_outcome(const life& of, const outcome<u32>& o) {
    of.all.expect(of.where == life::phase::ended, "a task gave a value before its end");
    of.all.expect(o.thrown == of.thrown, "another exception than the task threw");
    of.all.expect(of.thrown || o.value == of.number, "another value than the task gave");
}

task<u32> await_child(life& me) {
    world& w = me.all;
    if (!w.has_room()) co_return 0;
    life& child = new_child(me, me.domain, nullptr);
    task<u32> made = begin_life(child);
    w.expect(child.where == life::phase::made, "a task began before it was awaited");
    if (w.one_in(6)) { // some tasks are created but never awaited
        child.was_dropped = true;
        co_return 0;
    }
    task<u32> moved;
    if (w.one_in(2)) moved = std::move(made);
    auto one = outcome_of(moved ? std::move(moved) : std::move(made));
    const outcome<u32> o = co_await std::move(one);
    w.step();
    check_outcome(child, o);
    co_return o.thrown;
}

/// The children of one combinator.
class together {
public:
    together(life& me, group::what kind) : children(me.all, me.domain, kind), me_(me) { ++me_.outlasting; }
    ~together() { --me_.outlasting; }
    together(const together&) = delete;
    together& operator=(const together&) = delete;

    life& child() {
        life& one = new_child(me_, children, &children);
        ++children.live;
        return one;
    }
    /// Called when the combinator ended with this exception.
    void is_over(u32 thrown) {
        world& w = me_.all;
        children.real = nullptr;
        w.step();
        w.expect(children.live == 0, "a combinator ended before its tasks");
        w.expect(w.now() == children.last_end, "a combinator did not end with the last of its tasks");
        w.expect(thrown == children.first_thrown, "another exception than the first");
    }

    group children;

private:
    life& me_;
};

std::vector<task<void>> without_values(std::vector<task<u32>> tasks) {
    std::vector<task<void>> result;
    for (task<u32>& one : tasks) result.push_back(without_value(std::move(one)));
    return result;
}

task<u32> run_all(life& me) {
    world& w = me.all;
    together t(me, group::what::all);
    std::vector<task<u32>> tasks;
    std::vector<u32> expected;
    for (u32 i = w.below(4); i > 0 && w.has_room(); --i) {
        life& child = t.child();
        expected.push_back(child.number);
        tasks.push_back(begin_life(child));
    }
    if (tasks.empty()) t.children.last_end = w.now();
    if (w.one_in(2)) {
        auto all = outcome_of(when_all(std::move(tasks)));
        const auto values = co_await std::move(all);
        t.is_over(values.thrown);
        w.expect(values.thrown || values.value == expected, "when_all gives other values");
        co_return values.thrown;
    }
    auto all = outcome_of(as_value(when_all(without_values(std::move(tasks)))));
    const auto nothing = co_await std::move(all);
    t.is_over(nothing.thrown);
    co_return nothing.thrown;
}

task<u32> run_all_of_several_types(life& me) {
    world& w = me.all;
    if (!w.has_room()) co_return 0;
    together t(me, group::what::all);
    life &one = t.child(), &two = t.child(), &three = t.child();
    auto all = outcome_of(when_all(begin_life(one), without_value(begin_life(two)), begin_life(three)));
    const auto values = co_await std::move(all);
    t.is_over(values.thrown);
    const std::tuple expected(one.number, std::monostate{}, three.number);
    w.expect(values.thrown || values.value == expected, "when_all gives other values");
    co_return values.thrown;
}

template <class T> task<u32> run_any_of(together& t, std::vector<const life*> children, std::vector<task<T>> tasks) {
    auto any = outcome_of(when_any(std::move(tasks)));
    const auto first = co_await std::move(any);
    t.is_over(first.thrown);
    if (first.thrown) co_return first.thrown;
    const life& expected = *t.children.first;
    expected.all.expect(children[first.value->index] == &expected, "when_any gives another than the first");
    if constexpr (std::is_same_v<T, u32>)
        expected.all.expect(first.value->value == expected.number, "when_any gives another value");
    co_return 0;
}

task<u32> run_any(life& me) {
    world& w = me.all;
    if (!w.has_room()) co_return 0;
    together t(me, group::what::any);
    std::vector<task<u32>> tasks;
    std::vector<const life*> children;
    for (u32 i = 1 + w.below(4); i > 0; --i) {
        life& child = t.child();
        children.push_back(&child);
        tasks.push_back(begin_life(child));
    }
    task<u32> any = w.one_in(2) ? run_any_of(t, std::move(children), std::move(tasks))
                                : run_any_of(t, std::move(children), without_values(std::move(tasks)));
    const u32 thrown = co_await std::move(any);
    co_return thrown;
}

task<u32> run_any_of_several_types(life& me) {
    world& w = me.all;
    if (!w.has_room()) co_return 0;
    together t(me, group::what::any);
    life &one = t.child(), &two = t.child();
    auto any = outcome_of(when_any(without_value(begin_life(one)), begin_life(two)));
    const auto first = co_await std::move(any);
    t.is_over(first.thrown);
    if (first.thrown) co_return first.thrown;
    const bool is_one = t.children.first == &one;
    w.expect(first.value->index() == (is_one ? 0u : 1u), "when_any gives another than the first");
    w.expect(is_one || std::get<1>(*first.value) == two.number, "when_any gives another value");
    co_return 0;
}

template <class T> task<u32> run_for(together& t, const life& child, duration length, task<T> one) {
    world& w = child.all;
    auto timed = outcome_of(with_timeout(w.schedule(), length, std::move(one)));
    const auto o = co_await std::move(timed);
    t.is_over(o.thrown);
    if (o.thrown) co_return o.thrown;
    const auto& given = *o.value;
    w.expect(t.children.is_unsure || given.has_value() == !t.children.timed_out,
             "with_timeout gives a value too late, or none in time");
    if constexpr (std::is_same_v<T, u32>) w.expect(!given || given == child.number, "with_timeout gives another value");
    co_return 0;
}

task<u32> run_with_timeout(life& me) {
    world& w = me.all;
    if (!w.has_room()) co_return 0;
    together t(me, group::what::timeout);
    life& child = t.child();
    const duration length = w.one_in(8) ? duration::max() : w.length();
    if (length != duration::max()) t.children.fires = w.now() + length;
    w.timeouts.push_back(&t.children);
    task<u32> one = begin_life(child);
    task<u32> timed = w.one_in(2) ? run_for(t, child, length, std::move(one))
                                  : run_for(t, child, length, without_value(std::move(one)));
    const u32 thrown = co_await std::move(timed);
    co_return thrown;
}

task<u32> join_scope(life& me, open_scope& s) {
    world& w = me.all;
    const u64 before = w.happened();
    const bool waits = s.live != 0;
    u32 thrown = 0;
    try {
        co_await s.scope->join();
    } catch (const boom& b) {
        thrown = b.number;
    }
    w.expect(waits ? w.now() == s.last_end : w.happened() == before, "join waits too long");
    w.expect(s.live == 0, "join ended before a child");
    w.expect(thrown == std::exchange(s.first_thrown, 0), "join throws another exception than the first");
    w.step();
    if (thrown && w.one_in(2)) { // a second join does not throw again
        task<u32> again = join_scope(me, s);
        thrown = co_await std::move(again);
    }
    co_return thrown;
}

task<u32> take_job(life& me, open_scope& s) {
    world& w = me.all;
    if (s.jobs.empty()) co_return 0;
    const std::size_t i = w.below(static_cast<u32>(s.jobs.size()));
    open_scope::queued one = std::move(s.jobs[i]);
    s.jobs.erase(s.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    life& child = *one.of;
    const bool is_done = child.where == life::phase::ended;
    w.expect(one.running.done() == is_done, "a job is done, or is not");
    if (w.one_in(5)) { // destroys the job while it runs, or later
        {
            const job<u32> gone = std::move(one.running);
        }
        w.step();
        w.expect(child.where == (is_done ? life::phase::ended : life::phase::destroyed), "a job outlives itself");
        co_return 0;
    }
    outcome<u32> o;
    if (is_done && w.one_in(2)) {
        try {
            o.value = one.running.take();
        } catch (const boom& b) {
            o.thrown = b.number;
        }
    } else {
        auto awaited = outcome_of(value_of(std::move(one.running)));
        o = co_await std::move(awaited);
        w.expect(is_done || w.now() == child.ended_at, "a job was awaited too long");
    }
    w.step();
    check_outcome(child, o);
    co_return o.thrown;
}

void queue_job(life& me, open_scope& s) {
    world& w = me.all;
    if (!w.has_room()) return;
    life& child = new_child(me, s, nullptr);
    job<u32> started = s.scope->queue(begin_life(child));
    w.expect(child.where != life::phase::made, "a queued task did not begin");
    s.jobs.push_back({&child, std::move(started)});
}

/// Destroys an event and creates it again. Only tasks whose waits have already ended may still refer to the event.
void replace_event(world& w) {
    event_model& e = w.events[w.below(4)];
    for (const wait* one : e.waiting)
        if (one->marked == mark::open) return;
    e.real.emplace(w.schedule());
    e.is_set = false;
}

task<u32> act(life& me, nest& own) {
    world& w = me.all;
    const bool is_deep = me.depth >= 5;
    switch (w.below(is_deep ? 12 : 30)) {
    case 0:
    case 1:
    case 2: return pause_a_while(me);
    case 3: return pause_for_ever(me);
    case 4:
    case 5: return wait_for_event(me);
    case 6:
    case 7:
    case 8: return query_a_node(me);
    case 9: return tick(me);
    case 10: w.set_event(w.events[w.below(4)]); return {};
    case 11: w.reset_event(w.events[w.below(4)]); return {};
    case 12:
    case 13: return await_child(me);
    case 14: return run_all(me);
    case 15: return run_all_of_several_types(me);
    case 16: return run_any(me);
    case 17: return run_any_of_several_types(me);
    case 18:
    case 19: return run_with_timeout(me);
    case 20:
        if (open_scope* one = w.any_scope(); one && w.one_in(3)) w.cancel_one(*one);
        else if (one) w.spawn(*one, me.depth + 1);
        return {};
    case 21: replace_event(w); return {};
    default: break;
    }
    if (own.empty() || w.one_in(6)) {
        own.open();
        return {};
    }
    open_scope& one = own.any();
    switch (w.below(9)) {
    case 0: own.leave_one(); return {};
    case 1:
    case 2: queue_job(me, one); return {};
    case 3: return take_job(me, one);
    case 4: return join_scope(me, one);
    case 5: w.cancel_one(one); return {};
    default: w.spawn(one, me.depth + 1); return {};
    }
}

task<u32> live(life& me, counted) {
    world& w = me.all;
    body here(me);
    nest own(me);
    u32 thrown = 0;
    scope_state& domain = co_await current_scope{};
    w.check_domain(me.domain, domain);
    for (u32 actions = w.below(8); actions > 0 && !thrown && !w.is_over(); --actions) {
        task<u32> next = act(me, own);
        if (next) thrown = co_await std::move(next);
        else w.step();
        scope_state& still = co_await current_scope{};
        w.check_domain(me.domain, still);
        if (thrown && w.one_in(2)) thrown = 0; // catches the exception
    }
    if (!thrown && w.one_in(6)) thrown = me.number;
    own.leave_all();
    here.ends(thrown);
    if (thrown) throw boom{thrown};
    co_return me.number;
}

// ---- whole programs --------------------------------------------------------------------------------------------------------

world::world(u64 seed)
    : root(*this, nullptr), random_(seed), rig_([this](const packet& p) { return what_becomes_of(p); },
                                                {.max_outstanding = static_cast<unsigned>(1 + seed % 6)}) {
    for (event_model& e : events) e.real.emplace(schedule());
    root.real = &schedule().root();
}

void world::cancel_one(open_scope& s) {
    const u64 before = happened_;
    cancel(s);
    s.scope->cancel();
    expect(happened_ == before, "somebody ran inside of cancel()");
}

void world::set_event(event_model& e) {
    settle();
    const u64 before = happened_, batch = ++batches;
    const bool wakes =
        std::any_of(e.waiting.begin(), e.waiting.end(), [](const wait* w) { return w->marked == mark::open; });
    e.is_set = true;
    for (wait* w : e.waiting) w->ends_as(mark::will_pass, batch, now());
    e.real->set();
    expect(happened_ == before, "somebody ran inside of set()");
    expect(!wakes || !schedule().idle(), "the schedule is idle while somebody is to be resumed");
}

void world::reset_event(event_model& e) {
    e.is_set = false;
    e.real->reset();
}

void world::spawn(open_scope& s, unsigned depth) {
    if (!has_room()) return;
    life& child = make_life(s, &s, depth);
    ++s.live;
    s.scope->spawn(without_value(begin_life(child)));
    expect(child.where != life::phase::made, "a child did not begin");
}

fate world::what_becomes_of(const packet& p) {
    settle();
    const auto number = static_cast<std::size_t>(p.bytes[129] << 16 | p.bytes[130] << 8 | p.bytes[131]);
    if (number >= rpcs.size()) {
        problem("a MAD that nobody asked for");
        return dropped();
    }
    rpc_model& r = rpcs[number];
    ++r.offered;
    r.offered_at = now();
    if (!r.pending || r.pending->marked == mark::will_be_cancelled)
        problem("a MAD of somebody who is gone or cancelled");
    const duration later = 10us + duration(below(60000));
    switch (r.planned) {
    case rpc_model::fate::answered: return answered(p, later);
    case rpc_model::fate::blocked_once:
        if (r.offered == 1) return blocked(later);
        return answered(p, later);
    case rpc_model::fate::second_answered: return r.offered == 1 ? dropped() : answered(p, later);
    case rpc_model::fate::refused:
        if (r.pending) r.pending->ends_as(mark::will_pass, 0, now());
        return refused(EIO);
    default: break;
    }
    expect(r.offered <= r.most, "an RPC is sent too often");
    return dropped();
}

task<u32> world::all_of_it() {
    open_scope all(*this, root);
    outermost = &all;
    for (u32 i = 1 + below(3); i > 0; --i) spawn(all, 0);
    for (u32 i = below(12); i > 0; --i) {
        const bool passed = co_await schedule().pause(length());
        expect(passed, "the outermost task was cancelled");
        step();
        if (one_in(3)) set_event(events[below(4)]);
        if (one_in(3)) reset_event(events[below(4)]);
        if (open_scope* one = any_scope(); one && one != &all && one_in(6)) cancel_one(*one);
    }
    cancel_one(all);
    try {
        co_await all.scope->join();
        expect(all.first_thrown == 0, "join has forgotten an exception");
    } catch (const boom& b) {
        expect(b.number == all.first_thrown, "join throws another exception than the first");
    }
    expect(all.live == 0, "join ended before a child");
    step();
    co_return 7;
}

void world::check_end() {
    for (const life& l : lives_) expect(l.where >= life::phase::ended || l.was_dropped, "a task did not end");
    expect(frames.live() == 0, "a frame was not destroyed");
    expect(frames.ghosts() == 0, "a frame was destroyed twice");
    expect(domains.size() == 1 && scopes.empty() && timeouts.empty(), "something is left");
    expect(schedule().idle(), "the schedule is not idle");
    const auto a_while = [](MADSchedule& s) -> task<void> { co_await s.pause(10min); };
    sync_wait(schedule(), a_while(schedule())); // abandoned requests get a reply or are lost
    expect(schedule().in_flight() == 0, "something is in flight");
    expect(places.untouched(), "somebody wrote to a scope that is gone");
}

u64 world::run() {
    if (one_in(3)) { // destroys everything in the middle of the run
        const auto a_while = [](MADSchedule& s, duration d) -> task<void> { co_await s.pause(d); };
        job<u32> program = schedule().queue(all_of_it());
        sync_wait(schedule(), a_while(schedule(), 3 * length()));
    } else {
        const u32 value = sync_wait(schedule(), all_of_it());
        expect(value == 7, "sync_wait gives another value");
    }
    check_end();
    for (event_model& e : events) e.real.reset();
    if (!problem_.empty())
        FAIL(problem_ << ", at step " << steps_ << ", " << now().time_since_epoch().count() << " ns");
    return steps_ + 1;
}

} // namespace

TEST_CASE("canceling a scope cancels everything nested in it, in any order of creation and destruction") {
    run_model(sanitized ? 20'000 : 100'000, {}, [](u64 seed) { return domain_lists(seed).run(); });
}

TEST_CASE("a scope that reuses the memory of an earlier scope is not canceled with the old parent") {
    scope_state around(nullptr), other(nullptr);
    std::optional<scope_state> older(std::in_place, &around), newer(std::in_place, &around);
    newer.reset();
    older.reset();
    older.emplace(&other);
    around.cancel();
    CHECK_FALSE(older->cancelled());
    newer.emplace(&around);
    CHECK(newer->cancelled());
}

TEST_CASE("random programs of tasks and scopes start, cancel, throw and end like their model") {
    run_model(sanitized ? 20'000 : 200'000, {}, [](u64 seed) { return world(seed).run(); });
}

} // namespace scope_model_test
