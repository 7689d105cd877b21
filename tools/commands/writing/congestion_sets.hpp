// SPDX-License-Identifier: MIT
// congestion_sets.hpp - what ibccconfig writes, from its words: one attribute that is read, changed, written and read back.
// Knows no subnet.
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

/// A member, as it was and as it is to be. Of keys neither is told.
struct field_change {
    std::string field, before, after;
};

/// What became of a port.
struct congestion_outcome {
    std::vector<field_change> changes; ///< of what was to be changed that which did, or of a dry run would
    bool is_known = true;              ///< `changes` were read back; else they are what was to be changed
    std::vector<discovery::failure>
        not_taken; ///< without a place: what was read back otherwise than it was written, or is not known
};

struct congestion_set {
    std::string_view name; ///< of the attribute
    bool is_of_switches = false, is_of_cas = false;
    /// Reads what is there; unless it is a dry run writes, and reads back. Errors: those of the Get, and of a Set after which nothing
    /// can have changed; what a Set without an answer leaves open, and what cannot be read back, are among `not_taken`.
    std::function<query_task<congestion_outcome>(session&, comad::mad::IBPath, bool dry_run)> set;
};

/// From the words behind the target. Throws usage_error with one line.
congestion_set read_congestion_set(std::string_view name, const std::vector<std::string>& values);

/// `Lid 7: CACongestionSetting: congestionEntry[0].CCTITimer 0 -> 150`.
std::string text_of(const std::string& place, const congestion_set&, const congestion_outcome&, bool dry_run);
/// attribute, changes, dry_run, and unless it is one: verified.
nlohmann::ordered_json json_of(const congestion_set&, const congestion_outcome&, bool dry_run);

} // namespace ibtool
