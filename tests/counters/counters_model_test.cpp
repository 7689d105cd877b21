// SPDX-License-Identifier: MIT
// counters_model_test.cpp - counters of ports compared with a model that knows which events really happened. Registers
// saturate, wrap, are cleared by anyone or are not available. Also tests the rules that judge counters, and sweeps over
// agents that reply, refuse or do not respond.
#include "library/model_runs.hpp"
#include "support/sanitized.hpp"
#include "wire/answering_wire.hpp"
#include <comad/coro/driver.hpp>
#include <comad/counters/health.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/iba/pm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace counters_model_test {

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using counters::capabilities;
using counters::change_of;
using counters::counter;
using counters::counter_change;
using counters::counter_count;
using counters::counter_set;
using counters::health_finding;
using counters::reading;
using counters::sample;
using counters::severity;
using counters::sweeper;
using discovery::failure;
using discovery::failure_kind;
using discovery::port_ref;
using iba::NodeType;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;
using state = counter_change::state;

namespace {

__extension__ typedef unsigned __int128 u128;

[[noreturn]] void fail(const std::string& what) {
    FAIL(what);
    std::abort();
}
void expect(bool holds, const char* what) {
    if (!holds) fail(what);
}

/// Random numbers for the models.
struct dice {
    std::mt19937_64 random;

    explicit dice(u64 seed) : random(seed) {}
    u64 below(u64 end) { return random() % end; }
    bool one_in(unsigned n) { return below(n) == 0; }
    u64 between(u64 least, u64 most) { return least + below(most - least + 1); }
    /// Returns a number of any magnitude below `most`.
    u64 up_to(u64 most) { return most == 0 ? 0 : (random() >> below(64)) % most; }
    counter_set some(unsigned one_of) {
        return counters::counters_that([&](counter) { return one_in(one_of); });
    }
};

// ---- registers -----------------------------------------------------------------------------------------------------------

/// The position of a counter (IBA 16.1.3.5, 16.1.4.11). In PortCounters: first bit, number of bits, and the bit of
/// counterSelect (from 16 on: of counterSelect2) that selects it. In PortCountersExtended: the bit of counterSelect,
/// from 16 on of counterSelect2.
struct register_place {
    unsigned narrow_at, narrow_bits; ///< 0 bits if PortCounters do not have it
    unsigned narrow_select, wide_select;
};
constexpr std::array<register_place, counter_count> places{{
    {192, 32, 12, 0},                                                        // portXmitData
    {224, 32, 13, 1},  {256, 32, 14, 2},  {288, 32, 15, 3}, {0, 0, 0, 4},    // portUnicastXmitPkts
    {0, 0, 0, 5},      {0, 0, 0, 6},      {0, 0, 0, 7},     {32, 16, 0, 16}, // symbolErrorCounter
    {48, 8, 1, 17},    {56, 8, 2, 18},    {64, 16, 3, 19},  {80, 16, 4, 20}, {96, 16, 5, 21},
    {112, 16, 6, 22},  {128, 8, 7, 23},   {136, 8, 8, 24},  {152, 4, 9, 25}, // localLinkIntegrityErrors
    {156, 4, 10, 26},  {176, 16, 11, 27},                                    // VL15Dropped
    {320, 32, 16, 28},                                                       // portXmitWait
    {160, 16, 17, 29},                                                       // QP1Dropped
}};
constexpr u64 end_of(unsigned bits) { return bits == 64 ? ~u64{0} : (u64{1} << bits) - 1; }

/// Returns true if PortCounters have the counter according to ClassPortInfo (IBA 16.1.3.1).
bool reports_narrow(unsigned c, const capabilities& can) {
    if (places[c].narrow_bits == 0) return false;
    return (c != 20 || can.xmit_wait) && (c != 21 || can.qp1_dropped);
}
bool reports_wide(unsigned c, const capabilities& can) {
    if (!can.extended || (c == 20 && !can.xmit_wait) || (c == 21 && !can.qp1_dropped)) return false;
    if (c < 4) return true;
    return c < 8 ? can.unicast : can.additional;
}

/// The counters of a port, and the events since the last reading.
class counting_port {
public:
    std::array<u64, counter_count> narrow{}, wide{};
    std::array<u128, counter_count> events{}; ///< since watch()
    std::array<bool, counter_count> was_narrow_cleared{}, was_wide_cleared{};

    void watch() {
        events = {};
        was_narrow_cleared = was_wide_cleared = {};
    }
    void count(unsigned c, u64 more) {
        const u64 end = end_of(std::max(places[c].narrow_bits, 1u));
        narrow[c] = more > end - narrow[c] ? end : narrow[c] + more;
        wide[c] += more;
        events[c] += more;
    }
    void clear_narrow(u32 selected) {
        for (unsigned c = 0; c < counter_count; ++c) {
            if (places[c].narrow_bits == 0 || !(selected >> places[c].narrow_select & 1)) continue;
            narrow[c] = 0;
            was_narrow_cleared[c] = true;
        }
    }
    void clear_wide(u64 selected) {
        for (unsigned c = 0; c < counter_count; ++c) {
            if (!(selected >> places[c].wide_select & 1)) continue;
            wide[c] = 0;
            was_wide_cleared[c] = true;
        }
    }
    /// Applies a Set, which writes zeros.
    void set(const PortCounters& zeros) { clear_narrow(zeros.counterSelect | u32{zeros.counterSelect2} << 16); }
    void set(const PortCountersExt& zeros) { clear_wide(zeros.counterSelect | u64{zeros.counterSelect2} << 16); }

    PortCounters narrow_reported() const {
        std::array<u8, iba::wire_size<PortCounters>> bytes{};
        for (unsigned c = 0; c < counter_count; ++c)
            if (places[c].narrow_bits)
                iba::put_bits_at(bytes.data(), places[c].narrow_at, places[c].narrow_bits, narrow[c]);
        return decoded<PortCounters>(bytes);
    }
    PortCountersExt wide_reported() const {
        std::array<u8, iba::wire_size<PortCountersExt>> bytes{};
        for (unsigned c = 0; c < counter_count; ++c) iba::put_bits_at(bytes.data(), 64 + c * 64, 64, wide[c]);
        return decoded<PortCountersExt>(bytes);
    }

private:
    template <class T> static T decoded(const std::array<u8, iba::wire_size<T>>& bytes) {
        T value;
        iba::decode(value, bytes.data());
        return value;
    }
};

capabilities any_capabilities(dice& d) {
    capabilities can;
    can.all_ports = d.one_in(2);
    can.unicast = d.one_in(2);
    can.extended = can.unicast || d.one_in(3);
    can.additional = can.extended && d.one_in(2);
    can.xmit_wait = d.one_in(2);
    can.qp1_dropped = d.one_in(2);
    return can;
}

// ---- differences between two readings ------------------------------------------------------------------------------------

/// Returns the most that a link can count in a time. A time of less than a second counts as a second
/// (docs/explanation/counters.md).
u128 most_in(mad::duration between) {
    const u64 nanoseconds = static_cast<u64>(std::max<mad::duration>(between, 1s).count());
    return (u128{nanoseconds} << 40) / 1'000'000'000;
}

/// A port that is read again and again, with random events in between.
class read_port {
public:
    explicit read_port(u64 seed) : d_(seed) {}

