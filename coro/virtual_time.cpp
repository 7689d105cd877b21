// SPDX-License-Identifier: MIT
// virtual_time.cpp - the list of all schedules in virtual time, and the driver of a group of schedules.
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/coro/driver.hpp>
#include <comad/mad/detail/shared_clock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace comad::coro::detail {

/// A schedule can leave during a turn. Its element is then null until the turn ends.
struct virtual_time::impl {
    std::vector<MADSchedule*> members;
    const std::function<bool()>* poll = nullptr;
    mad::time_point now{};
    mad::time_point end = mad::time_point::max(); // limit of the virtual time
    bool is_driving = false;

    void leave(const MADSchedule& s) noexcept {
        std::replace(members.begin(), members.end(), const_cast<MADSchedule*>(&s), static_cast<MADSchedule*>(nullptr));
    }
    bool turn() {
        bool has_more = false;
        for (std::size_t i = 0; i < members.size(); ++i) // the vector can grow during a turn
            if (members[i]) has_more |= members[i]->turn();
        if (poll) has_more |= (*poll)();
        std::erase(members, nullptr);
        return has_more;
    }
    void set_now(mad::time_point then) {
        now = std::max(now, then);
        for (std::size_t i = 0; i < members.size(); ++i) // the fabric's scripts can add schedules
            if (members[i]) members[i]->set_now(now);
    }
    /// Adopts the latest time of all schedules, because another driver can have advanced the fabric.
    void follow_clock() {
        mad::time_point latest = now;
        for (const MADSchedule* s : members)
            if (s) latest = std::max({latest, s->now(), s->transport().simulated_time().value_or(now)});
        set_now(latest);
    }
    mad::time_point next_deadline() const {
        mad::time_point next = mad::time_point::max();
        for (const MADSchedule* s : members)
            if (s) next = std::min(next, s->next_deadline());
        return next;
    }
};

namespace {

/// A schedule in virtual time, and the group that drives it.
struct known_schedule {
    MADSchedule* schedule;
    const void* clock; // shared_clock::clock_id(), copied because the transport may end first; null: no shared clock
    std::string location;
    virtual_time* group;
};

/// All schedules in virtual time. Only the driver of a fabric reads the state of its schedules; the mutex protects
/// only the list.
struct known_schedules {
    std::mutex mutex;
    std::vector<known_schedule> all;
    std::atomic<std::size_t> count = 0; // size of `all`

    auto find(const MADSchedule& s) { return std::ranges::find(all, &s, &known_schedule::schedule); }
};
known_schedules& known() {
    static known_schedules* const all = new known_schedules; // outlives static schedules
    return *all;
}

bool has_due_event(const known_schedule& s, mad::time_point next) {
    return !s.group && !s.schedule->idle() && s.schedule->next_deadline() < next;
}

/// Ends a run in virtual time at a point in time.
class until_time final : public until {
public:
    until_time(const mad::time_point& now, mad::time_point end) noexcept : now_(now), end_(end) {}
    bool reached() const noexcept override { return now_ >= end_; }

private:
    const mad::time_point& now_;
    mad::time_point end_;
};

/// Ends a run in virtual time when a function returns true.
class until_true final : public until {
public:
    explicit until_true(const std::function<bool()>& ended) noexcept : ended_(ended) {}
    bool reached() const noexcept override { return ended_(); }

private:
    const std::function<bool()>& ended_;
};

/// Sets a variable and restores its value in the destructor.
template <class T> class set_for_now {
public:
    set_for_now(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
    ~set_for_now() { variable_ = before_; }
    set_for_now(const set_for_now&) = delete;
    set_for_now& operator=(const set_for_now&) = delete;

private:
    T& variable_;
    T before_;
};

} // namespace

void remember(MADSchedule& s) {
    if (!is_virtual(s)) return;
    const auto* clock = dynamic_cast<const mad::detail::shared_clock*>(&s.transport());
    const std::lock_guard lock(known().mutex);
    known().all.push_back(
        {&s, clock ? clock->clock_id() : nullptr, clock ? clock->location() : std::string(), nullptr});
    known().count = known().all.size();
}

// Uses only the address of the schedule, because its transport may already be destroyed.
void forget(const MADSchedule& s) noexcept {
    if (known().count.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(known().mutex);
    const auto found = known().find(s);
    if (found == known().all.end()) return;
    if (found->group) found->group->forget(s);
    known().all.erase(found);
    known().count = known().all.size();
}

virtual_time* group_of(const MADSchedule& s) noexcept {
    const std::lock_guard lock(known().mutex);
    const auto found = known().find(s);
    return found == known().all.end() ? nullptr : found->group;
}

bool refuse_undriven(const MADSchedule& driven, mad::time_point next) {
    if (known().count.load(std::memory_order_relaxed) < 2) return true; // fast path, in each step
    const std::lock_guard lock(known().mutex);
    const auto own = known().find(driven);
    if (own == known().all.end() || !own->clock) return false;
    for (const known_schedule& other : known().all) {
        if (other.schedule == &driven || other.clock != own->clock) continue;
        if (!has_due_event(other, next)) continue;
        throw std::logic_error(
            fmt::format("the schedule at {} has an event that is due, and nothing drives that schedule; "
                        "use testing::virtual_fabric for several schedules in virtual time",
                        other.location));
    }
    return true;
}

virtual_time::virtual_time() : impl_(std::make_unique<impl>()) {}

virtual_time::~virtual_time() {
    const std::lock_guard lock(known().mutex);
    for (known_schedule& s : known().all)
        if (s.group == this) s.group = nullptr;
}

void virtual_time::add(MADSchedule& s) {
    {
        const std::lock_guard lock(known().mutex);
        const auto found = known().find(s);
        if (found == known().all.end())
            throw std::invalid_argument("virtual_time: the schedule's transport does not use virtual time");
        if (found->group) throw std::invalid_argument("virtual_time: another group drives the schedule");
        impl_->members.push_back(&s);
        found->group = this;
    }
    s.use_clock(nullptr);
    impl_->follow_clock();
}

void virtual_time::forget(const MADSchedule& s) noexcept { impl_->leave(s); }

mad::time_point virtual_time::now() const noexcept { return impl_->now; }

void virtual_time::drive(until& end) {
    impl& group = *impl_;
    if (group.is_driving)
        throw std::logic_error("a task calls sync_wait for a schedule of its own virtual time; use co_await");
    const set_for_now driving(group.is_driving, true);
    std::erase(group.members, nullptr);
    group.follow_clock();
    for (;;) {
        end.poll_outside();
        const bool has_more = group.turn();
        if (end.reached()) return;
        if (has_more) continue;
        group.set_now(group.now); // starts the timeouts of the MADs that were just sent
        const mad::time_point next = std::min(group.next_deadline(), group.end);
        if (next == mad::time_point::max())
            throw std::logic_error("a task waits for an event that no schedule of its virtual time delivers");
        for (const MADSchedule* s : group.members) // the first one with a clock that others can share
            if (next > group.now && s && refuse_undriven(*s, next)) break;
        group.set_now(next);
    }
}

void virtual_time::run_until(const std::function<bool()>& ended) {
    until_true end(ended);
    drive(end);
}

void virtual_time::run_until(mad::time_point end) {
    const set_for_now limit(impl_->end, end);
    until_time reached(impl_->now, end);
    drive(reached);
}

void virtual_time::run_with(const std::function<bool()>& poll, const std::function<bool()>& ended) {
    const set_for_now polled(impl_->poll, &poll);
    run_until(ended);
}

} // namespace comad::coro::detail
