// SPDX-License-Identifier: MIT
// error_words.hpp - an RPC's error, in as many words as a user wants. Knows no session.
#pragma once
#include "input/options.hpp"
#include <comad/mad/error.hpp>

#include <string>

namespace ibtool {

/// One line: in a user's words, with -v or -d all that the library says.
std::string format_error(const comad::mad::mad_error&, const global_options&);

/// The same on stderr, behind `ibtool: `; with -d also the path, with -dd the MADs.
void print_error(const comad::mad::mad_error&, const global_options&);

} // namespace ibtool
