// SPDX-License-Identifier: MIT
// json.hpp - the library's functions that build and write JSON, for the sources of ibtool.
#pragma once
#include <comad/iba/detail/json.hpp>

namespace ibtool {

using comad::iba::detail::add_json_list;
using comad::iba::detail::json_bytes;
using comad::iba::detail::json_compact;
using comad::iba::detail::json_document;
using comad::iba::detail::json_line;
using comad::iba::detail::json_number;
using comad::iba::detail::json_object;
using comad::iba::detail::json_string;

} // namespace ibtool
