// SPDX-License-Identifier: MIT
// manual.hpp - man pages and tables, made from the commands' descriptors. Knows no single command.
#pragma once
#include "command.hpp"

#include <string>

namespace ibtool {

/// ibtool-NAME(1), in groff's man macros.
std::string man_page(const command&);
/// ibtool(1): the commands by groups, and the options for all.
std::string man_page();

/// The commands by groups, for docs/ibtool.md: a table of Markdown each.
std::string command_tables();

} // namespace ibtool
