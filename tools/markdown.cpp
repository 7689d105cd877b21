// SPDX-License-Identifier: MIT
// markdown.cpp - collects the blocks that md4c finds, and writes them as text or for groff.
#include "markdown.hpp"

#include "text/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <md4c.h>
#include <regex>
#include <stdexcept>
#include <vector>

namespace ibtool {
namespace {

enum class block_kind { paragraph, item, code, table };

/// A block of Markdown, such as a paragraph or a table.
struct block {
    block_kind kind;
    std::string text{};                           ///< for paragraphs, items and code
    unsigned number = 0;                          ///< for an item of a numbered list; 0 for a bullet
    std::vector<std::vector<std::string>> rows{}; ///< for a table; the first row is the heading
};

/// The style in which words are written within a block.
struct inline_style {
    std::string (*plain)(std::string_view);
    std::string_view code_start, code_end, strong_start, strong_end, emphasis_start, emphasis_end;
    std::string (*link_end)(const std::string& target, std::string& text, std::size_t start);
};

/// Receives the elements that md4c finds. Nested lists and quotations are not supported, because command texts do not use them.
class block_reader {
public:
    explicit block_reader(const inline_style& style) : style_(style) {}

    std::vector<block> read(std::string_view markdown) {
        MD_PARSER parser{};
        parser.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML;
        parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            static_cast<block_reader*>(self)->enter(type, detail);
            return 0;
        };
        parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
            static_cast<block_reader*>(self)->leave(type);
            return 0;
        };
        parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
            static_cast<block_reader*>(self)->enter(type, detail);
            return 0;
        };
        parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
            static_cast<block_reader*>(self)->leave(type);
            return 0;
        };
        parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
            static_cast<block_reader*>(self)->add(type, {text, size});
            return 0;
        };
        if (md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, this) != 0)
            throw std::runtime_error("md4c: out of memory");
        return std::move(blocks_);
    }

private:
    void enter(MD_BLOCKTYPE type, void* detail) {
        switch (type) {
        case MD_BLOCK_UL: number_ = 0; break;
        case MD_BLOCK_OL: number_ = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start; break;
        case MD_BLOCK_LI: blocks_.push_back({.kind = block_kind::item, .number = number_}); break;
        case MD_BLOCK_P:
            if (blocks_.empty() || blocks_.back().kind != block_kind::item || !blocks_.back().text.empty())
                blocks_.push_back({.kind = block_kind::paragraph});
            break;
        case MD_BLOCK_CODE: blocks_.push_back({.kind = block_kind::code}); break;
        case MD_BLOCK_TABLE: blocks_.push_back({.kind = block_kind::table}); break;
        case MD_BLOCK_TR: blocks_.back().rows.emplace_back(); break;
        case MD_BLOCK_TH:
        case MD_BLOCK_TD: blocks_.back().rows.back().emplace_back(); break;
        default: break;
        }
    }
    void leave(MD_BLOCKTYPE type) {
        if (type == MD_BLOCK_LI && number_ != 0) ++number_;
    }
    void enter(MD_SPANTYPE type, void* detail) {
        switch (type) {
        case MD_SPAN_CODE: put(style_.code_start); break;
        case MD_SPAN_STRONG: put(style_.strong_start); break;
        case MD_SPAN_EM: put(style_.emphasis_start); break;
        case MD_SPAN_A: {
            const MD_ATTRIBUTE& href = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
            target_.assign(href.text, href.size);
            start_of_link_ = here().size();
            break;
        }
        default: break;
        }
    }
    void leave(MD_SPANTYPE type) {
        switch (type) {
        case MD_SPAN_CODE: put(style_.code_end); break;
        case MD_SPAN_STRONG: put(style_.strong_end); break;
        case MD_SPAN_EM: put(style_.emphasis_end); break;
        case MD_SPAN_A: put(style_.link_end(target_, here(), start_of_link_)); break;
        default: break;
        }
    }
    void add(MD_TEXTTYPE type, std::string_view text) {
        if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) put(" ");
        else if (blocks_.back().kind == block_kind::code) put(text);
        else put(style_.plain(text));
    }
    std::string& here() {
        block& last = blocks_.back();
        return last.kind == block_kind::table ? last.rows.back().back() : last.text;
    }
    void put(std::string_view text) { here() += text; }

    const inline_style& style_;
    std::vector<block> blocks_;
    unsigned number_ = 0;
    std::string target_; // target of the current link
    std::size_t start_of_link_ = 0;
};