    u64 run() {
        can_ = any_capabilities(d_);
        for (unsigned c = 0; c < counter_count; ++c) begin(c);
        for (int readings = 0; readings < 30; ++readings) read();
        return 30;
    }

private:
    struct reported_value {
        bool valid = false, is_wide = false;
        u64 value = 0;
    };
    using reported_values = std::array<reported_value, counter_count>;

    // Many counters start close to their end.
    void begin(unsigned c) {
        const u64 end = end_of(std::max(places[c].narrow_bits, 1u));
        port_.narrow[c] = places[c].narrow_bits == 0 ? 0 : d_.one_in(2) ? end - d_.up_to(end) : d_.up_to(end);
        port_.wide[c] = d_.one_in(2) ? ~u64{0} - d_.up_to(u64{1} << 45) : d_.random() >> d_.below(64);
    }

    void read() {
        const mad::duration between = any_time();
        happen(between);
        const reported_values before = reported_;
        const sample was = sample_;
        sample_.at += between;
        if (d_.one_in(15)) can_ = any_capabilities(d_); // a device with other firmware
        look();
        for (unsigned c = 0; c < counter_count; ++c) compare(c, before[c], was, between);
        port_.watch();
        if (d_.one_in(5)) clear_ours(); // just after it was read
    }

    mad::duration any_time() {
        if (d_.one_in(3)) return std::chrono::seconds(d_.between(1, 20)); // the limit is then a whole number of words
        // A time of more than a year, in which a link could count 2^64.
        if (d_.one_in(40)) return std::chrono::seconds(u64{1} << 25);
        return d_.one_in(20) ? 0ns : mad::duration(static_cast<std::int64_t>(d_.up_to(u64{1} << 40)));
    }
    void happen(mad::duration between) {
        const bool is_whole = between.count() % 1'000'000'000 == 0 || between < 1s;
        for (unsigned c = 0; c < counter_count; ++c) {
            const u128 all = std::min(most_in(between), u128{1} << 62);
            // If the limit is not a whole number, stays below it by more than the rounding error of a double.
            const u64 most = static_cast<u64>(is_whole ? all : all - all / 1000);
            unsigned times = d_.one_in(3) ? 0 : static_cast<unsigned>(d_.between(1, 3));
            u64 left = d_.one_in(30) ? most : d_.up_to(most);
            if (d_.one_in(2))
                left = std::min(left, d_.up_to(end_of(places[c].narrow_bits ? places[c].narrow_bits : 16)));
            for (; times > 0; --times) {
                const u64 more = times == 1 ? left : d_.up_to(left);
                port_.count(c, more);
                left -= more;
                if (d_.one_in(25)) clear_by_others();
            }
            if (is_whole && reported_[c].is_wide && d_.one_in(10)) clear_just_beyond(c, all);
        }
        if (d_.one_in(10)) clear_by_others();
    }
    // Clears a counter at a value from which a wrap would need one count more than a link can reach.
    void clear_just_beyond(unsigned c, u128 most) {
        const u128 to_end = (u128{1} << 64) - reported_[c].value;
        if (to_end > most) return;
        port_.clear_wide(u32{1} << places[c].wide_select);
        port_.count(c, static_cast<u64>(most + 1 - to_end));
    }
    void clear_by_others() {
        const u32 which = static_cast<u32>(d_.random());
        if (d_.one_in(2)) port_.clear_narrow(which);
        else port_.clear_wide(which);
    }
    void clear_ours() {
        const counter_set which = d_.some(3);
        const auto before = port_;
        const counters::clearing zeros = counters::clearing_of(which, can_, 7);
        if (zeros.narrow) port_.set(*zeros.narrow);
        if (zeros.wide) port_.set(*zeros.wide);
        expect(!zeros.narrow || zeros.narrow->portSelect == 7, "which port's narrow counters are cleared");
        expect(!zeros.wide || zeros.wide->portSelect == 7, "which port's wide counters are cleared");
        bool is_any_narrow = false, is_any_wide = false;
        for (unsigned c = 0; c < counter_count; ++c) {
            const bool is_wanted = which.has(static_cast<counter>(c));
            const bool is_narrow = is_wanted && reports_narrow(c, can_), is_wide = is_wanted && reports_wide(c, can_);
            is_any_narrow |= is_narrow;
            is_any_wide |= is_wide;
            expect(port_.narrow[c] == (is_narrow ? 0 : before.narrow[c]), "what is cleared in PortCounters");
            expect(port_.wide[c] == (is_wide ? 0 : before.wide[c]), "what is cleared in PortCountersExtended");
        }
        expect(zeros.narrow.has_value() == is_any_narrow && zeros.wide.has_value() == is_any_wide,
               "whether there is a Set");
    }

    // One of the attributes may get no reply.
    void look() {
        sample_.counters = {};
        reported_ = {};
        const bool has_wide = can_.extended && !d_.one_in(10), has_narrow = !d_.one_in(10);
        if (has_wide) sample_.counters.take(port_.wide_reported(), can_);
        if (has_narrow) sample_.counters.take(port_.narrow_reported(), can_);
        for (unsigned c = 0; c < counter_count; ++c) {
            if (has_wide && reports_wide(c, can_)) reported_[c] = {true, true, port_.wide[c]};
            else if (has_narrow && reports_narrow(c, can_)) reported_[c] = {true, false, port_.narrow[c]};
            const auto id = static_cast<counter>(c);
            expect(sample_.counters.has(id) == reported_[c].valid, "whether a counter is reported");
            expect(sample_.counters[id] == reported_[c].value, "the value of a counter");
            if (!reported_[c].valid) continue;
            const unsigned width = reported_[c].is_wide ? 64 : places[c].narrow_bits;
            expect(sample_.counters.width(id) == width, "the width of a counter");
            expect(sample_.counters.is_pegged(id) == (width < 64 && reported_[c].value == end_of(width)),
                   "whether it is pegged");
        }
        expect(counters::narrow_counters(can_).has(counter::portXmitWait) == can_.xmit_wait, "narrow_counters");
    }

