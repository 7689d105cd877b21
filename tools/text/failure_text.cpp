// SPDX-License-Identifier: MIT
// failure_text.cpp - formats failures, grouped by cause.
#include "text/failure_text.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

namespace ibtool {
namespace {

using discovery::failure;

/// All failures with the same cause.
struct same_cause {
    const failure* first;
    std::size_t nodes = 0, ports = 0, others = 0;

    std::size_t all() const noexcept { return nodes + ports + others; }
    void count(const discovery::location& where) noexcept {
        if (where.name.empty()) ++others;
        else if (where.port != 0) ++ports;
        else ++(where.nodeGUID != iba::guid{} ? nodes : others);
    }
};

/// Returns the amount of failures: `3 nodes and 512 ports`.
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

std::string at(const discovery::location& where, const std::string& text) {
    return where.name.empty() ? text : fmt::format("{}: {}", where.name, text);
}

std::string missing_line(const same_cause& c) {
    const failure& f = *c.first;
    if (c.all() == 1) return at(f.where, f.short_text());
    const std::string text = fmt::format("{}: {}", amount(c), f.short_text());
    const std::string& first = f.where.short_name.empty() ? f.where.name : f.where.short_name;
    return first.empty() ? text : fmt::format("{}; first: {}", text, first);
}

std::vector<std::string> lines_by_cause(const std::vector<const failure*>& missing) {
    std::vector<same_cause> causes;
    std::unordered_map<std::string_view, std::size_t> known; // index into causes, by text
    for (const failure* f : missing) {
        const auto [found, is_new] = known.emplace(f->short_text(), causes.size());
        if (is_new) causes.push_back({f});
        causes[found->second].count(f->where);
    }
    std::vector<std::string> lines;
    for (const same_cause& c : causes) lines.push_back(missing_line(c));
    return lines;
}

} // namespace

std::vector<std::string> format_missing(const std::vector<failure>& missing, bool each, const std::string& disconnect) {
    std::vector<const failure*> reads;
    for (const failure& f : missing)
        if (!f.is_write()) reads.push_back(&f);
    std::vector<std::string> lines;
    if (!disconnect.empty() && !missing.empty()) {
        const std::size_t n = reads.size();
        lines.push_back(n == 0 ? disconnect
                               : fmt::format("{}; {} repl{} missing", disconnect, n, n == 1 ? "y is" : "ies are"));
    } else if (each) {
        for (const failure* f : reads) lines.push_back(at(f->where, f->text));
    } else {
        lines = lines_by_cause(reads);
    }
    for (const failure& f : missing)
        if (f.is_write()) lines.push_back(at(f.where, each ? f.text : f.short_text()));
    return lines;
}

void print_missing(const std::vector<failure>& missing, bool each, const std::string& disconnect) {
    for (const std::string& line : format_missing(missing, each, disconnect)) print_message("{}", line);
}

} // namespace ibtool
