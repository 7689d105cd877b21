// SPDX-License-Identifier: MIT
// doctor_finding.hpp - what came of one check of `doctor`, as a line or as JSON. Checks nothing.
#pragma once
#include "text/doctor_remedies.hpp"
#include <comad/iba/types.hpp>

#include <span>
#include <string>
#include <string_view>

namespace ibtool {

enum class verdict : comad::u8 {
    ok,
    warning, ///< what is to be used works all the same
    bad,
    skipped, ///< not checked; what was found says why
};
/// `ok`
std::string_view name(verdict) noexcept;

struct finding {
    std::string_view check; ///< the kind of check: `port`
    std::string about;      ///< `mlx5_0/1`; empty: there is one alone of that kind
    verdict judged;
    std::string found; ///< in words
    ibtool::remedy remedy;
};

/// A line for each.
std::string findings_text(std::span<const finding>);
/// An object for each, on a line.
std::string findings_json(std::span<const finding>);
bool is_any_bad(std::span<const finding>) noexcept;

} // namespace ibtool
