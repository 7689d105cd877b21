// SPDX-License-Identifier: MIT
// request.hpp - builds a request for any RPC of the IBA from names and values of fields. Does not depend on a target or a command.
#pragma once
#include <comad/iba/detail/registry.hpp>
#include <comad/mad/detail/message.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// A request without its destination.
struct request {
    const comad::iba::structure* attribute;
    comad::mad::rpc_kind kind;
    std::vector<std::string> fields; ///< texts of the fields, as the user wrote them
    std::vector<comad::u8> payload;  ///< contains these fields, and zeros
    comad::u64 component_mask = 0;
};

/// Returns an attribute by its full name, or by its name without the prefix of this class. Throws usage_error, which lists similar names.
const comad::iba::structure& attribute_named(const std::string& name, comad::iba::MgmtClass);

/// Builds a request. `rpc`: `SubnGet`, ...; `attribute`: its full name, or the name without the prefix of its class; `fields`:
/// `NAME=VALUE`, which in a query to the SA are conditions for records. Throws usage_error with one line that lists the valid names.
request make_request(const std::string& rpc, const std::string& attribute, const std::vector<std::string>& fields);

/// Returns whether the request is a Set that writes the whole attribute, so that other fields would become 0: the attribute must be read
/// first. In other classes a mask or a selector determines which fields are written.
bool writes_all_fields(const request&);
/// Returns the Get for the attribute of a request.
comad::mad::rpc_kind reading(const request&);

} // namespace ibtool
