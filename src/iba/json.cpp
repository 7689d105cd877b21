// SPDX-License-Identifier: MIT
// json.cpp - the only file that instantiates nlohmann's serializer of ordered_json. Any other file that used it would
// compile it again.
#include <comad/iba/detail/json.hpp>
#include <comad/iba/detail/text.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace comad::iba::detail {
namespace {

using nlohmann::ordered_json;

constexpr int on_one_line = -1, indented = 1;

/// Converts each text in a value by valid_utf8().
void make_texts_valid(ordered_json& value) {
    if (value.is_string()) value = valid_utf8(value.get_ref<const std::string&>());
    if (!value.is_structured()) return; // nlohmann's iterators visit a number, too
    for (ordered_json& element : value) make_texts_valid(element);
}

std::string serialized(const ordered_json& value, int indent) {
    constexpr bool ascii_only = true;
    using on_error = ordered_json::error_handler_t;
    try {
        return value.dump(indent, ' ', ascii_only, on_error::strict);
    } catch (const ordered_json::type_error&) { // a text is not UTF-8, which is rare
        ordered_json valid = value;
        make_texts_valid(valid);
        return valid.dump(indent, ' ', ascii_only, on_error::replace);
    }
}

} // namespace

ordered_json json_string(std::string_view raw) { return std::string(raw); }

ordered_json json_number(double number) {
    constexpr double limit = 9007199254740992; // 2^53: smaller whole numbers are exact in a double
    if (std::abs(number) < limit && std::trunc(number) == number) return static_cast<long long>(number);
    return number;
}

ordered_json json_number(double number, unsigned decimals) {
    const double unit = std::pow(10.0, decimals);
    return json_number(std::round(number * unit) / unit);
}

std::string json_compact(const ordered_json& value) { return serialized(value, on_one_line); }
std::string json_line(const ordered_json& value) { return json_compact(value) + '\n'; }
std::string json_document(const ordered_json& value) { return serialized(value, indented) + '\n'; }

void add_json_list(std::string& object, std::string_view name, std::size_t size,
                   const std::function<ordered_json(std::size_t)>& element) {
    const bool is_document = object.ends_with("\n}\n");
    const std::string_view new_element = is_document ? "\n  " : "", end = is_document ? "\n}\n" : "}";
    object.resize(object.size() - end.size());
    object += is_document ? ",\n " : ",";
    object += json_compact(name) + (is_document ? ": [" : ":[");
    for (std::size_t i = 0; i < size; ++i) {
        if (i > 0) object += ',';
        object += new_element;
        for (const char c : serialized(element(i), is_document ? indented : on_one_line)) {
            if (c == '\n') object += new_element;
            else object += c;
        }
    }
    if (is_document && size > 0) object += "\n ";
    object += ']';
    object += end;
}

} // namespace comad::iba::detail