    void compare(unsigned c, const reported_value& was, const sample& before, mad::duration between) const {
        const auto id = static_cast<counter>(c);
        const counter_change change = change_of(id, before, sample_);
        const reported_value& is = reported_[c];
        if (!was.valid || !is.valid || was.is_wide != is.is_wide) {
            expect(change == counter_change{}, "a change of what is not known");
            return;
        }
        const bool was_cleared = is.is_wide ? port_.was_wide_cleared[c] : port_.was_narrow_cleared[c];
        const u128 truth = port_.events[c];
        if (is.is_wide) compare_wide(change, was.value, is.value, truth, was_cleared, between);
        else compare_narrow(c, change, was.value, is.value, truth, was_cleared);
        compare_rate(id, change, truth, between);
    }
    static void compare_narrow(unsigned c, const counter_change& change, u64 was, u64 is, u128 truth,
                               bool was_cleared) {
        const u64 end = end_of(places[c].narrow_bits);
        expect(change.value <= truth, "more than there was");
        if (is < was) {
            expect(was_cleared, "the model lost something");
            expect(change == counter_change{state::reset, is}, "somebody cleared it");
        } else if (is == end) {
            expect(change == counter_change{state::saturated, is - was}, "it stands at its end");
        } else {
            // A counter that was cleared and has reached its old value looks like a counter that was not cleared.
            expect(change.what == state::counted, "it has counted");
            if (!was_cleared) expect(change.value == truth, "how far it has counted");
        }
        expect(change.is_exact() == (is >= was && is != end), "whether it is all");
    }
    static void compare_wide(const counter_change& change, u64 was, u64 is, u128 truth, bool was_cleared,
                             mad::duration between) {
        const u128 as_if_wrapped = is < was ? (u128{1} << 64) - was + is : 0;
        // 2^62 words take 4x XDR more than five years: no counter reaches that, however long the interval is.
        const bool could_wrap = as_if_wrapped <= std::min(most_in(between), u128{1} << 62);
        if (!was_cleared) {
            expect(change.value == truth, "how far a counter of 64 bits has counted");
            expect(change.what == (is < was ? state::wrapped : state::counted), "whether it went past its end");
        } else if (is < was && could_wrap) {
            // A counter that was cleared so close to its end could also have wrapped.
            expect(change == counter_change{state::wrapped, static_cast<u64>(as_if_wrapped)},
                   "one that may have wrapped");
            return;
        } else if (is < was) {
            expect(change == counter_change{state::reset, is}, "somebody cleared a counter of 64 bits");
        }
        expect(change.value <= truth, "more than there was in 64 bits");
        expect(change.is_exact() == (change.what != state::reset), "whether it is all in 64 bits");
    }
    static void compare_rate(counter c, const counter_change& change, u128, mad::duration between) {
        const double rate = counters::rate_of(c, change, between);
        const double units = c == counter::portXmitData || c == counter::portRcvData ? 4 : 1;
        const double expected = between.count() == 0 ? 0
                                                     : units * static_cast<double>(change.value) * 1e9 /
                                                           static_cast<double>(between.count());
        expect(std::abs(rate - expected) <= 1e-9 * expected, "a rate");
    }

    dice d_;
    capabilities can_;
    counting_port port_;
    sample sample_;
    reported_values reported_{};
};

// ---- rules that judge the counters ---------------------------------------------------------------------------------------

/// Two hosts and a cable with the best speed that both support. Random rules judge the counters.
class judged_port {
public:
    explicit judged_port(u64 seed) : d_(seed) {}

    u64 run() {
        make_cable();
        for (int i = 0; i < 20; ++i) evaluate();
        return 20;
    }

private:
    static constexpr port_ref here_{0, 1};
    /// Speed of the cable in bits per second: 4X QDR.
    static constexpr double bits_per_second_ = 40e9;

    void make_cable() {
        s_.nodes.resize(2);
        for (discovery::node& n : s_.nodes) {
            n.info.nodeType = NodeType::CA;
            n.ports.resize(2);
            iba::smp::PortInfo& p = n.ports[1].info.emplace();
            p.portState = iba::PortState::Active;
            p.linkWidthSupported = 2;
            p.linkWidthActive = iba::LinkWidth::w4x;
            p.linkSpeedSupported = 4;
            p.linkSpeedActive = iba::LinkSpeed::QDR;
        }
        s_.nodes[0].ports[1].peer = {1, 1};
        s_.nodes[1].ports[1].peer = here_;
    }
    counters::limits any_limits(double scale) {
        counters::limits l;
        if (d_.one_in(2)) l.warning = static_cast<double>(d_.below(8)) * scale;
        if (d_.one_in(2)) l.error = static_cast<double>(d_.below(16)) * scale;
        if (d_.one_in(3)) l.critical = static_cast<double>(d_.below(32)) * scale;
        return l;
    }
    static std::pair<severity, double> worst(const counters::limits& l, double measured) {
        if (l.critical && measured > *l.critical) return {severity::critical, *l.critical};
        if (l.error && measured > *l.error) return {severity::error, *l.error};
        if (l.warning && measured > *l.warning) return {severity::warning, *l.warning};
        return {severity::ok, 0};
    }

    reading read(const PortCounters& reported, mad::duration at, std::vector<counters::port_detail> details) {
        reading r{here_, true, {mad::time_point(at), {}}, std::move(details)};
        r.counters.counters.take(reported, capabilities{});
        return r;
    }

