// SPDX-License-Identifier: MIT
// sweep_loop.cpp - runs sweeps, checks whether the subnet has changed, and waits.
#include "session/sweep_loop.hpp"

#include "comad.hpp"
#include "session/calendar_time.hpp"
#include "session/growing_pause.hpp"
#include "session/port_sampler.hpp"
#include "session/unresponsive_nodes.hpp"
#include "text/error_text.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ibtool {

namespace {

const std::string cannot_discover = "cannot rediscover the subnet: ";

} // namespace

sweep_loop::known_subnet::known_subnet(coro::MADSchedule& schedule, discovery::subnet s,
                                       const counters::sweep_options& how)
    : subnet(std::make_shared<const discovery::subnet>(std::move(s))), sweeper(schedule, *subnet, how) {}

sweep_loop::sweep_loop(session& in, const sweep_config& plan, const shared_names& names, const sweep_listener& listener)
    : in_(in), plan_(plan), names_(names), listener_(listener) {
    if (plan.every && !plan.on_request) periods_.emplace(*plan.every);
    in_.on_port_change([this](const std::string& line) { listener_.on_problem(line); });
}
sweep_loop::~sweep_loop() { in_.on_port_change({}); }

coro::task<std::optional<int>> sweep_loop::run() {
    const bool is_found = co_await find_subnet();
    if (!is_found) co_return std::nullopt;
    for (;;) {
        const bool goes_on = co_await wait_until_due();
        if (!goes_on) break;
        counters::sweep now = co_await known_->sweeper.run();
        const bool is_stopped = now.is_stopped && !is_disconnected(); // a signal arrived
        if (is_stopped && is_ended_) break;
        if (!begin_) {
            begin_ = now.begin;
            if (periods_) periods_->begin(now.begin);
        }
        was_interrupted_ = false;
        if (!now.complete() && plan_.is_lasting()) was_interrupted_ = co_await in_.is_disconnected();
        if (was_interrupted_) break; // failures of a disconnected device are not failures of the subnet
        take(std::move(now));
        // Writing a large sweep takes time that the clock of the schedule does not contain before its next turn.
        if (!in_.is_virtual() && totals_.sweeps != plan_.count) co_await in_.schedule().pause(mad::duration(1));
        if (periods_) periods_->done();
        if (is_stopped || totals_.sweeps == plan_.count) co_return is_complete_ ? complete : partial;
        if (plan_.refresh.count()) co_await refresh();
        const bool is_due = co_await wait_for_next();
        if (!is_due) break;
    }
    if (is_disconnected()) co_return std::nullopt;
    co_return is_complete_ ? complete : partial;
}

u64 sweep_loop::resume() {
    u64 missed = was_interrupted_ && !periods_;
    if (periods_ && begin_) missed = periods_->skip_over(in_.now());
    was_interrupted_ = false;
    if (missed) is_complete_ = false;
    totals_.skipped += missed;
    return missed;
}

// Returns false if the device was disconnected, or if a signal arrived before a subnet was found.
coro::task<bool> sweep_loop::find_subnet() {
    tables_.emplace(in_.schedule());
    const bool is_first = !known_;
    if (is_first) {
        const bool is_found = co_await wait_for_subnet();
        if (!is_found) co_return false;
    }
    while (!is_first) {
        auto found = co_await discover();
        if (is_disconnected()) co_return false;
        if (found) break;
        const mad::mad_error& e = found.error();
        report_missing({failure_at({}, cannot_discover + to_string(e), cannot_discover + plain_text(e))});
        const bool goes_on = co_await in_.schedule().pause(plan_.every.value_or(std::chrono::seconds(1)));
        if (!goes_on) co_return false;
    }
    last_check_ = in_.now();
    if (plan_.refresh.count() && plan_.refresh_by == discovery::change_source::sa)
        co_await find_change(); // stores the present state
    co_return true;
}

