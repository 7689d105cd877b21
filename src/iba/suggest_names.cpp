// SPDX-License-Identifier: MIT
// suggest_names.cpp - sorts names by their similarity to a misspelled name.
#include <comad/iba/detail/suggest_names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace comad::iba {
namespace {

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

/// Returns the Levenshtein distance of two texts.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1); // distances from the part of `a` so far to each prefix of `b`
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

constexpr std::size_t longest_compared = 64; // all names are shorter, and untrusted text may have any length

} // namespace

std::string most_similar_first(std::string_view wrong, std::vector<std::string_view> right) {
    const std::size_t count = right.size();
    return most_similar(wrong, std::move(right), count);
}

std::string most_similar(std::string_view wrong, std::vector<std::string_view> right, std::size_t most) {
    const std::string wanted = lower_case(wrong.substr(0, longest_compared));
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (std::string_view name : right) {
        const std::string candidate = lower_case(name);
        const bool contains = candidate.find(wanted) != std::string::npos;
        ranked.emplace_back(contains ? 0 : distance(wanted, candidate), name);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(ranked.begin(), ranked.end(), right.begin(), [](const auto& entry) { return entry.second; });
    right.resize(std::min(most, right.size()));
    return fmt::format("{}", fmt::join(right, ", "));
}

} // namespace comad::iba
