// SPDX-License-Identifier: MIT
// doctor_finding.hpp - the result of one check of `doctor`, as a line or as JSON.
#pragma once
#include "text/doctor_remedies.hpp"
#include <comad/iba/types.hpp>

#include <span>
#include <string>
#include <string_view>

namespace ibtool {

/// The severity of a finding.
enum class verdict : comad::u8 {
    ok,
    warning, ///< commands work despite the problem
    bad,
    skipped, ///< not checked; `found` contains the reason
};
/// Returns the name: `ok`.
std::string_view name(verdict) noexcept;

/// The result of one check.
struct finding {
    std::string_view check; ///< the kind of check: `port`
    std::string about;      ///< `mlx5_0/1`; empty: there is only one of this kind
    verdict evaluated;
    std::string found; ///< the facts as text
    ibtool::remedy remedy;
};

/// Returns one line for each finding.
std::string format_findings(std::span<const finding>);
/// Returns one JSON object for each finding, each on one line.
std::string findings_json(std::span<const finding>);
/// Returns whether any finding is bad.
bool is_any_bad(std::span<const finding>) noexcept;

} // namespace ibtool
