// SPDX-License-Identifier: MIT
// markdown.hpp - converts the Markdown of command texts (paragraphs, lists, tables, code blocks, `code`, **bold**, links) to plain text and
// to the source of a man page. The only user of md4c.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ibtool {

/// Converts to plain text with indented lines. Lines are at most `columns` wide unless a word is longer; 0: lines are not wrapped. Code is
/// never wrapped. The result ends with a newline unless it is empty.
std::string markdown_as_text(std::string_view markdown, std::size_t indent, std::size_t columns);

/// Converts to groff's man macros (man(7)), with tables for tbl(1). Starts with a paragraph macro only if `starts_paragraph`.
std::string markdown_as_man(std::string_view markdown, bool starts_paragraph);

/// Escapes one line of a man page so that groff prints it unchanged: hyphens stay hyphens, and the line is not read as a request.
std::string man_escaped(std::string_view text);

/// Wraps a paragraph into lines of at most `columns`, each indented by `indent` blanks.
std::string filled(std::string_view text, std::size_t indent, std::size_t columns);

} // namespace ibtool
