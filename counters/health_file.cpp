// SPDX-License-Identifier: MIT
// health_file.cpp - reads health rules from a TOML file. Everything in the file that is not a rule is an error with its line.
#include <comad/counters/health.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/detail/toml_bounds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <toml++/toml.h>

namespace comad::counters {
namespace {

/// Reads the rules of one file.
class reader {
public:
    reader(const std::string& file, const health_rules& otherwise) : file_(file), rules_(otherwise) {}

    health_rules read() {
        const std::string text = iba::open_text_file(file_).str();
        iba::require_toml_bounds(text, file_, "the rules file");
        toml::table all;
        try {
            all = toml::parse(text, file_);
        } catch (const toml::parse_error& e) {
            fail(e.source(), fmt::format("{}; the file must be TOML", e.description()));
        }
        for (const auto& [key, value] : all) read_rule(key, value);
        return rules_;
    }

private:
    void read_rule(const toml::key& key, const toml::node& value) {
        if (key == "width") rules_.width = severity_of(key, value);
        else if (key == "speed") rules_.speed = severity_of(key, value);
        else if (key == "pegged") rules_.pegged = severity_of(key, value);
        else if (key == "bit_errors") read_limits(rules_.bit_errors, key, value);
        else if (key == "raw_bit_errors") read_limits(rules_.raw_bit_errors, key, value);
        else if (key == "utilization") read_limits(rules_.utilization, key, value);
        else if (key == "congestion") read_limits(rules_.congestion, key, value);
        else if (key == "counters") {
            for (const auto& [name, growth] : table_of(key, value)) read_growth(name, growth);
        } else {
            fail(key.source(),
                 unknown(key, "the rules file",
                         "width, speed, pegged, bit_errors, raw_bit_errors, utilization, congestion or counters"));
        }
    }

    void read_limits(limits& most, const toml::key& name, const toml::node& value) {
        most = {};
        for (const auto& [key, limit] : table_of(name.str(), value))
            if (!read_limit(most, key, limit))
                fail(key.source(), unknown(key, name.str(), "warning, error or critical"));
    }

    void read_growth(const toml::key& name, const toml::node& value) {
        growth_rule growth;
        for (const auto& [key, part] : table_of(name.str(), value)) {
            if (key == "per") growth.per = duration_of(key, part);
            else if (!read_limit(growth.most, key, part))
                fail(key.source(), unknown(key, name.str(), "per, warning, error or critical"));
        }
        rules_.of(counter_of(name)) = growth;
    }

    static std::string unknown(const toml::key& key, std::string_view table, std::string_view known) {
        const std::string where = iba::escaped(table);
        return fmt::format("unknown key {} in {}; expected {}", iba::as_given(key.str()), where, known);
    }

    counter counter_of(const toml::key& name) const {
        if (const auto named = counter_named(name.str())) return *named;
        fail(name.source(),
             fmt::format("unknown counter {}; the nearest are {}", iba::as_given(name.str()),
                         iba::most_similar(name.str(), {counter_names().begin(), counter_names().end()})));
    }

    const toml::table& table_of(std::string_view name, const toml::node& value) const {
        if (const toml::table* table = value.as_table()) return *table;
        fail(value.source(), fmt::format("'{}' must be a table, such as [{}]", iba::escaped(name), iba::escaped(name)));
    }

    /// Reads one limit. Returns false if the key does not name a limit.
    bool read_limit(limits& most, const toml::key& key, const toml::node& value) const {
        std::optional<double>* limit = key == "warning"    ? &most.warning
                                       : key == "error"    ? &most.error
                                       : key == "critical" ? &most.critical
                                                           : nullptr;
        if (!limit) return false;
        *limit = value.value<double>();
        if (!*limit || !(**limit >= 0) || std::isinf(**limit))
            fail(value.source(), fmt::format("'{}' must be a number >= 0 (the highest acceptable value)", key.str()));
        return true;
    }

    severity severity_of(const toml::key& key, const toml::node& value) const {
        const auto text = value.value<std::string_view>();
        for (const severity s : {severity::ok, severity::warning, severity::error, severity::critical})
            if (text == name_of(s)) return s;
        fail(value.source(), fmt::format(R"('{}' must be "ok", "warning", "error" or "critical")", key.str()));
    }

    mad::duration duration_of(const toml::key& key, const toml::node& value) const {
        constexpr struct {
            std::string_view name;
            double seconds;
        } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
        const std::string text = value.value<std::string>().value_or("");
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        for (const auto& unit : units) {
            const double seconds = number * unit.seconds;
            if (end != text.c_str() && end == unit.name && seconds > 0 && seconds <= 366 * 86400.0)
                return std::chrono::duration_cast<mad::duration>(std::chrono::duration<double>(seconds));
        }
        fail(value.source(),
             fmt::format(R"('{}' must be a time such as "1h": a number and s, min, h or d, at most 366d)", key.str()));
    }

    [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", file_, where.begin.line, what));
    }

    const std::string& file_;
    health_rules rules_;
};

} // namespace

health_rules read_health_rules(const std::string& file, health_rules otherwise) {
    return reader(file, otherwise).read();
}

} // namespace comad::counters
