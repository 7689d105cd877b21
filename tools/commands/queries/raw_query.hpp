// SPDX-License-Identifier: MIT
// raw_query.hpp - the part of query that sends any class, method and attribute, also those that no table describes.
#pragma once
#include "command.hpp"
#include "session/target.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The options of query that select a class by name or number.
struct raw_query_options {
    std::string mgmt_class; ///< empty: the request has a name such as SubnGet
    std::optional<unsigned> class_version;
    std::string OUI, data, component_mask;
    bool writes = false;
};
/// Declares the options. `raw`: the option that they exclude.
void add_raw_query_options(arguments&, raw_query_options&, const argument& raw);

/// A request as the user wrote it.
struct raw_query {
    raw_query_options by_class;
    std::string method, attribute, target;
    std::vector<std::string> fields;
    comad::u32 modifier;
    target_options kind;
    bool show_keys, json;
};
/// Sends the request and prints the reply. Returns the exit code. Throws usage_error with one line.
int run_raw_query(const raw_query&, const global_options&);

} // namespace ibtool
