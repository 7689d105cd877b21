// SPDX-License-Identifier: MIT
// port_samples_text.cpp - formats samples of a port's counters.
#include "text/port_samples_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/counters/sweep.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace ibtool {
namespace {

constexpr double bytes_per_word = 4; // PortXmitData and PortRcvData count words (IBA 16.1.3.5)

bool is_data(const pm::sampled_quantity& q) { return q.name.ends_with("Data"); }
bool is_wait(const pm::sampled_quantity& q) { return q.name.ends_with("Wait"); }

/// Formats with an SI prefix: `12.50 G`.
std::string with_prefix(double number) {
    constexpr std::array prefixes{"", "k", "M", "G", "T"};
    std::size_t i = 0;
    for (; number >= 999.995 && i + 1 < prefixes.size(); ++i) number /= 1000;
    return fmt::format("{:.2f} {}", number, prefixes[i]);
}
std::string rate_text(const samples_heading& h, std::size_t i, double count) {
    return with_prefix(per_second(h, i, count)) + (is_data(h.quantities[i]) ? "B/s" : "/s");
}
std::string percent_text(const samples_heading& h, std::size_t i, double count) {
    const auto percent = percent_of(h, i, count);
    return percent ? fmt::format("{:.1f}", *percent) : "-";
}

/// Returns the character after a number that is a lower limit if `is_limit`. It takes the place of the space between columns.
char mark_of(bool is_limit) { return is_limit ? '+' : ' '; }

/// Formats a duration with a unit: `1 ms`, `10.24 ns`.
std::string length_text(double seconds) {
    constexpr std::array<std::pair<double, const char*>, 4> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
    const auto fits = [&](const auto& unit) { return seconds >= unit.first * 0.99999; };
    const auto unit = std::find_if(units.begin(), units.end() - 1, fits);
    return fmt::format("{:.4g} {}", seconds / unit->first, unit->second);
}

/// Returns the name in JSON: the field of the counter attributes, which begins with a lower-case letter.
std::string json_name(const pm::sampled_quantity& q) {
    std::string name(q.name);
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return name;
}

/// Adds the share of the data rate, or of the time, under the name that sweeps use for it.
void add_share(nlohmann::ordered_json& to, const std::string& prefix, const pm::sampled_quantity& q,
               std::optional<double> percent) {
    if (percent) to[prefix + (is_wait(q) ? "congestion" : "utilization")] = json_number(*percent / 100);
}

} // namespace

double per_second(const samples_heading& h, std::size_t quantity, double count) {
    const double units = is_data(h.quantities[quantity]) ? count * bytes_per_word : count;
    return units / h.interval_seconds();
}

std::optional<double> percent_of(const samples_heading& h, std::size_t quantity, double count) {
    const pm::sampled_quantity& q = h.quantities[quantity];
    std::optional<double> share;
    if (is_wait(q)) share = count * h.tick_seconds / h.interval_seconds();
    else if (is_data(q) && h.data_rate > 0) share = per_second(h, quantity, count) * 8 / h.data_rate;
    if (!share || !counters::if_possible({*share})) return std::nullopt;
    return 100 * *share;
}

// ---- single samples ------------------------------------------------------------------------------------------------

std::string samples_text(const samples_heading& h) {
    const std::string link = h.data_rate > 0 ? fmt::format(", link {}b/s", with_prefix(h.data_rate)) : "";
    std::string text =
        fmt::format("# LID {} port {}: samples of {} ({} ticks of {}), mechanism {}{}\n", h.LID, h.port,
                    length_text(h.interval_seconds()), h.ticks, length_text(h.tick_seconds), h.mechanism, link);
    if (h.window)
        return text + fmt::format("{:>10}  {:<16} {:>8} {:>14} {:>14} {:>8} {:>10}\n", "seconds", "counter", "samples",
                                  "mean", "peak", "peak %", "peak at");
    return text + fmt::format("{:>10}  {:<16} {:>14} {:>14} {:>8}\n", "seconds", "counter", "count", "rate", "%");
}

