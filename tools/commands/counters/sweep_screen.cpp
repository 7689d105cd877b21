// SPDX-License-Identifier: MIT
// sweep_screen.cpp - handles keys, and formats lines for the size of the terminal.
#include "commands/counters/sweep_screen.hpp"

#include "text/sweep_table.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ibtool {
namespace {

using comad::counters::counter;
using comad::counters::row_order;

/// A key that selects an order.
struct sort_key {
    char key;
    row_order order;
    counter by;
};
constexpr sort_key sort_keys[] = {
    {'x', row_order::by_counter, counter::portXmitData},
    {'r', row_order::by_counter, counter::portRcvData},
    {'X', row_order::by_counter, counter::portXmitPkts},
    {'R', row_order::by_counter, counter::portRcvPkts},
    {'w', row_order::by_counter, counter::portXmitWait},
    {'u', row_order::by_utilization, {}},
    {'c', row_order::by_congestion, {}},
    {'e', row_order::by_errors, {}},
    {'n', row_order::of_subnet, {}},
};

/// Describes the order of the rows.
std::string format_order(const comad::counters::row_selection& c) {
    switch (c.order) {
    case row_order::by_counter: return std::string(name_of(c.by));
    case row_order::by_errors: return "errors";
    case row_order::by_utilization: return "utilization";
    case row_order::by_congestion: return "congestion";
    case row_order::of_subnet: break;
    }
    return "node";
}

/// Removes the last UTF-8 character, with all of its bytes.
void take_back(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
}

} // namespace

comad::counters::sweep_view sweep_screen::kept_view::view() const {
    return {of.subnet, of.names, now, before ? &*before : nullptr, of.number, of.seconds, of.unix_time};
}

void sweep_screen::take(const comad::counters::sweep_view& v) {
    last_.reset();
    last_.emplace(kept_view{v, v.now, {}});
    if (v.before) last_->before = *v.before;
}

bool sweep_screen::press(char key) {
    constexpr char escape = 27, backspace = 8, erase = 127, end_of_file = 4;
    note_.clear();
    if (is_typing_) {
        if (key == '\n' || key == '\r') is_typing_ = false;
        else if (key == escape) {
            is_typing_ = false;
            selection_.part_of_name.clear();
        } else if (key == erase || key == backspace) take_back(selection_.part_of_name);
        else if (static_cast<unsigned char>(key) >= ' ') selection_.part_of_name += key;
        return false;
    }
    if (key == 'q' || key == 'Q' || key == end_of_file) return true;
    if (key == escape) selection_.part_of_name.clear();
    is_typing_ = key == '/';
    for (const sort_key& k : sort_keys) {
        if (k.key != key) continue;
        selection_.order = k.order;
        selection_.by = k.by;
    }
    return false;
}

std::string sweep_screen::footer() const {
    if (is_typing_) return fmt::format("only names with: {}_", comad::iba::escaped(selection_.part_of_name));
    if (!note_.empty()) return note_;
    std::string letters;
    for (const sort_key& k : sort_keys) letters += k.key;
    const std::string filter = selection_.part_of_name.empty()
                                   ? ""
                                   : fmt::format(" ({}; Esc: all)", comad::iba::escaped(selection_.part_of_name));
    return fmt::format("q quit, / filter{}, {} sort: by {}", filter, letters, format_order(selection_));
}

std::string sweep_screen::text(terminal_size size) const {
    constexpr std::size_t usual_rows = 24, usual_columns = 80, head_and_footer = 3;
    if (size.rows == 0) size.rows = usual_rows;
    if (size.columns == 0) size.columns = usual_columns;
    std::string lines;
    if (last_) {
        comad::counters::row_selection fitting = selection_;
        const std::size_t room = std::max(size.rows, head_and_footer + 1) - head_and_footer;
        fitting.top = most_rows_ == 0 ? room : std::min(room, most_rows_);
        lines = sweep_table(last_->view(), fitting, size.columns);
    }
    // Prints over the previous screen: clears the rest of each line, and prints no line break after the last line.
    std::string text = "\033[H";
    std::string_view rest = lines;
    for (std::size_t row = 1; row < size.rows && !rest.empty(); ++row) {
        const std::size_t end = rest.find('\n');
        text.append(cut_to(rest.substr(0, end), size.columns)).append("\033[K\r\n");
        rest.remove_prefix(end + 1);
    }
    return text.append(cut_to(footer(), size.columns)).append("\033[J");
}

} // namespace ibtool
