// SPDX-License-Identifier: MIT
// watch.cpp - watch: prints each change of a subnet as it happens. The SA forwards notices if it supports subscriptions; in addition, the
// subnet is polled. The only write is the subscription, which is renewed when the SA moves to another port.
#include "comad.hpp"
#include "command.hpp"
#include "session/calendar_time.hpp"
#include "session/node_name_map.hpp"
#include "session/notice_list.hpp"
#include "session/reconnecting_session.hpp"
#include "session/report.hpp"
#include "session/selection.hpp"
#include "session/subnet_file.hpp"
#include "text/difference_text.hpp"
#include "text/error_text.hpp"
#include "text/json.hpp"
#include "text/notice_text.hpp"
#include "text/output.hpp"
#include "text/subnet_missing.hpp"
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/coro/event.hpp>
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/sa/subscription.hpp>
#include <comad/server/agent.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

namespace ibtool {
namespace {

using discovery::difference;

/// The command line of watch.
struct subnet_watch_settings {
    std::string every = "30s";
    u64 count = 0, looks = 0; ///< 0: no limit
    bool only_polls = false, json = false;
    std::string name_map;
    selection_options selected;
};

/// Watches a subnet, and prints its changes. Continues after the local device was disconnected and opened again.
class subnet_watch {
public:
    subnet_watch(session& in, const subnet_watch_settings& s)
        : in_(in), how_(s), names_(read_node_names(s.name_map)), selected_(s.selected),
          period_(parse_duration(s.every)), begin_(in.now()) {
        answers_.on_report(iba::MgmtClass::SubnAdm, 2, [this](const server::request& r, const iba::Notice& notice) {
            const bool is_from_sa = in_.schedule().is_sa(r.source);
            if (is_from_sa) take(notice);
            else ignore(r.source);
            return is_from_sa;
        });
        in_.on_port_change([this](const std::string& line) {
            print_message("{}", line);
            wants_subscription_ = true;
            if (wake_up_) wake_up_->set();
        });
        in_.on_port_event([this] {
            wants_port_ = true;
            if (wake_up_) wake_up_->set();
        });
    }
    ~subnet_watch() {
        in_.on_port_change({});
        in_.on_port_event({});
    }
    subnet_watch(const subnet_watch&) = delete;
    subnet_watch& operator=(const subnet_watch&) = delete;

    /// Watches until a limit is reached or a signal arrives. Returns the exit status, or why watching could not start. Returns nullopt if
    /// the device was disconnected; call it again to continue.
    coro::task<std::optional<mad::result<int>>> run() {
        coro::event wake_up(in_.schedule());
        wake_up_ = &wake_up;
        auto code = co_await watch_all(wake_up);
        wake_up_ = nullptr;
        co_return code;
    }

    void begin_serving() {
        if (how_.only_polls) return;
        try {
            agent_.emplace(in_.schedule().transport(), answers_);
            in_.schedule().set_server(&*agent_);
        } catch (const std::system_error& e) {
            agent_.reset();
            print_message("no notices: {}; polling every {}", why_no_reports(e.code()), how_.every);
        }
    }
    void end_serving() {
        if (!agent_) return;
        in_.schedule().set_server(nullptr);
        agent_.reset();
        is_subscribed_ = false;
    }
    /// Returns the number of Reports that did not come from the SA.
    u64 ignored() const { return ignored_; }
    int code() const { return is_complete_ ? complete : partial; }

private:
    /// Returns why the transport cannot receive the SA's Reports, from the error of mad::transport::serve().
    std::string why_no_reports(const std::error_code& e) const {
        if (e == std::errc::operation_not_supported)
            return fmt::format("{} receives only responses, not reports of the SA", in_.device_or_fabric());
        if (e == std::errc::invalid_argument)
            return fmt::format("another program already receives the SA's reports on this port ({})", e.message());
        return fmt::format("cannot receive the SA's reports on this port: {}", e.message());
    }

