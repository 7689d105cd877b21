// SPDX-License-Identifier: MIT
// manual.hpp - man pages and reference pages, made from descriptors and command texts.
#pragma once
#include "command.hpp"

#include <string>

namespace ibtool {

/// ibtool-NAME(1), in groff's man macros.
std::string man_page(const command&);
/// ibtool(1): the commands by groups, and the options for all.
std::string man_page();

/// docs/reference/ibtool/NAME.md, and docs/reference/ibtool/ibtool.md for the program.
std::string reference_page(const command&);
std::string reference_page();

} // namespace ibtool
