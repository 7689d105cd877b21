// SPDX-License-Identifier: MIT
// port_samples_text.hpp - formats samples of a port's counters, and windows of samples, as a table and as JSON. Sends nothing.
#pragma once
#include <comad/iba/detail/pm/sampled_counters.hpp>
#include <comad/mad/detail/time.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The properties of a series of samples.
struct samples_heading {
    unsigned LID = 0, port = 0, mechanism = 0;
    double tick_seconds = 0; ///< of the device
    comad::u32 ticks = 1;    ///< of each sample
    double data_rate = 0;    ///< of the link in bits per second, without its coding; 0: unknown
    std::vector<comad::iba::pm::sampled_quantity> quantities{};
    std::optional<std::chrono::nanoseconds> window{}; ///< nullopt: single samples

    double interval_seconds() const noexcept { return ticks * tick_seconds; }
};

/// The counts of one sample, in the order of samples_heading::quantities.
struct sample_counts {
    comad::mad::duration begin{}; ///< since the first sample
    struct count {
        comad::u64 value;
        bool is_limit; ///< the counter stopped, so this is a lower limit
    };
    std::vector<count> counts;
};

/// Returns the rate of a count per second: for data in bytes.
double per_second(const samples_heading&, std::size_t quantity, double count);
/// Returns data as a share of the link's data rate, or PortXmitWait as a share of the time, in percent. nullopt for packets and unknown
/// quantities, if the data rate is unknown, and if the share is not possible (counters::if_possible()).
std::optional<double> percent_of(const samples_heading&, std::size_t quantity, double count);

/// Samples that were taken within one window: sums and peaks.
class sample_window {
public:
    sample_window(const samples_heading& of, comad::mad::duration begin)
        : of_(of), begin_(begin), all_(of.quantities.size()) {}

    void add(const sample_counts&);
    std::size_t samples() const noexcept { return samples_; }
    std::string text() const;
    std::string json() const;

private:
    struct total {
        double sum = 0;
        comad::u64 peak = 0;
        comad::mad::duration peak_at{};
        bool is_limit = false;
    };
    double mean(const total& t) const noexcept { return samples_ == 0 ? 0 : t.sum / static_cast<double>(samples_); }

    const samples_heading& of_;
    comad::mad::duration begin_;
    std::size_t samples_ = 0;
    std::vector<total> all_; // by quantity
};

/// Returns the lines above the table.
std::string samples_text(const samples_heading&);
std::string samples_json(const samples_heading&);
/// Returns the lines of one sample. A `+` after a count marks a lower limit.
std::string sample_text(const samples_heading&, const sample_counts&);
std::string sample_json(const samples_heading&, const sample_counts&);

} // namespace ibtool