    void evaluate() {
        counters::health_rules rules;
        rules.pegged = static_cast<severity>(d_.below(4));
        rules.of(counter::portRcvErrors) = {d_.one_in(2) ? mad::duration(1s) : mad::duration(8s), any_limits(1)};
        rules.of(counter::symbolErrorCounter) = {2s, any_limits(1)};
        if (d_.one_in(2)) rules.bit_errors = any_limits(1.0 / bits_per_second_);
        if (d_.one_in(2)) rules.raw_bit_errors = any_limits(1.0 / bits_per_second_);
        const std::int64_t seconds = std::int64_t{1} << d_.below(5); // powers of two divide without remainder
        PortCounters then, now;
        then.portRcvErrors = any_reading();
        then.symbolErrorCounter = any_reading();
        now.portRcvErrors =
            d_.one_in(6) ? any_reading() : static_cast<u16>(std::min<u64>(then.portRcvErrors + d_.below(80), 65535));
        now.symbolErrorCounter = static_cast<u16>(std::min<u64>(then.symbolErrorCounter + d_.below(80), 65535));
        iba::pm::PortExtendedSpeedsCounters lanes_then, lanes_now;
        any_lanes(lanes_then.FECUncorrectableBlockCounterLane, lanes_now.FECUncorrectableBlockCounterLane);
        any_lanes(lanes_then.FECCorrectableBlockCounterLane, lanes_now.FECCorrectableBlockCounterLane);
        counters::sweep before, after;
        before.ports.push_back(read(then, 5s, {lanes_then}));
        after.ports.push_back(read(now, 5s + std::chrono::seconds(seconds), {lanes_now}));

        std::vector<health_finding> expected;
        const double bits = bits_per_second_ * static_cast<double>(seconds);
        for (const counter c : {counter::symbolErrorCounter, counter::portRcvErrors}) {
            const bool is_symbols = c == counter::symbolErrorCounter;
            const u64 was = is_symbols ? then.symbolErrorCounter : then.portRcvErrors;
            const u64 is = is_symbols ? now.symbolErrorCounter : now.portRcvErrors;
            const counters::growth_rule& rule = rules.of(c);
            const bool has_bits = is_symbols && !rules.bit_errors.empty();
            if (rule.most.empty() && !has_bits) continue;
            const std::string_view name = is_symbols ? "symbolErrorCounter" : "portRcvErrors";
            if (was == 65535 && is == 65535) {
                if (rules.pegged != severity::ok)
                    expected.push_back({rules.pegged, here_, health_finding::rule::pegged, 65535, 65535, name});
                continue;
            }
            const u64 more = is < was ? is : is - was;
            const bool is_at_least = is < was || is == 65535;
            const double units = static_cast<double>(seconds) / static_cast<double>(rule.per / 1s);
            add(expected, health_finding::rule::growth, name, more, is_at_least, rule.most, units, seconds, rule.per);
            if (is_symbols)
                add(expected, health_finding::rule::bit_errors, name, more, is_at_least, rules.bit_errors, bits,
                    seconds);
        }
        add_lanes(expected, health_finding::rule::bit_errors, "FECUncorrectableBlockCounterLane",
                  lanes_then.FECUncorrectableBlockCounterLane, lanes_now.FECUncorrectableBlockCounterLane,
                  rules.bit_errors, bits, seconds);
        add_lanes(expected, health_finding::rule::raw_bit_errors, "FECCorrectableBlockCounterLane",
                  lanes_then.FECCorrectableBlockCounterLane, lanes_now.FECCorrectableBlockCounterLane,
                  rules.raw_bit_errors, bits, seconds);
        const auto have = counters::evaluate(rules, s_, before, after);
        if (have != expected) fail(fmt::format("{} findings, not {}", have.size(), expected.size()));
    }
    u16 any_reading() { return static_cast<u16>(d_.one_in(3) ? 65535 - d_.below(60) * d_.below(2) : d_.below(100)); }
    template <class Lanes> void any_lanes(Lanes& then, Lanes& now) {
        if (!d_.one_in(3)) return;
        for (std::size_t i = 0; i < then.size(); ++i) {
            if (!d_.one_in(4)) continue;
            then[i] = static_cast<u32>(d_.one_in(3) ? ~u32{0} - d_.below(20) : d_.below(30));
            now[i] =
                static_cast<u32>(d_.one_in(5) ? d_.below(10) : std::min<u64>(u64{then[i]} + d_.below(25), ~u32{0}));
        }
    }
    static void add(std::vector<health_finding>& all, health_finding::rule why, std::string_view name, u64 more,
                    bool is_at_least, const counters::limits& most, double units, std::int64_t seconds,
                    mad::duration per = {}) {
        const double measured = static_cast<double>(more) / units;
        const auto [how_bad, limit] = worst(most, measured);
        if (how_bad == severity::ok) return;
        all.push_back(
            {how_bad, here_, why, measured, limit, name, more, std::chrono::seconds(seconds), per, is_at_least});
    }
    template <class Lanes>
    static void add_lanes(std::vector<health_finding>& all, health_finding::rule why, std::string_view name,
                          const Lanes& then, const Lanes& now, const counters::limits& most, double bits,
                          std::int64_t seconds) {
        u64 more = 0;
        bool is_at_least = false;
        for (std::size_t i = 0; i < then.size(); ++i) {
            more += now[i] < then[i] ? now[i] : now[i] - then[i];
            is_at_least |= now[i] < then[i] || now[i] == ~u32{0};
        }
        add(all, why, name, more, is_at_least, most, bits, seconds);
    }

    dice d_;
    discovery::subnet s_;
};

// ---- sweeps --------------------------------------------------------------------------------------------------------------

/// A subnet whose agents reply, refuse or do not respond, and successive sweeps of it.
class swept_subnet {
public:
    explicit swept_subnet(u64 seed) : d_(seed) {}

    u64 run() {
        make();
        for (int sweepers = 0; sweepers < 5; ++sweepers) {
            for (pma_node& n : nodes_) n.forget();
            sweeper s(schedule_, known_, how_);
            expect(s.ports() == targets_, "the number of ports");
            for (int i = 0; i < 8; ++i) {
                change();
                check(coro::sync_wait(schedule_, s.run()));
            }
        }
        return requested_ + 1;
    }

private:
    struct pma_port {
        counting_port counters, at_first; ///< current values, and values when the sweep started
        bool is_wanted = false, is_silent = false, is_refused = false;
        bool is_lost = false; ///< a port of a responsive switch: queries for this port get no reply
        bool valid = false;   ///< expected value of reading::valid
    };
    struct pma_node {
        capabilities can;
        std::vector<pma_port> ports;
        bool is_enhanced = false;
        bool has_lid = true;
        bool refuses_sums = false, refuses_sets = false;
        bool is_known = false;      ///< its capabilities are known
        bool has_sum = false;       ///< as far as the sweeper knows
        bool may_be_silent = false; ///< true if it has not replied, except with refusals, since it became unresponsive
        bool was_silent = false;    ///< true if none of its ports replied in the previous sweep
        std::size_t mads = 0, silences = 0, sums = 0;
        std::vector<u8> cleared; ///< each portSelect of a Set, in this sweep
        std::size_t rereads = 0; ///< Gets after a Set, in this sweep

