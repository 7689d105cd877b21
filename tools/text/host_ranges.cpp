// SPDX-License-Identifier: MIT
// host_ranges.cpp - shortens lists of host names to ranges: splits each name into its final digits and the text before them.
#include "text/host_ranges.hpp"

#include <algorithm>
#include <map>

namespace ibtool {
namespace {

/// Removes leading zeros. Numbers of any size can then be compared by length, and then as text.
std::string significant(const std::string& digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

bool is_less(const std::string& a, const std::string& b) {
    const std::string x = significant(a), y = significant(b);
    return x.size() != y.size() ? x.size() < y.size() : x < y;
}

/// Returns whether `after` is the number after `digits`; false if one of them has no digits.
bool is_next(const std::string& digits, const std::string& after) {
    if (digits.empty() || after.empty()) return false;
    std::string next = '0' + digits;
    auto last = next.rbegin();
    for (; *last == '9'; ++last) *last = '0';
    ++*last;
    return significant(next) == significant(after);
}

} // namespace

std::vector<std::string> host_ranges(const std::vector<std::string>& names) {
    std::map<std::string, std::vector<std::string>> by_front;
    for (const std::string& name : names) {
        const std::size_t digits = name.find_last_not_of("0123456789") + 1;
        by_front[name.substr(0, digits)].push_back(name.substr(digits));
    }
    std::vector<std::string> all;
    for (auto& [front, numbers] : by_front) {
        std::ranges::stable_sort(numbers, is_less);
        for (std::size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
            while (last + 1 < numbers.size() && is_next(numbers[last], numbers[last + 1])) ++last;
            all.push_back(front + numbers[first] + (last > first ? '-' + numbers[last] : ""));
        }
    }
    return all;
}

} // namespace ibtool
