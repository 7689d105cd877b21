// SPDX-License-Identifier: MIT
// markdown.hpp - the Markdown of command texts (paragraphs, lists, tables, code blocks, `code`, **bold**, links) as plain text and as
// the source of a man page. The only user of md4c.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ibtool {

/// As plain text, each line indented and at most `columns` wide if its words allow it; 0: lines are not wrapped. Code is not wrapped. Ends with a newline unless
/// it is empty.
std::string markdown_as_text(std::string_view markdown, std::size_t indent, std::size_t columns);

/// As groff's man macros (man(7)), with tables for tbl(1). Starts with a paragraph macro only if `starts_paragraph`.
std::string markdown_as_man(std::string_view markdown, bool starts_paragraph);

/// One line of a man page that groff prints as it is: hyphens stay hyphens, and the line is not taken for a request.
std::string man_escaped(std::string_view text);

/// A paragraph wrapped into lines of at most `columns`, each with `indent` blanks in front.
std::string filled(std::string_view text, std::size_t indent, std::size_t columns);

} // namespace ibtool