// Returns why there is nothing to sweep; empty if there is. Without a lasting plan, and in virtual time, this ends the command.
coro::task<std::string> sweep_loop::find_first_subnet() {
    const bool waits = waits_for_subnet();
    std::string why;
    try {
        auto found = co_await discover();
        if (!found) {
            why = why_no_subnet(found.error(), in_.options());
            if (!waits) throw std::runtime_error(why);
        }
    } catch (const usage_error&) {
        throw;
    } catch (const std::runtime_error& e) { // the SA must be queried, but none is known
        if (!waits || !in_.options().discovers_by_sa()) throw;
        why = e.what();
    }
    if (!known_ || known_->sweeper.ports() > 0) co_return why;
    known_.reset();
    constexpr std::string_view no_ports = "no ports to sweep: the options select none of the discovered ports";
    if (!waits) throw std::runtime_error(std::string(no_ports));
    co_return std::string(no_ports);
}

// Waits for a driver, a subnet manager or the local SMA. Returns false if the device was disconnected, or if a signal arrived.
coro::task<bool> sweep_loop::wait_for_subnet() {
    growing_pause between;
    for (std::string last_reason;;) {
        std::string why = co_await find_first_subnet();
        if (is_disconnected()) co_return false;
        if (why.empty()) {
            check_files();
            if (!last_reason.empty() && listener_.on_found) listener_.on_found();
            co_return true;
        }
        if (in_.stopped() && last_reason.empty()) throw std::runtime_error(why);
        if (in_.stopped()) co_return false;
        if (why != last_reason) {
            listener_.on_problem(fmt::format("waiting for {}: {}; retrying at least every {} s", in_.device_or_fabric(),
                                             why, growing_pause::longest / std::chrono::seconds(1)));
            if (listener_.on_silence) listener_.on_silence(why);
        }
        last_reason = std::move(why);
        const bool goes_on = co_await in_.schedule().pause(between.next());
        if (!goes_on) co_return false;
        co_await in_.refresh_port();
    }
}

/// Checks that the files of --since and --save are of this fabric, and that the latter can be written, before a sweep clears counters.
void sweep_loop::check_files() const {
    if (plan_.since) plan_.since->check(*known_->subnet);
    if (plan_.save) plan_.save->check(*known_->subnet);
}

coro::task<mad::result<void>> sweep_loop::discover() {
    // The cache does not contain the changes.
    const auto source = known_ ? subnet_source::fabric : subnet_source::cache_or_fabric;
    auto found = co_await discover_subnet(in_, nullptr, source);
    if (!found) co_return std::move(found.error());
    counters::sweep_options how;
    how.details = plan_.details;
    how.reads_ticks = plan_.reads_ticks && may_query_port_samples(in_.options());
    how.known_ticks = ticks_;
    how.clears = plan_.clears;
    const auto parts = std::make_shared<const selected_parts>(plan_.selected, found.value(), *names_);
    if (!known_ && !waits_for_subnet()) parts->require_nodes();
    if (!known_ && parts->has_nodes())
        for (const std::string& line : parts->notes()) listener_.on_problem(line);
    how.wants = [parts](const discovery::subnet& s, discovery::port_ref where) {
        return s.at(where).info.has_value() && parts->port(s, where);
    };
    auto next = std::make_unique<known_subnet>(in_.schedule(), std::move(found).value(), how);
    auto last = std::exchange(known_, std::move(next));
    if (!previous_) previous_ = std::move(last); // otherwise no sweep happened in between
    co_return comad::mad::success();
}

// ---- a sweep -------------------------------------------------------------------------------------------------------

