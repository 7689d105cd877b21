// SPDX-License-Identifier: MIT
// sweep_outlets.cpp - each of them.
#include "commands/sweep_outlets.hpp"

#include "text/output.hpp"
#include <comad/iba/text.hpp>
#include <comad/mad/time.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

namespace iba = comad::iba;

namespace {

process_cost cost_so_far() {
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

bool misses_most(const comad::counters::sweep& s) {
    const auto told = std::count_if(s.ports.begin(), s.ports.end(), [](const auto& port) { return port.is_told; });
    return 2 * static_cast<std::size_t>(told) < s.ports.size();
}

} // namespace

sweep_outlets::sweep_outlets(const outlet_plan& p) : plan_(p) {
    if (p.form == sweep_form::screen) screen_.emplace(p.choice);
}

void sweep_outlets::open(boost::asio::any_io_executor executor, std::function<void(std::size_t)> on_scrape) {
    if (plan_.listen.empty()) return;
    server_.emplace(executor,
                    exporter::options{plan_.listen, plan_.oldest, std::move(on_scrape), plan_.authorizations});
    const bool is_alone = plan_.listen.starts_with(':');
    print_error("ibtool: listening at {}{}{}\n", server_->address().starts_with("unix:") ? "" : "http://",
                server_->address(), is_alone ? "/metrics, for this machine alone" : "/metrics");
    manager_.emplace(std::move(executor));
    manager_->note_ready();
}

void sweep_outlets::write(const sweep_view& v, const sweep_totals& totals) {
    if (plan_.form == sweep_form::csv && v.number == 1) write_output(sweep_csv_header());
    switch (plan_.form) {
    case sweep_form::json: write_output(sweep_json(v, plan_.choice)); break;
    case sweep_form::csv: write_output(sweep_csv(v, plan_.choice)); break;
    case sweep_form::table: write_output(table(v)); break;
    case sweep_form::screen:
        screen_->take(v);
        show();
        break;
    case sweep_form::none: break;
    }
    if (plan_.file.empty() && !server_) return;
    std::string text = exposition(v, totals, cost_so_far());
    if (!plan_.file.empty()) write_file(text);
    if (server_) server_->publish(std::move(text), sweep_state_json(v), misses_most(v.now));
    if (manager_)
        manager_->note_status(
            fmt::format("sweep {}: {} ports, {} gaps", v.number, v.now.ports.size(), v.now.gaps.size()));
}

void sweep_outlets::write_file(const std::string& text) {
    try {
        replace_file(text, plan_.file);
        problem_.clear();
    } catch (const std::runtime_error& e) {
        if (!plan_.keeps_trying) throw;
        is_complete_ = false;
        if (problem_ != e.what()) print_error("ibtool: {}; the next sweep tries again\n", e.what());
        problem_ = e.what();
    }
}

void sweep_outlets::note_change(const std::string& why) {
    if (plan_.form == sweep_form::json)
        write_output(fmt::format("{{\"discovered_again\":{}}}\n", iba::json_quoted(why)));
    else if (screen_) screen_->note("discovered again: " + why);
    else print_error("ibtool: discovered again: {}\n", why);
}

void sweep_outlets::note_lost(const outage& now) {
    if (plan_.form == sweep_form::json)
        write_output(fmt::format(R"({{"lost":{},"why":{}}})"
                                 "\n",
                                 iba::json_quoted(now.device), iba::json_quoted(now.cause)));
    note_still_lost(now);
}

void sweep_outlets::note_still_lost(const outage& now) {
    if (server_) server_->note_lost(fmt::format("{}: {}", now.device, now.cause));
    if (manager_) manager_->note_status(fmt::format("lost {}: {}", now.device, now.cause));
}

void sweep_outlets::note_back(const outage& over, comad::u64 missed) {
    if (plan_.form == sweep_form::json)
        write_output(fmt::format(R"({{"opened_again":{},"lost_seconds":{:.3f},"missed_sweeps":{}}})"
                                 "\n",
                                 iba::json_quoted(over.device), comad::mad::in_seconds(over.length), missed));
    if (server_) server_->note_back();
}

std::string sweep_outlets::table(const sweep_view& v) const {
    table_choice fitting = plan_.choice;
    fitting.columns = size_of_terminal().columns;
    return sweep_table(v, fitting);
}

void sweep_outlets::show() {
    if (screen_) write_output(screen_->text(size_of_terminal()));
}

bool sweep_outlets::press(char key) {
    if (!screen_) return false;
    const bool ends = screen_->press(key);
    if (!ends) show();
    return ends;
}

void sweep_outlets::note_problem(const std::string& line) {
    if (!screen_ || !::isatty(STDERR_FILENO)) return print_error("ibtool: {}\n", line);
    screen_->note(line);
    if (held_back_.size() < most_held_back) held_back_.push_back(line);
    else ++not_held_;
}

void sweep_outlets::leave_screen() {
    if (!screen_) return;
    write_output("\n");
    for (const std::string& line : held_back_) print_error("ibtool: {}\n", line);
    if (not_held_) print_error("ibtool: ... and {} more\n", not_held_);
    screen_.reset();
}

} // namespace ibtool