/// Converts `../../howto/x.md`, relative to docs/reference/ibtool/, to `docs/howto/x.md`; empty for the page of a command.
std::string page_of(const std::string& target) {
    const std::string page = target.substr(0, target.find('#'));
    if (page.starts_with("../../../")) return page.substr(9);
    if (page.starts_with("../../")) return "docs/" + page.substr(6);
    if (page.starts_with("../")) return "docs/reference/" + page.substr(3);
    return {};
}

// ---- plain text ------------------------------------------------------------------------------------------------------

std::string as_it_is(std::string_view text) { return std::string(text); }

std::string link_end_in_text(const std::string& target, std::string&, std::size_t) {
    if (target.find("://") != target.npos) return fmt::format(" ({})", target);
    const std::string page = page_of(target);
    return page.empty() ? page : fmt::format(" ({})", page);
}

constexpr inline_style text_style{as_it_is, {}, {}, {}, {}, {}, {}, link_end_in_text};

/// Returns the lines of a paragraph.
std::vector<std::string> lines_of(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        std::string& line = lines.back();
        if (line.empty()) line = word;
        else if (columns_of(line) + 1 + columns_of(word) <= columns) line.append(" ").append(word);
        else lines.emplace_back(word);
    }
    return lines;
}

/// Returns the width that remains after `used` of `columns`, at least 20; for 0 columns the width is unlimited.
std::size_t width_of(std::size_t columns, std::size_t used) {
    constexpr std::size_t least = 20;
    if (columns == 0) return std::string_view::npos;
    return columns > used + least ? columns - used : least;
}

void add_paragraph(std::string& out, std::string_view first, std::size_t indent, std::string_view text,
                   std::size_t columns) {
    const std::size_t used = indent + first.size();
    bool is_first = true;
    for (const std::string& line : lines_of(text, width_of(columns, used))) {
        out.append(indent, ' ');
        if (is_first) out.append(first);
        else out.append(first.size(), ' ');
        out.append(line).append("\n");
        is_first = false;
    }
}

void add_code(std::string& out, std::string_view code, std::size_t indent) {
    while (!code.empty()) {
        const std::size_t end = std::min(code.find('\n'), code.size());
        if (end > 0) out.append(indent + 2, ' ').append(code.substr(0, end));
        out += '\n';
        code.remove_prefix(std::min(end + 1, code.size()));
    }
}

/// Returns the widths of a table's columns: those of the widest cells; the last column gets the remaining width.
std::vector<std::size_t> widths_of(const block& table, std::size_t columns) {
    std::vector<std::size_t> widths(table.rows.front().size());
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
    constexpr std::size_t gap = 2, least = 16;
    std::size_t total = gap * (widths.size() - 1);
    for (const std::size_t w : widths) total += w;
    while (total > columns) {
        const auto widest = std::ranges::max_element(widths);
        if (*widest <= least) break;
        const std::size_t cut = std::min(total - columns, *widest - least);
        const std::size_t step = std::min<std::size_t>(cut, 4);
        *widest -= step;
        total -= step;
    }
    return widths;
}

void add_table(std::string& out, const block& table, std::size_t indent, std::size_t columns) {
    const std::vector<std::size_t> widths = widths_of(table, width_of(columns, indent));
    for (const auto& row : table.rows) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.push_back(lines_of(row[i], widths[i]));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t y = 0; y < height; ++y) {
            std::string line(indent, ' ');
            for (std::size_t i = 0; i < cells.size(); ++i) {
                const std::string cell = y < cells[i].size() ? cells[i][y] : std::string();
                line += padded(cell, widths[i]) + "  ";
            }
            line.erase(line.find_last_not_of(' ') + 1);
            out.append(line).append("\n");
        }
    }
}

// ---- groff -----------------------------------------------------------------------------------------------------------

/// Decodes the non-ASCII UTF-8 character at `i`, and moves `i` to its last byte.
char32_t decode_character(std::string_view text, std::size_t& i) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    char32_t code = first & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length && i + 1 < text.size(); ++k)
        code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fU);
    return code;
}

