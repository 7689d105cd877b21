// SPDX-License-Identifier: MIT
// error_thresholds.cpp - reads the thresholds file of infiniband-diags.
#include "input/error_thresholds.hpp"

#include "comad.hpp"
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <stdexcept>
#include <utility>

namespace ibtool {

namespace {

// Converts only ASCII letters, whatever the locale is, because names of counters are ASCII.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Returns the counter with a threshold whose name is most similar.
std::string nearest_counter(std::string_view name) {
    std::vector<std::string> labels;
    counters::for_each_counter([&](counters::counter c) {
        if (has_threshold(c)) labels.push_back(label_of(c));
    });
    return iba::most_similar(name, {labels.begin(), labels.end()}, 1);
}

} // namespace

std::string label_of(std::string_view name) {
    std::string label(name);
    label[0] = upper(label[0]);
    return label;
}

std::string label_of(counters::counter c) { return label_of(name_of(c)); }

std::optional<counters::counter> find_counter(std::string_view name) noexcept {
    std::optional<counters::counter> found;
    counters::for_each_counter([&](counters::counter c) {
        if (std::ranges::equal(name, name_of(c), {}, lower, lower)) found = c;
    });
    return found;
}

std::optional<counters::counter> find_counter_of_old(std::string_view name) noexcept {
    using enum counters::counter;
    static constexpr std::pair<std::string_view, counters::counter> old_names[] = {
        {"SymbolErrors", symbolErrorCounter},
        {"LinkRecovers", linkErrorRecoveryCounter},
        {"LinkDowned", linkDownedCounter},
        {"RcvErrors", portRcvErrors},
        {"RcvRemotePhysErrors", portRcvRemotePhysicalErrors},
        {"RcvSwRelayErrors", portRcvSwitchRelayErrors},
        {"XmtDiscards", portXmitDiscards},
        {"XmtConstraintErrors", portXmitConstraintErrors},
        {"RcvConstraintErrors", portRcvConstraintErrors},
        {"LinkIntegrityErrors", localLinkIntegrityErrors},
        {"ExcBufOverrunErrors", excessiveBufferOverrunErrors},
        {"XmtWait", portXmitWait},
    };
    for (const auto& [old, counter] : old_names)
        if (std::ranges::equal(name, old, {}, lower, lower)) return counter;
    return std::nullopt;
}

std::vector<counters::counter> error_thresholds::read(std::istream& in, std::string_view name,
                                                      const std::function<void(const std::string&)>& unknown) {
    std::vector<counters::counter> named;
    std::string text;
    for (unsigned number = 1; std::getline(in, text); ++number) {
        const std::string_view line = iba::trimmed(std::string_view(text).substr(0, text.find('#')));
        if (line.empty()) continue;
        const auto at_line = [&](const std::string& what) {
            return fmt::format("{}:{}: {}", iba::escaped(name), number, what);
        };
        const auto wrong = [&](const std::string& what) { return std::runtime_error(at_line(what)); };
        const std::size_t equals = line.find('=');
        if (equals == line.npos) throw wrong("expected COUNTER=THRESHOLD, such as SymbolErrorCounter=10");
        const std::string_view which = iba::trimmed(line.substr(0, equals));
        const auto by_name = find_counter(which), counter = by_name ? by_name : find_counter_of_old(which);
        if (!counter || !has_threshold(*counter)) {
            const std::string why =
                fmt::format("unknown error counter {}; similar: {}", iba::as_given(which), nearest_counter(which));
            if (!unknown) throw wrong(why);
            unknown(at_line(why + "; line ignored"));
            continue;
        }
        const std::string_view value = iba::trimmed(line.substr(equals + 1));
        const auto highest = iba::parse_number(value);
        if (!highest || highest->is_larger)
            throw wrong(fmt::format("invalid threshold {}; expected a number", iba::as_given(value)));
        set(*counter, highest->value);
        named.push_back(*counter);
    }
    return named;
}

} // namespace ibtool
