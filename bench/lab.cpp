// SPDX-License-Identifier: MIT
// lab.cpp - the common part of the laboratory's experiments: medians, table cells and rows, and one discovery with its counts.
#include "lab.hpp"

#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace comad::bench {

namespace sim = transports::sim;

double spread::median() const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
double spread::least() const { return *std::min_element(values_.begin(), values_.end()); }
double spread::most() const { return *std::max_element(values_.begin(), values_.end()); }

// Numbers from 1000 on have no decimals, because further digits would not be significant.
static std::string text_of(double number) {
    return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

cell::cell(double number) : text(text_of(number)), value(number) {}

cell::cell(const spread& s) : text(text_of(s.median())) {
    if (s.least() != s.most()) text += fmt::format(" ({}..{})", text_of(s.least()), text_of(s.most()));
    value = {{"median", s.median()}, {"least", s.least()}, {"most", s.most()}};
}

void table::print() const {
    fmt::print("\n{}\n", title_);
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = columns_[i].size();
        for (const auto& row : rows_) width = std::max(width, row[i].text.size());
        widths.push_back(width);
    }
    const auto print_row = [&](const auto& text_of_column) {
        fmt::print("{:<{}}", text_of_column(0u), widths[0]);
        for (std::size_t i = 1; i < columns_.size(); ++i) fmt::print("  {:>{}}", text_of_column(i), widths[i]);
        fmt::print("\n");
    };
    print_row([&](std::size_t i) { return columns_[i]; });
    for (const auto& row : rows_) print_row([&](std::size_t i) { return row[i].text; });
    for (const auto& [name, value] : notes_) fmt::print("{}: {}\n", name, value.text);
    std::fflush(stdout);
}

nlohmann::ordered_json table::json() const {
    nlohmann::ordered_json all{{"title", title_}, {"rows", nlohmann::ordered_json::array()}};
    for (const auto& row : rows_) {
        nlohmann::ordered_json kept;
        for (std::size_t i = 0; i < row.size(); ++i) kept[columns_[i]] = row[i].value;
        all["rows"].push_back(std::move(kept));
    }
    for (const auto& [name, value] : notes_) all[name] = value.value;
    return all;
}

sim::timing equal_round_trips(mad::duration round_trip) {
    sim::timing times;
    times.delay = round_trip / 2;
    times.hop_delay = times.service_time = mad::duration{0};
    return times;
}

discovered discover_once(const sim::topology& t, const sim::timing& times, const sim::faults& wrong,
                         const settings& s) {
    sim::fabric net(t, times, wrong);
    sim::sim_transport port(net, sim::time_mode::virtual_);
    std::optional<transports::kernel_model> kernel;
    if (s.kernel) kernel.emplace(port, *s.kernel);
    coro::MADSchedule schedule(kernel ? static_cast<mad::transport&>(*kernel) : port, s.schedule);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    const bool is_complete = found && found.value().complete() && found.value().nodes.size() == t.nodes.size() &&
                             found.value().link_count() == t.link_count();
    return {is_complete, net.now().time_since_epoch(), schedule.counters().sent + schedule.counters().retried,
            net.counters().overflowed};
}

} // namespace comad::bench
