// SPDX-License-Identifier: MIT
// ibswportwatch.cpp - ibswportwatch: prints periodically how fast the counters of one port change. Writes nothing.
#include "comad.hpp"
#include "command.hpp"
#include "commands/counters/counter_options.hpp"
#include "session/counter_queries.hpp"
#include "session/queries.hpp"
#include "session/reconnecting_session.hpp"
#include "text/error_text.hpp"
#include "text/ibcheck_text.hpp"
#include "text/ibswportwatch_groups.hpp"
#include "text/ibswportwatch_text.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/coro/detail/periods.hpp>
#include <comad/counters/detail/read_counters.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

/// The command line of ibswportwatch.
struct ibswportwatch_settings {
    std::string target, port, every = "1", thresholds;
    target_options kind;
    counter_options counter_choice;
    u64 count = 0; ///< 0: until a signal arrives
    bool only_above = false, json = false;
};

/// One sample of a port.
struct port_reading {
    counters::sample usual;                  ///< if no counter groups are selected
    std::vector<const counter_group*> kinds; ///< for each selected group, the one that describes the payload
    std::vector<std::vector<u8>> groups;     ///< payloads of the selected groups, in their order
};

/// Parses an interval. A plain number means seconds, as in the scripts of infiniband-diags.
std::chrono::nanoseconds read_period(const std::string& text) {
    const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back()));
    return parse_duration(has_unit ? text : text + 's');
}

/// Reads the counters of a port periodically, and prints the changes.
class port_watch {
public:
    port_watch(session& in, const ibswportwatch_settings& s, std::optional<command_target> target)
        : in_(in), how_(s), target_(std::move(target)), period_(read_period(s.every)), periods_(period_),
          thresholds_(read_thresholds(s.thresholds)), groups_(s.counter_choice.groups()),
          group_totals_(groups_.size()) {
        if (!groups_.empty() && s.only_above)
            throw usage_error("-t supports only the default counters; remove the options for other counters");
        if (std::ranges::find(groups_, &group_of<pm::PortSamplesCtl>) != groups_.end())
            throw usage_error("PortSamplesControl has no counters to watch");
    }

    /// Reads samples until the limit is reached or a signal arrives. Returns the exit status, or the error if the first sample, or a query
    /// that precedes it, failed. Returns nullopt if the device was disconnected; call it again when the device is open again.
    coro::task<std::optional<mad::result<int>>> run() {
        is_found_ = false;
        if (!has_started_) {
            auto started = co_await begin();
            bool has_gone = false;
            if (!started) has_gone = co_await in_.is_disconnected();
            if (has_gone) co_return std::nullopt;
            if (!started) co_return std::move(started.error());
        }
        while (how_.count == 0 || requested_samples_ < how_.count) {
            const bool goes_on = co_await wait_for_next();
            if (!goes_on) co_return interrupted();
            auto now = co_await read_port();
            bool has_gone = false;
            if (!now) has_gone = co_await in_.is_disconnected();
            if (has_gone || (!now && now.error().code == mad::errc::cancelled)) co_return interrupted();
            periods_.done();
            ++requested_samples_;
            if (now) print_changes(now.value());
            else print_missing(now.error());
        }
        co_return end();
    }

    /// Prints the totals. Returns the exit status.
    int end() const {
        print_totals();
        return is_complete_ ? complete : partial;
    }

    /// Ends like end(), but while the device is disconnected: the result is partial.
    int end_lost() {
        is_complete_ = false;
        return end();
    }

    /// Continues after the device was opened again. Returns the number of missed samples.
    u64 resume() {
        const u64 missed = has_started_ ? periods_.skip_over(in_.now()) : 0;
        if (missed) is_complete_ = false;
        return missed;
    }

    void print_disconnect(const disconnect& now) const {
        if (!how_.json) return;
        write_output(json_line({{"lost", now.device}, {"why", now.cause}}));
    }
    void print_reconnect(const disconnect& over, u64 missed) const {
        if (!how_.json) return;
        write_output(json_line({{"opened_again", over.device},
                                {"lost_seconds", mad::in_seconds(over.length)},
                                {"missed_readings", missed}}));
    }

private:
    std::optional<mad::result<int>> interrupted() const {
        if (in_.disconnect_error() != 0) return std::nullopt;
        return end();
    }

    query_task<void> begin() {
        BOOST_OUTCOME_CO_TRY(last_, co_await read_port());
        has_started_ = true;
        begin_ = last_.usual.at;
        periods_.begin(begin_);
        periods_.done();
        print_first();
        co_return comad::mad::success();
    }

