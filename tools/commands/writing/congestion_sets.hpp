// SPDX-License-Identifier: MIT
// congestion_sets.hpp - the Sets of ibccconfig: reads one attribute, changes it, writes it, and reads it back. Does not depend on a
// subnet.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/failure_text.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A field with its value before and after the Set. The values of keys are not shown.
struct field_change {
    std::string field, before, after;
};

/// The result of a Set at one port.
struct congestion_outcome {
    std::vector<field_change> changes; ///< fields that changed; in a dry run: fields that would change
    bool is_known = true;              ///< `changes` were read back; otherwise they are the requested changes
    std::vector<discovery::failure>
        not_taken; ///< failures without a location: values that differ after the write, or are unknown
};

/// The Set of one attribute with the requested values.
struct congestion_set {
    std::string_view name; ///< name of the attribute
    bool is_of_switches = false, is_of_cas = false;
    /// Reads the attribute. Unless this is a dry run, writes it and reads it back. Problems after the Set was sent are in `not_taken`:
    /// values that differ from the requested ones, or that cannot be read back.
    /// Errors: those of the Get, and of a Set that cannot have changed anything.
    std::function<query_task<congestion_outcome>(session&, comad::mad::IBPath, bool dry_run)> set;
};

/// Parses the arguments after the target. Throws usage_error with one line.
congestion_set read_congestion_set(std::string_view name, const std::vector<std::string>& values);

/// Returns one line: `Lid 7: CACongestionSetting: congestionEntry[0].CCTITimer 0 -> 150`.
std::string text_of(const std::string& place, const congestion_set&, const congestion_outcome&, bool dry_run);
/// Returns an object with attribute, changes and dry_run; unless this was a dry run, also verified.
nlohmann::ordered_json json_of(const congestion_set&, const congestion_outcome&, bool dry_run);

} // namespace ibtool
