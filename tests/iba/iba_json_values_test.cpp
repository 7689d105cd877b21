// SPDX-License-Identifier: MIT
// iba_json_values_test.cpp - the text of JSON values, and lists that are written element by element.
#include "support/catch.hpp"
#include <comad/iba/detail/json.hpp>

#include <nlohmann/json.hpp>

#include <limits>
#include <string>

namespace iba_json_values_test {

using namespace comad::iba::detail;
using nlohmann::ordered_json;

TEST_CASE("JSON numbers have a fraction only if the fraction is not zero") {
    const auto written = [](double number) { return json_compact(json_number(number)); };
    CHECK(written(5.0) == "5");
    CHECK(written(-3.0) == "-3");
    CHECK(written(0.0) == "0");
    CHECK(written(6.5) == "6.5");
    CHECK(written(0.002345) == "0.002345");
    CHECK(written(1e-9) == "1e-09");
    CHECK(written(4503599627370497.0) == "4503599627370497");
    CHECK(written(1e300) == "1e+300");
    CHECK(written(std::numeric_limits<double>::infinity()) == "null");
    CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("JSON numbers are rounded to the given number of decimals") {
    CHECK(json_compact(json_number(1.23456, 3)) == "1.235");
    CHECK(json_compact(json_number(1764138373.1239, 3)) == "1764138373.124");
    CHECK(json_compact(json_number(2.0004, 3)) == "2");
    CHECK(json_compact(json_number(-0.04, 1)) == "0");
}

TEST_CASE("a JSON list that is added element by element equals the serialized value") {
    const auto element = [](std::size_t i) { return ordered_json{{"n", i}, {"list", {1, {{"a", "b\n"}}}}}; };
    for (const std::size_t size : {0u, 1u, 3u}) {
        CAPTURE(size);
        ordered_json whole{{"first", 1}};
        std::string compact = json_compact(whole), document = json_document(whole);
        for (const char* name : {"list", "other \"list\""}) {
            whole[name] = ordered_json::array();
            for (std::size_t i = 0; i < size; ++i) whole[name].push_back(element(i));
            add_json_list(compact, name, size, element);
            add_json_list(document, name, size, element);
            CHECK(compact == json_compact(whole));
            CHECK(document == json_document(whole));
        }
    }
}

TEST_CASE("JSON of a byte that is not UTF-8 has the character with the same number") {
    const ordered_json value("a\xff");
    CHECK(ordered_json::parse(json_compact(value)) == "a\u00ff");
}

} // namespace iba_json_values_test