    coro::task<std::optional<mad::result<int>>> watch_all(coro::event& wake_up) {
        // Polls at once to find the changes since a cache was written.
        mad::time_point looks = in_.now();
        if (!known_) known_ = known_subnet(in_.options(), in_.place(), iba::guid{in_.local_port().GID.interface_id()});
        if (!known_) {
            auto found = co_await find_subnet();
            if (!found && in_.disconnect_error() != 0) co_return std::nullopt;
            if (!found) co_return std::move(found.error());
            known_ = std::move(found).value();
            print_missing();
            looks = in_.now() + period_;
        }
        co_await subscribe();
        if (!has_started_) {
            for (const std::string& line : selected_.unmatched(*known_, names_)) print_message("{}", line);
            print_beginning();
        }
        has_started_ = true;
        while (goes_on()) {
            const auto left = looks - in_.now();
            if (left.count() > 0) {
                auto wait = wait_for(wake_up);
                const auto woken = co_await coro::with_timeout(in_.schedule(), left, std::move(wait));
                if (woken && !*woken) co_return interrupted();
            }
            if (in_.stopped() || in_.disconnect_error() != 0) co_return interrupted();
            const bool is_time = looks <= in_.now();
            wake_up.reset();
            const bool is_done = co_await look(is_time);
            if (!is_done) co_return interrupted();
            if (is_time) looks = in_.now() + period_;
            if (nothing_can_happen()) {
                print_end();
                break;
            }
        }
        co_await end_subscription();
        co_return code();
    }

    /// Discovers the subnet; waits while the local port does not reply. Returns an error if the device was disconnected, a signal
    /// arrived, or the time is virtual.
    coro::task<mad::result<discovery::subnet>> find_subnet() {
        growing_pause between;
        for (std::string last_reason;;) {
            auto found = co_await discover_subnet(in_, nullptr, subnet_source::fabric);
            if (found) co_return found;
            const bool has_gone = co_await in_.is_disconnected();
            if (has_gone || in_.stopped() || in_.is_virtual()) co_return found;
            std::string why = why_no_subnet(found.error(), in_.options());
            if (why != last_reason)
                print_message("waiting for {}: {}; retrying at least every {} s", in_.device_or_fabric(), why,
                              growing_pause::longest / std::chrono::seconds(1));
            last_reason = std::move(why);
            const bool goes_on = co_await in_.schedule().pause(between.next());
            if (!goes_on) co_return found;
            co_await in_.refresh_port();
        }
    }

    bool goes_on() const {
        return (how_.count == 0 || events_ < how_.count) && (how_.looks == 0 || polls_ < how_.looks);
    }

    /// Returns whether no further change can happen: the simulation has no planned changes left, and each node was queried since the last
    /// change. Without this check, watch would poll forever in virtual time.
    bool nothing_can_happen() const {
        return how_.looks == 0 && goes_on() && in_.has_no_planned_changes() && quiet_polls_ >= polls_for_all;
    }

    static coro::task<bool> wait_for(coro::event& wake_up) { co_return co_await wake_up.wait(); }

    std::optional<mad::result<int>> interrupted() const {
        if (in_.disconnect_error() != 0) return std::nullopt;
        return code();
    }

    // Subscribes again at every poll: an SA that restarts, or that takes over from another one, may have lost the subscription.
    coro::task<void> subscribe() {
        if (!agent_) {
            wants_subscription_ = false;
            co_return;
        }
        auto done = co_await comad::sa::subscribe(in_.schedule());
        if (done) {
            if (has_started_ && (wants_subscription_ || !is_subscribed_))
                print_message("the SA at LID {} now forwards notices", in_.schedule().sa_path().DLID);
            wants_subscription_ = false;
            is_subscribed_ = true;
            co_return;
        }
        if (done.error().code == mad::errc::cancelled) co_return;
        wants_subscription_ = false; // until the next poll
        if (is_subscribed_ || !has_started_)
            print_message("no notices: {}; polling every {}", format_error(done.error(), in_.options()), how_.every);
        is_subscribed_ = false;
    }
    coro::task<void> end_subscription() {
        if (is_subscribed_) [[maybe_unused]]
            const auto done = co_await comad::sa::unsubscribe(in_.schedule());
    }

