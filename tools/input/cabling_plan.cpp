// SPDX-License-Identifier: MIT
// cabling_plan.cpp - splits the lines of a cabling plan into fields, and converts fields to cables.
#include "input/cabling_plan.hpp"

#include "comad.hpp"
#include "input/ibutils_plan.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ibtool {

namespace {

/// The columns of the common NDT form (the NDT plugin of NVIDIA's UFM), in the order node, port, node, port.
constexpr std::array<std::string_view, 4> column_names = {"StartDevice", "StartPort", "EndDevice", "EndPort"};

/// Removes a prefix of `text`, ignoring case.
bool skip_word(std::string_view& text, std::string_view word) {
    if (to_lower(text.substr(0, word.size())) != word) return false;
    text.remove_prefix(word.size());
    return true;
}

void skip_any(std::string_view& text, std::string_view any_of) {
    text.remove_prefix(std::min(text.find_first_not_of(any_of), text.size()));
}

/// Parses the digits at the start of `text`; 0: there are none, or the number does not fit into a u8.
comad::u8 take_number(std::string_view& text) {
    comad::u8 number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc{}) return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// Returns whether all of `text`, without its digits and punctuation, consists of words that name columns: `Node A`, `Source_Port`,
/// `switch`.
bool is_made_of_column_words(std::string_view text) {
    static constexpr std::string_view words[] = {
        "port",      "node",        "device",      "switch", "host",  "server", "system", "name",   "number",
        "num",       "source",      "start",       "src",    "end",   "dst",    "dest",   "target", "neighbor",
        "neighbour", "destination", "from",        "to",     "local", "remote", "peer",   "side",   "no",
        "nr",        "guid",        "description", "a",      "b",     "z",      "of",     "fields"};
    if (text.empty()) return true;
    return std::ranges::any_of(words, [&](std::string_view word) {
        return text.starts_with(word) && is_made_of_column_words(text.substr(word.size()));
    });
}

std::string letters_of(std::string_view field) {
    std::string letters = to_lower(field);
    std::erase_if(letters, [](char c) { return c < 'a' || c > 'z'; });
    return letters;
}

bool is_column_name(std::string_view field) {
    constexpr std::size_t longest = 40;
    const std::string letters = letters_of(field);
    return !letters.empty() && letters.size() <= longest && is_made_of_column_words(letters);
}

bool is_port_column(std::string_view field) {
    return is_column_name(field) && letters_of(field).find("port") != std::string::npos &&
           field.find_first_of("0123456789") == field.npos;
}

/// Returns `#Fields:StartDevice` as `startdevice`.
std::string column_key(std::string_view field) {
    skip_any(field, "#\" \t");
    skip_word(field, "fields:");
    std::string key = to_lower(field);
    std::erase_if(key, [](char c) { return c == ' ' || c == '\t' || c == '_' || c == '-' || c == '"'; });
    return key;
}

/// Reads the lines of a cabling plan.
class plan_reader {
public:
    explicit plan_reader(std::string_view file) : file_(file) {}

    std::vector<discovery::planned_cable> read(std::istream& in) {
        std::string line;
        while (std::getline(in, line)) {
            ++number_;
            if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3); // a byte order mark
            if (line.ends_with('\r')) line.pop_back();
            if (line.size() > longest_plan_line)
                fail(fmt::format("the line is longer than {} bytes", longest_plan_line));
            if (const std::string text = trimmed(line); text.empty() || take_names(text) || text[0] == '#') continue;
            take(fields_in(line));
        }
        if (cables_.empty())
            throw std::runtime_error(fmt::format(
                "no cables found in {}; expected lines of the form node,port,node,port", iba::as_given(file_)));
        return std::move(cables_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", iba::escaped(file_), number_, what));
    }

    /// Returns true for a line with the column names of the NDT form. They may come in any order, and again in files that were joined.
    bool take_names(const std::string& line) {
        if (to_lower(line).find("device") == std::string::npos) return false;
        const std::vector<std::string> fields = split(line, ',');
        std::array<std::size_t, column_names.size()> columns{};
        std::size_t count = 0;
        std::string_view missing;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto found = std::ranges::find(fields, to_lower(column_names[i]), column_key);
            columns[i] = static_cast<std::size_t>(found - fields.begin());
            if (found != fields.end()) ++count;
            else missing = column_names[i];
        }
        if (count < 2) return false; // a single name may be a word in a comment
        if (count < columns.size()) fail(fmt::format("the column {} is missing", missing));
        columns_ = columns;
        are_named_ = true;
        is_first_ = false;
        return true;
    }