void sweep_loop::take(counters::sweep made) {
    /// The data that a view of the sweep refers to, for code that keeps the view longer.
    struct swept {
        std::shared_ptr<const discovery::subnet> subnet;
        shared_names names;
        counters::sweep sweep;
    };
    const auto all = std::make_shared<const swept>(swept{known_->subnet, names_, std::move(made)});
    const discovery::subnet& today = *all->subnet;
    const counters::sweep& now = all->sweep;
    if (before_ && previous_)
        before_ = std::make_shared<const counters::sweep>(align_to(now, today, *before_, *previous_->subnet));
    previous_.reset();
    if (std::string why = find_sign_of_change(now); reason_.empty()) reason_ = std::move(why);
    ++totals_.sweeps;
    totals_.mads += now.mads;
    const double began = calendar_time() - mad::in_seconds(in_.now() - now.begin);
    const double seconds = mad::in_seconds(now.begin - *begin_);
    if (totals_.sweeps == 1) run_began_ = began;
    const double unix_begin = in_.is_virtual() ? run_began_ + seconds : began;
    std::optional<earlier_run::compared> earlier;
    const auto wants = [this](const discovery::node& n) { return plan_.selected.wants(n, *names_); };
    if (plan_.since && totals_.sweeps == 1) earlier = plan_.since->before(now, today, unix_begin, wants);
    const counters::sweep* const before = earlier ? &earlier->before : before_.get();
    const counters::sweep_view view{today,
                                    *all->names,
                                    now,
                                    before,
                                    totals_.sweeps,
                                    seconds,
                                    in_.is_virtual() ? -1 : began,
                                    all,
                                    earlier ? &earlier->about : nullptr};
    listener_.on_sweep(view, totals_);
    is_requested_ = false; // requests during this sweep are satisfied by it
    report_missing(all_missing(today, now.failures), in_.disconnect_text());
    // What the sweep itself cleared must not be missing from the next comparison.
    if (now.after_clear.empty()) before_ = std::shared_ptr<const counters::sweep>(all, &all->sweep);
    else before_ = std::make_shared<const counters::sweep>(after_clears(now));
    save(*before_, unix_begin); // may throw
}

/// Adds a complete sweep to the file of --save. A lasting plan continues if that fails.
void sweep_loop::save(const counters::sweep& made, double unix_begin) {
    if (!plan_.save || made.is_stopped) return;
    try {
        plan_.save->add(made, *known_->subnet, unix_begin);
    } catch (const std::runtime_error& e) {
        if (!plan_.is_lasting()) throw;
        is_complete_ = false;
        listener_.on_problem(e.what());
    }
}

void sweep_loop::report_missing(const std::vector<discovery::failure>& missing, const std::string& disconnect) {
    std::set<std::string> now;
    std::vector<discovery::failure> news;
    for (const discovery::failure& m : missing) {
        const std::string line = m.where.name + ": " + m.text;
        if (now.insert(line).second && !reported_.contains(line)) news.push_back(m);
    }
    is_complete_ &= missing.empty();
    reported_ = std::move(now);
    for (const std::string& line : format_missing(news, in_.options().shows_all(), disconnect))
        listener_.on_problem(line);
}

// Waits for the next period. Returns false if a signal arrived, or if the device was disconnected.
coro::task<bool> sweep_loop::wait_for_next() {
    if (plan_.on_request) co_return co_await wait_for_request();
    if (!periods_) co_return true;
    const u64 skipped = periods_->skip_over(in_.now());
    if (skipped > 0) {
        is_complete_ = false;
        totals_.skipped += skipped;
        listener_.on_problem(
            fmt::format("a sweep took longer than its period: {} sweep{} skipped", skipped, skipped == 1 ? "" : "s"));
    }
    co_return co_await wait_until_due();
}

coro::task<bool> sweep_loop::wait_until_due() {
    if (!begin_ || !periods_ || periods_->next() <= in_.now()) co_return true;
    co_return co_await in_.schedule().pause(periods_->next() - in_.now());
}

void sweep_loop::request(u64 known_sweeps) {
    if (totals_.sweeps > known_sweeps) return;
    is_requested_ = true;
    if (waiting_) waiting_->cancel();
}

