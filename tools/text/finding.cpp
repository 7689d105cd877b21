// SPDX-License-Identifier: MIT
// finding.cpp - findings in lines, each of which can be searched for.
#include "text/finding.hpp"

#include "comad.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace ibtool {

std::string_view name(verdict v) noexcept {
    constexpr std::string_view names[] = {"ok", "warning", "bad", "skipped"};
    return names[static_cast<std::size_t>(v)];
}

std::string findings_text(std::span<const finding> all) {
    std::string lines;
    for (const finding& f : all) {
        std::string text = f.about.empty() ? f.found : f.about + ": " + f.found;
        if (!f.remedy.empty()) text += "; possible fix: " + f.remedy.text();
        lines += fmt::format("{:<8} {:<7} {}\n", name(f.judged), f.check, iba::escaped(text));
    }
    return lines;
}

std::string findings_json(std::span<const finding> all) {
    const auto text_or_null = [](const std::string& s) { return s.empty() ? "null" : iba::json_quoted(s); };
    std::string lines;
    for (const finding& f : all)
        lines +=
            fmt::format("{{\"check\":{},\"about\":{},\"verdict\":{},\"found\":{},\"remedy\":{},\"command\":{}}}\n",
                        iba::json_quoted(f.check), text_or_null(f.about), iba::json_quoted(name(f.judged)),
                        iba::json_quoted(f.found), text_or_null(f.remedy.text()), text_or_null(f.remedy.command()));
    return lines;
}

bool is_any_bad(std::span<const finding> all) noexcept {
    return std::ranges::find(all, verdict::bad, &finding::judged) != all.end();
}

} // namespace ibtool
