// SPDX-License-Identifier: MIT
// statistics.hpp - means and medians with confidence intervals, and the Mann-Whitney U test. Does not depend on a measurement.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

namespace ibtool {

/// A mean, and half the width of its 95 % confidence interval by Student's t-distribution; nullopt for fewer than two values.
struct estimate {
    double mean = 0;
    std::optional<double> half_width;
};
/// Returns the mean of the values and its confidence interval. Precondition: at least one value.
estimate estimate_of(std::span<const double>);

// These assume no distribution.

/// Returns the median. Precondition: at least one value.
double median_of(std::span<const double>);

/// An interval of values.
struct value_interval {
    double low = 0, high = 0;
};
/// Returns the narrowest symmetric pair of order statistics that contains the median of the distribution with a probability of at least
/// 95 %. nullopt for fewer than 6 values, for which no pair does.
std::optional<value_interval> median_interval(std::span<const double>);

/// Returns the two-sided p-value of the Mann-Whitney U test (also called Wilcoxon's rank-sum test): the probability of a difference like
/// this one if both samples have the same distribution. Equal values have their mean rank. Exact up to 25 values per sample, and by the normal
/// approximation with corrections for ties and continuity above. Precondition: both samples have at least one value.
double mann_whitney(std::span<const double> a, std::span<const double> b);

/// Returns the smallest p-value that samples of these sizes can have.
double least_p_value(std::size_t a, std::size_t b);

} // namespace ibtool
