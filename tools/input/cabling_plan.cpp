// SPDX-License-Identifier: MIT
// cabling_plan.cpp - lines into fields, fields into cables.
#include "input/cabling_plan.hpp"

#include "input/words.hpp"
#include <comad/iba/text.hpp>
#include <comad/iba/text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <stdexcept>
#include <utility>

namespace ibtool {

namespace discovery = comad::discovery;
namespace iba = comad::iba;

namespace {

constexpr std::size_t fields_of_cable = 4;

class plan_reader {
public:
    explicit plan_reader(std::string_view file) : file_(file) {}

    std::vector<discovery::planned_cable> read(std::istream& in) {
        std::string line;
        while (std::getline(in, line)) {
            ++number_;
            if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3); // a byte order mark
            if (line.ends_with('\r')) line.pop_back();
            if (line.size() > longest_plan_line) fail(fmt::format("more than {} bytes", longest_plan_line));
            if (const std::string text = trimmed(line); text.empty() || text.front() == '#') continue;
            take(fields_in(line));
        }
        if (cables_.empty()) throw std::runtime_error(fmt::format("there is no cable in {}", iba::as_given(file_)));
        return std::move(cables_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", iba::escaped(file_), number_, what));
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
        if (field.find('"') != field.npos) fail("a quote inside of a field that does not begin with one");
        line.remove_prefix(field.size());
        return trimmed(field);
    }

    /// Two quotes are one.
    std::string quoted_field(std::string_view& line) const {
        std::string field;
        for (line.remove_prefix(1);;) {
            const std::size_t end = line.find('"');
            if (end == line.npos) fail("a quote is not closed");
            field += line.substr(0, end);
            line.remove_prefix(end + 1);
            if (!line.starts_with('"')) break;
            field += '"';
            line.remove_prefix(1);
        }
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.empty() && line.front() != ',')
            fail("text behind a quoted field; a quote inside of it is written twice");
        return field;
    }

    void take(const std::vector<std::string>& fields) {
        const bool is_first = std::exchange(is_first_, false);
        if (fields.size() < fields_of_cable) fail("expected node,port,node,port");
        if (is_first && begins_with_letter(fields[1]) && begins_with_letter(fields[3])) return; // names of columns
        discovery::planned_cable c{{fields[0], port_in(fields[1])}, {fields[2], port_in(fields[3])}, number_};
        if (c.a.node.empty() || c.b.node.empty()) fail("a node has no name");
        if (c.a.node == c.b.node && c.a.port == c.b.port) fail("both ends are the same port");
        if (cables_.size() == most_planned_cables) fail(fmt::format("more than {} cables", most_planned_cables));
        cables_.push_back(std::move(c));
    }

    static bool begins_with_letter(const std::string& text) {
        return !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
    }

    comad::u8 port_in(const std::string& text) const {
        comad::u8 port = 0;
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), port);
        if (wrong != std::errc{} || end != text.data() + text.size() || port == 0 || port == 255)
            fail(fmt::format("a port must be a number from 1 to 254, not {}", iba::as_given(text)));
        return port;
    }

    const std::string_view file_;
    unsigned number_ = 0;
    bool is_first_ = true;
    std::vector<discovery::planned_cable> cables_;
};

} // namespace

std::vector<discovery::planned_cable> read_cabling_plan(std::istream& in, std::string_view name) {
    return plan_reader(name).read(in);
}

std::vector<discovery::planned_cable> read_cabling_plan(const std::string& file) {
    std::istringstream in = iba::open_text_file(file);
    return read_cabling_plan(in, file);
}

} // namespace ibtool