    std::vector<std::string> fields_in(std::string_view line) const {
        std::vector<std::string> fields;
        for (bool is_more = true; is_more;) {
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            fields.push_back(line.starts_with('"') ? quoted_field(line) : plain_field(line));
            is_more = line.starts_with(',');
            if (is_more) line.remove_prefix(1);
        }
        return fields;
    }

    std::string plain_field(std::string_view& line) const {
        const std::string_view field = line.substr(0, line.find(','));
        if (field.find('"') != field.npos) fail("quote inside a field that is not quoted; quote the whole field");
        line.remove_prefix(field.size());
        return trimmed(field);
    }

    /// Parses a quoted field, in which a doubled quote stands for one quote.
    std::string quoted_field(std::string_view& line) const {
        std::string field;
        for (line.remove_prefix(1);;) {
            const std::size_t end = line.find('"');
            if (end == line.npos) fail("the closing quote is missing");
            field += line.substr(0, end);
            line.remove_prefix(end + 1);
            if (!line.starts_with('"')) break;
            field += '"';
            line.remove_prefix(1);
        }
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.empty() && line.front() != ',')
            fail("unexpected text after the closing quote of a field; write two quotes for a quote inside a field");
        return field;
    }

    void take(const std::vector<std::string>& fields) {
        const bool is_first = std::exchange(is_first_, false);
        if (fields.size() <= std::ranges::max(columns_))
            fail(are_named_
                     ? fmt::format("expected at least {} columns, as in the heading", std::ranges::max(columns_) + 1)
                     : "expected node,port,node,port");
        const auto& [a, a_port, b, b_port] = columns_;
        if (is_first && is_column_name(fields[a]) && is_port_column(fields[a_port]) && is_column_name(fields[b]) &&
            is_port_column(fields[b_port]))
            return;
        if (are_named_ && !fields[a].empty() && fields[b].empty() && fields[b_port].empty()) return; // without a cable
        discovery::planned_cable c{end_of(fields[a], fields[a_port]), end_of(fields[b], fields[b_port]), number_};
        if (c.a.node.empty() || c.b.node.empty()) fail("the name of a node is empty");
        if (c.a == c.b) fail("the cable connects a port to itself");
        if (cables_.size() == most_planned_cables)
            fail(fmt::format("too many cables in the plan; the maximum is {}", most_planned_cables));
        cables_.push_back(std::move(c));
    }

    /// Parses a number, `Port 21`, `Blade 16_Port 2/20`, or the name of an adapter.
    discovery::planned_end end_of(const std::string& node, const std::string& port) const {
        discovery::planned_end end{node, 0};
        std::string_view rest = port;
        const bool is_on_blade = skip_word(rest, "blade") && to_lower(rest).find("port") != std::string::npos;
        if (is_on_blade) {
            skip_any(rest, " ");
            end.blade = take_number(rest);
            skip_any(rest, "_ ");
            bool is_right = skip_word(rest, "port");
            skip_any(rest, " ");
            end.chip = take_number(rest);
            is_right = is_right && skip_word(rest, "/") && end.blade != 0 && end.chip != 0;
            end.port = is_right ? take_number(rest) : comad::u8{0};
        } else {
            rest = port;
            skip_word(rest, "ib ");
            const bool is_port = skip_word(rest, "port") && (rest.empty() || !is_letter(rest[0]));
            if (!is_port && !port.empty() && is_letter(port[0])) {
                end.words = port;
                return end;
            }
            if (is_port) skip_any(rest, " _");
            end.port = take_number(rest);
        }
        if (end.port == 0 || end.port == 255 || !rest.empty())
            fail(fmt::format(
                "a port must be a number from 1 to 254, 'Port 21', 'Blade 16_Port 2/20' or an adapter name, not {}",
                iba::as_given(port)));
        if (!std::ranges::all_of(port, is_digit)) end.words = port;
        return end;
    }

    static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    const std::string_view file_;
    unsigned number_ = 0;
    bool is_first_ = true, are_named_ = false;
    std::array<std::size_t, column_names.size()> columns_{0, 1, 2, 3};
    std::vector<discovery::planned_cable> cables_;
};

} // namespace

std::vector<discovery::planned_cable> read_cabling_plan(std::istream& in, std::string_view name) {
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (is_ibutils_plan(text)) return read_ibutils_plan(text, name);
    std::istringstream lines(text);
    return plan_reader(name).read(lines);
}

std::vector<discovery::planned_cable> read_cabling_plan(const std::string& file) {
    std::istringstream in = iba::open_text_file(file);
    return read_cabling_plan(in, file);
}

} // namespace ibtool