/// Escapes text without checking for the start of a line.
std::string escaped_for_man(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else if (c < 0x80) out += text[i];
        else out += fmt::format("\\[u{:04X}]", static_cast<unsigned>(decode_character(text, i)));
    }
    return out;
}

std::string link_end_in_man(const std::string& target, std::string& text, std::size_t start) {
    static const std::regex command(R"(([\w-]+)\.md(#.*)?)");
    std::smatch found;
    if (std::regex_match(target, found, command)) {
        const std::string name = found[1] == "ibtool" ? "ibtool" : "ibtool-" + found[1].str();
        text.replace(start, text.npos, fmt::format("\\fB{}\\fR(1)", man_escaped(name)));
        return {};
    }
    const std::string page = target.find("://") != target.npos ? target : page_of(target);
    return page.empty() ? page : fmt::format(" ({})", man_escaped(page));
}

constexpr inline_style man_style{escaped_for_man, "\\fB", "\\fR", "\\fB", "\\fR", "\\fI", "\\fR", link_end_in_man};

/// Returns lines of the usual length in sources of man pages, none of which starts like a request.
std::string man_lines(std::string_view text) {
    constexpr std::size_t longest = 78; // mandoc accepts at most 80
    std::string out;
    for (std::string& line : lines_of(text, longest)) {
        if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
        out.append(line).append("\n");
    }
    return out;
}

std::string man_code(std::string_view code) {
    std::string out = ".RS 4\n.nf\n";
    while (!code.empty()) {
        const std::size_t end = std::min(code.find('\n'), code.size());
        const std::string line = man_escaped(code.substr(0, end));
        out.append(line.empty() ? "\\&" : line).append("\n");
        code.remove_prefix(std::min(end + 1, code.size()));
    }
    return out + ".fi\n.RE\n";
}

std::string man_table(const block& table) {
    constexpr std::size_t longest_word = 24; // longer cells become filled blocks
    std::string out = ".TS\nnokeep;\n";
    const std::size_t columns = table.rows.front().size();
    for (std::size_t i = 0; i + 1 < columns; ++i) out += "l ";
    out += "lx.\n";
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) out += '\t';
            const bool is_block = i + 1 == row.size() || row[i].size() > longest_word;
            out += is_block ? fmt::format("T{{\n{}T}}", man_lines(row[i])) : row[i];
        }
        out += '\n';
    }
    return out + ".TE\n";
}

} // namespace

std::string man_escaped(std::string_view text) {
    const bool is_request = text.starts_with('.') || text.starts_with('\'');
    return (is_request ? "\\&" : "") + escaped_for_man(text);
}

std::string filled(std::string_view text, std::size_t indent, std::size_t columns) {
    std::string out;
    add_paragraph(out, {}, indent, text, columns);
    return out;
}

std::string markdown_as_text(std::string_view markdown, std::size_t indent, std::size_t columns) {
    std::string out;
    block_kind last = block_kind::paragraph;
    for (const block& b : block_reader(text_style).read(markdown)) {
        const bool goes_on = b.kind == block_kind::item && last == block_kind::item;
        if (!out.empty() && !goes_on) out += '\n';
        switch (b.kind) {
        case block_kind::paragraph: add_paragraph(out, {}, indent, b.text, columns); break;
        case block_kind::item:
            add_paragraph(out, b.number ? fmt::format("{}. ", b.number) : "- ", indent, b.text, columns);
            break;
        case block_kind::code: add_code(out, b.text, indent); break;
        case block_kind::table: add_table(out, b, indent, columns); break;
        }
        last = b.kind;
    }
    return out;
}

std::string markdown_as_man(std::string_view markdown, bool starts_paragraph) {
    std::string out;
    for (const block& b : block_reader(man_style).read(markdown)) {
        if (b.kind != block_kind::item && (!out.empty() || starts_paragraph)) out += ".PP\n";
        switch (b.kind) {
        case block_kind::paragraph: out += man_lines(b.text); break;
        case block_kind::item:
            out += b.number ? fmt::format(".IP {}. 4\n", b.number) : ".IP \\(bu 2\n";
            out += man_lines(b.text);
            break;
        case block_kind::code: out += man_code(b.text); break;
        case block_kind::table: out += man_table(b); break;
        }
    }
    return out;
}

} // namespace ibtool