        /// Resets the model to the state of a sweeper before its first sweep.
        void forget() {
            is_known = may_be_silent = was_silent = false;
            has_sum = can.all_ports;
        }
        std::vector<u8> wanted() const {
            std::vector<u8> all;
            for (u8 p = 0; p < ports.size(); ++p)
                if (ports[p].is_wanted) all.push_back(p);
            return all;
        }
    };
    bool is_switch(u32 n) const { return known_.nodes[n].is_switch(); }
    static iba::lid lid_of(u32 n, u8 port) { return iba::lid{static_cast<u16>(100 * (n + 1) + port)}; }

    void make() {
        const unsigned count = static_cast<unsigned>(d_.between(1, 5));
        for (u32 n = 0; n < count; ++n) {
            discovery::node& one = known_.nodes.emplace_back();
            pma_node& agent = nodes_.emplace_back();
            one.info.nodeType = d_.one_in(2) ? NodeType::Switch : NodeType::CA;
            one.info.numPorts = static_cast<u8>(d_.between(1, is_switch(n) ? 9 : 3));
            one.info.nodeGUID = iba::guid{100 + d_.random() % 1000 * 10 + n};
            known_.by_guid.emplace(one.info.nodeGUID, n);
            one.ports.resize(one.info.numPorts + 1u);
            agent.ports.resize(one.ports.size());
            agent.can = any_capabilities(d_);
            agent.is_enhanced = is_switch(n) && d_.one_in(3);
            if (is_switch(n)) one.switch_info.emplace().enhancedPort0 = agent.is_enhanced;
            agent.has_lid = !d_.one_in(8);
            for (u8 p = is_switch(n) ? 0 : 1; p < one.ports.size(); ++p) {
                if (d_.one_in(8) && !(is_switch(n) && p == 0)) continue; // the discovery could not read it
                iba::smp::PortInfo& info = one.ports[p].info.emplace();
                if (agent.has_lid && (p == 0 || !is_switch(n))) info.LID = lid_of(n, p);
                agent.ports[p].is_wanted = p != 0 || agent.is_enhanced;
            }
            targets_ += agent.wanted().size();
        }
        how_.per_agent = static_cast<unsigned>(d_.between(0, 5));
        if (d_.one_in(2)) how_.clears = d_.some(4);
        if (d_.one_in(3)) how_.counters = d_.some(5);
        // A sweep queries the capabilities before it clears a counter.
        if (!how_.clears.empty()) how_.counters.add(counter::portXmitData);
        if (d_.one_in(2)) {
            how_.counters.add(counter::symbolErrorCounter);
            how_.is_too_much = [](const reading& sum) {
                return sum.counters.counters[counter::symbolErrorCounter] > 9;
            };
        }
        how_.on_port = [this](const reading& l) { arrived_.emplace_back(l.where.node, l.where.port); };
    }
    void change() {
        for (pma_node& n : nodes_) {
            n.refuses_sums = d_.one_in(8);
            n.refuses_sets = d_.one_in(8);
            const bool is_dead = d_.one_in(6), refuses_all = d_.one_in(8);
            for (pma_port& p : n.ports) {
                p.is_refused = refuses_all || d_.one_in(12);
                p.is_silent =
                    is_dead || (&n.ports[0] != &p && &n != &nodes_[0] && !is_switch(index_of(n)) && d_.one_in(12));
                for (unsigned c = 0; c < counter_count; ++c)
                    if (d_.one_in(5)) p.counters.count(c, d_.one_in(3) ? d_.up_to(u64{1} << 40) : d_.below(6));
                p.at_first = p.counters;
                p.is_lost = false;
            }
            if (!is_dead && !n.may_be_silent && how_.per_agent < 2 && d_.one_in(3)) lose_ports(n);
        }
    }
    // Makes some ports of a switch unresponsive. A responsive port follows each of them, so that the switch never fails
    // to reply twice in a row.
    void lose_ports(pma_node& n) {
        const std::vector<u8> wanted = n.wanted();
        if (!is_switch(index_of(n)) || !n.has_lid || !has_anything(n)) return;
        for (std::size_t i = 0; i + 1 < wanted.size(); i += 2)
            n.ports[wanted[i]].is_lost = !n.ports[wanted[i + 1]].is_refused && d_.one_in(2);
    }
    u32 index_of(const pma_node& n) const { return static_cast<u32>(&n - nodes_.data()); }

    // ---- the simulated agents
    std::vector<u8> answer(const mad::send_request& request) {
        ++requested_;
        const mad::IBPath& to = std::get<mad::IBPath>(*request.path);
        const u32 n = value(to.DLID) / 100 - 1u;
        const u8 entered = value(to.DLID) % 100;
        pma_node& node = nodes_.at(n);
        ++node.mads;
        if (node.ports.at(entered).is_silent) {
            ++node.silences;
            return {};
        }
        const u16 attribute = iba::load_be<u16>(request.mad + attribute_at);
        const u8 select = request.mad[pm_data_at + 1];
        const bool is_set = request.mad[method_at] == 2;
        std::vector<u8> reply(request.mad, request.mad + mad::mad_size);
        reply[method_at] = 0x81;
        if (attribute == iba::attribute_id<iba::ClassPortInfo>) return class_port_info(node, reply);
        if (select != 255 && !is_set && node.ports.at(select).is_lost) {
            ++node.silences;
            return {};
        }
        if (select != 255 && !is_switch(n)) expect(select == entered, "a port is asked by another");
        const bool is_sum = select == 255 && !is_set;
        const bool is_reread = !is_set && (std::ranges::find(node.cleared, select) != node.cleared.end() ||
                                           std::ranges::find(node.cleared, 255) != node.cleared.end());
        node.rereads += is_reread;
        node.sums += is_sum && !is_reread;
        if (is_sum ? node.refuses_sums : is_set ? node.refuses_sets : node.ports.at(select).is_refused) {
            reply[status_at + 1] = 0x1c; // invalid value
            if (is_set) note_cleared(node, select);
            return reply;
        }
        if (attribute == iba::attribute_id<PortCounters>) answer_as<PortCounters>(node, select, is_set, reply);
        else if (attribute == iba::attribute_id<PortCountersExt>)
            answer_as<PortCountersExt>(node, select, is_set, reply);
        else fail("an attribute that nobody asked for");
        return reply;
    }
    static std::vector<u8> class_port_info(const pma_node& node, std::vector<u8>& reply) {
        iba::ClassPortInfo info; // IBA 16.1.3.1
        info.capabilityMask = static_cast<u16>((node.can.all_ports ? 0x0100 : 0) | (node.can.unicast ? 0x0200 : 0) |
                                               (node.can.extended ? 0x0400 : 0) | (node.can.xmit_wait ? 0x1000 : 0) |
                                               (node.can.qp1_dropped ? 0x8000 : 0));
        info.capabilityMask2 = node.can.additional ? 2 : 0;
        std::ranges::copy(iba::encode(info), reply.begin() + pm_data_at);
        return reply;
    }
    template <class T> static void answer_as(pma_node& node, u8 select, bool is_set, std::vector<u8>& reply) {
        if (is_set) {
            T zeros;
            iba::decode(zeros, reply.data() + pm_data_at);
            for (u8 p = 0; p < node.ports.size(); ++p)
                if (select == 255 || select == p) node.ports[p].counters.set(zeros);
            note_cleared(node, select);
            return;
        }
        const counting_port reported = select == 255 ? sum_of(node, &pma_port::counters) : node.ports[select].counters;
        if constexpr (std::is_same_v<T, PortCounters>)
            std::ranges::copy(iba::encode(reported.narrow_reported()), reply.begin() + pm_data_at);
        else std::ranges::copy(iba::encode(reported.wide_reported()), reply.begin() + pm_data_at);
        reply[pm_data_at + 1] = select;
    }
    static void note_cleared(pma_node& node, u8 select) { node.cleared.push_back(select); }
    static counting_port sum_of(const pma_node& node, counting_port pma_port::*which) {
        counting_port sum;
        for (const pma_port& p : node.ports) {
            for (unsigned c = 0; c < counter_count; ++c) {
                const u64 end = end_of(std::max(places[c].narrow_bits, 1u));
                sum.narrow[c] = std::min(end, sum.narrow[c] + (p.*which).narrow[c]);
                sum.wide[c] += (p.*which).wide[c];
            }
        }
        return sum;
    }