coro::task<bool> sweep_loop::wait_for_request() {
    coro::scope_state& here = co_await coro::current_scope{};
    while (!is_requested_ && !here.cancelled()) {
        coro::scope until_requested(here);
        waiting_ = &until_requested;
        coro::job<bool> waiting = until_requested.queue(wait_long());
        co_await waiting;
        waiting_ = nullptr;
    }
    co_return !here.cancelled();
}

coro::task<bool> sweep_loop::wait_long() { co_return co_await in_.schedule().pause(std::chrono::hours(24)); }

// ---- detection of changes ------------------------------------------------------------------------------------------

// Detects changes from the sweep itself, without further MADs: links that went down, nodes that became unresponsive. Empty: none.
std::string sweep_loop::find_sign_of_change(const counters::sweep& now) {
    const discovery::subnet& s = *known_->subnet;
    std::string why;
    std::set<comad::iba::guid> gone;
    for (const discovery::failure& g : now.failures) {
        if (g.kind == discovery::failure_kind::not_cleared) continue; // the port exists
        const iba::guid nodeGUID = g.where.nodeGUID;
        if (why.empty() && !gone_.contains(nodeGUID)) why = format_missing({missing_of(s, g)}, false).front();
        gone.insert(nodeGUID);
    }
    gone_ = std::move(gone);
    for (std::size_t i = 0; before_ && why.empty() && i < now.ports.size(); ++i) {
        const auto downs =
            change_of(counters::counter::linkDownedCounter, before_->ports[i].counters, now.ports[i].counters);
        if (downs.value > 0) why = describe(s, discovery::change{now.ports[i].where, "the link went down"});
    }
    return why;
}

// Checks for changes at most once in each refresh period: a link that goes up and down continuously must not cause endless discoveries.
coro::task<void> sweep_loop::refresh() {
    if (in_.now() - last_check_ < plan_.refresh) co_return;
    last_check_ = in_.now();
    co_await in_.refresh_port();
    std::string why = std::exchange(reason_, {});
    if (why.empty()) why = co_await find_change();
    if (why.empty() && !in_.options().discovers_by_sa()) why = co_await find_answer(in_, *known_->subnet);
    if (why.empty() || is_disconnected()) co_return; // failures of a disconnected device are not changes
    auto done = co_await discover();
    if (is_disconnected()) co_return;
    if (!done) {
        if (done.error().code != mad::errc::cancelled) {
            is_complete_ = false;
            listener_.on_problem(cannot_discover + format_error(done.error(), in_.options()));
        }
        co_return;
    }
    in_.paths().forget();
    listener_.on_change(why);
    if (plan_.refresh_by == discovery::change_source::sa) co_await find_change(); // compare with the state from now on
}

// Returns the first change and the number of changes as text; empty if nothing has changed.
coro::task<std::string> sweep_loop::find_change() {
    std::vector<discovery::change> changes;
    if (plan_.refresh_by == discovery::change_source::sa) {
        auto found = co_await tables_->find_changes();
        if (!found) {
            if (found.error().code == mad::errc::cancelled || is_disconnected()) co_return std::string{};
            is_complete_ = false;
            listener_.on_problem("cannot read changes from the SA: " + format_error(found.error(), in_.options()));
            co_return std::string{};
        }
        changes = std::move(found).value();
    } else {
        changes = co_await discovery::find_changes(in_.schedule(), *known_->subnet, &in_.options().keys);
    }
    if (changes.empty()) co_return std::string{};
    discovery::change first = std::move(changes.front());
    if (!first.cause.empty()) first.text = std::move(first.cause);
    std::string why = describe(*known_->subnet, first);
    if (changes.size() > 1)
        why += fmt::format(", and {} more change{}", changes.size() - 1, changes.size() == 2 ? "" : "s");
    co_return why;
}

} // namespace ibtool