    void take(const iba::Notice& notice) {
        print_notice(notice);
        notices_.add(notice);
        quiet_polls_ = 0;
        if (wake_up_) wake_up_->set();
    }

    /// Counts a Report that did not come from the SA. Any port can send Reports, so only the first ones are printed.
    void ignore(const mad::source_address& source) {
        constexpr u64 most_printed = 10;
        if (++ignored_ > most_printed) return;
        const mad::IBPath& SA = in_.schedule().sa_path();
        print_message("ignored a Report from LID {} QP {}: the SA is at LID {} QP {}{}", source.SLID, source.sqpn,
                      SA.DLID, SA.dqpn, ignored_ == most_printed ? "; further ones will not be printed" : "");
    }

    /// Returns the nodes to query for changes in this poll. Ten polls cover all nodes.
    std::vector<comad::u32> next_nodes() {
        const std::size_t all = known_->nodes.size();
        std::vector<comad::u32> nodes;
        for (std::size_t n = 0; n < (all + polls_for_all - 1) / polls_for_all; ++n)
            nodes.push_back(static_cast<comad::u32>(next_node_++ % all));
        return nodes;
    }

    /// Returns the ports that may have changed, as the notices since the last call show. At a poll, or if the notices do not identify all
    /// of these ports, also returns the ports that the SA or the switches report as changed.
    coro::task<mad::result<std::vector<discovery::port_ref>>> find_possibly_stale(bool is_time,
                                                                                  discovery::discover_options options) {
        std::vector<discovery::port_ref> all;
        const notice_list::waiting arrived = notices_.take();
        bool queries_all = is_time || !arrived.is_all;
        for (const iba::Notice& n : arrived.notices) {
            const auto ports = discovery::ports_affected_by(*known_, n);
            if (ports) all.insert(all.end(), ports->begin(), ports->end());
            else queries_all = true;
        }
        if (queries_all) {
            auto others = co_await discovery::find_possibly_stale(in_.schedule(), *known_,
                                                                  discovery::change_source::automatic, options);
            if (!others) co_return std::move(others.error());
            all.insert(all.end(), others.value().begin(), others.value().end());
        }
        if (is_time) {
            const auto changed = co_await discovery::find_changed_nodes(in_.schedule(), *known_, next_nodes(), options);
            all.insert(all.end(), changed.begin(), changed.end());
        }
        co_return all;
    }

    /// Returns the present subnet, as far as it could be read.
    coro::task<mad::result<discovery::subnet>> query_again(bool is_time, discovery::discover_options options) {
        auto stale = co_await find_possibly_stale(is_time, options);
        if (!stale) co_return std::move(stale.error());
        if (!is_time && stale.value().empty()) co_return *known_; // the notices name no known port
        auto rediscovery = discovery::rediscover(in_.schedule(), *known_, stale.value(), options);
        co_return co_await std::move(rediscovery);
    }

    /// Queries the ports that may have changed, and prints the differences. Returns false if the command ends or the device was
    /// disconnected.
    coro::task<bool> look(bool is_time) {
        if (is_time || std::exchange(wants_port_, false)) co_await in_.refresh_port();
        if (is_time || wants_subscription_) co_await subscribe();
        polls_ += is_time;
        const discovery::discover_options options = discover_options_of(in_);
        auto now = co_await query_again(is_time, options);
        const bool has_gone = co_await in_.is_disconnected();
        if (has_gone || in_.stopped()) co_return false;
        if (!now) {
            is_complete_ = false;
            print_error(now.error(), in_.options());
            co_return true;
        }
        const std::vector<difference> changes = discovery::differences(*known_, now.value(), names_);
        for (const difference& d : changes)
            if (is_wanted(d, now.value())) print_change(d);
        quiet_polls_ = changes.empty() && in_.has_no_planned_changes() ? quiet_polls_ + is_time : 0;
        notices_in_words_.reset(); // it refers to the previous subnet
        known_ = std::move(now).value();
        if (is_time || !changes.empty()) keep_subnet(*known_, in_.options(), in_.place());
        print_missing();
        co_return true;
    }

