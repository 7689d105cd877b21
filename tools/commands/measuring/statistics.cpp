// SPDX-License-Identifier: MIT
// statistics.cpp - means, order statistics, and ranks of two samples.
#include "commands/measuring/statistics.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ibtool {
namespace {

constexpr std::size_t most_exact = 25;      // values per sample; the time grows with the fourth power
constexpr std::size_t most_binomial = 1000; // values; above, the probabilities are too small for a double

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> all(values.begin(), values.end());
    std::ranges::sort(all);
    return all;
}

/// The ranks of two samples together. They are doubled, because equal values have a mean rank, which can be half a number.
struct doubled_ranks {
    std::vector<std::size_t> all; ///< of all values, in order
    std::size_t sum_a = 0;        ///< of the values in `a`
    double ties = 0;              ///< sum of t^3 - t over groups of t equal values
};

doubled_ranks ranks_of(std::span<const double> a, std::span<const double> b) {
    struct ranked {
        double value;
        bool is_a;
    };
    std::vector<ranked> together;
    for (const double value : a) together.push_back({value, true});
    for (const double value : b) together.push_back({value, false});
    std::ranges::sort(together, {}, &ranked::value);
    doubled_ranks ranks;
    for (std::size_t first = 0; first < together.size();) {
        std::size_t end = first;
        while (end < together.size() && together[end].value == together[first].value) ++end;
        const std::size_t rank = first + 1 + end; // twice the mean of first + 1 .. end
        for (std::size_t i = first; i < end; ++i) {
            ranks.all.push_back(rank);
            if (together[i].is_a) ranks.sum_a += rank;
        }
        const auto count = static_cast<double>(end - first);
        ranks.ties += count * count * count - count;
        first = end;
    }
    return ranks;
}

/// Counts in how many ways `chosen` of these ranks have each sum, and returns the share of sums that are at most, and of sums that are at
/// least, `sum`.
double exact_p(const doubled_ranks& ranks, std::size_t chosen) {
    std::size_t most = 0;
    for (const std::size_t rank : ranks.all) most += rank;
    std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1));
    ways[0][0] = 1;
    for (const std::size_t rank : ranks.all)
        for (std::size_t taken = chosen; taken > 0; --taken)
            for (std::size_t sum = most; sum >= rank; --sum) ways[taken][sum] += ways[taken - 1][sum - rank];
    double below = 0, above = 0, all = 0;
    for (std::size_t sum = 0; sum <= most; ++sum) {
        const double count = ways[chosen][sum];
        all += count;
        if (sum <= ranks.sum_a) below += count;
        if (sum >= ranks.sum_a) above += count;
    }
    return std::min(1.0, 2 * std::min(below, above) / all);
}

double approximate_p(const doubled_ranks& ranks, double a, double b) {
    const double all = a + b;
    const double u = static_cast<double>(ranks.sum_a) / 2 - a * (a + 1) / 2;
    const double variance = a * b / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
    if (variance <= 0) return 1;
    const double distance = std::max(0.0, std::abs(u - a * b / 2) - 0.5);
    return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

} // namespace

estimate estimate_of(std::span<const double> values) {
    const auto count = static_cast<double>(values.size());
    estimate e{std::accumulate(values.begin(), values.end(), 0.0) / count, std::nullopt};
    if (values.size() < 2) return e;
    double squares = 0;
    for (const double value : values) squares += (value - e.mean) * (value - e.mean);
    const boost::math::students_t distribution(count - 1);
    e.half_width = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (count - 1) / count);
    return e;
}

double median_of(std::span<const double> values) {
    const std::vector<double> all = sorted(values);
    const std::size_t middle = all.size() / 2;
    return all.size() % 2 ? all[middle] : (all[middle - 1] + all[middle]) / 2;
}

std::optional<value_interval> median_interval(std::span<const double> values) {
    const std::vector<double> all = sorted(values);
    const std::size_t count = all.size();
    // Outside the pair (i, count + 1 - i) with a probability of 2 P(X < i), where X has a binomial distribution with p = 1/2.
    std::size_t pair = 0;
    if (count > most_binomial) {
        const auto n = static_cast<double>(count);
        pair = static_cast<std::size_t>((n - 1.96 * std::sqrt(n)) / 2);
    } else {
        double term = std::exp2(-static_cast<double>(count)); // P(X = pair)
        for (double below = term; 2 * below <= 0.05; below += term) {
            ++pair;
            term *= static_cast<double>(count - pair + 1) / static_cast<double>(pair);
        }
    }
    if (pair == 0) return std::nullopt;
    return value_interval{all[pair - 1], all[count - pair]};
}

double mann_whitney(std::span<const double> a, std::span<const double> b) {
    const doubled_ranks ranks = ranks_of(a, b);
    if (a.size() <= most_exact && b.size() <= most_exact) return exact_p(ranks, a.size());
    return approximate_p(ranks, static_cast<double>(a.size()), static_cast<double>(b.size()));
}

double least_p_value(std::size_t a, std::size_t b) {
    double selections = 1; // a + b over a
    for (std::size_t i = 1; i <= a; ++i) selections *= static_cast<double>(b + i) / static_cast<double>(i);
    return std::min(1.0, 2 / selections);
}

} // namespace ibtool