    query_task<void> find() {
        const command_target place = target_ ? *target_ : this_port(in_);
        BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in_, place));
        BOOST_OUTCOME_CO_TRY(to_, co_await lid_routed(in_, path));
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.schedule().PerformanceGet<iba::ClassPortInfo>(to_));
        info_ = info;
        if (!how_.port.empty()) {
            port_ = static_cast<u8>(read_number(how_.port, "the port", all_ports));
            require_port();
            co_return comad::mad::success();
        }
        BOOST_OUTCOME_CO_TRY(const auto node, co_await in_.SubnGet<smp::NodeInfo>(to_));
        if (node.nodeType == iba::NodeType::Switch) throw std::runtime_error("the target is a switch; give a port");
        port_ = node.localPortNum;
        co_return comad::mad::success();
    }

    /// Rejects all ports together if RS-FEC may be active on some of them: their counters then have different meanings.
    void require_port() const {
        const bool is_extended = std::ranges::find(groups_, &group_of<pm::PortExtendedSpeedsCounters>) != groups_.end();
        if (port_ == all_ports && is_extended && agent().can().RS_FEC)
            throw std::runtime_error(
                "PortExtendedSpeedsCounters has no sum on this node, because it depends on the error "
                "correction of each port; give a port");
    }

    query_task<port_reading> read_port() {
        if (!is_found_) {
            BOOST_OUTCOME_CO_TRYV(co_await find());
            is_found_ = true;
        }
        port_reading now;
        for (const counter_group* g : groups_) {
            // The FEC mode is negotiated each time the link comes up.
            BOOST_OUTCOME_CO_TRY(const counter_group* const kind, co_await active_group(in_, agent(), *g, port_));
            BOOST_OUTCOME_CO_TRY(auto bytes, co_await get_counters(in_.schedule(), to_, *kind, port_));
            now.kinds.push_back(kind);
            now.groups.push_back(std::move(bytes));
        }
        if (groups_.empty()) {
            const auto can = counters::capabilities::of(info_);
            BOOST_OUTCOME_CO_TRY(now.usual.counters, co_await read_counters(in_.schedule(), to_, can, port_));
        }
        now.usual.at = in_.schedule().now();
        co_return now;
    }

    std::string format_reading(const port_reading& now) const {
        if (groups_.empty()) return how_.only_above ? std::string() : format_counters(now.usual.counters);
        std::string text;
        for (std::size_t i = 0; i < groups_.size(); ++i) text += now.kinds[i]->text(now.groups[i], info_);
        return text;
    }
    nlohmann::ordered_json reading_json(const port_reading& now) const {
        if (groups_.empty()) return ibtool::counters_json(now.usual.counters);
        nlohmann::ordered_json all;
        for (std::size_t i = 0; i < groups_.size(); ++i)
            all[std::string(groups_[i]->name)] = counters_json(agent(), *now.kinds[i], now.groups[i]);
        return all;
    }

    /// Returns no changes if the counters have another meaning than before.
    std::vector<group_change> group_changes(std::size_t i, const port_reading& now) const {
        if (now.kinds[i] != last_.kinds[i]) return {};
        return changes_of(*now.kinds[i], info_, last_.groups[i], now.groups[i]);
    }

    /// Waits until the next sample is due. Returns false if a signal arrived or the device was disconnected.
    coro::task<bool> wait_for_next() {
        const u64 skipped = periods_.skip_over(in_.now());
        if (skipped > 0) {
            print_message("a reading took longer than the interval; skipped {} reading{}", skipped,
                          skipped == 1 ? "" : "s");
            is_complete_ = false;
        }
        const auto left = periods_.next() - in_.now();
        if (left <= mad::duration::zero()) co_return true;
        co_return co_await in_.schedule().pause(left);
    }

    performance_agent agent() const { return {to_, info_}; }

    const error_thresholds* above() const { return how_.only_above ? &thresholds_ : nullptr; }

    nlohmann::ordered_json head(double seconds) const {
        return {{"seconds", seconds}, {"LID", value(to_.DLID)}, {"port", port_}};
    }

    void print_first() const {
        if (how_.json) {
            nlohmann::ordered_json line{{"schema", "comad.port_watch/1"}};
            line.update(head(0));
            line["counters"] = reading_json(last_);
            write_output(json_line(line));
        } else {
            write_output(fmt::format("# Lid {} port {}, every {} s\n{}", value(to_.DLID), port_,
                                     mad::in_seconds(period_), format_reading(last_)));
        }
    }

    void print_changes(const port_reading& now) {
        const double seconds = mad::in_seconds(now.usual.at - begin_);
        const double interval = mad::in_seconds(now.usual.at - last_.usual.at);
        nlohmann::ordered_json changes;
        std::string text;
        if (groups_.empty()) {
            if (how_.json) changes = changes_json(last_.usual, now.usual, above());
            else text = format_changes(last_.usual, now.usual, above());
            totals_.add(last_.usual, now.usual);
        }
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            const std::vector<group_change> moved = group_changes(i, now);
            if (how_.json) changes[std::string(groups_[i]->name)] = changes_json(moved, interval);
            else text += format_changes(moved, interval);
            if (now.kinds[i] != last_.kinds[i] && !how_.json) text += now.kinds[i]->text(now.groups[i], info_);
            group_totals_[i].add(moved, interval);
        }
        if (how_.json) {
            auto line = head(seconds);
            line["interval_seconds"] = interval;
            line["counters"] = reading_json(now);
            line["changes"] = changes;
            write_output(json_line(line));
        } else if (!how_.only_above || !text.empty()) {
            write_output(fmt::format("# {:.3f} s\n{}", seconds, text));
        }
        last_ = now;
        ++polls_;
    }

    void print_missing(const mad::mad_error& why) {
        print_error(why, in_.options());
        is_complete_ = false;
    }

    nlohmann::ordered_json totals_json() const {
        if (groups_.empty()) return totals_.json();
        nlohmann::ordered_json all;
        for (std::size_t i = 0; i < groups_.size(); ++i) all[std::string(groups_[i]->name)] = group_totals_[i].json();
        return all;
    }

    void print_totals() const {
        const double seconds = mad::in_seconds(last_.usual.at - begin_);
        if (how_.json) {
            const nlohmann::ordered_json line{{"intervals", polls_}, {"seconds", seconds}, {"totals", totals_json()}};
            write_output(json_line(line));
            return;
        }
        std::string text = totals_.text();
        for (const group_change_totals& t : group_totals_) text += t.text();
        write_output(fmt::format("\n## Summary: {} intervals, {:.3f} s\n{}", polls_, seconds, text));
    }

    session& in_;
    const ibswportwatch_settings& how_;
    const std::optional<command_target> target_;
    const std::chrono::nanoseconds period_;
    coro::periods periods_;
    const error_thresholds thresholds_;
    mad::IBPath to_;
    iba::ClassPortInfo info_;
    u8 port_ = 0;
    mad::time_point begin_{};
    port_reading last_;
    const std::vector<const counter_group*> groups_; // empty: the default counters
    change_totals totals_;
    std::vector<group_change_totals> group_totals_;
    u64 requested_samples_ = 0, polls_ = 0; // after the first sample; polls_: samples with a reply
    bool has_started_ = false;
    bool is_found_ = false; // since the device was opened
    bool is_complete_ = true;
};

