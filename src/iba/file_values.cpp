// SPDX-License-Identifier: MIT
// file_values.cpp - parses TOML and JSON into values with lines.
#include "file_values.hpp"

#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/toml_bounds.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <toml++/toml.h>

namespace comad::iba::detail {
namespace {

[[noreturn]] void fail_at(const std::string& name, unsigned line, std::string_view what) {
    throw std::runtime_error(fmt::format("{}:{}: {}", escaped(name), line, what));
}

// ---- TOML ----

file_value with_line(const toml::node& node) {
    file_value v;
    v.line = node.source().begin.line;
    if (const auto* table = node.as_table()) {
        file_value::table members;
        for (const auto& [key, member] : *table) members.push_back({std::string(key.str()), with_line(member)});
        v.value = std::move(members);
    } else if (const auto* array = node.as_array()) {
        file_value::list elements;
        for (const toml::node& element : *array) elements.push_back(with_line(element));
        v.value = std::move(elements);
    } else if (const auto* text = node.as_string()) v.value = text->get();
    else if (const auto* number = node.as_integer()) v.value = number->get();
    else if (const auto* real = node.as_floating_point()) v.value = real->get();
    else if (const auto* truth = node.as_boolean()) v.value = truth->get();
    return v;
}

file_value parse_toml(std::string_view text, const std::string& name) {
    try {
        return with_line(toml::parse(text, name));
    } catch (const toml::parse_error& e) {
        fail_at(name, e.source().begin.line, fmt::format("{}; the file must be TOML or JSON", e.description()));
    }
}

// ---- JSON ----

/// An iterator over a text that counts the lines that the parser has read.
class counting_iterator {
public:
    using difference_type = std::ptrdiff_t;
    using value_type = char;
    using pointer = const char*;
    using reference = const char&;
    using iterator_category = std::input_iterator_tag;

    counting_iterator() = default;
    counting_iterator(const char* at, unsigned* line) : at_(at), line_(line) {}
    reference operator*() const { return *at_; }
    counting_iterator& operator++() {
        if (*at_ == '\n') ++*line_;
        ++at_;
        return *this;
    }
    counting_iterator operator++(int) {
        const counting_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const counting_iterator& a, const counting_iterator& b) { return a.at_ == b.at_; }

private:
    const char* at_ = nullptr;
    unsigned* line_ = nullptr;
};

/// Builds values from the events of the parser.
class json_values final : public nlohmann::json_sax<nlohmann::json> {
public:
    json_values(const std::string& name, const unsigned& line) : name_(name), line_(line) {}

    file_value take() { return std::move(root_); }

    bool null() override { return add({}); }
    bool boolean(bool b) override { return add(b); }
    bool number_integer(number_integer_t n) override { return add(std::int64_t{n}); }
    bool number_unsigned(number_unsigned_t n) override {
        constexpr auto most = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
        if (n > most) return add(static_cast<double>(n));
        return add(static_cast<std::int64_t>(n));
    }
    bool number_float(number_float_t n, const string_t&) override { return add(double{n}); }
    bool string(string_t& text) override { return add(std::move(text)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(file_value::table{}); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(file_value::list{}); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        for (const file_member& m : std::get<file_value::table>(open_.back()->value))
            if (m.name == name) fail_at(name_, line_, fmt::format("{} is given twice", as_given(name)));
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string& last_token, const nlohmann::detail::exception&) override {
        fail_at(name_, line_, fmt::format("invalid JSON at {}", as_given(last_token)));
    }

private:
    template <class T> bool add(T&& value) {
        place().value = std::forward<T>(value);
        return true;
    }
    bool add(std::monostate) {
        place();
        return true;
    }
    template <class T> bool open(T value) {
        constexpr std::size_t deepest = 64;
        if (open_.size() == deepest)
            fail_at(name_, line_, fmt::format("values are nested too deeply; the limit is {} levels", deepest));
        file_value& opened = place();
        opened.value = std::move(value);
        open_.push_back(&opened);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    // Only the innermost open value grows, so that pointers to the open ones stay valid.
    file_value& place() {
        file_value* where = &root_;
        if (!open_.empty()) {
            if (auto* list = std::get_if<file_value::list>(&open_.back()->value)) where = &list->emplace_back();
            else where = &std::get<file_value::table>(open_.back()->value).emplace_back(file_member{key_, {}}).value;
        }
        where->line = line_;
        return *where;
    }

    const std::string& name_;
    const unsigned& line_;
    file_value root_;
    std::vector<file_value*> open_;
    std::string key_;
};

file_value parse_json(std::string_view text, const std::string& name) {
    unsigned line = 1;
    json_values values(name, line);
    const counting_iterator begin(text.data(), &line), end(text.data() + text.size(), &line);
    if (!nlohmann::json::sax_parse(begin, end, &values)) fail_at(name, line, "invalid JSON");
    return values.take();
}

} // namespace

file_value parse_file_values(std::string_view text, const std::string& name) {
    require_toml_bounds(text, name, "the structures file");
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '{' ? parse_json(text, name) : parse_toml(text, name);
}

} // namespace comad::iba::detail
