// SPDX-License-Identifier: MIT
// sweep_outputs.cpp - writes sweeps to the terminal, to files and to HTTP clients, as configured.
#include "commands/counters/sweep_outputs.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include "text/sweep_table.hpp"
#include <comad/counters/detail/sweep_state_json.hpp>
#include <comad/mad/detail/time.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

namespace {

counters::process_cost cost_so_far() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return {seconds(used.ru_utime) + seconds(used.ru_stime),
            resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
}

/// Returns whether rows are sorted by a share, which the first sweep does not have.
bool needs_two_sweeps(const counters::row_selection& selection) {
    using enum counters::row_order;
    return selection.order == by_utilization || selection.order == by_congestion;
}

} // namespace

sweep_outputs::sweep_outputs(const output_config& p)
    : plan_(p), last_(p.fabrics.size()), changed_(p.fabrics.size()), most_read_(p.fabrics.size()) {
    for (std::size_t i = 0; i < p.fabrics.size(); ++i) {
        known_.emplace_back(p.wants, p.forget);
        if (i < p.expected.size() && p.expected[i]) known_[i].expect(*p.expected[i]);
    }
    if (p.form == sweep_form::screen) screen_.emplace(p.selection);
}

void sweep_outputs::open(boost::asio::any_io_executor executor,
                         std::function<void(std::size_t, std::size_t)> on_scrape) {
    for (const std::string& name : plan_.fabrics) devices_.push_back({name, true});
    if (plan_.listen.empty()) return;
    server_.emplace(executor, exporter::options{plan_.listen, plan_.oldest, std::move(on_scrape), plan_.authorizations,
                                                plan_.fabrics});
    print_message("listening at {}{}{}", server_->address().starts_with("unix:") ? "" : "http://", server_->address(),
                  server_->is_loopback() ? "/metrics, reachable only from this machine" : "/metrics");
    manager_.emplace(std::move(executor));
    manager_->note_ready();
}

void sweep_outputs::write(std::size_t fabric, const counters::sweep_view& v, const counters::sweep_totals& totals) {
    switch (plan_.form) {
    case sweep_form::json: write_lines(sweep_json(v, plan_.selection)); break;
    case sweep_form::csv:
        write_lines((v.number == 1 ? counters::sweep_csv_header(plan_.details) : "") +
                    sweep_csv(v, plan_.selection, plan_.details));
        break;
    case sweep_form::table:
        if (v.before || !needs_two_sweeps(plan_.selection)) write_lines(table(v));
        break;
    case sweep_form::screen:
        screen_->take(v);
        show();
        break;
    case sweep_form::none: break;
    }
    const bool has_page = !plan_.file.empty() || server_ || plan_.form == sweep_form::none;
    if (!has_page) return;
    remember(fabric, v);
    counters::sweep_view held = v;
    held.before = nullptr;
    held.since = nullptr;
    last_[fabric].emplace(counters::exposed_sweep{held, totals, plan_.fabrics[fabric], {}, known_[fabric].missing()});
    last_[fabric]->metrics = plan_.metrics;
    if (plan_.metrics == counters::metric_choice::changed) last_[fabric]->changed = changed_[fabric].take(v);
    if (plan_.rules && v.before) last_[fabric]->findings = evaluate(*plan_.rules, v.subnet, *v.before, v.now);
    if (v.before)
        last_[fabric]->uses =
            std::make_shared<const std::vector<counters::link_use>>(uses_of(v.subnet, *v.before, v.now));
    last_[fabric]->details = plan_.details;
    if (!plan_.file.empty()) write_file(page());
    if (server_) server_->publish(page_text(), state_of(fabric, v), misses_most(fabric, v.now), fabric);
    const discovery::missing_parts& missing = *known_[fabric].missing();
    note_status(fabric,
                fmt::format("sweep {}: {} ports, {} failures, {} nodes missing, {} links down", v.number,
                            v.now.ports.size(), v.now.failures.size(), missing.nodes.size(), missing.links_down()));
}

/// Updates the known fabric after a discovery, and when missing nodes or links are due to be forgotten.
void sweep_outputs::remember(std::size_t fabric, const counters::sweep_view& v) {
    discovery::known_fabric& known = known_[fabric];
    const bool is_same = last_[fabric] && &last_[fabric]->view.subnet == &v.subnet;
    if (is_same && !known.has_to_forget(v.now.begin)) return;
    known.take(v.subnet, v.now.begin);
    if (known.is_full() && !std::exchange(has_reported_full_, true))
        note_problem(fabric,
                     fmt::format("more than {} nodes or {} links are missing; those missing longest are forgotten",
                                 discovery::known_fabric::most_missing_nodes,
                                 discovery::known_fabric::most_missing_links));
}

nlohmann::ordered_json sweep_outputs::state_of(std::size_t fabric, const counters::sweep_view& v) const {
    const discovery::missing_parts& missing = *known_[fabric].missing();
    nlohmann::ordered_json all = counters::detail::sweep_state_json(v);
    all["known_nodes"] = missing.known_nodes;
    all["missing_nodes"] = missing.nodes.size();
    all["known_links"] = missing.known_links;
    all["links_down"] = missing.links_down();
    all["discovery_problems"] = v.subnet.failures.size();
    return all;
}

std::string sweep_outputs::page() const {
    auto pieces = page_text()();
    std::string text;
    while (const std::string* piece = pieces.next()) text += *piece;
    return text;
}

