// SPDX-License-Identifier: MIT
// congestion_sets.hpp - the Sets of ibccconfig: reads one attribute, changes, writes and reads it back. Does not depend on a subnet.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/missing.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A field with its old and its new value. The values of keys are not shown.
struct field_change {
    std::string field, before, after;
};

/// The result for one port.
struct congestion_outcome {
    std::vector<field_change> changes; ///< fields that changed; in a dry run: that would change
    bool is_known = true;              ///< `changes` were read back; otherwise they are the requested changes
    std::vector<discovery::failure>
        not_taken; ///< without a location: values that differ after the write, or are unknown
};

/// The Set of one attribute.
struct congestion_set {
    std::string_view name; ///< name of the attribute
    bool is_of_switches = false, is_of_cas = false;
    /// Reads the attribute; unless it is a dry run, writes it and reads it back. Errors: those of the Get, and of a Set that cannot have
    /// changed anything. A Set without a reply, and values that cannot be read back, are in `not_taken`.
    std::function<query_task<congestion_outcome>(session&, comad::mad::IBPath, bool dry_run)> set;
};

/// Reads the words after the target. Throws usage_error with one line.
congestion_set read_congestion_set(std::string_view name, const std::vector<std::string>& values);

/// Returns `Lid 7: CACongestionSetting: congestionEntry[0].CCTITimer 0 -> 150`.
std::string text_of(const std::string& place, const congestion_set&, const congestion_outcome&, bool dry_run);
/// Returns attribute, changes and dry_run; unless it is a dry run, also verified.
nlohmann::ordered_json json_of(const congestion_set&, const congestion_outcome&, bool dry_run);

} // namespace ibtool