    // ---- expected results of a sweep
    void check(const counters::sweep& have) {
        expect(have.ports.size() == targets_, "the number of readings");
        expect(!have.is_stopped && have.complete() == have.failures.empty(), "whether it is complete");
        const auto is_before = [this](const failure& a, const failure& b) {
            return std::pair(known_.find(a.where).node, a.where.port) <
                   std::pair(known_.find(b.where).node, b.where.port);
        };
        expect(std::ranges::is_sorted(have.failures, is_before), "the order of gaps");
        std::size_t at = 0, mads = 0;
        std::vector<std::pair<u32, u8>> reported;
        for (u32 n = 0; n < nodes_.size(); ++n) {
            for (const u8 p : nodes_[n].wanted()) {
                const reading& l = have.ports[at++];
                expect(l.where == port_ref{n, p}, "the place of a reading");
                nodes_[n].ports[p].valid = l.valid;
                if (l.valid) reported.emplace_back(n, p);
                if (l.valid) check_values(nodes_[n], l, nodes_[n].ports[p]);
            }
            mads += nodes_[n].mads;
            check_node(have, n);
        }
        expect(have.mads == mads, "the number of MADs");
        std::ranges::sort(arrived_);
        expect(arrived_ == reported, "the ports that were reported one by one");
        for (pma_node& n : nodes_) {
            n.mads = n.silences = n.sums = 0;
            n.cleared.clear();
            n.rereads = 0;
        }
        arrived_.clear();
    }

    // Every requested counter has a value, as it was before the clearing.
    void check_values(const pma_node& node, const reading& l, const pma_port& port) const {
        for (unsigned c = 0; c < counter_count; ++c) {
            const auto id = static_cast<counter>(c);
            const bool is_wide = reports_wide(c, node.can), is_narrow = reports_narrow(c, node.can);
            if (how_.counters.has(id))
                expect(l.counters.counters.has(id) == (is_wide || is_narrow), "a counter that is wanted");
            if (!l.counters.counters.has(id)) continue;
            const bool is_64 = l.counters.counters.width(id) == 64;
            expect(l.counters.counters[id] == (is_64 ? port.at_first.wide[c] : port.at_first.narrow[c]),
                   "what was read");
        }
    }

    std::vector<failure> failures_of(const counters::sweep& have, u32 n) const {
        std::vector<failure> all;
        for (const failure& g : have.failures)
            if (known_.find(g.where).node == n) all.push_back(g);
        return all;
    }
    static bool is_of_clearing(const failure& g) { return g.text.starts_with("not cleared: "); }

    void check_node(const counters::sweep& have, u32 n) {
        pma_node& node = nodes_[n];
        const std::vector<u8> wanted = node.wanted();
        std::vector<failure> failures = failures_of(have, n), uncleared;
        for (const failure& g : failures)
            if (is_of_clearing(g)) uncleared.push_back(g);
        std::erase_if(failures, is_of_clearing);
        if (wanted.empty()) return expect(failures.empty() && node.mads == 0, "a node of which nothing is wanted");
        std::set<u8> missing;
        for (const failure& g : failures) { // a failure of port 0 belongs to port 0 or to the switch
            const bool is_first = missing.insert(g.where.port).second;
            expect(is_first || (g.where.port == 0 && node.is_enhanced), "a gap that is told twice");
        }
        if (!node.has_lid) return check_without_lid(failures, wanted, n);

        const auto sum = std::ranges::find(have.sums, n, [](const reading& l) { return l.where.node; });
        const bool is_sum_reported = sum != have.sums.end() && sum->valid;
        const bool has_silence = node.silences > 0;
        const bool is_dead =
            has_silence && std::ranges::all_of(wanted, [&](u8 p) { return node.ports[entered_by(n, p)].is_silent; });
        const bool is_summed = is_sum_reported && !how_.is_too_much(*sum);
        if (is_sum_reported)
            expect(is_all(node, wanted, n) && node.can.all_ports, "a sum of ports that are not wanted");
        if (how_.is_too_much && !has_silence && node.has_sum && is_all(node, wanted, n) && wanted.size() > 1)
            expect(sum != have.sums.end() && is_sum_reported == !node.refuses_sums, "a sum that must be queried");
        else if (!has_silence) expect(!is_sum_reported, "a sum that must not be queried");
        if (is_sum_reported) check_sum(node, *sum);

        for (const u8 p : wanted) {
            const pma_port& port = node.ports[p];
            const bool is_silent = node.ports[entered_by(n, p)].is_silent;
            const bool is_covered = missing.contains(p) || missing.contains(0);
            if (port.valid) expect(!missing.contains(p), "a gap where something was read");
            else expect(is_covered || is_summed, "nothing is said of a port that was not read");
            const bool is_askable = !has_anything(node) || (!is_silent && !port.is_refused && !port.is_lost);
            if (is_summed) expect(!port.valid, "a port was read although the sum sufficed");
            else if (!has_silence || (is_switch(n) && !is_dead))
                expect(port.valid == is_askable, "whether a port was read");
            else if (port.valid) expect(is_askable, "a port that does not answer");
        }
        for (const failure& g : failures) check_failure(g, node, n);
        if (is_dead && is_switch(n)) check_dead_switch(failures, node, n);
        if (!has_silence) check_mads(node, wanted, is_summed, is_sum_reported);
        check_cleared(node, wanted, uncleared, is_summed, n);
        if (node.sums > 0 && node.refuses_sums) node.has_sum = false; // the sweeper does not query it again
        const bool is_any_reported = std::ranges::any_of(wanted, [&](u8 p) { return node.ports[p].valid; });
        const bool has_reported_capabilities = !node.is_known && !is_dead;
        const bool has_answered = has_reported_capabilities || is_sum_reported || is_any_reported;
        node.may_be_silent = is_dead || (node.may_be_silent && !has_answered);
        node.is_known |= !is_dead;
        node.was_silent = is_dead;
    }