    // ---- output

    std::string format_time() const {
        if (in_.is_virtual()) return fmt::format("{:.6f} s", mad::in_seconds(in_.now().time_since_epoch()));
        return fmt::format("{:%F %T}", fmt::localtime(std::time(nullptr)));
    }
    void write(nlohmann::ordered_json line, const std::string& text) {
        if (!how_.json) {
            write_output(fmt::format("{} {}\n", format_time(), text));
            return;
        }
        line["seconds"] = mad::in_seconds(in_.now() - begin_);
        if (!in_.is_virtual()) line["time"] = calendar_time();
        write_output(json_line(line));
    }
    void print_change(const difference& d) {
        ++events_;
        write(difference_item_json(d), format_difference(d));
    }
    /// Returns whether one of these nodes is selected and none is excluded. A node without a GUID does not count.
    bool is_any_wanted(std::initializer_list<iba::guid> GUIDs, const discovery::subnet& now) const {
        bool is_any = false;
        for (const iba::guid GUID : GUIDs) {
            const discovery::node* n = now.find(GUID);
            if (!n) n = known_->find(GUID);
            if (!n) continue;
            if (selected_.excludes(*n, names_)) return false;
            is_any = is_any || selected_.wants(*n, names_);
        }
        return is_any;
    }
    /// Returns whether a port of a selected node matches the options about ports. `port` 0: any port of the node.
    bool is_port_wanted(const discovery::subnet& s, iba::guid nodeGUID, u8 port) const {
        const auto found = s.by_guid.find(nodeGUID);
        if (found == s.by_guid.end()) return false;
        const discovery::node& n = s.nodes[found->second];
        if (!selected_.wants(n, names_)) return false;
        for (std::size_t p = 1; p < n.ports.size(); ++p)
            if ((port == 0 || port == p) && selected_.wants_port(s, {found->second, static_cast<u8>(p)})) return true;
        return false;
    }
    /// Returns whether a selected node or port is involved, before the change or after it.
    bool is_wanted(const difference& d, const discovery::subnet& now) const {
        if (selected_.is_all()) return true;
        if (!is_any_wanted({d.nodeGUID, d.peer_nodeGUID}, now)) return false;
        if (!selected_.has_port_rules()) return true;
        const discovery::subnet* const both[] = {&now, &*known_};
        return std::ranges::any_of(both, [&](const discovery::subnet* s) {
            return is_port_wanted(*s, d.nodeGUID, d.port) || is_port_wanted(*s, d.peer_nodeGUID, d.peer_port);
        });
    }
    /// Returns whether a notice concerns a selected node. Notices that do not concern known ports are wanted.
    bool is_wanted(const iba::Notice& n) const {
        if (selected_.is_all() || !known_) return true;
        const auto ports = discovery::ports_affected_by(*known_, n);
        if (!ports || ports->empty()) return true;
        return std::ranges::any_of(*ports, [&](discovery::port_ref r) {
            return is_port_wanted(*known_, known_->nodes[r.node].info.nodeGUID, r.port);
        });
    }
    void print_notice(const iba::Notice& n) {
        if (!is_wanted(n)) return;
        static const discovery::subnet nothing_known;
        if (!notices_in_words_) notices_in_words_.emplace(known_ ? *known_ : nothing_known, names_);
        write(notices_in_words_->to_json(n), notices_in_words_->text(n));
    }
    void print_end() {
        if (how_.count != 0) is_complete_ = false;
        const std::string missing = how_.count == 0 ? std::string() : fmt::format(" of {} requested", how_.count);
        print_message("ended after {} event{}{}: the simulation has no planned changes left", events_,
                      events_ == 1 ? "" : "s", missing);
    }
    void print_beginning() const {
        const auto wanted =
            std::ranges::count_if(known_->nodes, [&](const auto& n) { return selected_.wants(n, names_); });
        const std::string what = selected_.is_all()
                                     ? fmt::format("{} nodes and {} links", known_->nodes.size(), known_->link_count())
                                     : fmt::format("{} of {} nodes and their links", wanted, known_->nodes.size());
        print_error("watching {}; {}\n", what,
                    is_subscribed_ ? fmt::format("the SA forwards notices; polling every {}", how_.every)
                                   : fmt::format("polling every {}", how_.every));
    }
    // Prints each failure once, until it has disappeared.
    void print_missing() {
        std::set<std::string> now;
        if (!known_->complete()) is_complete_ = false;
        for (const std::string& line : format_missing(all_missing(*known_), in_.options().verbosity > 0)) {
            now.insert(line);
            if (!missing_.contains(line)) print_error("{}\n", line);
        }
        missing_ = std::move(now);
    }

