// SPDX-License-Identifier: MIT
// missing.cpp - grouped by cause.
#include "text/missing.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

namespace ibtool {
namespace {

/// All that is missing for the same reason.
struct same_cause {
    const missing_answer* first;
    std::size_t nodes = 0, ports = 0, others = 0;

    std::size_t all() const noexcept { return nodes + ports + others; }
    void count(missing_answer::kind k) noexcept {
        ++(k == missing_answer::kind::node ? nodes : k == missing_answer::kind::port ? ports : others);
    }
};

/// `3 nodes and 512 ports`
std::string amount(const same_cause& c) {
    std::string text;
    const auto add = [&](std::size_t number, std::string_view unit) {
        if (number == 0) return;
        text += fmt::format("{}{} {}{}", text.empty() ? "" : " and ", number, unit, number == 1 ? "" : "s");
    };
    add(c.nodes, "node");
    add(c.ports, "port");
    add(c.others, "time");
    return text;
}

const std::string& cause_of(const missing_answer& m) { return m.cause.empty() ? m.text : m.cause; }

std::string at(const std::string& place, const std::string& text) {
    return place.empty() ? text : fmt::format("{}: {}", place, text);
}

std::string line_of(const same_cause& c) {
    const missing_answer& m = *c.first;
    if (c.all() == 1) return at(m.place, cause_of(m));
    const std::string text = fmt::format("{}: {}", amount(c), cause_of(m));
    const std::string& first = m.short_place.empty() ? m.place : m.short_place;
    return first.empty() ? text : fmt::format("{}; first: {}", text, first);
}

} // namespace

namespace {

std::vector<std::string> lines_by_cause(const std::vector<const missing_answer*>& missing) {
    std::vector<same_cause> causes;
    std::unordered_map<std::string_view, std::size_t> known; // of causes, by what they are called
    for (const missing_answer* m : missing) {
        const auto [found, is_new] = known.emplace(cause_of(*m), causes.size());
        if (is_new) causes.push_back({m});
        causes[found->second].count(m->of);
    }
    std::vector<std::string> lines;
    for (const same_cause& c : causes) lines.push_back(line_of(c));
    return lines;
}

} // namespace

std::vector<std::string> lines_about(const std::vector<missing_answer>& missing, bool each, const std::string& loss) {
    std::vector<const missing_answer*> answers;
    for (const missing_answer& m : missing)
        if (!m.is_write) answers.push_back(&m);
    std::vector<std::string> lines;
    if (!loss.empty() && !missing.empty()) {
        const std::size_t n = answers.size();
        lines.push_back(n == 0 ? loss : fmt::format("{}; {} repl{} missing", loss, n, n == 1 ? "y is" : "ies are"));
    } else if (each) {
        for (const missing_answer* m : answers) lines.push_back(at(m->place, m->text));
    } else {
        lines = lines_by_cause(answers);
    }
    for (const missing_answer& m : missing)
        if (m.is_write) lines.push_back(at(m.place, each ? m.text : cause_of(m)));
    return lines;
}

void tell_missing(const std::vector<missing_answer>& missing, bool each, const std::string& loss) {
    for (const std::string& line : lines_about(missing, each, loss)) print_message("{}", line);
}

} // namespace ibtool
