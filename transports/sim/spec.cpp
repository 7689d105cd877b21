// SPDX-License-Identifier: MIT
// spec.cpp - parses specifications of subnets and simulators.
#include "spec.hpp"

#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace comad::transports::sim {
namespace {

template <class Number> std::optional<Number> parse(std::string_view text) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

constexpr std::array<std::pair<std::string_view, double>, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

} // namespace

spec::spec(std::string_view text) {
    const auto next_part = [&text] {
        const auto comma = text.find(',');
        const auto part = text.substr(0, comma);
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
        return part;
    };
    head_ = next_part();
    while (!text.empty()) {
        const auto part = next_part();
        const auto equals = part.find('=');
        entry& e = entries_.emplace_back(entry{part.substr(0, equals), {}});
        if (equals != part.npos) e.value = part.substr(equals + 1);
        if (e.key.empty())
            fail(fmt::format("invalid option {}; expected NAME=VALUE, such as radix=16", iba::as_given(part)));
    }
}

/// Returns a key's entry; null: the key is missing.
const spec::entry* spec::take_one(std::string_view key) {
    known_.push_back(key);
    const entry* one = nullptr;
    for (entry& e : entries_) {
        if (e.key != key || e.taken) continue;
        if (one) fail(fmt::format("{} is given twice; keep one", key));
        e.taken = true;
        one = &e;
    }
    return one;
}

std::string_view spec::value_of(const entry& e) const {
    if (!e.value) fail(fmt::format("invalid option {}; expected NAME=VALUE, such as radix=16", iba::as_given(e.key)));
    return *e.value;
}

std::optional<std::string_view> spec::take(std::string_view key) {
    const entry* one = take_one(key);
    if (!one) return std::nullopt;
    return value_of(*one);
}

std::optional<std::string_view> spec::take_word(std::string_view key) {
    const entry* one = take_one(key);
    if (!one) return std::nullopt;
    return one->value.value_or("");
}

std::vector<std::string_view> spec::take_all(std::string_view key) {
    known_.push_back(key);
    std::vector<std::string_view> found;
    for (entry& e : entries_) {
        if (e.key != key) continue;
        e.taken = true;
        found.push_back(value_of(e));
    }
    return found;
}

std::vector<std::string_view> spec::take_all_with(std::string_view key, char mark) {
    std::vector<std::string_view> found;
    for (entry& e : entries_) {
        if (e.key != key || !e.value || e.value->find(mark) == std::string_view::npos) continue;
        e.taken = true;
        found.push_back(*e.value);
    }
    return found;
}

u64 spec::take_number(std::string_view key, u64 otherwise, u64 least, u64 most) {
    const auto text = take(key);
    return text ? to_number(key, *text, least, most) : otherwise;
}

u64 spec::to_number(std::string_view key, std::string_view text, u64 least, u64 most) const {
    const auto number = parse<u64>(text);
    if (!number || *number < least || *number > most) {
        fail(fmt::format("{}={} is invalid; must be an integer, {}..{}", key, text, least, most));
    }
    return *number;
}

double spec::take_probability(std::string_view key) {
    const auto text = take(key);
    return text ? to_probability(key, *text) : 0;
}

double spec::to_probability(std::string_view key, std::string_view text) const {
    const auto number = parse<double>(text);
    if (!number || !(*number >= 0 && *number <= 1)) {
        fail(fmt::format("{}={} is not a probability; must be 0..1", key, text));
    }
    return *number;
}

double spec::to_rate(std::string_view key, std::string_view text) const {
    const auto number = parse<double>(text);
    if (!number || !(*number >= 0 && *number <= 1e9)) {
        fail(fmt::format("{}={} is not a rate; must be 0..1e9 per second", key, text));
    }
    return *number;
}

mad::duration spec::take_duration(std::string_view key, mad::duration otherwise) {
    const auto text = take(key);
    return text ? to_duration(key, *text) : otherwise;
}

mad::duration spec::to_duration(std::string_view key, std::string_view text) const {
    const auto unit_start = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse<double>(text.substr(0, unit_start));
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == text.substr(unit_start); });
    constexpr double longest = 3600e9;
    if (!number || unit == units.end() || *number * unit->second > longest) {
        fail(fmt::format("{}={} is not a time; expected a number followed by ns, us, ms or s, at most 3600s", key,
                         text));
    }
    return mad::duration(static_cast<mad::duration::rep>(*number * unit->second));
}

std::string_view spec::take_choice(std::string_view key, std::string_view otherwise,
                                   std::initializer_list<std::string_view> choices) {
    const auto text = take(key);
    if (!text) return otherwise;
    const auto choice = std::find(choices.begin(), choices.end(), *text);
    if (choice == choices.end()) {
        fail(fmt::format("{}={} is unknown; expected one of {}", key, *text, fmt::join(choices, ", ")));
    }
    return *choice;
}

void spec::finish() const {
    for (const entry& e : entries_) {
        if (e.taken) continue;
        value_of(e);
        fail(fmt::format("unknown option {}; the nearest are {}", iba::as_given(e.key),
                         iba::most_similar(e.key, known_)));
    }
}

void spec::fail(std::string_view what) const { throw std::runtime_error(fmt::format("{}: {}", head_, what)); }

} // namespace comad::transports::sim