    u8 entered_by(u32 n, u8 port) const { return is_switch(n) ? u8{0} : port; }
    bool is_all(const pma_node& node, const std::vector<u8>& wanted, u32 n) const {
        return wanted.size() == known_.nodes[n].info.numPorts + (node.is_enhanced ? 1u : 0u);
    }
    // Returns how many attributes a sweep must query for the requested counters.
    std::size_t attributes_of(const pma_node& node) const {
        bool is_wide = false, is_narrow = false;
        for (unsigned c = 0; c < counter_count; ++c) {
            if (!how_.counters.has(static_cast<counter>(c))) continue;
            if (reports_wide(c, node.can)) is_wide = true;
            else is_narrow |= reports_narrow(c, node.can);
        }
        return std::size_t{is_wide} + std::size_t{is_narrow};
    }
    bool has_anything(const pma_node& node) const { return attributes_of(node) > 0; }
    std::size_t sets_of(const pma_node& node) const {
        bool is_wide = false, is_narrow = false;
        for (unsigned c = 0; c < counter_count; ++c) {
            if (!how_.clears.has(static_cast<counter>(c))) continue;
            is_wide |= reports_wide(c, node.can);
            is_narrow |= reports_narrow(c, node.can);
        }
        return std::size_t{is_wide} + std::size_t{is_narrow};
    }

    void check_without_lid(const std::vector<failure>& failures, const std::vector<u8>& wanted, u32 n) {
        expect(nodes_[n].mads == 0, "a node without a LID was asked");
        expect(failures.size() == (is_switch(n) ? 1 : wanted.size()), "the gaps of a node without a LID");
        for (std::size_t i = 0; i < failures.size(); ++i) {
            expect(failures[i].kind == failure_kind::no_address, "why there is no LID");
            expect(failures[i].where.port == (is_switch(n) ? 0 : wanted[i]), "where there is no LID");
        }
    }
    void check_failure(const failure& g, const pma_node& node, u32 n) const {
        const bool is_silence = g.kind == failure_kind::timeout || g.kind == failure_kind::unresponsive;
        const bool is_lost = node.ports[g.where.port].is_lost;
        if (is_silence)
            expect(is_lost || node.ports[entered_by(n, g.where.port)].is_silent, "who is said to be silent answers");
        else
            expect(g.kind == failure_kind::error_reply && node.ports[g.where.port].is_refused,
                   "who is said to refuse does not");
        if (is_silence) expect(g.text.find("timed out") != g.text.npos, "what a silence is called");
        if (g.kind == failure_kind::timeout && is_switch(n))
            expect(!node.was_silent, "a switch that was silent before");
        if (g.kind == failure_kind::unresponsive && is_switch(n))
            expect(node.may_be_silent, "a switch that was not silent before");
    }
    void check_dead_switch(const std::vector<failure>& failures, const pma_node& node, u32 n) const {
        const bool has_node = std::ranges::any_of(failures, [&](const failure& f) {
            return known_.find(f.where) == port_ref{n, 0};
        });
        expect(has_node || node.wanted().size() == 1, "a dead switch is told as one");
        if (node.was_silent) {
            expect(node.mads == 1 && failures.size() == 1, "a switch that was silent is asked once");
            expect(failures[0].kind == failure_kind::unresponsive, "a switch that was silent is said to be so");
        }
        if (!node.is_known)
            expect(node.mads == 1 && failures.size() == 1, "who does not say what it can is not queried further");
        expect(node.mads <= std::max(how_.per_agent, 1u) + 2, "a dead switch is not asked for each port");
    }
    void check_mads(const pma_node& node, const std::vector<u8>& wanted, bool is_summed, bool is_sum_reported) {
        std::size_t expected = node.is_known ? 0 : 1;
        const std::size_t reads = attributes_of(node);
        if (is_sum_reported) expected += reads;
        else if (node.sums > 0) expected += 1;
        if (!is_summed)
            for (const u8 p : wanted) expected += node.ports[p].is_refused && reads > 0 ? 1 : reads;
        expect(node.mads == expected + node.cleared.size() + node.rereads, "the number of MADs to a node");
        // Each port is read again at most once by each attribute. A port without anything to clear is not read again.
        expect(node.rereads <= 2 * wanted.size() || node.refuses_sets, "the number of Gets after a clearing");
    }
    void check_sum(const pma_node& node, const reading& sum) const {
        expect(sum.where.port == 255, "the place of a sum");
        for (unsigned c = 0; c < counter_count; ++c) {
            const auto id = static_cast<counter>(c);
            if (!sum.counters.counters.has(id)) continue;
            const counting_port all = sum_of(node, &pma_port::at_first);
            const bool is_64 = sum.counters.counters.width(id) == 64;
            expect(sum.counters.counters[id] == (is_64 ? all.wide[c] : all.narrow[c]), "a sum");
        }
    }

