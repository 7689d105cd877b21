// SPDX-License-Identifier: MIT
// manual.hpp - man pages and reference pages, made from descriptors and command texts.
#pragma once
#include "command.hpp"

#include <string>

namespace ibtool {

/// Returns ibtool-NAME(1) in groff's man macros.
std::string man_page(const command&);
/// Returns ibtool(1): the commands by group, and the options that all commands have.
std::string man_page();

/// Return docs/reference/ibtool/NAME.md for a command, and docs/reference/ibtool/ibtool.md for the program.
std::string reference_page(const command&);
std::string reference_page();

} // namespace ibtool
