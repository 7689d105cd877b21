// SPDX-License-Identifier: MIT
// doctor_finding.cpp - formats the findings of `doctor` as lines that can be searched with grep.
#include "text/doctor_finding.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace ibtool {

std::string_view name(verdict v) noexcept {
    constexpr std::string_view names[] = {"ok", "warning", "bad", "skipped"};
    return names[static_cast<std::size_t>(v)];
}

std::string format_findings(std::span<const finding> all) {
    std::string lines;
    for (const finding& f : all) {
        std::string text = f.about.empty() ? f.found : f.about + ": " + f.found;
        if (!f.remedy.empty()) text += "; possible fix: " + f.remedy.text();
        lines += fmt::format("{:<8} {:<7} {}\n", name(f.evaluated), f.check, iba::escaped(text));
    }
    return lines;
}

std::string findings_json(std::span<const finding> all) {
    const auto text_or_null = [](const std::string& s) { return s.empty() ? nullptr : json_string(s); };
    std::string lines;
    for (const finding& f : all)
        lines += json_line({{"check", json_string(f.check)},
                            {"about", text_or_null(f.about)},
                            {"verdict", name(f.evaluated)},
                            {"found", json_string(f.found)},
                            {"remedy", text_or_null(f.remedy.text())},
                            {"command", text_or_null(f.remedy.command())}});
    return lines;
}

bool is_any_bad(std::span<const finding> all) noexcept {
    return std::ranges::find(all, verdict::bad, &finding::evaluated) != all.end();
}

} // namespace ibtool