    static constexpr std::size_t polls_for_all = 10; ///< number of polls in which each node is queried once

    session& in_;
    const subnet_watch_settings& how_;
    const discovery::node_names names_;
    const subnet_selection selected_;
    const std::chrono::nanoseconds period_;
    const mad::time_point begin_;
    server::responder answers_;
    std::optional<server::agent> agent_; // while the device is open, unless the registration was rejected
    coro::event* wake_up_ = nullptr;     // wakes the loop; null while it does not run
    std::optional<discovery::subnet> known_;
    std::optional<notice_text> notices_in_words_; // for *known_; created with the first notice
    notice_list notices_;                         // since the last call of find_possibly_stale()
    std::size_t quiet_polls_ = 0;     // consecutive polls without a change or a notice, after the last planned change
    bool wants_port_ = false;         // the device reported an event of the port
    bool wants_subscription_ = false; // the local port or the SA has changed since the last subscription
    std::size_t next_node_ = 0;
    bool is_subscribed_ = false, has_started_ = false, is_complete_ = true;
    std::set<std::string> missing_;
    u64 events_ = 0, polls_ = 0;
    u64 ignored_ = 0; ///< Reports that did not come from the SA
};

int run_watch(const subnet_watch_settings& s, const global_options& options) {
    session in(options, nullptr, nullptr, opens::when_ready);
    subnet_watch all(in, s);
    const std::unique_ptr<lasting_output> lines = lasting_output_of(in);
    disconnect_listener listener;
    listener.on_disconnect = [&](const disconnect&) { all.end_serving(); };
    listener.on_open = [&] { all.begin_serving(); };
    if (in.is_open()) all.begin_serving();
    using outcome = mad::result<int>;
    std::optional<outcome> code = reconnecting_session(in, listener).run<outcome>([&] { return all.run(); });
    all.end_serving();
    if (all.ignored() > 1) print_message("ignored {} Reports that did not come from the SA", all.ignored());
    const bool took_all = finish(in, lines.get());
    if (!took_all && code && *code && code->value() == complete) *code = static_cast<int>(partial);
    if (!code) return finish(in, took_all || all.code() != complete ? all.code() : static_cast<int>(partial)); // signal
    if (!*code) refuse_silent_port(code->error(), options);
    return finish(in, code->value());
}

} // namespace

command watch_command() {
    return {.name = "watch",
            .group = command_group::subnet,
            .no_sa_reason = "it queries the SA for changes in any case, if there is an SA",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<subnet_watch_settings>();
                takes.option("--every", s->every);
                takes.option("-n,--count", s->count);
                takes.option("--polls", s->looks);
                add_name_map_option(takes, s->name_map);
                takes.flag("--no-subscription", s->only_polls);
                add_selection_options(takes, s->selected);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_watch(*s, options); };
            }};
}

} // namespace ibtool