/// Returns the generator of a page with the latest sweeps.
exporter::page_text sweep_outputs::page_text() const {
    std::vector<counters::exposed_sweep> all;
    for (const auto& one : last_)
        if (one) all.push_back(*one);
    return
        [all = std::move(all), devices = devices_] { return counters::prometheus_pieces(all, cost_so_far(), devices); };
}

/// Returns whether most ports are missing, compared with the largest sweep so far. A discovery may find only part of the subnet: for
/// example, only the local port after its cable was pulled.
bool sweep_outputs::misses_most(std::size_t fabric, const counters::sweep& s) {
    const auto valid_ports = static_cast<std::size_t>(
        std::count_if(s.ports.begin(), s.ports.end(), [](const auto& port) { return port.valid; }));
    most_read_[fabric] = std::max(most_read_[fabric], valid_ports);
    return 2 * valid_ports < std::max(s.ports.size(), most_read_[fabric]);
}

std::size_t sweep_outputs::refresh_known() {
    std::fill(most_read_.begin(), most_read_.end(), 0);
    std::size_t forgotten = 0;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (i < plan_.expected.size() && plan_.expected[i]) known_[i].expect(*plan_.expected[i]);
        forgotten += known_[i].forget_missing();
        if (last_[i]) known_[i].take(last_[i]->view.subnet, last_[i]->view.now.begin); // for the next page
    }
    return forgotten;
}

/// Records whether the device is connected, and replaces the last page, which shows it.
void sweep_outputs::set_up(std::size_t fabric, bool is_up) {
    if (fabric >= devices_.size() || std::exchange(devices_[fabric].is_up, is_up) == is_up) return;
    if (server_) server_->replace_page(page_text());
    const bool has_swept = std::ranges::any_of(last_, [](const auto& one) { return static_cast<bool>(one); });
    if (!plan_.file.empty() && has_swept) write_file(page());
}

void sweep_outputs::note_status(std::size_t fabric, const std::string& line) {
    const std::string& name = plan_.fabrics[fabric];
    if (manager_) manager_->note_status(name.empty() ? line : name + ": " + line);
}

/// Writes lines to stdout. A server continues if nothing reads its output or the disk is full.
void sweep_outputs::write_lines(const std::string& text) {
    if (!server_) write_output(text);
    else if (!offer_output(text)) is_complete_ = false;
}

void sweep_outputs::write_file(const std::string& text) {
    try {
        replace_file(text, plan_.file);
        problem_.clear();
    } catch (const std::runtime_error& e) {
        if (!plan_.keeps_trying) throw;
        is_complete_ = false;
        if (problem_ != e.what()) print_message("{}; the next sweep retries", e.what());
        problem_ = e.what();
    }
}

void sweep_outputs::note_change(std::size_t fabric, const std::string& why) {
    if (plan_.form == sweep_form::json) write_lines(json_line({{"discovered_again", json_string(why)}}));
    else if (screen_) screen_->note("rediscovered the subnet: " + why);
    else note_problem(fabric, "rediscovered the subnet: " + why);
}

void sweep_outputs::note_problem(std::size_t fabric, const std::string& line) {
    const std::string& name = plan_.fabrics[fabric];
    print_line(name.empty() ? line : name + ": " + line);
}

void sweep_outputs::print_line(const std::string& line) {
    if (!screen_ || !::isatty(STDERR_FILENO)) return print_message("{}", line);
    screen_->note(line);
    show();
    if (held_back_.size() < most_held_back) held_back_.push_back(line);
    else ++not_held_;
}

void sweep_outputs::note_lost(std::size_t fabric, const disconnect& now) {
    if (plan_.form == sweep_form::json)
        write_lines(json_line({{"lost", json_string(now.device)}, {"why", json_string(now.cause)}}));
    note_still_lost(fabric, now);
}

void sweep_outputs::note_still_lost(std::size_t fabric, const disconnect& now) {
    if (server_) server_->note_lost(fmt::format("{}: {}", now.device, now.cause), fabric);
    set_up(fabric, false);
    note_status(fabric, fmt::format("{} is disconnected: {}", now.device, now.cause));
}

void sweep_outputs::note_back(std::size_t fabric, const disconnect& over, comad::u64 missed) {
    if (plan_.form == sweep_form::json)
        write_lines(json_line({{"opened_again", json_string(over.device)},
                               {"lost_seconds", json_number(comad::mad::in_seconds(over.length), 3)},
                               {"missed_sweeps", missed}}));
    note_found(fabric);
}

void sweep_outputs::note_found(std::size_t fabric) {
    if (server_) server_->note_back(fabric);
    set_up(fabric, true);
}

std::string sweep_outputs::table(const counters::sweep_view& v) const {
    return sweep_table(v, plan_.selection, size_of_terminal().columns);
}

void sweep_outputs::show() {
    if (screen_) write_lines(screen_->text(size_of_terminal()));
}

bool sweep_outputs::press(char key) {
    if (!screen_) return false;
    const bool ends = screen_->press(key);
    if (!ends) show();
    return ends;
}

void sweep_outputs::leave_screen() {
    if (!screen_) return;
    write_lines("\n");
    for (const std::string& line : held_back_) print_message("{}", line);
    if (not_held_) print_message("... and {} more", not_held_);
    screen_.reset();
}

} // namespace ibtool