std::string samples_json(const samples_heading& h) {
    nlohmann::ordered_json line{{"schema", "comad.port_samples/1"},
                                {"LID", h.LID},
                                {"port", h.port},
                                {"mechanism", h.mechanism},
                                {"tick_seconds", json_number(h.tick_seconds)},
                                {"interval_seconds", json_number(h.interval_seconds())}};
    if (h.window) line["window_seconds"] = json_number(mad::in_seconds(*h.window));
    if (h.data_rate > 0) line["bits_per_second"] = json_number(h.data_rate);
    return json_line(line);
}

std::string sample_text(const samples_heading& h, const sample_counts& s) {
    std::string text;
    for (std::size_t i = 0; i < s.counts.size(); ++i) {
        const auto& [value, is_limit] = s.counts[i];
        const auto count = static_cast<double>(value);
        const std::string percent = percent_text(h, i, count);
        text += fmt::format("{:>10.6f}  {:<16} {:>13}{} {:>14}{}{:>8}{}\n", mad::in_seconds(s.begin),
                            h.quantities[i].name, value, mark_of(is_limit), rate_text(h, i, count), mark_of(is_limit),
                            percent, is_limit && percent != "-" ? "+" : "");
    }
    return text;
}

std::string sample_json(const samples_heading& h, const sample_counts& s) {
    nlohmann::ordered_json counters = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < s.counts.size(); ++i) {
        const auto& [value, is_limit] = s.counts[i];
        const auto count = static_cast<double>(value);
        nlohmann::ordered_json one{{"value", value}, {"per_second", json_number(per_second(h, i, count))}};
        add_share(one, "", h.quantities[i], percent_of(h, i, count));
        if (is_limit) one["saturated"] = true;
        counters[json_name(h.quantities[i])] = std::move(one);
    }
    return json_line({{"seconds", json_number(mad::in_seconds(s.begin))}, {"counters", std::move(counters)}});
}

// ---- windows -------------------------------------------------------------------------------------------------------

void sample_window::add(const sample_counts& s) {
    ++samples_;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        total& t = all_[i];
        t.sum += static_cast<double>(s.counts[i].value);
        t.is_limit |= s.counts[i].is_limit;
        if (s.counts[i].value < t.peak || (s.counts[i].value == t.peak && samples_ > 1)) continue;
        t.peak = s.counts[i].value;
        t.peak_at = s.begin;
    }
}

std::string sample_window::text() const {
    std::string text;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const total& t = all_[i];
        const auto peak = static_cast<double>(t.peak);
        const char mark = mark_of(t.is_limit);
        const std::string percent = percent_text(of_, i, peak);
        text += fmt::format("{:>10.6f}  {:<16} {:>8} {:>14}{}{:>13}{} {:>8}{}{:>10.6f}\n", mad::in_seconds(begin_),
                            of_.quantities[i].name, samples_, rate_text(of_, i, mean(t)), mark, rate_text(of_, i, peak),
                            mark, percent, percent == "-" ? ' ' : mark, mad::in_seconds(t.peak_at));
    }
    return text;
}

std::string sample_window::json() const {
    nlohmann::ordered_json counters = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const total& t = all_[i];
        const auto peak = static_cast<double>(t.peak);
        nlohmann::ordered_json one{{"mean_per_second", json_number(per_second(of_, i, mean(t)))},
                                   {"peak_per_second", json_number(per_second(of_, i, peak))},
                                   {"peak_seconds", json_number(mad::in_seconds(t.peak_at))}};
        add_share(one, "mean_", of_.quantities[i], percent_of(of_, i, mean(t)));
        add_share(one, "peak_", of_.quantities[i], percent_of(of_, i, peak));
        if (t.is_limit) one["saturated"] = true;
        counters[json_name(of_.quantities[i])] = std::move(one);
    }
    return json_line(
        {{"seconds", json_number(mad::in_seconds(begin_))}, {"samples", samples_}, {"counters", std::move(counters)}});
}

} // namespace ibtool
