// SPDX-License-Identifier: MIT
// health_file.hpp - rules of health from a TOML file. Knows no subnet.
#pragma once
#include <comad/counters/health.hpp>

#include <string>

namespace comad::counters {

/// `otherwise`, with what the file says instead: docs/reference/health-rules.md has its form. A counter, or the limits of bit errors, that the
/// file names has the limits that it gives there and no others.
/// Throws std::runtime_error with one line where the file cannot be read or is wrong: file, line, what, and what would be right.
health_rules read_health_rules(const std::string& file, health_rules otherwise = default_rules());

} // namespace comad::counters
