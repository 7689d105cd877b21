// SPDX-License-Identifier: MIT
// ibutils_plan.cpp - splits the lines of an ibutils topology file into systems and cables.
#include "input/ibutils_plan.hpp"

#include "comad.hpp"
#include "input/cabling_plan.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace ibtool {

namespace {

/// Returns whether a word is the arrow of a connection: `->`, `-4x->` or `-4x-10G->`.
bool is_arrow(std::string_view word) { return word.starts_with('-') && word.ends_with("->"); }
bool is_connection(const std::vector<std::string>& words) { return words.size() > 1 && is_arrow(words[1]); }

/// Reads the lines of a file.
class ibutils_reader {
public:
    explicit ibutils_reader(std::string_view name) : name_(name) {}

    std::vector<discovery::planned_cable> read(std::string_view text) {
        std::istringstream in{std::string(text)};
        for (std::string line; std::getline(in, line);) {
            ++number_;
            if (line.size() > longest_plan_line)
                fail(fmt::format("the line is longer than {} bytes", longest_plan_line));
            const std::vector<std::string> words = uncommented_words(line);
            if (words.empty()) continue;
            if (is_connection(words)) take(words);
            else if (words.size() == 2 || (words.size() > 2 && words[2].starts_with("CFG:"))) system_ = words[1];
            else fail("expected a system, 'TYPE NAME', or a cable, 'P1 -> TYPE NAME P2'");
        }
        if (cables_.empty()) throw std::runtime_error(fmt::format("no cables found in {}", iba::as_given(name_)));
        return std::move(cables_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", iba::escaped(name_), number_, what));
    }

    void take(const std::vector<std::string>& words) {
        if (system_.empty()) fail("the cable belongs to no system; expected a line 'TYPE NAME' before it");
        if (words.size() != 5) fail("expected 'P1 -> TYPE NAME P2'");
        discovery::planned_cable c{{system_, port_of(words[0])}, {words[3], port_of(words[4])}, number_};
        if (c.a == c.b) fail("the cable connects a port to itself");
        if (cables_.size() == most_planned_cables)
            fail(fmt::format("too many cables in the plan; the maximum is {}", most_planned_cables));
        cables_.push_back(std::move(c));
    }

    comad::u8 port_of(const std::string& word) const {
        const std::size_t begin = word.starts_with('P') ? 1 : 0;
        comad::u8 number = 0;
        const auto [end, wrong] = std::from_chars(word.data() + begin, word.data() + word.size(), number);
        if (wrong != std::errc{} || end != word.data() + word.size() || number == 0 || number == 255)
            fail(fmt::format(
                "a port must be P1 to P254, not {}; ports of systems with several switches are not supported",
                iba::as_given(word)));
        return number;
    }

    const std::string_view name_;
    unsigned number_ = 0;
    std::string system_;
    std::vector<discovery::planned_cable> cables_;
};

} // namespace

bool is_ibutils_plan(std::string_view text) {
    std::istringstream in{std::string(text.substr(0, 2 * longest_plan_line))};
    bool has_system = false;
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> words = uncommented_words(line);
        if (words.empty()) continue;
        if (line.find(',') != std::string::npos) return false;
        if (is_connection(words)) return has_system;
        has_system = words.size() >= 2;
    }
    return false;
}

std::vector<discovery::planned_cable> read_ibutils_plan(std::string_view text, std::string_view name) {
    return ibutils_reader(name).read(text);
}

} // namespace ibtool
