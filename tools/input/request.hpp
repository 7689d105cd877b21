// SPDX-License-Identifier: MIT
// request.hpp - any RPC of the IBA with any field, by name: from words to what a MAD asks. Knows no target and no command.
#pragma once
#include <comad/iba/detail/registry.hpp>
#include <comad/mad/detail/message.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// What is asked, but not yet of whom.
struct request {
    const comad::iba::structure* attribute;
    comad::mad::rpc_kind kind;
    std::vector<std::string> fields; ///< as they were given
    std::vector<comad::u8> payload;  ///< these, and zeros
    comad::u64 component_mask = 0;
};

/// `rpc`: `SubnGet`, ...; `attribute`: its full name, or that without the prefix of its class; `fields`: `NAME=VALUE`, which
/// in a query to the SA records must have. Throws usage_error, one line that says what there is.
request make_request(const std::string& rpc, const std::string& attribute, const std::vector<std::string>& fields);

/// A Set that writes the whole attribute, so that fields which are not named would become 0: what is there must be read before.
/// In the other classes a mask or a selector says what is written.
bool writes_all_fields(const request&);
/// The Get of the same attribute.
comad::mad::rpc_kind reading(const request&);

} // namespace ibtool