    // Checks that the sweep cleared in each attribute what it read, and nothing else. One Set clears all ports if
    // possible.
    void check_cleared(const pma_node& node, const std::vector<u8>& wanted, const std::vector<failure>& uncleared,
                       bool is_summed, u32 n) const {
        const bool is_each_reported = std::ranges::all_of(wanted, [&](u8 p) { return node.ports[p].valid; });
        // A sum that was refused once is not used again.
        const bool has_sum = node.has_sum && !(node.sums > 0 && node.refuses_sums);
        const bool is_at_once =
            has_sum && wanted.size() > 1 && is_all(node, wanted, n) && (is_summed || is_each_reported);
        std::vector<u8> expected;
        for (std::size_t i = sets_of(node); i > 0; --i) {
            if (is_at_once) expected.push_back(255);
            else
                for (const u8 p : wanted)
                    if (node.ports[p].valid) expected.push_back(p);
        }
        std::vector<u8> cleared = node.cleared;
        std::ranges::sort(cleared);
        std::ranges::sort(expected);
        // The sweep does not clear a switch that stopped replying.
        expect(cleared == expected, "what is cleared");
        std::vector<u8> places_reported, places_expected;
        for (const failure& g : uncleared) {
            places_reported.push_back(g.where.port);
            expect(g.kind == failure_kind::error_reply, "why it was not cleared");
        }
        if (node.refuses_sets)
            for (const u8 p : expected) places_expected.push_back(p == 255 ? u8{0} : p);
        places_expected.erase(std::ranges::unique(places_expected).begin(), places_expected.end());
        std::ranges::sort(places_reported);
        expect(places_reported == places_expected, "the locations that were not cleared");
        for (u8 p = 0; p < node.ports.size(); ++p) check_registers(node, p, expected);
    }
    void check_registers(const pma_node& node, u8 p, const std::vector<u8>& cleared) const {
        const bool is_cleared =
            !node.refuses_sets && (std::ranges::count(cleared, p) > 0 || std::ranges::count(cleared, 255) > 0);
        for (unsigned c = 0; c < counter_count; ++c) {
            const bool is_zero = is_cleared && how_.clears.has(static_cast<counter>(c));
            const counting_port &is = node.ports[p].counters, &was = node.ports[p].at_first;
            const bool is_wide_zero = is_zero && reports_wide(c, node.can);
            const bool is_narrow_zero = is_zero && reports_narrow(c, node.can);
            expect(is.wide[c] == (is_wide_zero ? 0 : was.wide[c]), "a wide counter that is cleared, or not");
            expect(is.narrow[c] == (is_narrow_zero ? 0 : was.narrow[c]), "a narrow counter that is cleared, or not");
        }
    }

    dice d_;
    discovery::subnet known_;
    std::vector<pma_node> nodes_;
    std::size_t targets_ = 0;
    counters::sweep_options how_;
    std::vector<std::pair<u32, u8>> arrived_;
    u64 requested_ = 0;
    answering_wire wire_{[this](const mad::send_request& request) { return answer(request); }};
    coro::MADSchedule schedule_{wire_, [] {
                                    coro::schedule_options options;
                                    options.timeout = 1s;
                                    options.retries = 0;
                                    return options;
                                }()};
};

// ---- with another discovery ----------------------------------------------------------------------------------------------

/// Nodes that appear, disappear and change their order between two discoveries. Each reading has its own time.
class discovered_again {
public:
    explicit discovered_again(u64 seed) : d_(seed) {}

    u64 run() {
        subnet_and_sweep then = any(), now = any();
        const counters::sweep same = counters::align_to(now.sweep, now.known, then.sweep, then.known);
        expect(same.ports.size() == now.sweep.ports.size(), "as many readings as today");
        expect(same.begin == then.sweep.begin && same.end == then.sweep.end && same.mads == then.sweep.mads,
               "which sweep it was");
        expect(same.failures.empty() && same.sums.empty(), "what is left out");
        for (std::size_t i = 0; i < same.ports.size(); ++i) {
            const port_ref where = now.sweep.ports[i].where;
            expect(same.ports[i].where == where, "the order of today");
            const reading* found = nullptr;
            for (const reading& l : then.sweep.ports)
                if (l.where.port == where.port && guid_of(then, l) == guid_of(now, now.sweep.ports[i])) found = &l;
            expect(same.ports[i].valid == (found && found->valid), "whether it was told then");
            if (found) expect(same.ports[i].counters.at == found->counters.at, "which reading it was");
        }
        return same.ports.size() + 1;
    }

private:
    struct subnet_and_sweep {
        discovery::subnet known;
        counters::sweep sweep;
    };
    static iba::guid guid_of(const subnet_and_sweep& s, const reading& l) {
        return s.known.nodes[l.where.node].info.nodeGUID;
    }

    subnet_and_sweep any() {
        subnet_and_sweep s;
        std::vector<u64> guids{1, 2, 3, 4, 5, 6};
        std::ranges::shuffle(guids, d_.random);
        guids.resize(d_.below(guids.size() + 1));
        for (const u64 GUID : guids) {
            const auto n = static_cast<u32>(s.known.nodes.size());
            s.known.nodes.emplace_back().info.nodeGUID = iba::guid{GUID};
            s.known.by_guid.emplace(iba::guid{GUID}, n);
            for (u8 p = 1; p <= 4; ++p) {
                if (d_.one_in(3)) continue; // not requested
                reading& l = s.sweep.ports.emplace_back(reading{{n, p}, !d_.one_in(5), {}, {}});
                l.counters.at = mad::time_point(mad::duration(static_cast<std::int64_t>(++readings_)));
            }
        }
        s.sweep.begin = mad::time_point(mad::duration(static_cast<std::int64_t>(d_.below(1000))));
        s.sweep.end = s.sweep.begin + 1s;
        s.sweep.mads = d_.below(1000);
        s.sweep.failures.push_back({failure_kind::timeout, {}, "no answer"});
        return s;
    }

    dice d_;
    u64 readings_ = 0;
};

} // namespace

TEST_CASE("the change between two samples of a counter is exact or marked as a lower bound") {
    run_model(sanitized ? 10'000 : 100'000, {}, [](u64 seed) { return read_port(seed).run(); });
}

TEST_CASE("health findings are the rules applied to the changes between two samples") {
    run_model(sanitized ? 5'000 : 50'000, {}, [](u64 seed) { return judged_port(seed).run(); });
}

TEST_CASE("a sweep returns all replies, reports every failure once with its cause and clears what it read") {
    run_model(sanitized ? 10'000 : 100'000, {}, [](u64 seed) { return swept_subnet(seed).run(); });
}

TEST_CASE("an earlier sweep is aligned to the current subnet by GUID and port after any changes") {
    run_model(sanitized ? 5'000 : 30'000, {}, [](u64 seed) { return discovered_again(seed).run(); });
}

} // namespace counters_model_test
