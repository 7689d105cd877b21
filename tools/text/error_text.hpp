// SPDX-License-Identifier: MIT
// error_text.hpp - formats the error of an RPC with as many details as the user requests. Does not depend on a session.
#pragma once
#include "input/options.hpp"
#include <comad/mad/error.hpp>

#include <string>

namespace ibtool {

/// Returns one line in words for users; with -v or -d, all details of the library.
std::string format_error(const comad::mad::mad_error&, const global_options&);

/// Prints this line on stderr after `ibtool: `; with -d also the path, with -dd the MADs.
void print_error(const comad::mad::mad_error&, const global_options&);

} // namespace ibtool