int run_ibswportwatch(const ibswportwatch_settings& s, const global_options& options) {
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    session in(options, target ? &*target : nullptr, nullptr, opens::when_ready);
    port_watch all(in, s, target);
    const std::unique_ptr<lasting_output> lines = lasting_output_of(in);
    disconnect_listener listener;
    listener.on_disconnect = [&](const disconnect& now) { all.print_disconnect(now); };
    listener.on_back = [&](const disconnect& over) {
        const u64 missed = all.resume();
        all.print_reconnect(over, missed);
        if (!over.was_open) return std::string();
        return fmt::format("missed {} reading{}", missed, missed == 1 ? "" : "s");
    };
    using outcome = mad::result<int>;
    std::optional<outcome> code = reconnecting_session(in, listener).run<outcome>([&] { return all.run(); });
    if (!code) code = all.end_lost(); // a signal arrived while the device was disconnected
    const bool took_all = finish(in, lines.get());
    if (!*code) print_error(code->error(), options);
    const int ended = *code ? code->value() : static_cast<int>(failed);
    return finish(in, took_all || ended != complete ? ended : static_cast<int>(partial));
}

} // namespace

command ibswportwatch_command() {
    return {.name = "ibswportwatch", .group = command_group::counters, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibswportwatch_settings>();
                takes.option("target", s->target);
                takes.option("port", s->port);
                takes.option("-n,--count", s->count);
                takes.option("-p,--period", s->every).shows_default();
                takes.flag("-t,--above-thresholds,--threshold", s->only_above);
                takes.option("-T,--threshold-file", s->thresholds).file(file_use::read);
                s->counter_choice.declare(takes, false); // in this command, -T is the thresholds file
                takes.ignored_flag("-b,--delta");
                add_lid_option(takes, s->kind);
                add_guid_option(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibswportwatch(*s, options); };
            }};
}

} // namespace ibtool
