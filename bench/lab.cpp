// SPDX-License-Identifier: MIT
// lab.cpp - medians, cells and rows; a discovery counted.
#include "lab.hpp"

#include <comad/coro/driver.hpp>
#include <comad/discovery/discover.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

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

// Whole numbers from a thousand on: there are no more places that mean anything.
static std::string text_of(double number) {
    return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

cell::cell(double number) : text(text_of(number)), value(number) {}

cell::cell(const spread& s) : text(text_of(s.median())) {
    if (s.least() != s.most()) text += fmt::format(" ({}..{})", text_of(s.least()), text_of(s.most()));
    value = {{"median", s.median()}, {"least", s.least()}, {"most", s.most()}};
}

table::table(std::string_view title, std::vector<std::string> columns, bool prints)
    : columns_(std::move(columns)), prints_(prints) {
    json_["title"] = title;
    json_["rows"] = nlohmann::ordered_json::array();
    if (!prints_) return;
    fmt::print("\n{}\n", title);
    for (const std::string& c : columns_) fmt::print("{:>{}}", c, std::max<std::size_t>(c.size(), 12) + 2);
    fmt::print("\n");
}

void table::add(std::vector<cell> row) {
    assert(row.size() == columns_.size());
    nlohmann::ordered_json kept;
    for (std::size_t i = 0; i < row.size(); ++i) {
        kept[columns_[i]] = row[i].value;
        if (prints_) fmt::print("{:>{}}", row[i].text, std::max<std::size_t>(columns_[i].size(), 12) + 2);
    }
    json_["rows"].push_back(std::move(kept));
    if (prints_) fmt::print("\n");
    std::fflush(stdout);
}

void table::note(std::string_view name, const cell& value) {
    json_[std::string(name)] = value.value;
    if (prints_) fmt::print("{}: {}\n", name, value.text);
}

sim::timing equal_round_trips(mad::duration round_trip) {
    sim::timing times;
    times.delay = round_trip / 2;
    times.hop_delay = times.service_time = mad::duration{0};
    return times;
}

discovered discover_once(const sim::topology& t, const sim::timing& times, const sim::faults& wrong,
                         const coro::schedule_options& options) {
    sim::fabric net(t, times, wrong);
    sim::sim_transport port(net, sim::time_mode::virtual_);
    coro::MADSchedule schedule(port, options);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    const bool is_complete = found && found.value().complete() && found.value().nodes.size() == t.nodes.size() &&
                             found.value().link_count() == t.link_count();
    return {is_complete, net.now().time_since_epoch(), schedule.counters().sent + schedule.counters().retried,
            net.counters().overflowed};
}

} // namespace comad::bench
